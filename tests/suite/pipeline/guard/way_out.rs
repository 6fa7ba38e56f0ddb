//! DNS servers that have lost their way to others, and those that others have lost theirs to.

use std::time::Instant;

use vedette_tests::ResponseCode;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn while_dns_servers_live_on_what_they_have_kept_nobody_is_alerted() {
    let world = World::start().await;
    let dns = &world.lab.dns;
    let pages = open_pages().await;
    let fleet = Fleet::register(&world, &pages, 2, json!({"monitoring_enabled": false})).await;
    let [kept, gone] = &fleet.sites[..] else { panic!("two sites") };
    fleet.run().await;
    world.knows_a_way_out().await;

    // The network is gone: a name that the recursor has kept leads nowhere, of another it knows nothing.
    dns.lose_its_way_out();
    dns.forget(&gone.domain);
    pages.at("/", Script::reset());
    for _ in 0..2 {
        kept.run().await;
        let record = kept.latest().await;
        assert!(is_doubted(&record, "offline"), "{record:#}");
        let body = json!({"domain": gone.domain, "site_id": gone.id});
        let answer = gone.client.post("/check-uptime", body).await;
        let told = refused(&answer, 500, "a check of a name that nobody can look up");
        assert!(told.starts_with("this service's DNS servers are not answering"), "{told}");
    }
    guard_says(&world, "offline", true).await;
    assert_eq!(fleet.alerts().await, [] as [Value; 0]);

    dns.answer(&gone.domain, Reply::address(pages.web().ip()));
    dns.answer_again();
    guard_says(&world, "offline", false).await;
    for _ in 0..2 {
        fleet.run().await;
    }
    assert_eq!(fleet.alerts().await.len(), 2, "they are down by themselves");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_whose_zone_alone_is_broken_is_down_and_strangers_are_asked_seldom() {
    let world = World::start().await;
    let dns = &world.lab.dns;
    let pages = open_pages().await;
    let quiet = json!({"monitoring_enabled": false});
    let fleet = Fleet::register(&world, &pages, 4, quiet).await;
    let [lone, well, first, second] = &fleet.sites[..] else { panic!("four sites") };
    let fail = |site: &Member| dns.answer(&site.domain, Reply::Failure(ResponseCode::ServFail));
    // With nothing else that it knows a name of.
    fail(lone);
    for _ in 0..2 {
        lone.run().await;
    }
    assert_eq!(fleet.alerts().await.len(), 1);
    assert_eq!(dns.asked_for_nobody(), 0);

    well.run().await;
    world.knows_a_way_out().await;
    let (began, before) = (Instant::now(), dns.asked_for_nobody());
    for site in [first, second] {
        fail(site);
    }
    for _ in 0..2 {
        join_all([first, second].map(Member::run)).await;
    }
    assert_eq!(fleet.alerts().await.len(), 3);
    // Once a second; what is not answered in time, as on a busy machine, is asked again.
    let seconds = began.elapsed().as_secs() + 1;
    let asked = dns.asked_for_nobody() - before;
    assert!((1..=4 * seconds as usize).contains(&asked), "{asked} questions in {seconds} s");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_asks_dns_servers_which_have_just_fallen_silent_ends_in_its_time() {
    let world = World::start().await;
    let pages = open_pages().await;
    let fleet = Fleet::register(&world, &pages, 1, json!({"monitoring_enabled": false})).await;
    fleet.run().await;
    world.knows_a_way_out().await;
    world.lab.dns.fall_silent();
    let body = json!({"domain": fleet.sites[0].domain});
    let answer = world.owner.client.post("/check-dns", body).await;
    let told = refused(&answer, 500, "a check that nobody answers");
    assert!(told.starts_with("this service's DNS servers are not answering"), "{told}");
}
