//! Runs that somebody asked for and that are under way: a call that asks for the same meanwhile
//! gets the same answer, so that a crowd costs its target one look, and takes one place there.
//!
//! *Invariant:* a run is shared while it goes on, never once it has ended; its entry goes with it,
//! however it ends.
//! *Invariant:* a run goes on as long as one of the calls that wait for it does.

use std::{collections::HashMap, net::IpAddr, sync::Arc};

use futures::future::{BoxFuture, FutureExt, Shared, WeakShared};
use parking_lot::Mutex;
use serde_json::Value;
use vedette_model::{CheckType, domain_name::Target};

use crate::{Job, Ran, RunError, Sandbox, egress::Audience, prober::Prober};

/// A run that several may wait for.
pub(crate) type SharedRun = Shared<Work>;

type Work = BoxFuture<'static, Ending>;
/// None where the run panicked.
type Ending = Option<Result<Ran, RunError>>;

/// The runs of one version of a check that are under way.
#[derive(Clone, Default)]
pub(crate) struct Underway(Arc<Mutex<Runs>>);

#[derive(Default)]
struct Runs {
    /// How many there were: the number of the latest.
    begun: u64,
    asked: HashMap<Question, (u64, WeakShared<Work>)>,
}

/// What two jobs have in common that one run answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    target: Target,
    port: Option<u16>,
    connect_to: Option<IpAddr>,
    config: Value,
    omit: Vec<String>,
    /// What may be reached depends on it.
    audience: Audience,
}

/// Where calls find a run. It is part of the work, and gone with it.
struct Entry {
    underway: Underway,
    question: Question,
    number: u64,
}

impl Question {
    /// What a job asks, whomever it is for.
    pub fn of(job: &Job) -> Self {
        // Named one by one, so that a new field has to be decided on here.
        let Job {
            run_id: _,
            target,
            port,
            connect_to,
            config,
            omit,
            now: _,
            audience,
            site: _,
            watched: _,
        } = job;
        Self {
            target: target.clone(),
            port: *port,
            connect_to: *connect_to,
            config: config.clone(),
            omit: omit.clone(),
            audience: *audience,
        }
    }

    /// The same; none if a call that comes while it runs must not share it. A site's run has the
    /// state that its plugin keeps for that site, and what it sees is evidence: told twice, one
    /// look at trouble would pass for the second one that confirms it.
    pub(crate) fn of_anybody(job: &Job) -> Option<Self> {
        (job.site.is_none() && !job.watched).then(|| Self::of(job))
    }
}

impl Sandbox {
    /// The run that answers a question: the one that is under way, else one of the job's own.
    pub(crate) fn join(
        &self,
        check_type: &CheckType,
        question: Question,
        job: Job,
        prober: Prober,
    ) -> Result<SharedRun, RunError> {
        let check = self.inner.registry.check(check_type).ok_or(RunError::NotInstalled)?;
        let (inner, running) = (Arc::clone(&self.inner), Arc::clone(&check));
        let run = check.underway.join(question, |entry| {
            Box::pin(async move {
                let host = Arc::clone(&inner);
                let task = host.runtime.start(async move {
                    let _entry = entry;
                    inner.run(&running, job, prober).await
                });
                task.await.ok()
            })
        });
        Ok(run)
    }
}

impl Underway {
    /// What `begin` makes does not begin before it is waited for.
    fn join(&self, question: Question, begin: impl FnOnce(Entry) -> Work) -> SharedRun {
        let mut runs = self.0.lock();
        if let Some(run) = runs.asked.get(&question).and_then(|(_, run)| run.upgrade()) {
            metrics::counter!("vedette_runs_shared_total").increment(1);
            return run;
        }
        runs.begun += 1;
        let number = runs.begun;
        let entry = Entry { underway: self.clone(), question: question.clone(), number };
        let run = begin(entry).shared();
        let found = run.downgrade().expect("nobody has waited for it yet");
        runs.asked.insert(question, (number, found));
        run
    }
}

