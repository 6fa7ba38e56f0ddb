//! A planned check from its lease to its record. Whoever holds the lease, the scheduler's loop or a
//! call of `POST /cron`, has it run here.
//!
//! lease → the site as it is now → the plugin → [`pipeline`], which also says when the check is due
//! again.
//!
//! *Invariant:* at most two runs connect to one host at a time, and of one account or one plugin, as of
//! the process, only so many go on; at most half of these are of checks that were slow the last time.
//! What has to wait for one of them has no turn meanwhile, and nothing waits in the sandbox; in a
//! process rechecks go first, and then what was planned first. A check that asks others about a host
//! (DNS, registries, logs) does not wait for that host. All who wait to look at the same have one run.
//! *Invariant:* a run that tells nothing of its target is `unknown`; it is due again like any other,
//! or sooner where the trouble was our own.
//! *Invariant:* a check that cannot be done at all, as where its row is damaged, stays planned for when
//! it was: it is the later the longer that lasts, and the log says so.

mod busy;
mod looks;
mod means;
mod memory;
mod over_limit;
mod places;

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use vedette_model::{CheckStatus, Edition, Plan, Site, Source, Target, Timestamp, schedule};
use vedette_sandbox::{Job, Ran, RunError, Stop, egress::Audience};
use vedette_store::Lease;

use self::{
    busy::Rank,
    looks::{Look, Looks, Sight},
    means::Means,
    memory::{Memory, SLOW},
    over_limit::OverLimit,
    places::{Places, Wanted},
};
use super::{
    doubt, due,
    pipeline::{self, Arrival, Seen},
    plan, unanswered,
};
use crate::{App, Result};

/// What all planned runs of a process share.
pub(crate) struct Planned {
    turns: Arc<Semaphore>,
    places: Places,
    looks: Looks,
    /// For those who wait for places.
    seats: Semaphore,
    memory: Memory,
    over_limit: OverLimit,
}

/// The right to have one check run; dropping it makes room for another.
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
}

/// What became of a lease.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    /// The check was run and its record stored, with so many alerts raised.
    Stored { status: CheckStatus, raised: usize },
    /// Our own machinery failed; the check stays planned for when it was, and is tried again.
    Failed,
    /// Nothing was stored and nothing went wrong: the site is gone or is not watched, the check
    /// asked to be run later, or the lease has gone to another owner.
    Nothing,
    /// Its host, its account, its plugin, or checks that were slow the last time, had all their places
    /// in use. The lease is held still.
    PutOff,
}

/// What became of one go at a check.
enum Go {
    Ended(Ending),
    /// Where it found no place, and what it would have looked at.
    Busy(Wanted, Option<Arc<Look>>),
}

impl Planned {
    pub(crate) fn new() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(MOST_RUNS)),
            places: Places::new(),
            looks: Looks::default(),
            seats: Semaphore::new(MOST_WAITING),
            memory: Memory::new(),
            over_limit: OverLimit::new(),
        }
    }

    /// Waits for a turn; who has waited longest has the next.
    pub(crate) async fn turn(&self) -> Turn {
        let permit = Arc::clone(&self.turns).acquire_owned().await;
        Turn { _permit: permit.expect("this semaphore is never closed") }
    }

    /// A turn that nobody waits for.
    pub(crate) fn free_turn(&self) -> Option<Turn> {
        let permit = Arc::clone(&self.turns).try_acquire_owned().ok()?;
        Some(Turn { _permit: permit })
    }

    /// How many runs go on.
    pub(crate) fn in_flight(&self) -> usize {
        MOST_RUNS - self.turns.available_permits()
    }

    /// How many wait for their places, or for the run of another.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        MOST_WAITING - self.seats.available_permits()
    }
}

/// Runs a leased check to its end, for a record with this `source`. Where it finds no place it waits
/// for one without its turn, until `over` ends, and is [`Ending::PutOff`] then. Else the lease is
/// settled or given back. When our own machinery fails the check is late, and is tried again soon,
/// then less and less often.
pub(crate) async fn run(
    app: &App,
    lease: &Lease,
    source: Source,
    turn: Turn,
    over: impl Future<Output = ()>,
) -> Ending {
    // Both runs are boxed, the one before the wait and the one after it: of the thousands of checks that
    // wait none holds the memory of a run meanwhile.
    let (wanted, look) = match Box::pin(go(app, lease, source, None)).await {
        Go::Ended(ending) => return ending,
        Go::Busy(wanted, look) => (wanted, look),
    };
    drop(turn);
    let Ok(_seat) = app.planned.seats.try_acquire() else { return Ending::PutOff };
    let waited = means::wait(app, &wanted, look, Rank::of(lease), over).await;
    let Some((means, ready_at, _turn)) = waited else { return Ending::PutOff };
    match Box::pin(go(app, &Lease { ready_at, ..lease.clone() }, source, Some(means))).await {
        Go::Ended(ending) => ending,
        Go::Busy(..) => Ending::PutOff,
    }
}

