//! `POST /checkout` and `GET /billing/status`.

use serde_json::{Value, json};
use vedette_tests::{Answer, Response};

use super::{API_KEY, Shop, world};
use crate::{
    refusal::refused,
    world::{text, until},
};

/// Says that an order is paid at this address.
fn page(url: &str) -> Response {
    Response::Json(200, json!({"checkout_url": url}))
}

async fn buy(shop: &Shop, body: Value) -> Answer {
    shop.world.owner.client.post("/checkout", body).await
}

/// The 429 says to upgrade.
#[tokio::test(flavor = "multi_thread")]
async fn whose_month_is_used_up_can_still_buy_more_and_leave() {
    let shop = Shop::open().await;
    let account = shop.world.account("team").await;
    for nth in 0..101 {
        let client = account.client.from_address(&format!("198.51.100.{}", 1 + nth / 50));
        client.get("/alerts").await.expect(200);
    }
    let path = format!("/admin/accounts/{}", account.id);
    shop.world.service.operator().patch(&path, json!({"plan": "free"})).await.expect(200);
    let client = account.client.from_address("198.51.100.9");
    let refused = client.get("/alerts").await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert!(refused.text.contains("upgrade to the pro plan"), "{}", refused.text);

    shop.provider.answer_next(page("https://pay.example/9"));
    let order = json!({"planId": "pro"});
    let bought = beside_the_window(async || client.post("/checkout", order.clone()).await).await;
    assert_eq!(bought.number("x-monthlylimit-remaining"), 0);
    assert!(bought.expect(200)["checkoutUrl"].is_string());
    let status = beside_the_window(async || client.get("/billing/status").await).await;
    assert_eq!(status.expect(200)["plan"], "free");
    let refused = beside_the_window(async || client.get("/alerts").await).await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    let deleted = beside_the_window(async || client.delete("/account").await).await;
    deleted.expect(200);
}

