//! When two sightings are one certificate.
//!
//! A precertificate and its certificate, or the answers of two sources, are joined by the digest
//! of what was signed (TBSCertificate without the SCT list and the poison). Where one side has no
//! digest, issuer and serial number join them: good enough to recognise, too weak to allow.
//!
//! *Invariant:* two digests that differ are two certificates, whatever else is equal.

use std::collections::BTreeMap;

use crate::digest::{MARK, mark};

/// What a certificate is recognised by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Mark of the TBS digest.
    pub(crate) tbs: Option<String>,
    /// Mark of issuer and serial number, or of what there is in their place.
    pub(crate) name: String,
}

/// What a certificate tells of itself, for [`Identity::of`].
#[derive(Clone, Debug)]
pub(crate) struct Traits<'a> {
    pub(crate) tbs: Option<&'a str>,
    pub(crate) issuer: [String; 2],
    pub(crate) serial: &'a str,
    pub(crate) fingerprint: Option<&'a str>,
    pub(crate) dates: [Option<i64>; 2],
    pub(crate) names: &'a [String],
}

impl Identity {
    pub(crate) fn of(traits: &Traits<'_>) -> Self {
        let [name, organisation] = &traits.issuer;
        let [from, to] = traits.dates.map(|date| date.unwrap_or_default().to_string());
        let mut parts = Vec::new();
        if !traits.serial.is_empty() {
            parts.extend(["serial", name, organisation, traits.serial]);
        } else if let Some(fingerprint) = traits.fingerprint {
            parts.extend(["fingerprint", fingerprint]);
        } else {
            parts.extend(["facts", name, organisation, &from, &to]);
            parts.extend(traits.names.iter().map(String::as_str));
        }
        let tbs = traits.tbs.map(|tbs| mark(&["tbs", &tbs.to_ascii_lowercase()]));
        Self { tbs, name: mark(&parts) }
    }

    /// As [`Identity::parse`] reads it.
    pub(crate) fn to_text(&self) -> String {
        match &self.tbs {
            Some(tbs) => format!("{}.{tbs}", self.name),
            None => self.name.clone(),
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, tbs) = match text.split_once('.') {
            Some((name, tbs)) => (name, Some(tbs)),
            None => (text, None),
        };
        let whole = name.len() == MARK && tbs.is_none_or(|tbs| tbs.len() == MARK);
        whole.then(|| Self { tbs: tbs.map(str::to_owned), name: name.to_owned() })
    }
}

/// Certificates that were seen before, each with a value.
#[derive(Clone, Debug)]
pub(crate) struct Known<V> {
    by_tbs: BTreeMap<String, V>,
    /// Those without a digest, which a digest cannot contradict.
    undigested: BTreeMap<String, V>,
    by_name: BTreeMap<String, V>,
}

impl<V> Default for Known<V> {
    fn default() -> Self {
        Self { by_tbs: BTreeMap::new(), undigested: BTreeMap::new(), by_name: BTreeMap::new() }
    }
}

impl<V: Copy> Known<V> {
    /// The first value of a certificate stays. A digest takes over what was known by issuer and
    /// serial number alone: from then on another digest is another certificate.
    pub(crate) fn insert(&mut self, identity: &Identity, value: V) {
        match &identity.tbs {
            Some(tbs) => {
                self.by_tbs.entry(tbs.clone()).or_insert(value);
                self.undigested.remove(&identity.name);
            }
            None if self.by_name.contains_key(&identity.name) => return,
            None => drop(self.undigested.insert(identity.name.clone(), value)),
        }
        self.by_name.entry(identity.name.clone()).or_insert(value);
    }

    pub(crate) fn get(&self, identity: &Identity) -> Option<V> {
        let found = match &identity.tbs {
            Some(tbs) => self.by_tbs.get(tbs).or_else(|| self.undigested.get(&identity.name)),
            None => self.by_name.get(&identity.name),
        };
        found.copied()
    }

    pub(crate) fn contains(&self, identity: &Identity) -> bool {
        self.get(identity).is_some()
    }
}

impl FromIterator<Identity> for Known<()> {
    fn from_iter<I: IntoIterator<Item = Identity>>(identities: I) -> Self {
        let mut known = Self::default();
        for identity in identities {
            known.insert(&identity, ());
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(tbs: Option<&str>, serial: &str) -> Identity {
        Identity::of(&Traits {
            tbs,
            issuer: ["r11".to_owned(), "let's encrypt".to_owned()],
            serial,
            fingerprint: None,
            dates: [None, None],
            names: &[],
        })
    }

    #[test]
    fn digest_decides_where_both_have_one() {
        let known: Known<()> = [identity(Some("aa"), "01")].into_iter().collect();
        for (tbs, serial, expected) in [
            (Some("AA"), "01", true),
            (Some("aa"), "99", true),
            (Some("bb"), "01", false),
            (None, "01", true),
            (None, "02", false),
        ] {
            assert_eq!(known.contains(&identity(tbs, serial)), expected, "{tbs:?} {serial}");
        }
        let mut bare: Known<()> = [identity(None, "01")].into_iter().collect();
        assert!(bare.contains(&identity(Some("aa"), "01")));
        bare.insert(&identity(Some("aa"), "01"), ());
        bare.insert(&identity(None, "01"), ());
        assert!(!bare.contains(&identity(Some("bb"), "01")), "a digest has taken it over");
    }

    #[test]
    fn identity_survives_being_written() {
        for one in [identity(Some("aa"), "01"), identity(None, "01")] {
            assert_eq!(Identity::parse(&one.to_text()), Some(one));
        }
        for text in ["", "short", "a.b", "0123456789abcdef.", "0123456789abcdef.x"] {
            assert_eq!(Identity::parse(text), None, "{text}");
        }
    }
}
