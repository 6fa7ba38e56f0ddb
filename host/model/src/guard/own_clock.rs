//! Whether what the clock of this machine shows can be believed.
//!
//! It is held against a clock that nobody sets, which counts from when the machine began and goes on
//! while it sleeps: by both together the machine always began at the same moment. Where it seems to have
//! begun at another one, the clock was wrong before or is wrong now, and nobody here knows which. It
//! is believed again once it is back where it was, once a database server's clock agrees with it, or once
//! it has stayed for so long that somebody would have put it right. Soon after the machine began it is
//! known: a clock that no battery keeps begins in the past, and is put right once there is a network.
//!
//! *Invariant:* how long a doubt lasts goes by the clock that nobody sets.

use std::time::Duration;

use chrono::TimeDelta;

use crate::Timestamp;

#[derive(Debug, Default)]
pub(super) struct OwnClock {
    trust: Trust,
    /// That of the database server shows another time.
    differs: bool,
}

/// What is held of it by what it showed itself. Each `since` is of the clock that nobody sets.
#[derive(Clone, Copy, Debug, Default)]
enum Trust {
    /// It was not looked at yet.
    #[default]
    Unseen,
    /// The machine began then by it.
    Believed(Timestamp),
    /// It shows less than it showed at `last`, before this process began.
    Behind { last: Timestamp, since: Duration },
    /// The machine began `before`, while it was believed; now it has begun at `began`.
    Leapt { before: Timestamp, began: Timestamp, since: Duration },
}

impl OwnClock {
    /// It was believed when it showed `last`, in a process before this one.
    pub(super) fn resumed(&mut self, last: Timestamp, up: Duration, now: Timestamp) {
        if is_behind(now, last) {
            self.trust = Trust::Behind { last, since: up };
        }
    }

    pub(super) fn shown(&mut self, up: Duration, now: Timestamp) {
        self.trust = self.trust.after(up, now);
    }

    pub(super) fn compared(&mut self, ahead: TimeDelta, up: Duration, now: Timestamp) {
        self.differs = ahead.abs() > NOTABLE;
        if !self.differs {
            self.trust = Trust::Believed(now - up);
        }
    }

    pub(super) fn is_doubted(&self) -> bool {
        let is_by_itself = match self.trust {
            Trust::Unseen | Trust::Believed(_) => false,
            Trust::Behind { .. } | Trust::Leapt { .. } => true,
        };
        is_by_itself || self.differs
    }
}

impl Trust {
    /// Once the clock shows `now`.
    fn after(self, up: Duration, now: Timestamp) -> Self {
        let began = now - up;
        let lasts = |since: Duration| up.saturating_sub(since) < LASTS;
        match self {
            Self::Behind { last, since } if is_behind(now, last) && lasts(since) => self,
            Self::Believed(before) | Self::Leapt { before, .. } if is_same(before, began) => {
                Self::Believed(began)
            }
            Self::Believed(before) if up > STARTING => Self::Leapt { before, began, since: up },
            Self::Leapt { before, began: there, .. } if !is_same(there, began) => {
                Self::Leapt { before, began, since: up }
            }
            Self::Leapt { since, .. } if lasts(since) => self,
            Self::Unseen | Self::Believed(_) | Self::Behind { .. } | Self::Leapt { .. } => {
                Self::Believed(began)
            }
        }
    }
}

fn is_behind(now: Timestamp, last: Timestamp) -> bool {
    last - now > NOTABLE
}

fn is_same(one: Timestamp, other: Timestamp) -> bool {
    (one - other).abs() <= NOTABLE
}

