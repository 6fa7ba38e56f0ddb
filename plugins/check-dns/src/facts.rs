//! From what was looked at to the result.

use std::collections::BTreeSet;

use vedette_sdk::dns::{self, Dnssec as State};

use crate::{
    alias::Chain,
    canonical::{self, MAX_VALUES},
    look::{Look, Outcome},
    record_type::RecordType,
    result::{DnsResult, Dnssec, RecordSet},
    zone::Zone,
};

pub(crate) const NXDOMAIN: &str = "nxdomain";
pub(crate) const BOGUS: &str = "dnssec_bogus";
pub(crate) const LOOP: &str = "cname_loop";

/// The result of a run.
pub(crate) fn of(
    target: &str,
    looks: &[Look],
    chain: &Chain,
    zone: &Zone<'_>,
    turns: &[Vec<String>],
) -> DnsResult {
    let sets: Vec<(RecordType, Option<Vec<String>>)> =
        looks.iter().map(|look| (look.rtype, values(target, look, chain))).collect();
    let found = |rtype| sets.iter().find_map(|(of, set)| (*of == rtype).then_some(set.as_deref()?));
    let error = error(looks, chain, &found);
    let is_apex = found(RecordType::Ns).map(|servers: &[String]| !servers.is_empty());
    let is_alias = found(RecordType::Cname).is_some_and(|target: &[String]| !target.is_empty());
    let dnssec = match error {
        Some(NXDOMAIN) if zone.is_unregistered() => None,
        _ => dnssec(looks, zone, is_apex, is_alias),
    };
    let mut result = DnsResult {
        domain: target.to_owned(),
        rotating: !turns.is_empty(),
        dnssec,
        error: error.map(str::to_owned),
        ..DnsResult::default()
    };
    for (rtype, set) in sets {
        let rtype = rtype.name().to_owned();
        match set {
            None => result.failed_types.push(rtype),
            Some(values) if values.is_empty() => {}
            Some(values) => result.records.push(RecordSet { rtype, values }),
        }
    }
    let shown: BTreeSet<&String> = result.records.iter().flat_map(|set| &set.values).collect();
    let turns: BTreeSet<&String> = turns.iter().flatten().collect();
    result.turns = turns.difference(&shown).take(MAX_VALUES).copied().cloned().collect();
    result
}

/// The addresses of an answer, along its own aliases.
pub(crate) fn addresses(target: &str, rtype: RecordType, records: &[dns::Rr]) -> Vec<String> {
    let chain = Chain::follow(target, records);
    of_owners(rtype, records, |owner| chain.passes(owner))
}

/// The canonical set of a type; none = not known. Addresses belong to the end of the chain of
/// aliases, everything else to the name itself.
fn values(target: &str, look: &Look, chain: &Chain) -> Option<Vec<String>> {
    let Outcome::Known { records, .. } = &look.outcome else {
        return None;
    };
    if look.rtype.is_address() {
        let known = !chain.endless;
        return known.then(|| of_owners(look.rtype, records, |owner| chain.passes(owner)));
    }
    let target = canonical::name(target);
    Some(of_owners(look.rtype, records, |owner| canonical::name(owner) == target))
}

fn of_owners(
    rtype: RecordType,
    records: &[dns::Rr],
    is_ours: impl Fn(&str) -> bool,
) -> Vec<String> {
    let ours = records
        .iter()
        .filter(|rr| RecordType::parse(&rr.rrtype) == Some(rtype) && is_ours(&rr.name));
    // A name has one alias: of more, the first.
    let at_most = if rtype == RecordType::Cname { 1 } else { usize::MAX };
    canonical::set(rtype, ours.take(at_most).map(|rr| canonical::record(rtype, &rr.data)))
}

/// Why the name does not resolve. Failed types are no such reason where addresses were answered:
/// they stand in `failed_types`. Other records are no excuse: every zone has its name servers.
fn error<'a>(
    looks: &[Look],
    chain: &Chain,
    found: &impl Fn(RecordType) -> Option<&'a [String]>,
) -> Option<&'static str> {
    if looks.iter().any(|look| look.dnssec == State::Bogus) {
        return Some(BOGUS);
    }
    if chain.endless {
        return Some(LOOP);
    }
    // An alias exists, even if it leads to a name that does not.
    let is_alias = found(RecordType::Cname).is_some_and(|target| !target.is_empty());
    let mut known = looks.iter().filter_map(|look| match look.outcome {
        Outcome::Known { .. } if is_alias && look.rtype == RecordType::Cname => None,
        Outcome::Known { exists, .. } => Some(exists),
        Outcome::Failed(_) => None,
    });
    if known.next() == Some(false) && known.all(|exists| !exists) {
        return Some(NXDOMAIN);
    }
    if are_addresses_told(looks, found) {
        return None;
    }
    let failures = looks.iter().filter_map(|look| match look.outcome {
        Outcome::Failed(failure) if look.rtype.is_address() => Some(failure),
        Outcome::Known { .. } | Outcome::Failed(_) => None,
    });
    failures.max().map(|failure| failure.token())
}

/// Whether it is known which addresses there are, or enough of them. That there is no A is told too:
/// servers that know nothing of IPv6 fail for AAAA alone. That there is no AAAA tells nothing, since
/// most names live by their A.
fn are_addresses_told<'a>(
    looks: &[Look],
    found: &impl Fn(RecordType) -> Option<&'a [String]>,
) -> bool {
    let is_answered = |look: &Look| matches!(look.outcome, Outcome::Known { exists: true, .. });
    let mut v4 = looks.iter().filter(|look| look.rtype == RecordType::A);
    v4.any(is_answered) || found(RecordType::Aaaa).is_some_and(|set| !set.is_empty())
}

/// What DNSSEC says of the name itself; where its alias leads is another zone's matter, unless
/// that one is bogus.
fn dnssec(
    looks: &[Look],
    zone: &Zone<'_>,
    is_apex: Option<bool>,
    is_alias: bool,
) -> Option<Dnssec> {
    if looks.iter().any(|look| look.dnssec == State::Bogus) {
        return Some(Dnssec { enabled: true, valid: Some(false) });
    }
    let own = looks.iter().filter(|look| !is_alias || look.rtype == RecordType::Cname);
    let states: Vec<State> = own.map(|look| look.dnssec).collect();
    let secure = states.contains(&State::Secure);
    if !states.contains(&State::Insecure) {
        return secure.then_some(Dnssec { enabled: true, valid: Some(true) });
    }
    match zone.has_keys(is_apex) {
        // An island, or algorithms and iterations that a validator passes over.
        Some(true) => Some(Dnssec { enabled: true, valid: None }),
        Some(false) if !secure => Some(Dnssec { enabled: false, valid: None }),
        Some(false) | None => None,
    }
}

#[cfg(test)]
mod tests;
