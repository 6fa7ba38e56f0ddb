//! What a notification says when there is more than anybody can read.
//!
//! *Invariant:* what is not listed is counted: in the notification, and in the log of each alert.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Duration;

use uuid::Uuid;

use super::gather::{Told, WINDOW};
use super::{Delivery, Notice, NoticeStatus};
use crate::{AlertId, DeliveryId, Severity, SiteId, Timestamp};

/// How many alerts are listed at one moment on one channel: the sites of the largest plan fit in.
pub const LISTED: usize = 100;

/// The window that such a notification opens, where others open two seconds.
pub const FLOOD_WINDOW: Duration = Duration::from_secs(10);

/// Until when what waits is held back, in its order, while a window is open that is `over` then;
/// none when it can go. What is more than can be listed waits for the end; what can be listed waits
/// two seconds from when its first was queued, and so does not for a flood that it is no part of.
pub(super) fn held_back(
    waiting: &[&Delivery],
    over: Timestamp,
    now: Timestamp,
) -> Option<Timestamp> {
    let first = waiting.first()?.created_at;
    let count: usize = waiting.iter().map(|one| one.notices.len()).sum();
    if count > LISTED {
        return Some(over);
    }
    // What was left over when the flood was told follows on it.
    let goes = first.max(over - FLOOD_WINDOW) + WINDOW;
    (now < goes).then_some(goes.min(over))
}

/// Those that are listed, and the rest. The worst are listed, of equal ones the older; what one
/// commit says is listed as a whole or not.
pub(super) fn divide(told: Vec<Told<'_>>) -> (Vec<Told<'_>>, Vec<Told<'_>>) {
    let total: usize = told.iter().map(|one| one.notices.len()).sum();
    if total <= LISTED {
        return (told, Vec::new());
    }
    let worst = |place: &usize| told[*place].notices.iter().map(|one| one.severity).max();
    let mut order: Vec<usize> = (0..told.len()).collect();
    order.sort_by_key(|place| Reverse(worst(place)));
    let (mut listed, mut count) = (HashSet::new(), 0);
    for place in order {
        let more = told[place].notices.len();
        if count == 0 || count + more < LISTED {
            listed.insert(place);
            count += more;
        }
    }
    let (mut kept, mut rest) = (Vec::new(), Vec::new());
    for (place, one) in told.into_iter().enumerate() {
        if listed.contains(&place) { kept.push(one) } else { rest.push(one) }
    }
    (kept, rest)
}

/// The sentence about the rest, as an entry that every channel can show. It is about no one site.
pub(super) fn summary(batch: DeliveryId, rest: &[Told<'_>], now: Timestamp) -> Notice {
    let notices = || rest.iter().flat_map(|told| &told.notices);
    let alerts: HashSet<AlertId> = notices().map(|notice| notice.alert_id).collect();
    let sites: HashSet<SiteId> = notices().map(|notice| notice.site_id).collect();
    let sites = counted(sites.len(), "site");
    Notice {
        alert_id: AlertId(Uuid::new_v5(&batch.0, b"summary")),
        site_id: SiteId(Uuid::nil()),
        event: "alerts.summarised".to_owned(),
        alert_type: "summary".to_owned(),
        severity: notices().map(|notice| notice.severity).max().unwrap_or(Severity::Info),
        message: format!(
            "{} on {sites}; see GET /alerts?resolved=all",
            counted(alerts.len(), "more alert")
        ),
        domain: sites,
        suggestion: Some("Look at the list of alerts: these are not told one by one.".to_owned()),
        status: NoticeStatus::Raised,
        created_at: now,
        ends: Vec::new(),
    }
}

/// `1 site`, `1 234 sites`.
fn counted(count: usize, what: &str) -> String {
    let digits = count.to_string();
    let mut number = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            number.push(' ');
        }
        number.push(digit);
    }
    format!("{number} {what}{}", if count == 1 { "" } else { "s" })
}
