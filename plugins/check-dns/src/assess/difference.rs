//! What differs from the baseline, and the baseline's own form.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{canonical, digest, record_type::RecordType};

/// Bytes of JSON that the remembered values of one type may take.
const MAX_KEPT: usize = 3 << 10;
/// Of either end of a long value, in characters.
const MAX_END: usize = 256;

/// A record set as it is remembered: recognised by its digest, shown by its first values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Kept {
    pub(super) digest: String,
    pub(super) count: usize,
    /// As many as are worth keeping.
    pub(super) values: Vec<String>,
}

impl Kept {
    pub(super) fn of(set: &[String]) -> Self {
        let mut bytes = 0;
        let kept = set.iter().map(|value| ends(value)).take_while(|value| {
            bytes += canonical::json_len(value);
            bytes <= MAX_KEPT
        });
        Self {
            digest: digest::of(set.iter().map(String::as_str)),
            count: set.len(),
            values: kept.collect(),
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.digest == other.digest
    }

    pub(super) fn is_whole(&self) -> bool {
        self.count == self.values.len()
    }
}

/// A value as it is remembered: of a long one both ends, which is what people are shown of it.
fn ends(value: &str) -> String {
    let length = value.chars().count();
    if length <= 2 * MAX_END {
        return value.to_owned();
    }
    let head: String = value.chars().take(MAX_END).collect();
    let tail: String = value.chars().skip(length - MAX_END).collect();
    format!("{head}…{tail}")
}

/// Two states of one subject: a record type, or DNSSEC.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) subject: &'static str,
    pub(super) before: Kept,
    pub(super) after: Kept,
    /// Values that are gone, and values that have come: all of them if `before` is whole.
    pub(super) gone: Vec<String>,
    pub(super) come: Vec<String>,
}

impl Difference {
    /// `set` is what has become of `before`.
    pub(super) fn of_sets(rtype: RecordType, before: Kept, set: &[String]) -> Self {
        let new: Vec<String> = set.iter().map(|value| ends(value)).collect();
        let old: Vec<String> = before.values.iter().map(|value| ends(value)).collect();
        // What stands behind the last that is remembered may have been there.
        let is_known = |value: &str| {
            let last = before.values.last();
            before.is_whole() || last.is_some_and(|last| canonical::precedes(rtype, value, last))
        };
        let (of_old, of_new): (BTreeSet<&String>, BTreeSet<&String>) =
            (old.iter().collect(), new.iter().collect());
        let gone = old.iter().filter(|value| !of_new.contains(value)).cloned().collect();
        let come = new.iter().filter(|value| !of_old.contains(value) && is_known(value.as_str()));
        let come = come.cloned().collect();
        Self { subject: rtype.name(), before, after: Kept::of(set), gone, come }
    }

    /// Of what is said in one word.
    pub(super) fn of_words(subject: &'static str, before: &str, after: &str) -> Self {
        let (gone, come) = (vec![before.to_owned()], vec![after.to_owned()]);
        Self { subject, before: Kept::of(&gone), after: Kept::of(&come), gone, come }
    }

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