async fn go(app: &App, lease: &Lease, source: Source, means: Option<Means>) -> Go {
    let cause = match see_to(app, lease, source, means).await {
        Ok(went) => return went,
        Err(cause) => cause,
    };
    let Lease { site_id, check_type, .. } = lease;
    unanswered::count(check_type, unanswered::NOT_DONE);
    let now = app.clock.now();
    let again = due::after_failure(app, lease);
    let said = format!("check {check_type} of {site_id} could not be done: {cause}");
    if app.planned.memory.is_news(&said) {
        let (late, wait) = (app.pulse.late(lease.due_at, now).as_secs(), again.as_secs());
        tracing::error!(
            %site_id, %check_type, error = format!("{cause:#?}"),
            "{said}; it is {late} s late, and is tried again in {wait} s"
        );
    }
    give_back(app, lease, now + again).await;
    Go::Ended(Ending::Failed)
}

/// Gives a check back unrun, as it was planned, to be taken from `due_at` on.
pub(crate) async fn give_back(app: &App, lease: &Lease, due_at: Timestamp) {
    if let Err(cause) = Box::pin(app.store.put_off_lease(lease, due_at)).await {
        report_held(app, lease, &cause);
    }
}

/// Gives a check back unrun, and plans its run anew, for `due_at`.
async fn plan_anew(app: &App, lease: &Lease, due_at: Timestamp) {
    if let Err(cause) = app.store.release_lease(lease, due_at).await {
        report_held(app, lease, &cause);
    }
}

fn report_held(app: &App, lease: &Lease, cause: &vedette_store::Error) {
    let Lease { site_id, check_type, .. } = lease;
    let said =
        format!("check {check_type} of {site_id} stays leased until its lease ends: {cause}");
    if app.planned.memory.is_news(&said) {
        tracing::warn!(%site_id, %check_type, "{said}");
    }
}

/// After how long a check that waited in vain for its places is tried again.
pub(crate) fn put_off(lease: &Lease) -> Duration {
    schedule::put_off(lease.site_id, &lease.check_type, PUT_OFF)
}

/// By the `means` that were waited for, or in such places as are free.
async fn see_to(app: &App, lease: &Lease, source: Source, means: Option<Means>) -> Result<Go> {
    let Lease { account_id, site_id, check_type, .. } = lease;
    let context = app.store.check_context(*account_id, *site_id, check_type).await?;
    // Deleted meanwhile, and its schedule with it.
    let Some(context) = context else { return Ok(Go::Ended(Ending::Nothing)) };
    let (site, plan) = (context.site, plan::of(&context.account)?);
    let now = app.clock.now();
    if !app.planned.over_limit.is_watched(app, context.stamp, plan, &site).await? {
        let regular = due::regular(app, *site_id, check_type, plan, now);
        plan_anew(app, lease, regular).await;
        return Ok(Go::Ended(Ending::Nothing));
    }
    let job = job(lease, &site, plan::edition_of(&context.account)?, now);
    let wanted = wanted(app, lease, &site);
    let look = || Look::of(&app.sandbox, check_type, &job);
    let means = means.and_then(|means| means.of(&wanted, look().as_ref()));
    let free = || Some(Means::Run(app.planned.places.take(&wanted)?, None));
    let Some(means) = means.or_else(free) else {
        metrics::counter!("vedette_runs_put_off_total").increment(1);
        return Ok(Go::Busy(wanted, look()));
    };
    // A host that is slow, an account or a plugin that has much to run, holds up its own runs alone.
    app.pulse.begins(lease.ready_at, distance(app, lease, plan), now);
    let late = app.pulse.late(lease.due_at, now);
    metrics::histogram!("vedette_run_late_seconds", "check_type" => check_type.to_string())
        .record(late.as_secs_f64());
    let (sight, _places) = means.look(app, check_type, job).await;
    take_in(app, lease, source, &site, plan, sight).await.map(Go::Ended)
}

fn wanted(app: &App, lease: &Lease, site: &Site) -> Wanted {
    let Lease { account_id, check_type, .. } = lease;
    let host = app.sandbox.reaches_target(check_type).then(|| site.domain.as_str().to_owned());
    let is_slow = app.planned.memory.is_slow(lease);
    let rooms = app.sandbox.planned_rooms(check_type);
    Wanted { host, account: *account_id, rooms, is_slow }
}

