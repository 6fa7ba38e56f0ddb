//! A breaker per plugin version: a plugin that keeps breaking is paused, so that it neither
//! burns CPU nor floods the operator.
//!
//! Of the ten domains that its calls were about last, five whose last call ended badly open it; five
//! bad endings do where none of those domains is served well. After 30 s one call may try (half-open):
//! a good ending closes it, a bad one doubles the pause, up to 15 minutes.
//!
//! Only calls that nobody asked for count: planned runs and what is made of them. In all others the
//! caller names the domain and the input, and may name ten new ones a second.
//!
//! *Invariant:* what one domain makes a plugin do, however often, does not pause it for those it
//! serves well; nor does anything that somebody asks for.
//! *Invariant:* an ending counts for the state that its call began in, and for no later one.
//! *Invariant:* pure; `now` is a parameter.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
    net::IpAddr,
    time::{Duration, Instant},
};

/// The breaker of one version of one plugin.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    /// How many calls about each ended badly in a row, 0 = the last one ended well; the latest last.
    endings: VecDeque<(Subject, usize)>,
    state: State,
    generation: Generation,
}

/// Which of a breaker's states, one after the other, a call began in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Generation(u64);

/// What a call was about, as far as that says who may be to blame for its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subject(u64);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    /// Paused until then, for the last time so long.
    Open { until: Instant, pause: Duration },
    /// One call is trying; should it never report back, another may try after the pause.
    Trying { until: Instant, pause: Duration },
}

/// What the operator should hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Opened { pause: Duration },
    Closed,
}

const LAST: usize = 10;
const BAD: usize = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

impl Subject {
    /// Names below one domain count as one: its owner can have as many as they like. That this
    /// takes all of `co.uk` for one only makes a breaker slower to open.
    pub(crate) fn of(name: &str) -> Self {
        let is_address = name.parse::<IpAddr>().is_ok();
        let above = name.rmatch_indices('.').nth(1).filter(|_| !is_address);
        Self::of_text(above.map_or(name, |(dot, _)| &name[dot + 1..]))
    }

