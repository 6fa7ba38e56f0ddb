//! When two sightings are one certificate.
//!
//! A precertificate and its certificate, or the answers of two sources, are joined by the digest
//! of what was signed (TBSCertificate without the SCT list and the poison). Where one side has no
//! digest, issuer and serial number join them: good enough to recognise, too weak to allow. Where
//! one side has no serial number either (some sources tell none), issuer, dates and names do: two
//! certificates that are equal in all of these to the second are one, unless both are numbered. Of
//! the names only those of the watched domain count: not every source tells the others.
//!
//! *Invariant:* two different digests are two certificates, whatever else is equal; so are two
//! different serial numbers.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    digest::{MARK, mark},
    name,
};

/// What a certificate is recognised by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Mark of the TBS digest.
    pub(crate) tbs: Option<String>,
    /// Mark of issuer and serial number, or of what there is in their place.
    pub(crate) name: String,
    /// None where a part of it is missing, and as earlier versions wrote it.
    pub(crate) likeness: Option<Likeness>,
}

/// Issuer, dates and names of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Likeness {
    /// Of [`LIKENESS`] characters.
    pub(crate) mark: String,
    /// The certificate has told its serial number.
    pub(crate) is_numbered: bool,
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
    /// The watched one.
    pub(crate) domain: &'a str,
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
        Self { tbs, name: mark(&parts), likeness: Likeness::of(traits) }
    }

    /// As [`Identity::parse`] reads it.
    pub(crate) fn to_text(&self) -> String {
        let mut text = self.name.clone();
        if let Some(tbs) = &self.tbs {
            text = format!("{text}.{tbs}");
        }
        if let Some(Likeness { mark, is_numbered }) = &self.likeness {
            text = format!("{text}{}{mark}", if *is_numbered { NUMBERED } else { UNNUMBERED });
        }
        text
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, likeness) = match text.split_once([NUMBERED, UNNUMBERED]) {
            Some((before, mark)) => {
                let is_numbered = text[before.len()..].starts_with(NUMBERED);
                (before, Some(Likeness { mark: mark.to_owned(), is_numbered }))
            }
            None => (text, None),
        };
        let (name, tbs) = match text.split_once('.') {
            Some((name, tbs)) => (name, Some(tbs)),
            None => (text, None),
        };
        let whole = name.len() == MARK
            && tbs.is_none_or(|tbs| tbs.len() == MARK)
            && likeness.as_ref().is_none_or(|likeness| likeness.mark.len() == LIKENESS);
        whole.then(|| Self { tbs: tbs.map(str::to_owned), name: name.to_owned(), likeness })
    }
}

impl Likeness {
    fn of(traits: &Traits<'_>) -> Option<Self> {
        let [name, organisation] = &traits.issuer;
        let [Some(from), Some(to)] = traits.dates else { return None };
        if name.is_empty() || traits.names.is_empty() {
            return None;
        }
        // Sources tell the names in orders of their own.
        let all = || traits.names.iter().map(String::as_str);
        let own: BTreeSet<&str> =
            all().filter(|name| name::is_within(name, traits.domain)).collect();
        // None of a wildcard beside the domain.
        let names: BTreeSet<&str> = if own.is_empty() { all().collect() } else { own };
        let (from, to) = (from.to_string(), to.to_string());
        let mut parts = vec!["likeness", name, organisation, &from, &to];
        parts.extend(names);
        let mut mark = mark(&parts);
        mark.truncate(LIKENESS);
        Some(Self { mark, is_numbered: !traits.serial.is_empty() })
    }
}

/// Certificates that were seen before, each with a value.
#[derive(Clone, Debug)]
pub(crate) struct Known<V> {
    by_tbs: BTreeMap<String, V>,
    /// Those without a digest, which a digest cannot contradict.
    undigested: BTreeMap<String, V>,
    by_name: BTreeMap<String, V>,
    /// By likeness: those with a serial number, and those that wait for one.
    numbered: BTreeMap<String, Twin<V>>,
    unnumbered: BTreeMap<String, Twin<V>>,
}

