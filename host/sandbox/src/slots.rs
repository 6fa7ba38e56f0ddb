//! What may run now: slots of the engine, of the plugin, of the target host. A queue that does not
//! move is overload: it is counted and reported, never waited for endlessly.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use vedette_model::domain_name::Target;

use crate::{
    Job, call::End, egress::Audience, engine::Class, limits::TARGET_RUNS, registry::Plugin,
};

/// Room for so many planned runs at a time, which those of a plugin share, or those of all plugins
/// of an engine. A caller that plans its runs by it, and by [`TARGET_RUNS`], has none of them wait
/// here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlannedRoom {
    /// Of what.
    pub of: Arc<str>,
    pub runs: u32,
}

/// The slots of both engines, and the targets that runs are about.
pub(crate) struct Slots {
    light: Engine,
    heavy: Engine,
    /// Kept apart by who has us look at them.
    targets: Mutex<HashMap<(Target, Who), Arc<Semaphore>>>,
}

/// Runs that may go on at a time. Those that are planned have room of their own, which nobody takes
/// by asking; and of the room for those that somebody asked for, only a part is for people without
/// an account.
pub(crate) struct Runs {
    each: u32,
    planned: Arc<Semaphore>,
    asked: Arc<Semaphore>,
    public: Arc<Semaphore>,
}

/// Who a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Who {
    /// Somebody who watches the target: the run was planned.
    Watcher,
    /// Somebody who asked for it, with an account.
    Account,
    /// The same without one.
    Stranger,
}

struct Engine {
    runs: Runs,
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
/// One in so many of the runs that somebody asked for may be of people without an account.
const PUBLIC_SHARE: u32 = 3;

impl Slots {
    pub(crate) fn new() -> Self {
        Self {
            light: Engine::of(Class::Light),
            heavy: Engine::of(Class::Heavy),
            targets: Mutex::default(),
        }
    }

    /// A turn for a run. Planned runs, accounts and strangers each get at most two connections to a
    /// host, so that probes never look like an attack and strangers cannot block the owner. A check
    /// that asks others about the host does not wait for it.
    pub(crate) async fn run(&self, plugin: &Plugin, job: &Job) -> Result<Turn, End> {
        let who = Who::of(job);
        let target = plugin.grants.reaches_target().then(|| self.target(&job.target, who));
        let room = [&plugin.runs, &self.engine(plugin).runs];
        let room = room.into_iter().flat_map(|runs| runs.queues(who));
        let queues: Vec<_> = target.into_iter().chain(room).collect();
        take(plugin, &queues, plugin.limits.wall + RUN_WAIT).await
    }

    /// What room planned runs of a plugin take: all that they would wait for besides their target.
    pub(crate) fn planned_rooms(&self, plugin: &Plugin) -> Vec<PlannedRoom> {
        let room = |of: String, runs: &Runs| PlannedRoom { of: of.into(), runs: runs.each };
        vec![
            room(format!("the plugin {}", plugin.id), &plugin.runs),
            room(format!("all {} plugins", plugin.class.name()), &self.engine(plugin).runs),
        ]
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

    fn target(&self, target: &Target, who: Who) -> Arc<Semaphore> {
        let mut targets = self.targets.lock();
        if targets.len() >= TARGETS {
            targets.retain(|_, runs| Arc::strong_count(runs) > 1);
        }
        let runs = targets.entry((target.clone(), who));
        Arc::clone(runs.or_insert_with(|| Arc::new(Semaphore::new(TARGET_RUNS as usize))))
    }
}

impl Runs {
    /// So many that are planned, and as many that somebody asked for.
    pub(crate) fn of(each: u32) -> Self {
        let semaphore = |runs: u32| Arc::new(Semaphore::new(runs as usize));
        Self {
            each,
            planned: semaphore(each),
            asked: semaphore(each),
            public: semaphore(each / PUBLIC_SHARE),
        }
    }

    /// What such a run takes a permit of, in this order.
    fn queues(&self, who: Who) -> Vec<Arc<Semaphore>> {
        let queues = match who {
            Who::Watcher => vec![&self.planned],
            Who::Account => vec![&self.asked],
            Who::Stranger => vec![&self.public, &self.asked],
        };
        queues.into_iter().cloned().collect()
    }
}

impl Who {
    fn of(job: &Job) -> Self {
        match (job.watched, job.audience) {
            (true, _) => Self::Watcher,
            (false, Audience::Authenticated) => Self::Account,
            (false, Audience::Public) => Self::Stranger,
        }
    }
}

impl Engine {
    fn of(class: Class) -> Self {
        let room = class.room();
        // One slot of the pool is the gate's.
        let runs = room.slots - room.pure_slots - 1;
        let pure = Arc::new(Semaphore::new(room.pure_slots as usize));
        Self { runs: Runs::of(runs / 2), pure }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The turns of as many such runs as find room.
    fn fill(runs: &Runs, who: Who) -> Vec<Turn> {
        let turn = || {
            let queues = runs.queues(who).into_iter();
            let permits = queues.map(|queue| queue.try_acquire_owned().ok());
            Some(Turn { _permits: permits.collect::<Option<_>>()? })
        };
        std::iter::from_fn(turn).collect()
    }

    #[test]
    fn whoever_asks_takes_no_room_of_what_is_planned_and_strangers_take_a_third_of_what_is_asked() {
        let runs = Runs::of(48);
        let strangers = fill(&runs, Who::Stranger);
        let accounts = fill(&runs, Who::Account);
        let planned = fill(&runs, Who::Watcher);
        assert_eq!([strangers.len(), accounts.len(), planned.len()], [16, 32, 48]);
        drop((strangers, accounts));
        assert_eq!(fill(&runs, Who::Account).len(), 48);
    }

    #[test]
    fn strangers_keep_no_account_from_a_target_and_nobody_who_asks_its_watchers() {
        let slots = Slots::new();
        let target = Target::parse("127.0.0.1").expect("a target");
        let turns = |who| {
            let turns = (0..=TARGET_RUNS).map(|_| slots.target(&target, who).try_acquire_owned());
            turns.filter_map(Result::ok).collect::<Vec<_>>()
        };
        let turns = [Who::Stranger, Who::Account, Who::Watcher].map(turns);
        assert_eq!(turns.map(|turns| turns.len()), [TARGET_RUNS as usize; 3]);
    }

    #[test]
    fn everybody_finds_some_room_in_both_engines() {
        for class in [Class::Light, Class::Heavy] {
            let Engine { runs, .. } = Engine::of(class);
            for who in [Who::Watcher, Who::Account, Who::Stranger] {
                assert!(!fill(&runs, who).is_empty(), "{class:?} {who:?}");
            }
            let planned = fill(&runs, Who::Watcher).len();
            assert_eq!(planned, runs.each as usize, "what whoever plans is told");
        }
    }
}
