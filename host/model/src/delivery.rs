//! A delivery: what one commit has to say on one channel, and the way that it takes.
//!
//! 1. The commit that changes alerts queues one delivery for each channel; it *waits*.
//! 2. The deliveries that wait for one channel of one account are its lane. A lane that is quiet
//!    is gathered at once; that opens a window of two seconds, at whose end all that has come in
//!    meanwhile is gathered together and opens the next window ([`plan`]).
//! 3. Gathering judges maintenance first: what is silenced waits on until its windows are over,
//!    and is judged again then by what has become of its alerts. So is what was queued inside a
//!    window and is looked at for the first time after it. What began and ended inside goes as soon
//!    as it has ended, so that no maintenance, however long, holds back more and more.
//! 4. The oldest delivery of what is left becomes the batch and takes over what the others say;
//!    they are finished as `merged`, and so the batch's id is one that was stored long before.
//! 5. The bytes of a batch are written down in the transaction that makes it one, before anything
//!    is sent. From there on it is never cut anew: three attempts, then it failed.
//! 6. A flood is told as its worst hundred alerts and a sentence about the others, and its window
//!    is ten seconds. What follows it still goes two seconds after it was queued, unless it is more
//!    than a hundred alerts again: then the flood goes on, and waits for the end.
//!
//! *Invariant:* a delivery waits, is a batch, or is finished; nothing leads back, and each of these
//! steps is one transaction. So no alert is in two batches, and none is in no row.
//! *Invariant:* what one commit says is never divided over two notifications.
//! *Invariant:* three attempts at most: the first at once, the second 1 s after the first ended,
//! the third 3 s after the second ended (spec: Delivery 3). What cannot leave because of us is none,
//! for a day, not counting the time in which nobody ran. A delivery that is finished stays so.

mod gather;
mod judge;
mod many;
mod silence;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::gather::{Batch, Gathering, Lane, Plan, WINDOW, asks, plan};
pub use self::many::{FLOOD_WINDOW, LISTED};
pub use crate::alert::{Notice, NoticeStatus};
use crate::{
    Account, AccountId, AlertId, CheckId, Decision, DeliveryId, Edition, NotificationSettings,
    SiteId, Timestamp,
};

/// How long one attempt may take; a receiver that answers later has not answered.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// The channel of letters: beside those of the settings, so that neither waits for the other.
pub const LETTER: &str = "letter";

/// As many mails as somebody may have us send in a UTC day whenever they like, invitations and tests
/// of a channel, for one account: they could else have any address written to without an end.
pub const LETTERS_A_DAY: u32 = 50;

/// Waits before the second and the third attempt, from the end of the one before.
pub const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// A row of the outbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// The same over all attempts; see [`stable_id`].
    pub id: DeliveryId,
    pub account_id: AccountId,
    /// E.g. `webhook`; [`LETTER`] for what is no notification.
    pub channel: String,
    /// The recipient of a letter; a notification goes to those that the settings name.
    #[serde(default)]
    pub to: Option<String>,
    /// The notification's `alerts[]`, never cut anew between attempts.
    pub notices: Vec<Notice>,
    /// The alerts of its own commit; a batch also says what others wanted to say.
    #[serde(default)]
    pub own: Vec<AlertId>,
    /// What carries it: itself once it is a batch, or the batch that it went into.
    #[serde(default)]
    pub batch_id: Option<DeliveryId>,
    pub created_at: Timestamp,
    /// When it became a batch: the time that the notification shows.
    #[serde(default)]
    pub gathered_at: Option<Timestamp>,
    /// Where the day begins that trouble of our own may last, if that is later than when it became a
    /// batch: the time in which nobody ran is no part of it.
    #[serde(default)]
    pub patient_since: Option<Timestamp>,
    pub due_at: Timestamp,
    /// Attempts made so far.
    pub attempt: u32,
    /// How often it could not leave, for a trouble of our own.
    #[serde(default)]
    pub unsent: u32,
    /// Grows with every owner; only the latest may settle it.
    pub epoch: u64,
    pub state: DeliveryState,
    /// What the channel's plugin wrote, so that a retry repeats the same bytes.
    pub rendered: Option<Vec<Rendered>>,
    pub last_error: Option<String>,
    pub finished_at: Option<Timestamp>,
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    Pending,
    Delivered,
    /// For good; the alert stays visible.
    Failed,
    /// Held back by maintenance until `due_at`; finished when there was nothing left to say.
    Silenced,
    /// Another delivery says it.
    Merged,
    /// Another delivery counts it among those that are too many to be listed.
    Summarised,
}

