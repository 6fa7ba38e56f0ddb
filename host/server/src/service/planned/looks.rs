//! One run for all checks that wait to look at the same thing. If many accounts watch one host that
//! hangs, each would otherwise wait for the runs of all others, one after the other.
//!
//! *Invariant:* no check is told what was seen before it waited: none joins a run that has begun.
//! *Invariant:* a check that waits for a run that does not come about gets nothing from it: another
//! one's run begins.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::watch;
use vedette_model::CheckType;
use vedette_sandbox::{Job, Question, Ran, RunError, Sandbox};

/// What a run sees is the same for all that are given this.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Look {
    check_type: CheckType,
    question: Question,
}

/// What a run came to.
pub(super) type Sight = Arc<Result<Ran, RunError>>;

/// The runs that wait to begin.
#[derive(Default)]
pub(super) struct Looks(Waiting);

type Waiting = Arc<Mutex<HashMap<Arc<Look>, watch::Receiver<Stage>>>>;

#[derive(Clone, Debug)]
enum Stage {
    Waits,
    Begun,
    Ended(Sight),
}

/// Which of the waiting checks has the run.
pub(super) enum Part {
    Leads(Lead),
    Follows(Follower),
}

/// The check that runs; if this is dropped before that, another one has to.
pub(super) struct Lead {
    waiting: Waiting,
    look: Arc<Look>,
    stage: watch::Sender<Stage>,
}

/// A check that waits for another one's run.
pub(super) struct Follower(watch::Receiver<Stage>);

/// What became of waiting.
#[derive(Debug)]
pub(super) enum Waited {
    Seen(Sight),
    /// The run did not come about.
    InVain,
    Over,
}

impl Look {
    /// None if what the check sees is for its site alone.
    pub(super) fn of(sandbox: &Sandbox, check_type: &CheckType, job: &Job) -> Option<Arc<Self>> {
        let look = || Self { check_type: check_type.clone(), question: Question::of(job) };
        sandbox.is_alike_for_sites(check_type).then(|| Arc::new(look()))
    }
}

impl Looks {
    /// Joins the checks that wait to look at this; the first of them leads.
    pub(super) fn join(&self, look: &Arc<Look>) -> Part {
        match self.0.lock().entry(Arc::clone(look)) {
            Entry::Occupied(entry) => Part::Follows(Follower(entry.get().clone())),
            Entry::Vacant(entry) => {
                let (stage, seen) = watch::channel(Stage::Waits);
                entry.insert(seen);
                Part::Leads(Lead { waiting: Arc::clone(&self.0), look: Arc::clone(look), stage })
            }
        }
    }
}

impl Lead {
    pub(super) fn is_of(&self, look: Option<&Arc<Look>>) -> bool {
        look == Some(&self.look)
    }

    /// The run begins: a check that comes from now on waits for another.
    pub(super) fn begin(&self) {
        self.close();
        self.stage.send_replace(Stage::Begun);
    }

    /// Tells all that waited.
    pub(super) fn end(self, sight: Sight) {
        self.stage.send_replace(Stage::Ended(sight));
    }

    fn close(&self) {
        let mut waiting = self.waiting.lock();
        let ours = self.stage.subscribe();
        if waiting.get(&self.look).is_some_and(|seen| seen.same_channel(&ours)) {
            waiting.remove(&self.look);
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.close();
    }
}

impl Follower {
    /// Waits until the run has ended; until `over` ends where it has not begun by then.
    pub(super) async fn wait(mut self, over: impl Future<Output = ()>) -> Waited {
        tokio::select! {
            biased;
            begun = self.0.wait_for(|stage| !matches!(stage, Stage::Waits)) => {
                if begun.is_err() {
                    return Waited::InVain;
                }
            }
            () = over => return Waited::Over,
        }
        let ended = self.0.wait_for(|stage| matches!(stage, Stage::Ended(_))).await;
        match ended.as_deref() {
            Ok(Stage::Ended(sight)) => Waited::Seen(Arc::clone(sight)),
            _ => Waited::InVain,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures::{FutureExt, poll};
    use serde_json::json;
    use vedette_model::{Target, Timestamp};
    use vedette_sandbox::egress::Audience;

    use super::*;

    fn look(target: &str) -> Arc<Look> {
        let job = Job {
            run_id: String::new(),
            target: Target::parse(target).expect("a target"),
            port: None,
            connect_to: None,
            config: json!({}),
            omit: Vec::new(),
            now: Timestamp::UNIX_EPOCH,
            audience: Audience::Authenticated,
            site: None,
            watched: true,
        };
        let check_type = "uptime".parse().expect("a check's name");
        Arc::new(Look { check_type, question: Question::of(&job) })
    }

    fn lead(looks: &Looks) -> Lead {
        match looks.join(&look("a.example")) {
            Part::Leads(lead) => lead,
            Part::Follows(_) => panic!("somebody else leads"),
        }
    }

    fn follow(looks: &Looks) -> Follower {
        match looks.join(&look("a.example")) {
            Part::Follows(follower) => follower,
            Part::Leads(_) => panic!("nobody leads"),
        }
    }

    fn sight() -> Sight {
        Arc::new(Err(RunError::Overloaded))
    }

    #[tokio::test]
    async fn who_waited_when_it_began_is_told_and_who_came_later_is_not() {
        let looks = Looks::default();
        let first = lead(&looks);
        let mut waits = Box::pin(follow(&looks).wait(pending()));
        assert!(poll!(&mut waits).is_pending());
        assert!(matches!(looks.join(&look("b.example")), Part::Leads(_)), "something else");
        first.begin();
        let second = lead(&looks);
        let mut later = Box::pin(follow(&looks).wait(pending()));
        let told = sight();
        first.end(Arc::clone(&told));
        let seen = waits.now_or_never();
        assert!(matches!(seen, Some(Waited::Seen(sight)) if Arc::ptr_eq(&sight, &told)));
        assert!(poll!(&mut later).is_pending(), "the end of the first closes nobody else's");
        assert!(matches!(looks.join(&look("a.example")), Part::Follows(_)));
        drop(second);
        assert!(matches!(later.now_or_never(), Some(Waited::InVain)));
        assert!(looks.0.lock().is_empty());
    }

    #[tokio::test]
    async fn time_is_over_only_for_what_has_not_begun() {
        let looks = Looks::default();
        let first = lead(&looks);
        let waits = follow(&looks).wait(ready(()));
        assert!(matches!(waits.now_or_never(), Some(Waited::Over)));
        let mut waits = Box::pin(follow(&looks).wait(ready(())));
        first.begin();
        assert!(poll!(&mut waits).is_pending());
        first.end(sight());
        assert!(matches!(waits.now_or_never(), Some(Waited::Seen(_))));
    }

    #[tokio::test]
    async fn run_that_breaks_off_leaves_nobody_waiting() {
        let looks = Looks::default();
        let first = lead(&looks);
        let mut waits = Box::pin(follow(&looks).wait(pending()));
        first.begin();
        assert!(poll!(&mut waits).is_pending());
        drop(first);
        assert!(matches!(waits.now_or_never(), Some(Waited::InVain)));
    }
}
