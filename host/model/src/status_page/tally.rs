//! What is counted of the runs of a site's uptime check, for the page to draw.
//!
//! *Invariant:* it is bounded: of more days or hours than the page shows the oldest make room.
//! *Invariant:* a run at a moment far ahead, by a clock that is wrong, takes the place of one day
//! and hour: what was counted before stays, and what comes after is counted.
//! *Invariant:* trouble that was announced is no outage: of such runs it is kept that there were any
//! on their day.

use serde::{Deserialize, Serialize};

use super::response::{self, HOURS, HourCount};
use super::uptime::{self, DAYS, DayCount};
use crate::{CheckRecord, CheckStatus, CheckType};

/// How the runs of each day ended, and how fast each hour's answers were. Oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub days: Vec<DayCount>,
    pub hours: Vec<HourCount>,
}

impl Tally {
    /// Whether no run was counted; that of a check other than uptime always is empty.
    pub fn is_empty(&self) -> bool {
        self.days.is_empty()
    }

    /// Whether the runs of a check are counted.
    pub fn is_of(check_type: &CheckType) -> bool {
        check_type.is_uptime()
    }

    /// Adds a run; those of other checks are not counted.
    pub fn count(&mut self, record: &CheckRecord) {
        if !Self::is_of(&record.check_type) {
            return;
        }
        if let Some(of_day) = self.day_of(record) {
            let ended = match record.status {
                CheckStatus::Ok => &mut of_day.ok,
                CheckStatus::Degraded => &mut of_day.degraded,
                CheckStatus::Down => &mut of_day.down,
                CheckStatus::Unknown => &mut of_day.unknown,
            };
            *ended = ended.saturating_add(1);
        }
        let Some(took) = response::ms_of(record) else { return };
        let hour = HourCount { hour: response::hour(record.checked_at), ..HourCount::default() };
        if let Some(of_hour) = place(&mut self.hours, hour, HOURS, |count| count.hour) {
            of_hour.answers = of_hour.answers.saturating_add(1);
            of_hour.total_ms = of_hour.total_ms.saturating_add(took);
        }
    }

    /// Keeps that there was a run, and nothing of how it ended.
    pub fn pass_over(&mut self, record: &CheckRecord) {
        if Self::is_of(&record.check_type) {
            self.day_of(record);
        }
    }

    fn day_of(&mut self, record: &CheckRecord) -> Option<&mut DayCount> {
        let day = DayCount { day: uptime::day(record.checked_at), ..DayCount::default() };
        place(&mut self.days, day, DAYS, |count| count.day)
    }
}

/// The count of the same day or hour as `new`, which is inserted if there is none; none if `most`
/// later ones are counted.
fn place<T>(counts: &mut Vec<T>, new: T, most: usize, number: fn(&T) -> i64) -> Option<&mut T> {
    let wanted = number(&new);
    let mut at = counts.partition_point(|count| number(count) < wanted);
    if counts.get(at).is_none_or(|count| number(count) != wanted) {
        counts.insert(at, new);
        if counts.len() > most {
            counts.remove(0);
            at = at.checked_sub(1)?;
        }
    }
    counts.get_mut(at)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::{Source, Timestamp};

    fn run(check_type: &str, at: Timestamp, status: CheckStatus) -> CheckRecord {
        CheckRecord {
            id: Uuid::nil().into(),
            site_id: Uuid::nil().into(),
            check_type: check_type.parse().unwrap(),
            checked_at: at,
            status,
            result: json!({ "response_time_ms": 40 }),
            error: None,
            duration_ms: 41,
            source: Source::Scheduler,
            location: "default".to_owned(),
        }
    }

    fn noon() -> Timestamp {
        "2026-11-22T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn runs_are_counted_by_day_and_answers_by_hour() {
        let mut tally = Tally::default();
        let statuses = [
            CheckStatus::Ok,
            CheckStatus::Degraded,
            CheckStatus::Down,
            CheckStatus::Unknown,
            CheckStatus::Ok,
        ];
        for (hours, status) in (0..).zip(statuses) {
            tally.count(&run(CheckType::UPTIME, noon() - TimeDelta::hours(hours * 6), status));
        }
        tally.count(&run("ssl", noon(), CheckStatus::Down));
        let today = uptime::day(noon());
        let day = |day, ok, degraded, down, unknown| DayCount { day, ok, degraded, down, unknown };
        assert_eq!(tally.days, [day(today - 1, 1, 0, 0, 1), day(today, 1, 1, 1, 0)]);
        let this = response::hour(noon());
        let hour = |hour| HourCount { hour, answers: 1, total_ms: 40 };
        assert_eq!(tally.hours, [hour(this - 24), hour(this - 6), hour(this)]);
    }

    #[test]
    fn run_that_is_passed_over_leaves_its_day_without_a_count() {
        let mut tally = Tally::default();
        tally.pass_over(&run("ssl", noon(), CheckStatus::Down));
        assert!(tally.is_empty());
        tally.pass_over(&run(CheckType::UPTIME, noon(), CheckStatus::Down));
        tally.pass_over(&run(CheckType::UPTIME, noon(), CheckStatus::Degraded));
        let day = DayCount { day: uptime::day(noon()), ..DayCount::default() };
        assert_eq!((tally.days.as_slice(), tally.hours.len()), (&[day][..], 0));
        tally.count(&run(CheckType::UPTIME, noon(), CheckStatus::Ok));
        tally.pass_over(&run(CheckType::UPTIME, noon(), CheckStatus::Down));
        assert_eq!(tally.days, [DayCount { ok: 1, ..day }]);
    }

    #[test]
    fn what_is_no_longer_shown_makes_room_and_does_not_come_back() {
        let mut tally = Tally::default();
        for days in 0..200 {
            for _ in 0..2 {
                tally.count(&run(
                    CheckType::UPTIME,
                    noon() + TimeDelta::days(days),
                    CheckStatus::Ok,
                ));
            }
        }
        let full = tally.clone();
        assert_eq!((full.days.len(), full.hours.len()), (DAYS, HOURS));
        assert!(full.days.iter().all(|day| day.ok == 2));
        tally.count(&run(CheckType::UPTIME, noon(), CheckStatus::Ok));
        assert_eq!(tally, full);
    }

    #[test]
    fn clock_that_was_wrong_for_a_moment_costs_a_day_and_no_more() {
        let days = i64::try_from(DAYS).expect("a few days");
        for off in [TimeDelta::days(3_650), TimeDelta::days(-3_650)] {
            let mut tally = Tally::default();
            for before in (0..days).rev() {
                tally.count(&run(
                    CheckType::UPTIME,
                    noon() - TimeDelta::days(before),
                    CheckStatus::Ok,
                ));
            }
            tally.count(&run(CheckType::UPTIME, noon() + off, CheckStatus::Ok));
            tally.count(&run(CheckType::UPTIME, noon(), CheckStatus::Ok));
            let today = uptime::day(noon());
            let shown = |count: &&DayCount| (today - days + 2..=today).contains(&count.day);
            let shown: Vec<u64> = tally.days.iter().filter(shown).map(|count| count.ok).collect();
            assert_eq!((shown.len(), shown.last()), (DAYS - 1, Some(&2)), "{off}");
            assert_eq!(tally.days.len(), DAYS);
        }
    }

    #[test]
    fn it_is_written_as_short_lists() {
        let mut tally = Tally::default();
        tally.count(&run(CheckType::UPTIME, noon(), CheckStatus::Ok));
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(text, r#"{"days":[[20779,1,0,0,0]],"hours":[[498708,1,40]]}"#);
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
    }
}