/// A delivery as the API shows it. What went into a batch shows how the batch is doing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeliveryView<'a> {
    pub id: DeliveryId,
    pub channel: &'a str,
    pub state: DeliveryState,
    pub attempts: u32,
    pub created_at: Timestamp,
    /// None once it is finished.
    pub due_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub error: Option<&'a str>,
    /// The `X-Vedette-Delivery` that the receiver saw; further parts of it have ids of their own.
    pub batch_id: Option<DeliveryId>,
}

/// One message as a channel's plugin wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rendered {
    Http {
        /// A URL, or `ref:<settings field>` with an optional suffix.
        url: String,
        method: String,
        headers: Vec<(String, String)>,
        body: String,
    },
    Email {
        subject: String,
        text: String,
        html: Option<String>,
        /// Recipients who need no further attempt.
        #[serde(default)]
        told: Vec<Told>,
    },
}

/// A recipient of a mail, and how that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    pub address: String,
    /// Why the mail is refused for good; none = the recipient has it.
    pub refused: Option<String>,
}

/// What became of one attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Delivered,
    /// `after` replaces the schedule's own wait, up to a minute; it never adds an attempt.
    Retry {
        reason: String,
        after: Option<Duration>,
    },
    /// The receiver will never take it.
    Rejected(String),
    /// Nothing could leave, for a trouble of our own: that is no attempt.
    Unsent(String),
    /// We stop: what is left goes as soon as somebody is at work. That is no attempt either.
    Stopped,
}

/// The id of what one check record sends to one channel: the same however often the record is judged
/// again before it is committed.
pub fn stable_id(check: CheckId, channel: &str) -> DeliveryId {
    DeliveryId(Uuid::new_v5(&check.0, channel.as_bytes()))
}

/// The id that a further part of a notification goes out under, counted from 1: the first part has
/// the notification's own. The same at every attempt, but different for each part, so that a
/// receiver that drops what came twice drops no part.
pub fn part_id(id: DeliveryId, nth: usize) -> DeliveryId {
    DeliveryId(Uuid::new_v5(&id.0, nth.to_string().as_bytes()))
}

/// The deliveries of a decision: one for each channel that is configured and in the account's
/// plan, each with all notices of the commit. None when there is nothing to tell.
pub fn queue(
    decision: &Decision,
    account: &Account,
    settings: &NotificationSettings,
    now: Timestamp,
) -> Vec<Delivery> {
    let plan = Edition::by_id(&account.edition).and_then(|edition| edition.plan(&account.plan));
    let Some(plan) = plan else { return Vec::new() };
    if decision.notices.is_empty() {
        return Vec::new();
    }
    settings
        .active_channels(plan)
        .into_iter()
        .map(|channel| Delivery {
            id: stable_id(decision.record.id, channel),
            account_id: account.id,
            channel: channel.to_owned(),
            to: None,
            notices: decision.notices.clone(),
            own: decision.notices.iter().map(|notice| notice.alert_id).collect(),
            batch_id: None,
            created_at: now,
            gathered_at: None,
            patient_since: None,
            due_at: now,
            attempt: 0,
            unsent: 0,
            epoch: 0,
            state: DeliveryState::Pending,
            rendered: None,
            last_error: None,
            finished_at: None,
        })
        .collect()
}

/// A mail to one person that tells of no alert: an invitation, a receipt. It is a batch from the
/// beginning, and takes the way of all batches.
pub fn letter(
    id: DeliveryId,
    account_id: AccountId,
    to: &str,
    words: Rendered,
    now: Timestamp,
) -> Delivery {
    Delivery {
        id,
        account_id,
        channel: LETTER.to_owned(),
        to: Some(to.to_owned()),
        notices: Vec::new(),
        own: Vec::new(),
        batch_id: Some(id),
        created_at: now,
        gathered_at: Some(now),
        patient_since: None,
        due_at: now,
        attempt: 0,
        unsent: 0,
        epoch: 0,
        state: DeliveryState::Pending,
        rendered: Some(vec![words]),
        last_error: None,
        finished_at: None,
    }
}

impl Delivery {
    /// The site of the commit that queued it.
    pub fn site(&self) -> Option<SiteId> {
        self.notices.first().map(|notice| notice.site_id)
    }

