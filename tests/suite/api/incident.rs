//! `/incidents`: opened, told update by update, resolved, reopened.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{World, text, time};

#[tokio::test(flavor = "multi_thread")]
async fn an_incident_is_opened_told_resolved_and_reopened() {
    let world = World::start().await;
    let client = &world.owner.client;
    let (shop, blog) = (world.quiet("shop.example").await, world.quiet("blog.example").await);

    let body =
        json!({"title": "Mail is late", "severity": "major", "affected_sites": [shop, blog, shop]});
    let opened = client.post("/incidents", body).await.expect(200)["incident"].clone();
    assert_eq!(opened["title"], "Mail is late");
    assert_eq!(opened["severity"], "major");
    assert_eq!(opened["affected_sites"], json!([shop, blog]));
    assert_eq!(opened["auto_create"], false);
    assert_eq!(opened["status"], "investigating");
    assert_eq!(opened["resolved_at"], Value::Null);
    let first = &opened["updates"][0];
    let fields: BTreeSet<&str> =
        first.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(fields, BTreeSet::from(["status", "message", "created_at"]));
    assert_eq!(first["status"], "investigating");
    assert_eq!(time(&opened["created_at"]), time(&opened["updated_at"]));
    let list = client.get("/incidents").await.expect(200);
    assert_eq!(list, json!({"incidents": [opened], "total": 1}));

    let path = format!("/incidents/{}", text(&opened["id"]));
    let read = client.get(&path).await.expect(200);
    assert_eq!(read["incident"], opened);
    let record = &read["updates"][0];
    assert_eq!(record["incident_id"], opened["id"]);
    assert_eq!(record["author_id"], json!(world.owner.id));
    assert_eq!(record["message"], first["message"]);
    assert!(Uuid::parse_str(&text(&record["id"])).is_ok());

    let patched = client.patch(&path, json!({"status": "identified"})).await.expect(200);
    assert_eq!(patched["incident"]["status"], "identified");
    assert_eq!(patched["incident"]["updates"][1]["status"], "identified");
    assert!(text(&patched["incident"]["updates"][1]["message"]).contains("identified"));
    assert_eq!(patched["incident"]["affected_sites"], opened["affected_sites"]);

    let updates = format!("{path}/updates");
    let message = "Watching it.\nSo far so good: ü, \"quoted\".";
    let body = json!({"status": "monitoring", "message": message});
    let told = client.post(&updates, body).await.expect(200);
    assert_eq!(told["incident"]["status"], "monitoring");
    assert_eq!(told["update"]["message"], message);
    assert_eq!(told["update"]["status"], "monitoring");
    assert_eq!(told["update"]["incident_id"], opened["id"]);
    let body = json!({"status": "resolved", "message": "All is well."});
    let resolved = client.post(&updates, body).await.expect(200)["incident"].clone();
    assert_eq!(resolved["status"], "resolved");
    assert!(time(&resolved["resolved_at"]) >= time(&opened["created_at"]));
    assert_eq!(client.get("/incidents?status=resolved").await.expect(200)["total"], 1);
    assert_eq!(client.get("/incidents?status=monitoring").await.expect(200)["total"], 0);

    let reopened = client.patch(&path, json!({"status": "investigating"})).await.expect(200);
    assert_eq!(reopened["incident"]["status"], "investigating");
    assert_eq!(reopened["incident"]["resolved_at"], Value::Null);
    let stream = client.get(&updates).await.expect(200);
    assert_eq!(stream["total"], 5);
    let statuses: Vec<String> = stream["updates"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|update| text(&update["status"]))
        .collect();
    let expected = ["investigating", "identified", "monitoring", "resolved", "investigating"];
    assert_eq!(statuses, expected);
    assert_eq!(client.get(&path).await.expect(200)["updates"], stream["updates"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_keeps_clears_and_sets() {
    let world = World::start().await;
    let client = &world.owner.client;
    let site = world.quiet("shop.example").await;
    let body = json!({"title": "x", "status": "resolved", "id": "mine", "unknown": {}});
    let opened = client.post("/incidents", body).await.expect(200)["incident"].clone();
    assert_eq!(opened["status"], "investigating", "what is unknown is ignored");
    assert_eq!(opened["severity"], "minor");
    assert_eq!(opened["affected_sites"], Value::Null);

    let path = format!("/incidents/{}", text(&opened["id"]));
    assert_eq!(client.patch(&path, json!({})).await.expect(200)["incident"], opened);
    for sites in [json!([site]), json!([]), json!(null)] {
        let body = json!({"affected_sites": sites});
        let changed = client.patch(&path, body).await.expect(200)["incident"].clone();
        assert_eq!(changed["affected_sites"], sites);
        assert_eq!(changed["updates"], opened["updates"], "only a status is told");
    }
    for body in [
        json!({"status": null}),
        json!({"status": "open"}),
        json!({"status": 1}),
        json!({"affected_sites": "all"}),
        json!({"affected_sites": ["shop.example"]}),
        json!({"status": "resolved", "affected_sites": [Uuid::new_v4(), 7]}),
    ] {
        let answer = client.patch(&path, body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
    }
    let body = json!({"status": "resolved", "affected_sites": [Uuid::new_v4()]});
    client.patch(&path, body).await.expect(404);
    let kept = client.get(&path).await.expect(200)["incident"].clone();
    assert_eq!((&kept["status"], &kept["updates"]), (&opened["status"], &opened["updates"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_fields_are_named_and_change_nothing() {
    let world = World::start().await;
    let client = &world.owner.client;
    let many: Vec<Uuid> = (0..201).map(|_| Uuid::new_v4()).collect();
    let cases = [
        (json!({}), "title"),
        (json!({"auto_create": false}), "title"),
        (json!({"title": null}), "title"),
        (json!({"title": ""}), "title"),
        (json!({"title": " \t "}), "title"),
        (json!({"title": ["x"]}), "title"),
        (json!({"title": "two\nlines"}), "title"),
        (json!({"title": "ü".repeat(201)}), "title"),
        (json!({"title": "x".repeat(201), "auto_create": true}), "title"),
        (json!({"title": "x", "severity": "warning"}), "severity"),
        (json!({"title": "x", "severity": null}), "severity"),
        (json!({"title": "x", "severity": 1}), "severity"),
        (json!({"title": "x", "auto_create": "true"}), "auto_create"),
        (json!({"title": "x", "affected_sites": "shop.example"}), "affected_sites"),
        (json!({"title": "x", "affected_sites": {}}), "affected_sites"),
        (json!({"title": "x", "affected_sites": [1]}), "affected_sites"),
        (json!({"title": "x", "affected_sites": ["17"]}), "affected_sites"),
        (json!({"title": "x", "affected_sites": many}), "affected_sites"),
    ];
    for (body, field) in cases {
        let answer = client.post("/incidents", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        let said = text(&answer.json()["message"]);
        assert!(said.contains(field), "{body}: names no {field}: {said}");
    }
    for query in
        ["status=open", "status=", "limit=0", "limit=201", "offset=-1", "status=a&status=b"]
    {
        let answer = client.get(&format!("/incidents?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
    }
    assert_eq!(client.get("/incidents").await.expect(200), json!({"incidents": [], "total": 0}));

    let longest = json!({"title": "ü".repeat(200), "affected_sites": []});
    let opened = client.post("/incidents", longest).await.expect(200)["incident"].clone();
    assert_eq!(text(&opened["title"]).chars().count(), 200);
    let updates = format!("/incidents/{}/updates", text(&opened["id"]));
    let cases = [
        (json!({"message": "x"}), "status"),
        (json!({"status": "closed", "message": "x"}), "status"),
        (json!({"status": null, "message": "x"}), "status"),
        (json!({"status": "resolved"}), "message"),
        (json!({"status": "resolved", "message": null}), "message"),
        (json!({"status": "resolved", "message": " \n"}), "message"),
        (json!({"status": "resolved", "message": 5}), "message"),
        (json!({"status": "resolved", "message": "ü".repeat(10_001)}), "message"),
    ];
    for (body, field) in cases {
        let answer = client.post(&updates, body.clone()).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        let said = text(&answer.json()["message"]);
        assert!(said.contains(field), "names no {field}: {said}");
    }
    assert_eq!(client.get(&updates).await.expect(200)["total"], 1);
    let longest = json!({"status": "identified", "message": "ü".repeat(10_000)});
    client.post(&updates, longest).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_and_unknown_ids_get_the_same_answer() {
    let world = World::start().await;
    let client = &world.owner.client;
    let site = world.quiet("shop.example").await;
    let body = json!({"title": "x", "affected_sites": [site]});
    let opened = client.post("/incidents", body).await.expect(200)["incident"].clone();
    let (mine, unknown) = (text(&opened["id"]), Uuid::new_v4().to_string());
    let stranger = world.account("pro").await.client;

    let update = json!({"status": "resolved", "message": "x"});
    for (method, rest, body) in [
        (Method::GET, "", None),
        (Method::PATCH, "", Some(json!({"status": "resolved"}))),
        (Method::PATCH, "", Some(json!({"affected_sites": [site]}))),
        (Method::GET, "/updates", None),
        (Method::POST, "/updates", Some(update)),
    ] {
        let ask = async |id: &str| {
            stranger.send(method.clone(), &format!("/incidents/{id}{rest}"), body.clone()).await
        };
        let (theirs, nobodys) = (ask(&mine).await, ask(&unknown).await);
        assert_eq!((theirs.status, theirs.text), (404, nobodys.text), "{method} {rest}");
        for malformed in ["17", "x", &mine[1..], &mine.replace('-', "")] {
            assert_eq!(ask(malformed).await.status, 400, "{method} {malformed}{rest}");
        }
    }
    assert_eq!(stranger.get("/incidents").await.expect(200)["total"], 0);

    let own = stranger.post("/incidents", json!({"title": "y"})).await.expect(200);
    let own = format!("/incidents/{}", text(&own["incident"]["id"]));
    let naming = |id: &str| json!({"title": "x", "affected_sites": [id]});
    let theirs = stranger.post("/incidents", naming(&site)).await;
    let nobodys = stranger.post("/incidents", naming(&unknown)).await;
    assert_eq!((theirs.status, theirs.text), (404, nobodys.text));
    let theirs = stranger.patch(&own, naming(&site)).await;
    let nobodys = stranger.patch(&own, naming(&unknown)).await;
    assert_eq!((theirs.status, theirs.text), (404, nobodys.text));

    assert_eq!(stranger.get("/incidents").await.expect(200)["total"], 1, "refused means not made");
    assert_eq!(client.get(&format!("/incidents/{mine}")).await.expect(200)["incident"], opened);
    let anonymous = world.service.client();
    anonymous.get(&format!("/incidents/{mine}")).await.expect(401);
    anonymous.post("/incidents", json!({"title": "x"})).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_create_gathers_the_critical_alerts_of_the_moment() {
    let world = World::start().await;
    let client = &world.owner.client;
    let none = client.post("/incidents", json!({"auto_create": true})).await.expect(200);
    assert_eq!(none["incident"]["affected_sites"], json!([]));
    assert_eq!(none["incident"]["title"], "0 critical alerts on 0 sites");

    let (one, two) = (world.site("one.example", 5).await, world.site("two.example", 3).await);
    let watched: BTreeSet<String> =
        [world.watch("one.example", &one).await, world.watch("two.example", &two).await].into();
    let quiet = world.quiet("quiet.example").await;
    let alerts = world.open_alerts(2).await;

    let made = client.post("/incidents", json!({"auto_create": true})).await.expect(200);
    let made = &made["incident"];
    assert_eq!(made["title"], "2 critical alerts on 2 sites");
    assert_eq!((&made["severity"], &made["auto_create"]), (&json!("minor"), &json!(true)));
    assert_eq!(made["status"], "investigating");
    assert_eq!(sites(made), watched);
    let told = text(&made["updates"][0]["message"]);
    for alert in &alerts {
        assert!(told.contains(&text(&alert["message"])), "{told}");
    }
    let path = format!("/incidents/{}", text(&made["id"]));
    assert_eq!(client.get(&path).await.expect(200)["incident"], *made);
    let again = client.post("/incidents", json!({"auto_create": true})).await.expect(200);
    assert_eq!(again["incident"], *made, "the same alerts are the same incident");

    let path = format!("/alerts?id={}", text(&alerts[0]["id"]));
    client.patch(&path, json!({"is_resolved": true})).await.expect(200);
    let left = text(&alerts[1]["site_id"]);
    let body =
        json!({"auto_create": true, "severity": "critical", "affected_sites": [quiet, left]});
    let made = client.post("/incidents", body).await.expect(200)["incident"].clone();
    assert_eq!(made["title"], "1 critical alerts on 1 sites");
    assert_eq!(made["severity"], "critical");
    assert_eq!(sites(&made), BTreeSet::from([quiet, left]));

    let body = json!({"auto_create": true, "title": "Outage"});
    let named = client.post("/incidents", body).await.expect(200);
    assert_eq!(named["incident"]["title"], "Outage");
    let stranger = world.account("free").await.client;
    let theirs = stranger.post("/incidents", json!({"auto_create": true})).await.expect(200);
    assert_eq!(theirs["incident"]["affected_sites"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_at_once_are_all_kept() {
    let world = World::start().await;
    let client = &world.owner.client;
    let opened = client.post("/incidents", json!({"title": "x"})).await.expect(200);
    let path = format!("/incidents/{}", text(&opened["incident"]["id"]));
    let updates = format!("{path}/updates");
    let add = |number: u32| {
        let (client, updates) = (client.clone(), updates.clone());
        let body = json!({"status": "monitoring", "message": format!("update {number}")});
        async move {
            let told = client.post(&updates, body).await.expect(200);
            assert_eq!(told["update"]["message"], format!("update {number}"), "one's own update");
        }
    };
    let change = |number: u32| {
        let (client, path) = (client.clone(), path.clone());
        let status = if number.is_multiple_of(2) { "identified" } else { "resolved" };
        async move {
            client.patch(&path, json!({"status": status})).await.expect(200);
        }
    };
    let adding = futures::future::join_all((0..20).map(add));
    let changing = futures::future::join_all((0..10).map(change));
    futures::future::join(adding, changing).await;

    let stream = client.get(&updates).await.expect(200);
    assert_eq!(stream["total"], 31);
    let stream = stream["updates"].as_array().expect("a list");
    let told: BTreeSet<String> = stream.iter().map(|update| text(&update["message"])).collect();
    for number in 0..20 {
        assert!(told.contains(&format!("update {number}")), "{number}: {told:?}");
    }
    assert!(stream.is_sorted_by_key(|update| time(&update["created_at"])));
    let incident = client.get(&path).await.expect(200)["incident"].clone();
    assert_eq!(incident["status"], stream[30]["status"]);
    let of_status = format!("/incidents?status={}", text(&incident["status"]));
    assert_eq!(client.get(&of_status).await.expect(200)["total"], 1);
    assert_eq!(client.get("/incidents").await.expect(200)["total"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn incidents_are_paged_newest_first() {
    let world = World::start().await;
    let client = &world.owner.client;
    for number in 0..5 {
        client.post("/incidents", json!({"title": format!("i{number}")})).await.expect(200);
    }
    for (query, expected) in [
        ("", vec!["i4", "i3", "i2", "i1", "i0"]),
        ("?limit=2", vec!["i4", "i3"]),
        ("?limit=2&offset=3", vec!["i1", "i0"]),
        ("?status=investigating&limit=1&offset=4", vec!["i0"]),
        ("?offset=5", vec![]),
    ] {
        let page = client.get(&format!("/incidents{query}")).await.expect(200);
        assert_eq!(page["total"], 5, "{query}");
        let incidents = page["incidents"].as_array().expect("a list");
        let titles: Vec<String> = incidents.iter().map(|item| text(&item["title"])).collect();
        assert_eq!(titles, expected, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_sets_no_limit_is_shown_all_incidents() {
    let world = World::start().await;
    let client = &world.owner.client;
    for number in 0..51 {
        client.post("/incidents", json!({"title": format!("i{number}")})).await.expect(200);
    }
    let all = client.get("/incidents").await.expect(200);
    let titles: Vec<String> = all["incidents"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|incident| text(&incident["title"]))
        .collect();
    let expected: Vec<String> = (0..51).rev().map(|number| format!("i{number}")).collect();
    assert_eq!(titles, expected);
    assert_eq!(all["total"], 51);
    let rest = client.get("/incidents?offset=49").await.expect(200);
    assert_eq!(rest["incidents"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_site_is_affected_no_longer() {
    let world = World::start().await;
    let client = &world.owner.client;
    let (goes, stays) = (world.quiet("goes.example").await, world.quiet("stays.example").await);
    let body = json!({"title": "x", "affected_sites": [goes, stays]});
    let opened = client.post("/incidents", body).await.expect(200)["incident"].clone();
    client.delete(&format!("/sites?id={goes}")).await.expect(200);
    let path = format!("/incidents/{}", text(&opened["id"]));
    let kept = client.get(&path).await.expect(200)["incident"].clone();
    assert_eq!(kept["affected_sites"], json!([stays]));
    assert_eq!(kept["updates"], opened["updates"], "its history stays");
    assert_eq!(client.get("/incidents").await.expect(200)["incidents"], json!([kept]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_method_is_told_which_are_allowed() {
    let world = World::start().await;
    let client = &world.owner.client;
    let opened = client.post("/incidents", json!({"title": "x"})).await.expect(200);
    let path = format!("/incidents/{}", text(&opened["incident"]["id"]));
    let updates = format!("{path}/updates");
    for (method, path, allowed) in [
        (Method::DELETE, "/incidents", ["GET", "POST"]),
        (Method::DELETE, &*path, ["GET", "PATCH"]),
        (Method::PATCH, &*updates, ["GET", "POST"]),
    ] {
        let answer = client.send(method, path, Some(json!({}))).await;
        assert_eq!(answer.status, 405, "{path}: {}", answer.text);
        let said = answer.header("allow").expect("an Allow header");
        assert!(allowed.iter().all(|method| said.contains(method)), "{path}: {said}");
        assert_eq!(client.send(Method::HEAD, path, None).await.status, 200, "{path}");
    }
}

/// The sites that an incident affects, each once.
#[track_caller]
fn sites(incident: &Value) -> BTreeSet<String> {
    let listed = incident["affected_sites"].as_array().expect("a list");
    let sites: BTreeSet<String> = listed.iter().map(text).collect();
    assert_eq!(sites.len(), listed.len(), "{listed:?}");
    sites
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_ask_at_once_while_nothing_is_critical_are_all_answered() {
    let world = World::start().await;
    let body = json!({"auto_create": true});
    let asked = (0..24).map(|_| world.owner.client.post("/incidents", body.clone()));
    for answer in futures::future::join_all(asked).await {
        assert_eq!(answer.expect(200)["incident"]["affected_sites"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_incident_of_the_moment_is_opened_once_whoever_asks() {
    let world = World::start().await;
    let client = &world.owner.client;
    let one = world.site("one.example", 5).await;
    world.watch("one.example", &one).await;
    world.open_alerts(1).await;
    let body = json!({"auto_create": true});
    let asked = (0..6).map(|_| client.post("/incidents", body.clone()));
    let ids: BTreeSet<String> = futures::future::join_all(asked)
        .await
        .into_iter()
        .map(|answer| text(&answer.expect(200)["incident"]["id"]))
        .collect();
    assert_eq!(ids.len(), 1, "{ids:?}");

    let first = ids.into_iter().next().expect("one");

    // Told on, it says what a new one does not; so does one that knows of fewer alerts.
    let path = format!("/incidents/{first}");
    let moved_on =
        client.patch(&path, json!({"status": "monitoring"})).await.expect(200)["incident"].clone();
    let second = client.post("/incidents", body.clone()).await.expect(200)["incident"].clone();
    assert_ne!(second["id"], json!(first));
    assert_eq!(second["status"], "investigating");
    let two = world.site("two.example", 3).await;
    world.watch("two.example", &two).await;
    world.open_alerts(2).await;
    let third = client.post("/incidents", body).await.expect(200)["incident"].clone();
    assert_eq!(third["title"], "2 critical alerts on 2 sites");
    assert_eq!(third["updates"].as_array().map(Vec::len), Some(1));
    let listed = client.get("/incidents").await.expect(200)["incidents"].clone();
    assert_eq!(listed, json!([third, second, moved_on]), "none is touched by another");
}
