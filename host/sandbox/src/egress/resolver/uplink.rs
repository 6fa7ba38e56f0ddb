//! Whether our DNS servers still reach others, or live on what they have kept.
//!
//! A recursor that has lost its way out goes on to answer: for the root's name servers for days, and
//! for whatever name it was asked about lately. For the rest it fails, as it does where a name's own
//! servers are broken. What tells the two apart is a name that nobody has, directly beneath a
//! top-level domain: no cache holds it, and so large a zone is not known by the gaps that prove what
//! is not in it (RFC 8198), as a small signed one soon is. Servers that answered such questions and
//! fail them now have lost their way. Those that never did, as in a network without one, say nothing
//! by failing.
//!
//! *Invariant:* strangers are rarely asked: once beneath each of two top-level domains while all is
//! well, and at most once a second, beneath both at most, while something fails.
//! *Invariant:* one question about the way out is under way at a time, and only that changes what
//! is known of it; a caller that only reads what is known never waits.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use hickory_resolver::proto::rr::{Name, RecordType};
use parking_lot::Mutex;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{sleep_until, timeout},
};
use uuid::Uuid;

use super::{Resolver, Validation};
use crate::egress::answer::{is_knowledge, is_refusal};

/// The way out: what is known of it, and the turn to ask about it.
pub(super) struct Uplink {
    known: Mutex<Known>,
    /// A caller that waits for it first looks whether the outcome of the previous question is of
    /// use.
    turn: Semaphore,
}

#[derive(Default)]
struct Known {
    /// Top-level domains beneath which such a question was answered.
    proven: Vec<Name>,
    /// When it was asked last whether they still do.
    asked: Option<Instant>,
    last: Option<Found>,
    /// Since when they have not, without a break; none = they are not known to be cut off.
    lost_at: Option<Instant>,
    /// When a top-level domain was tried last, unless it answered.
    tried: Option<Instant>,
}

/// What one question about the way out, with all that was asked for it, has found out.
struct Found {
    began: Instant,
    ended: Instant,
    /// None where it was refused.
    has_uplink: Option<bool>,
}

/// What came of such a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    /// That there is no such name, mostly.
    Something,
    Nothing,
    /// Which is about us, or about the question.
    Refused,
}

impl Default for Uplink {
    fn default() -> Self {
        Self { known: Mutex::default(), turn: Semaphore::new(1) }
    }
}

impl Uplink {
    async fn turn(&self) -> SemaphorePermit<'_> {
        self.turn.acquire().await.expect("the semaphore is never closed")
    }
}

impl Known {
    /// The first of these that is to be tried, which it is now.
    fn try_one(&mut self, domains: &VecDeque<Name>, now: Instant) -> Option<Name> {
        let is_due = self.tried.is_none_or(|at| now.duration_since(at) >= TRY_AGAIN);
        if !is_due || self.proven.len() >= PLACES {
            return None;
        }
        let domain = domains.iter().find(|domain| !self.proven.contains(domain))?;
        self.tried = Some(now);
        Some(domain.clone())
    }

    /// The outcome of the last question, if it is still of use to a caller that came then.
    fn found(&self, came: Instant, age: Duration) -> Option<&Found> {
        self.last.as_ref().filter(|found| found.stands(came, age))
    }

    /// What nobody reached for a day was another network: that it was reached says nothing any more.
    fn note(&mut self, found: Found) {
        self.lost_at = match found.has_uplink {
            Some(false) => self.lost_at.or(Some(found.ended)),
            Some(true) | None => None,
        };
        if self.lost_at.is_some_and(|at| found.ended.duration_since(at) >= FORGET) {
            *self = Self::default();
            return;
        }
        self.last = Some(found);
    }
}

