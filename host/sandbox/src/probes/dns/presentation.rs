//! Records as text, in the presentation form of RFC 1035 section 5.1.

use std::fmt::Write;

use hickory_resolver::proto::{
    op::ResponseCode,
    rr::{Name, RData, RecordType, rdata::SVCB},
    serialize::binary::{BinEncodable, BinEncoder},
};

/// The mnemonic of a response code, as tools print it.
pub(super) fn rcode(code: ResponseCode) -> String {
    let known = match code {
        ResponseCode::NoError => "NOERROR",
        ResponseCode::FormErr => "FORMERR",
        ResponseCode::ServFail => "SERVFAIL",
        ResponseCode::NXDomain => "NXDOMAIN",
        ResponseCode::NotImp => "NOTIMP",
        ResponseCode::Refused => "REFUSED",
        ResponseCode::YXDomain => "YXDOMAIN",
        ResponseCode::YXRRSet => "YXRRSET",
        ResponseCode::NXRRSet => "NXRRSET",
        ResponseCode::NotAuth => "NOTAUTH",
        ResponseCode::NotZone => "NOTZONE",
        ResponseCode::BADVERS => "BADVERS",
        ResponseCode::BADCOOKIE => "BADCOOKIE",
        other => return format!("RCODE{}", u16::from(other)),
    };
    known.to_owned()
}

/// The mnemonic, or `TYPE` and the number (RFC 3597).
pub(super) fn rrtype(rrtype: RecordType) -> String {
    match rrtype {
        RecordType::Unknown(number) => format!("TYPE{number}"),
        known => known.to_string(),
    }
}

/// A name as plugins are given it, equal to the one that they ask for: in lower case, without the
/// trailing dot; the root is the dot.
pub(super) fn name(name: &Name) -> String {
    let labels: Vec<String> = name.iter().map(label).collect();
    if labels.is_empty() { ".".to_owned() } else { labels.join(".") }
}

/// What stands for something else in a master file is escaped, as other tools do; what is not
/// printable is a number in decimal.
fn label(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'.' | b'\\' | b'"' | b';' | b'@' | b'$' | b'(' | b')' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b'!'..=b'~' => text.push(char::from(byte.to_ascii_lowercase())),
            _ => write!(text, "\\{byte:03}").expect("writing to a string does not fail"),
        }
    }
    text
}

/// The data of a record. Character strings are quoted, and bytes that are not printable ASCII
/// written as `\DDD`; types without a form of their own as in RFC 3597.
pub(super) fn data(data: &RData) -> String {
    match data {
        RData::TXT(txt) => {
            let strings = txt.txt_data.iter().map(|bytes| quoted(bytes));
            strings.collect::<Vec<_>>().join(" ")
        }
        RData::CAA(caa) => format!("{} {} {}", caa.flags(), caa.tag, quoted(&caa.value)),
        RData::HINFO(hinfo) => format!("{} {}", quoted(&hinfo.cpu), quoted(&hinfo.os)),
        RData::NAPTR(naptr) => format!(
            "{} {} {} {} {} {}",
            naptr.order,
            naptr.preference,
            quoted(&naptr.flags),
            quoted(&naptr.services),
            quoted(&naptr.regexp),
            name(&naptr.replacement),
        ),
        RData::CNAME(alias) => name(&alias.0),
        RData::NS(server) => name(&server.0),
        RData::PTR(host) => name(&host.0),
        RData::MX(mx) => format!("{} {}", mx.preference, name(&mx.exchange)),
        RData::SRV(srv) => {
            format!("{} {} {} {}", srv.priority, srv.weight, srv.port, name(&srv.target))
        }
        RData::SOA(soa) => format!(
            "{} {} {} {} {} {} {}",
            name(&soa.mname),
            name(&soa.rname),
            soa.serial,
            soa.refresh,
            soa.retry,
            soa.expire,
            soa.minimum,
        ),
        RData::SVCB(service) => binding(service),
        RData::HTTPS(service) => binding(&service.0),
        RData::Unknown { .. } | RData::NULL(_) | RData::OPT(_) | RData::Update0(_) => opaque(data),
        known => known.to_string(),
    }
}

