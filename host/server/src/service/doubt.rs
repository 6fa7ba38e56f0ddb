//! Whether a result that found trouble is believed, or the trouble may be our own
//! (decisions: our own trouble).
//!
//! *Invariant:* what is not believed is stored as `unknown` and looked at again soon
//! ([`super::due`]); nothing is dropped for good.

use vedette_model::{Assessment, CheckState, Health, SiteId, Source, Timestamp, guard::Verdict};

use crate::App;

/// Why the assessment of a result is not believed, as the token of its record. Results that
/// others measured are theirs to believe.
pub(crate) fn doubt(
    app: &App,
    source: Source,
    site: SiteId,
    state: &CheckState,
    assessment: &Assessment,
    now: Timestamp,
) -> Option<&'static str> {
    match source {
        Source::Scheduler | Source::OnDemand | Source::Cron => {}
        Source::Api | Source::Agent => return None,
    }
    let is_down = assessment.health == Health::Down;
    let mut guard = app.guard.lock();
    guard.told(site, is_down && state.was_well(), is_down, now);
    if app.sandbox.egress().resolver().was_heard_lately() {
        // By this very run, perhaps: the guard's own look is from a moment before.
        guard.resolved(true);
    }
    let verdict = guard.verdict(now);
    drop(guard);
    match (verdict, assessment.health) {
        (Verdict::Fit, _) | (_, Health::Ok | Health::Unknown) => None,
        (Verdict::Offline, _) => Some(OFFLINE),
        (Verdict::Overloaded, _) => Some(super::unanswered::OVERLOADED),
        (Verdict::HeldBack, Health::Down) => Some(HELD_BACK),
        (Verdict::HeldBack, Health::Degraded) => None,
    }
}

/// Our resolvers answered nobody.
pub(crate) const OFFLINE: &str = "offline";
/// It came with too many others at once, see [`vedette_model::guard`].
pub(crate) const HELD_BACK: &str = "held_back";
