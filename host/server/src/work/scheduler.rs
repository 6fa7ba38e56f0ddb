//! Runs what is due: lease, run the plugin, hand the result to the pipeline, which also says when
//! the check is due again.
//!
//! *Invariant:* at most two runs ask one host at a time, and of one account only so many go on at
//! a time; what has to wait is given back, so that it is in nobody's way.
//! *Invariant:* a run that tells nothing of its target is `unknown`, and due again like any other.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use moka::future::Cache;
use parking_lot::Mutex;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use vedette_model::{
    Account, AccountId, CheckType, Edition, Plan, Site, SiteId, Source, Target, Timestamp, schedule,
};
use vedette_sandbox::{Job, RunError, egress::Audience};
use vedette_store::Lease;

use super::busy::Busy;
use crate::{
    App, Error, Result,
    service::{
        account, due,
        pipeline::{self, Arrival, Seen},
        run as ending,
    },
};

/// The loop. After `shutdown` it lets runs end and gives back those that do not.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut scheduler = Scheduler::new(app);
    while !shutdown.is_cancelled() {
        scheduler.take_up().await;
        let app = Arc::clone(&scheduler.runner.app);
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = app.wake.schedule.notified() => {}
            () = tokio::time::sleep(POLL) => {}
            Some(ended) = scheduler.runs.join_next_with_id() => scheduler.ended(ended),
        }
        while let Some(ended) = scheduler.runs.try_join_next_with_id() {
            scheduler.ended(ended);
        }
    }
    scheduler.finish().await;
}

struct Scheduler {
    runner: Arc<Runner>,
    runs: JoinSet<()>,
    /// What each run is about.
    leases: HashMap<Id, Lease>,
}

impl Scheduler {
    fn new(app: Arc<App>) -> Self {
        let runner = Runner {
            app,
            hosts: Busy::new(RUNS_PER_HOST),
            accounts: Busy::new(RUNS_PER_ACCOUNT),
            waits: Mutex::default(),
            over_limit: Cache::builder().max_capacity(10_000).time_to_live(KEEP_LIMITS).build(),
        };
        Self { runner: Arc::new(runner), runs: JoinSet::new(), leases: HashMap::new() }
    }

    /// Leases what is due, as far as there is room.
    async fn take_up(&mut self) {
        let app = Arc::clone(&self.runner.app);
        let types = app.sandbox.check_types();
        let mut idle = false;
        while self.runs.len() < MOST_RUNS && !idle {
            let (now, room) = (app.clock.now(), MOST_RUNS - self.runs.len());
            let leased = match app.store.lease_due(&app.node, &types, now, LEASE, room).await {
                Ok(leased) => leased,
                Err(cause) => {
                    tracing::error!(
                        error = format!("{cause:#?}"),
                        "the schedule cannot be read: {cause}"
                    );
                    return;
                }
            };
            idle = leased.is_empty();
            for lease in leased {
                self.start(lease);
            }
        }
        app.pulse.looked(app.clock.now(), idle);
        metrics::gauge!("vedette_runs_in_flight").set(self.runs.len() as f64);
    }

    fn start(&mut self, lease: Lease) {
        let (runner, mine) = (Arc::clone(&self.runner), lease.clone());
        let id = self.runs.spawn(async move { runner.keep(&mine).await }).id();
        self.leases.insert(id, lease);
    }

    fn ended(&mut self, ended: std::result::Result<(Id, ()), JoinError>) {
        let panicked = ended.is_err();
        let id = ended.map_or_else(|cause| cause.id(), |(id, ())| id);
        let Some(lease) = self.leases.remove(&id) else { return };
        if panicked {
            let Lease { site_id, check_type, .. } = lease;
            tracing::error!(
                %site_id, %check_type, "check {check_type} of {site_id} panicked; its lease runs out"
            );
        }
    }

    async fn finish(mut self) {
        let _ = tokio::time::timeout(DRAIN, async {
            while let Some(ended) = self.runs.join_next_with_id().await {
                let id = ended.map_or_else(|cause| cause.id(), |(id, ())| id);
                self.leases.remove(&id);
            }
        })
        .await;
        self.runs.shutdown().await;
        let app = &self.runner.app;
        for (_, lease) in self.leases {
            release(app, &lease, lease.due_at).await;
        }
    }
}

/// What all runs share.
struct Runner {
    app: Arc<App>,
    hosts: Busy<String>,
    accounts: Busy<AccountId>,
    /// How often in a row a check asked to be run later.
    waits: Mutex<HashMap<(SiteId, CheckType), u32>>,
    /// Sites over the limit of a plan, by account and plan: looked up once a minute at most.
    over_limit: Cache<(AccountId, &'static str), Arc<HashSet<SiteId>>>,
}

impl Runner {
    /// Sees to one lease. When our own machinery fails the check is due again soon.
    async fn keep(&self, lease: &Lease) {
        let Err(cause) = self.see_to(lease).await else { return };
        let Lease { site_id, check_type, .. } = lease;
        tracing::error!(
            %site_id, %check_type, error = format!("{cause:#?}"),
            "check {check_type} of {site_id} could not be done: {cause}"
        );
        release(&self.app, lease, self.app.clock.now() + AFTER_ERROR).await;
    }