/// RFC 9460 section 2.1: priority, target, parameters.
fn binding(service: &SVCB) -> String {
    let mut text = format!("{} {}", service.svc_priority, name(&service.target_name));
    for (key, value) in &service.svc_params {
        write!(text, " {key}={value}").expect("writing to a string does not fail");
    }
    text
}

fn quoted(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 2);
    text.push('"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' => text.push(char::from(byte)),
            _ => write!(text, "\\{byte:03}").expect("writing to a string does not fail"),
        }
    }
    text.push('"');
    text
}

/// RFC 3597 section 5: `\#`, the length, the bytes as hex.
fn opaque(data: &RData) -> String {
    let mut bytes = Vec::new();
    let mut encoder = BinEncoder::new(&mut bytes);
    if data.emit(&mut encoder).is_err() {
        bytes.clear();
    }
    let mut text = format!("\\# {}", bytes.len());
    for (index, byte) in bytes.iter().enumerate() {
        let gap = if index == 0 { " " } else { "" };
        write!(text, "{gap}{byte:02x}").expect("writing to a string does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::rr::rdata::{HTTPS, MX, NULL, SOA, TXT};

    use super::*;

    #[test]
    fn strings_are_quoted_and_bytes_escaped() {
        let txt = TXT::from_bytes(vec![b"v=spf1 \"x\\\"".as_slice(), &[0, 0xc3, 0xa9, b'a']]);
        assert_eq!(data(&RData::TXT(txt)), r#""v=spf1 \"x\\\"" "\000\195\169a""#);
    }

    #[test]
    fn names_are_in_lower_case_and_without_the_trailing_dot() {
        let named = |text| Name::from_ascii(text).unwrap();
        assert_eq!(name(&named("Site.Example.com.")), "site.example.com");
        assert_eq!(name(&Name::root()), ".");
        let mx = MX::new(10, named("Mail.Example.com."));
        assert_eq!(data(&RData::MX(mx)), "10 mail.example.com");
        assert_eq!(data(&RData::MX(MX::new(0, Name::root()))), "0 .");
        let soa = SOA::new(named("NS.example.com."), named("Admin.example.com."), 1, 2, 3, 4, 5);
        assert_eq!(data(&RData::SOA(soa)), "ns.example.com admin.example.com 1 2 3 4 5");
        let service = SVCB::new(1, named("Svc.example.com."), Vec::new());
        assert_eq!(data(&RData::HTTPS(HTTPS(service))), "1 svc.example.com");
    }

    #[test]
    fn names_hold_any_byte() {
        let of = |labels: &[&[u8]]| name(&Name::from_labels(labels.iter().copied()).unwrap());
        assert_eq!(of(&[b"sp ace", b"By\xffte", b"a.b"]), r"sp\032ace.by\255te.a\.b");
        assert_eq!(of(&[b"\0\x09\x7f", b"q\"\\;"]), r#"\000\009\127.q\"\\\;"#);
        assert_eq!(of(&[b"0/25", b"-a+b", b"*"]), "0/25.-a+b.*");
    }

    #[test]
    fn unknown_types_are_hex() {
        let unknown =
            RData::Unknown { code: RecordType::Unknown(65280), rdata: NULL::with(vec![1, 0xab]) };
        assert_eq!(data(&unknown), r"\# 2 01ab");
        assert_eq!(rrtype(RecordType::Unknown(65280)), "TYPE65280");
        assert_eq!(rcode(ResponseCode::NXDomain), "NXDOMAIN");
        assert_eq!(rcode(ResponseCode::from(0, 0x0b)), "RCODE11");
    }
}
