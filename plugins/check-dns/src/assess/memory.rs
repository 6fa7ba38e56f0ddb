//! What is remembered from one assessment to the next: the baseline of each type, the differences
//! that are being counted, and the addresses and turns of the last days.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vedette_sdk::suffix;

use super::{
    addresses::Addresses,
    difference::{Change, Difference, Kept},
    state::State,
    turns::Turns,
};
use crate::{record_type::RecordType, result::Dnssec};

/// The subject that is no record type.
const DNSSEC: &str = "DNSSEC";
/// Addresses of a difference that are remembered in case it goes back.
const MAX_PASSING: usize = 32;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Memory {
    /// The site's name; empty until a result tells it.
    pub(super) domain: String,
    /// By type. A type that was never known is missing.
    baseline: BTreeMap<String, Kept>,
    /// As it last stood where it could be told.
    dnssec: Option<Dnssec>,
    /// By subject.
    pending: BTreeMap<String, Pending>,
    addresses: Addresses,
    /// Of the other types.
    turns: Turns,
    /// The last result was a failure of the name's servers.
    failed: bool,
}

/// A difference that is being counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Pending {
    digest: String,
    runs: u8,
    since: i64,
    /// The addresses that it brought.
    addresses: Vec<String>,
}

impl Memory {
    /// Whether some type was never known.
    pub(super) fn has_gaps(&self) -> bool {
        RecordType::ALL.iter().any(|rtype| !self.baseline.contains_key(rtype.name()))
    }

