//! Drops notices that maintenance holds back, as soon as they cannot matter any more.
//!
//! A "down" and its "up" that both fall inside the window cancel out. A notice that an alert got worse
//! is dropped while the notice that it was raised is held too: that one will be told with the severity
//! of the end.
//!
//! *Invariant:* what is held back about a site grows with what there is to tell about it, and not
//! with how often it went down and came up.
//! *Invariant:* nothing is dropped that would be told when the window ends. One exception: somebody
//! reopens by hand an alert that began and ended inside; its raise was dropped by then, but the
//! person who reopened it knows of it.

use std::collections::{HashMap, HashSet};

use super::{Delivery, Notice, NoticeStatus, judge::Word};
use crate::{AlertId, Severity};

/// What each of these, which are all silenced and in their order, has still to hold back.
pub(super) fn left_to_hold(story: &[&Delivery]) -> Vec<Vec<Notice>> {
    let mut left = Left { over: Over::of(story), kept: HashMap::new() };
    story.iter().map(|delivery| left.of(delivery)).collect()
}

struct Left {
    over: Over,
    /// The least severity of which there is word already, by alert.
    kept: HashMap<AlertId, Severity>,
}

/// Alerts that began and ended inside.
#[derive(Default)]
struct Over {
    alerts: HashSet<AlertId>,
    /// Those of them whose beginning was the end of what had been told.
    owing: HashSet<AlertId>,
}

impl Left {
    fn of(&mut self, delivery: &Delivery) -> Vec<Notice> {
        let notices = delivery.notices.iter();
        Word::left(notices.map(|notice| self.judge(delivery, notice)).collect())
    }

    fn judge(&mut self, delivery: &Delivery, notice: &Notice) -> Word {
        if self.over.alerts.contains(&notice.alert_id) {
            return Word::Dropped;
        }
        let mut left = notice.clone();
        left.ends.retain(|ended| self.over.is_owed(*ended));
        let announces = notice.status == NoticeStatus::Raised && notice.severity == Severity::Info;
        if announces {
            let of_the_unsaid = left.ends.is_empty() && !notice.ends.is_empty();
            return if of_the_unsaid { Word::Hushed(left) } else { Word::Said(left) };
        }
        let is_said = notice.status == NoticeStatus::Resolved || self.is_news(delivery, notice);
        if is_said { Word::Said(left) } else { Word::Dropped }
    }

    /// Told is how bad it is in the end, if it is as bad as one of these by then.
    fn is_news(&mut self, delivery: &Delivery, notice: &Notice) -> bool {
        let told = if begins(delivery, notice) { Severity::Info } else { notice.severity };
        let before = self.kept.get(&notice.alert_id).copied();
        self.kept.insert(notice.alert_id, before.map_or(told, |before| before.min(told)));
        before.is_none_or(|before| told < before)
    }
}

impl Over {
    fn of(story: &[&Delivery]) -> Self {
        let (mut begun, mut over) = (HashSet::new(), Self::default());
        let notices = || {
            let each = story.iter().copied();
            each.flat_map(|delivery| delivery.notices.iter().map(move |notice| (delivery, notice)))
        };
        for (delivery, notice) in notices() {
            over.alerts.extend(ended_by(notice).filter(|ended| begun.contains(ended)));
            if begins(delivery, notice) {
                begun.insert(notice.alert_id);
            }
        }
        for (delivery, notice) in notices() {
            let is_over = begins(delivery, notice) && over.alerts.contains(&notice.alert_id);
            if is_over && notice.ends.iter().any(|ended| over.is_owed(*ended)) {
                over.owing.insert(notice.alert_id);
            }
        }
        over
    }

    /// Whether somebody waits to hear of this end.
    fn is_owed(&self, ended: AlertId) -> bool {
        !self.alerts.contains(&ended) || self.owing.contains(&ended)
    }
}

/// Whether the alert was raised by what this delivery tells of, and did not just get worse.
pub(super) fn begins(delivery: &Delivery, notice: &Notice) -> bool {
    notice.status == NoticeStatus::Raised && notice.created_at == delivery.created_at
}

/// Whose end it tells.
fn ended_by(notice: &Notice) -> impl Iterator<Item = AlertId> {
    let own = (notice.status == NoticeStatus::Resolved).then_some(notice.alert_id);
    own.into_iter().chain(notice.ends.iter().copied())
}