    /// Of what has no name.
    fn of_text(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Breaker {
    /// Whether a call may start now, and what its ending is recorded with; if not, for how long not.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<Generation, Duration> {
        match self.state {
            State::Closed => Ok(self.generation),
            State::Open { until, .. } | State::Trying { until, .. } if now < until => {
                Err(until - now)
            }
            State::Open { pause, .. } | State::Trying { pause, .. } => {
                self.enter(State::Trying { until: now + pause, pause });
                Ok(self.generation)
            }
        }
    }

    /// For how long no call may start; none = one may.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        match self.state {
            State::Open { until, .. } | State::Trying { until, .. } if now < until => {
                Some(until - now)
            }
            State::Closed | State::Open { .. } | State::Trying { .. } => None,
        }
    }

    /// Takes note of how a call ended that began in that generation.
    pub(crate) fn record(
        &mut self,
        begun: Generation,
        about: Subject,
        bad: bool,
        now: Instant,
    ) -> Option<Change> {
        if begun != self.generation {
            return None;
        }
        match (self.state, bad) {
            (State::Closed, _) => self.count(about, bad, now),
            (State::Trying { pause, .. }, true) => {
                Some(self.open((pause * 2).min(LONGEST_PAUSE), now))
            }
            (State::Trying { .. }, false) => {
                self.enter(State::Closed);
                Some(Change::Closed)
            }
            // No call begins in it.
            (State::Open { .. }, _) => None,
        }
    }

    fn count(&mut self, about: Subject, bad: bool, now: Instant) -> Option<Change> {
        let known = self.endings.iter().position(|(other, _)| *other == about);
        let before = known.and_then(|place| self.endings.remove(place)).map_or(0, |(_, row)| row);
        if self.endings.len() == LAST {
            self.endings.pop_front();
        }
        self.endings.push_back((about, if bad { before + 1 } else { 0 }));
        self.is_broken().then(|| self.open(FIRST_PAUSE, now))
    }

    fn is_broken(&self) -> bool {
        let broken = self.endings.iter().filter(|(_, row)| *row > 0).count();
        let in_all: usize = self.endings.iter().map(|(_, row)| row).sum();
        broken >= BAD || (broken == self.endings.len() && in_all >= BAD)
    }

    fn open(&mut self, pause: Duration, now: Instant) -> Change {
        self.enter(State::Open { until: now + pause, pause });
        Change::Opened { pause }
    }

    /// Counting starts anew with every state.
    fn enter(&mut self, state: State) {
        self.endings.clear();
        self.state = state;
        self.generation.0 += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn nth(n: usize) -> Subject {
        Subject::of(&format!("site{n}.example"))
    }

    /// The ending of a call that began in the state that it ends in.
    fn record(breaker: &mut Breaker, about: Subject, bad: bool, now: Instant) -> Option<Change> {
        breaker.record(breaker.generation, about, bad, now)
    }

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::default();
        for n in 0..BAD {
            record(&mut breaker, nth(n), true, now);
        }
        breaker
    }

    #[test]
    fn five_of_the_last_ten_domains_that_ended_badly_open_it() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        let endings = [true, false, true, false, true, false, true, false, false];
        let mut endings = endings.iter().enumerate();
        assert!(endings.all(|(n, bad)| record(&mut breaker, nth(n), *bad, now).is_none()));
        assert!(breaker.admit(now).is_ok());
        assert_eq!(
            record(&mut breaker, nth(9), true, now),
            Some(Change::Opened { pause: 30 * SECOND })
        );
        assert_eq!(breaker.admit(now + SECOND), Err(29 * SECOND));
        assert_eq!(breaker.pause(now + SECOND), Some(29 * SECOND));
        assert_eq!(breaker.pause(now + 30 * SECOND), None);
    }

    #[test]
    fn old_bad_endings_are_forgotten() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        for n in 0..4 {
            assert_eq!(record(&mut breaker, nth(n), true, now), None);
        }
        for n in 4..4 + LAST {
            assert_eq!(record(&mut breaker, nth(n), false, now), None);
        }
        assert_eq!(record(&mut breaker, nth(99), true, now), None);
        let mut breaker = Breaker::default();
        assert_eq!(record(&mut breaker, nth(0), false, now), None);
        for n in 0..4 * BAD {
            assert_eq!(record(&mut breaker, nth(1 + n % 4), true, now), None, "four domains");
        }
        assert_eq!(record(&mut breaker, nth(1), false, now), None, "it is well again");
        assert_eq!(record(&mut breaker, nth(5), true, now), None);
        assert!(record(&mut breaker, nth(1), true, now).is_some());
    }

    #[test]
    fn where_nobody_is_served_well_five_bad_endings_open_it() {
        let now = Instant::now();
        for domains in 1..BAD {
            let mut breaker = Breaker::default();
            for n in 1..BAD {
                assert_eq!(record(&mut breaker, nth(n % domains), true, now), None);
            }
            assert!(record(&mut breaker, nth(0), true, now).is_some(), "{domains} domains");
        }
    }

    #[test]
    fn one_domain_that_breaks_it_every_time_opens_it_for_nobody() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        assert_eq!(record(&mut breaker, nth(0), false, now), None);
        for n in 0..100 {
            let about = Subject::of(&format!("host{n}.of.one.example"));
            assert_eq!(record(&mut breaker, about, true, now), None);
            assert!(breaker.admit(now).is_ok());
        }
    }

    #[test]
    fn names_below_one_domain_are_one_and_addresses_are_not() {
        let same = [("example.com", "www.example.com"), ("a.b.example.com", "example.com")];
        assert!(same.iter().all(|(one, other)| Subject::of(one) == Subject::of(other)));
        for (one, other) in [
            ("example.com", "example.org"),
            ("example.com", "other.com"),
            ("192.0.2.1", "198.51.2.1"),
            ("2001:db8::1", "2001:db8::2"),
            ("db01", "db02"),
        ] {
            assert_ne!(Subject::of(one), Subject::of(other), "{one} {other}");
        }
    }

    #[test]
    fn after_the_pause_one_call_tries_and_a_good_ending_closes() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let later = now + 30 * SECOND;
        assert!(breaker.admit(later).is_ok());
        assert_eq!(breaker.admit(later), Err(30 * SECOND), "only one at a time");
        assert_eq!(record(&mut breaker, nth(0), false, later), Some(Change::Closed));
        assert!(breaker.admit(later).is_ok());
        assert_eq!(record(&mut breaker, nth(0), true, later), None, "counting starts anew");
    }

    #[test]
    fn each_failed_trial_doubles_the_pause_up_to_a_quarter_of_an_hour() {
        let mut now = Instant::now();
        let mut breaker = opened(now);
        for seconds in [60_u32, 120, 240, 480, 900, 900] {
            now += LONGEST_PAUSE;
            assert!(breaker.admit(now).is_ok());
            let pause = seconds * SECOND;
            assert_eq!(record(&mut breaker, nth(0), true, now), Some(Change::Opened { pause }));
        }
    }

    #[test]
    fn a_trial_that_never_reports_back_does_not_block_for_ever() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert!(breaker.admit(now + 30 * SECOND).is_ok());
        assert!(breaker.admit(now + 60 * SECOND).is_ok());
    }

    #[test]
    fn what_began_before_it_opened_neither_closes_it_nor_doubles_its_pause() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        let before = breaker.admit(now).expect("closed");
        for n in 0..BAD {
            record(&mut breaker, nth(n), true, now);
        }
        let later = now + 30 * SECOND;
        let trial = breaker.admit(later).expect("one may try");
        for bad in [false, true] {
            assert_eq!(breaker.record(before, nth(0), bad, later), None);
            assert_eq!(breaker.admit(later), Err(30 * SECOND), "one tries still");
        }
        assert_eq!(breaker.record(trial, nth(0), false, later), Some(Change::Closed));
        for n in 0..BAD {
            assert_eq!(breaker.record(before, nth(n), true, later), None);
        }
        assert!(breaker.admit(later).is_ok());
    }
}
