//! What is remembered from one assessment to the next.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use vedette_sdk::date::DAY;

use super::{
    change::{Change, ChangeType},
    seen::{self, Seen},
};

use crate::result::SslResult;

/// Certificates served within this time are one fleet: to meet one of them again is no change. Those
/// that were seen to alternate are one until they expire: of few looks a day many miss a member.
const FLEET_SPAN: i64 = DAY;
/// For so many looks that meet others a member counts that has something wrong: a day, as often as is
/// usual. Whether it was mended by what the others serve, no look can tell.
const PASSED_OVER: u8 = 4;
/// And for so long: of looks a minute apart, so many in a row miss one of two by chance every hour.
const PASSED_OVER_FOR: i64 = 3_600;
/// So often a certificate has to come back before it counts while others are served: one that was
/// there for a moment, or once more by mistake, is over when it is gone.
const TURNS: u8 = 2;
/// A fleet of more is remembered by its most recent members. Keeps the memory below 64 KiB.
const MAX_LEAVES: usize = 48;
/// In bytes.
const MAX_TEXT: usize = 200;

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// Oldest sight first; the last one is what was served most recently, however long ago.
    leaves: Vec<Leaf>,
    /// The last certificate that any result showed.
    pub(super) last: Option<Seen>,
    troubled: Option<Troubled>,
}

/// The member of a fleet that was last found to have something wrong.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Troubled {
    fingerprint: String,
    seen: Seen,
    /// Looks that met others since.
    #[serde(default)]
    passed_over: u8,
}

/// A leaf certificate, as far as telling changes needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Leaf {
    pub(super) fingerprint: String,
    /// The DN.
    pub(super) issuer: String,
    /// Digest of what the result itself calls the issuer; empty where that is not known.
    #[serde(default)]
    named_issuer: String,
    /// Digest of the issuer's organisation; empty where that is not known.
    #[serde(default)]
    organisation: String,
    /// Digest of the set of names: a leaf may have thousands.
    pub(super) names: String,
    pub(super) expires_at: Option<i64>,
    seen_at: i64,
    /// It was seen to alternate with others.
    shared: bool,
    /// How often it came back after another.
    #[serde(default)]
    returns: u8,
    /// When it was last found with something wrong; none where it never was.
    #[serde(default)]
    troubled_at: Option<i64>,
    /// Whether it was when it was seen last.
    #[serde(default)]
    in_trouble: bool,
    /// How often it was again after it was well, each time within [`FLEET_SPAN`] of the time before:
    /// some of the servers serve it without its chain, say.
    #[serde(default)]
    relapses: u8,
}

impl Memory {
    /// Takes the settled result as the baseline if nothing is remembered.
    pub(super) fn fill_in(&mut self, settled: &SslResult, at: i64) {
        if self.leaves.is_empty() {
            self.leaves.extend(Leaf::of(settled, at));
        }
        if self.last.is_none() {
            self.last = Seen::of(settled, at);
        }
    }

    /// Notes the current leaf; answers how it differs from what was served before. The first one
    /// is the baseline.
    pub(super) fn observe(&mut self, current: &SslResult, now: i64) -> Option<Change> {
        let leaf = Leaf::of(current, now)?;
        self.forget(now);
        if let Some(at) = self.leaves.iter().position(|known| known.fingerprint == leaf.fingerprint)
        {
            self.pass_over(&leaf, now);
            self.meet_again(at, &leaf);
            return None;
        }
        let change = self.closest(&leaf).map(|before| Change::new(before, &leaf));
        // Somebody is at work on the servers; a member that was passed over will be met again.
        self.troubled = None;
        self.leaves.push(leaf);
        let surplus = self.leaves.len().saturating_sub(MAX_LEAVES);
        self.leaves.drain(..surplus);
        change
    }

    fn forget(&mut self, now: i64) {
        let latest = self.leaves.pop();
        self.leaves.retain(|leaf| {
            leaf.is_recent(now) || (leaf.shared && leaf.expires_at.is_some_and(|at| now <= at))
        });
        self.leaves.extend(latest);
    }

