//! One subscription: what the provider's events have said about it.
//!
//! Each event has its word in up to three matters: what was paid, for which plan, and how it
//! stopped. In each the newest word stands, whichever comes first.
//!
//! *Invariant:* of one moment what takes away counts: providers tell whole seconds.
//! *Invariant:* what has no moment counts where it comes, and makes nothing late that has one.

use crate::Timestamp;

/// What is known of a subscription.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subscription {
    /// The provider's; none where it names none.
    pub id: Option<String>,
    /// Who pays for it, as the provider names them: an account may have had several.
    pub customer_id: Option<String>,
    /// What is paid for; none if no event has said so.
    pub plan: Option<String>,
    /// The moment of the event that told the plan.
    pub planned_at: Option<Timestamp>,
    /// When it was bought, or paid for again in place of one bought later; none while its purchase has
    /// not been told.
    pub bought_at: Option<Timestamp>,
    /// The newest moment at which it was bought or went on.
    pub paid_at: Option<Timestamp>,
    /// How it stopped last. It may have been paid for since.
    pub stopped: Option<Stop>,
}

/// That a subscription stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stop {
    pub at: Option<Timestamp>,
    /// For good, so that nothing is charged any more. What is paused can be cancelled still.
    pub is_over: bool,
}

impl Subscription {
    pub fn goes_on(&self) -> bool {
        self.stopped.is_none_or(|stop| self.paid_at > stop.at)
    }

    pub fn is_over(&self) -> bool {
        !self.goes_on() && self.stopped.is_some_and(|stop| stop.is_over)
    }

    /// The moment of the newest event about it.
    pub(super) fn newest_at(&self) -> Option<Timestamp> {
        self.paid_at.max(self.stopped.and_then(|stop| stop.at))
    }

    /// Whether it was paid for after another that is over. What is newer than that one's end tells
    /// so; where it was bought since, as far as anybody knows, and is not the same by another name,
    /// what is as new as its last payment does.
    pub(super) fn follows(&self, other: &Self) -> bool {
        let is_new = self.bought_at.is_none();
        let is_since = is_new && other.id.is_some() && self.paid_at >= other.paid_at;
        (is_new && self.paid_at.is_none()) || is_since || self.paid_at > other.newest_at()
    }

    /// Whether it is over, and still is with what was paid at a moment.
    pub(super) fn stays_over(&self, at: Option<Timestamp>, revives: bool) -> bool {
        let ended_at = self.stopped.and_then(|stop| stop.at);
        self.is_over() && if at.is_none() { !revives } else { at <= ended_at }
    }

    /// Without a moment it begins what has stopped again only where it `revives`.
    pub(super) fn pay(&mut self, at: Option<Timestamp>, revives: bool) {
        self.paid_at = self.paid_at.max(at);
        if at.is_none() && revives {
            self.stopped = None;
        }
    }

    pub(super) fn set_plan(&mut self, plan: &str, at: Option<Timestamp>) {
        if at.is_none() || at >= self.planned_at {
            self.plan = Some(plan.to_owned());
            self.planned_at = at.or(self.planned_at);
        }
    }

    pub(super) fn stop(&mut self, at: Option<Timestamp>, is_over: bool) {
        let told = Stop { at: at.or(self.newest_at()), is_over };
        self.stopped = if at.is_none() { Some(told) } else { self.stopped.max(Some(told)) };
    }
}
