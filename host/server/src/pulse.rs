//! Whether the background work keeps up: what health checks and the heartbeat tell.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use chrono::TimeDelta;
use vedette_model::Timestamp;

/// Moments that the loops leave behind, in Unix milliseconds.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// What was due before is not late: the process started then, or the clock was set.
    since: AtomicI64,
    /// The scheduler's last turn.
    looked: AtomicI64,
    /// How late the last late run began; 0 = none was late recently.
    late: AtomicI64,
    /// When that was.
    late_at: AtomicI64,
    /// The last run that brought a result; 0 = none yet.
    checked: AtomicI64,
}

impl Pulse {
    /// Of a process that starts now.
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            since: AtomicI64::new(now.timestamp_millis()),
            looked: AtomicI64::new(now.timestamp_millis()),
            late: AtomicI64::new(0),
            late_at: AtomicI64::new(0),
            checked: AtomicI64::new(0),
        }
    }

    /// The scheduler has looked for due checks. With nothing left to take it is not late.
    pub(crate) fn looked(&self, now: Timestamp, nothing_due: bool) {
        self.looked.store(now.timestamp_millis(), Ordering::Relaxed);
        if nothing_due {
            self.late.store(0, Ordering::Relaxed);
        }
    }

    /// The clock was set, as it is when the machine has slept: nobody was late in what it skipped.
    pub(crate) fn begins_anew(&self, now: Timestamp) {
        self.since.store(now.timestamp_millis(), Ordering::Relaxed);
        self.looked.store(now.timestamp_millis(), Ordering::Relaxed);
        self.late.store(0, Ordering::Relaxed);
    }

    /// A run begins that could have begun at `ready`: when it was planned, or later where its host or
    /// its account was busy. What was due before the process started is not its fault. Too late is
    /// what comes after more than twice its `distance`, the interval of its check or of a recheck,
    /// and after more than the scheduler may stand still. A run that is not too late clears others
    /// only once none was for a while, since a backlog holds back checks of all intervals alike.
    pub(crate) fn begins(&self, ready: Timestamp, distance: Duration, now: Timestamp) {
        let lag = self.lag(ready, now);
        let allowed = i64::try_from((distance * 2).as_millis()).unwrap_or(i64::MAX);
        if lag > allowed.max(PATIENCE.num_milliseconds()) {
            self.late_at.store(now.timestamp_millis(), Ordering::Relaxed);
            self.late.store(lag, Ordering::Relaxed);
        } else if self.is_long_ago(now) {
            self.late.store(0, Ordering::Relaxed);
        }
    }

    /// How late a run is that was planned for `due` and begins now, whatever it waited for.
    pub(crate) fn late(&self, due: Timestamp, now: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.lag(due, now)).unwrap_or_default())
    }

    /// In milliseconds.
    fn lag(&self, due: Timestamp, now: Timestamp) -> i64 {
        let counts = due.timestamp_millis().max(self.since.load(Ordering::Relaxed));
        now.timestamp_millis() - counts
    }

    fn is_long_ago(&self, now: Timestamp) -> bool {
        let since = now.timestamp_millis() - self.late_at.load(Ordering::Relaxed);
        since > REMEMBERED.num_milliseconds()
    }

    /// A run has brought a result, and it was stored.
    pub(crate) fn checked(&self, now: Timestamp) {
        self.checked.store(now.timestamp_millis(), Ordering::Relaxed);
    }

    /// The last run that brought a result.
    pub(crate) fn last_checked(&self) -> Option<Timestamp> {
        let at = self.checked.load(Ordering::Relaxed);
        Timestamp::from_timestamp_millis(at).filter(|_| at > 0)
    }

    /// By how much the work is behind: the scheduler stands still, or its runs begin too late.
    pub(crate) fn behind(&self, now: Timestamp) -> Option<Duration> {
        let still = now.timestamp_millis() - self.looked.load(Ordering::Relaxed);
        let late = self.late.load(Ordering::Relaxed);
        let still = if still > PATIENCE.num_milliseconds() { still } else { 0 };
        let behind = u64::try_from(still.max(late)).ok().filter(|behind| *behind > 0)?;
        Some(Duration::from_millis(behind))
    }
}

