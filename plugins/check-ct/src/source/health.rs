//! How a source has been doing, for all sites of all accounts.
//!
//! *Invariant:* what a source cannot do for one domain alone does not count against it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use vedette_sdk::{Cx, state::Scope};

use super::{Failure, RATE_LIMITED, TIMEOUT, UNAVAILABLE};
use crate::config::Source;

/// Kept while a source fails.
#[derive(Debug)]
pub(super) struct Health {
    key: String,
    kept: Kept,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// In a row; being told to wait counts twice.
    failures: u32,
    /// Not to be asked before, in Unix seconds.
    until: i64,
    /// How it failed last.
    error: String,
}

impl Health {
    /// A state that does not answer is a source that does well.
    pub(super) fn load(cx: &Cx, source: &Source) -> Self {
        let key = format!("health.{}", source.mark());
        let kept = cx.state(Scope::Shared).get(&key).ok().flatten();
        let kept = kept.and_then(|kept| serde_json::from_slice(&kept).ok()).unwrap_or_default();
        Self { key, kept }
    }

    /// Why the source is not asked now.
    pub(super) fn rests(&self, now: i64) -> Option<&'static str> {
        // A clock that was set back does not keep it resting for ever.
        let rests = self.kept.until > now && self.kept.until <= now.saturating_add(LONGEST);
        let told = [RATE_LIMITED, TIMEOUT].into_iter().find(|token| *token == self.kept.error);
        rests.then(|| told.unwrap_or(UNAVAILABLE))
    }

    pub(super) fn answered(&mut self, cx: &Cx) {
        if self.kept != Kept::default() {
            self.kept = Kept::default();
            let _ = cx.state(Scope::Shared).delete(&self.key);
        }
    }

    pub(super) fn failed(&mut self, cx: &Cx, failure: &Failure, now: i64) {
        // A source that says it is asked too often is left alone from the first time on.
        let (weight, asks_for, least) = match failure {
            Failure::TooMuch(_) | Failure::Ours(_) => return,
            Failure::Throttled(wait) => (2, *wait, Some(0)),
            Failure::Unavailable(_) | Failure::Timeout => (1, None, None),
        };
        let failures = self.kept.failures.saturating_add(weight);
        let doublings = failures.checked_sub(PATIENCE + 1).or(least);
        let own = doublings.map(|doublings| SHORTEST << doublings.min(6));
        let stated = asks_for.map(|wait| i64::try_from(wait.as_secs()).unwrap_or(LONGEST));
        let wait = stated.or(own).map(|wait| wait.clamp(1, LONGEST));
        self.kept = Kept {
            failures,
            until: wait.map_or(0, |wait| now.saturating_add(wait)),
            error: failure.token().to_owned(),
        };
        let written = serde_json::to_vec(&self.kept).expect("numbers and a text have a form");
        // Without it the source is asked once more than it should be.
        let _ = cx.state(Scope::Shared).set(&self.key, &written, Some(FORGET));
    }
}

/// Failures in a row that make no difference.
const PATIENCE: u32 = 2;
/// Seconds of the first rest; each further failure doubles them.
const SHORTEST: i64 = 60;
const LONGEST: i64 = 6 * 3_600;
const FORGET: Duration = Duration::from_secs(24 * 3_600);

#[cfg(test)]
mod tests {
    use vedette_sdk::testing::Host;

    use super::*;
    use crate::config::Kind;

    fn away() -> Failure {
        Failure::Unavailable("status 503".to_owned())
    }

    /// Fails once more and tells for how long the source rests then.
    fn rest(host: &Host, failure: &Failure) -> i64 {
        let (cx, source) = (host.cx(), Source::new(Kind::Crtsh, "https://crt.sh"));
        Health::load(&cx, &source).failed(&cx, failure, cx.now());
        let health = Health::load(&cx, &source);
        let rests = |seconds: &i64| health.rests(cx.now() + seconds).is_some();
        (0..=LONGEST).step_by(30).take_while(rests).count() as i64 * 30
    }

    #[test]
    fn third_failure_in_a_row_makes_a_source_rest() {
        let host = Host::new();
        let rests: Vec<i64> = (0..4).map(|_| rest(&host, &away())).collect();
        assert_eq!(rests, [0, 0, 60, 120]);
        let (cx, source) = (host.cx(), Source::new(Kind::Crtsh, "https://crt.sh"));
        Health::load(&cx, &source).answered(&cx);
        assert_eq!(rest(&host, &away()), 0);
    }

    #[test]
    fn source_rests_as_long_as_it_asks_for() {
        let host = Host::new();
        let throttled = |seconds| Failure::Throttled(Some(Duration::from_secs(seconds)));
        assert_eq!(rest(&host, &throttled(90)), 90);
        assert_eq!(rest(&Host::new(), &throttled(u64::MAX)), LONGEST);
        let health = Health::load(&host.cx(), &Source::new(Kind::Crtsh, "https://crt.sh"));
        assert_eq!(health.rests(host.cx().now()), Some(RATE_LIMITED));
        assert_eq!(health.rests(host.cx().now() - 10 * LONGEST), None);
    }

    #[test]
    fn source_that_does_not_say_for_how_long_rests_all_the_same() {
        let host = Host::new();
        let rests: Vec<i64> = (0..3).map(|_| rest(&host, &Failure::Throttled(None))).collect();
        assert_eq!(rests, [60, 120, 480]);
    }

    #[test]
    fn large_domain_does_not_count_against_the_source() {
        let host = Host::new();
        let too_much = Failure::TooMuch("2 MiB".to_owned());
        assert_eq!((0..9).map(|_| rest(&host, &too_much)).sum::<i64>(), 0);
    }

    #[test]
    fn sources_do_not_share_their_health() {
        let host = Host::new();
        for _ in 0..5 {
            rest(&host, &away());
        }
        let other = Source::new(Kind::Certspotter, "https://crt.sh");
        assert_eq!(Health::load(&host.cx(), &other).rests(host.cx().now()), None);
    }
}
