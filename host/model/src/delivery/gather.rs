//! What becomes of the deliveries that wait in one lane, decided from what is known at one moment.
//!
//! *Invariant:* [`plan`] decides from its arguments alone and changes nothing: the store makes it
//! real, all of it or nothing, and only while the lane is still as it was read.
//! *Invariant:* of the deliveries that it looked at, each is in exactly one place of a
//! [`Gathering`]; of those that are held back already, those of which something is over.
//! *Invariant:* what is about a site goes after every batch that speaks of that site and is not
//! through.

use std::collections::HashMap;
use std::time::Duration;

use super::judge::Judge;
use super::many;
use super::{Delivery, DeliveryState, Notice, RETRIES, silence};
use crate::maintenance::{silenced_until, silences};
use crate::{Alert, AlertId, DeliveryId, MaintenanceWindow, SiteId, Timestamp};

/// How long what follows on a notification is gathered.
pub const WINDOW: Duration = Duration::from_secs(2);

/// One channel of one account, as it was at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a> {
    /// When the last of the windows that notifications opened is over; none when there never was
    /// one.
    pub quiet_at: Option<Timestamp>,
    /// What is due, in any order.
    pub waiting: &'a [Delivery],
    /// What maintenance holds back, in any order; `due_at` says until when. Read where [`asks`]
    /// named something.
    pub held: &'a [Delivery],
    /// Those of the account.
    pub windows: &'a [MaintenanceWindow],
    /// The alerts that [`asks`] named before the lane was read.
    pub asked: &'a [AlertId],
    /// Those of them that exist.
    pub alerts: &'a [Alert],
    /// How many alerts the channel carries in one notification.
    pub batch_max: usize,
    /// The sites that batches speak of which are not through.
    pub behind: &'a [SiteId],
    /// When the first of these batches is tried; none where one is under way.
    pub tried_at: Option<Timestamp>,
}

/// What to do with a lane.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// There is nothing that could be judged.
    Nothing,
    /// What waits is gathered in its window, or goes after a batch that is not through: it is to be
    /// looked at again then.
    Rest(Timestamp),
    Gather(Gathering),
}

/// What becomes of the deliveries of a lane, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathering {
    /// To be sent now, in this order.
    pub batches: Vec<Batch>,
    /// Silenced, and until when.
    pub deferred: Vec<(DeliveryId, Timestamp)>,
    /// Those of them of which something is over already, with what is left.
    pub shortened: Vec<Delivery>,
    /// From inside a silence, and over by now.
    pub dropped: Vec<DeliveryId>,
    /// When its windows are over.
    pub quiet_at: Timestamp,
}

/// A notification.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The oldest of the deliveries in it, which says what all of them have to say.
    pub head: Delivery,
    pub merged: Vec<DeliveryId>,
    pub summarised: Vec<DeliveryId>,
    /// It speaks for other sites than that of its head, and must outlive that.
    pub shared: bool,
    site: Option<SiteId>,
}

/// A delivery and what of it is to be said now.
#[derive(Clone, Debug)]
pub(super) struct Told<'a> {
    pub(super) delivery: &'a Delivery,
    pub(super) notices: Vec<Notice>,
}

/// The alerts whose present state decides what is said: all, as soon as one delivery is from
/// inside a silence.
pub fn asks(waiting: &[Delivery], windows: &[MaintenanceWindow]) -> Vec<AlertId> {
    if !waiting.iter().any(|delivery| from_a_silence(delivery, windows)) {
        return Vec::new();
    }
    let mut alerts: Vec<AlertId> =
        waiting.iter().flat_map(|delivery| &delivery.notices).map(|one| one.alert_id).collect();
    alerts.sort_unstable();
    alerts.dedup();
    alerts
}

