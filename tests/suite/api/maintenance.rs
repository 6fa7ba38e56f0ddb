//! `/maintenance-windows`: planned, listed, deleted.

use chrono::{TimeDelta, Utc};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{World, rfc3339, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_window_is_planned_listed_and_deleted() {
    let world = World::start().await;
    let client = &world.owner.client;
    let none = client.get("/maintenance-windows").await.expect(200);
    assert_eq!(none, json!({"windows": [], "total": 0}));

    let site = world.quiet("shop.example").await;
    let start = Utc::now() + TimeDelta::days(1);
    let (starts, ends) = (rfc3339(start), rfc3339(start + TimeDelta::hours(2)));
    let body = json!({
        "site_id": site, "starts_at": starts, "ends_at": ends,
        "description": "New disks,\nold data.", "id": "mine", "unknown": 1,
    });
    let later = client.post("/maintenance-windows", body).await.expect(200)["window"].clone();
    assert_eq!(later["site_id"], json!(site));
    assert_eq!((&later["starts_at"], &later["ends_at"]), (&json!(starts), &json!(ends)));
    assert_eq!(later["description"], "New disks,\nold data.");
    assert!(Uuid::parse_str(&text(&later["id"])).is_ok());
    assert!(text(&later["created_at"]).ends_with('Z'));

    let past = json!({
        "site_id": null, "starts_at": "2020-01-01T12:00:00+02:00",
        "ends_at": "2020-01-01T10:00:00.001Z", "description": null,
    });
    let past = client.post("/maintenance-windows", past).await.expect(200)["window"].clone();
    assert_eq!(past["starts_at"], "2020-01-01T10:00:00Z");
    assert_eq!(past["ends_at"], "2020-01-01T10:00:00.001Z");
    assert_eq!((&past["site_id"], &past["description"]), (&Value::Null, &Value::Null));
    let bare = json!({"starts_at": "2020-01-02T00:00:00Z", "ends_at": "2099-01-01T00:00:00Z"});
    let bare = client.post("/maintenance-windows", bare).await.expect(200)["window"].clone();
    assert_eq!((&bare["site_id"], &bare["description"]), (&Value::Null, &Value::Null));

    let list = client.get("/maintenance-windows").await.expect(200);
    assert_eq!(list, json!({"windows": [past, bare, later], "total": 3}), "the earliest first");

    let path = format!("/maintenance-windows?id={}", text(&past["id"]));
    assert_eq!(client.delete(&path).await.expect(200), json!({"success": true}));
    client.delete(&path).await.expect(404);
    let list = client.get("/maintenance-windows").await.expect(200);
    assert_eq!(list["windows"], json!([bare, later]));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_fields_are_named_and_change_nothing() {
    let world = World::start().await;
    let client = &world.owner.client;
    let cases = [
        (json!({}), "starts_at"),
        (json!({"starts_at": null}), "starts_at"),
        (json!({"starts_at": "tomorrow"}), "starts_at"),
        (json!({"starts_at": "2027-01-15"}), "starts_at"),
        (json!({"starts_at": 1_800_000_000}), "starts_at"),
        (json!({"ends_at": null}), "ends_at"),
        (json!({"ends_at": "2027-02-30T00:00:00Z"}), "ends_at"),
        (json!({"ends_at": ["2027-01-16T00:00:00Z"]}), "ends_at"),
        (json!({"ends_at": "2027-01-15T08:00:00Z"}), "ends_at"),
        (json!({"ends_at": "2027-01-15T07:59:59Z"}), "ends_at"),
        (json!({"ends_at": "2027-01-15T09:59:59+02:00"}), "ends_at"),
        (json!({"site_id": "shop.example"}), "site_id"),
        (json!({"site_id": 7}), "site_id"),
        (json!({"description": 7}), "description"),
        (json!({"description": "ü".repeat(501)}), "description"),
    ];
    let good = json!({"starts_at": "2027-01-15T08:00:00Z", "ends_at": "2027-01-15T09:00:00Z"});
    for (members, field) in cases {
        let mut body = good.clone();
        for (name, value) in members.as_object().expect("an object") {
            body[name] = value.clone();
        }
        if members == json!({}) {
            body.as_object_mut().expect("an object").remove("starts_at");
        }
        let answer = client.post("/maintenance-windows", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        let said = text(&answer.json()["message"]);
        assert!(said.starts_with(field), "{body}: {said}");
    }
    let list = client.get("/maintenance-windows").await.expect(200);
    assert_eq!(list["total"], 0);

    let mut longest = good;
    longest["description"] = json!("ü".repeat(500));
    longest["ends_at"] = json!("2027-01-15T08:00:00.001Z");
    client.post("/maintenance-windows", longest).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_and_unknown_ids_get_the_same_answer() {
    let world = World::start().await;
    let client = &world.owner.client;
    let site = world.quiet("shop.example").await;
    let stranger = world.account("pro").await.client;
    let unknown = Uuid::new_v4().to_string();
    let about = |site: &str| {
        json!({"site_id": site, "starts_at": "2027-01-15T08:00:00Z",
            "ends_at": "2027-01-15T09:00:00Z"})
    };
    let created = client.post("/maintenance-windows", about(&site)).await.expect(200);
    let mine = text(&created["window"]["id"]);

    let theirs = stranger.post("/maintenance-windows", about(&site)).await;
    let nobodys = stranger.post("/maintenance-windows", about(&unknown)).await;
    assert_eq!((theirs.status, theirs.text), (404, nobodys.text));
    let theirs = stranger.delete(&format!("/maintenance-windows?id={mine}")).await;
    let nobodys = stranger.delete(&format!("/maintenance-windows?id={unknown}")).await;
    assert_eq!((theirs.status, theirs.text), (404, nobodys.text));
    stranger.delete("/maintenance-windows?id=17").await.expect(400);
    stranger.delete("/maintenance-windows").await.expect(400);

    assert_eq!(stranger.get("/maintenance-windows").await.expect(200)["total"], 0);
    assert_eq!(client.get("/maintenance-windows").await.expect(200)["total"], 1);
    let anonymous = world.service.client();
    anonymous.get("/maintenance-windows").await.expect(401);
    anonymous.post("/maintenance-windows", about(&site)).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_go_with_their_site_and_those_of_all_sites_stay() {
    let world = World::start().await;
    let client = &world.owner.client;
    let site = world.quiet("shop.example").await;
    let times = json!({"starts_at": "2027-01-15T08:00:00Z", "ends_at": "2027-01-15T09:00:00Z"});
    let of_all = client.post("/maintenance-windows", times.clone()).await.expect(200);
    let mut of_site = times;
    of_site["site_id"] = json!(site);
    let of_site = client.post("/maintenance-windows", of_site).await.expect(200);
    client.delete(&format!("/sites?id={site}")).await.expect(200);
    let list = client.get("/maintenance-windows").await.expect(200);
    assert_eq!(list, json!({"windows": [of_all["window"]], "total": 1}));
    let gone = text(&of_site["window"]["id"]);
    client.delete(&format!("/maintenance-windows?id={gone}")).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_method_is_told_which_are_allowed() {
    let world = World::start().await;
    let client = &world.owner.client;
    let answer = client.send(Method::PATCH, "/maintenance-windows", Some(json!({}))).await;
    assert_eq!(answer.status, 405, "{}", answer.text);
    let said = answer.header("allow").expect("an Allow header");
    for method in ["GET", "POST", "DELETE"] {
        assert!(said.contains(method), "{said}");
    }
    assert_eq!(client.send(Method::HEAD, "/maintenance-windows", None).await.status, 200);
}
