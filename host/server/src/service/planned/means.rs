//! How a check comes to its result: by a run of its own, or by that of another one that looks at
//! the same.

use std::{pin::pin, sync::Arc};

use vedette_model::{CheckType, Timestamp};
use vedette_sandbox::Job;

use super::{
    Turn,
    busy::Rank,
    looks::{Lead, Look, Part, Sight, Waited},
    places::{Taken, Wanted},
};
use crate::App;

pub(super) enum Means {
    /// A run of its own in these places, for all that wait to look at the same.
    Run(Taken, Option<Lead>),
    /// What another check's run saw, which looked at this.
    Seen(Arc<Look>, Sight),
}

/// What a check goes on with, and since when it could; none where there was nothing until `over` ended.
/// Who waits for a run that has begun waits for its end.
pub(super) async fn wait(
    app: &App,
    wanted: &Wanted,
    look: Option<Arc<Look>>,
    rank: Rank,
    over: impl Future<Output = ()>,
) -> Option<(Means, Timestamp, Turn)> {
    let mut over = pin!(over);
    let lead = loop {
        let Some(look) = &look else { break None };
        match app.planned.looks.join(look) {
            Part::Leads(lead) => break Some(lead),
            Part::Follows(follower) => match follower.wait(over.as_mut()).await {
                Waited::Seen(sight) => {
                    let ready_at = app.clock.now();
                    let means = Means::Seen(Arc::clone(look), sight);
                    return Some((means, ready_at, app.planned.turn().await));
                }
                Waited::InVain => {}
                Waited::Over => return None,
            },
        }
    };
    let room = async {
        let places = app.planned.places.wait(wanted, rank).await;
        let ready_at = app.clock.now();
        (Means::Run(places, lead), ready_at, app.planned.turn().await)
    };
    tokio::select! {
        biased;
        () = over => None,
        room = room => Some(room),
    }
}

impl Means {
    /// What is still of use for what is wanted, and looked at, now: a site may have moved or been
    /// reconfigured.
    pub(super) fn of(self, wanted: &Wanted, look: Option<&Arc<Look>>) -> Option<Self> {
        match self {
            Self::Run(places, lead) => places
                .are_of(wanted)
                .then(|| Self::Run(places, lead.filter(|lead| lead.is_of(look)))),
            Self::Seen(seen, sight) => (look == Some(&seen)).then_some(Self::Seen(seen, sight)),
        }
    }

    /// Runs the plugin for all that wait for it, unless another check has; and what is held
    /// meanwhile.
    pub(super) async fn look(
        self,
        app: &App,
        check_type: &CheckType,
        job: Job,
    ) -> (Sight, Option<Taken>) {
        let (places, lead) = match self {
            Self::Run(places, lead) => (places, lead),
            Self::Seen(_, sight) => {
                metrics::counter!("vedette_runs_shared_total").increment(1);
                return (sight, None);
            }
        };
        lead.iter().for_each(Lead::begin);
        let sight = Arc::new(app.sandbox.run(check_type, job).await);
        if let Some(lead) = lead {
            lead.end(Arc::clone(&sight));
        }
        (sight, Some(places))
    }
}
