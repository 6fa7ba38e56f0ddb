//! One call into a guest: a fresh store and instance, its meters, and how it ended.
//!
//! *Invariant:* a store serves one call. A trap, a timeout or a dropped future leaves an instance
//! that must not be entered again, so every call ends with its store being dropped.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use tokio::time::timeout;
use wasmtime::{PoolConcurrencyLimitError, Store, Trap, UpdateDeadline, component::ResourceTable};

use crate::{
    check::Cost,
    error::{PluginError, RunError, Stop},
    host::{Clock, Guest, LogBook, Run},
    limits::{Cpu, HOST_CALL_BYTES, Meter, PURE_WALL, RESOURCES},
    registry::Plugin,
    standstill::LATE,
};

/// The terms of one call.
pub(crate) struct Terms {
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    /// From here on a standstill of our process excuses the guest.
    pub(crate) since: Instant,
    pub(crate) clock: Clock,
    /// Empty in pure calls.
    pub(crate) run_id: String,
    pub(crate) run: Option<Box<Run>>,
}

/// How a call ended, how long the guest waited for the host, and what it used up.
pub(crate) struct Ended<T> {
    pub(crate) answer: Result<T, End>,
    pub(crate) host_time: Duration,
    pub(crate) cost: Cost,
}

/// A call without an answer.
#[derive(Debug)]
pub(crate) enum End {
    Overloaded,
    Stopped { why: Stop, message: String },
}

/// Probes end this much before the call does, so that a plugin can still say that its target did
/// not answer in time.
const GRACE: Duration = Duration::from_millis(250);

impl Terms {
    /// Of a pure call; `at` is the time that the guest reads, in Unix milliseconds.
    pub(crate) fn pure(plugin: &Plugin, at: i64) -> Self {
        Self {
            cpu: plugin.limits.pure_cpu,
            wall: PURE_WALL,
            since: Instant::now(),
            clock: Clock::Fixed(at),
            run_id: String::new(),
            run: None,
        }
    }
}

impl Plugin {
    /// Calls a guest: `work` instantiates it in the store and calls one of its exports.
    pub(crate) async fn enter<T>(
        &self,
        terms: Terms,
        work: impl for<'a> FnOnce(&'a mut Store<Guest>) -> BoxFuture<'a, wasmtime::Result<T>>,
    ) -> Ended<T> {
        let (cpu, wall, since, begun) = (terms.cpu, terms.wall, terms.since, Instant::now());
        let mut store = self.store(terms);
        let answer = match timeout(wall, work(&mut store)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(end(&error, store.data().meter.refused, cpu)),
            Err(_) => {
                let now = Instant::now();
                Err(late(wall, now - begun, self.standstill.was_met(since, now)))
            }
        };
        let guest = store.data_mut();
        let taken = guest.run.as_ref().map(|run| run.budget.taken(&self.limits));
        let (calls, bytes) = taken.unwrap_or_default();
        let (cpu, memory) = (guest.cpu.end(Instant::now()), guest.meter.peak);
        Ended { answer, host_time: guest.host_time, cost: Cost { cpu, memory, calls, bytes } }
    }

    fn store(&self, terms: Terms) -> Store<Guest> {
        let now = Instant::now();
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        let (id, version) = (Arc::clone(&self.id), Arc::clone(&self.version));
        let guest = Guest {
            meter: Meter::new(self.class, self.limits.memory),
            cpu: Cpu::new(terms.cpu, now),
            table,
            log: LogBook::new(id, version, terms.run_id, Arc::clone(&self.secrets)),
            clock: terms.clock,
            deadline: now + terms.wall.saturating_sub(GRACE.min(terms.wall / 20)),
            host_time: Duration::ZERO,
            run: terms.run,
        };
        let mut store = Store::new(&self.engine, guest);
        store.limiter(|guest| &mut guest.meter);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| {
            store.data_mut().cpu.tick(Instant::now())?;
            Ok(UpdateDeadline::Yield(1))
        });
        store.set_hostcall_fuel(HOST_CALL_BYTES);
        store.set_max_component_handles(self.class.room().handles);
        store
    }
}

impl End {
    pub(crate) fn stopped(why: Stop, message: impl Into<String>) -> Self {
        Self::Stopped { why, message: message.into() }
    }
}

impl From<End> for RunError {
    fn from(end: End) -> Self {
        match end {
            End::Overloaded => Self::Overloaded,
            End::Stopped { why, message } => Self::Broken { why, message },
        }
    }
}

impl From<End> for PluginError {
    fn from(end: End) -> Self {
        match end {
            End::Overloaded => Self::Overloaded,
            End::Stopped { why, message } => Self::Broken { why, message },
        }
    }
}

/// What it means that a call of `wall` was over after so long. Where our process stood still
/// meanwhile, or the limit is noticed much too late, that says nothing of the guest.
fn late(wall: Duration, taken: Duration, stood_still: bool) -> End {
    if stood_still || taken >= wall + LATE {
        return End::Overloaded;
    }
    End::stopped(Stop::Wall, over(wall))
}

/// What an error of wasmtime means. The message is the cause alone: a backtrace shows the guest's
/// symbols, and goes to the operator's log.
fn end(error: &wasmtime::Error, memory_refused: bool, cpu: Duration) -> End {
    if error.is::<PoolConcurrencyLimitError>() {
        return End::Overloaded;
    }
    tracing::debug!("a guest was stopped: {error:?}");
    let cause = error.root_cause().to_string();
    match error.downcast_ref::<Stop>() {
        Some(Stop::Cpu) => return End::stopped(Stop::Cpu, over(cpu)),
        Some(stop) => return End::stopped(*stop, cause),
        None => {}
    }
    let why = match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => Stop::Stack,
        // wasmtime has no type for these two.
        _ if cause.contains("fuel allocated for hostcalls") => Stop::HostCall,
        _ if cause.contains("handle limit exceeded") => Stop::HostCall,
        // A guest that is refused memory usually traps on its own right after.
        _ if memory_refused => Stop::Memory,
        _ => Stop::Trap,
    };
    End::Stopped { why, message: cause }
}

fn over(limit: Duration) -> String {
    format!("{} ms are over", limit.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_passed_while_we_stood_still_is_not_the_guests_doing() {
        let wall = Duration::from_secs(30);
        for (taken, stood_still, is_ours) in [
            (30_000, false, false),
            (30_000, true, true),
            (30_900, false, false),
            (31_000, false, true),
            (112_000, true, true),
        ] {
            let end = late(wall, Duration::from_millis(taken), stood_still);
            assert_eq!(matches!(end, End::Overloaded), is_ours, "{taken} ms");
        }
    }
}