impl Found {
    /// Whether it is still of use to a caller that came then. That others were reached held when it
    /// was asked, and may no longer hold: `age` is how long before the caller came that may have
    /// been.
    fn stands(&self, came: Instant, age: Duration) -> bool {
        match self.has_uplink {
            Some(true) => came <= self.began + age,
            Some(false) | None => came < self.ended + LATELY,
        }
    }
}

impl Resolver {
    /// Whether our servers reach others at this moment; none if that cannot be told. Asked at most
    /// once a second, however many want to know, and known within some ten.
    pub async fn has_uplink(&self) -> Option<bool> {
        self.uplink_seen(Duration::ZERO).await
    }

    /// Whether they do, or did a moment ago: for a lookup that failed, which took its time.
    pub(super) async fn had_uplink(&self) -> Option<bool> {
        self.uplink_seen(LATELY).await
    }

    /// A caller that waits while others ask takes the outcome of the next question, as all that
    /// wait do.
    async fn uplink_seen(&self, age: Duration) -> Option<bool> {
        let came = Instant::now();
        let _turn = self.uplink.turn().await;
        let (proven, asked) = {
            let known = self.uplink.known.lock();
            if known.proven.is_empty() {
                return None;
            }
            if let Some(found) = known.found(came, age) {
                return found.has_uplink;
            }
            (known.proven.clone(), known.asked)
        };
        if let Some(asked) = asked {
            sleep_until((asked + APART).into()).await;
        }
        let began = Instant::now();
        self.uplink.known.lock().asked = Some(began);
        let has_uplink = self.reaches_any(&proven).await;
        self.uplink.known.lock().note(Found { began, ended: Instant::now(), has_uplink });
        has_uplink
    }

    /// The top-level domains that are asked beneath: those that others were reached of.
    pub fn proven_domains(&self) -> Vec<Name> {
        self.uplink.known.lock().proven.clone()
    }

    /// Whether our servers live on what they have kept, as far as is known.
    pub fn is_cut_off(&self) -> bool {
        self.uplink.known.lock().lost_at.is_some()
    }

    /// Asks beneath the top-level domains that names were found in, as long as too few have answered:
    /// later, their failure will say something. Where others ask about the way out, not now.
    pub(super) async fn prove_uplink(&self) {
        let Ok(_turn) = self.uplink.turn.try_acquire() else { return };
        let domains = self.heard.lock().domains.clone();
        let domain = self.uplink.known.lock().try_one(&domains, Instant::now());
        let Some(domain) = domain else { return };
        if self.ask_for_nobody(&domain).await != Said::Something {
            // Another one is tried then.
            self.heard.lock().put_last(&domain);
            return;
        }
        tracing::info!(
            %domain,
            "the DNS servers reach others, those of {domain}: once they fail to, nothing that fails \
             here is believed"
        );
        let mut known = self.uplink.known.lock();
        known.tried = None;
        known.proven.push(domain);
    }

    /// Beneath a single domain a name is asked for twice: a datagram may be lost. A server that now
    /// refuses what it answered before, and the root too, has nobody left to ask, or no longer
    /// answers us.
    async fn reaches_any(&self, domains: &[Name]) -> Option<bool> {
        let mut is_refused = false;
        for domain in domains.iter().cycle().take(PLACES) {
            match self.ask_for_nobody(domain).await {
                Said::Something => return Some(true),
                Said::Nothing => {}
                Said::Refused => is_refused = true,
            }
        }
        if is_refused && self.knows_root(Instant::now() + QUESTION).await {
            return None;
        }
        Some(false)
    }

    /// A question of its own kind: neither its answer nor its refusal is about a name that anybody
    /// wants to know.
    async fn ask_for_nobody(&self, domain: &Name) -> Said {
        let label = format!("vedette-{}", Uuid::new_v4().simple());
        let Ok(name) = domain.prepend_label(label) else { return Said::Nothing };
        let asked = self.ask_each(&name, RecordType::A, Validation::Servers, None);
        let Ok(answered) = timeout(QUESTION, asked).await else { return Said::Nothing };
        match &answered.outcome {
            Err(error) if is_refusal(error) => Said::Refused,
            Err(error) if !is_knowledge(error) => Said::Nothing,
            Ok(_) | Err(_) => Said::Something,
        }
    }
}

