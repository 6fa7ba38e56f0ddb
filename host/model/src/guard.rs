//! Whether a run that found trouble can be believed, or the trouble may be our own.
//!
//! A monitor that loses its network sees every site down at once, and one whose clock is wrong every
//! certificate expired. Four signs speak against what a run found: our clock may be wrong, our resolvers
//! answer nobody, or only what they have kept (offline), our own threads are late (overloaded), and
//! far too many sites failed at the same moment (a jump). The first three last as long as they last; a jump
//! is held back only until the failures had time to prove that they stay, since many sites may really
//! fail together, behind one provider.
//!
//! A jump is seen in the sites that were looked at last, however many there are: of a thousand, most
//! were well when they were looked at, a moment before the network was lost. A site has failed while one
//! of its checks says so: a name that resolves, from a cache perhaps, is no site that is up again.
//!
//! *Invariant:* pure; the same signs at the same moments give the same verdicts.
//! *Invariant:* a sign counts for as long as it lasts and no longer, even if the clock is set back
//! meanwhile: otherwise a doubt would go on for as long as the clock was ahead.
//! *Invariant:* what it remembers is bounded, whatever it is told.

mod own_clock;

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use chrono::TimeDelta;

use self::own_clock::OwnClock;
use crate::{CheckType, SiteId, Timestamp};

/// What the signs say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing speaks against what is found.
    Fit,
    /// Our clock may be wrong.
    ClockDoubted,
    /// Our resolvers answer nobody, or only what they have kept.
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
    /// How old its signs are at most. What is held back is looked at again, and counts until then.
    window: TimeDelta,
    /// From which lag on our threads are late.
    late: Duration,
    clock: OwnClock,
    offline: bool,
    /// When a thread of ours was late the last time.
    late_at: Option<Timestamp>,
    /// The sites that runs last reported on, each once, the newest last.
    lately: VecDeque<Look>,
    jump: Option<Jump>,
    doubted: Option<Doubted>,
}

/// What runs last reported about a site.
#[derive(Debug)]
struct Look {
    site: SiteId,
    at: Timestamp,
    /// When its checks fell that have not been well since.
    fallen: BTreeMap<CheckType, Timestamp>,
}

#[derive(Debug)]
struct Jump {
    since: Timestamp,
    /// When enough sites had failed the last time.
    seen_at: Timestamp,
}

/// A span in which trouble was not believed.
#[derive(Debug)]
struct Doubted {
    why: Verdict,
    since: Timestamp,
    /// When that was so the last time.
    seen_at: Timestamp,
}

impl Guard {
    /// `hold`: how long failures have to prove that they stay; `late`: a thread that is late by this
    /// makes answers seem late that were not.
    pub fn new(hold: Duration, late: Duration) -> Self {
        let hold = TimeDelta::from_std(hold).unwrap_or(TimeDelta::MAX);
        Self {
            hold,
            window: hold.max(WINDOW),
            late,
            clock: OwnClock::default(),
            offline: false,
            late_at: None,
            lately: VecDeque::new(),
            jump: None,
            doubted: None,
        }
    }

    /// Our clock was believed when it showed `last`, in a process before this one; now the machine is
    /// `up` for so long, by a clock that nobody sets.
    pub fn resumed(&mut self, last: Timestamp, up: Duration, now: Timestamp) {
        self.clock.resumed(last, up, now);
    }

    /// Our clock shows `now`, and the machine is `up` for so long.
    pub fn shown(&mut self, up: Duration, now: Timestamp) {
        self.clock.shown(up, now);
    }

    /// The same, and by how much it is `ahead` of the clock of the database server.
    pub fn compared(&mut self, ahead: TimeDelta, up: Duration, now: Timestamp) {
        self.clock.compared(ahead, up, now);
    }

    /// Whether any of our resolvers answered, and not only from what it has kept.
    pub fn resolved(&mut self, answered: bool) {
        self.offline = !answered;
    }

    /// By how much a task of ours ran late.
    pub fn lagged(&mut self, lag: Duration, now: Timestamp) {
        if lag >= self.late {
            self.late_at = Some(now);
        }
    }

    /// A run of a check of a site told something: whether the site is down by it, and was not before.
    pub fn told(
        &mut self,
        site: SiteId,
        check_type: &CheckType,
        fell: bool,
        is_down: bool,
        now: Timestamp,
    ) {
        self.forget(now);
        let before = self.lately.iter().position(|look| look.site == site);
        let before = before.and_then(|place| self.lately.remove(place));
        let mut fallen = before.map(|look| look.fallen).unwrap_or_default();
        if fell {
            fallen.insert(check_type.clone(), now);
        } else if !is_down {
            fallen.remove(check_type);
        }
        if self.lately.len() == LOOKED_AT {
            self.lately.pop_front();
        }
        self.lately.push_back(Look { site, at: now, fallen });
        self.see_jump(now);
    }

