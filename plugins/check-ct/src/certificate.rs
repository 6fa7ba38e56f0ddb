//! A certificate as a source told of it, before it becomes part of a result.

use vedette_sdk::x509;

use crate::{
    date,
    identity::{Identity, Known, Traits},
    issuer::Issuer,
    result::{self, Caa},
};

/// What is known of one certificate. Times are Unix seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Certificate {
    pub(crate) issuer: Issuer,
    /// As [`crate::name::shown`] gives them: empty when none concerns the domain.
    pub(crate) names: Vec<String>,
    /// Lower-case hex without leading zeros; may be empty.
    pub(crate) serial: String,
    pub(crate) not_before: Option<i64>,
    pub(crate) not_after: Option<i64>,
    pub(crate) logged_at: Option<i64>,
    /// SHA-256 of the DER, lower-case hex, like `tbs`.
    pub(crate) fingerprint: Option<String>,
    pub(crate) tbs: Option<String>,
}

impl Certificate {
    /// Of what the host read. `is_final`: no precertificate, whose fingerprint nobody serves.
    pub(crate) fn of_x509(read: &x509::Certificate, domain: &str, is_final: bool) -> Self {
        let organisation = read.issuer_org.clone();
        let named = Issuer::of_dn(&read.issuer);
        Self {
            issuer: Issuer { organisation: organisation.or(named.organisation.clone()), ..named },
            names: crate::name::shown(read.san_dns.iter().map(String::as_str), domain),
            serial: serial(&read.serial),
            not_before: Some(read.not_before),
            not_after: Some(read.not_after),
            logged_at: None,
            fingerprint: is_final.then(|| hash(&read.sha256)).flatten(),
            tbs: hash(&read.tbs_sha256),
        }
    }

    /// Among the certificates of a domain.
    pub(crate) fn identity(&self, domain: &str) -> Identity {
        Identity::of(&Traits {
            tbs: self.tbs.as_deref(),
            issuer: self.issuer.folded(),
            serial: &self.serial,
            fingerprint: self.fingerprint.as_deref(),
            dates: self.dates(),
            names: &self.names,
            domain,
        })
    }

    pub(crate) fn dates(&self) -> [Option<i64>; 2] {
        [self.not_before, self.not_after]
    }

    /// One that does not say when it expires has not.
    pub(crate) fn is_current(&self, now: i64) -> bool {
        self.not_after.is_none_or(|at| now <= at)
    }

    /// How new it is: when it was logged, else when it became valid.
    pub(crate) fn age(&self) -> i64 {
        self.logged_at.or(self.not_before).unwrap_or(i64::MIN)
    }

    pub(crate) fn shown(&self, expected: bool, caa: Option<Caa>) -> result::Certificate {
        result::Certificate {
            issuer: self.issuer.name.clone(),
            issuer_org: self.issuer.organisation.clone(),
            san: self.names.clone(),
            serial_number: octets(&self.serial),
            not_before: self.not_before.map(date::rfc3339),
            not_after: self.not_after.map(date::rfc3339),
            logged_at: self.logged_at.map(date::rfc3339),
            fingerprint: self.fingerprint.clone(),
            tbs_sha256: self.tbs.clone(),
            expected,
            caa,
        }
    }

    /// Takes over what the other sighting knows better.
    fn merge(&mut self, other: Self) {
        self.logged_at = match (self.logged_at, other.logged_at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.not_before = self.not_before.or(other.not_before);
        self.not_after = self.not_after.or(other.not_after);
        self.fingerprint = self.fingerprint.take().or(other.fingerprint);
        self.tbs = self.tbs.take().or(other.tbs);
        if self.serial.is_empty() {
            self.serial = other.serial;
        }
        if self.names.len() < other.names.len() {
            self.names = other.names;
        }
    }
}

/// Certificates of a domain, each once.
#[derive(Debug)]
pub(crate) struct Catalogue<'a> {
    domain: &'a str,
    certificates: Vec<Certificate>,
    places: Known<usize>,
}

impl<'a> Catalogue<'a> {
    pub(crate) fn new(domain: &'a str) -> Self {
        Self { domain, certificates: Vec::new(), places: Known::default() }
    }

    /// Answers the place that the certificate has.
    pub(crate) fn add(&mut self, certificate: Certificate) -> usize {
        let identity = certificate.identity(self.domain);
        let place = self.places.get(&identity).unwrap_or(self.certificates.len());
        self.places.insert(&identity, place);
        match self.certificates.get_mut(place) {
            Some(known) => known.merge(certificate),
            None => self.certificates.push(certificate),
        }
        place
    }

