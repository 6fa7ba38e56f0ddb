//! The host's side of a call: what stands behind a guest's imports, and what it may use up.
//!
//! *Invariant:* no future of the network is polled on a guest's stack, which is a small one: a
//! host function spawns its probe on the sandbox's runtime and awaits a handle that aborts it.
//! *Invariant:* dropping the store ends everything that the call has started.
//! *Invariant:* grants and budget are asked before a probe is.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;
use vedette_model::{SiteId, Timestamp, domain_name::Target};
use wasmtime::component::ResourceTable;

use crate::{
    bindings::check::vedette::net::types::NetError,
    egress::{Audience, Egress},
    error::Stop,
    grants::{About, Capabilities},
    limits::{Budget, Cpu, MANY, Meter},
    prober::Prober,
    probes::Reach,
    state::StateStore,
};

mod dns;
mod env;
mod http;
mod log;
pub(crate) mod tcp;
mod tls;
mod x509;

pub(crate) use log::{LogBook, mask};

/// The data of a store: one call into one plugin.
pub(crate) struct Guest {
    pub(crate) meter: Meter,
    pub(crate) cpu: Cpu,
    pub(crate) table: ResourceTable,
    pub(crate) log: LogBook,
    pub(crate) clock: Clock,
    pub(crate) deadline: Instant,
    /// Time spent inside host calls.
    pub(crate) host_time: Duration,
    /// None in pure calls, where nothing that needs it is linked.
    pub(crate) run: Option<Box<Run>>,
}

/// What a guest reads as the time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// From the job's time on.
    Running { from: Timestamp, since: Instant },
    /// A pure call and a replay see no time pass. Unix milliseconds.
    Fixed(i64),
}

/// What a `run` may reach, and what it has used up.
pub(crate) struct Run {
    pub(crate) about: About,
    pub(crate) grants: Arc<Capabilities>,
    pub(crate) budget: Budget,
    /// The job's own `connect-to`, and addresses that were vetted for a host in this run.
    pub(crate) vetted: Vec<(Target, IpAddr)>,
    pub(crate) prober: Prober,
    /// How many bytes were drawn in a run that repeats.
    pub(crate) drawn: u8,
    pub(crate) audience: Audience,
    pub(crate) now: Timestamp,
    pub(crate) runtime: Handle,
    pub(crate) plugin: Arc<str>,
    pub(crate) site: Option<SiteId>,
    pub(crate) state: Arc<dyn StateStore>,
    pub(crate) secrets: Arc<BTreeMap<String, String>>,
}

/// A host function was called that this call has no business with. Linking makes it impossible.
#[derive(Debug, thiserror::Error)]
#[error("a pure call reached for the network or for state")]
struct NotLinked;

impl Guest {
    pub(crate) fn run(&mut self) -> wasmtime::Result<&mut Run> {
        self.run.as_deref_mut().ok_or_else(|| NotLinked.into())
    }

    /// Milliseconds until the call is ended.
    pub(crate) fn time_left(&self) -> u32 {
        let left = self.deadline.saturating_duration_since(Instant::now());
        u32::try_from(left.as_millis()).unwrap_or(u32::MAX)
    }

    /// A probe's own timeout: 0 = what the run has left.
    pub(crate) fn timeout(&self, asked_ms: u32) -> u32 {
        if asked_ms == 0 { self.time_left() } else { asked_ms.min(self.time_left()) }
    }

    /// Asks the prober, the network through the egress layer or a recording, for several answers
    /// at once. Each request was judged on its own: what is not permitted is answered so, and
    /// what the run's budget no longer covers as well. `size` is what an answer brought in.
    async fn ask<Q, A, F>(
        &mut self,
        call: &'static str,
        judged: Vec<Result<Q, NetError>>,
        live: impl FnOnce(Reach, Vec<Q>) -> F,
        size: impl Fn(&A) -> usize,
    ) -> wasmtime::Result<Vec<Result<A, NetError>>>
    where
        Q: Serialize,
        A: Serialize + DeserializeOwned + Send + 'static,
        F: Future<Output = Vec<Result<A, NetError>>> + Send + 'static,
    {
        let refusals: Vec<Option<NetError>> =
            judged.iter().map(|request| request.as_ref().err().cloned()).collect();
        let permitted: Vec<Q> = judged.into_iter().flatten().collect();
        let answers = match self.take(refusals.len(), permitted.len())? {
            Err(spent) => permitted.iter().map(|_| Err(spent.clone())).collect(),
            Ok(()) => self.answers(call, permitted, live).await?,
        };
        let received: usize = answers.iter().flatten().map(size).sum();
        self.run()?.budget.spend_bytes(received);
        let mut answers = answers.into_iter();
        let merged = refusals.into_iter().map(|refusal| match refusal {
            Some(refusal) => Err(refusal),
            None => answers.next().unwrap_or(Err(NetError::BudgetExhausted)),
        });
        Ok(merged.collect())
    }

