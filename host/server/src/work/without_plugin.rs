//! Tells the operator about checks that are due and that nobody runs. This node does not have their
//! plugin: it is not installed, or the folder or its lock has changed; nor has any node that is at
//! work, or it would have taken them. No run fails then, so nothing else would say so. Also shows
//! whether there is anything to check at all: if not, it is no trouble that no result is stored.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use vedette_model::{AccountId, CheckType, SiteId, Timestamp};
use vedette_store::Error as StoreError;

use crate::{
    App,
    service::{due, site},
};

/// Runs until `shutdown`.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut pace = tokio::time::interval(PACE);
    let mut told = Counts::new();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = pace.tick() => {}
        }
        // Separately: a row that cannot be read must not hide whether there are any.
        match app.store.is_any_check_planned().await {
            Ok(is_any) => {
                metrics::gauge!("vedette_checks_planned").set(if is_any { 1.0 } else { 0.0 });
            }
            Err(cause) => say_unknown("whether any check is planned", &cause),
        }
        match count(&app).await {
            Ok(counts) => told = tell(told, counts),
            Err(cause) => say_unknown("which checks nobody runs", &cause),
        }
    }
}

fn say_unknown(what: &str, cause: &StoreError) {
    if is_told_elsewhere(cause) {
        tracing::debug!("{what} is not known: {cause}");
        return;
    }
    let error = format!("{cause:#?}");
    tracing::error!(
        error,
        "{what} is not known, so nothing warns of it: {cause}; if a row cannot be read, run the \
         version that wrote it, or put the database back from a backup"
    );
}

/// A database that is away fails everything else as well, and one that is busy answers the next time.
fn is_told_elsewhere(cause: &StoreError) -> bool {
    matches!(cause, StoreError::Unavailable(_) | StoreError::Conflict)
}

type Counts = BTreeMap<CheckType, u64>;

/// Of each type that this node does not run, the sites whose check has been due for a while.
async fn count(app: &App) -> Result<Counts, StoreError> {
    let (types, now) = (app.sandbox.check_types(), app.clock.now());
    let mut counts = Counts::new();
    for (check_type, lying) in app.store.left_lying(&types, now - WAITS, MOST).await? {
        let count = waiting(app, &check_type, lying, now).await?;
        counts.insert(check_type, count);
    }
    Ok(counts)
}

/// How many of the sites whose check is left lying wait for it. One that is not monitored in effect
/// waits for nothing: its check is planned anew, as a scheduler with the plugin would do.
async fn waiting(
    app: &App,
    check_type: &CheckType,
    lying: Vec<(AccountId, SiteId)>,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let mut accounts = BTreeMap::<AccountId, Vec<SiteId>>::new();
    for (account, site) in lying {
        accounts.entry(account).or_default().push(site);
    }
    let (mut count, mut anew) = (0, Vec::new());
    for (account, sites) in accounts {
        match site::watched(app, account).await {
            Ok(Some((watched, plan))) => {
                let (wait, idle): (Vec<SiteId>, Vec<SiteId>) =
                    sites.into_iter().partition(|site| watched.contains(site));
                count += wait.len() as u64;
                let regular = |site| (site, due::regular(app, site, check_type, plan, now));
                anew.extend(idle.into_iter().map(regular));
            }
            // Its schedule goes with it.
            Ok(None) => {}
            Err(cause) => {
                tracing::debug!(account_id = %account, "sites of {account} count: {cause}");
                count += sites.len() as u64;
            }
        }
    }
    for some in anew.chunks(BATCH) {
        app.store.plan_anew(check_type, some).await?;
    }
    Ok(count)
}

/// Shows the counts, and says what has begun to be so; answers what is shown from here on.
fn tell(told: Counts, counts: Counts) -> Counts {
    for (check_type, count) in begun(&told, &counts) {
        tracing::error!(
            %check_type,
            count,
            "no node has run the check {check_type} for ten minutes, and {count} sites wait for \
             it: this node does not have its plugin; install it, or see to the node that has it \
             (`vedette plugin list --admin URL` says what is installed, and where from)"
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
/// A check that has been due for this long would have been taken by any node that has its plugin,
/// even one that was restarted meanwhile.
const WAITS: Duration = Duration::from_secs(10 * 60);
/// How many are counted; more would be the same trouble.
const MOST: usize = 1_000;
/// So many are planned anew at once.
const BATCH: usize = 100;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;
    use vedette_model::{DomainName, Site, edition::STANDARD};

    use super::*;
    use crate::{Clock, instance, work::sample::at};

    #[test]
    fn site_that_is_not_monitored_waits_for_nothing() {
        let (clock, hand) = Clock::manual(at(0));
        instance::with_idle_app(instance::config(), clock, |app| async move {
            let owner = instance::owner(&app, &STANDARD).await;
            let body = json!({ "domain": "shop.example" });
            let made = site::create(&app, &owner, &body).await.expect("a good body");
            let pager: CheckType = "pager".parse().expect("a check type");
            for (nth, domain) in [(1, "on.example"), (2, "off.example")] {
                let site = Site {
                    id: SiteId(Uuid::from_u128(nth)),
                    domain: DomainName::parse(domain).expect("a domain"),
                    monitoring_enabled: nth == 1,
                    ..made.clone()
                };
                let due = [(pager.clone(), at(0))];
                app.store.create_site(&site, 9, &due).await.expect("it is written");
            }
            hand.advance(WAITS - Duration::from_secs(1));
            let count = async || count(&app).await.expect("the store answers");
            assert_eq!(count().await, counts(&[("pager", 0)]), "a node may be starting");
            hand.advance(Duration::from_secs(1));
            assert_eq!(count().await, counts(&[("pager", 1)]));
            let lying = app.store.left_lying(&app.sandbox.check_types(), at(0), MOST).await;
            let on = vec![(owner.account.id, SiteId(Uuid::from_u128(1)))];
            assert_eq!(lying.expect("the store answers"), [(pager, on)]);
        });
    }

    fn counts(counts: &[(&str, u64)]) -> Counts {
        let counts = counts.iter();
        counts.map(|(of, count)| (of.parse().expect("a check type"), *count)).collect()
    }

    #[test]
    fn row_that_cannot_be_read_is_told_here_and_a_database_that_is_away_elsewhere() {
        let reason = || "x".to_owned();
        for (cause, expected) in [
            (StoreError::Unavailable(reason()), true),
            (StoreError::Conflict, true),
            (StoreError::Corrupt { what: "check type", reason: reason() }, false),
            (StoreError::Engine(reason()), false),
        ] {
            assert_eq!(is_told_elsewhere(&cause), expected, "{cause}");
        }
    }

    #[test]
    fn what_nobody_runs_is_told_when_it_begins() {
        let before = counts(&[("banner", 2), ("pager", 0)]);
        let now = counts(&[("banner", 3), ("pager", 1), ("smtp", 4), ("quiet", 0)]);
        let begun: Counts = begun(&before, &now).into_iter().collect();
        assert_eq!(begun, counts(&[("pager", 1), ("smtp", 4)]));
    }

    #[test]
    fn what_is_run_again_is_shown_as_none() {
        let before = counts(&[("banner", 2), ("pager", 1)]);
        let expected = counts(&[("banner", 0), ("pager", 3), ("smtp", 1)]);
        assert_eq!(shown(before, counts(&[("pager", 3), ("smtp", 1)])), expected);
    }
}
