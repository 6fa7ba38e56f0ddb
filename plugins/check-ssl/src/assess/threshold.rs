//! From when on an expiry is told.

use vedette_sdk::{Evidence, date};

use super::seen::Seen;
use crate::{config::Config, result::SslResult};

#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    pub(super) alert_days: u16,
    /// Whether the certificate's own lifetime counts, too.
    pub(super) only_overdue: bool,
}

impl Threshold {
    pub(super) fn of(evidence: &Evidence<Config, SslResult>) -> Self {
        Self { alert_days: evidence.alert_days, only_overdue: evidence.config.only_overdue }
    }

    /// `days`: whole days left, below 0 once it has expired. No number of days fits what lives for
    /// hours: there the renewal alone counts.
    pub(super) fn is_reached(self, certificate: &Seen, days: i64, now: i64) -> bool {
        let is_near = (0..=i64::from(self.alert_days)).contains(&days);
        let by_renewal = self.only_overdue || lives_for_hours(certificate);
        is_near && (!by_renewal || is_overdue(certificate, now))
    }
}

fn lives_for_hours(certificate: &Seen) -> bool {
    certificate.lifetime().is_some_and(|lifetime| lifetime < HOURS)
}

/// Whether an automatic renewal should have happened: usual is that with a third of the lifetime
/// left, and some clients wait a little longer, by chance. Not known = by the days alone.
fn is_overdue(certificate: &Seen, now: i64) -> bool {
    certificate.lifetime().zip(certificate.expires_at).is_none_or(|(lifetime, expires_at)| {
        expires_at.saturating_sub(now).saturating_mul(PARTS) < lifetime
    })
}

/// Of a lifetime, the last of which is overdue.
const PARTS: i64 = 4;
/// In seconds: what authorities of one's own issue for a day at a time.
const HOURS: i64 = 2 * date::DAY;