/// The answer once the account's ten seconds, a limit of their own, have room for the call.
async fn beside_the_window(ask: impl AsyncFn() -> Answer) -> Answer {
    until("the calls before to count no more", async || {
        let answer = ask().await;
        let is_window = answer.status == 429 && answer.text.contains("in 10 s");
        (!is_window).then_some(answer)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_leads_to_the_providers_page_and_changes_nothing_yet() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    shop.provider.answer_next(page("https://pay.example/1"));
    let begun = account.client.post("/checkout", json!({"planId": "pro"})).await.expect(200);
    assert_eq!(begun, json!({"checkoutUrl": "https://pay.example/1"}));
    shop.provider.answer_next(Response::Json(201, json!({"url": "https://pay.example/2"})));
    let body = json!({"planId": "pro", "billing": "yearly", "email": "Books@Example.com"});
    let begun = account.client.post("/checkout", body).await.expect(200);
    assert_eq!(begun["checkoutUrl"], "https://pay.example/2");

    let asked = shop.provider.received();
    assert_eq!(asked.len(), 2);
    for one in &asked {
        assert_eq!(one.path, "/v1/checkouts");
        assert_eq!(one.header("authorization"), Some(format!("Bearer {API_KEY}").as_str()));
        assert_eq!(one.header("x-api-key"), Some(API_KEY));
        assert_eq!(one.header("content-type"), Some("application/json"));
    }
    let orders: Vec<Value> = asked.iter().map(|one| one.json().expect("JSON")).collect();
    let [monthly, yearly] = &orders[..] else { panic!("{orders:?}") };
    assert_eq!(monthly["product_id"], "prod_pro");
    assert_eq!(monthly["customer"], json!({"email": account.email}));
    assert_eq!(monthly["success_url"], format!("http://{}/api/docs", shop.world.service.api));
    let metadata = json!({"planId": "pro", "billing": "monthly", "userId": account.id});
    assert_eq!(monthly["metadata"], metadata);
    assert_eq!(yearly["product_id"], "prod_pro_yearly");
    assert_eq!(yearly["customer"], json!({"email": "books@example.com"}));
    assert_eq!(yearly["metadata"]["billing"], "yearly");
    let ids = [monthly, yearly].map(|order| text(&order["request_id"]));
    assert!(ids.iter().all(|id| uuid::Uuid::parse_str(id).is_ok()) && ids[0] != ids[1], "{ids:?}");

    let status = account.client.get("/billing/status").await.expect(200);
    assert_eq!(status, json!({"plan": "free", "customerId": null}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_order_is_refused_by_its_field_and_never_leaves_the_service() {
    let shop = Shop::open().await;
    for (body, field) in [
        (json!({}), "planId"),
        (json!({"planId": null}), "planId"),
        (json!({"planId": "free"}), "planId"),
        (json!({"planId": "starter"}), "planId"),
        (json!({"planId": 7}), "planId"),
        (json!({"planId": "pro"}), "planId"),
        (json!({"planId": "team", "billing": "weekly"}), "billing"),
        (json!({"planId": "team", "billing": null}), "billing"),
        (json!({"planId": "team", "email": "books"}), "email"),
        (json!({"planId": "team", "email": ["books@example.com"]}), "email"),
    ] {
        let message = refused(&buy(&shop, body.clone()).await, 400, &body.to_string());
        assert!(message.contains(field), "{body}: {message}");
    }
    let highest = shop.world.account("team").await;
    for plan in ["team", "pro"] {
        let answer = highest.client.post("/checkout", json!({"planId": plan})).await;
        let message = refused(&answer, 400, plan);
        assert!(message.contains("planId") && message.contains("team"), "{message}");
    }
    let nobody = shop.world.service.client();
    refused(&nobody.post("/checkout", json!({"planId": "pro"})).await, 401, "a checkout");
    refused(&nobody.get("/billing/status").await, 401, "the status");
    assert_eq!(shop.provider.received().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_kibibytes_are_taken_and_one_byte_more_is_not() {
    let shop = Shop::open().await;
    shop.provider.answer_always(page("https://pay.example/1"));
    let send = async |size: usize, plan: &str| {
        let frame = json!({"planId": plan, "x": ""}).to_string().len();
        let body = json!({"planId": plan, "x": "x".repeat(size - frame)}).to_string();
        assert_eq!(body.len(), size);
        let client = &shop.world.owner.client;
        client.send_raw(reqwest::Method::POST, "/checkout", body.into_bytes()).await
    };
    send(10_240, "team").await.expect(200);
    for (size, plan) in [(10_241, "team"), (10_241, "free"), (200_000, "team")] {
        let answer = send(size, plan).await;
        refused(&answer, 413, &format!("{size} bytes"));
        assert_eq!(answer.json()["error"], "payload_too_large");
    }
    let client = &shop.world.owner.client;
    let broken = client.send_raw(reqwest::Method::POST, "/checkout", b"{\"planId\":".to_vec());
    refused(&broken.await, 400, "a cut object");
    // Others take as much as before.
    let body = json!({"email": true, "x": "x".repeat(20_000)});
    client.patch("/settings/notifications", body).await.expect(200);
    assert_eq!(shop.provider.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_does_not_do_its_part_is_our_trouble() {
    let shop = Shop::open().await;
    let to = |url: &str| Response::Status(302, vec![("location".into(), url.into())]);
    for answer in [
        Response::Status(200, Vec::new()),
        Response::Status(500, Vec::new()),
        Response::Json(401, json!({"checkout_url": "https://pay.example/1"})),
        Response::Json(200, json!({"checkout_url": "javascript:alert(1)"})),
        Response::Json(200, json!({"checkout": {"url": "https://pay.example/1"}})),
        Response::Json(200, json!(["https://pay.example/1"])),
        to(&shop.provider.url("/elsewhere")),
    ] {
        shop.provider.answer_next(answer.clone());
        let message = refused(&buy(&shop, json!({"planId": "team"})).await, 500, "a checkout");
        assert!(!message.contains("pay.example"), "{answer:?}: {message}");
    }
    assert_eq!(shop.provider.received().len(), 7, "no redirect is followed");
    let said = until("the reason in the log", async || {
        let said = shop.world.service.output();
        said.contains("no checkout of the team plan").then_some(said)
    })
    .await;
    assert!(!said.contains(API_KEY), "{said}");
    assert_eq!(shop.plan(&shop.world.owner).await, "pro");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_configured_is_named() {
    let order = json!({"planId": "team"});
    let bare = world("").await;
    let client = &bare.owner.client;
    let message = refused(&client.post("/checkout", order.clone()).await, 503, "no provider");
    assert!(
        message.contains("payments.api_base") && message.contains("payments.api_key"),
        "{message}"
    );
    refused(&client.post("/checkout", json!({"planId": "free"})).await, 400, "still no plan");
    let event = json!({"id": "e", "type": "refund.created"});
    let answer = bare.service.client().post("/webhooks/payments", event).await;
    let message = refused(&answer, 503, "no secret");
    assert!(message.contains("payments.secret"), "{message}");
    let status = client.get("/billing/status").await.expect(200);
    assert_eq!(status, json!({"plan": "pro", "customerId": null}));

    let toml = "[payments]\napi_base = \"http://127.0.0.1:9/\"\napi_key = \"k\"\n\
        products = { prod_pro = \"pro\" }\n";
    let half = world(toml).await;
    let message = refused(&half.owner.client.post("/checkout", order).await, 503, "no product");
    assert!(message.contains("payments.products") && message.contains("team"), "{message}");
}
