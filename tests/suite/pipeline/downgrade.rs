//! Who is checked after an account moved to another plan: the oldest sites up to its limit, from
//! the next run on.

use serde_json::json;
use vedette_tests::{RecordType, Reply};

use crate::world::{World, text, until};

/// How often a run of the dns check asks for texts.
const PER_RUN: usize = 2;

async fn move_to(world: &World, plan: &str) {
    let path = format!("/admin/accounts/{}", world.owner.id);
    world.service.operator().patch(&path, json!({"plan": plan})).await.expect(200);
}

/// Registers a site for the dns check, which alone asks for texts; returns the id.
async fn watch(world: &World, domain: &str) -> String {
    world.lab.dns.answer(domain, Reply::address([127, 0, 0, 1].into()));
    let body = json!({"domain": domain, "check_types": ["dns"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    text(&created["site"]["id"])
}

#[tokio::test(flavor = "multi_thread")]
async fn another_plan_and_a_deleted_site_count_from_the_next_run_on() {
    let world = World::with(|settings| settings.toml = "[intervals]\ndns = \"1s\"\n".into()).await;
    let asked = |domain: &str| world.lab.dns.asked(domain, RecordType::TXT);
    let runs = async |domain: &str, count: usize| {
        let enough = asked(domain) + count * PER_RUN;
        until(&format!("{count} runs of {domain}"), async || {
            (asked(domain) >= enough).then_some(())
        })
        .await;
    };
    // What was found out while there were two sites says nothing of the three that follow.
    move_to(&world, "free").await;
    let first = watch(&world, "one.example").await;
    watch(&world, "two.example").await;
    runs("two.example", 2).await;
    move_to(&world, "pro").await;
    watch(&world, "three.example").await;
    runs("three.example", 1).await;

    move_to(&world, "free").await;
    let before = asked("three.example");
    runs("one.example", 8).await;
    // One run may have been under way, and have had to ask again; eight would be as many as before.
    let since = asked("three.example") - before;
    assert!(since < 4 * PER_RUN, "it goes on being checked: {since} questions");

    world.owner.client.delete(&format!("/sites?id={first}")).await.expect(200);
    runs("three.example", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_a_deletion_brings_within_the_limit_is_checked_at_once() {
    let world = World::with(|settings| settings.toml = "[intervals]\ndns = \"1h\"\n".into()).await;
    let first = watch(&world, "one.example").await;
    watch(&world, "two.example").await;
    let third = watch(&world, "three.example").await;
    world.latest("dns", &third, |_| true).await;
    move_to(&world, "free").await;
    // Asking the service would take more calls than the plan has.
    let asked = || world.lab.dns.asked("three.example", RecordType::TXT);
    let before = asked();

    world.owner.client.delete(&format!("/sites?id={first}")).await.expect(200);
    let again = async || (asked() > before).then_some(());
    until("another run of three.example", again).await;
}
