//! Runs of a check, each from the job to the observation.

use std::{
    collections::BTreeSet,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use vedette_model::{CheckType, Observation, domain_name::Target};

use crate::{
    Sandbox, accept,
    bindings::check::exports::vedette::plugin::checker as wit,
    breaker::Subject,
    call::{End, Terms},
    check::{CheckVersion, Job, Ran},
    egress::{Egress, NetError, code},
    error::{RunError, Stop},
    grants::About,
    host::{Clock, Run, mask},
    limits::Budget,
    output::reason,
    prober::{Prober, Recorder, Recording},
    registry::Check,
    sandbox::Inner,
    underway::Question,
};

impl Sandbox {
    /// Runs a check. A job that is no site's shares the run of another that asks the same and goes
    /// on at this moment, and its ending.
    pub async fn run(&self, check_type: &CheckType, job: Job) -> Result<Ran, RunError> {
        let prober = Prober::Live { egress: self.inner.egress.clone(), recorder: None };
        let Some(question) = Question::of_anybody(&job) else {
            return self.run_with(check_type, job, prober).await;
        };
        let run = self.join(check_type, question, job, prober)?;
        run.await.expect("the run did not panic; what it said is in the log")
    }

    /// The same, and has the recorder write down what is asked and answered. Random bytes are
    /// those that a replay has: in a run for its author alone, nobody is to guess them.
    pub async fn record(
        &self,
        check_type: &CheckType,
        job: Job,
        recorder: Arc<Recorder>,
    ) -> Result<Ran, RunError> {
        let prober = Prober::Live { egress: self.inner.egress.clone(), recorder: Some(recorder) };
        self.run_with(check_type, job, prober).await
    }

    /// Runs a check without a network: its probes are answered from a recording, and a probe
    /// that is not in it breaks the run. Its clock stands at the job's time.
    pub async fn replay(
        &self,
        check_type: &CheckType,
        job: Job,
        recording: Arc<Recording>,
    ) -> Result<Ran, RunError> {
        self.run_with(check_type, job, Prober::Recorded(recording)).await
    }

    async fn run_with(
        &self,
        check_type: &CheckType,
        job: Job,
        prober: Prober,
    ) -> Result<Ran, RunError> {
        let check = self.inner.registry.check(check_type).ok_or(RunError::NotInstalled)?;
        let inner = Arc::clone(&self.inner);
        self.inner.runtime.run(async move { inner.run(&check, job, prober).await }).await
    }
}

impl Inner {
    /// Runs a check: the schema, a turn, the egress policy, then the plugin.
    pub(crate) async fn run(
        &self,
        check: &Arc<Check>,
        job: Job,
        prober: Prober,
    ) -> Result<Ran, RunError> {
        let problems = check.config.problems(&job.config);
        if !problems.is_empty() {
            return Err(RunError::InvalidConfig(problems));
        }
        let plugin = &check.plugin;
        let _turn = self.slots.run(plugin, &job).await?;
        let started = Instant::now();
        let wall = plugin.limits.wall;
        let vetted = match &prober {
            Prober::Live { egress, recorder } => {
                let reaches = plugin.grants.reaches_target();
                let vetted = match vet(egress, &job, reaches, started + wall).await {
                    Err(RunError::Blocked(_)) if job.watched && reaches => Vec::new(),
                    vetted => vetted?,
                };
                if let Some(recorder) = recorder {
                    recorder.resolved(&vetted);
                }
                vetted
            }
            Prober::Recorded(recording) => {
                job.connect_to.iter().chain(recording.addresses()).copied().collect()
            }
        };
        let about = job.watched.then(|| Subject::of(&job.target.to_string()));
        let begun = plugin.admit(about, started);
        let begun = begun.map_err(|message| End::stopped(Stop::Paused, message))?;
        let terms = Terms {
            cpu: plugin.limits.cpu,
            wall: wall.saturating_sub(started.elapsed()),
            since: started,
            clock: match &prober {
                Prober::Live { .. } => Clock::Running { from: job.now, since: started },
                Prober::Recorded(_) => Clock::Fixed(job.now.timestamp_millis()),
            },
            run_id: job.run_id.clone(),
            run: Some(Box::new(self.reach(check, &job, vetted, prober))),
        };
        let (pre, request) = (check.live.clone(), wit::Job::of(job, &plugin.settings));
        let ended = plugin.enter(terms, move |store| {
            Box::pin(async move {
                let guest = pre.instantiate_async(&mut *store).await?;
                guest.vedette_plugin_checker().call_run(store, &request).await
            })
        });
        let ended = ended.await;
        let outcome = ended.answer.map_err(RunError::from).and_then(|answer| accept(check, answer));
        let stopped = match &outcome {
            Err(RunError::Broken { why, message }) => Some((*why, message.as_str())),
            Ok(_) | Err(_) => None,
        };
        if outcome != Err(RunError::Overloaded) {
            plugin.finish(begun, stopped, Instant::now());
        }
        let observation = outcome?;
        let now = Instant::now();
        Ok(Ran {
            version: CheckVersion::of(check),
            observation,
            duration: now - started,
            host_time: ended.host_time,
            stood_still: plugin.standstill.longest(started, now),
            cost: ended.cost,
        })
    }

    fn reach(&self, check: &Check, job: &Job, vetted: Vec<IpAddr>, prober: Prober) -> Run {
        let plugin = &check.plugin;
        let about = About { target: job.target.clone(), port: job.port, mx: BTreeSet::new() };
        let vetted = vetted.into_iter().map(|address| (job.target.clone(), address));
        Run {
            about,
            grants: Arc::clone(&plugin.grants),
            budget: Budget::new(&plugin.limits),
            vetted: vetted.collect(),
            prober,
            drawn: 0,
            audience: job.audience,
            now: job.now,
            runtime: self.runtime.handle(),
            plugin: Arc::clone(&plugin.id),
            site: job.site,
            state: Arc::clone(&self.state),
            secrets: Arc::clone(&plugin.secrets),
        }
    }
}

/// Asks the egress policy about the target before the plugin starts: a blocked target is the
/// mistake of the person who named it. That a name does not exist is for the plugin to find out and
/// report; if no server can be asked, a plugin that wants to reach the target has nothing to do.
async fn vet(
    egress: &Egress,
    job: &Job,
    reaches_target: bool,
    deadline: Instant,
) -> Result<Vec<IpAddr>, RunError> {
    let (policy, audience) = (egress.policy(), job.audience);
    let blocked = |refusal: &dyn std::fmt::Display| RunError::Blocked(refusal.to_string());
    policy.vet_target(&job.target, audience).map_err(|refusal| blocked(&refusal))?;
    let target = job.connect_to.map_or_else(|| job.target.clone(), Target::Address);
    let found = if reaches_target {
        egress.resolve(&target, audience, deadline).await
    } else {
        egress.look_up(&target, audience, deadline).await
    };
    let found = match found {
        Ok(found) => found,
        Err(NetError::AddressBlocked(reason) | NetError::NotPermitted(reason)) => {
            return Err(blocked(&reason));
        }
        Err(NetError::Other(kind, why)) if kind == code::RESOLVER_DOWN && reaches_target => {
            return Err(End::stopped(Stop::Failed, why).into());
        }
        Err(_) => return Ok(Vec::new()),
    };
    if !reaches_target {
        return Ok(found);
    }
    // Our own listeners are not blocked as addresses, but as sockets.
    let port = job.port.unwrap_or(443);
    let mut vetted = Vec::with_capacity(found.len());
    let mut refused = None;
    for address in found {
        match policy.vet_socket(SocketAddr::new(address, port), audience) {
            Ok(()) => vetted.push(address),
            Err(refusal) => refused = Some(refusal),
        }
    }
    match refused {
        Some(refusal) if vetted.is_empty() => Err(blocked(&refusal)),
        _ => Ok(vetted),
    }
}

fn accept(
    check: &Check,
    answer: Result<wit::Observation, wit::CheckError>,
) -> Result<Observation, RunError> {
    let secrets = &check.plugin.secrets;
    let observed = match answer {
        Ok(observed) => observed,
        Err(wit::CheckError::InvalidConfig(problems)) => {
            let problems = problems.into_iter().map(|mut problem| {
                problem.message = mask(problem.message, secrets);
                problem
            });
            let problems = accept::problems(problems.collect()).map_err(End::from)?;
            return Err(RunError::InvalidConfig(problems));
        }
        Err(wit::CheckError::UnsupportedTarget(said)) => {
            let said = reason(mask(said, secrets));
            let is_blank = said.trim().is_empty();
            let said = if is_blank { NO_SUCH_TARGET.to_owned() } else { said };
            return Err(RunError::UnsupportedTarget(said));
        }
        Err(wit::CheckError::RetryIn(seconds)) => {
            let wait = Duration::from_secs(seconds.into()).clamp(SHORTEST_RETRY, LONGEST_RETRY);
            return Err(RunError::RetryIn(wait));
        }
        Err(wit::CheckError::Failed(said)) => {
            return Err(End::stopped(Stop::Failed, reason(mask(said, secrets))).into());
        }
    };
    accept::observation(observed, &check.descriptor, &check.result, secrets)
        .map_err(|forbidden| End::from(forbidden).into())
}

/// For a plugin that gives no reason.
const NO_SUCH_TARGET: &str = "this check takes no such target";
/// The interval bounds a retry further up, where it is known.
const SHORTEST_RETRY: Duration = Duration::from_secs(5);
const LONGEST_RETRY: Duration = Duration::from_secs(24 * 3600);
