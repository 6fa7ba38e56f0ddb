//! Cert Spotter: issuances of a domain in the order of their discovery, page by page.
//!
//! The position is the id of the last issuance that was read. An empty page is the end.

use std::{collections::BTreeSet, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use vedette_sdk::log::Level;

use super::{Answer, Asked, Failure, examination};
use crate::{
    array,
    certificate::{Certificate, hash},
    date,
    issuer::Issuer,
    name,
};

/// One issuance: a precertificate, its certificate, or both.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Issuance {
    id: String,
    tbs_sha256: Option<String>,
    cert_sha256: Option<String>,
    dns_names: Vec<String>,
    issuer: Named,
    not_before: Option<String>,
    not_after: Option<String>,
    cert_der: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: Option<String>,
    friendly_name: Option<String>,
}

/// One page.
#[derive(Debug, Default)]
struct Page {
    certificates: Vec<Certificate>,
    /// The DER of each, where it was sent and can be decoded.
    ders: Vec<Option<Vec<u8>>>,
    /// Id of the last issuance, whomever it concerns.
    last: Option<String>,
}

/// Reads on from the position, at most [`PAGES`] pages.
pub(super) fn read(asked: &Asked<'_>) -> Result<Answer, Failure> {
    let mut answer = Answer { has_more: true, ..Answer::default() };
    let mut after = asked.position.map(str::to_owned);
    let mut passed = BTreeSet::new();
    for number in 0..PAGES {
        if number > 0 && asked.cx.remaining() < asked.reserve + PAGE {
            break;
        }
        let page = match page(asked, after.as_deref()) {
            Ok(page) => page,
            // What was read before counts; the next run goes on from there.
            Err(failure) if number > 0 && !matches!(failure, Failure::Ours(_)) => {
                let message = format!("certspotter stopped in the middle: {}", failure.reason());
                asked.cx.log(Level::Warn, &message, &[]);
                break;
            }
            Err(failure) => return Err(failure),
        };
        let Some(last) = page.last.clone() else {
            answer.has_more = false;
            break;
        };
        answer.certificates.extend(page.examined(asked));
        // A server that answers with what came before would be read for ever.
        if after.as_ref() == Some(&last) || !passed.insert(last.clone()) {
            asked.cx.log(Level::Warn, "certspotter repeats an id", &[]);
            answer.has_more = false;
            break;
        }
        after = Some(last);
    }
    answer.position = after;
    Ok(answer)
}

fn page(asked: &Asked<'_>, after: Option<&str>) -> Result<Page, Failure> {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query
        .append_pair("domain", asked.domain)
        .append_pair("include_subdomains", "true")
        .append_pair("match_wildcards", "true")
        .append_pair("expand", "dns_names")
        .append_pair("expand", "issuer")
        .append_pair("expand", "cert_der");
    if let Some(after) = after {
        query.append_pair("after", after);
    }
    let url = format!("{}/v1/issuances?{}", asked.base, query.finish());
    let response = asked.get(url, PATIENCE)?;
    if response.truncated {
        let reason = format!("a page has more than {} bytes", response.body.len());
        return Err(Failure::TooMuch(reason));
    }
    parse(&response.body, asked.domain, asked.now)
}

fn parse(body: &[u8], domain: &str, now: i64) -> Result<Page, Failure> {
    let mut page = Page::default();
    let mut count = 0;
    let read = array::read_each(body, |issuance: Issuance| {
        count += 1;
        page.last = Some(issuance.id.clone());
        page.add(issuance, domain, now);
        count <= MOST
    });
    read.map_err(|error| Failure::Unavailable(format!("its answer cannot be read: {error}")))?;
    let usable = page.last.as_ref().is_none_or(|id| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.=".contains(&b);
        (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(plain)
    });
    if !usable {
        return Err(Failure::Unavailable("an issuance has no usable id".to_owned()));
    }
    Ok(page)
}

impl Page {
    fn add(&mut self, issuance: Issuance, domain: &str, now: i64) {
        let date = |text: &Option<String>| text.as_deref().and_then(date::parse);
        let issuer = issuance.issuer.name.or(issuance.issuer.friendly_name);
        let certificate = Certificate {
            issuer: Issuer::of_dn(issuer.as_deref().unwrap_or_default()),
            names: name::shown(issuance.dns_names.iter().map(String::as_str), domain),
            serial: String::new(),
            not_before: date(&issuance.not_before),
            not_after: date(&issuance.not_after),
            logged_at: None,
            fingerprint: issuance.cert_sha256.as_deref().and_then(hash),
            tbs: issuance.tbs_sha256.as_deref().and_then(hash),
        };
        if certificate.names.is_empty() || !certificate.is_current(now) {
            return;
        }
        let der = issuance.cert_der.and_then(|text| STANDARD.decode(text).ok());
        self.certificates.push(certificate);
        self.ders.push(der);
    }