/// Nothing that is told in days is told wrongly by less.
const NOTABLE: TimeDelta = TimeDelta::hours(1);
/// How long a clock is doubted that nobody puts right.
const LASTS: Duration = Duration::from_secs(3_600);
/// How long after the machine began its clock may still be put right for the first time.
const STARTING: Duration = Duration::from_secs(15 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600;
    const MONTH: i64 = 30 * 24 * HOUR;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).expect("a moment of 2027")
    }

    /// Of a machine that began a day before.
    fn up(seconds: u64) -> Duration {
        Duration::from_secs(24 * 3_600 + seconds)
    }

    /// What is held of it after it showed that, so many seconds later.
    fn doubts(clock: &mut OwnClock, looks: &[(u64, i64)]) -> Vec<bool> {
        let each = looks.iter().map(|(seconds, shown)| {
            clock.shown(up(*seconds), at(*shown));
            clock.is_doubted()
        });
        each.collect()
    }

    #[test]
    fn clock_that_goes_along_is_believed_also_over_a_sleep() {
        let mut clock = OwnClock::default();
        let looks = [(9, 9), (10, 10), (100_000, 100_000), (100_001, 103_601), (100_002, 100_002)];
        assert_eq!(doubts(&mut clock, &looks), [false; 5]);
    }

    #[test]
    fn clock_that_leaps_is_doubted_for_an_hour_or_until_it_is_back() {
        for by in [MONTH, -MONTH, HOUR + 1, -HOUR - 1] {
            let mut clock = OwnClock::default();
            let looks = [(0, 0), (1, 1 + by), (3_600, 3_600 + by), (3_601, 3_601 + by)];
            assert_eq!(doubts(&mut clock, &looks), [false, true, true, false], "{by}");
            // What is believed by now was the leap.
            let looks = [(3_602, 3_602), (3_603, 3_603 + by), (3_604, 3_604)];
            assert_eq!(doubts(&mut clock, &looks), [true, false, true], "{by}");
        }
    }

    #[test]
    fn clock_that_is_put_right_soon_after_the_machine_began_is_believed() {
        for by in [MONTH, -MONTH, 20 * 12 * MONTH] {
            let mut clock = OwnClock::default();
            let looks = [
                (20, 20, false),
                (40, 40 + by, false),
                (900, 900 + by, false),
                // From here on nobody knows which was right.
                (901, 901, true),
                (902, 902 + by, false),
                (4_500, 4_500 + by, false),
            ];
            for (seconds, shown, expected) in looks {
                clock.shown(Duration::from_secs(seconds), at(shown));
                assert_eq!(clock.is_doubted(), expected, "{by} at {seconds} s");
            }
        }
    }

    #[test]
    fn clock_that_begins_behind_is_doubted_on_a_machine_that_has_just_begun_too() {
        let mut clock = OwnClock::default();
        let begun = Duration::from_secs(20);
        clock.resumed(at(MONTH), begun, at(0));
        clock.shown(begun, at(0));
        assert!(clock.is_doubted());
        let second = Duration::from_secs(1);
        clock.shown(begun + second, at(MONTH + 60));
        assert!(!clock.is_doubted(), "it was put right");
    }

    #[test]
    fn each_further_leap_is_doubted_for_an_hour_of_its_own() {
        let mut clock = OwnClock::default();
        let looks =
            [(0, 0), (1, MONTH), (3_000, 2 * MONTH), (3_601, 2 * MONTH), (6_600, 2 * MONTH)];
        assert_eq!(doubts(&mut clock, &looks), [false, true, true, true, false]);
    }

    #[test]
    fn clock_that_begins_behind_is_doubted_until_it_is_ahead_or_for_an_hour() {
        let resumed = |last: i64| {
            let mut clock = OwnClock::default();
            clock.resumed(at(last), up(60), at(0));
            clock
        };
        let put_right = [(60, 0), (61, MONTH - 2 * HOUR), (62, MONTH + 3), (63, MONTH + 4)];
        assert_eq!(doubts(&mut resumed(MONTH), &put_right), [true, true, false, false]);
        let left = [(60, 0), (3_659, 3_599), (3_660, 3_600)];
        assert_eq!(doubts(&mut resumed(MONTH), &left), [true, true, false]);
        // A little is what a correction may take back.
        assert_eq!(doubts(&mut resumed(HOUR), &left), [false; 3]);
        assert_eq!(doubts(&mut resumed(-MONTH), &left), [false; 3]);
    }

    #[test]
    fn clock_of_a_database_server_decides() {
        let mut clock = OwnClock::default();
        let ahead = TimeDelta::seconds;
        assert_eq!(doubts(&mut clock, &[(0, 0), (1, MONTH)]), [false, true]);
        clock.compared(ahead(HOUR), up(2), at(MONTH));
        assert!(!clock.is_doubted(), "it was put right");
        clock.compared(ahead(-HOUR - 1), up(3), at(MONTH + 1));
        assert_eq!(doubts(&mut clock, &[(4, MONTH + 2), (9_999, MONTH + 9_997)]), [true; 2]);
        clock.compared(ahead(-HOUR), up(10_000), at(MONTH + 9_998));
        assert!(!clock.is_doubted());
    }
}
