//! Addresses that come and go without meaning anything.
//!
//! *Invariant:* an address that somebody put in once, for a moment, is not yet one of the name's
//! own: otherwise anybody who can do that could do it again unseen.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

const DAY: i64 = 86_400;
/// How long an address counts as seen.
const SPAN: i64 = 7 * DAY;
/// Addresses that are remembered; of more, the latest.
const MAX_SEEN: usize = 400;
/// Rotations within [`SPAN`] that make a name volatile, and steps that make it a pool. One is a server
/// that was away.
const ROTATIONS: usize = 2;

/// The addresses of the last days.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Addresses {
    seen: BTreeMap<String, Sight>,
    /// When the name last went back to addresses that it had before; at most [`ROTATIONS`], one of each
    /// run.
    rotations: Vec<i64>,
    /// When it last had some of its addresses replaced; as many.
    steps: Vec<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Sight {
    /// Unix seconds.
    at: i64,
    /// Whether it belonged to a state that lasted, or came back.
    own: bool,
}

impl Addresses {
    /// Drops what is too long ago.
    pub(super) fn forget(&mut self, now: i64) {
        let recent = |at: i64| now.saturating_sub(at) <= SPAN;
        self.seen.retain(|_, sight| recent(sight.at));
        self.rotations.retain(|at| recent(*at));
        self.steps.retain(|at| recent(*at));
    }

    /// Notes addresses that are the name's.
    pub(super) fn own(&mut self, set: &[String], now: i64) {
        for address in set.iter().take(MAX_SEEN) {
            self.seen.insert(bounded(address), Sight { at: now, own: true });
        }
        self.trim();
    }

    /// Notes addresses that were there and are gone. The second time they are the name's own.
    pub(super) fn glimpse(&mut self, set: &[String], now: i64) {
        for address in set.iter().take(MAX_SEEN) {
            let known = self.seen.get(address.as_str());
            let own = known.is_some_and(|sight| sight.own || sight.at < now);
            self.seen.insert(bounded(address), Sight { at: now, own });
        }
        self.trim();
    }

    /// Whether a set is part of the name's rotation: nothing in it is new. With a single address
    /// that was never seen before, some visitors go where none went before.
    pub(super) fn is_rotation(&self, set: &[String]) -> bool {
        !set.is_empty() && set.iter().all(|address| self.is_own(address))
    }

    /// Whether something in a set is the name's own.
    pub(super) fn meets(&self, set: &[String]) -> bool {
        set.iter().any(|address| self.is_own(address))
    }

    /// Notes that the name rotated, unless it only shrank, or came back from nothing.
    pub(super) fn rotated(&mut self, before: &[String], after: &[String], now: i64) {
        let before: BTreeSet<&String> = before.iter().collect();
        if !before.is_empty() && !after.iter().all(|address| before.contains(address)) {
            mark(&mut self.rotations, now);
        }
    }

    /// Notes that a set with something new in it was told and is the name's own from now on. Where
    /// that took an address's place, beside something old, it is a step of a pool whose addresses are
    /// replaced one by one, which nobody needs to be told of again and again. A server that was added
    /// replaces none.
    pub(super) fn stepped(&mut self, before: &[String], after: &[String], now: i64) {
        let kept: BTreeSet<&String> = after.iter().collect();
        let is_replaced = before.iter().any(|address| !kept.contains(address));
        if is_replaced && self.meets(after) && !self.is_rotation(after) {
            mark(&mut self.steps, now);
        }
    }

    /// The addresses differed within one run.
    pub(super) fn turned(&mut self, now: i64) {
        self.rotations.clear();
        self.rotations.resize(ROTATIONS, now);
    }

    /// Whether what the name answers changes too often to tell anything.
    pub(super) fn is_volatile(&self) -> bool {
        self.rotations.len() >= ROTATIONS
    }

    /// Whether a set is one more step of a pool that has taken some: a set that moves as a whole is
    /// not.
    pub(super) fn is_step(&self, set: &[String]) -> bool {
        self.steps.len() >= ROTATIONS && self.meets(set)
    }

    fn is_own(&self, address: &str) -> bool {
        self.seen.get(address).is_some_and(|sight| sight.own)
    }

    fn trim(&mut self) {
        let surplus = self.seen.len().saturating_sub(MAX_SEEN);
        if surplus == 0 {
            return;
        }
        let mut by_age: Vec<(i64, String)> =
            self.seen.iter().map(|(address, sight)| (sight.at, address.clone())).collect();
        by_age.sort_unstable();
        for (_, address) in by_age.into_iter().take(surplus) {
            self.seen.remove(&address);
        }
    }
}

/// Once for both families of a run.
fn mark(moments: &mut Vec<i64>, now: i64) {
    if moments.last() == Some(&now) {
        return;
    }
    moments.push(now);
    let surplus = moments.len().saturating_sub(ROTATIONS);
    moments.drain(..surplus);
}

