//! Limits on requests: exact trailing windows, and the UTC calendar month; and what a UTC day allows.
//!
//! *Invariant:* a [`Window`] never admits more than its limit in any trailing span, also where the
//! clock is set back (decisions: windows); nor does it refuse for longer than two spans then.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Timelike, Utc};

use crate::{Plan, Timestamp};

/// So many requests in any trailing span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub max: u32,
    pub span: Duration,
}

/// Authenticated requests per client address (spec: Rate limits).
pub const PER_ADDRESS: Limit = Limit { max: 60, span: Duration::from_secs(60) };

/// Requests to all public endpoints together per client address.
pub const PER_PUBLIC_ADDRESS: Limit = Limit { max: 10, span: Duration::from_secs(60) };

/// In which a plan's `qps` counts (spec: Rate limits).
pub const ACCOUNT_SPAN: Duration = Duration::from_secs(10);

impl Limit {
    /// The plan's limit per account, in any trailing 10 seconds.
    pub fn of_plan(plan: &Plan) -> Self {
        Self { max: plan.qps, span: ACCOUNT_SPAN }
    }
}

/// The requests of one caller that still count: an exact log, at most `limit.max` long, empty
/// (and without memory of its own) until the first request.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Unix milliseconds, ascending.
    log: VecDeque<i64>,
}

/// How much of a window is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    pub remaining: u32,
    /// When the oldest request that counts no longer does.
    pub reset: Timestamp,
    /// What it is counted as: later than its own moment where another was later and came first.
    pub at: Timestamp,
}

/// The window is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// After exactly this long one more is admitted, unless others come first. Never zero.
    pub retry_after: Duration,
    /// The moment that `retry_after` leads to.
    pub reset: Timestamp,
}

impl Admitted {
    /// How long the next request has to wait: not at all where there is room for it.
    pub fn wait(&self, now: Timestamp) -> Duration {
        if self.remaining > 0 {
            return Duration::ZERO;
        }
        (self.reset - now).to_std().unwrap_or_default()
    }
}

impl Window {
    /// Counts a request, or says how long to wait. `limit` may change between calls (a plan
    /// does): what was admitted before goes on counting.
    pub fn admit(&mut self, limit: Limit, now: Timestamp) -> Result<Admitted, Refused> {
        self.look(limit, now)?;
        let now = self.not_before_last(limit, now);
        self.log.push_back(now);
        Ok(self.standing(limit, now))
    }

    /// Takes back a request that is counted as one of this moment ([`Admitted::at`]). One that no
    /// longer counts leaves all as it is.
    pub fn take_back(&mut self, at: Timestamp) {
        if let Ok(place) = self.log.binary_search(&at.timestamp_millis()) {
            self.log.remove(place);
        }
    }

    /// What [`Window::admit`] would answer, without counting; `remaining` is what is left before
    /// the request. For requests that pass several windows: look at all, then count in all.
    pub fn look(&mut self, limit: Limit, now: Timestamp) -> Result<Admitted, Refused> {
        let real = now.timestamp_millis();
        let now = self.not_before_last(limit, now);
        let span = milliseconds(limit.span);
        // Strictly more than the span: moments are cut to milliseconds, and two that are exactly
        // one span apart may in truth be less.
        while self.log.front().is_some_and(|oldest| now - oldest > span) {
            self.log.pop_front();
        }
        if limit.max == 0 {
            return Err(Refused { retry_after: limit.span, reset: moment(now + span) });
        }
        let full = self.log.len().checked_sub(limit.max as usize);
        let Some(oldest) = full.map(|excess| self.log[excess]) else {
            return Ok(self.standing(limit, now));
        };
        let free = oldest + span + 1;
        let wait = u64::try_from(free - real).unwrap_or(0).max(1);
        Err(Refused { retry_after: Duration::from_millis(wait), reset: moment(free) })
    }

    /// Whether nothing counts any more, so that the window can be forgotten.
    pub fn idle(&mut self, limit: Limit, now: Timestamp) -> bool {
        let now = self.not_before_last(limit, now);
        let span = milliseconds(limit.span);
        self.log.back().is_none_or(|last| now - last > span)
    }

    fn standing(&self, limit: Limit, now: i64) -> Admitted {
        let used = u32::try_from(self.log.len()).unwrap_or(u32::MAX);
        let oldest = self.log.front().copied().unwrap_or(now);
        Admitted {
            remaining: limit.max.saturating_sub(used),
            reset: moment(oldest + milliseconds(limit.span) + 1),
            at: moment(now),
        }
    }

    /// A clock that was set back must not admit more: time stands still until it catches up. Where
    /// that would take longer than a span, it goes on from the last request instead: what counts is
    /// moved along, and is taken for later than it was, never for earlier.
    fn not_before_last(&mut self, limit: Limit, now: Timestamp) -> i64 {
        let now = now.timestamp_millis();
        let Some(last) = self.log.back().copied() else { return now };
        let ahead = last - now;
        if ahead <= milliseconds(limit.span) {
            return now.max(last);
        }
        for counted in &mut self.log {
            *counted -= ahead;
        }
        now
    }
}

/// The UTC calendar month in which a call counts, e.g. `2026-11`.
pub fn month(now: Timestamp) -> String {
    format!("{:04}-{:02}", now.year(), now.month())
}

/// The moment a new month begins, and with it a new monthly quota.
pub fn next_month(now: Timestamp) -> Timestamp {
    let (year, month) = match now.month() {
        12 => (now.year() + 1, 1),
        month => (now.year(), month + 1),
    };
    NaiveDate::from_ymd_opt(year, month, 1)
        .map_or(DateTime::<Utc>::MAX_UTC, |day| day.and_time(chrono::NaiveTime::MIN).and_utc())
}

/// How long a used-up monthly quota stays used up.
pub fn until_next_month(now: Timestamp) -> Duration {
    (next_month(now) - now).to_std().unwrap_or_default()
}

/// The UTC day on which something counts, e.g. `2026-11-23`.
pub fn day(now: Timestamp) -> String {
    now.format("%Y-%m-%d").to_string()
}

/// How long what a day allows stays used up, in whole seconds.
pub fn until_next_day(now: Timestamp) -> Duration {
    Duration::from_secs(DAY - u64::from(now.num_seconds_from_midnight()))
}

/// A wait as `Retry-After` and `retry_after` say it: whole seconds, rounded up, at least 1.
pub fn whole_seconds(wait: Duration) -> u64 {
    let started = u64::from(wait.subsec_nanos() > 0);
    (wait.as_secs() + started).max(1)
}

fn milliseconds(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 4)
}

fn moment(unix_milliseconds: i64) -> Timestamp {
    DateTime::UNIX_EPOCH
        .checked_add_signed(TimeDelta::milliseconds(unix_milliseconds))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// In seconds.
const DAY: u64 = 24 * 3600;

#[cfg(test)]
mod tests;
