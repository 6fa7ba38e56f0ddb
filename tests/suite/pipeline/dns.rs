//! `dns.changed`: what is a change, what only looks like one, and how often it has to be seen.

use chrono::TimeDelta;
use serde_json::{Value, json};
use vedette_tests::{RecordType, Reply, ResponseCode, record};

use crate::world::{World, text, time};

const NAME: &str = "watched.example";

/// A site with records of several types, seen once: the silent baseline.
async fn baseline() -> (World, String) {
    let world = World::start().await;
    show(&world, "127.0.0.1", "mx1.example");
    let id = world.quiet(NAME).await;
    world.run("dns", NAME, &id).await;
    assert_eq!(world.alerts_now("dns").await, [] as [Value; 0], "the first run is silent");
    (world, id)
}

fn show(world: &World, address: &str, mail_host: &str) {
    let records = vec![
        record::address(address),
        record::mx(10, mail_host),
        record::ns("ns1.watched.example"),
        record::txt(&[b"v=spf1 -all"]),
    ];
    world.lab.dns.answer(NAME, Reply::Records(records));
}

/// Runs the check so often and answers the open alerts after it.
async fn after(world: &World, id: &str, runs: u32) -> Vec<Value> {
    for _ in 0..runs {
        world.run("dns", NAME, id).await;
    }
    world.alerts_now("dns").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_seen_twice_is_one_alert_with_before_and_after() {
    let (world, id) = baseline().await;
    world.hook().await;
    show(&world, "127.0.0.1", "mx2.example");
    assert_eq!(after(&world, &id, 1).await.len(), 0, "once is not enough");
    let alerts = after(&world, &id, 1).await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    let (alert, message) = (&alerts[0], text(&alerts[0]["message"]));
    assert_eq!((&alert["type"], &alert["severity"]), (&json!("dns"), &json!("warning")));
    assert_eq!(alert["site_id"], json!(id));
    let (before, now) = (message.find("mx1.example"), message.find("mx2.example"));
    assert!(before.is_some() && before < now, "before, then after: {message}");
    assert!(message.contains("MX"), "{message}");

    let told = world.told_of("dns.changed", 1).await;
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0]["domain"], &told[0]["severity"]), (&json!(NAME), &json!("warning")));
    assert_eq!((&told[0]["message"], &told[0]["alert_id"]), (&alert["message"], &alert["id"]));

    assert_eq!(after(&world, &id, 3).await.len(), 1, "the new state is the baseline");
    let path = format!("/alerts?id={}", text(&alert["id"]));
    world.owner.client.patch(&path, json!({"is_resolved": true})).await.expect(200);
    assert_eq!(after(&world, &id, 2).await.len(), 0);
    world.all_delivered().await;
    assert_eq!(world.told(|event| event == "dns.changed").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_waits_for_its_owner_and_the_next_one_is_another() {
    let (world, id) = baseline().await;
    show(&world, "127.0.0.1", "mx2.example");
    after(&world, &id, 2).await;
    show(&world, "127.0.0.1", "mx1.example");
    let alerts = after(&world, &id, 2).await;
    assert_eq!(alerts.len(), 2, "back again is a change too, and resolves nothing: {alerts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_that_goes_back_starts_anew() {
    let (world, id) = baseline().await;
    for _ in 0..3 {
        show(&world, "127.0.0.1", "mx2.example");
        assert_eq!(after(&world, &id, 1).await.len(), 0);
        show(&world, "127.0.0.1", "mx1.example");
        assert_eq!(after(&world, &id, 1).await.len(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_of_record_counts() {
    let (world, id) = baseline().await;
    let changed = [
        ("NS", record::ns("ns2.watched.example")),
        ("TXT", record::txt(&[b"v=spf1 include:mail.example -all"])),
        ("CAA", record::caa(false, "issue", "ca.example")),
    ];
    let dns = &world.lab.dns;
    for (count, (name, data)) in changed.into_iter().enumerate() {
        let record_type: RecordType = name.parse().expect("a type");
        dns.answer_type(NAME, record_type, Reply::Records(vec![data]));
        let alerts = after(&world, &id, 2).await;
        assert_eq!(alerts.len(), count + 1, "{name}: {alerts:?}");
        let said = alerts.iter().any(|alert| text(&alert["message"]).contains(name));
        assert!(said, "{name}: {alerts:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_moved_away_is_a_change() {
    let (world, id) = baseline().await;
    show(&world, "127.0.0.77", "mx1.example");
    let alerts = after(&world, &id, 2).await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    let message = text(&alerts[0]["message"]);
    assert!(message.contains("127.0.0.1") && message.contains("127.0.0.77"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rotation_is_no_change() {
    let (world, id) = baseline().await;
    let sets = [["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "127.0.0.3"], ["127.0.0.3", "127.0.0.1"]];
    let sets = sets.map(|set| Reply::Records(set.map(record::address).to_vec()));
    world.lab.dns.answer_type(NAME, RecordType::A, Reply::Rotation(sets.to_vec()));
    assert_eq!(after(&world, &id, 8).await, [] as [Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_behind_somebody_elses_alias_may_move() {
    let world = World::start().await;
    let dns = &world.lab.dns;
    dns.answer(NAME, Reply::Records(vec![record::cname("pop.cdn.example")]));
    let id = world.quiet(NAME).await;
    for address in ["127.0.0.1", "127.0.1.1", "127.0.2.1"] {
        dns.answer("pop.cdn.example", Reply::Records(vec![record::address(address)]));
        let alerts = after(&world, &id, 3).await;
        let loud: Vec<_> = alerts.iter().filter(|alert| alert["severity"] != "info").collect();
        assert!(loud.is_empty(), "{address}: {loud:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_question_is_no_vanished_record() {
    let (world, id) = baseline().await;
    let dns = &world.lab.dns;
    for failure in [Reply::Failure(ResponseCode::ServFail), Reply::Failure(ResponseCode::Refused)] {
        dns.answer_type(NAME, RecordType::MX, failure);
        assert_eq!(after(&world, &id, 4).await, [] as [Value; 0]);
        let record = world.latest("dns", &id, |_| true).await;
        assert_eq!(record["result"]["failed_types"], json!(["MX"]));
    }
    show(&world, "127.0.0.1", "mx1.example");
    assert_eq!(after(&world, &id, 3).await, [] as [Value; 0], "nothing had changed");

    dns.answer(NAME, Reply::Failure(ResponseCode::ServFail));
    assert_eq!(after(&world, &id, 1).await, [] as [Value; 0], "once is nothing");
    show(&world, "127.0.0.1", "mx1.example");
    assert_eq!(after(&world, &id, 3).await, [] as [Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_always_fails_hides_no_change_of_another() {
    let world = World::start().await;
    let dns = &world.lab.dns;
    // A name for mail alone, whose servers know nothing of IPv6.
    let show = |mail_host: &str, failure| {
        let records = vec![record::mx(10, mail_host), record::ns("ns1.watched.example")];
        dns.answer(NAME, Reply::Records(records));
        dns.answer_type(NAME, RecordType::AAAA, Reply::Failure(failure));
    };
    show("mx1.example", ResponseCode::Refused);
    let id = world.quiet(NAME).await;
    let result = world.run("dns", NAME, &id).await;
    let said = (&result["error"], &result["failed_types"]);
    assert_eq!(said, (&Value::Null, &json!(["AAAA"])), "{result:#}");
    for (count, failure) in (1..).zip([ResponseCode::Refused, ResponseCode::ServFail]) {
        show(&format!("new{count}.example"), failure);
        let alerts = after(&world, &id, 2).await;
        assert_eq!(alerts.len(), count, "{failure}: {alerts:?}");
        assert_eq!(world.latest("dns", &id, |_| true).await["status"], "ok", "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apex_whose_addresses_fail_is_not_well() {
    let (world, id) = baseline().await;
    for (failure, error, status) in [
        (ResponseCode::ServFail, "servfail", "down"),
        (ResponseCode::Refused, "refused", "unknown"),
    ] {
        for record_type in [RecordType::A, RecordType::AAAA] {
            world.lab.dns.answer_type(NAME, record_type, Reply::Failure(failure));
        }
        assert_eq!(after(&world, &id, 2).await, [] as [Value; 0]);
        let record = world.latest("dns", &id, |record| record["status"] == status).await;
        assert_eq!(record["error"], error, "{record:#}");
        assert_eq!(record["result"]["failed_types"], json!(["A", "AAAA"]), "{record:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_vanished_has_to_be_missed_three_times() {
    let (world, id) = baseline().await;
    let dns = &world.lab.dns;
    dns.answer_type(NAME, RecordType::MX, Reply::no_data());
    assert_eq!(after(&world, &id, 2).await, [] as [Value; 0]);
    let alerts = after(&world, &id, 1).await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert!(text(&alerts[0]["message"]).contains("mx1.example"));

    dns.forget(NAME);
    assert_eq!(after(&world, &id, 2).await.len(), 1);
    assert!(after(&world, &id, 1).await.len() >= 2, "the whole name has vanished");
    let record = world.latest("dns", &id, |_| true).await;
    assert_eq!((&record["status"], &record["error"]), (&json!("down"), &json!("nxdomain")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_has_to_last_before_it_is_confirmed() {
    // The next regular run is a day away: only the recheck can confirm.
    let world = World::with(|settings| {
        settings.toml = "[intervals]\ndns = \"24h\"\n[confirm]\nrecheck = \"3s\"\n".into();
    })
    .await;
    let site = world.site("lasting.example", 90).await;
    let body =
        json!({"domain": "lasting.example", "custom_port": site.port(), "check_types": ["dns"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    world.latest("dns", &id, |_| true).await;
    let mail = Reply::Records(vec![record::mx(5, "mail.example")]);
    world.lab.dns.answer_type("lasting.example", RecordType::MX, mail);
    world.run("dns", "lasting.example", &id).await;
    let alert = world.alerts("dns", 1).await.remove(0);
    let page = format!("/checks?site_id={id}&check_type=dns");
    let page = world.owner.client.get(&page).await.expect(200);
    let runs = page["checks"].as_array().expect("a list of records").iter();
    let seen = runs.filter(|run| run["result"].to_string().contains("mail.example"));
    let first = seen.map(|run| time(&run["checked_at"])).min().expect("it was seen");
    let waited = time(&alert["created_at"]) - first;
    assert!(waited >= TimeDelta::seconds(3), "confirmed after {waited}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scheduler_confirms_a_change_by_itself() {
    let world = World::with(|settings| {
        settings.toml = "[intervals]\ndns = \"2s\"\n[confirm]\nrecheck = \"1s\"\n".into();
    })
    .await;
    world.hook().await;
    let site = world.site("planned.example", 90).await;
    let body =
        json!({"domain": "planned.example", "custom_port": site.port(), "check_types": ["dns"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    world.latest("dns", &id, |_| true).await;
    let mail = Reply::Records(vec![record::mx(5, "mail.example")]);
    world.lab.dns.answer_type("planned.example", RecordType::MX, mail);
    let told = world.told_of("dns.changed", 1).await;
    assert_eq!(told[0]["domain"], "planned.example");
    assert!(text(&told[0]["message"]).contains("mail.example"));
    let seen =
        world.latest("dns", &id, |record| record["result"].to_string().contains("mail.example"));
    assert_eq!(seen.await["source"], "scheduler");
}