/// What the other sighting of a certificate is joined to by likeness.
#[derive(Clone, Debug)]
struct Twin<V> {
    value: V,
    name: String,
    is_digested: bool,
}

impl<V> Default for Known<V> {
    fn default() -> Self {
        Self {
            by_tbs: BTreeMap::new(),
            undigested: BTreeMap::new(),
            by_name: BTreeMap::new(),
            numbered: BTreeMap::new(),
            unnumbered: BTreeMap::new(),
        }
    }
}

impl<V: Copy> Known<V> {
    /// The first value of a certificate stays. A digest takes over what was known by issuer and
    /// serial number alone: from then on another digest is another certificate.
    pub(crate) fn insert(&mut self, identity: &Identity, value: V) {
        let is_twin_digested = self.insert_likeness(identity, value);
        match &identity.tbs {
            Some(tbs) => {
                self.by_tbs.entry(tbs.clone()).or_insert(value);
                self.undigested.remove(&identity.name);
            }
            None if self.by_name.contains_key(&identity.name) => return,
            None if is_twin_digested => {}
            None => drop(self.undigested.insert(identity.name.clone(), value)),
        }
        self.by_name.entry(identity.name.clone()).or_insert(value);
    }

    pub(crate) fn get(&self, identity: &Identity) -> Option<V> {
        let found = match &identity.tbs {
            Some(tbs) => self.by_tbs.get(tbs).or_else(|| self.undigested.get(&identity.name)),
            None => self.by_name.get(&identity.name),
        };
        found.copied().or_else(|| self.twin(identity).map(|twin| twin.value))
    }

    /// The certificate that differs only in that just one of the two has a serial number.
    fn twin(&self, identity: &Identity) -> Option<&Twin<V>> {
        let Likeness { mark, is_numbered } = identity.likeness.as_ref()?;
        let others = if *is_numbered { &self.unnumbered } else { &self.numbered };
        others.get(mark).filter(|twin| !(twin.is_digested && identity.tbs.is_some()))
    }

    /// A serial number, like a digest, takes over what was known without one. Answers whether that
    /// had a digest.
    fn insert_likeness(&mut self, identity: &Identity, value: V) -> bool {
        let Some(Likeness { mark, is_numbered }) = &identity.likeness else { return false };
        let twin = self.twin(identity).map(|twin| (twin.name.clone(), twin.is_digested));
        let has_digest = identity.tbs.is_some();
        if let Some((name, _)) = &twin
            && has_digest
        {
            self.undigested.remove(name);
        }
        let is_twin_digested = twin.as_ref().is_some_and(|(_, is_digested)| *is_digested);
        let own = match (is_numbered, &twin) {
            (true, _) => {
                if twin.is_some() {
                    self.unnumbered.remove(mark);
                }
                &mut self.numbered
            }
            (false, Some(_)) => {
                if let Some(twin) = self.numbered.get_mut(mark) {
                    twin.is_digested |= has_digest;
                }
                return is_twin_digested;
            }
            (false, None) => &mut self.unnumbered,
        };
        let kept = own.entry(mark.clone()).or_insert_with(|| Twin {
            value,
            name: identity.name.clone(),
            is_digested: false,
        });
        if kept.name == identity.name {
            kept.is_digested |= has_digest || is_twin_digested;
        }
        is_twin_digested
    }
}

