//! Whether a result that found trouble is believed, or the trouble may be our own
//! (decisions: our own trouble).
//!
//! *Invariant:* what is not believed is stored as `unknown` and looked at again soon
//! ([`super::due`]); nothing is dropped for good.

use vedette_model::{Assessment, CheckState, CheckStatus, Health, Source, guard::Verdict};

use super::{pipeline::Arrival, unanswered::OVERLOADED};
use crate::App;

/// Why the assessment of a result is not believed, as the token of its record. Results that
/// others measured are theirs to believe.
pub(crate) async fn doubt(
    app: &App,
    arrival: &Arrival,
    state: &CheckState,
    assessment: &Assessment,
) -> Option<&'static str> {
    match arrival.source {
        Source::Scheduler | Source::OnDemand | Source::Cron => {}
        Source::Api | Source::Agent => return None,
    }
    let is_down = assessment.health == Health::Down;
    // The guard's own look is from a moment before.
    let answered = is_answered(app, is_news(state, assessment.health)).await;
    let now = app.clock.now();
    let mut guard = app.guard.lock();
    guard.told(arrival.site_id, &arrival.check_type, is_down && state.was_well(), is_down, now);
    if let Some(answered) = answered {
        guard.resolved(answered);
    }
    let verdict = guard.verdict(now);
    drop(guard);
    // The guard hears of a standstill that is over, and not of which runs had met it.
    let stood_still = arrival.seen.stood_still() >= app.config.guard.late;
    match (verdict, assessment.health) {
        (_, Health::Ok | Health::Unknown) => None,
        (Verdict::Offline, _) => Some(OFFLINE),
        (Verdict::Overloaded, _) => Some(OVERLOADED),
        (Verdict::Fit | Verdict::HeldBack, _) if stood_still => Some(OVERLOADED),
        (Verdict::HeldBack, Health::Down) => Some(HELD_BACK),
        (Verdict::HeldBack, Health::Degraded) | (Verdict::Fit, _) => None,
    }
}

/// Whether our DNS servers answer us, and not only from what they have kept; none where nothing new is
/// known of them. They are asked for what is `news`, after the run that found it.
async fn is_answered(app: &App, news: bool) -> Option<bool> {
    let resolver = app.sandbox.egress().resolver();
    let has_uplink = if news { resolver.has_uplink().await } else { None };
    // By this very run, perhaps.
    has_uplink.or_else(|| resolver.was_heard_lately().then_some(true))
}

/// Whether it is trouble that would be told if it stays: for what has been told already nobody is asked
/// whether the world is still there.
fn is_news(state: &CheckState, health: Health) -> bool {
    let settled = state.settled.as_ref().and_then(|settled| settled.status);
    match health {
        Health::Down | Health::Degraded => settled != Some(CheckStatus::from(health)),
        Health::Ok | Health::Unknown => false,
    }
}

/// Whether a run that could not work without DNS had none, as far as is known.
pub(crate) fn is_offline(app: &App) -> bool {
    app.sandbox.egress().resolver().is_cut_off() || app.guard.lock().is_offline()
}

/// Our resolvers answered nobody, or only what they had kept.
pub(crate) const OFFLINE: &str = "offline";
/// It came with too many others at once, see [`vedette_model::guard`].
pub(crate) const HELD_BACK: &str = "held_back";