impl Drop for Entry {
    /// A run that everybody left ends a little later, when another may have its place already.
    fn drop(&mut self) {
        let mut runs = self.underway.0.lock();
        if runs.asked.get(&self.question).is_some_and(|(number, _)| *number == self.number) {
            runs.asked.remove(&self.question);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use serde_json::json;
    use tokio::sync::oneshot;
    use uuid::Uuid;
    use vedette_model::{SiteId, Timestamp};

    use super::*;

    fn job() -> Job {
        Job {
            run_id: "one".to_owned(),
            target: Target::parse("example.com").expect("a target"),
            port: None,
            connect_to: None,
            config: json!({}),
            omit: Vec::new(),
            now: Timestamp::UNIX_EPOCH,
            audience: Audience::Authenticated,
            site: None,
            watched: false,
        }
    }

    fn question() -> Question {
        Question::of_anybody(&job()).expect("nobody's in particular")
    }

    /// Goes on for as long as somebody waits.
    fn endless(entry: Entry) -> Work {
        Box::pin(async move {
            let _entry = entry;
            pending::<Ending>().await
        })
    }

    fn one_is_under_way(_: Entry) -> Work {
        panic!("another run began")
    }

    #[test]
    fn jobs_that_may_see_something_else_are_questions_of_their_own() {
        let address = "192.0.2.1".parse().expect("an address");
        let others = [
            Job { target: Target::parse("example.org").expect("a target"), ..job() },
            Job { port: Some(8443), ..job() },
            Job { connect_to: Some(address), ..job() },
            Job { config: json!({"depth": 2}), ..job() },
            Job { omit: vec!["hsts".to_owned()], ..job() },
            Job { audience: Audience::Public, ..job() },
        ];
        for other in others {
            assert_ne!(Question::of_anybody(&other), Some(question()), "{other:?}");
        }
        let later = Job { run_id: "two".to_owned(), now: Timestamp::MAX_UTC, ..job() };
        assert_eq!(Question::of_anybody(&later), Some(question()));
    }

    #[test]
    fn what_a_site_is_judged_by_is_not_shared() {
        let site = Some(SiteId(Uuid::from_u128(1)));
        for evidence in [Job { site, ..job() }, Job { watched: true, ..job() }] {
            assert_eq!(Question::of_anybody(&evidence), None);
        }
    }

    #[tokio::test]
    async fn a_run_is_shared_until_it_ends_whoever_began_it() {
        let underway = Underway::default();
        let (end, ended) = oneshot::channel();
        let first = underway.join(question(), |entry| {
            Box::pin(async move {
                let _entry = entry;
                ended.await.ok()
            })
        });
        let second = underway.join(question(), one_is_under_way);
        drop(first);
        let third = underway.join(question(), one_is_under_way);
        end.send(Err(RunError::Overloaded)).expect("two still wait");
        assert_eq!(second.await, Some(Err(RunError::Overloaded)));
        // Its answer is there for the calls that waited, and for none that comes now.
        let after = underway.join(question(), endless);
        assert!(!after.ptr_eq(&third));
        assert_eq!(third.await, Some(Err(RunError::Overloaded)));
    }

    #[test]
    fn a_run_that_everybody_left_leaves_nothing_behind() {
        let underway = Underway::default();
        drop(underway.join(question(), endless));
        assert!(underway.0.lock().asked.is_empty());
    }

    #[test]
    fn a_run_that_ends_late_leaves_the_entry_of_the_next_alone() {
        let underway = Underway::default();
        let mut late = None;
        drop(underway.join(question(), |entry| {
            late = Some(entry);
            Box::pin(pending::<Ending>())
        }));
        let next = underway.join(question(), endless);
        drop(late);
        assert!(underway.join(question(), one_is_under_way).ptr_eq(&next));
    }
}