/// The scheduler looks several times a second.
const PATIENCE: TimeDelta = TimeDelta::seconds(30);
/// The checks that run most often, which are the first to be late, come by in this time.
const REMEMBERED: TimeDelta = TimeDelta::minutes(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_790_000_000 + seconds, 0).expect("within the years")
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn scheduler_that_stands_still_is_behind() {
        let pulse = Pulse::new(at(0));
        assert_eq!(pulse.behind(at(30)), None);
        assert_eq!(pulse.behind(at(31)), Some(Duration::from_secs(31)));
        pulse.looked(at(31), true);
        assert_eq!(pulse.behind(at(32)), None);
    }

    #[test]
    fn run_that_missed_two_intervals_is_late_until_the_backlog_is_gone() {
        let pulse = Pulse::new(at(0));
        pulse.looked(at(300), false);
        pulse.begins(at(180), MINUTE, at(300));
        assert_eq!(pulse.behind(at(300)), None);
        pulse.begins(at(179), MINUTE, at(300));
        assert_eq!(pulse.behind(at(300)), Some(Duration::from_secs(121)));
        pulse.looked(at(301), false);
        assert!(pulse.behind(at(301)).is_some());
        pulse.looked(at(302), true);
        assert_eq!(pulse.behind(at(302)), None);
    }

    #[test]
    fn recheck_is_late_by_its_own_distance_and_no_sooner_than_the_scheduler() {
        for (distance, late) in [(1, 31), (10, 31), (20, 41), (60, 121)] {
            let (pulse, distance) = (Pulse::new(at(0)), Duration::from_secs(distance));
            for (lag, behind) in [(late - 1, None), (late, Some(late))] {
                pulse.looked(at(lag), false);
                pulse.begins(at(0), distance, at(lag));
                let behind = behind.map(|seconds| TimeDelta::seconds(seconds).to_std().unwrap());
                assert_eq!(pulse.behind(at(lag)), behind, "{distance:?}");
            }
        }
    }

    #[test]
    fn run_that_is_on_time_clears_no_late_one_of_a_moment_ago() {
        let pulse = Pulse::new(at(0));
        let late = Some(Duration::from_secs(121));
        pulse.looked(at(421), false);
        pulse.begins(at(300), MINUTE, at(421));
        pulse.begins(at(300), 60 * MINUTE, at(421));
        assert_eq!(pulse.behind(at(421)), late);
        for (seconds, behind) in [(541, late), (542, None)] {
            pulse.looked(at(seconds), false);
            pulse.begins(at(seconds), MINUTE, at(seconds));
            assert_eq!(pulse.behind(at(seconds)), behind, "with something due all the time");
        }
    }

    #[test]
    fn time_that_the_clock_skipped_does_not_count() {
        for by in [3600, -3600] {
            let pulse = Pulse::new(at(0));
            pulse.looked(at(60), false);
            pulse.begins(at(-1), MINUTE, at(121));
            assert_eq!(pulse.behind(at(121)), Some(Duration::from_secs(121)));
            pulse.begins_anew(at(by));
            assert_eq!(pulse.behind(at(by)), None, "{by}");
            pulse.begins(at(60), MINUTE, at(by + 120));
            assert_eq!(pulse.behind(at(by + 30)), None, "{by}");
            pulse.begins(at(by), MINUTE, at(by + 121));
            assert_eq!(pulse.behind(at(by + 30)), Some(Duration::from_secs(121)), "{by}");
        }
    }

    #[test]
    fn downtime_before_the_start_does_not_count() {
        let pulse = Pulse::new(at(0));
        pulse.begins(at(-86_400), MINUTE, at(5));
        assert_eq!(pulse.behind(at(5)), None);
        assert_eq!(pulse.late(at(-86_400), at(5)), Duration::from_secs(5));
    }

    #[test]
    fn each_run_tells_how_late_it_is() {
        let pulse = Pulse::new(at(0));
        for (due, now, late) in [(10, 10, 0), (10, 13, 3), (10, 400, 390), (11, 10, 0)] {
            let told = pulse.late(at(due), at(now));
            assert_eq!(told, Duration::from_secs(late), "due at {due}, begun at {now}");
        }
    }
}