async fn take_in(
    app: &App,
    lease: &Lease,
    source: Source,
    site: &Site,
    plan: &Plan,
    sight: Sight,
) -> Result<Ending> {
    let check_type = &lease.check_type;
    let pace = pace_of(&sight);
    let (seen, took) = match Arc::unwrap_or_clone(sight) {
        Ok(ran) => {
            let seen = Seen::Result {
                result: ran.observation.result,
                next_run_in_s: ran.observation.next_run_in_s,
                version: Some(ran.version),
                stood_still: ran.stood_still,
            };
            (seen, ran.duration)
        }
        Err(RunError::RetryIn(wait)) if app.planned.memory.may_wait(lease) => {
            let interval = due::interval(app, check_type, plan);
            let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX);
            let at = app.clock.now() + schedule::wait_of(seconds, interval);
            plan_anew(app, lease, at).await;
            return Ok(Ending::Nothing);
        }
        Err(cause) => {
            let offline = doubt::is_offline(app);
            unanswered::report(check_type, site.domain.as_str(), &cause, offline);
            (Seen::Unknown(unanswered::token(&cause, offline)), Duration::ZERO)
        }
    };
    app.planned.memory.has_run(lease);
    let ending = submit(app, lease, source, seen, took).await?;
    // Only now: where the run found trouble, it was asked meanwhile whether we are cut off.
    if let Some(pace) = pace
        && !doubt::is_offline(app)
    {
        app.planned.memory.learn(lease, pace);
    }
    Ok(ending)
}

/// How long a run took that says something of the next one; none where it was kept up by trouble of
/// ours, or did not get to its target.
fn pace_of(ran: &Result<Ran, RunError>) -> Option<Duration> {
    match ran {
        Ok(ran) => ran.stood_still.is_zero().then_some(ran.duration),
        // What hangs until it is stopped is as slow as can be.
        Err(RunError::Broken { why: Stop::Wall, .. }) => Some(SLOW),
        Err(_) => None,
    }
}

async fn submit(
    app: &App,
    lease: &Lease,
    source: Source,
    seen: Seen,
    took: Duration,
) -> Result<Ending> {
    let told = matches!(seen, Seen::Result { .. });
    let checked_at = app.clock.now();
    let check_type = lease.check_type.to_string();
    metrics::histogram!("vedette_run_seconds", "check_type" => check_type)
        .record(took.as_secs_f64());
    let arrival = Arrival {
        account_id: lease.account_id,
        site_id: lease.site_id,
        check_type: lease.check_type.clone(),
        seen,
        checked_at,
        duration: took,
        source,
        lease: Some(lease.clone()),
        looked_at: None,
    };
    let Some(stored) = pipeline::submit(app, arrival).await? else { return Ok(Ending::Nothing) };
    if told {
        app.pulse.checked(checked_at);
    }
    Ok(Ending::Stored { status: stored.record.status, raised: stored.raised })
}

/// How far apart such runs are planned: a recheck follows soon on what it is to confirm.
fn distance(app: &App, lease: &Lease, plan: &Plan) -> Duration {
    let interval = due::interval(app, &lease.check_type, plan);
    if lease.recheck { interval.min(app.config.confirm.recheck) } else { interval }
}

fn job(lease: &Lease, site: &Site, edition: &Edition, now: Timestamp) -> Job {
    Job {
        run_id: format!("{}-{}-{}", lease.site_id, lease.check_type, lease.epoch),
        target: Target::Name(site.domain.clone()),
        port: site.custom_port,
        connect_to: site.origin_ip,
        config: site.config_of(&lease.check_type),
        omit: edition.omitted(&lease.check_type),
        now,
        audience: Audience::Authenticated,
        site: Some(site.id),
        watched: true,
    }
}

/// Longer than a check takes, with half a minute to spare for the database: it waits for its places
/// ([`WAIT`]), and for nothing in the sandbox, runs (30 s at most), may have to ask whether we are cut off
/// (a quarter of a minute), and is judged.
pub(crate) const LEASE: Duration = Duration::from_secs(90);
/// Longer than any lease of a check is, those of `POST /cron` too.
pub(crate) const LONGEST_LEASE: Duration = Duration::from_secs(3 * 60);
/// For how long our own scheduler has a check wait for its places. To give it back and to lease it anew
/// are transactions, for each that waits: not to be done each second.
pub(crate) const WAIT: Duration = Duration::from_secs(15);
/// Before a check that waited in vain is tried again, at least.
const PUT_OFF: Duration = WAIT;
/// At a time, less than two kilobytes each; beyond them a check is given back at once.
const MOST_WAITING: usize = 4096;
/// As many planned runs as the sandbox has room for of one small plugin; checks on demand have their
/// own.
pub(crate) const MOST_RUNS: usize = 48;

#[cfg(test)]
mod tests;
