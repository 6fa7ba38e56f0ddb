//! The bootstrap file as IANA publishes it (RFC 9224, 4).

use serde::Deserialize;
use serde_json::value::RawValue;

/// The file, as far as it can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// When IANA published it, as written.
    pub publication: String,
    pub services: Vec<Service>,
}

/// One server and the names it answers for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its base URLs, the preferred one first; at least one.
    pub bases: Vec<String>,
    /// Domains in lower case, A-labels, without dots at their ends.
    pub labels: Vec<String>,
}

#[derive(Deserialize)]
struct Written<'a> {
    #[serde(default)]
    publication: Option<String>,
    #[serde(borrow)]
    services: Vec<&'a RawValue>,
}

/// Reads the file. None when it is not one; services that cannot be used are left out.
pub fn read(bytes: &[u8]) -> Option<Document> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let written: Written<'_> = serde_json::from_slice(bytes).ok()?;
    let services = written.services.into_iter().filter_map(|raw| {
        let (labels, urls): (Vec<&RawValue>, Vec<&RawValue>) =
            serde_json::from_str(raw.get()).ok()?;
        let labels: Vec<String> = texts(labels).filter_map(label).collect();
        let bases = preferred(texts(urls));
        (!labels.is_empty() && !bases.is_empty()).then_some(Service { bases, labels })
    });
    let services = services.collect();
    Some(Document { publication: written.publication.unwrap_or_default(), services })
}

/// Those of the values that are strings.
fn texts(raws: Vec<&RawValue>) -> impl Iterator<Item = String> {
    raws.into_iter().filter_map(|raw| serde_json::from_str(raw.get()).ok())
}

/// The ones to ask, in this order. Not every registry has a certificate: http comes last.
fn preferred(urls: impl Iterator<Item = String>) -> Vec<String> {
    let mut usable: Vec<String> = urls.filter(|url| is_usable(url)).collect();
    usable.sort_by_key(|url| !has_scheme(url, "https://"));
    usable.dedup();
    usable.truncate(MOST_BASES);
    usable
}

fn is_usable(url: &str) -> bool {
    let known = has_scheme(url, "https://") || has_scheme(url, "http://");
    known && url.len() <= MAX_URL && url.bytes().all(|b| b.is_ascii_graphic())
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

fn label(text: String) -> Option<String> {
    let text = text.trim_matches('.').to_ascii_lowercase();
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.');
    let good = (1..=MAX_LABEL).contains(&text.len()) && text.bytes().all(plain);
    good.then_some(text)
}

/// In UTF-8. JSON has none (RFC 8259, 8.1), and some editors write it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Servers of one service: after two that fail, WHOIS is asked.
const MOST_BASES: usize = 2;
/// Bytes.
const MAX_URL: usize = 512;
const MAX_LABEL: usize = 253;

#[cfg(test)]
mod tests {
    use super::*;

    fn services(text: &str) -> Option<Vec<(String, String)>> {
        let document = read(text.as_bytes())?;
        let pair = |service: Service| (service.bases.join(" "), service.labels.join(" "));
        Some(document.services.into_iter().map(pair).collect())
    }

    #[test]
    fn file_is_read_as_rfc_9224_shows_it() {
        let text = r#"{
            "version": "1.0", "publication": "2024-01-07T10:11:12Z", "description": "Some text",
            "services": [
                [["net", "COM"], ["https://registry.example.com/myrdap/"]],
                [["org", ".mytld."], ["http://example.org/", "https://example.org/rdap"]]
            ]
        }"#;
        let expected = [
            ("https://registry.example.com/myrdap/", "net com"),
            ("https://example.org/rdap http://example.org/", "org mytld"),
        ];
        let expected = expected.map(|(base, labels)| (base.to_owned(), labels.to_owned()));
        assert_eq!(services(text).as_deref(), Some(&expected[..]));
        assert_eq!(
            read(text.as_bytes()).map(|d| d.publication).as_deref(),
            Some("2024-01-07T10:11:12Z")
        );
    }

    #[test]
    fn what_is_no_url_costs_the_others_nothing() {
        for (urls, expected) in [
            (r#"null, "http://a.example/", 7, {}"#, "http://a.example/"),
            (r#""http://a.example/", "http://a.example/""#, "http://a.example/"),
            (
                r#""http://a.example/", "https://b.example/", "HTTPS://c.example/""#,
                "https://b.example/ HTTPS://c.example/",
            ),
        ] {
            let text = format!("\u{feff}{{\"services\": [[[null, \"a\"], [{urls}]]]}}");
            let expected = vec![(expected.to_owned(), "a".to_owned())];
            assert_eq!(services(&text), Some(expected), "{urls}");
        }
    }

    #[test]
    fn services_that_cannot_be_used_are_left_out() {
        for service in [
            r#"[["a"], []]"#,
            r#"[["a"], [null]]"#,
            r#"[[7], ["https://a.example/"]]"#,
            r#"[["a"], ["ftp://a.example/"]]"#,
            r#"[["a"], ["https://a.example/ x"]]"#,
            r#"[["a"], ["https://a.example/\n"]]"#,
            r#"[[], ["https://a.example/"]]"#,
            r#"[["a b", ""], ["https://a.example/"]]"#,
            r#"[["a"]]"#,
            r#"["a", "https://a.example/"]"#,
            "null",
            "7",
        ] {
            let text = format!(r#"{{"services": [{service}, [["b"], ["http://b.example"]]]}}"#);
            let expected = vec![("http://b.example".to_owned(), "b".to_owned())];
            assert_eq!(services(&text), Some(expected), "{service}");
        }
        assert_eq!(services(r#"{"services": []}"#), Some(Vec::new()));
    }

    #[test]
    fn what_is_no_bootstrap_file_is_none() {
        for text in ["", "<html>", "{}", "[]", r#"{"services": {}}"#, r#"{"services": [["#] {
            assert_eq!(services(text), None, "{text}");
        }
    }
}