    /// Takes the settled result as the baseline if nothing is remembered.
    pub(super) fn fill_in(&mut self, settled: &State, at: i64) {
        for rtype in RecordType::ALL.into_iter().filter(|_| settled.exists) {
            if let Some(set) = settled.set(rtype)
                && !self.baseline.contains_key(rtype.name())
            {
                self.adopt(rtype, set, at);
            }
        }
        self.dnssec = self.dnssec.or(settled.dnssec);
        if self.domain.is_empty() {
            self.domain.clone_from(&settled.domain);
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(super) fn note_failure(&mut self, failed: bool) {
        self.failed = failed;
    }

    /// What differs from the baseline and may matter. What does not matter becomes the baseline
    /// at once, as does whatever is seen for the first time.
    pub(super) fn compare(&mut self, state: &State, now: i64) -> Vec<Difference> {
        if !state.domain.is_empty() {
            self.domain.clone_from(&state.domain);
        }
        self.addresses.forget(now);
        self.turns.forget(now);
        let mut differences = Vec::new();
        for rtype in RecordType::ALL.into_iter().filter(|rtype| !rtype.is_address()) {
            differences.extend(self.difference(rtype, state, now));
        }
        let stands = !differences.iter().any(|difference: &Difference| {
            [RecordType::Cname.name(), RecordType::Ns.name()].contains(&difference.subject)
        });
        let is_off_site = self.is_off_site(state);
        for rtype in [RecordType::Aaaa, RecordType::A] {
            let Some(difference) = self.difference(rtype, state, now) else { continue };
            if self.is_harmless(&difference, rtype, state, is_off_site, stands, now) {
                self.adopt(rtype, state.set(rtype).unwrap_or_default(), now);
                self.pending.remove(rtype.name());
            } else {
                differences.insert(0, difference);
            }
        }
        if state.rotating {
            self.note_turn(state, now);
        }
        differences.extend(self.dnssec_difference(state));
        differences
    }

    /// Addresses that differ within one run count as rotation only for a name that takes part in
    /// it, and excuse nothing that this run shows: otherwise anybody who takes a name over would
    /// only have to answer with two addresses in turn.
    fn note_turn(&mut self, state: &State, now: i64) {
        let sets = [RecordType::A, RecordType::Aaaa].into_iter().filter_map(|of| state.set(of));
        if sets.chain([state.turns.as_slice()]).any(|set| self.addresses.meets(set)) {
            self.addresses.turned(now);
        }
    }

    /// Counts the differences; answers those that appeared together as one change. A confirmed
    /// change becomes the baseline.
    pub(super) fn confirm(
        &mut self,
        differences: Vec<Difference>,
        state: &State,
        now: i64,
    ) -> Vec<Change> {
        let mut changes: BTreeMap<i64, Change> = BTreeMap::new();
        for difference in differences {
            let (since, runs) = self.count(&difference, state, now);
            let change = changes.entry(since).or_insert_with(|| Change {
                differences: Vec::new(),
                since,
                confirmed: true,
            });
            change.confirmed &= runs >= difference.needed();
            change.differences.push(difference);
        }
        for change in changes.values().filter(|change| change.confirmed) {
            for difference in &change.differences {
                self.accept(difference.subject, state, now);
            }
        }
        changes.into_values().collect()
    }

    /// How a type differs from its baseline; none where it does not, or where it cannot be told.
    fn difference(&mut self, rtype: RecordType, state: &State, now: i64) -> Option<Difference> {
        let set = state.set(rtype)?;
        let (before, after) = (self.baseline.get(rtype.name()).cloned(), Kept::of(set));
        match before {
            Some(before)
                if !before.is_same(&after) && !self.turns.is_turn(rtype, &before, &after) =>
            {
                Some(Difference::of_sets(rtype, before, set))
            }
            // A name that is watched before it exists has not changed when it does.
            None if !state.exists => None,
            Some(_) | None => {
                self.adopt(rtype, set, now);
                if let Some(passed) = self.pending.remove(rtype.name()) {
                    self.addresses.glimpse(&passed.addresses, now);
                }
                None
            }
        }
    }

    /// Whether a difference of addresses is one that only informs. `stands`: CNAME
    /// and NS are what they were.
    fn is_harmless(
        &mut self,
        difference: &Difference,
        rtype: RecordType,
        state: &State,
        is_off_site: bool,
        stands: bool,
        now: i64,
    ) -> bool {
        let after = state.set(rtype).unwrap_or_default();
        if !state.has_address() {
            return false; // The last address is gone: that is no rotation.
        }
        if is_off_site {
            return true;
        }
        if !stands {
            return false;
        }
        if self.addresses.is_rotation(after) {
            self.addresses.rotated(&difference.before.values, after, now);
            return true;
        }
        // A set in which nothing is the name's own is told however often it rotates (decisions:
        // dns.changed): anybody who takes the name over shows none of its own.
        let meets =
            [after, state.turns.as_slice()].into_iter().any(|set| self.addresses.meets(set));
        (self.addresses.is_volatile() && meets) || self.addresses.is_step(after)
    }

    /// Whether the name is an alias of one that somebody else has registered.
    fn is_off_site(&self, state: &State) -> bool {
        let remembered = || {
            let kept = self.baseline.get(RecordType::Cname.name())?;
            Some(kept.values.as_slice())
        };
        let alias = state.set(RecordType::Cname).or_else(remembered).unwrap_or_default();
        let Some(alias) = alias.first().filter(|_| !self.domain.is_empty()) else {
            return false;
        };
        let of = |name: &'_ str| suffix::registrable(name).unwrap_or(name).to_owned();
        of(alias) != of(&self.domain)
    }

    /// DNSSEC that was switched off, became invalid, or can no longer be verified by anybody;
    /// anything else becomes the baseline at once.
    fn dnssec_difference(&mut self, state: &State) -> Option<Difference> {
        let after = state.dnssec?;
        let before = self.dnssec.unwrap_or(after);
        let is_off = before.enabled && !after.enabled;
        let is_broken = before.enabled && after.valid == Some(false) && before.valid != after.valid;
        // As when the parent zone's DS records are withdrawn.
        let is_cut_off = before.valid == Some(true) && (after.enabled, after.valid) == (true, None);
        if !is_off && !is_broken && !is_cut_off {
            self.dnssec = Some(after);
            self.pending.remove(DNSSEC);
            return None;
        }
        Some(Difference::of_words(DNSSEC, word(before), word(after)))
    }

    /// One more run that shows it: since when, and in how many runs.
    fn count(&mut self, difference: &Difference, state: &State, now: i64) -> (i64, u8) {
        let digest = difference.digest();
        let before = self.pending.remove(difference.subject);
        let (pending, passed) = match before {
            Some(same) if same.digest == digest => {
                (Pending { runs: same.runs.saturating_add(1), ..same }, None)
            }
            other => {
                let rtype = RecordType::parse(difference.subject);
                let rtype = rtype.filter(|rtype| rtype.is_address());
                let set = rtype.and_then(|rtype| state.set(rtype)).unwrap_or_default();
                let addresses = set.iter().take(MAX_PASSING).cloned().collect();
                (Pending { digest, runs: 1, since: now, addresses }, other)
            }
        };
        if let Some(passed) = passed {
            self.addresses.glimpse(&passed.addresses, now);
        }
        let counted = (pending.since, pending.runs);
        self.pending.insert(difference.subject.to_owned(), pending);
        counted
    }

    fn accept(&mut self, subject: &str, state: &State, now: i64) {
        self.pending.remove(subject);
        match RecordType::parse(subject) {
            Some(rtype) => {
                if let Some(set) = state.set(rtype) {
                    if rtype.is_address() {
                        let before = self.baseline.get(rtype.name());
                        let before = before.map(|kept| kept.values.as_slice()).unwrap_or_default();
                        self.addresses.stepped(before, set, now);
                    }
                    self.adopt(rtype, set, now);
                }
            }
            None => {
                if let Some(dnssec) = state.dnssec {
                    self.dnssec = Some(dnssec);
                }
            }
        }
    }

    fn adopt(&mut self, rtype: RecordType, set: &[String], now: i64) {
        let after = Kept::of(set);
        if rtype.is_address() {
            self.addresses.own(set, now);
        } else if let Some(before) = self.baseline.get(rtype.name())
            && !before.is_same(&after)
        {
            self.turns.replaced(rtype, before, &after, now);
        }
        self.baseline.insert(rtype.name().to_owned(), after);
    }
}

/// For people.
fn word(dnssec: Dnssec) -> &'static str {
    match (dnssec.enabled, dnssec.valid) {
        (false, _) => "off",
        (true, Some(true)) => "valid",
        (true, Some(false)) => "bogus",
        (true, None) => "not verifiable",
    }
}
