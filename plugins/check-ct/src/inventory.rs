//! A source's answer put together with what was known before: the picture that a run gives.
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
    result::{self, Caa, CtResult},
    source::Told,
};

/// All unexpired certificates of the domain that are known, the most important ones first.
#[derive(Debug)]
pub(crate) struct Inventory {
    items: Vec<Item>,
    /// Certificates that are only counted.
    beyond: u64,
    is_baseline: bool,
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
        let certificates = if is_whole {
            answer.certificates
        } else {
            let mut catalogue = Catalogue::new(domain);
            let known = ledger.current(now).cloned();
            known.chain(answer.certificates).for_each(|certificate| catalogue.add(certificate));
            catalogue.into_certificates()
        };

        let beyond = if is_whole || from_start { 0 } else { ledger.beyond(now) };
        let is_baseline = ledger.is_baseline();
        let horizon = ledger.horizon().filter(|_| is_whole);
        let items = judge(cx, domain, certificates, horizon, ledger);
        let inventory = Self { items, beyond, is_baseline };

        let marks: BTreeSet<String> = sources.iter().map(Source::mark).collect();
        let look = Look {
            certificates: inventory.items.iter().map(|item| &item.certificate).collect(),
            is_whole,
            from_start,
            has_more,
            position: answer.position.map(|position| (source.mark(), position)),
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

/// The most important ones first: unexpected, new, newest. CAA is asked for what it can decide.
fn judge(
    cx: &Cx,
    domain: &str,
    mut certificates: Vec<Certificate>,
    horizon: Option<i64>,
    ledger: &mut Ledger,
) -> Vec<Item> {
    certificates.sort_by(|one, other| {
        other.age().cmp(&one.age()).then_with(|| one.serial.cmp(&other.serial))
    });
    let is_baseline = ledger.is_baseline();
    let known = ledger.known(domain);
    let accepted = accepted_issuers(&certificates, ledger);
    let is_accepted = |certificate: &Certificate| accepted.contains(&certificate.issuer);
    let in_doubt = certificates.iter().filter(|certificate| !is_accepted(certificate));
    let records = Records::look_up(cx, domain, in_doubt);

    let items = certificates.into_iter().map(|certificate| {
        let is_accepted = is_accepted(&certificate);
        let caa = if is_accepted { None } else { records.verdict(&certificate, domain) };
        let is_recent = horizon.is_none_or(|horizon| certificate.age() > horizon);
        // Asked last: of thousands, what they are recognised by costs more than all else.
        let is_new = !is_baseline && is_recent && !known.contains(&certificate.identity(domain));
        Item {
            is_new,
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
fn accepted_issuers(certificates: &[Certificate], ledger: &mut Ledger) -> BTreeSet<Issuer> {
    let issuers: BTreeSet<&Issuer> =
        certificates.iter().map(|certificate| &certificate.issuer).collect();
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
