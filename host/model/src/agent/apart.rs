//! Several certificates of one place: which of them are a chain, and which stand for themselves.
//!
//! A server may have one certificate for each of its names, or of its kinds of key, and an agent
//! may tell of them in one result or in several. Each leaf is listed, judged and alerted for
//! itself, where it [stands](super::known).
//!
//! *Invariant:* the leaf of a place that shows one chain is the same, in whatever order it is served.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    iter::{once, successors},
};

use super::{Certificate, Look, Place, known::Stand};
use crate::Timestamp;

/// Looks at one place at one moment made one: certificates come together; where one of the looks
/// has none, the later counts. They are whole where each of them is.
pub(super) fn joined(looks: impl IntoIterator<Item = (Timestamp, Look)>) -> Vec<(Timestamp, Look)> {
    let mut joined: Vec<(Timestamp, Look)> = Vec::new();
    let mut known: HashMap<(Timestamp, Place), usize> = HashMap::new();
    for (at, look) in looks {
        let nth = *known.entry((at, look.place.clone())).or_insert(joined.len());
        match joined.get_mut(nth) {
            Some((_, first)) => first.join(look),
            None => joined.push((at, look)),
        }
    }
    joined
}

/// The look at each leaf of a look, that of the place first if it is there. What was wrong is
/// reported of the first.
pub(super) fn looks(look: &Look, standing: &BTreeMap<Stand, &Certificate>) -> Vec<Look> {
    let first = standing.keys().next();
    let of = |(stand, leaf): (&Stand, &&Certificate)| Look {
        place: Place { beside: stand.clone(), ..look.place.clone() },
        checked_at: look.checked_at,
        error: look.error.clone().filter(|_| first == Some(stand)),
        certificates: match stand {
            None => served_with(leaf, standing, &look.certificates),
            Some(_) => chain_of(leaf, &look.certificates),
        },
        is_whole: look.is_whole,
    };
    standing.iter().map(of).collect()
}

impl Look {
    fn join(&mut self, later: Self) {
        let is_whole = self.is_whole && later.is_whole;
        if self.certificates.is_empty() || later.certificates.is_empty() {
            *self = later;
        } else {
            self.certificates.extend(later.certificates);
            self.error = self.error.take().or(later.error);
        }
        self.is_whole = is_whole;
    }
}

/// Those that issued no other, each once. Issuers name no hosts: where some of these do, the others
/// are issuers that belong to nothing. None of no certificates.
pub(super) fn leaves_of(certificates: &[Certificate]) -> Vec<&Certificate> {
    let issuers: HashSet<&str> = certificates
        .iter()
        .filter(|one| one.issuer != one.subject)
        .map(|one| one.issuer.as_str())
        .collect();
    let mut met = HashSet::new();
    let mut leaves: Vec<&Certificate> = certificates
        .iter()
        .filter(|one| !issuers.contains(one.subject.as_str()) && met.insert(one.identity()))
        .collect();
    if leaves.iter().any(|leaf| !leaf.san.is_empty()) {
        leaves.retain(|leaf| !leaf.san.is_empty());
    }
    if leaves.is_empty() {
        // They issued one another.
        leaves.extend(certificates.first());
    }
    leaves
}

/// The leaf of a place, and what else was served but the other leaves, each once.
fn served_with(
    leaf: &Certificate,
    standing: &BTreeMap<Stand, &Certificate>,
    certificates: &[Certificate],
) -> Vec<Certificate> {
    let mut met: HashSet<String> = standing.values().map(|leaf| leaf.identity()).collect();
    let others = certificates.iter().filter(|one| met.insert(one.identity()));
    once(leaf).chain(others).take(LONGEST_CHAIN).cloned().collect()
}

/// A leaf and those that issued it, as far as they were served.
fn chain_of(leaf: &Certificate, certificates: &[Certificate]) -> Vec<Certificate> {
    let issuer = |of: &&Certificate| {
        let named = |one: &&Certificate| one.subject == of.issuer && of.issuer != of.subject;
        certificates.iter().find(named)
    };
    successors(Some(leaf), issuer).take(LONGEST_CHAIN).cloned().collect()
}

const LONGEST_CHAIN: usize = 20;
