//! The subscriptions that are known of an account: which is the present one, and which one an event
//! is about.
//!
//! *Invariant:* they stand in the order in which they were bought, those whose purchase has not been
//! told before the others: a purchase says which one is present.

use super::{Billing, EventKind, Offer, PaymentEvent, Stop, Subscription};
use crate::{Plan, Timestamp};

impl Billing {
    /// How many subscriptions are known of an account at most. What is over goes first, then what has
    /// waited longest for its purchase, then what was bought first. Of what is forgotten nothing is
    /// cancelled with the account: these are more than anybody is charged for.
    pub const LONGEST: usize = 32;

    /// The subscription whose plan the account is on: the one bought last. Once that is over, one
    /// that was paid for since is it, first of all one whose purchase has not been told; and so is the
    /// first of an account of which no purchase was told.
    pub fn present(&self) -> Option<&Subscription> {
        self.subscriptions.get(self.present_place()?)
    }

    /// What is charged, as far as is known: all that is not over.
    pub fn charged(&self) -> impl Iterator<Item = &Subscription> {
        self.subscriptions.iter().filter(|it| !it.is_over())
    }

    /// Whether another one was bought in place of one that has a name, which was not paid for since.
    pub fn is_replaced(&self, subscription: &Subscription) -> bool {
        let is_known = subscription.id.is_some() && subscription.bought_at.is_some();
        let is_before = |present: &Subscription| {
            present != subscription && subscription.paid_at <= present.bought_at
        };
        is_known && self.present().is_some_and(is_before)
    }

    /// The plan that is paid for, else the lowest.
    pub(super) fn plan(&self, offer: &Offer<'_>) -> &'static Plan {
        let paid = self.present().filter(|it| it.goes_on() && !self.is_taken_back());
        let plan = paid.and_then(|it| it.plan.as_deref()).and_then(|id| offer.plan(id));
        plan.unwrap_or_else(|| offer.edition.lowest_plan())
    }

    /// Whether nothing was paid for the present subscription since a payment was taken back,
    /// whichever that was for.
    pub(super) fn is_taken_back(&self) -> bool {
        let paid_at = self.present().and_then(|present| present.paid_at);
        self.revoked_at.is_some() && paid_at <= self.revoked_at
    }

    pub(super) fn present_place(&self) -> Option<usize> {
        let last = self.subscriptions.len().checked_sub(1)?;
        let bought = Some(&self.subscriptions[last]).filter(|it| it.bought_at.is_some());
        if bought.is_some_and(|bought| !bought.is_over()) {
            return Some(last);
        }
        let succeeds =
            |it: &Subscription| it.goes_on() && bought.is_none_or(|bought| it.follows(bought));
        let waits = |it: &Subscription| it.bought_at.is_none() && succeeds(it);
        let paid_again = || self.subscriptions.iter().rposition(succeeds);
        Some(self.subscriptions.iter().position(waits).or_else(paid_again).unwrap_or(last))
    }

    /// Where the one stands that an event is about: the one that it names, else the present one. It
    /// is new where none is known.
    pub(super) fn place_of(&mut self, event: &PaymentEvent) -> usize {
        let is_purchase = event.kind == EventKind::CheckoutCompleted;
        let named = event.subscription_id.as_deref();
        let found = match named {
            Some(_) if is_purchase => self.place_named(named),
            Some(_) => self.place_named(named).or_else(|| self.place_unnamed(event)),
            None if is_purchase => self.place_begun(event).or_else(|| self.place_named(None)),
            None => self.present_place(),
        };
        let place = found.unwrap_or_else(|| self.put(Subscription::default()));
        if named.is_some() {
            let subscription = &mut self.subscriptions[place];
            subscription.id.clone_from(&event.subscription_id);
            if event.customer_id.is_some() {
                subscription.customer_id.clone_from(&event.customer_id);
            }
        }
        place
    }

    fn place_named(&self, id: Option<&str>) -> Option<usize> {
        self.subscriptions.iter().position(|it| it.id.as_deref() == id)
    }

    /// Where the present one stands, if its purchase named none: the next event does.
    fn place_unnamed(&self, event: &PaymentEvent) -> Option<usize> {
        let place = self.present_place()?;
        let present = &self.subscriptions[place];
        let is_since = event.created_at.is_none() || event.created_at >= present.bought_at;
        (present.id.is_none() && !present.is_over() && is_since).then_some(place)
    }

    /// The place of the subscription that a purchase without an id belongs to: the last one that other
    /// events spoke of before its purchase was told; else the present one, where the purchase is older
    /// than the newest event of that.
    fn place_begun(&self, event: &PaymentEvent) -> Option<usize> {
        let at = event.created_at;
        let has_begun = |it: &Subscription| {
            let is_told = if at.is_some() { it.newest_at() >= at } else { !it.is_over() };
            it.bought_at.is_none() && is_told
        };
        let is_older = |it: &Subscription| at.is_some() && it.newest_at() > at;
        let present = || self.present_place().filter(|place| is_older(&self.subscriptions[*place]));
        self.subscriptions.iter().rposition(has_begun).or_else(present)
    }

    /// Notes a purchase, and answers where its subscription stands from now on. Without a moment it
    /// comes after those that were told before.
    pub(super) fn buy(&mut self, place: usize, at: Option<Timestamp>) -> usize {
        let last = self.subscriptions.last().and_then(|last| last.bought_at);
        let at = at.or(last).unwrap_or(Timestamp::UNIX_EPOCH);
        if self.subscriptions[place].bought_at > Some(at) {
            return place;
        }
        let mut bought = self.subscriptions.remove(place);
        bought.bought_at = Some(at);
        self.put(bought)
    }

    /// Whether what is paid for without a moment goes on in place of the one that was bought last: it
    /// was bought before that, which is over by now.
    pub(super) fn goes_on_instead(&self, place: usize) -> bool {
        let is_over = self.present().is_some_and(Subscription::is_over);
        let it = &self.subscriptions[place];
        is_over && it.bought_at.is_some() && it.goes_on()
    }

    /// What was paid for and does not bring back the one that is over may be for another one, where
    /// no name says otherwise: that one is charged.
    pub(super) fn doubt(&mut self, over: usize) {
        let at = self.subscriptions[over].stopped.and_then(|stop| stop.at);
        let stopped = Some(Stop { at, is_over: false });
        match self.place_named(None) {
            Some(place) => self.subscriptions[place].stopped = stopped,
            None => {
                self.put(Subscription { stopped, ..Subscription::default() });
            }
        }
    }

    /// Whether one that waits for its purchase is of something that is not sold here.
    pub(super) fn is_foreign(&self, place: usize) -> bool {
        let waits = self.present().is_some_and(|present| !present.is_over());
        let it = &self.subscriptions[place];
        waits && it.goes_on() && it.bought_at.is_none() && it.plan.is_none()
    }

    pub(super) fn forget_oldest(&mut self) {
        while self.subscriptions.len() > Self::LONGEST {
            let older = &self.subscriptions[..Self::LONGEST];
            let over = older.iter().position(Subscription::is_over);
            self.subscriptions.remove(over.unwrap_or(0));
        }
    }

    fn put(&mut self, subscription: Subscription) -> usize {
        let is_before = |other: &Subscription| other.bought_at <= subscription.bought_at;
        let place = self.subscriptions.partition_point(is_before);
        self.subscriptions.insert(place, subscription);
        place
    }
}