/// Decides what becomes of a lane.
pub fn plan(lane: &Lane<'_>, now: Timestamp) -> Plan {
    // A window that is longer than any was opened by a clock that has been corrected since.
    let open = lane.quiet_at.filter(|at| now < *at && *at <= now + many::FLOOD_WINDOW);
    let mut waiting: Vec<&Delivery> =
        lane.waiting.iter().filter(|one| lane.can_judge(one)).collect();
    waiting.sort_by_key(|delivery| (delivery.created_at, delivery.id));
    let judged = waiting.len();
    waiting.retain(|delivery| !lane.is_behind(delivery));
    if waiting.is_empty() {
        return if judged == 0 { Plan::Nothing } else { Plan::Rest(lane.looked_at_again(now)) };
    }
    if let Some(until) = open.and_then(|over| many::held_back(&waiting, over, now)) {
        return Plan::Rest(until);
    }
    let mut gathering = Gathering {
        batches: Vec::new(),
        deferred: Vec::new(),
        shortened: Vec::new(),
        dropped: Vec::new(),
        quiet_at: open.unwrap_or(now),
    };
    let mut judge = Judge::new(lane.alerts, now);
    let mut told = Vec::with_capacity(waiting.len());
    let mut silenced = Vec::new();
    let mut silences = HashMap::new();
    for delivery in waiting {
        let until_of = |site| silenced_until(lane.windows, site, now);
        let until = delivery
            .site()
            .and_then(|site| *silences.entry(site).or_insert_with(|| until_of(site)));
        if let Some(until) = until {
            silenced.push((delivery, until));
            continue;
        }
        let late = from_a_silence(delivery, lane.windows);
        let notices = judge.left_to_say(delivery, late);
        if notices.is_empty() {
            gathering.dropped.push(delivery.id);
        } else {
            told.push(Told { delivery, notices });
        }
    }
    gathering.hold_back(lane.held, silenced);
    say_once(&mut told);
    gathering.send(told, lane.batch_max, now);
    Plan::Gather(gathering)
}

impl Lane<'_> {
    /// As long as nothing was silenced no alert needs to be known.
    fn can_judge(&self, delivery: &Delivery) -> bool {
        let known = || delivery.notices.iter().all(|one| self.asked.contains(&one.alert_id));
        (self.asked.is_empty() && !from_a_silence(delivery, self.windows)) || known()
    }

    /// Whether it goes after what was said about its site before: "up again" must not arrive before
    /// "down".
    fn is_behind(&self, delivery: &Delivery) -> bool {
        delivery.site().is_some_and(|site| self.behind.contains(&site))
    }

    /// When there may be something to gather, where all that waits is behind batches. What is about
    /// other sites may come in at any time, and does not wait for these: unless they wait for longer
    /// than receivers are given, since nothing leaves, or the receiver asked for it.
    fn looked_at_again(&self, now: Timestamp) -> Timestamp {
        let [.., longest] = RETRIES;
        let late = self.tried_at.filter(|at| *at > now + longest);
        late.map_or(now + WINDOW, |at| at.min(now + many::FLOOD_WINDOW))
    }
}

/// Whether maintenance held it back, or would have, had anybody looked while the window was open:
/// a lane may rest, or the process be stopped, until it is over.
fn from_a_silence(delivery: &Delivery, windows: &[MaintenanceWindow]) -> bool {
    let queued_inside = |site| silences(windows, site, delivery.created_at);
    delivery.state == DeliveryState::Silenced || delivery.site().is_some_and(queued_inside)
}

impl Gathering {
    /// Holds back what is silenced, each until then, as far as it is not over with that or with what
    /// was held back before.
    fn hold_back(&mut self, held: &[Delivery], silenced: Vec<(&Delivery, Timestamp)>) {
        if silenced.is_empty() {
            return;
        }
        let before = held.iter().map(|delivery| (delivery, delivery.due_at));
        let mut all: Vec<(&Delivery, Timestamp)> = before.chain(silenced).collect();
        all.sort_by_key(|(delivery, _)| (delivery.created_at, delivery.id));
        let story: Vec<&Delivery> = all.iter().map(|(delivery, _)| *delivery).collect();
        for ((delivery, until), notices) in all.into_iter().zip(silence::left_to_hold(&story)) {
            if notices.is_empty() {
                self.dropped.push(delivery.id);
                continue;
            }
            let is_shorter = notices != delivery.notices;
            if is_shorter || until != delivery.due_at {
                self.deferred.push((delivery.id, until));
            }
            if is_shorter {
                self.shortened.push(Delivery { notices, ..delivery.clone() });
            }
        }
    }

