//! A source's answer put together with what was known before: the picture that a run gives.
//!
//! What is known stays until it expires, whatever a later answer leaves out: a source may have lost
//! something, and may never have had what another one told. What does not say when it expires stays
//! until a whole answer leaves it out, unless it is for the wildcard beside the domain alone: such an
//! answer need not have looked for that.
//!
//! *Invariant:* what is cut from a long list is old and expected.

use std::{cmp::Reverse, collections::BTreeSet};

use vedette_sdk::Cx;

use crate::{
    caa::Records,
    certificate::{Catalogue, Certificate},
    config::Source,
    issuer::Issuer,
    ledger::{Ledger, Look},
    name,
    result::{self, Caa, CtResult},
    source::{Answer, Told},
};

/// All unexpired certificates of the domain that are known, the most important ones first.
#[derive(Debug)]
pub(crate) struct Inventory {
    items: Vec<Item>,
    /// Certificates that are only counted.
    beyond: u64,
    is_baseline: bool,
}

/// A certificate, and how this run comes by it.
#[derive(Debug)]
struct Sighting {
    certificate: Certificate,
    how: Sight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// From earlier runs.
    Known,
    Told,
    /// Told, and not news: [`crate::source::Answer::taken_in`].
    TakenIn,
}

#[derive(Debug)]
struct Item {
    certificate: Certificate,
    is_new: bool,
    is_expected: bool,
    caa: Option<Caa>,
}

impl Inventory {
    /// Takes the inventory and has the ledger keep it.
    pub(crate) fn take(
        cx: &Cx,
        domain: &str,
        told: Told<'_>,
        sources: &[Source],
        ledger: &mut Ledger,
    ) -> Self {
        let now = cx.now();
        let Told { source, from_start, answer } = told;
        let (is_whole, has_more) = (answer.is_whole, answer.has_more);
        let position = answer.position.clone().map(|position| (source.mark(), position));
        let sightings = joined(domain, answer, ledger, now);

        // What is told from the start, part by part, is counted as it comes.
        let is_recounted = from_start && !is_whole;
        let horizon = ledger.horizon().filter(|_| is_whole);
        if is_whole {
            ledger.forget_undated();
        }
        if let Some(horizon) = horizon {
            let is_old = |sighting: &&Sighting| sighting.certificate.age() <= horizon;
            let told = sightings.iter().filter(|sighting| sighting.how == Sight::Told);
            let told = told.filter(is_old);
            ledger.recall(told.map(|sighting| &sighting.certificate));
        }
        let beyond = if is_recounted { 0 } else { ledger.beyond(now) };
        let is_baseline = ledger.is_baseline();
        let items = judge(cx, domain, sightings, horizon, ledger);
        let inventory = Self { items, beyond, is_baseline };

        let marks: BTreeSet<String> = sources.iter().map(Source::mark).collect();
        let look = Look {
            certificates: inventory.items.iter().map(|item| &item.certificate).collect(),
            is_recounted,
            has_more,
            position,
            sources: &marks,
        };
        ledger.keep(cx, look, now);
        inventory
    }

    /// As the result shows it, bounded.
    pub(crate) fn into_result(self, domain: &str, source: &str) -> CtResult {
        let count = |is: fn(&Item) -> bool| self.items.iter().filter(|item| is(item)).count();
        let (new, unexpected) = (count(|item| item.is_new), count(|item| !item.is_expected));
        let total = self.beyond.saturating_add(self.items.len() as u64);
        CtResult {
            domain: domain.to_owned(),
            total,
            new_count: new as u64,
            unexpected_count: unexpected as u64,
            source: Some(source.to_owned()),
            baseline: self.is_baseline,
            error: None,
            certificates: listed(self.items),
        }
    }
}

