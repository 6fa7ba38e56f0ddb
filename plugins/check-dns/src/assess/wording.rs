//! Changes in words.
//!
//! *Invariant:* texts stay within the contract's sizes, whatever the records hold.

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
        "the name no longer exists (NXDOMAIN): "
    } else {
        "DNS changed: "
    });
    let parts: Vec<String> = change.differences.iter().map(describe).collect();
    text.push_str(&parts.join("; "));
    cut(&text, MAX_MESSAGE)
}

/// Values of one side.
#[derive(Clone, Copy)]
struct Side<'a> {
    values: &'a [String],
    /// There are no others.
    complete: bool,
}

impl<'a> Side<'a> {
    fn of(kept: &'a Kept) -> Self {
        Self { values: &kept.values, complete: kept.is_whole() }
    }

    /// What a message lists whole.
    fn is_short(self) -> bool {
        self.complete && self.values.len() <= MAX_LISTED
    }

    /// Shortened by leaving out values, and parts of those that are left.
    fn shown(self, short: fn(&str) -> String) -> String {
        let mut shown: Vec<String> =
            self.values.iter().take(MAX_LISTED).map(|value| short(value)).collect();
        match self.values.len().saturating_sub(MAX_LISTED) {
            _ if !self.complete => shown.push("…".to_owned()),
            0 if shown.is_empty() => shown.push("none".to_owned()),
            0 => {}
            more => shown.push(format!("{more} more")),
        }
        shown.join(", ")
    }
}

/// `A 192.0.2.1 → 192.0.2.2`.
fn describe(difference: &Difference) -> String {
    let Difference { subject, before, after, gone, come } = difference;
    let (was, is) = (Side::of(before), Side::of(after));
    let (before, after) = if was.is_short() && is.is_short() {
        listed(was, is)
    } else if gone.is_empty() && come.is_empty() {
        // They differ behind what is remembered.
        (number(before.count), number(after.count))
    } else {
        let complete = was.complete;
        let come = Side { values: come, complete };
        let come = if !complete && is.is_short() { is } else { come };
        let (gone, come) = listed(Side { values: gone, complete }, come);
        (format!("{gone} (of {})", before.count), format!("{come} (of {})", after.count))
    };
    format!("{subject} {before} → {after}")
}

fn number(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}

/// Both sides, shortened so that they still look different.
fn listed(before: Side<'_>, after: Side<'_>) -> (String, String) {
    let (old, new) = (before.shown(head), after.shown(head));
    if old != new {
        return (old, new);
    }
    (before.shown(tail), after.shown(tail))
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
        "If this is not intended, check whether the domain is still registered and delegated, and \
         restore the records at your DNS provider."
    } else if concerns("DNSSEC") {
        "If this is not intended, check whether your registrar still publishes DS records, compare \
         them with the keys of the zone, and check whether the zone's signatures have expired."
    } else if concerns("NS") {
        "If you did not change the name servers, check at once who can use your accounts at the \
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