/// For how long it stands that others are not reached.
const LATELY: Duration = Duration::from_secs(5);
/// Between two questions.
const APART: Duration = Duration::from_secs(1);
/// One question takes no longer: a recursor asks its way down from what it keeps of the domain.
const QUESTION: Duration = Duration::from_secs(3);
/// Top-level domains may be down, too: one is not enough.
const PLACES: usize = 2;
/// After a failed attempt.
const TRY_AGAIN: Duration = Duration::from_secs(60);
/// From then on the network is taken for one that has no way out, where what fails inside must be told;
/// and so for everybody's trouble where it has lost it indeed, while servers keep the root (six days).
const FORGET: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::heard::Heard;

    fn domains<const COUNT: usize>(texts: [&str; COUNT]) -> [Name; COUNT] {
        texts.map(|text| Name::from_ascii(text).expect("a name"))
    }

    fn proven() -> Known {
        Known { proven: domains(["example."]).to_vec(), ..Known::default() }
    }

    /// A question that took two seconds from then on.
    fn found(began: Instant, has_uplink: Option<bool>) -> Found {
        Found { began, ended: began + Duration::from_secs(2), has_uplink }
    }

    #[test]
    fn what_was_reached_before_somebody_came_says_nothing_to_them() {
        let began = Instant::now() + Duration::from_secs(60);
        for (has_uplink, came, age, stands) in [
            (Some(true), 0, 0, true),
            (Some(true), 1, 0, false),
            (Some(true), 5_000, 5, true),
            (Some(true), 5_001, 5, false),
            (Some(false), 6_999, 0, true),
            (Some(false), 7_000, 0, false),
            (None, 6_999, 0, true),
            (None, 7_000, 5, false),
        ] {
            let found = found(began, has_uplink);
            let came = began + Duration::from_millis(came);
            let age = Duration::from_secs(age);
            assert_eq!(found.stands(came, age), stands, "{has_uplink:?} {came:?} {age:?}");
        }
    }

    #[test]
    fn what_was_not_reached_for_a_day_was_not_lost_but_is_elsewhere() {
        let began = Instant::now();
        let hours = |hours: u64| began + Duration::from_secs(3_600 * hours);
        let mut known = proven();
        for (hour, has_uplink) in [(0, false), (23, false), (24, true), (25, false), (48, false)] {
            known.note(found(hours(hour), Some(has_uplink)));
            assert_eq!(known.lost_at.is_some(), !has_uplink, "hour {hour}");
        }
        assert_eq!(known.proven, domains(["example."]));
        known.note(found(hours(49), Some(false)));
        assert!(known.lost_at.is_none() && known.proven.is_empty());
    }

    #[test]
    fn a_refusal_is_no_loss() {
        let mut known = proven();
        for has_uplink in [Some(false), None] {
            known.note(found(Instant::now(), has_uplink));
        }
        assert!(known.lost_at.is_none());
    }

    #[test]
    fn after_an_attempt_in_vain_it_is_another_ones_turn_a_minute_later() {
        let (mut known, now) = (proven(), Instant::now());
        let [example, down, test] = domains(["example.", "down.", "test."]);
        let mut heard = Heard::default();
        heard.domains.extend([example.clone(), down.clone(), test.clone()]);
        assert_eq!(known.try_one(&heard.domains, now), Some(down.clone()));
        heard.put_last(&down);
        assert_eq!(known.try_one(&heard.domains, now + Duration::from_secs(59)), None);
        let later = now + Duration::from_secs(60);
        assert_eq!(known.try_one(&heard.domains, later), Some(test.clone()));
        assert_eq!(heard.domains, [example, test, down]);
    }
}