    fn pass_over(&mut self, met: &Leaf, now: i64) {
        let is_other = |other: &Troubled| other.fingerprint != met.fingerprint;
        self.troubled.take_if(|other| is_other(other) && other.pass_over(now));
    }

    fn meet_again(&mut self, at: usize, met: &Leaf) {
        let alternates = at + 1 < self.leaves.len();
        if let Some(latest) = self.leaves.last_mut() {
            latest.shared |= alternates;
        }
        let mut leaf = self.leaves.remove(at);
        leaf.seen_at = met.seen_at;
        if leaf.organisation.is_empty() {
            leaf.organisation.clone_from(&met.organisation);
        }
        leaf.shared |= alternates;
        leaf.returns = leaf.returns.saturating_add(u8::from(alternates));
        self.leaves.push(leaf);
    }

    /// Notes how the leaf that was observed last was found, of `current`.
    pub(super) fn note(&mut self, current: &SslResult, seen: &Seen, in_trouble: bool) {
        let latest = self.leaves.last_mut();
        let Some(leaf) = latest.filter(|leaf| leaf.is_of(current)) else { return };
        leaf.note(in_trouble, seen.at);
        if in_trouble && (leaf.returns >= TURNS || leaf.takes_turns()) {
            let fingerprint = leaf.fingerprint.clone();
            self.troubled = Some(Troubled { fingerprint, seen: seen.clone(), passed_over: 0 });
        }
        if in_trouble {
            return;
        }
        let takes_turns = leaf.takes_turns();
        self.troubled.take_if(|known| {
            known.fingerprint == leaf.fingerprint && (!takes_turns || known.pass_over(seen.at))
        });
    }

    /// Another certificate than the current one that has something wrong, and that visitors may
    /// still meet.
    pub(super) fn troubled_besides(&self, current: &SslResult) -> Option<&Seen> {
        let own = self.leaves.last().filter(|leaf| leaf.is_of(current));
        let is_besides = |other: &&Troubled| {
            own.is_none_or(|own| own.fingerprint != other.fingerprint || own.takes_turns())
        };
        self.troubled.as_ref().filter(is_besides).map(|other| &other.seen)
    }

    /// What a new leaf is compared with: the latest, or in a fleet the member that it resembles
    /// most, which is the one that it replaces. One that was not met for a day before the latest
    /// had been replaced already: its issuer may no longer be the right one.
    fn closest(&self, new: &Leaf) -> Option<&Leaf> {
        let latest = self.leaves.last()?;
        if !latest.shared {
            return Some(latest);
        }
        let is_met = |leaf: &&Leaf| leaf.shared && leaf.is_recent(latest.seen_at);
        let others = self.leaves.iter().rev().skip(1).filter(is_met);
        let members = std::iter::once(latest).chain(others);
        members.min_by_key(|member| distance(ChangeType::between(member, new)))
    }
}

impl Troubled {
    /// Counts one more look that met another, or itself in good order; whether these are enough.
    fn pass_over(&mut self, now: i64) -> bool {
        self.passed_over = self.passed_over.saturating_add(1);
        let unmet_for = now.saturating_sub(self.seen.at);
        self.passed_over > PASSED_OVER && unmet_for > PASSED_OVER_FOR
    }
}

impl Leaf {
    /// None when the result shows no certificate that could be recognised.
    pub(super) fn of(result: &SslResult, at: i64) -> Option<Self> {
        let leaf = result.chain.first()?;
        // The DN; results that lack it are told apart by what they call their issuer.
        let issuer = if leaf.issuer.is_empty() { &result.issuer } else { &leaf.issuer };
        Some(Self {
            fingerprint: bounded(result.fingerprint()?),
            issuer: bounded(issuer),
            named_issuer: name_digest(&result.issuer),
            organisation: name_digest(result.issuer_org.as_deref().unwrap_or_default()),
            names: digest(result.san.iter().map(String::as_str)),
            expires_at: seen::expires_at(result, at),
            seen_at: at,
            shared: false,
            returns: 0,
            troubled_at: None,
            in_trouble: false,
            relapses: 0,
        })
    }

