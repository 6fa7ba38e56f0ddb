//! What findings say to people.
//!
//! *Invariant:* what strangers wrote, as the registrar's name, stands in a message as data, and never
//! in a suggestion: whoever reads that is told what to do, an assistant too.

use vedette_sdk::Finding;

use super::{loss::Loss, seen::Seen};
use crate::{events, last_chance::LastChance, moment, result::Source, text::cut};

/// `example.com: registration expires in 5 days, on 2026-01-06 (registrar Example Registrar)`.
pub(super) fn expiring(seen: &Seen, days: i64, now: i64) -> Finding {
    let when = match (days, seen.expires_at) {
        (0, Some(at)) => format!("in less than a day, at {}", moment::minute(at)),
        (0, None) => "in less than a day".to_owned(),
        (_, Some(at)) => format!("in {}, on {}", days_of(days), moment::day(at)),
        (_, None) => format!("in {}", days_of(days)),
    };
    let message = sentence(seen, &format!("registration expires {when}"), now);
    let suggestion = "Renew the domain at its registrar in time. If it renews automatically, check \
         that the payment method there is valid. A later date is no proof that it was paid for: \
         registries like those of .com and .net add a year on the day of expiry, and take it back \
         if nobody pays.";
    Finding::new(&events::EXPIRING, EXPIRING_KEY, message).suggestion(suggestion)
}

/// Past its date, or in its last chance before that.
pub(super) fn expired(seen: &Seen, now: i64) -> Finding {
    let (what, suggestion) = match seen.last_chance {
        Some(LastChance::Redemption) => (
            "registration has lapsed: the registry holds the name in its redemption period"
                .to_owned(),
            "Ask its registrar to restore the domain now. Only its last owner can, and only until \
             the redemption period ends.",
        ),
        Some(LastChance::PendingDelete) => (
            "registration has lapsed: the registry is about to delete the name".to_owned(),
            "Ask its registrar whether the domain can still be restored. Once it is deleted, \
             anybody may register it.",
        ),
        None => (
            format!("registration expired{}", ago(seen, now)),
            "Renew the domain at its registrar at once: after a grace period the registry takes it \
             back, and anybody may register it.",
        ),
    };
    let message = sentence(seen, &what, now);
    Finding::new(&events::EXPIRED, EXPIRED_KEY, message).suggestion(suggestion)
}

/// The same alert as [`expired`]: it is what comes of it.
pub(super) fn lost(seen: &Seen, loss: &Loss, now: i64) -> Finding {
    let what = if loss.is_reserved {
        "no longer registered: its registry has reserved the name".to_owned()
    } else {
        let who = match loss.source {
            Some(Source::RdapAndWhois) => "neither RDAP nor WHOIS knows it",
            Some(Source::Rdap) => "its registry's RDAP does not know it",
            Some(Source::Whois) => "its registry's WHOIS does not know it",
            None => "its registry does not know it",
        };
        format!("no longer registered: {who}")
    };
    let message = sentence(seen, &what, now);
    let suggestion = "Ask its registrar what happened. If the name can be registered, register it \
         before somebody else does.";
    Finding::new(&events::EXPIRED, EXPIRED_KEY, message).suggestion(suggestion)
}

/// ` 2 days ago, on 2026-11-25`. Days are rounded down: -1 is less than a day ago.
fn ago(seen: &Seen, now: i64) -> String {
    match (seen.days_left(now), seen.expires_at) {
        (Some(-1), Some(at)) => format!(" less than a day ago, at {}", moment::minute(at)),
        (Some(days), Some(at)) => {
            let passed = days.saturating_add(1).saturating_neg();
            format!(" {} ago, on {}", days_of(passed), moment::day(at))
        }
        _ => String::new(),
    }
}

/// `example.com: what (registrar X, last seen D)`.
fn sentence(seen: &Seen, what: &str, now: i64) -> String {
    let mut known = Vec::new();
    if let Some(registrar) = &seen.registrar {
        known.push(format!("registrar {}", cut(registrar, MAX_NAME)));
    }
    if seen.at < now {
        known.push(format!("last seen {}", moment::minute(seen.at)));
    }
    let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    let domain = match seen.domain.as_str() {
        "" => String::new(),
        domain => format!("{domain}: "),
    };
    format!("{domain}{what}{known}")
}

fn days_of(days: i64) -> String {
    if days == 1 { "1 day".to_owned() } else { format!("{days} days") }
}

/// Two conditions, two alerts: one may hold without the other.
const EXPIRING_KEY: &str = "expiring";
const EXPIRED_KEY: &str = "expired";
/// Of a registrar, in characters; a message has room for 1 KiB.
const MAX_NAME: usize = 100;
