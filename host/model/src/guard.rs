//! Whether a run that found trouble can be believed, or the trouble may be our own.
//!
//! A monitor that loses its network sees every site down at once. Three signs speak against what
//! a run found: our resolvers answer nobody (offline), our own threads are late (overloaded), and
//! far too many sites failed at the same moment (a jump). The first two last as long as they
//! last; a jump is held back only until the failures had time to prove that they stay, since many
//! sites may really fail together, behind one provider.
//!
//! *Invariant:* pure; the same signs at the same moments give the same verdicts.
//! *Invariant:* a sign counts for as long as it lasts and no longer, also where the clock is set
//! back meanwhile: else a doubt would go on for as long as the clock was ahead.
//! *Invariant:* what it remembers is bounded, whatever it is told.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use chrono::TimeDelta;

use crate::{SiteId, Timestamp};

/// What the signs say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing speaks against what is found.
    Fit,
    /// Our resolvers answer nobody.
    Offline,
    /// Our threads are late.
    Overloaded,
    /// More sites failed at once than is likely.
    HeldBack,
}

/// The signs of the last minute.
#[derive(Debug)]
pub struct Guard {
    /// How long a jump is held back.
    hold: TimeDelta,
    /// From which lag on our threads are late.
    late: Duration,
    offline: bool,
    /// When a thread of ours was late the last time.
    late_at: Option<Timestamp>,
    /// Sites whose runs told something lately, with the last time each was told of.
    seen: HashMap<SiteId, Timestamp>,
    /// When they were told of, oldest first.
    told: VecDeque<(Timestamp, SiteId)>,
    /// Sites that were well and failed, with the moment they failed.
    failed: HashMap<SiteId, Timestamp>,
    held_since: Option<Timestamp>,
    /// The jump was held back long enough: its failures count until it is over.
    released: bool,
}

impl Guard {
    /// `hold`: how long failures have to prove that they stay; `late`: a thread that is late by this
    /// makes answers seem late that were not.
    pub fn new(hold: Duration, late: Duration) -> Self {
        Self {
            hold: TimeDelta::from_std(hold).unwrap_or(TimeDelta::MAX),
            late,
            offline: false,
            late_at: None,
            seen: HashMap::new(),
            told: VecDeque::new(),
            failed: HashMap::new(),
            held_since: None,
            released: false,
        }
    }

    /// Whether any of our resolvers answered.
    pub fn resolved(&mut self, answered: bool) {
        self.offline = !answered;
    }

    /// By how much a task of ours ran late.
    pub fn lagged(&mut self, lag: Duration, now: Timestamp) {
        if lag >= self.late {
            self.late_at = Some(now);
        }
    }

    /// A run of a site told something: whether the site is down, and was not before.
    pub fn told(&mut self, site: SiteId, fell: bool, is_down: bool, now: Timestamp) {
        self.forget(now);
        if self.told.len() < MOST_TOLD {
            self.told.push_back((now, site));
            self.seen.insert(site, now);
        }
        if fell && self.failed.len() < MOST_TOLD {
            self.failed.insert(site, now);
        } else if !is_down {
            self.failed.remove(&site);
        }
        if !self.is_jump() {
            self.held_since = None;
            self.released = false;
        } else if self.held_since.is_none() {
            self.held_since = Some(now);
        }
    }

    /// Whether, as far as is known, no DNS server answers us.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// Whether what a run found can be believed.
    pub fn verdict(&mut self, now: Timestamp) -> Verdict {
        self.forget(now);
        if self.offline {
            return Verdict::Offline;
        }
        if self.late_at.is_some_and(|at| is_near(at, now, SHADOW)) {
            return Verdict::Overloaded;
        }
        match self.held_since {
            Some(since) if !self.released && is_near(since, now, self.hold) => Verdict::HeldBack,
            Some(_) => {
                self.released = true;
                Verdict::Fit
            }
            None => Verdict::Fit,
        }
    }

    /// Sites that failed lately, and sites that were looked at.
    pub fn counts(&self) -> (usize, usize) {
        (self.failed.len(), self.seen.len())
    }

    fn is_jump(&self) -> bool {
        let (failed, seen) = self.counts();
        failed >= FEWEST && failed * 2 >= seen
    }

    fn forget(&mut self, now: Timestamp) {
        while let Some((at, site)) = self.told.front().copied() {
            if is_near(at, now, WINDOW) {
                break;
            }
            self.told.pop_front();
            if self.seen.get(&site) == Some(&at) {
                self.seen.remove(&site);
            }
        }
        self.failed.retain(|_, at| is_near(*at, now, WINDOW));
        if !self.is_jump() {
            self.held_since = None;
            self.released = false;
        }
    }
}

/// Whether a moment is less than `span` away. Those who tell and ask at once do not come in the
/// order of their moments, so one may lie a little ahead; one that is far ahead is of a clock that
/// has been corrected since.
fn is_near(at: Timestamp, now: Timestamp, span: TimeDelta) -> bool {
    (now - at).abs() < span
}