    async fn see_to(&self, lease: &Lease) -> Result<()> {
        let Lease { account_id, site_id, check_type, .. } = lease;
        let app = &*self.app;
        let context = app.store.check_context(*account_id, *site_id, check_type).await?;
        // Deleted meanwhile, and its schedule with it.
        let Some(context) = context else { return Ok(()) };
        let (site, plan) = (context.site, account::plan(&context.account)?);
        let now = app.clock.now();
        if !self.is_watched(&context.account, plan, &site).await? {
            let regular = due::regular(app, *site_id, check_type, plan, now);
            release(app, lease, regular).await;
            return Ok(());
        }
        let host = site.domain.as_str().to_owned();
        let places = self.hosts.take(&host).zip(self.accounts.take(account_id));
        let Some(_places) = places else {
            metrics::counter!("vedette_runs_put_off_total").increment(1);
            release(app, lease, now + PUT_OFF).await;
            return Ok(());
        };
        app.pulse.begins(lease.due_at, due::interval(app, check_type, plan), now);
        let edition = account::edition(&context.account)?;
        self.run(lease, &site, plan, job(lease, &site, edition, now)).await
    }

    async fn run(&self, lease: &Lease, site: &Site, plan: &Plan, job: Job) -> Result<()> {
        let (app, check_type) = (&*self.app, &lease.check_type);
        let ran = app.sandbox.run(check_type, job).await;
        let (seen, took) = match ran {
            Ok(ran) => {
                let seen = Seen::Result {
                    result: ran.observation.result,
                    next_run_in_s: ran.observation.next_run_in_s,
                };
                (seen, ran.duration)
            }
            Err(RunError::RetryIn(wait)) if self.may_wait(lease) => {
                let interval = due::interval(app, check_type, plan);
                let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX);
                let at = app.clock.now() + schedule::wait_of(seconds, interval);
                release(app, lease, at).await;
                return Ok(());
            }
            Err(cause) => {
                ending::report(check_type, site.domain.as_str(), &cause);
                (Seen::Unknown(ending::token(&cause)), Duration::ZERO)
            }
        };
        self.waits.lock().remove(&(lease.site_id, check_type.clone()));
        self.submit(lease, seen, took).await
    }

    async fn submit(&self, lease: &Lease, seen: Seen, took: Duration) -> Result<()> {
        let told = matches!(seen, Seen::Result { .. });
        let checked_at = self.app.clock.now();
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
            source: Source::Scheduler,
            lease: Some(lease.clone()),
        };
        if pipeline::submit(&self.app, arrival).await?.is_some() && told {
            self.app.pulse.checked(checked_at);
        }
        Ok(())
    }

    /// Whether the site is monitored in effect: switched on, and within the plan's limit.
    async fn is_watched(
        &self,
        account: &Account,
        plan: &'static Plan,
        site: &Site,
    ) -> Result<bool> {
        if !site.monitoring_enabled {
            return Ok(false);
        }
        let over = self.over_limit.try_get_with((account.id, plan.id), async {
            let sites = self.app.store.sites(account.id).await?;
            let over = sites.iter().skip(plan.sites as usize).map(|site| site.id);
            Ok::<_, vedette_store::Error>(Arc::new(over.collect::<HashSet<_>>()))
        });
        let over = over.await.map_err(|cause| Error::Internal(anyhow::anyhow!(cause)))?;
        Ok(!over.contains(&site.id))
    }

    /// Counts a wish to be run later; three in a row are granted.
    fn may_wait(&self, lease: &Lease) -> bool {
        let mut waits = self.waits.lock();
        let count = waits.entry((lease.site_id, lease.check_type.clone())).or_default();
        *count += 1;
        *count <= MOST_WAITS
    }
}

fn job(lease: &Lease, site: &Site, edition: &Edition, now: Timestamp) -> Job {
    Job {
        run_id: format!("{}-{}-{}", lease.site_id, lease.check_type, lease.epoch),
        target: Target::Name(site.domain.clone()),
        port: site.custom_port,
        connect_to: site.origin_ip,
        config: site.config_of(&lease.check_type),
        omit: edition.omitted(),
        now,
        audience: Audience::Authenticated,
        site: Some(site.id),
    }
}

/// Gives a check back unrun.
async fn release(app: &App, lease: &Lease, due_at: Timestamp) {
    if let Err(cause) = app.store.release_lease(lease, due_at).await {
        let Lease { site_id, check_type, .. } = lease;
        tracing::warn!(
            %site_id, %check_type,
            "check {check_type} of {site_id} stays leased until its lease ends: {cause}"
        );
    }
}

/// Longer than a run waits for a turn and then takes, together with the commit.
const LEASE: Duration = Duration::from_secs(90);
/// Fewer than the sandbox has slots for one plugin: checks on demand find some free.
const MOST_RUNS: usize = 48;
/// No target is to take our probes for an attack.
const RUNS_PER_HOST: u32 = 2;
const RUNS_PER_ACCOUNT: u32 = 16;
/// How often the schedule is looked at without a hint.
const POLL: Duration = Duration::from_millis(500);
const PUT_OFF: Duration = Duration::from_secs(1);
const AFTER_ERROR: Duration = Duration::from_secs(10);
const KEEP_LIMITS: Duration = Duration::from_secs(60);
const MOST_WAITS: u32 = 3;
const DRAIN: Duration = Duration::from_secs(10);
