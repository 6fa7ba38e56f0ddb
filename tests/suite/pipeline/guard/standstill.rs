//! A process that stood still while it waited for an answer.

use std::time::Duration;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_found_that_met_a_standstill_is_not_believed_however_long_that_is_over() {
    let late = ("VEDETTE_GUARD_LATE".to_owned(), "2s".to_owned());
    let world = World::with(|settings| settings.environment.push(late)).await;
    let pages = open_pages().await;
    let fleet = Fleet::register(&world, &pages, 1, json!({"monitoring_enabled": false})).await;
    let [site] = &fleet.sites[..] else { panic!("one site") };
    site.run().await;
    let before = pages.asked("/").len();
    pages.at("/", Script::silence());
    let standstill = async {
        until("a request", async || (pages.asked("/").len() > before).then_some(())).await;
        world.service.stand_still(STANDSTILL).await.expect("it goes on");
    };
    // The run waits for ten seconds: what throws its shadow over it is over by then.
    futures::join!(site.run(), standstill);
    let record = site.latest().await;
    assert!(is_doubted(&record, "overloaded"), "{record:#}");

    // A machine that is short of time is late now and then, and what is found then counts for nothing.
    pages.at("/", Script::reset());
    until("it is down by itself", async || {
        site.run().await;
        (fleet.alerts().await.len() == 1).then_some(())
    })
    .await;
}

/// Counts from what is late on; a good part of the run is left.
const STANDSTILL: Duration = Duration::from_secs(3);
