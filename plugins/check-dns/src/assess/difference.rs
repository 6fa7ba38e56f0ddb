//! What differs from the baseline, and the baseline's own form.

use serde::{Deserialize, Serialize};

use crate::{canonical, digest};

/// Bytes of JSON that the remembered values of one type may take.
const MAX_KEPT: usize = 3 << 10;

/// A record set as it is remembered: recognised by its digest, shown by its first values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Kept {
    digest: String,
    pub(super) count: usize,
    /// As many as are worth keeping.
    pub(super) values: Vec<String>,
}

impl Kept {
    pub(super) fn of(set: &[String]) -> Self {
        let mut bytes = 0;
        let kept = set.iter().take_while(|value| {
            bytes += canonical::json_len(value);
            bytes <= MAX_KEPT
        });
        Self {
            digest: digest::of(set.iter().map(String::as_str)),
            count: set.len(),
            values: kept.cloned().collect(),
        }
    }

    /// A word in place of a set.
    pub(super) fn word(word: &str) -> Self {
        Self::of(&[word.to_owned()])
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.digest == other.digest
    }

    pub(super) fn is_whole(&self) -> bool {
        self.count == self.values.len()
    }
}

/// Two states of one subject: a record type, or DNSSEC.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) subject: &'static str,
    pub(super) before: Kept,
    pub(super) after: Kept,
}

impl Difference {
    /// Equal for the same difference, and for no other.
    pub(super) fn digest(&self) -> String {
        digest::of([self.subject, &self.before.digest, &self.after.digest])
    }

    /// Nothing is left of the type.
    pub(super) fn is_loss(&self) -> bool {
        self.after.count == 0
    }

    /// Runs in a row that must show it.
    pub(super) fn needed(&self) -> u8 {
        if self.is_loss() { 3 } else { 2 }
    }
}

/// Differences that appeared together: one change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    pub(super) differences: Vec<Difference>,
    /// When it was first seen, in Unix seconds.
    pub(super) since: i64,
    /// It has been seen often enough.
    pub(super) confirmed: bool,
}

impl Change {
    /// Equal in all runs that show the change, different when it happens again later.
    pub(super) fn key(&self) -> String {
        let digests: Vec<String> = self.differences.iter().map(Difference::digest).collect();
        let since = self.since.to_string();
        let texts = digests.iter().map(String::as_str).chain([since.as_str()]);
        format!("changed {}", digest::of(texts))
    }

    /// How often the host must see it: it was counted here, type by type.
    pub(super) fn confirmations(&self) -> u8 {
        let needed = self.differences.iter().map(Difference::needed).max().unwrap_or(1);
        if self.confirmed { 1 } else { needed }
    }
}
