//! Records as text, in the presentation form of RFC 1035 section 5.1.

use std::fmt::Write;

use hickory_resolver::proto::{
    op::ResponseCode,
    rr::{RData, RecordType},
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
            naptr.replacement.to_ascii(),
        ),
        RData::CNAME(name) => name.0.to_ascii(),
        RData::NS(name) => name.0.to_ascii(),
        RData::PTR(name) => name.0.to_ascii(),
        RData::MX(mx) => format!("{} {}", mx.preference, mx.exchange.to_ascii()),
        RData::SRV(srv) => {
            format!("{} {} {} {}", srv.priority, srv.weight, srv.port, srv.target.to_ascii())
        }
        RData::Unknown { .. } | RData::NULL(_) | RData::OPT(_) | RData::Update0(_) => opaque(data),
        known => known.to_string(),
    }
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
    use hickory_resolver::proto::rr::{
        Name,
        rdata::{MX, NULL, TXT},
    };

    use super::*;

    #[test]
    fn strings_are_quoted_and_bytes_escaped() {
        let txt = TXT::from_bytes(vec![b"v=spf1 \"x\\\"".as_slice(), &[0, 0xc3, 0xa9, b'a']]);
        assert_eq!(data(&RData::TXT(txt)), r#""v=spf1 \"x\\\"" "\000\195\169a""#);
    }

    #[test]
    fn names_are_absolute() {
        let mx = MX::new(10, Name::from_ascii("Mail.Example.com.").unwrap());
        assert_eq!(data(&RData::MX(mx)), "10 Mail.Example.com.");
        assert_eq!(data(&RData::MX(MX::new(0, Name::root()))), "0 .");
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
