//! Who may run now: slots of the engine, of the plugin, of the target host. A queue that does not
//! move is overload, counted and told, never waited for without end.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use vedette_model::domain_name::Target;

use crate::{Job, call::End, engine::Class, limits::TARGET_RUNS, registry::Plugin};

/// The slots of both engines, and the targets that runs are about.
pub(crate) struct Slots {
    light: Engine,
    heavy: Engine,
    /// Apart for runs that are planned and for those that somebody asked for.
    targets: Mutex<HashMap<(Target, bool), Arc<Semaphore>>>,
}

struct Engine {
    runs: Arc<Semaphore>,
    pure: Arc<Semaphore>,
}

/// A turn; dropping it makes room.
pub(crate) struct Turn {
    _permits: Vec<OwnedSemaphorePermit>,
}

/// How long a pure call waits: it is done within milliseconds, so is the one before it.
const PURE_WAIT: Duration = Duration::from_secs(5);
/// How long a run waits beyond the wall clock of the run before it.
const RUN_WAIT: Duration = Duration::from_secs(5);
/// Targets without a run are forgotten once there are this many.
const TARGETS: usize = 4096;

impl Slots {
    pub(crate) fn new() -> Self {
        Self {
            light: Engine::of(Class::Light),
            heavy: Engine::of(Class::Heavy),
            targets: Mutex::default(),
        }
    }

    /// A turn for a run: of those that are planned and of those that somebody asked for, at most two
    /// each connect to one target host at a time, so that no target takes our probes for an attack,
    /// and nobody who asks keeps its owner's runs from it. Who asks others about it does not wait
    /// for it.
    pub(crate) async fn run(&self, plugin: &Plugin, job: &Job) -> Result<Turn, End> {
        let target = plugin.grants.reaches_target().then(|| self.target(job));
        let room = [Arc::clone(&plugin.runs), Arc::clone(&self.engine(plugin).runs)];
        let queues: Vec<_> = target.into_iter().chain(room).collect();
        take(plugin, &queues, plugin.limits.wall + RUN_WAIT).await
    }

    /// A turn for a pure call.
    pub(crate) async fn pure(&self, plugin: &Plugin) -> Result<Turn, End> {
        take(plugin, &[Arc::clone(&self.engine(plugin).pure)], PURE_WAIT).await
    }

    fn engine(&self, plugin: &Plugin) -> &Engine {
        match plugin.class {
            Class::Light => &self.light,
            Class::Heavy => &self.heavy,
        }
    }

    fn target(&self, job: &Job) -> Arc<Semaphore> {
        let mut targets = self.targets.lock();
        if targets.len() >= TARGETS {
            targets.retain(|_, runs| Arc::strong_count(runs) > 1);
        }
        let runs = targets.entry((job.target.clone(), job.watched));
        Arc::clone(runs.or_insert_with(|| Arc::new(Semaphore::new(TARGET_RUNS as usize))))
    }
}

impl Engine {
    fn of(class: Class) -> Self {
        let room = class.room();
        let semaphore = |slots: u32| Arc::new(Semaphore::new(slots as usize));
        // One slot of the pool is the gate's.
        Self { runs: semaphore(room.slots - room.pure_slots - 1), pure: semaphore(room.pure_slots) }
    }
}

/// Takes a permit of every queue, always in the same order.
async fn take(plugin: &Plugin, queues: &[Arc<Semaphore>], patience: Duration) -> Result<Turn, End> {
    let all = async {
        let mut permits = Vec::with_capacity(queues.len());
        for queue in queues {
            let permit = Arc::clone(queue).acquire_owned().await;
            permits.push(permit.expect("these semaphores are never closed"));
        }
        Turn { _permits: permits }
    };
    timeout(patience, all).await.map_err(|_| {
        metrics::counter!("vedette_plugin_overloaded_total", "plugin" => plugin.id.to_string())
            .increment(1);
        End::Overloaded
    })
}
