//! How fast a site answered in each of the last hours, from what was counted of them.

use serde::{Deserialize, Serialize};

use crate::{CheckRecord, CheckStatus, Timestamp};

/// Hours of response times, the present one among them.
pub const HOURS: usize = 24;

/// The response times of one hour, added up. Stored as a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i64, u64, u64)", into = "(i64, u64, u64)")]
pub struct HourCount {
    /// Hours since 1970.
    pub hour: i64,
    pub answers: u64,
    pub total_ms: u64,
}

impl From<(i64, u64, u64)> for HourCount {
    fn from((hour, answers, total_ms): (i64, u64, u64)) -> Self {
        Self { hour, answers, total_ms }
    }
}

impl From<HourCount> for (i64, u64, u64) {
    fn from(HourCount { hour, answers, total_ms }: HourCount) -> Self {
        (hour, answers, total_ms)
    }
}

/// What a run adds to its hour: the time that an answer took, in whole milliseconds. None for
/// other checks, and where there was no answer to time.
pub fn ms_of(record: &CheckRecord) -> Option<u64> {
    let answered = matches!(record.status, CheckStatus::Ok | CheckStatus::Degraded);
    if !record.check_type.is_uptime() || !answered {
        return None;
    }
    let ms = record.result.get("response_time_ms")?.as_f64()?;
    // Beyond any timeout: not a time that anybody waited.
    (0.0..MOST_MS).contains(&ms).then(|| ms.round() as u64)
}

/// The mean of each of the last [`HOURS`] hours, oldest first; none where nothing answered.
pub fn times(counts: &[HourCount], now: Timestamp) -> Vec<Option<u64>> {
    let hours = i64::try_from(HOURS).expect("a few hours");
    let first = hour(now) - hours + 1;
    let mut means = vec![None; HOURS];
    for count in counts {
        let place = usize::try_from(count.hour.saturating_sub(first)).ok();
        let Some(mean) = place.and_then(|place| means.get_mut(place)) else { continue };
        *mean = count.total_ms.checked_div(count.answers);
    }
    means
}

/// The mean over the hours together.
pub fn mean(counts: &[HourCount], now: Timestamp) -> Option<u64> {
    let hours = i64::try_from(HOURS).expect("a few hours");
    let shown = (hour(now) - hours + 1)..=hour(now);
    let shown = counts.iter().filter(|count| shown.contains(&count.hour));
    let (total, answers) = shown.fold((0_u64, 0_u64), |(total, answers), count| {
        (total.saturating_add(count.total_ms), answers.saturating_add(count.answers))
    });
    total.checked_div(answers)
}

/// Hours since 1970.
pub fn hour(at: Timestamp) -> i64 {
    at.timestamp().div_euclid(3_600)
}

const MOST_MS: f64 = 600_000.0;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::Source;

    #[test]
    fn hours_hold_means_and_empty_hours_stay_empty() {
        let now = Timestamp::from_timestamp(1_790_000_000, 0).unwrap();
        let this = hour(now);
        let at = |hour, answers, total_ms| HourCount { hour, answers, total_ms };
        let counts =
            [at(this, 2, 301), at(this - 23, 1, 7), at(this - 24, 1, 9), at(this - 5, 0, 0)];
        let means = times(&counts, now);
        assert_eq!((means.len(), means[23], means[0]), (HOURS, Some(150), Some(7)));
        assert_eq!(means.iter().flatten().count(), 2);
        assert_eq!(mean(&counts, now), Some(102));
        assert_eq!(mean(&[], now), None);
    }

    #[test]
    fn only_answers_are_timed() {
        let record = |check_type: &str, status, result| CheckRecord {
            id: Uuid::nil().into(),
            site_id: Uuid::nil().into(),
            check_type: check_type.parse().unwrap(),
            checked_at: Timestamp::from_timestamp(1_790_000_000, 0).unwrap(),
            status,
            result,
            error: None,
            duration_ms: 5,
            source: Source::Scheduler,
            location: "default".to_owned(),
        };
        let took = |ms: serde_json::Value| json!({ "response_time_ms": ms });
        let table = [
            (record("uptime", CheckStatus::Ok, took(json!(12.6))), Some(13)),
            (record("uptime", CheckStatus::Degraded, took(json!(7000))), Some(7000)),
            (record("uptime", CheckStatus::Down, took(json!(10_000))), None),
            (record("uptime", CheckStatus::Unknown, took(json!(1))), None),
            (record("uptime", CheckStatus::Ok, took(json!(-1))), None),
            (record("uptime", CheckStatus::Ok, took(json!(1e300))), None),
            (record("uptime", CheckStatus::Ok, took(json!("fast"))), None),
            (record("uptime", CheckStatus::Ok, json!(null)), None),
            (record("ssl", CheckStatus::Ok, took(json!(12))), None),
        ];
        for (record, expected) in table {
            assert_eq!(ms_of(&record), expected, "{record:?}");
        }
    }
}
