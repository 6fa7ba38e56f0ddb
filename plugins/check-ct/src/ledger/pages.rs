//! Certificates in few bytes: pages of JSON rows, each page with the issuers that it names.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::{certificate::Certificate, issuer::Issuer};

/// One value of the state.
#[derive(Default, Serialize, Deserialize)]
struct Page {
    /// Name and organisation.
    issuers: Vec<(String, Option<String>)>,
    rows: Vec<Row>,
}

/// Place of the issuer, serial number, notBefore, notAfter, time of logging, fingerprint and TBS
/// digest as Base64, names with blanks between.
#[derive(Serialize, Deserialize)]
struct Row(u16, String, Option<i64>, Option<i64>, Option<i64>, String, String, String);

/// Writes as many certificates as fit, from the first one on; answers the pages and the rest. A
/// page that is not needed is empty.
pub(super) fn write<'a, 'b>(
    certificates: &'b [&'a Certificate],
) -> (Vec<Vec<u8>>, &'b [&'a Certificate]) {
    let mut rest = certificates;
    let mut pages = Vec::with_capacity(PAGES);
    for _ in 0..PAGES {
        let mut page = Page::default();
        let mut room = PAGE;
        while let Some((first, others)) = rest.split_first() {
            let size = page.add(first, room);
            if size == 0 {
                break;
            }
            room -= size;
            rest = others;
        }
        let written = || serde_json::to_vec(&page).expect("texts and numbers have a form");
        pages.push(if page.rows.is_empty() { Vec::new() } else { written() });
    }
    (pages, rest)
}

/// The certificates of a page; none when it is of another kind.
pub(super) fn read(page: &[u8]) -> Vec<Certificate> {
    let Page { issuers, rows } = serde_json::from_slice(page).unwrap_or_default();
    let issuers: Vec<Issuer> =
        issuers.into_iter().map(|(name, organisation)| Issuer { name, organisation }).collect();
    rows.into_iter().filter_map(|row| row.into_certificate(&issuers)).collect()
}

impl Page {
    /// The bytes that it took; 0 where there was no room.
    fn add(&mut self, certificate: &Certificate, room: usize) -> usize {
        let issuer = &certificate.issuer;
        let issuer = (issuer.name.clone(), issuer.organisation.clone());
        let known = self.issuers.iter().position(|known| *known == issuer);
        let Ok(place) = u16::try_from(known.unwrap_or(self.issuers.len())) else { return 0 };
        let row = Row::of(certificate, place);
        let issuer_size = if known.is_some() { 0 } else { size(&issuer) };
        let size = size(&row) + issuer_size;
        if size > room {
            return 0;
        }
        if known.is_none() {
            self.issuers.push(issuer);
        }
        self.rows.push(row);
        size
    }
}

impl Row {
    fn of(certificate: &Certificate, issuer: u16) -> Self {
        Self(
            issuer,
            certificate.serial.clone(),
            certificate.not_before,
            certificate.not_after,
            certificate.logged_at,
            shorter(certificate.fingerprint.as_deref()),
            shorter(certificate.tbs.as_deref()),
            certificate.names.join(" "),
        )
    }

    fn into_certificate(self, issuers: &[Issuer]) -> Option<Certificate> {
        let Self(issuer, serial, not_before, not_after, logged_at, fingerprint, tbs, names) = self;
        Some(Certificate {
            issuer: issuers.get(usize::from(issuer))?.clone(),
            names: names.split_whitespace().map(str::to_owned).collect(),
            serial,
            not_before,
            not_after,
            logged_at,
            fingerprint: longer(&fingerprint),
            tbs: longer(&tbs),
        })
    }
}

/// With the comma that follows.
fn size<T: Serialize>(value: &T) -> usize {
    serde_json::to_vec(value).map_or(PAGE, |written| written.len()) + 1
}

/// A digest in hex as Base64; none is empty.
fn shorter(hash: Option<&str>) -> String {
    hash.and_then(|digits| hex::decode(digits).ok())
        .map(|bytes| URL_SAFE_NO_PAD.encode(bytes))
        .unwrap_or_default()
}

fn longer(text: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok().filter(|bytes| !bytes.is_empty())?;
    Some(hex::encode(&bytes))
}

/// Values of the state that hold certificates.
pub(super) const PAGES: usize = 3;
/// Of each, in bytes: the host takes 16 KiB.
const PAGE: usize = 15_500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::certificate;

    #[test]
    fn pages_read_back() {
        let with = Certificate {
            fingerprint: Some("ab".repeat(32)),
            tbs: Some("cd".repeat(32)),
            names: vec!["a.example.com".into(), "*.example.com".into()],
            ..certificate("01")
        };
        let without = Certificate {
            not_before: None,
            not_after: None,
            logged_at: None,
            issuer: Issuer::of_dn("O=\"Quoted \\\" One\""),
            ..certificate("")
        };
        let certificates = [with, without, certificate("02")];
        let all: Vec<&Certificate> = certificates.iter().collect();
        let (pages, rest) = write(&all);
        assert!(rest.is_empty());
        let read: Vec<Certificate> = pages.iter().flat_map(|page| read(page)).collect();
        assert_eq!(read, certificates);
        assert!(pages[1].is_empty() && pages[2].is_empty());
    }

    #[test]
    fn what_does_not_fit_is_answered() {
        let huge = Certificate { names: vec!["x".repeat(PAGE)], ..certificate("01") };
        let (first, last) = (certificate("01"), certificate("02"));
        let certificates = [&first, &huge, &last];
        let (pages, rest) = write(&certificates);
        assert_eq!((read(&pages[0]).len(), rest.len()), (1, 2));
        assert!(pages.iter().all(|page| page.len() < 16 << 10));
    }
}