    fn take(&mut self, items: usize, calls: usize) -> wasmtime::Result<Result<(), NetError>> {
        if items > MANY {
            return Ok(Err(NetError::Protocol(format!("at most {MANY} items in one call"))));
        }
        let taken = self.run()?.budget.take_calls(calls);
        Ok(if taken { Ok(()) } else { Err(NetError::BudgetExhausted) })
    }

    async fn answers<Q, A, F>(
        &mut self,
        call: &'static str,
        requests: Vec<Q>,
        live: impl FnOnce(Reach, Vec<Q>) -> F,
    ) -> wasmtime::Result<Vec<Result<A, NetError>>>
    where
        Q: Serialize,
        A: Serialize + DeserializeOwned + Send + 'static,
        F: Future<Output = Vec<Result<A, NetError>>> + Send + 'static,
    {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let deadline = self.deadline;
        let run = self.run()?;
        match &run.prober {
            Prober::Recorded(recording) => {
                let recording = Arc::clone(recording);
                let left = self.leave()?;
                let answers = requests.iter().map(|request| recording.answer(call, request));
                let answers = answers.collect::<Result<_, _>>();
                self.come_back(left);
                Ok(answers?)
            }
            Prober::Live { egress, recorder } => {
                let (egress, recorder) = (egress.clone(), recorder.clone());
                let reach = run.reach(egress, deadline);
                let Some(recorder) = recorder else {
                    return self.outside(live(reach, requests)).await;
                };
                let asked: Vec<Value> =
                    requests.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
                let answers = self.outside(live(reach, requests)).await?;
                recorder.note(call, asked, &answers)?;
                Ok(answers)
            }
        }
    }

    /// From here on time is the host's: the guest's CPU meter stands.
    fn leave(&mut self) -> wasmtime::Result<Instant> {
        let left = Instant::now();
        self.cpu.pause(left)?;
        Ok(left)
    }

    fn come_back(&mut self, left: Instant) {
        let back = Instant::now();
        self.cpu.resume(back);
        self.host_time += back - left;
    }

    /// Has `work` done on the sandbox's runtime while the guest waits; the guest's CPU meter stands.
    pub(crate) async fn outside<T, F>(&mut self, work: F) -> wasmtime::Result<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let left = self.leave()?;
        let task = self.run()?.runtime.spawn(work);
        let done = AbortOnDropHandle::new(task).await;
        self.come_back(left);
        // A probe that panicked is a bug of ours; the run ends and the process goes on.
        done.map_err(|error| {
            tracing::error!("a probe panicked: {error}");
            wasmtime::Error::from(Stop::Trap)
        })
    }
}

impl Run {
    /// How far its probes reach.
    pub(crate) fn reach(&self, egress: Egress, deadline: Instant) -> Reach {
        let configured = self.about.operators(&self.grants.configured);
        Reach { egress, audience: self.audience, deadline, now: self.now, configured }
    }

    /// Whether `connect_to` may replace the resolution of `host`: only the job's own, or an
    /// address that this run has seen vetted for that host.
    pub(crate) fn permit_connect_to(
        &self,
        host: &Target,
        connect_to: Option<&str>,
    ) -> Result<(), NetError> {
        let Some(text) = connect_to else {
            return Ok(());
        };
        let known = text.parse().is_ok_and(|address: IpAddr| {
            self.vetted.iter().any(|(vetted, at)| vetted == host && *at == address)
        });
        if known {
            return Ok(());
        }
        Err(NetError::NotPermitted(format!(
            "connect-to {text} was not vetted for {host} in this run"
        )))
    }

    /// Remembers the address that a probe of `host` reached.
    pub(crate) fn reached(&mut self, host: &Target, peer: &str) {
        if let Ok(address) = peer.parse()
            && !self.vetted.iter().any(|(known, at)| known == host && *at == address)
        {
            self.vetted.push((host.clone(), address));
        }
    }
}

impl Clock {
    /// Unix milliseconds.
    pub(crate) fn now(self) -> i64 {
        match self {
            Self::Fixed(at) => at,
            Self::Running { from, since } => {
                let passed = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
                from.timestamp_millis().saturating_add(passed)
            }
        }
    }
}

/// Parses the host of a request: canonical, or refused before anything is asked. What a run is
/// about may have one label.
fn host(text: &str) -> Result<Target, NetError> {
    Target::parse_local(text)
        .map_err(|invalid| NetError::Protocol(format!("the host {}", invalid.reason)))
}

/// A place to connect to. Port 0 the kernel would refuse, as if the target had.
fn place(host_name: &str, port: u16) -> Result<Target, NetError> {
    if port == 0 {
        return Err(NetError::Protocol("the port must be between 1 and 65535".to_owned()));
    }
    host(host_name)
}

/// The one answer to one request.
fn only<A>(mut answers: Vec<Result<A, NetError>>) -> Result<A, NetError> {
    answers.pop().unwrap_or(Err(NetError::BudgetExhausted))
}
