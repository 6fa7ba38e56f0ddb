//! What is remembered from one assessment to the next.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Seen;
use crate::{
    identity::{Identity, Known},
    result::CtResult,
};

/// Whether a certificate was expected when it was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Expected,
    /// It was told.
    Unexpected,
}

/// How far the baseline is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Baseline {
    /// There was no result yet.
    #[default]
    Missing,
    /// A run may take several results to read its source for the first time.
    Growing,
    Finished,
}

/// Certificates that were judged and issuers that are accepted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub(super) struct Memory {
    baseline: Baseline,
    known: Known<Standing>,
    /// The last seen are last.
    certificates: Vec<(Identity, Standing)>,
    /// [`crate::issuer::Issuer::family`].
    issuers: BTreeSet<String>,
    /// Families of certificates that were told as unexpected.
    suspects: BTreeSet<String>,
}

/// The form in which it is kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Written {
    baseline: Baseline,
    /// [`Identity::to_text`]; `!` in front of an unexpected one.
    certificates: Vec<String>,
    issuers: BTreeSet<String>,
    suspects: BTreeSet<String>,
}

impl Memory {
    /// Where nothing is remembered, the settled result is the baseline, if there is one.
    pub(super) fn of_settled(settled: Option<&CtResult>) -> Self {
        let mut memory = Self::default();
        let Some(settled) = settled.filter(|settled| settled.error.is_none()) else {
            return memory;
        };
        for certificate in settled.certificates.iter().take(super::JUDGED) {
            let seen = Seen::of(certificate, &settled.domain);
            memory.see(&seen.identity, Standing::Expected);
            seen.family.into_iter().for_each(|family| memory.accept(family));
        }
        memory.go_on(settled);
        memory
    }

    /// Whether what the result shows is accepted without being asked: the first result is, and
    /// those in which a run continues its own.
    pub(super) fn takes_as_baseline(&self, current: &CtResult) -> bool {
        match self.baseline {
            Baseline::Missing => true,
            Baseline::Growing => current.baseline,
            Baseline::Finished => false,
        }
    }

    /// The result was judged. A baseline that is finished is never opened again.
    pub(super) fn go_on(&mut self, current: &CtResult) {
        let grows = current.baseline && self.baseline != Baseline::Finished;
        self.baseline = if grows { Baseline::Growing } else { Baseline::Finished };
    }

    pub(super) fn accept(&mut self, family: String) {
        self.suspects.remove(&family);
        if self.issuers.len() < ISSUERS {
            self.issuers.insert(family);
        }
    }

    pub(super) fn accepts(&self, family: &str) -> bool {
        self.issuers.contains(family)
    }

    pub(super) fn suspect(&mut self, family: Option<String>) {
        if self.suspects.len() < SUSPECTS {
            self.suspects.extend(family);
        }
    }

    pub(super) fn suspects(&self, family: &str) -> bool {
        self.suspects.contains(family)
    }

    /// How the certificate was judged, if it was.
    pub(super) fn standing(&self, identity: &Identity) -> Option<Standing> {
        self.known.get(identity)
    }

    pub(super) fn see(&mut self, identity: &Identity, standing: Standing) {
        self.known.insert(identity, standing);
        self.certificates.push((identity.clone(), standing));
    }
}

impl From<Written> for Memory {
    fn from(written: Written) -> Self {
        let read = written.certificates.iter().filter_map(|text| {
            let (standing, text) = match text.strip_prefix('!') {
                Some(text) => (Standing::Unexpected, text),
                None => (Standing::Expected, text.as_str()),
            };
            Some((Identity::parse(text)?, standing))
        });
        let certificates: Vec<(Identity, Standing)> = read.collect();
        let mut known = Known::default();
        // The last sight counts, and the first that is inserted stays.
        for (identity, standing) in certificates.iter().rev() {
            known.insert(identity, *standing);
        }
        let Written { baseline, issuers, suspects, .. } = written;
        Self { baseline, known, certificates, issuers, suspects }
    }
}

impl From<Memory> for Written {
    fn from(memory: Memory) -> Self {
        let mut kept = BTreeSet::new();
        let mut certificates = Vec::new();
        for (identity, standing) in memory.certificates.iter().rev() {
            let text = identity.to_text();
            if certificates.len() < CERTIFICATES && kept.insert(text.clone()) {
                certificates.push(match standing {
                    Standing::Expected => text,
                    Standing::Unexpected => format!("!{text}"),
                });
            }
        }
        certificates.reverse();
        let Memory { baseline, issuers, suspects, .. } = memory;
        Self { baseline, certificates, issuers, suspects }
    }
}

/// The most recent ones. Four times as many as a run lists, and below 64 KiB in all.
const CERTIFICATES: usize = 1_000;
const ISSUERS: usize = 400;
const SUSPECTS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        digest::mark,
        identity::{LIKENESS, Likeness},
    };

    fn identity(n: usize) -> Identity {
        let name = mark(&[&n.to_string()]);
        let likeness = Likeness { mark: name[..LIKENESS].to_owned(), is_numbered: true };
        Identity { tbs: Some(mark(&["tbs", &name])), name, likeness: Some(likeness) }
    }

    fn written(memory: &Memory) -> String {
        serde_json::to_string(memory).expect("texts have a form")
    }

    #[test]
    fn fullest_memory_fits_and_keeps_the_latest() {
        let mut memory = Memory::default();
        for n in 0..5_000 {
            memory.see(&identity(n), Standing::Unexpected);
            memory.accept(mark(&["family", &n.to_string()]));
            memory.suspect(Some(mark(&["suspect", &n.to_string()])));
        }
        let text = written(&memory);
        assert!(text.len() < 64 << 10, "{}", text.len());
        let read: Memory = serde_json::from_str(&text).expect("what was written is read");
        assert_eq!(read.standing(&identity(4_999)), Some(Standing::Unexpected));
        assert_eq!(read.standing(&identity(0)), None);
        assert_eq!(written(&read), text);
    }

    #[test]
    fn last_standing_counts() {
        let mut memory = Memory::default();
        memory.see(&identity(1), Standing::Unexpected);
        memory.see(&identity(1), Standing::Expected);
        let read: Memory = serde_json::from_str(&written(&memory)).expect("read");
        assert_eq!(read.standing(&identity(1)), Some(Standing::Expected));
    }

    #[test]
    fn memory_of_another_kind_is_read_as_far_as_it_goes() {
        let text = r#"{"certificates": ["", "!", "short", "!0123456789abcdef", "~"], "more": 1}"#;
        let memory: Memory = serde_json::from_str(text).expect("read");
        assert_eq!(memory.certificates.len(), 1);
    }
}