    /// The alert that it belongs to before others: what has ended, else what it tells first. None of
    /// what speaks of several sites.
    pub fn thread(&self) -> Option<AlertId> {
        let first = self.notices.first()?;
        if self.notices.iter().any(|notice| notice.site_id != first.site_id) {
            return None;
        }
        let ended = self.notices.iter().find_map(|notice| match notice.status {
            NoticeStatus::Resolved => Some(notice.alert_id),
            NoticeStatus::Raised => notice.ends.first().copied(),
        });
        Some(ended.unwrap_or(first.alert_id))
    }

    /// The sites that it speaks of.
    pub fn sites(&self) -> BTreeSet<SiteId> {
        self.notices.iter().map(|notice| notice.site_id).collect()
    }

    /// Whether somebody has tried to send it, or could not for a trouble of our own.
    pub fn was_tried(&self) -> bool {
        self.attempt > 0 || self.last_error.is_some()
    }

    pub fn view(&self) -> DeliveryView<'_> {
        DeliveryView {
            id: self.id,
            channel: &self.channel,
            state: self.state,
            attempts: self.attempt,
            created_at: self.created_at,
            due_at: self.finished_at.is_none().then_some(self.due_at),
            finished_at: self.finished_at,
            error: self.last_error.as_deref(),
            batch_id: self.batch_id,
        }
    }

    /// The delivery as it is given back at `now`, to be due at another moment: no attempt counts.
    pub fn given_back(mut self, due_at: Timestamp, now: Timestamp) -> Self {
        self.leave_out_absence(now);
        self.due_at = due_at;
        self
    }

    /// The delivery after an attempt that ended at `now`.
    pub fn after(mut self, outcome: Outcome, now: Timestamp) -> Self {
        if self.state != DeliveryState::Pending {
            return self;
        }
        self.leave_out_absence(now);
        match outcome {
            Outcome::Delivered => {
                self.attempt += 1;
                self.finish(DeliveryState::Delivered, None, now);
            }
            Outcome::Rejected(reason) => {
                self.attempt += 1;
                self.finish(DeliveryState::Failed, Some(reason), now);
            }
            Outcome::Retry { reason, after } => self.again(reason, after, now),
            Outcome::Unsent(reason) if self.may_wait(now) => {
                self.last_error = Some(reason);
                self.due_at = now + unsent_wait(self.unsent);
                self.unsent += 1;
            }
            Outcome::Unsent(reason) => self.again(reason, None, now),
            Outcome::Stopped => self.due_at = now,
        }
        self
    }

    /// An attempt failed: there is another, or it was the last.
    fn again(&mut self, reason: String, after: Option<Duration>, now: Timestamp) {
        let own_wait = RETRIES.get(self.attempt as usize).copied();
        self.attempt += 1;
        match own_wait {
            None => self.finish(DeliveryState::Failed, Some(reason), now),
            Some(own_wait) => {
                self.last_error = Some(reason);
                let wait = after.unwrap_or_default();
                self.due_at = now + wait.clamp(own_wait, LONGEST_WAIT);
            }
        }
    }

    fn may_wait(&self, now: Timestamp) -> bool {
        (now - self.patience_began()).to_std().unwrap_or_default() < GIVE_UP
    }

    /// When it became a batch, at first: maintenance may have held it back for days before.
    fn patience_began(&self) -> Timestamp {
        self.patient_since.or(self.gathered_at).unwrap_or(self.created_at)
    }

    /// What is so long after it was due follows on a time in which nobody ran, or the machine slept.
    fn leave_out_absence(&mut self, now: Timestamp) {
        let late = (now - self.due_at).to_std().unwrap_or_default();
        if late > ABSENCE {
            self.patient_since = Some(self.patience_began() + late);
        }
    }

    fn finish(&mut self, state: DeliveryState, error: Option<String>, now: Timestamp) {
        self.state = state;
        self.last_error = error;
        self.finished_at = Some(now);
        // Nobody sends it again, and it may hold what is for its reader alone.
        if self.channel == LETTER {
            self.rendered = None;
        }
    }
}

/// How long what could not leave so many times before waits to be tried again: as long as after an
/// attempt at first, since most trouble is over in a moment, and then twice as long each time.
fn unsent_wait(before: u32) -> Duration {
    let [first, second] = RETRIES;
    match before.checked_sub(1) {
        None => first,
        Some(doubled) => second.saturating_mul(2_u32.saturating_pow(doubled)).min(LONGEST_UNSENT),
    }
}

const LONGEST_WAIT: Duration = Duration::from_secs(60);
const LONGEST_UNSENT: Duration = Duration::from_secs(30);
/// For how long that is no attempt.
const GIVE_UP: Duration = Duration::from_secs(24 * 3600);
/// However much there is to send, a process that runs is not so late.
const ABSENCE: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests;