    pub(crate) fn len(&self) -> usize {
        self.certificates.len()
    }

    pub(crate) fn into_certificates(self) -> Vec<Certificate> {
        self.certificates
    }
}

/// A serial number in canonical form; empty if it is not one. RFC 5280 allows 20 octets, and some
/// authorities use more.
pub(crate) fn serial(text: &str) -> String {
    let text = text.trim();
    if text.len() > LONGEST_SERIAL {
        return String::new();
    }
    let digits: String = text.chars().filter(|c| *c != ':').collect();
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return String::new();
    }
    digits.trim_start_matches('0').to_ascii_lowercase()
}

/// The same in whole octets, as the logs' search pages and the certificate check write it.
fn octets(serial: &str) -> String {
    if serial.len().is_multiple_of(2) { serial.to_owned() } else { format!("0{serial}") }
}

/// A SHA-256 in lower-case hex; none if it is something else.
pub(crate) fn hash(text: &str) -> Option<String> {
    let is_hash = text.len() == 64 && hex::decode(text).is_ok();
    is_hash.then(|| text.to_ascii_lowercase())
}

const LONGEST_SERIAL: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn sighting(tbs: Option<&str>, serial: &str, logged_at: i64) -> Certificate {
        Certificate {
            serial: serial.to_owned(),
            tbs: tbs.map(str::to_owned),
            logged_at: Some(logged_at),
            ..Certificate::default()
        }
    }

    #[test]
    fn precertificate_and_certificate_become_one() {
        let mut catalogue = Catalogue::new("example.com");
        catalogue.add(sighting(Some("aa"), "01", 20));
        let last = Certificate { fingerprint: Some("f".into()), ..sighting(Some("aa"), "01", 30) };
        catalogue.add(last);
        catalogue.add(sighting(None, "01", 10));
        catalogue.add(sighting(Some("bb"), "01", 40));
        let certificates = catalogue.into_certificates();
        assert_eq!(certificates.len(), 2);
        assert_eq!(certificates[0].logged_at, Some(10));
        assert_eq!(certificates[0].fingerprint.as_deref(), Some("f"));
        assert_eq!(certificates[1].tbs.as_deref(), Some("bb"));
    }

    #[test]
    fn sighting_without_a_serial_number_joins_the_one_that_is_like_it() {
        let numbered = Certificate {
            names: vec!["a.example.com".to_owned(), "example.com".to_owned()],
            ..crate::fixture::certificate("01")
        };
        let bare = Certificate {
            names: ["example.com", "a.example.com", "other.net"].map(str::to_owned).to_vec(),
            serial: String::new(),
            logged_at: None,
            fingerprint: Some("f".to_owned()),
            ..numbered.clone()
        };
        for sightings in [[&numbered, &bare], [&bare, &numbered]] {
            let mut catalogue = Catalogue::new("example.com");
            sightings.into_iter().cloned().for_each(|sighting| {
                catalogue.add(sighting);
            });
            let certificates = catalogue.into_certificates();
            assert_eq!(certificates.len(), 1);
            assert_eq!(certificates[0].serial, "01");
            assert_eq!(certificates[0].fingerprint.as_deref(), Some("f"));
        }
    }

    #[test]
    fn serial_numbers_have_one_spelling() {
        for (text, expected) in
            [("00AB", "ab"), ("0a:0B", "a0b"), ("0", ""), ("xyz", ""), (" 1 ", "1"), ("", "")]
        {
            assert_eq!(serial(text), expected, "{text}");
        }
        assert_eq!(serial(&"1".repeat(500)), "");
    }

    #[test]
    fn serial_number_is_shown_in_whole_octets() {
        for (text, expected) in [("04F3aa", "04f3aa"), ("1", "01"), ("00ff", "ff"), ("xyz", "")] {
            let shown = sighting(None, &serial(text), 0).shown(true, None);
            assert_eq!(shown.serial_number, expected, "{text}");
            assert_eq!(serial(&shown.serial_number), serial(text));
        }
    }

    #[test]
    fn certificate_is_current_through_its_last_second() {
        let until = |at| Certificate { not_after: at, ..Certificate::default() };
        assert!(until(Some(10)).is_current(10));
        assert!(!until(Some(10)).is_current(11));
        assert!(until(None).is_current(11));
    }
}