/// No address is longer; anything longer is arbitrary text.
fn bounded(address: &str) -> String {
    address.chars().filter(|c| c.is_ascii_graphic()).take(45).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = crate::fixture::NOW;

    fn set(addresses: &[&str]) -> Vec<String> {
        addresses.iter().map(|&address| address.to_owned()).collect()
    }

    #[test]
    fn rotation_has_nothing_new() {
        let mut addresses = Addresses::default();
        addresses.own(&set(&["1", "2", "3", "4"]), NOW);
        for (after, expected) in [
            (&["3", "4"][..], true),
            (&["1"], true),
            (&["1", "2", "3"], true),
            (&["2", "9"], false),
            (&["1", "2", "9"], false),
            (&["9"], false),
            (&[], false),
        ] {
            assert_eq!(addresses.is_rotation(&set(after)), expected, "{after:?}");
        }
    }

    #[test]
    fn glimpsed_address_becomes_own_the_second_time() {
        let mut addresses = Addresses::default();
        addresses.own(&set(&["1"]), NOW);
        addresses.glimpse(&set(&["2"]), NOW + 60);
        assert!(!addresses.is_rotation(&set(&["2"])));
        addresses.glimpse(&set(&["2"]), NOW + 120);
        assert!(addresses.is_rotation(&set(&["2"])));
        addresses.forget(NOW + 120 + SPAN + 1);
        assert!(!addresses.is_rotation(&set(&["2"])));
    }

    #[test]
    fn shrinking_does_not_make_a_name_volatile() {
        let mut addresses = Addresses::default();
        for n in 0..5 {
            addresses.rotated(&set(&["1", "2"]), &set(&["1"]), NOW + n);
        }
        assert!(!addresses.is_volatile());
        addresses.rotated(&set(&["1"]), &set(&["2"]), NOW);
        assert!(!addresses.is_volatile());
        addresses.rotated(&set(&["2"]), &set(&["1"]), NOW + 60);
        assert!(addresses.is_volatile());
        addresses.forget(NOW + SPAN + 1);
        assert!(!addresses.is_volatile());
        addresses.turned(NOW + SPAN + 2);
        assert!(addresses.is_volatile());
    }

    #[test]
    fn two_steps_make_a_pool_and_neither_moves_as_a_whole_nor_growth_do() {
        let mut addresses = Addresses::default();
        let mut before = set(&["1", "2"]);
        addresses.own(&before, NOW);
        for (at, after, pool) in [
            (1, &["8", "9"][..], false),
            (2, &["7", "8", "9"], false),
            (3, &["6", "7", "8", "9"], false),
            (4, &["6", "7", "8", "5"], false),
            (5, &["6", "7", "5", "4"], true),
        ] {
            let after = set(after);
            addresses.stepped(&before, &after, NOW + at);
            addresses.own(&after, NOW + at);
            assert_eq!(addresses.is_step(&set(&["4", "3"])), pool, "{after:?}");
            before = after;
        }
        assert!(!addresses.is_step(&set(&["3"])), "nothing old is left");
        assert!(!addresses.is_volatile(), "steps excuse no other set");
        addresses.forget(NOW + 5 + SPAN);
        assert!(!addresses.is_step(&set(&["4", "3"])));
    }

    #[test]
    fn both_families_of_a_run_are_one_step() {
        let mut addresses = Addresses::default();
        addresses.own(&set(&["1", "a"]), NOW);
        addresses.stepped(&set(&["1", "0"]), &set(&["1", "2"]), NOW + 60);
        addresses.stepped(&set(&["a", "c"]), &set(&["a", "b"]), NOW + 60);
        assert!(!addresses.is_step(&set(&["1"])));
        addresses.stepped(&set(&["1", "0"]), &set(&["1", "2"]), NOW + 120);
        assert!(addresses.is_step(&set(&["1"])));
    }

    #[test]
    fn memory_of_before_steps_were_told_apart_is_read() {
        let kept = r#"{"seen":{"1":{"at":1767225600,"own":true}},"rotations":[1767225600]}"#;
        let addresses: Addresses = serde_json::from_str(kept).expect("it is one");
        assert!(addresses.is_own("1") && addresses.rotations.len() == 1);
        assert!(addresses.steps.is_empty());
    }

    #[test]
    fn memory_keeps_the_latest_addresses() {
        let mut addresses = Addresses::default();
        for n in 0..1_000 {
            addresses.own(&[format!("2001:db8:1111:2222:3333:4444:5555:{n:04x}")], NOW + n);
        }
        assert_eq!(addresses.seen.len(), MAX_SEEN);
        assert!(addresses.is_own("2001:db8:1111:2222:3333:4444:5555:03e7"));
        let written = serde_json::to_string(&addresses).expect("it has a form in JSON");
        assert!(written.len() < 32 << 10, "{}", written.len());
    }
}