    /// Fills in what only the DER tells: serial number, and digest where the answer had none.
    fn examined(self, asked: &Asked<'_>) -> Vec<Certificate> {
        let Self { mut certificates, ders, .. } = self;
        let (places, ders): (Vec<usize>, Vec<Vec<u8>>) =
            ders.into_iter().enumerate().filter_map(|(place, der)| Some((place, der?))).unzip();
        let read = examination::read(asked.cx, asked.domain, asked.now, ders);
        for (place, read) in places.into_iter().zip(read) {
            let (Some(certificate), Some(read)) = (certificates.get_mut(place), read) else {
                continue;
            };
            let read = Certificate::of_x509(&read, asked.domain, true);
            certificate.serial = read.serial;
            certificate.tbs = read.tbs.or(certificate.tbs.take());
            // Issuer and fingerprint stay as told: the DER may be that of a precertificate, whose
            // issuer may be a signing certificate that stands for its own issuer.
            if certificate.issuer.name.is_empty() {
                certificate.issuer = read.issuer;
            }
        }
        certificates
    }
}

/// Pages of one run.
const PAGES: usize = 8;
const PATIENCE: Duration = Duration::from_secs(8);
/// Less is not enough for one more page.
const PAGE: Duration = Duration::from_secs(2);
/// Issuances of one page: it has about a hundred.
const MOST: usize = 2_000;
const LONGEST_ID: usize = 64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::fixture::NOW;

    fn issuance(id: &str) -> Value {
        json!({
            "id": id, "tbs_sha256": "AB".repeat(32), "cert_sha256": "cd".repeat(32),
            "dns_names": ["example.com", "*.example.com"], "pubkey_sha256": "00",
            "issuer": {
                "friendly_name": "Let's Encrypt", "name": "C=US, O=Let's Encrypt, CN=R11",
                "pubkey_sha256": "00", "caa_domains": ["letsencrypt.org"],
            },
            "not_before": "2025-12-01T00:00:00-00:00", "not_after": "2026-03-01T00:00:00Z",
            "revoked": false,
        })
    }

    fn read(issuances: Value) -> Result<Page, Failure> {
        parse(issuances.to_string().as_bytes(), "example.com", NOW)
    }

    #[test]
    fn issuance_becomes_a_certificate() {
        let page = read(json!([issuance("7")])).expect("issuances");
        let expected = Certificate {
            issuer: Issuer { name: "R11".into(), organisation: Some("Let's Encrypt".into()) },
            names: vec!["example.com".into(), "*.example.com".into()],
            serial: String::new(),
            not_before: Some(1_764_547_200),
            not_after: Some(1_772_323_200),
            logged_at: None,
            fingerprint: Some("cd".repeat(32)),
            tbs: Some("ab".repeat(32)),
        };
        assert_eq!(page.certificates, [expected]);
        assert_eq!(page.last.as_deref(), Some("7"));
    }

    #[test]
    fn position_moves_past_issuances_of_others() {
        let mut other = issuance("8");
        other["dns_names"] = json!(["other.net"]);
        let page = read(json!([issuance("7"), other])).expect("issuances");
        assert_eq!((page.certificates.len(), page.last.as_deref()), (1, Some("8")));
        assert_eq!(read(json!([])).expect("the end").last, None);
    }

    #[test]
    fn anything_but_issuances_is_a_failure() {
        for body in [
            "<html>",
            "",
            r#"{"code":"not_allowed","message":"no"}"#,
            "[{\"dns_names\":[]}]",
            "[{\"id\":\"a b\"}]",
            "[{\"id\":\"1&after=0\"}]",
            "[{\"id\":7}]",
            "[{\"id\":\"7\"}",
        ] {
            let failed = parse(body.as_bytes(), "example.com", NOW);
            assert!(matches!(failed, Err(Failure::Unavailable(_))), "{body}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_issuances_or_a_failure(
            body in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let _ = parse(&body, "example.com", NOW);
        }

        #[test]
        fn any_texts_are_read(name in ".{0,60}", date in ".{0,40}", hash in "[0-9a-fx]{0,70}") {
            let one = json!([{
                "id": "1", "dns_names": [name, "example.com"], "issuer": {"name": name},
                "not_after": date, "tbs_sha256": hash, "cert_der": hash,
            }]);
            prop_assert!(read(one).is_ok());
        }
    }
}