    fn note(&mut self, in_trouble: bool, now: i64) {
        if in_trouble {
            let before = self.troubled_at.filter(|at| now.saturating_sub(*at) <= FLEET_SPAN);
            self.relapses = match before {
                Some(_) if !self.in_trouble => self.relapses.saturating_add(1),
                Some(_) => self.relapses,
                None => 0,
            };
            self.troubled_at = Some(now);
        }
        self.in_trouble = in_trouble;
    }

    /// Whether it alternates between well and in trouble.
    fn takes_turns(&self) -> bool {
        self.relapses >= TURNS
    }

    fn is_recent(&self, now: i64) -> bool {
        now.saturating_sub(self.seen_at) <= FLEET_SPAN
    }

    fn is_of(&self, result: &SslResult) -> bool {
        result.fingerprint().is_some_and(|fingerprint| bounded(fingerprint) == self.fingerprint)
    }

    /// Of our own results DN and name go together; what others measured may say the one or the
    /// other.
    pub(super) fn has_issuer_of(&self, other: &Self) -> bool {
        let known = !self.named_issuer.is_empty() && !other.named_issuer.is_empty();
        self.issuer == other.issuer && (!known || self.named_issuer == other.named_issuer)
    }

    /// Whether both come from one organisation: authorities issue from several intermediates, and
    /// some choose among them at random.
    pub(super) fn has_authority_of(&self, other: &Self) -> bool {
        !self.organisation.is_empty() && self.organisation == other.organisation
    }
}

fn distance(change: ChangeType) -> u8 {
    match change {
        ChangeType::Renewal => 0,
        ChangeType::Replacement => 1,
        ChangeType::SanChange => 2,
        ChangeType::IssuerChange => 3,
    }
}

/// Texts of a usual length as they are. Longer ones come from somebody who tampers with the memory.
fn bounded(text: &str) -> String {
    if text.len() <= MAX_TEXT && !text.contains(char::is_control) {
        return text.to_owned();
    }
    digest(std::iter::once(text))
}

/// Of a name, however long; empty where there is none.
fn name_digest(name: &str) -> String {
    if name.is_empty() { String::new() } else { digest(std::iter::once(name)) }
}

/// FNV-1a of 128 bits over the sorted set: recognises a set, and need not resist an attacker, since
/// the one who chooses the names also holds the certificate.
fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let set: BTreeSet<String> = texts.map(str::to_ascii_lowercase).collect();
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in set.iter().flat_map(|text| text.bytes().chain([0])) {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, NOW};

    #[test]
    fn memory_of_the_largest_fleet_fits() {
        for issuer in ["\"".repeat(MAX_TEXT), "\u{1}".repeat(5_000)] {
            let mut memory = Memory::default();
            for n in 0..200 {
                let mut result = fixture::result();
                result.chain[0].fingerprint = format!("{n:064x}");
                result.chain[0].issuer = issuer.clone();
                result.issuer = issuer.clone();
                result.issuer_org = Some(format!("{issuer} Ltd"));
                result.domain = "\u{1}".repeat(300);
                result.valid = false;
                result.error = Some("\u{1}".repeat(300));
                result.chain_error = Some("\u{1}".repeat(300));
                result.san = vec![issuer.clone(), issuer.clone(), issuer.clone()];
                memory.observe(&result, NOW);
                memory.last = Seen::of(&result, NOW);
            }
            let seen = memory.last.clone().expect("a certificate was seen");
            memory.troubled = Some(Troubled { fingerprint: "f".repeat(64), seen, passed_over: 0 });
            let written = serde_json::to_string(&memory).expect("it has a form in JSON");
            assert_eq!(memory.leaves.len(), MAX_LEAVES);
            assert!(written.len() < 60_000, "{}", written.len());
        }
    }

    #[test]
    fn digest_knows_sets_not_lists() {
        let of = |names: &[&'static str]| digest(names.iter().copied());
        assert_eq!(of(&["a", "b"]), of(&["B", "a", "a"]));
        assert_ne!(of(&["a", "b"]), of(&["ab"]));
        assert_ne!(of(&["a"]), of(&[]));
    }
}
