//! `/checks`: the latest of each type, pages of history, results brought by the caller.

use futures::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{World, text, time};

/// A result as an agent of the owner's could have measured it.
fn result(domain: &str, days: i64) -> Value {
    let at = |days: i64| {
        (chrono::Utc::now() + chrono::Duration::days(days) + chrono::Duration::hours(12))
            .to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
    };
    json!({
        "valid": true, "issuer": "Some CA", "issuer_org": null, "domain": domain,
        "valid_from": at(-10), "valid_to": at(days), "expires_at": at(days), "days_remaining": days,
        "san": [domain], "chain": [], "chain_complete": true, "chain_error": null,
        "protocol_version": "TLSv1.3", "cipher_name": "TLS_AES_128_GCM_SHA256", "cipher_strength": 128,
        "hsts": null, "ocsp_stapling": null, "mixed_content": null, "error": null,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_is_brought_takes_the_same_path() {
    let world = World::start().await;
    let id = world.quiet("brought.example").await;
    let body = json!({"site_id": id, "check_type": "ssl", "result": result("brought.example", 5)});
    let record = world.owner.client.post("/checks", body).await.expect(200)["check"].clone();
    assert_eq!(record["source"], "api");
    assert_eq!(record["status"], "degraded");
    assert_eq!(record["site_id"], json!(id));
    assert!(text(&record["checked_at"]).ends_with('Z'));
    let alerts = world.open_alerts(1).await;
    assert_eq!(alerts[0]["type"], "ssl");

    let latest = world.owner.client.get(&format!("/checks?site_id={id}")).await.expect(200);
    assert_eq!(latest["ssl"], record);
    assert_eq!(latest.as_object().expect("an object").len(), 1, "types never checked are absent");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_newest_first_and_exact() {
    let world = World::start().await;
    let client = &world.owner.client;
    let id = world.quiet("pages.example").await;
    let (mut ids, mut days) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let body =
            json!({"site_id": id, "check_type": "ssl", "result": result("pages.example", 60)});
        let record = client.post("/checks", body).await.expect(200);
        ids.insert(0, record["check"]["id"].clone());
        days.push(text(&record["check"]["checked_at"])[..10].to_owned());
    }
    let page = client
        .get(&format!("/checks?site_id={id}&check_type=ssl&limit=3&offset=2"))
        .await
        .expect(200);
    assert_eq!(
        (&page["total"], &page["limit"], &page["offset"]),
        (&json!(7), &json!(3), &json!(2))
    );
    let listed: Vec<&Value> =
        page["checks"].as_array().expect("a list").iter().map(|check| &check["id"]).collect();
    assert_eq!(listed, ids[2..5].iter().collect::<Vec<_>>());

    let (first, last) = (&days[0], &days[6]);
    let all = client.get(&format!("/checks?site_id={id}&from={first}&to={last}")).await.expect(200);
    assert_eq!(
        (&all["total"], &all["limit"]),
        (&json!(7), &json!(50)),
        "a date-only `to` is its whole day"
    );
    let none = client.get(&format!("/checks?site_id={id}&to=2020-01-01")).await.expect(200);
    assert_eq!((&none["total"], &none["checks"]), (&json!(0), &json!([])));
    let other = client.get(&format!("/checks?site_id={id}&check_type=dns")).await.expect(200);
    assert_eq!(other["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn latest_record_heads_the_history_of_results_that_come_at_once() {
    let world = World::start().await;
    let client = &world.owner.client;
    let id = world.quiet("crowd.example").await;
    let body = json!({"site_id": id, "check_type": "ssl", "result": result("crowd.example", 60)});
    for _ in 0..4 {
        let brought = join_all((0..6).map(|_| client.post("/checks", body.clone()))).await;
        for answer in brought {
            answer.expect(200);
        }
        let path = format!("/checks?site_id={id}");
        let latest = client.get(&path).await.expect(200)["ssl"].clone();
        let page = client.get(&format!("{path}&check_type=ssl")).await.expect(200);
        let listed = page["checks"].as_array().expect("a list");
        assert_eq!(listed[0], latest);
        let moments: Vec<_> = listed.iter().map(|record| time(&record["checked_at"])).collect();
        assert!(moments.is_sorted_by(|later, earlier| later > earlier), "{moments:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_queries_are_refused_not_ignored() {
    let world = World::start().await;
    let client = &world.owner.client;
    let id = world.quiet("queries.example").await;
    let bad = [
        "",
        "site_id=",
        "site_id=17",
        &format!("site_id={id}&check_type=tls"),
        &format!("site_id={id}&limit=0&check_type=ssl"),
        &format!("site_id={id}&limit=201&check_type=ssl"),
        &format!("site_id={id}&limit=abc&check_type=ssl"),
        &format!("site_id={id}&offset=-1&check_type=ssl"),
        &format!("site_id={id}&from=yesterday"),
        &format!("site_id={id}&to=2026-13-01"),
        &format!("site_id={id}&from=2026-02-01&to=2026-01-01"),
    ];
    for query in bad {
        let answer = client.get(&format!("/checks?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
    }
    client.get(&format!("/checks?site_id={}", Uuid::new_v4())).await.expect(404);
    world.account("pro").await.client.get(&format!("/checks?site_id={id}")).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_results_are_refused_and_change_nothing() {
    let world = World::start().await;
    let client = &world.owner.client;
    let id = world.quiet("bad.example").await;
    let good = result("bad.example", 60);
    let mut wrong_type = good.clone();
    wrong_type["days_remaining"] = json!("sixty");
    let mut no_date = good.clone();
    no_date["expires_at"] = json!("2027-02-30T00:00:00Z");
    let bodies = [
        json!({"site_id": id, "check_type": "ssl"}),
        json!({"site_id": id, "check_type": "ssl", "result": "fine"}),
        json!({"site_id": id, "check_type": "ssl", "result": wrong_type}),
        json!({"site_id": id, "check_type": "ssl", "result": no_date}),
        json!({"site_id": id, "check_type": "no_such", "result": good}),
        json!({"site_id": id, "result": good}),
        json!({"site_id": "17", "check_type": "ssl", "result": good}),
        json!({"check_type": "ssl", "result": good}),
    ];
    for body in bodies {
        let answer = client.post("/checks", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
    }
    let stranger = world.account("pro").await.client;
    let body = json!({"site_id": id, "check_type": "ssl", "result": good});
    stranger.post("/checks", body).await.expect(404);
    assert_eq!(client.get(&format!("/checks?site_id={id}")).await.expect(200), json!({}));
}
