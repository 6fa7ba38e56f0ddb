//! A certificate as a result showed it, as far as judging it again later needs.

use serde::{Deserialize, Serialize};
use vedette_sdk::{date, text::cut};

use crate::{error, result::SslResult};

/// Names that a message shows; the rest is counted.
pub(super) const SHOWN_NAMES: usize = 3;
/// Of any text that is kept, in characters.
const MAX_TEXT: usize = 256;

/// The certificate of one result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// When, in Unix seconds.
    pub(super) at: i64,
    /// The site's domain; empty where the result did not say it.
    pub(super) domain: String,
    pub(super) valid_from: Option<i64>,
    pub(super) expires_at: Option<i64>,
    /// As the result said it.
    days_remaining: Option<i64>,
    pub(super) issuer: String,
    pub(super) issuer_org: Option<String>,
    /// Why it is not valid: a token of the certificate, or whatever the result said instead.
    pub(super) problem: Option<String>,
    pub(super) chain_error: Option<String>,
    pub(super) names: Vec<String>,
    pub(super) more_names: usize,
}

impl Seen {
    /// None when the result tells of a failed connection alone: then nothing can be said about a
    /// certificate.
    pub(super) fn of(result: &SslResult, at: i64) -> Option<Self> {
        let expires_at = expires_at(result, at);
        let token = result.error.as_deref();
        let judged = result.valid || token.is_none_or(error::is_about_certificate);
        let named = !result.issuer.is_empty() || !result.san.is_empty();
        let told = judged || named || result.chain_error.is_some();
        if !told && expires_at.is_none() && result.fingerprint().is_none() {
            return None;
        }
        let from = result.valid_from.as_deref();
        let problem = (!result.valid).then(|| cut(token.unwrap_or_default(), MAX_TEXT));
        let organisation = result.issuer_org.as_ref().filter(|org| **org != result.issuer);
        Some(Self {
            at,
            domain: cut(&result.domain, MAX_TEXT),
            valid_from: from.and_then(date::parse),
            expires_at,
            days_remaining: result.days_remaining,
            issuer: cut(&result.issuer, MAX_TEXT),
            issuer_org: organisation.map(|org| cut(org, MAX_TEXT)),
            problem,
            chain_error: result.chain_error.as_ref().map(|reason| cut(reason, MAX_TEXT)),
            names: result.san.iter().take(SHOWN_NAMES).map(|name| cut(name, MAX_TEXT)).collect(),
            more_names: result.san.len().saturating_sub(SHOWN_NAMES),
        })
    }

    /// In seconds; none where a date is not known.
    pub(super) fn lifetime(&self) -> Option<i64> {
        self.expires_at?.checked_sub(self.valid_from?)
    }

    /// Whole days, rounded down: as stated at the time, by the calendar later on.
    pub(super) fn days_left(&self, now: i64) -> Option<i64> {
        let stated = self.days_remaining.filter(|_| now == self.at);
        stated.or_else(|| self.expires_at.map(|at| date::days_until(at, now)))
    }
}

/// When the leaf of a result expires, in Unix seconds. The stated days count where no date does.
pub(super) fn expires_at(result: &SslResult, at: i64) -> Option<i64> {
    let leaf = result.chain.first().and_then(|leaf| leaf.valid_to.as_deref());
    let dates = [result.expires_at.as_deref(), result.valid_to.as_deref(), leaf];
    let stated = dates.into_iter().flatten().find_map(date::parse);
    let counted = || Some(at.saturating_add(result.days_remaining?.saturating_mul(date::DAY)));
    stated.or_else(counted)
}