    /// Whether our clock may be wrong.
    pub fn is_clock_doubted(&self) -> bool {
        self.clock.is_doubted()
    }

    /// Whether, as far as is known, no DNS server answers us but from what it has kept.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// Whether what a run found can be believed.
    pub fn verdict(&mut self, now: Timestamp) -> Verdict {
        if self.offline {
            // A network comes back piece by piece: what fails then is a jump that begins then. So what
            // stays down is held back for as long as DNS comes and goes.
            self.jump = None;
        }
        self.forget(now);
        let verdict = self.judge(now);
        let doubted = self.doubted.take().filter(|doubted| is_near(doubted.seen_at, now, CALM));
        self.doubted = match verdict {
            Verdict::Fit => doubted,
            Verdict::ClockDoubted | Verdict::Offline | Verdict::Overloaded | Verdict::HeldBack => {
                let since = doubted.map_or(now, |doubted| doubted.since.min(now));
                Some(Doubted { why: verdict, since, seen_at: now })
            }
        };
        verdict
    }

    /// Why trouble has not been believed for so long that the operator should hear of it, and how
    /// long that is. A moment in which it was believed does not end it: what is found takes two runs
    /// to be told.
    pub fn doubted_for_long(&self, now: Timestamp) -> Option<(Verdict, Duration)> {
        let doubted = self.doubted.as_ref()?;
        let span = (now - doubted.since).to_std().unwrap_or_default();
        (span >= LONG && is_near(doubted.seen_at, now, CALM)).then_some((doubted.why, span))
    }

    /// Sites that failed, of those that were looked at last.
    pub fn counts(&self) -> (usize, usize) {
        let failed = self.lately.iter().filter(|look| !look.fallen.is_empty()).count();
        (failed, self.lately.len())
    }

    fn judge(&self, now: Timestamp) -> Verdict {
        if self.clock.is_doubted() {
            return Verdict::ClockDoubted;
        }
        if self.offline {
            return Verdict::Offline;
        }
        if self.late_at.is_some_and(|at| is_near(at, now, SHADOW)) {
            return Verdict::Overloaded;
        }
        match &self.jump {
            Some(jump) if is_near(jump.since, now, self.hold) => Verdict::HeldBack,
            Some(_) | None => Verdict::Fit,
        }
    }

    /// One jump is held back once, unless we were offline meanwhile. It is over when all are well
    /// again, or has not been seen for a while: among few sites at a time the share of those that failed
    /// goes up and down by chance, and failures that stay would be held back again and again.
    fn see_jump(&mut self, now: Timestamp) {
        let (failed, _) = self.counts();
        if failed >= FEWEST {
            let since = self.jump.as_ref().map_or(now, |jump| jump.since);
            self.jump = Some(Jump { since, seen_at: now });
        } else {
            self.jump.take_if(|jump| failed == 0 || !is_near(jump.seen_at, now, self.window));
        }
    }

    fn forget(&mut self, now: Timestamp) {
        let window = self.window;
        self.lately.retain(|look| is_near(look.at, now, window));
        for look in &mut self.lately {
            look.fallen.retain(|_, at| is_near(*at, now, window));
        }
        self.see_jump(now);
    }
}

/// Whether a moment is less than `span` away. Callers that report and ask at once do not come in
/// the order of their moments, so one may lie a little ahead; one that is far ahead is from a clock
/// that has been corrected since.
fn is_near(at: Timestamp, now: Timestamp, span: TimeDelta) -> bool {
    (now - at).abs() < span
}

/// Signs of a jump count for so long at least.
const WINDOW: TimeDelta = TimeDelta::seconds(60);
/// Fewer sites than this failing together are believed at once.
const FEWEST: usize = 20;
/// A jump is at least half of those that were looked at last.
const LOOKED_AT: usize = 2 * FEWEST;
/// How long after a thread of ours was late what ran meanwhile is doubted.
const SHADOW: TimeDelta = TimeDelta::seconds(5);
/// Doubts that come again sooner are one.
const CALM: TimeDelta = TimeDelta::seconds(30);
/// How long doubts are not reported: longer than a jump is held back, or a router takes to restart.
const LONG: Duration = Duration::from_secs(5 * 60);

#[cfg(test)]
mod tests;
