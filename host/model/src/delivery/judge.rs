//! What of a delivery that was held back is still worth saying.
//!
//! *Invariant:* what was told before the silence is not repeated, what began and ended inside it is
//! not told at all, and what still holds is told as it is now.

use std::collections::{HashMap, HashSet};

use super::{Delivery, Notice, NoticeStatus, silence};
use crate::{Alert, AlertId, Severity, SiteId, Timestamp};

/// Looks at the deliveries of a lane in their order and remembers what it left out.
pub(super) struct Judge<'a> {
    alerts: HashMap<AlertId, &'a Alert>,
    now: Timestamp,
    /// Alerts that nobody was ever told about: so their end is not worth a word either.
    unsaid: HashSet<AlertId>,
    /// Those of them whose beginning was the end of what had been told.
    owing: HashSet<AlertId>,
    /// Where the next announcement (`site.up`) is about such an end.
    hushed: HashSet<(SiteId, &'a str)>,
}

/// What is left of a notice.
pub(super) enum Word {
    Said(Notice),
    /// Announces the end of what nobody was told about: not worth a delivery of its own.
    Hushed(Notice),
    Dropped,
}

impl Word {
    /// What is left of a delivery. Beside what else its commit has to say an announcement is said
    /// whatever it is about: a renewal is told whole.
    pub(super) fn left(words: Vec<Self>) -> Vec<Notice> {
        let is_said = words.iter().any(|word| matches!(word, Self::Said(_)));
        let left = words.into_iter().filter_map(|word| match word {
            Self::Said(notice) => Some(notice),
            Self::Hushed(notice) => is_said.then_some(notice),
            Self::Dropped => None,
        });
        left.collect()
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(alerts: &'a [Alert], now: Timestamp) -> Self {
        Self {
            alerts: alerts.iter().map(|alert| (alert.id, alert)).collect(),
            now,
            unsaid: HashSet::new(),
            owing: HashSet::new(),
            hushed: HashSet::new(),
        }
    }

    /// `late` is a delivery from inside a silence.
    pub(super) fn left_to_say(&mut self, delivery: &Delivery, late: bool) -> Vec<Notice> {
        let notices = delivery.notices.iter();
        Word::left(notices.map(|notice| self.judge(delivery, notice, late)).collect())
    }

    fn judge(&mut self, delivery: &Delivery, notice: &Notice, late: bool) -> Word {
        let Some(alert) = self.alerts.get(&notice.alert_id).copied() else {
            // Nothing was silenced, or the alert is gone with its site.
            return if late { Word::Dropped } else { Word::Said(notice.clone()) };
        };
        match notice.status {
            NoticeStatus::Resolved => {
                let over = !late || alert.is_resolved;
                let is_said = over && !self.unsaid.contains(&alert.id);
                if is_said { Word::Said(notice.clone()) } else { Word::Dropped }
            }
            NoticeStatus::Raised if announces(alert) => {
                let of_the_unsaid = self.hushed.remove(&place(alert));
                let is_said = !of_the_unsaid || self.ends_what_was_told(notice);
                if is_said { Word::Said(notice.clone()) } else { Word::Hushed(notice.clone()) }
            }
            NoticeStatus::Raised if late => {
                self.late(delivery, notice, alert).map_or(Word::Dropped, Word::Said)
            }
            NoticeStatus::Raised => Word::Said(notice.clone()),
        }
    }

    /// A raise, or a rise of the severity of what was raised before.
    fn late(&mut self, delivery: &Delivery, notice: &Notice, alert: &'a Alert) -> Option<Notice> {
        let raised_inside = silence::begins(delivery, notice);
        let holds = raised_inside || alert.severity >= notice.severity;
        if !self.is_over(alert) && holds {
            return Some(alert.notice(NoticeStatus::Raised));
        }
        if raised_inside {
            if self.ends_what_was_told(notice) {
                self.owing.insert(alert.id);
            }
            self.unsaid.insert(alert.id);
            if alert.severity >= Severity::Warning {
                self.hushed.insert(place(alert));
            }
        }
        None
    }

    /// What another node resolved, whose clock is ahead, is not over before that moment is here: word
    /// of its end is not due yet, and comes without this.
    fn is_over(&self, alert: &Alert) -> bool {
        alert.is_resolved && alert.resolved_at.is_none_or(|at| at <= self.now)
    }

    /// Whether nobody would hear of the end of something that was told, if this were left out.
    fn ends_what_was_told(&self, notice: &Notice) -> bool {
        notice.ends.iter().any(|id| !self.unsaid.contains(id) || self.owing.contains(id))
    }
}

/// Whether it tells of something that has happened, and not of a state: that it is resolved, from the
/// start or by the next run, makes it no less worth telling.
fn announces(alert: &Alert) -> bool {
    alert.self_resolving && alert.severity == Severity::Info
}

fn place(alert: &Alert) -> (SiteId, &str) {
    (alert.site_id, &alert.alert_type)
}
