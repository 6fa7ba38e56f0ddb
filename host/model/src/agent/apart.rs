//! Several certificates of one place: which of them are a chain, and which stand for themselves.
//!
//! A server may have one certificate for each of its names, or of its kinds of key, and an agent
//! may tell of them in one result or in several. Each leaf is listed, judged and alerted for
//! itself; the first of a place stands for the place.
//!
//! *Invariant:* the leaf of a place that shows one chain is the same, in whatever order it is served.

use std::collections::{HashMap, HashSet};

use super::{Certificate, Look, Place};
use crate::Timestamp;

/// Looks at one place at one moment made one: certificates come together; where one of the looks
/// has none, the later counts.
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

/// A look for each leaf, that of the place first; one without certificates stays as it is.
pub(super) fn leaves(look: Look) -> Vec<Look> {
    let Look { place, checked_at, error, certificates } = look;
    let leaves = leaves_of(&certificates);
    let Some((first, others)) = leaves.split_first() else {
        return vec![Look { place, checked_at, error, certificates }];
    };
    let mut named: HashMap<String, usize> = HashMap::from([(name_of(first), 1)]);
    let mut looks = vec![Look {
        place: place.clone(),
        checked_at,
        error,
        certificates: served_with(first, others, &certificates),
    }];
    for leaf in others {
        let name = name_of(leaf);
        let nth = named.entry(name.clone()).and_modify(|nth| *nth += 1).or_insert(1);
        let beside = if *nth == 1 { name } else { format!("{name} #{nth}") };
        looks.push(Look {
            place: Place { beside: Some(beside), ..place.clone() },
            checked_at,
            error: None,
            certificates: chain_of(leaf, &certificates),
        });
    }
    looks
}

impl Look {
    fn join(&mut self, later: Self) {
        if self.certificates.is_empty() || later.certificates.is_empty() {
            *self = later;
            return;
        }
        self.certificates.extend(later.certificates);
        self.error = self.error.take().or(later.error);
    }
}

/// Those that issued no other, each once. Issuers name no hosts: where some of these do, the others
/// are issuers that belong to nothing. None of no certificates.
fn leaves_of(certificates: &[Certificate]) -> Vec<&Certificate> {
    let issuers: HashSet<&str> = certificates
        .iter()
        .filter(|one| one.issuer != one.subject)
        .map(|one| one.issuer.as_str())
        .collect();
    let mut met = HashSet::new();
    let mut leaves: Vec<&Certificate> = certificates
        .iter()
        .filter(|one| !issuers.contains(one.subject.as_str()) && met.insert(*one))
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
    others: &[&Certificate],
    certificates: &[Certificate],
) -> Vec<Certificate> {
    let mut met: HashSet<&Certificate> = others.iter().copied().collect();
    let served = std::iter::once(leaf).chain(certificates);
    served.filter(|one| met.insert(one)).take(LONGEST_CHAIN).cloned().collect()
}

/// A leaf and those that issued it, as far as they were served.
fn chain_of(leaf: &Certificate, certificates: &[Certificate]) -> Vec<Certificate> {
    let issuer = |of: &&Certificate| {
        let named = |one: &&Certificate| one.subject == of.issuer && of.issuer != of.subject;
        certificates.iter().find(named)
    };
    std::iter::successors(Some(leaf), issuer).take(LONGEST_CHAIN).cloned().collect()
}

/// What tells it from others of its place.
fn name_of(leaf: &Certificate) -> String {
    leaf.subject.chars().take(LONGEST_NAME).collect()
}

/// In characters.
const LONGEST_NAME: usize = 100;
const LONGEST_CHAIN: usize = 20;