/// Signs are this old at most.
const WINDOW: TimeDelta = TimeDelta::seconds(60);
/// Fewer sites than this failing together are believed at once.
const FEWEST: usize = 20;
/// How long after a thread of ours was late what ran meanwhile is doubted.
const SHADOW: TimeDelta = TimeDelta::seconds(5);
/// Above this the share of what is known stands for all.
const MOST_TOLD: usize = 65_536;

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).expect("a moment of 2027")
    }

    fn site(n: u128) -> SiteId {
        Uuid::from_u128(n).into()
    }

    fn guard() -> Guard {
        Guard::new(Duration::from_secs(20), Duration::from_secs(1))
    }

    /// Tells of `well` sites that stay well and `down` sites that fall at `second`.
    fn fall(guard: &mut Guard, well: u128, down: u128, second: i64) {
        for n in 0..well {
            guard.told(site(n), false, false, at(second));
        }
        for n in well..well + down {
            guard.told(site(n), true, true, at(second));
        }
    }

    #[test]
    fn a_site_that_fails_alone_is_believed() {
        let mut guard = guard();
        fall(&mut guard, 50, 1, 0);
        assert_eq!(guard.verdict(at(0)), Verdict::Fit);
        fall(&mut guard, 0, 19, 1);
        assert_eq!(guard.verdict(at(1)), Verdict::Fit, "a small account may have one server");
    }

    #[test]
    fn a_jump_is_held_back_and_then_believed() {
        let mut guard = guard();
        fall(&mut guard, 20, 20, 0);
        assert_eq!(guard.verdict(at(0)), Verdict::HeldBack);
        assert_eq!(guard.verdict(at(19)), Verdict::HeldBack);
        assert_eq!(guard.verdict(at(20)), Verdict::Fit, "it stays");
        fall(&mut guard, 0, 5, 21);
        assert_eq!(guard.verdict(at(21)), Verdict::Fit, "the same jump is not held back twice");
    }

    #[test]
    fn a_jump_that_goes_back_is_over() {
        let mut guard = guard();
        fall(&mut guard, 10, 30, 0);
        assert_eq!(guard.verdict(at(1)), Verdict::HeldBack);
        for n in 10..40 {
            guard.told(site(n), false, false, at(5));
        }
        assert_eq!(guard.verdict(at(5)), Verdict::Fit);
        fall(&mut guard, 10, 30, 30);
        assert_eq!(guard.verdict(at(30)), Verdict::HeldBack, "another jump is another");
    }

    #[test]
    fn a_few_of_many_are_no_jump() {
        let mut guard = guard();
        fall(&mut guard, 900, 100, 0);
        assert_eq!(guard.verdict(at(0)), Verdict::Fit);
    }

    #[test]
    fn offline_lasts_until_somebody_answers() {
        let mut guard = guard();
        guard.resolved(false);
        assert_eq!(guard.verdict(at(3_600)), Verdict::Offline);
        guard.resolved(true);
        assert_eq!(guard.verdict(at(3_600)), Verdict::Fit);
    }

    #[test]
    fn a_late_thread_throws_a_shadow() {
        let mut guard = guard();
        guard.lagged(Duration::from_millis(999), at(0));
        assert_eq!(guard.verdict(at(0)), Verdict::Fit);
        guard.lagged(Duration::from_secs(1), at(0));
        assert_eq!(guard.verdict(at(4)), Verdict::Overloaded);
        assert_eq!(guard.verdict(at(5)), Verdict::Fit);
    }

    #[test]
    fn how_late_is_too_late_is_the_operators() {
        let mut guard = Guard::new(Duration::from_secs(20), Duration::from_secs(3));
        guard.lagged(Duration::from_millis(2_999), at(0));
        assert_eq!(guard.verdict(at(0)), Verdict::Fit);
        guard.lagged(Duration::from_secs(3), at(0));
        assert_eq!(guard.verdict(at(0)), Verdict::Overloaded);
    }

    #[test]
    fn a_clock_that_is_set_back_ends_what_was_doubted() {
        let mut guard = guard();
        fall(&mut guard, 20, 20, 3_600);
        assert_eq!(guard.verdict(at(3_600)), Verdict::HeldBack);
        assert_eq!(guard.verdict(at(0)), Verdict::Fit);
        assert_eq!(guard.counts(), (0, 0));
        guard.lagged(Duration::from_secs(2), at(3_600));
        assert_eq!(guard.verdict(at(3_600)), Verdict::Overloaded);
        assert_eq!(guard.verdict(at(0)), Verdict::Fit);
    }

    #[test]
    fn who_asks_a_moment_before_the_last_who_told_forgets_nothing() {
        let mut guard = guard();
        fall(&mut guard, 20, 20, 1);
        assert_eq!(guard.verdict(at(0)), Verdict::HeldBack);
        assert_eq!(guard.counts(), (20, 40));
    }

    #[test]
    fn what_is_old_is_forgotten() {
        let mut guard = guard();
        fall(&mut guard, 100, 30, 0);
        assert_eq!(guard.counts(), (30, 130));
        assert_eq!(guard.verdict(at(60)), Verdict::Fit);
        assert_eq!(guard.counts(), (0, 0));
    }
}
