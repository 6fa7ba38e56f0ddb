//! A process that stood still while it waited for an answer.

use std::time::Duration;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_found_that_met_a_standstill_is_not_believed_however_long_that_is_over() {
    let world = World::start().await;
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

    pages.at("/", Script::reset());
    for _ in 0..2 {
        site.run().await;
    }
    assert_eq!(fleet.alerts().await.len(), 1, "it is down by itself");
}

/// From a second on it counts; a good part of the run is left.
const STANDSTILL: Duration = Duration::from_secs(2);