/// Before the likeness of a certificate that has a serial number, and of one that has none: in no
/// mark.
const NUMBERED: char = '~';
const UNNUMBERED: char = '+';
/// Characters of a likeness, the first ones of a mark: it is the third of a text that is kept a
/// thousand times.
pub(crate) const LIKENESS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    impl Known<()> {
        fn contains(&self, identity: &Identity) -> bool {
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

    fn identity(tbs: Option<&str>, serial: &str) -> Identity {
        Identity::of(&Traits {
            tbs,
            issuer: ["r11".to_owned(), "let's encrypt".to_owned()],
            serial,
            fingerprint: None,
            dates: [None, None],
            names: &[],
            domain: "example",
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

    /// With dates and names as well.
    fn whole(tbs: Option<&str>, serial: &str, names: &[&str]) -> Identity {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Identity::of(&Traits {
            tbs,
            issuer: ["r11".to_owned(), "let's encrypt".to_owned()],
            serial,
            fingerprint: if serial.is_empty() { tbs.or(Some("ff")) } else { None },
            dates: [Some(1), Some(2)],
            names: &names,
            domain: "example",
        })
    }

    #[test]
    fn likeness_joins_where_one_side_has_no_serial_number() {
        let numbered = |tbs| whole(tbs, "01", &["a.example", "b.example"]);
        let bare = |tbs| whole(tbs, "", &["b.example", "a.example"]);
        for (known, seen, expected) in [
            (numbered(None), bare(None), true),
            (numbered(None), bare(Some("aa")), true),
            (numbered(Some("aa")), bare(None), true),
            (numbered(Some("aa")), bare(Some("bb")), false),
            (bare(None), numbered(None), true),
            (bare(None), numbered(Some("aa")), true),
            (bare(Some("aa")), numbered(None), true),
            (bare(Some("aa")), numbered(Some("bb")), false),
            (numbered(None), whole(None, "02", &["a.example", "b.example"]), false),
            (numbered(None), whole(None, "", &["a.example"]), false),
            (bare(Some("aa")), bare(Some("bb")), false),
        ] {
            let read = Identity::parse(&known.to_text()).expect("it was written");
            let known: Known<()> = [read].into_iter().collect();
            assert_eq!(known.contains(&seen), expected, "{known:?} {seen:?}");
        }
    }

    #[test]
    fn names_of_others_make_no_difference() {
        // Where one source tells the names that were searched for, and the other all of them.
        let table: [(&[&str], &[&str], bool); 5] = [
            (&["a.example"], &["a.example", "other.net", "*.org"], true),
            (&["*.a.example"], &["other.net", "*.a.example"], true),
            (&["a.example"], &["a.example", "b.example", "other.net"], false),
            (&["a.example"], &["other.net"], false),
            (&["other.net"], &["other.org"], false),
        ];
        for (searched, all, expected) in table {
            let known: Known<()> = [whole(None, "01", searched)].into_iter().collect();
            assert_eq!(known.contains(&whole(None, "", all)), expected, "{searched:?} {all:?}");
        }
    }

    #[test]
    fn likeness_stands_for_one_certificate() {
        let names = &["a.example"];
        let (first, second) = (whole(None, "01", names), whole(None, "02", names));
        let bare = whole(None, "", names);
        // In whatever order a memory is read.
        for known in [[bare.clone(), first.clone()], [first.clone(), bare.clone()]] {
            let known: Known<()> = known.into_iter().collect();
            assert!(known.contains(&first) && known.contains(&bare));
            assert!(!known.contains(&second), "the serial number has taken it over");
        }
        let digested = |tbs| whole(Some(tbs), "", names);
        for known in [[digested("aa"), first.clone()], [first.clone(), digested("aa")]] {
            let known: Known<()> = known.into_iter().collect();
            assert!(known.contains(&first) && known.contains(&digested("aa")));
            assert!(!known.contains(&digested("bb")), "the digest has taken it over");
            assert!(!known.contains(&whole(Some("bb"), "01", names)));
        }
    }

    #[test]
    fn identity_survives_being_written() {
        for one in [
            identity(Some("aa"), "01"),
            identity(None, "01"),
            whole(Some("aa"), "01", &["a.example"]),
            whole(None, "", &["a.example"]),
        ] {
            assert_eq!(Identity::parse(&one.to_text()), Some(one));
        }
        for text in [
            "",
            "short",
            "a.b",
            "0123456789abcdef.",
            "0123456789abcdef.x",
            "0123456789abcdef~x",
            "0123456789abcdef+",
            "+0123456789ab",
        ] {
            assert_eq!(Identity::parse(text), None, "{text}");
        }
    }
}
