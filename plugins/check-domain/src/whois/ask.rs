//! What is sent, and how the bytes that come back are read as text.

use std::borrow::Cow;

use encoding_rs::{EUC_KR, Encoding, ISO_2022_JP};

/// The query in the form that this registry wants, with its end of line.
///
/// `tld` is the zone whose registry is asked; empty when a registrar is asked, which takes the
/// bare name. Nothing in a name can add a line or a word to the query.
pub(crate) fn query(server: &str, tld: &str, name: &str) -> Vec<u8> {
    let name: String =
        name.chars().filter(|char| !char.is_whitespace() && !char.is_control()).collect();
    let server = server.trim_end_matches('.').to_ascii_lowercase();
    let of_server = BY_SERVER.iter().find(|(known, _)| *known == server).map(|(_, form)| *form);
    let (before, after) = of_server.unwrap_or_else(|| {
        let tld = last_label(tld);
        BY_TLD.iter().find(|(known, _)| *known == tld).map_or(BARE, |(_, form)| *form)
    });
    format!("{before}{name}{after}\r\n").into_bytes()
}

/// The answer as text: UTF-8, else by the registry's country, else Latin-1.
pub(crate) fn decode<'a>(bytes: &'a [u8], tld: &str) -> Cow<'a, str> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let tld = last_label(tld);
    // ISO-2022-JP is ASCII with escapes, and so would pass for UTF-8.
    if tld == "jp" && bytes.contains(&ESCAPE) {
        return with(ISO_2022_JP, bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // The last character was cut where the answer was.
        Err(error) if error.error_len().is_none() => {
            String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default())
        }
        Err(_) if tld == "kr" => with(EUC_KR, bytes),
        Err(_) if tld == "jp" => with(ISO_2022_JP, bytes),
        Err(_) => encoding_rs::mem::decode_latin1(bytes),
    }
}

fn with<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Cow<'a, str> {
    encoding.decode_without_bom_handling(bytes).0
}

fn last_label(tld: &str) -> String {
    let tld = tld.trim_end_matches('.');
    tld.rsplit('.').next().unwrap_or(tld).to_ascii_lowercase()
}

const ESCAPE: u8 = 0x1B;

/// What stands before and after the name.
type Form = (&'static str, &'static str);
const BARE: Form = ("", "");

/// Registries that take more than a name, by the top level domain they keep.
const BY_TLD: &[(&str, Form)] = &[
    ("com", ("domain ", "")),
    ("net", ("domain ", "")),
    ("de", ("-T dn,ace ", "")),
    ("jp", ("", "/e")),
    ("dk", ("--charset=utf-8 --show-handles ", "")),
    ("no", ("-c utf-8 ", "")),
];

/// The same by their servers, and servers under those domains that want the bare name: those of
/// second level zones (`de.com`, `uk.net`), which are no business of the top level registry.
const BY_SERVER: &[(&str, Form)] = &[
    ("whois.verisign-grs.com", ("domain ", "")),
    ("whois.crsnic.net", ("domain ", "")),
    ("whois.denic.de", ("-T dn,ace ", "")),
    ("whois.jprs.jp", ("", "/e")),
    ("whois.punktum.dk", ("--charset=utf-8 --show-handles ", "")),
    ("whois.dk-hostmaster.dk", ("--charset=utf-8 --show-handles ", "")),
    ("whois.norid.no", ("-c utf-8 ", "")),
    ("whois.centralnic.com", BARE),
    ("whois.iana.org", BARE),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_are_asked_in_their_form() {
        for (server, tld, expected) in [
            ("whois.verisign-grs.com", "com", "domain x.example\r\n"),
            ("WHOIS.verisign-grs.com.", "com", "domain x.example\r\n"),
            ("127.0.0.1", "net", "domain x.example\r\n"),
            ("whois.denic.de", "de", "-T dn,ace x.example\r\n"),
            ("whois.jprs.jp", "co.jp", "x.example/e\r\n"),
            ("whois.registry.example", "dk", "--charset=utf-8 --show-handles x.example\r\n"),
            ("whois.norid.no", "no", "-c utf-8 x.example\r\n"),
            ("whois.registry.example", "io", "x.example\r\n"),
            ("whois.registrar.example", "", "x.example\r\n"),
            ("whois.centralnic.com", "de.com", "x.example\r\n"),
            ("whois.iana.org", "com", "x.example\r\n"),
        ] {
            assert_eq!(query(server, tld, "x.example"), expected.as_bytes(), "{server} {tld}");
        }
    }

    #[test]
    fn a_name_adds_nothing_to_the_query() {
        let bytes = query("whois.registry.example", "io", "x.example\r\n-T all \u{0}y");
        assert_eq!(bytes, b"x.example-Tally\r\n");
    }

    #[test]
    fn bytes_are_read_by_their_country() {
        for (bytes, tld, expected) in [
            (&b"Domain: x"[..], "com", "Domain: x"),
            ("\u{feff}Registrar: Ä".as_bytes(), "de", "Registrar: Ä"),
            (b"Ven\xE7\xEDvel", "br", "Vençível"),
            (b"\xB5\xEE\xB7\xCF\xC0\xCE", "kr", "등록인"),
            ("등록인".as_bytes(), "kr", "등록인"),
            (b"[\x1b$BEPO?\x1b(B]", "co.jp", "[登録]"),
            ("[登録]".as_bytes(), "jp", "[登録]"),
            (b"cut \xC3", "fr", "cut "),
            (b"", "fr", ""),
        ] {
            assert_eq!(decode(bytes, tld), expected, "{tld} {bytes:x?}");
        }
    }
}