    /// Cuts what is to be said into notifications that the channel can carry.
    fn send(&mut self, told: Vec<Told<'_>>, batch_max: usize, now: Timestamp) {
        let size = batch_max.clamp(1, many::LISTED);
        let (told, rest) = many::divide(told);
        // One place is for the sentence about the rest, where there is more than one.
        let room = if rest.is_empty() { size } else { size.saturating_sub(1).max(1) };
        for Told { delivery, notices } in told {
            match self.batches.last_mut() {
                Some(batch)
                    // Nothing to say is no notification: whatever follows joins it.
                    if notices.is_empty()
                        || batch.head.notices.is_empty()
                        || batch.head.notices.len() + notices.len() <= room =>
                {
                    batch.head.notices.extend(notices);
                    batch.merged.push(delivery.id);
                    batch.shared |= delivery.site() != batch.site;
                }
                _ => self.batches.push(Batch::headed(delivery, notices, now)),
            }
        }
        if self.batches.is_empty() {
            return;
        }
        // That of a flood stays open.
        self.quiet_at = self.quiet_at.max(now + WINDOW);
        if !rest.is_empty() {
            self.quiet_at = now + many::FLOOD_WINDOW;
            self.summarise(&rest, size, now);
        }
    }

    /// Says the sentence about the rest in the last notification, or in one of its own if the
    /// channel can carry no more in that.
    fn summarise(&mut self, rest: &[Told<'_>], size: usize, now: Timestamp) {
        let full = self.batches.last().is_some_and(|last| last.head.notices.len() >= size);
        let (heads, others) = rest.split_at(usize::from(full).min(rest.len()));
        let headed = |told: &Told<'_>| Batch::headed(told.delivery, Vec::new(), now);
        self.batches.extend(heads.iter().map(headed));
        let Some(last) = self.batches.last_mut() else { return };
        last.head.notices.push(many::summary(last.head.id, rest, now));
        last.shared |= rest.iter().any(|told| told.delivery.site() != last.site);
        last.summarised = others.iter().map(|told| told.delivery.id).collect();
    }

    /// The batches before one of them that speak of a site of it, too: it goes when they are through.
    pub fn before(&self, nth: usize) -> Vec<DeliveryId> {
        let Some(batch) = self.batches.get(nth) else { return Vec::new() };
        let sites = batch.head.sites();
        let earlier = self.batches.iter().take(nth);
        let related = earlier.filter(|one| !one.head.sites().is_disjoint(&sites));
        related.map(|one| one.head.id).collect()
    }

    /// The deliveries that it decides about.
    pub fn deliveries(&self) -> Vec<DeliveryId> {
        let batches = self.batches.iter();
        let sent = batches.flat_map(|batch| {
            let others = batch.merged.iter().chain(&batch.summarised);
            std::iter::once(batch.head.id).chain(others.copied())
        });
        let deferred = self.deferred.iter().map(|(id, _)| *id);
        sent.chain(deferred).chain(self.dropped.iter().copied()).collect()
    }
}

impl Batch {
    fn headed(delivery: &Delivery, notices: Vec<Notice>, now: Timestamp) -> Self {
        let head = Delivery {
            notices,
            state: DeliveryState::Pending,
            batch_id: Some(delivery.id),
            gathered_at: Some(now),
            due_at: now,
            ..delivery.clone()
        };
        Self {
            head,
            merged: Vec::new(),
            summarised: Vec::new(),
            shared: false,
            site: delivery.site(),
        }
    }
}

/// An alert that was raised and then got worse is told once, as it is last. Raised and then
/// resolved stays both, in this order.
fn say_once(told: &mut [Told<'_>]) {
    let mut latest: HashMap<AlertId, (usize, usize)> = HashMap::new();
    for row in 0..told.len() {
        for notice in std::mem::take(&mut told[row].notices) {
            match latest.get(&notice.alert_id).copied() {
                Some((before, place)) if told[before].notices[place].status == notice.status => {
                    told[before].notices[place] = notice;
                }
                _ => {
                    latest.insert(notice.alert_id, (row, told[row].notices.len()));
                    told[row].notices.push(notice);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
