//! Changes in words.
//!
//! *Invariant:* texts stay within the contract's sizes, whatever the records hold.

use std::collections::BTreeSet;

use serde::Serialize;
use vedette_sdk::Finding;

use super::difference::{Change, Difference, Kept};
use crate::{canonical, events, facts::NXDOMAIN, result::DnsResult};

/// Of a message, in bytes; the contract allows 1 KiB.
const MAX_MESSAGE: usize = 1000;
/// Values of a set that a message lists whole; of larger sets it lists what differs.
const MAX_LISTED: usize = 4;
/// Of one value in a message, in characters.
const MAX_VALUE: usize = 90;
/// Bytes of JSON that one list in the details may take: two lists for each of eight subjects.
const MAX_DETAILS: usize = 900;

/// What is kept with the alert.
#[derive(Serialize)]
struct Details<'a> {
    changes: Vec<Detail<'a>>,
}

#[derive(Serialize)]
struct Detail<'a> {
    #[serde(rename = "type")]
    subject: &'a str,
    before: Vec<&'a str>,
    after: Vec<&'a str>,
}

/// The finding of a change.
pub(super) fn finding(change: &Change, domain: &str, current: &DnsResult) -> Finding {
    let details = Details { changes: change.differences.iter().map(Detail::of).collect() };
    Finding::new(&events::CHANGED, change.key(), message(change, domain, current))
        .suggestion(suggestion(change))
        .details(&details)
        .confirmations(change.confirmations())
}

fn message(change: &Change, domain: &str, current: &DnsResult) -> String {
    let mut text = String::new();
    if !domain.is_empty() {
        text.push_str(domain);
        text.push_str(": ");
    }
    let is_gone = current.error.as_deref() == Some(NXDOMAIN);
    text.push_str(if is_gone && change.differences.iter().any(Difference::is_loss) {
        "the name does not exist any more (NXDOMAIN): "
    } else {
        "DNS changed: "
    });
    let parts: Vec<String> = change.differences.iter().map(describe).collect();
    text.push_str(&parts.join("; "));
    cut(&text, MAX_MESSAGE)
}

/// `A 192.0.2.1 → 192.0.2.2`.
fn describe(difference: &Difference) -> String {
    let (before, after) = (&difference.before, &difference.after);
    let whole = before.is_whole() && after.is_whole();
    let (before, after) = if !whole {
        (format!("{} values", before.count), format!("{} values", after.count))
    } else if before.count.max(after.count) <= MAX_LISTED {
        listed(&before.values, &after.values)
    } else {
        let without = |one: &Kept, other: &Kept| {
            let other: BTreeSet<&String> = other.values.iter().collect();
            let rest = one.values.iter().filter(|value| !other.contains(value));
            rest.cloned().collect::<Vec<String>>()
        };
        let (gone, come) = listed(&without(before, after), &without(after, before));
        (format!("{gone} (of {})", before.count), format!("{come} (of {})", after.count))
    };
    format!("{} {before} → {after}", difference.subject)
}

/// Both lists, shortened so that they still look different.
fn listed(before: &[String], after: &[String]) -> (String, String) {
    let show = |values: &[String], short: fn(&str) -> String| {
        let mut shown: Vec<String> = values.iter().take(MAX_LISTED).map(|v| short(v)).collect();
        match values.len().saturating_sub(MAX_LISTED) {
            0 if shown.is_empty() => shown.push("none".to_owned()),
            0 => {}
            more => shown.push(format!("{more} more")),
        }
        shown.join(", ")
    };
    let (old, new) = (show(before, head), show(after, head));
    if old != new {
        return (old, new);
    }
    (show(before, tail), show(after, tail))
}

fn head(value: &str) -> String {
    match value.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => quiet(value),
    }
}

fn tail(value: &str) -> String {
    match value.char_indices().rev().nth(MAX_VALUE - 1) {
        Some((start, _)) if start > 0 => format!("…{}", &value[start..]),
        _ => quiet(value),
    }
}

/// A value of nothing must be seen too.
fn quiet(value: &str) -> String {
    if value.is_empty() { "\"\"".to_owned() } else { value.to_owned() }
}

fn suggestion(change: &Change) -> &'static str {
    let concerns = |subject: &str| change.differences.iter().any(|d| d.subject == subject);
    if change.differences.iter().all(Difference::is_loss) {
        "If this is not intended, look whether the domain is still registered and delegated, and \
         restore the records at your DNS provider."
    } else if concerns("DNSSEC") {
        "If this is not intended, compare the DS records at your registrar with the keys of the \
         zone, and look whether the zone's signatures have expired."
    } else if concerns("NS") {
        "If you did not change the name servers, look at once who can use your accounts at the \
         registrar and the DNS provider."
    } else {
        "If you did not make this change, look at your DNS provider's log and at who can use the \
         account."
    }
}

impl<'a> Detail<'a> {
    fn of(difference: &'a Difference) -> Self {
        Self {
            subject: difference.subject,
            before: bounded(&difference.before.values),
            after: bounded(&difference.after.values),
        }
    }
}

fn bounded(values: &[String]) -> Vec<&str> {
    let mut bytes = 0;
    let fitting = values.iter().map(String::as_str).take_while(|value| {
        bytes += canonical::json_len(value);
        bytes <= MAX_DETAILS
    });
    fitting.collect()
}

fn cut(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max - '…'.len_utf8());
    format!("{}…", &text[..end])
}
