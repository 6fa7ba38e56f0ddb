//! A registration as a result showed it, as far as judging it again later needs.

use serde::{Deserialize, Serialize};
use vedette_sdk::Finding;

use super::wording;
use crate::{
    last_chance::LastChance,
    moment::{self, DAY},
    result::{DomainResult, Source},
    text::cut,
};

/// The registration of one result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// When, in Unix seconds.
    pub(super) at: i64,
    /// Empty where the result did not say it.
    pub(super) domain: String,
    pub(super) registrar: Option<String>,
    /// Unix seconds; none where the registry does not publish it.
    pub(super) expires_at: Option<i64>,
    /// Which source gave the date, or said that there is none; none if the result does not say.
    source: Option<Source>,
    /// As the result said it.
    days_remaining: Option<i64>,
    /// How the registry says that the registration is lost but for a last chance.
    pub(super) last_chance: Option<LastChance>,
}

impl Seen {
    /// None when the result shows no registration.
    pub(super) fn of(result: &DomainResult, at: i64) -> Option<Self> {
        let expires_at = expires_at(result, at);
        let is_shown = match result.error {
            // Of what an agent or a client adds to its error, only a date tells something.
            Some(_) => expires_at.is_some(),
            None => shows_registration(result),
        };
        is_shown.then(|| Self {
            at,
            domain: cut(&result.domain, MAX_TEXT),
            registrar: result.registrar.as_ref().map(|text| cut(text, MAX_TEXT)),
            expires_at,
            source: result.source,
            days_remaining: result.days_remaining,
            last_chance: LastChance::of(&result.status),
        })
    }

    /// With the date of the registration before, where another source told it and this one tells
    /// none: a registry need not publish the same over both protocols, and the one that stands in
    /// while the other is away takes nothing back.
    pub(super) fn dated_by(self, before: Option<&Self>) -> Self {
        let is_other = |before: &Self| before.source.is_some() && before.source != self.source;
        match before.filter(|before| is_other(before)) {
            Some(before) if self.expires_at.is_none() && self.source.is_some() => {
                Self { expires_at: before.expires_at, source: before.source, ..self }
            }
            _ => self,
        }
    }

    /// Whole days, rounded down: as stated at the time, by the calendar later on.
    pub(super) fn days_left(&self, now: i64) -> Option<i64> {
        let stated = self.days_remaining.filter(|_| now == self.at);
        stated.or_else(|| self.expires_at.map(|at| moment::days_until(at, now)))
    }

    pub(super) fn is_expired(&self, now: i64) -> bool {
        self.last_chance.is_some() || self.days_left(now).is_some_and(|days| days < 0)
    }

    /// What is wrong with it at a moment.
    pub(super) fn findings(&self, alert_days: u16, now: i64) -> Vec<Finding> {
        let expired = self.is_expired(now).then(|| wording::expired(self, now));
        self.expiring(alert_days, now).into_iter().chain(expired).collect()
    }

    /// Decisions, thresholds: iff 0 ≤ days ≤ `alert_days`.
    pub(super) fn expiring(&self, alert_days: u16, now: i64) -> Option<Finding> {
        let days = self.days_left(now)?;
        let is_near = (0..=i64::from(alert_days)).contains(&days);
        is_near.then(|| wording::expiring(self, days, now))
    }
}

/// Unix seconds. The stated days count where no date does.
fn expires_at(result: &DomainResult, at: i64) -> Option<i64> {
    let stated = result.expires_at.as_deref().and_then(moment::parse);
    let by_days = || Some(at.saturating_add(result.days_remaining?.saturating_mul(DAY)));
    stated.or_else(by_days)
}

/// A result without a single fact shows nothing.
fn shows_registration(result: &DomainResult) -> bool {
    result.source.is_some()
        || result.registrar.is_some()
        || result.expires_at.is_some()
        || result.days_remaining.is_some()
        || result.name_servers.is_some()
        || result.privacy_protected.is_some()
        || !result.status.is_empty()
}

/// In characters.
const MAX_TEXT: usize = 256;
