//! A delivery: one notification on its way to one channel, and the schedule of its attempts.
//!
//! *Invariant:* three attempts at most: the first at once, the second 1 s after the first ended,
//! the third 3 s after the second ended (spec: Delivery 3). A delivery that is finished stays so.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use crate::alert::{Notice, NoticeStatus};
use crate::{
    Account, AccountId, CheckId, Decision, DeliveryId, Edition, NotificationSettings, Timestamp,
};

/// How long one attempt may take; a receiver that answers later has not answered.
pub const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// Waits before the second and the third attempt, from the end of the one before.
pub const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// A row of the outbox.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// The same over all attempts; see [`stable_id`].
    pub id: DeliveryId,
    pub account_id: AccountId,
    /// E.g. `webhook`.
    pub channel: String,
    /// The notification's `alerts[]`, never cut anew between attempts.
    pub notices: Vec<Notice>,
    pub created_at: Timestamp,
    pub due_at: Timestamp,
    /// Attempts made so far.
    pub attempt: u32,
    /// Grows with every owner; only the latest may settle it.
    pub epoch: u64,
    pub state: DeliveryState,
    /// What the channel's plugin wrote, so that a retry repeats the same bytes.
    pub rendered: Option<Vec<Rendered>>,
    pub last_error: Option<String>,
    pub finished_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    Pending,
    Delivered,
    /// For good; the alert stays visible.
    Failed,
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
    /// Why the mail is refused to him for good; none = he has it.
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
}

/// The id of what one check record sends to one channel: a pipeline that runs twice for the same
/// record queues it once.
pub fn stable_id(check: CheckId, channel: &str) -> DeliveryId {
    DeliveryId(Uuid::new_v5(&check.0, channel.as_bytes()))
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
            notices: decision.notices.clone(),
            created_at: now,
            due_at: now,
            attempt: 0,
            epoch: 0,
            state: DeliveryState::Pending,
            rendered: None,
            last_error: None,
            finished_at: None,
        })
        .collect()
}

impl Delivery {
    /// The delivery after an attempt that ended at `now`.
    pub fn after(mut self, outcome: Outcome, now: Timestamp) -> Self {
        if self.state != DeliveryState::Pending {
            return self;
        }
        let own_wait = RETRIES.get(self.attempt as usize).copied();
        self.attempt += 1;
        match outcome {
            Outcome::Delivered => self.finish(DeliveryState::Delivered, None, now),
            Outcome::Rejected(reason) => self.finish(DeliveryState::Failed, Some(reason), now),
            Outcome::Retry { reason, after } => match own_wait {
                None => self.finish(DeliveryState::Failed, Some(reason), now),
                Some(own_wait) => {
                    self.last_error = Some(reason);
                    self.due_at = now + after.map_or(own_wait, |wait| wait.min(LONGEST_WAIT));
                }
            },
        }
        self
    }

    fn finish(&mut self, state: DeliveryState, error: Option<String>, now: Timestamp) {
        self.state = state;
        self.last_error = error;
        self.finished_at = Some(now);
    }
}

const LONGEST_WAIT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
