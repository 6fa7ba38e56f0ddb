//! Dates of the registration.

use super::label::{Label, Source};
use super::layout::Entry;
use super::object::Objects;
use crate::date::{Order, YEAR_1985, is_plausible, parse_date};

/// The dates of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dates {
    pub(super) expires_at: Option<i64>,
    pub(super) is_expiry_stated: bool,
    pub(super) created: Option<i64>,
    pub(super) updated: Option<i64>,
}

impl Dates {
    pub(super) fn of(objects: &Objects<'_, '_>, tld: &str) -> Dates {
        let order = order(objects, tld);
        let expiries = expiries(objects, order, tld);
        Dates {
            expires_at: chosen(&expiries),
            is_expiry_stated: expiries.iter().any(|expiry| expiry.is_stated),
            created: first(objects, Label::Created, order),
            updated: first(objects, Label::Updated, order),
        }
    }
}

struct Expiry {
    source: Source,
    paragraph: usize,
    at: Option<i64>,
    is_stated: bool,
}

fn expiries(objects: &Objects<'_, '_>, order: Order, tld: &str) -> Vec<Expiry> {
    let mut found = Vec::new();
    for (_, entry) in objects.own() {
        let (source, value) = match entry.label() {
            Label::Expiry(source) => (source, entry.values.first().copied()),
            Label::State | Label::Status => (Source::Unnamed, until_in_state(entry, tld)),
            _ => continue,
        };
        let Some(value) = value.filter(|_| !is_foreign(objects, entry)) else { continue };
        let order = entry.meaning.order.unwrap_or(order);
        let at = parse_date(value, order).filter(|at| is_plausible(*at, tld));
        let is_stated = at.is_some() || value.chars().any(|char| char.is_ascii_digit());
        found.push(Expiry { source, paragraph: entry.paragraph, at, is_stated });
    }
    // The registry's word before the registrar's; the order of the answer among equals.
    found.sort_by_key(|expiry| expiry.source);
    found
}

/// The first that can be read. Another of the same rank beside it that says otherwise leaves the
/// date open.
fn chosen(expiries: &[Expiry]) -> Option<i64> {
    let best = expiries.iter().find(|expiry| expiry.at.is_some())?;
    let at = best.at?;
    let is_disputed = expiries.iter().any(|other| {
        other.source == best.source
            && other.paragraph == best.paragraph
            && other.at.is_some_and(|other| other.abs_diff(at) > SAME)
    });
    (!is_disputed).then_some(at)
}

/// .jp: `[State] Connected (2030/03/31)`.
fn until_in_state<'a>(entry: &Entry<'a>, tld: &str) -> Option<&'a str> {
    let value = entry.values.first()?;
    let is_japan = tld.rsplit('.').next().is_some_and(|label| label.eq_ignore_ascii_case("jp"));
    let date = value.strip_prefix("Connected")?.trim_start().strip_prefix('(')?;
    is_japan.then(|| date.trim_end().trim_end_matches(')'))
}

/// Inside a block about something else: a certificate, a contact's own entry.
fn is_foreign(objects: &Objects<'_, '_>, entry: &Entry<'_>) -> bool {
    objects.is_of_contact(entry) || objects.blocks(entry).any(|block| block.meaning.is_foreign)
}

fn first(objects: &Objects<'_, '_>, label: Label, order: Order) -> Option<i64> {
    objects
        .own()
        .filter(|(_, entry)| entry.label() == label && !is_foreign(objects, entry))
        .find_map(|(_, entry)| {
            parse_date(entry.values.first()?, entry.meaning.order.unwrap_or(order))
        })
        .filter(|at| *at >= YEAR_1985)
}

/// Which comes first, day or month: as a date in this answer shows, else by the custom of the
/// top-level domain. Dates that contradict each other show nothing.
fn order(objects: &Objects<'_, '_>, tld: &str) -> Order {
    let mut shown = None;
    for entry in objects.entries {
        let Some(example) = entry.values.first().and_then(|value| Order::of_example(value)) else {
            continue;
        };
        match shown {
            None => shown = Some(example),
            Some(before) if before != example => return Order::Unknown,
            Some(_) => {}
        }
    }
    shown.unwrap_or_else(|| Order::of_tld(tld))
}

/// Local midnights of one day may be this far apart.
const SAME: u64 = 2 * 86_400;
