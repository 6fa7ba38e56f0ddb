//! What a check's latest record still says of now.
//!
//! A run that left something in doubt (the first that fails, and the first good one after an
//! outage) changes nothing: until the next ones have confirmed it, the check stands as before, and
//! one lost packet is no outage.

use std::time::Duration;

use serde::{Deserialize, de::IgnoredAny};

use crate::{CheckStatus, CheckType, Timestamp};

/// What the page needs of a check's latest record, and reads from it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "Record")]
pub struct Latest {
    pub check_type: CheckType,
    pub status: CheckStatus,
    pub checked_at: Timestamp,
}

/// The record as it is stored, read as far as its status can be told from.
#[derive(Deserialize)]
struct Record {
    check_type: CheckType,
    status: CheckStatus,
    checked_at: Timestamp,
    result: Option<Certificate>,
}

/// What a result that saw a certificate says of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Certificate {
    expires_at: Option<IgnoredAny>,
    days_remaining: Option<IgnoredAny>,
}

/// What the page needs of what else a check remembers, and reads from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// Above 0 while something is in doubt.
    unconfirmed_runs: u32,
    settled: Option<SettledStatus>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct SettledStatus {
    #[serde(default)]
    status: Option<CheckStatus>,
}

impl From<Record> for Latest {
    /// A certificate that nobody saw says nothing of the site: a port without TLS, or a connection
    /// that broke once, is the uptime check's to judge. No alert tells of it either.
    fn from(record: Record) -> Self {
        let Record { check_type, status, checked_at, result } = record;
        let seen = result.unwrap_or_default();
        let saw_none = seen.expires_at.is_none() && seen.days_remaining.is_none();
        let status =
            if check_type.as_str() == SSL && saw_none { CheckStatus::Unknown } else { status };
        Self { check_type, status, checked_at }
    }
}

impl Latest {
    /// Whether the record still says something of now, of a check that runs every `interval`.
    pub fn is_fresh(&self, interval: Duration, now: Timestamp) -> bool {
        let bound = interval.saturating_mul(MISSED_RUNS).max(SHORTEST_FRESH);
        let age = now.signed_duration_since(self.checked_at).to_std().unwrap_or_default();
        age <= bound
    }

    /// The record with the status that is confirmed: its own, or while that is in doubt the one
    /// from before; unknown where there was none.
    pub fn confirmed(self, standing: Standing) -> Self {
        // A check that could not tell leaves the doubts of others as they were.
        let in_doubt = standing.unconfirmed_runs > 0 && self.status != CheckStatus::Unknown;
        let before = standing.settled.and_then(|settled| settled.status);
        let status = if in_doubt { before.unwrap_or(CheckStatus::Unknown) } else { self.status };
        Self { status, ..self }
    }
}

const SSL: &str = "ssl";
/// A record counts until so many runs are missing.
const MISSED_RUNS: u32 = 3;
const SHORTEST_FRESH: Duration = Duration::from_secs(900);

#[cfg(test)]
mod tests {
    use super::*;

    fn latest(check_type: &str, status: CheckStatus) -> Latest {
        let checked_at = Timestamp::from_timestamp(1_790_000_000, 0).unwrap();
        Latest { check_type: check_type.parse().unwrap(), status, checked_at }
    }

    #[test]
    fn a_site_stands_as_before_until_a_change_is_confirmed() {
        use CheckStatus::{Degraded, Down, Ok, Unknown};
        let table = [
            // The last run, the runs in doubt, what was settled before them, what is shown.
            (Ok, 0, Some(Ok), Ok),
            (Down, 1, Some(Ok), Ok),
            (Down, 0, Some(Down), Down),
            (Down, 1, Some(Degraded), Degraded),
            (Degraded, 1, Some(Down), Down),
            (Ok, 1, Some(Down), Down),
            (Ok, 0, Some(Ok), Ok),
            (Down, 1, None, Unknown),
            (Unknown, 1, Some(Ok), Unknown),
            (Unknown, 0, Some(Ok), Unknown),
        ];
        for (status, unconfirmed_runs, settled, expected) in table {
            let settled = settled.map(|status| SettledStatus { status: Some(status) });
            let standing = Standing { unconfirmed_runs, settled };
            let shown = latest("uptime", status).confirmed(standing).status;
            assert_eq!(shown, expected, "{status:?}, {standing:?}");
        }
        assert_eq!(latest("ssl", Down).confirmed(Standing::default()).status, Down);
    }

    #[test]
    fn a_certificate_that_nobody_saw_says_nothing_of_the_site() {
        use CheckStatus::{Down, Ok, Unknown};
        let at = "2026-11-20T15:04:05Z";
        let seen = serde_json::json!({ "valid": false, "expires_at": at, "days_remaining": 9 });
        let none = serde_json::json!({
            "valid": false, "expires_at": null, "days_remaining": null, "error": "tls_not_spoken",
        });
        for (check_type, status, result, expected) in [
            ("ssl", Down, &seen, Down),
            ("ssl", Ok, &seen, Ok),
            ("ssl", Down, &none, Unknown),
            ("ssl", Unknown, &serde_json::Value::Null, Unknown),
            ("uptime", Down, &serde_json::json!({ "status": "down" }), Down),
            ("dns", Down, &serde_json::Value::Null, Down),
        ] {
            let record = serde_json::json!({
                "id": "0199c1e2-89f0-7e55-a3b9-1c2d3e4f5061", "check_type": check_type,
                "checked_at": at, "status": status, "result": result,
            });
            let read: Latest = serde_json::from_value(record).unwrap();
            assert_eq!(read.status, expected, "{check_type} {status:?} {result}");
        }
    }

    #[test]
    fn what_a_check_remembers_is_read_from_its_state() {
        let mut state = crate::CheckState { unconfirmed_runs: 1, ..Default::default() };
        let read = |state: &crate::CheckState| -> Standing {
            serde_json::from_value(serde_json::to_value(state).unwrap()).unwrap()
        };
        let doubtful = Standing { unconfirmed_runs: 1, ..Standing::default() };
        assert_eq!(read(&state), doubtful);
        let at = Timestamp::from_timestamp(1_790_000_000, 0).unwrap();
        let result = serde_json::Value::Null;
        state.settled = Some(crate::check::Settled { result, at, status: Some(CheckStatus::Ok) });
        let settled = Some(SettledStatus { status: Some(CheckStatus::Ok) });
        assert_eq!(read(&state), Standing { settled, ..doubtful });
        let before = serde_json::json!({ "settled": { "result": null, "at": at } });
        let before: Standing = serde_json::from_value(before).unwrap();
        assert_eq!(before.settled, Some(SettledStatus { status: None }));
    }

    #[test]
    fn old_records_say_nothing_of_now() {
        let record = latest("uptime", CheckStatus::Ok);
        let after = |seconds| record.checked_at + chrono::TimeDelta::seconds(seconds);
        let minute = Duration::from_secs(60);
        assert!(record.is_fresh(minute, after(-5)), "clocks differ");
        assert!(record.is_fresh(minute, after(900)));
        assert!(!record.is_fresh(minute, after(901)));
        let hour = Duration::from_secs(3_600);
        assert!(record.is_fresh(hour, after(3 * 3_600)));
        assert!(!record.is_fresh(hour, after(3 * 3_600 + 1)));
    }
}
