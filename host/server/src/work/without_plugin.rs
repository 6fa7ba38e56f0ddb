//! Tells the operator of checks that are due and that nobody runs, since no node has their plugin: it is
//! not installed, or the folder or its lock is not what it was. No run fails then, so nothing else
//! would say so. And shows whether anything is to be checked at all: where nothing is, it is no trouble
//! that no result is stored.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use vedette_model::CheckType;
use vedette_store::Result;

use crate::App;

/// Runs until `shutdown`.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut pace = tokio::time::interval(PACE);
    let mut told = Counts::new();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = pace.tick() => {}
        }
        match count(&app).await {
            Ok(planned) => {
                let is_any = if planned.is_empty() { 0.0 } else { 1.0 };
                metrics::gauge!("vedette_checks_planned").set(is_any);
                told = tell(told, not_of(&app.sandbox.check_types(), planned));
            }
            // A database that is away is told of elsewhere.
            Err(cause) => tracing::debug!("checks without a plugin are not known: {cause}"),
        }
    }
}

type Counts = BTreeMap<CheckType, u64>;

/// Of each type that is planned for, the checks that have been due for a while.
async fn count(app: &App) -> Result<Counts> {
    let since = app.clock.now() - WAITS;
    Ok(app.store.left_lying(&[], since, MOST).await?.into_iter().collect())
}

/// Without the types that this node runs: late as their checks may be, they have somebody.
fn not_of(types: &[CheckType], mut counts: Counts) -> Counts {
    counts.retain(|of, _| !types.contains(of));
    counts
}

/// Shows the counts, and says what has begun to be so; answers what is shown from here on.
fn tell(told: Counts, counts: Counts) -> Counts {
    for (check_type, count) in begun(&told, &counts) {
        tracing::error!(
            %check_type,
            count,
            "nobody runs the check {check_type}, which {count} sites wait for: no node has its \
             plugin; `vedette plugin list --admin URL` says what is installed, and where from"
        );
    }
    let shown = shown(told, counts);
    for (check_type, count) in &shown {
        metrics::gauge!("vedette_checks_without_plugin", "check_type" => check_type.to_string())
            .set(*count as f64);
    }
    shown
}

fn begun(told: &Counts, counts: &Counts) -> Vec<(CheckType, u64)> {
    let begun = counts.keys().filter(|of| waits(counts, of) && !waits(told, of));
    begun.map(|of| (of.clone(), counts[of])).collect()
}

fn waits(counts: &Counts, check_type: &CheckType) -> bool {
    counts.get(check_type).is_some_and(|count| *count > 0)
}

/// What was shown once goes back to 0 when its plugin is there, or no site asks for it any more.
fn shown(told: Counts, counts: Counts) -> Counts {
    let over = told.into_keys().map(|check_type| (check_type, 0));
    over.chain(counts).collect()
}

const PACE: Duration = Duration::from_secs(60);
/// A check that is due this long would have been taken by a node that has its plugin.
const WAITS: Duration = Duration::from_secs(2 * 60);
/// So many are counted; more are no other trouble.
const MOST: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counts: &[(&str, u64)]) -> Counts {
        let counts = counts.iter();
        counts.map(|(of, count)| (of.parse().expect("a check type"), *count)).collect()
    }

    #[test]
    fn what_nobody_runs_is_told_when_it_begins() {
        let before = counts(&[("banner", 2), ("pager", 0)]);
        let now = counts(&[("banner", 3), ("pager", 1), ("smtp", 4), ("quiet", 0)]);
        let begun: Counts = begun(&before, &now).into_iter().collect();
        assert_eq!(begun, counts(&[("pager", 1), ("smtp", 4)]));
    }

    #[test]
    fn what_is_late_here_is_not_left_lying() {
        let types: [CheckType; 2] = ["smtp", "ssl"].map(|of| of.parse().expect("a check type"));
        let planned = counts(&[("pager", 1), ("quiet", 0), ("smtp", 4)]);
        assert_eq!(not_of(&types, planned), counts(&[("pager", 1), ("quiet", 0)]));
    }

    #[test]
    fn what_is_run_again_is_shown_as_none() {
        let before = counts(&[("banner", 2), ("pager", 1)]);
        let expected = counts(&[("banner", 0), ("pager", 3), ("smtp", 1)]);
        assert_eq!(shown(before, counts(&[("pager", 3), ("smtp", 1)])), expected);
    }
}
