//! What one node writes the other answers, at once; what one counts the other counts.

use futures::future::join_all;
use serde_json::json;

use super::{Cluster, PATIENCE, PROGRAMS, until};
use crate::program::{installed, turn};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_on_one_node_is_there_on_the_other_at_once() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let cluster = Cluster::start("").await.expect("the database and two nodes start");
    let (first, second) = (cluster.at(0), cluster.at(1));
    let empty = second.get("/sites").await.expect(200);
    assert_eq!((&empty["sites"], &empty["plan"]), (&json!([]), &json!("pro")));

    let id = cluster.site(json!({"domain": "one.example", "monitoring_enabled": false})).await;
    let listed = second.get("/sites").await.expect(200);
    assert_eq!(listed["sites"][0]["id"], json!(id), "{listed}");
    let change = json!({"alert_days": 30});
    second.patch(&format!("/sites?id={id}"), change).await.expect(200);
    let listed = first.get("/sites").await.expect(200);
    assert_eq!(listed["sites"][0]["alert_days"], json!(30), "{listed}");
    first.delete(&format!("/sites?id={id}")).await.expect(200);
    let listed = second.get("/sites").await.expect(200);
    assert_eq!(listed["sites"], json!([]));

    let made = second.post("/api-keys", json!({"name": "ci"})).await.expect(200);
    let key = made["key"].as_str().expect("a key");
    first.with_key(key).get("/sites").await.expect(200);
    let late = cluster.nodes[1].account("late@example.com", "free").await.expect("an account");
    let listed = cluster.nodes[0].client().with_key(&late.key).get("/sites").await.expect(200);
    assert_eq!(listed["userId"], json!(late.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_know_of_each_other_until_one_is_gone() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let mut cluster = Cluster::start("").await.expect("the database and two nodes start");
    at_work(&cluster, 2).await;
    cluster.nodes[0].kill().await.expect("killed");
    at_work(&cluster, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_and_another_plan_hold_on_the_other_node_from_the_next_request_on() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let cluster = Cluster::start("").await.expect("the database and two nodes start");
    let (first, second) = (cluster.at(0), cluster.at(1));
    let made = first.post("/api-keys", json!({"name": "ci"})).await.expect(200);
    let ci = second.with_key(made["key"].as_str().expect("a key"));
    // Twice: from then on the node knows the key by heart.
    ci.get("/sites").await.expect(200);
    ci.get("/sites").await.expect(200);

    let keys = first.get("/api-keys").await.expect(200)["keys"].clone();
    let keys = keys.as_array().expect("a list");
    let listed = keys.iter().find(|key| key["name"] == "ci").expect("listed");
    let id = listed["id"].as_str().expect("an id");
    let rolled = first.post("/api-keys/roll", json!({"id": id})).await.expect(200);
    ci.get("/sites").await.expect(401);
    let ci = second.with_key(rolled["key"].as_str().expect("a key"));
    ci.get("/sites").await.expect(200);
    first.delete(&format!("/api-keys?id={id}")).await.expect(200);
    ci.get("/sites").await.expect(401);

    // As the store changes a plan; no endpoint does yet.
    let statement = "UPDATE account SET plan = 'starter', stamp += 1";
    cluster.database.ask(statement).await.expect("the row is there");
    let answer = second.get("/sites").await;
    assert_eq!(answer.number("x-monthlylimit-limit"), 2000);
    assert_eq!(answer.expect(200)["plan"], json!("starter"));
    assert_eq!(first.get("/sites").await.expect(200)["plan"], json!("starter"));
}

#[tokio::test(flavor = "multi_thread")]
async fn seven_calls_that_are_left_are_seven_over_both_nodes() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let cluster = Cluster::start("").await.expect("the database and two nodes start");
    let (first, second) = (cluster.at(0), cluster.at(1));
    let answer = first.get("/alerts").await;
    assert_eq!(answer.number("x-monthlylimit-limit"), 10_000);
    // It would take a quarter of an hour to use so many up.
    cluster.database.ask("UPDATE usage SET used = 9992").await.expect("the row is there");
    let answer = second.get("/alerts").await;
    assert_eq!(answer.number("x-monthlylimit-remaining"), 7);

    // Each node lets a hundred pass in ten seconds: nearly all of these come to the month.
    let calls = (0..200).map(|call| if call % 2 == 0 { &first } else { &second });
    let answers = join_all(calls.map(|node| node.get("/alerts"))).await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(200), count(429)), (7, 193));
    first.get("/alerts").await.expect(429);
    second.get("/alerts").await.expect(429);
    let used = cluster.database.ask("SELECT VALUE used FROM usage").await.expect("one row");
    assert_eq!(used, json!([10_000]));
}

/// Waits until so many nodes say that they are.
async fn at_work(cluster: &Cluster, count: usize) {
    until("the nodes that are at work", PATIENCE, async || {
        let names = cluster.database.ask("SELECT VALUE name FROM live_node").await;
        let names = names.expect("the database answers");
        (names.as_array().map(Vec::len) == Some(count)).then_some(())
    })
    .await;
}