/// The unexpired certificates that are known and those that are told, each once.
fn joined(domain: &str, answer: Answer, ledger: &Ledger, now: i64) -> Vec<Sighting> {
    let Answer { certificates: told, taken_in, is_whole, .. } = answer;
    let is_dated = |dates: &[Option<i64>; 2]| dates.iter().all(Option::is_some);
    let mut catalogue = Catalogue::new(domain);
    let (mut dates, mut serials) = (BTreeSet::new(), BTreeSet::new());
    // Places of those that only a whole answer ends.
    let mut untold = BTreeSet::new();
    for certificate in ledger.current(now) {
        let own = certificate.dates();
        if is_dated(&own) {
            dates.insert(own);
        } else {
            serials.insert(certificate.serial.as_str());
        }
        let place = catalogue.add(certificate.clone());
        let is_looked_for = || certificate.names.iter().any(|name| name::is_within(name, domain));
        if is_whole && certificate.not_after.is_none() && is_looked_for() {
            untold.insert(place);
        }
    }
    let known = catalogue.len();

    // With thousands of certificates, computing what they are recognised by costs the most. In a
    // whole answer each is there once, and one with dates of its own is not a known one, unless
    // that had none.
    let mut others = Vec::new();
    for certificate in told {
        let own = certificate.dates();
        let has_own = is_dated(&own) && !dates.contains(&own);
        if is_whole && has_own && !serials.contains(certificate.serial.as_str()) {
            others.push(Sighting { certificate, how: Sight::Told });
        } else {
            let place = catalogue.add(certificate);
            untold.remove(&place);
        }
    }
    let told = catalogue.len();
    for certificate in taken_in {
        let place = catalogue.add(certificate);
        untold.remove(&place);
    }
    let how = |at| {
        if at < known {
            Sight::Known
        } else if at < told {
            Sight::Told
        } else {
            Sight::TakenIn
        }
    };
    let joined = catalogue.into_certificates().into_iter().enumerate();
    let joined = joined.filter(|(at, _)| !untold.contains(at));
    others.extend(joined.map(|(at, certificate)| Sighting { certificate, how: how(at) }));
    others
}

/// The most important ones first: unexpected, new, newest. CAA is asked for what it can decide.
fn judge(
    cx: &Cx,
    domain: &str,
    mut sightings: Vec<Sighting>,
    horizon: Option<i64>,
    ledger: &mut Ledger,
) -> Vec<Item> {
    sightings.sort_by(|one, other| {
        let (one, other) = (&one.certificate, &other.certificate);
        other.age().cmp(&one.age()).then_with(|| one.serial.cmp(&other.serial))
    });
    let is_baseline = ledger.is_baseline();
    // They were there at the first look, and so were their issuers.
    let taken_in = sightings.iter().filter(|sighting| sighting.how == Sight::TakenIn);
    ledger.accept(taken_in.filter_map(|sighting| sighting.certificate.issuer.family()));
    let certificates = sightings.iter().map(|sighting| &sighting.certificate);
    let accepted = accepted_issuers(certificates, ledger);
    let is_accepted = |sighting: &Sighting| {
        sighting.how == Sight::TakenIn || accepted.contains(&sighting.certificate.issuer)
    };
    let in_doubt = sightings.iter().filter(|sighting| !is_accepted(sighting));
    let in_doubt = in_doubt.map(|sighting| &sighting.certificate);
    let records = Records::look_up(cx, domain, in_doubt);

    let items = sightings.into_iter().map(|sighting| {
        let is_accepted = is_accepted(&sighting);
        let Sighting { certificate, how } = sighting;
        let caa = if is_accepted { None } else { records.verdict(&certificate, domain) };
        let is_recent = horizon.is_none_or(|horizon| certificate.age() > horizon);
        Item {
            is_new: !is_baseline && is_recent && how == Sight::Told,
            is_expected: is_baseline || is_accepted || caa == Some(Caa::Permits),
            caa,
            certificate,
        }
    });
    let mut items: Vec<Item> = items.collect();
    // Stable: equally important ones stay newest first.
    items.sort_by_key(|item| (item.is_expected, !item.is_new));
    items
}

/// The issuers of these certificates that were accepted before; those of a baseline are from now
/// on.
fn accepted_issuers<'a>(
    certificates: impl Iterator<Item = &'a Certificate>,
    ledger: &mut Ledger,
) -> BTreeSet<Issuer> {
    let issuers: BTreeSet<&Issuer> = certificates.map(|certificate| &certificate.issuer).collect();
    let families = issuers.into_iter().map(|issuer| (issuer, issuer.family()));
    if ledger.is_baseline() {
        ledger.accept(families.filter_map(|(_, family)| family));
        return BTreeSet::new();
    }
    let accepted = families.filter(|(_, family)| ledger.accepts(family.as_ref()));
    accepted.map(|(issuer, _)| issuer.clone()).collect()
}

/// As many as may be shown, newest first.
fn listed(items: Vec<Item>) -> Vec<result::Certificate> {
    let mut room = LISTED_BYTES;
    let mut listed: Vec<(Reverse<i64>, result::Certificate)> = Vec::new();
    for item in items.into_iter().take(LISTED) {
        let shown = item.certificate.shown(item.is_expected, item.caa);
        let size = serde_json::to_vec(&shown).map_or(usize::MAX, |text| text.len() + 1);
        let Some(left) = room.checked_sub(size) else { break };
        room = left;
        listed.push((Reverse(item.certificate.age()), shown));
    }
    listed.sort_by_key(|(age, _)| *age);
    listed.into_iter().map(|(_, shown)| shown).collect()
}

const LISTED: usize = 250;
const LISTED_BYTES: usize = 128 << 10;
