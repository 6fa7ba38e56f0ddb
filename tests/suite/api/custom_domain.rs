//! Status pages on their own domains: the claim, the proof in the DNS, and what is served there.

use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::{Account, Answer, Client, RecordType, Reply, record};

use crate::refusal::limit_headers;
use crate::world::{World, text, until};

const DOMAIN: &str = "status.shop.example";
const SETTINGS: &str = "/settings/notifications";

/// Sends the domain, again too; what the settings say of its proof then.
async fn claim(account: &Account, domain: &str) -> Value {
    let body = json!({"status_page_enabled": true, "status_page_title": "Shop",
        "status_page_custom_domain": domain});
    let changed = account.client.patch(SETTINGS, body).await.expect(200);
    assert_eq!(changed["settings"]["status_page_custom_domain"], domain);
    changed["settings"]["status_page_domain_verification"].clone()
}

/// The record that proves a claim, in the lab's DNS.
fn publish(world: &World, proof: &Value) {
    let records =
        vec![record::txt(&[b"v=spf1 -all"]), record::txt(&[text(&proof["value"]).as_bytes()])];
    world.lab.dns.answer(&text(&proof["name"]), Reply::Records(records));
}

async fn prove(world: &World, account: &Account, domain: &str) {
    publish(world, &claim(account, domain).await);
    assert_eq!(claim(account, domain).await["verified"], true);
}

/// Asks the service as a browser does that was led there by the DNS.
async fn visit(world: &World, method: Method, host: &str, path: &str) -> Answer {
    let client = Client::new(&format!("http://{}", world.service.api), None);
    client.finish(client.request(method, path).header("host", host)).await
}

async fn get(world: &World, host: &str, path: &str) -> Answer {
    visit(world, Method::GET, host, path).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_shows_the_page_also_before_the_dns_names_its_account() {
    let world = World::start().await;
    let read = world.owner.client.get(SETTINGS).await.expect(200);
    assert_eq!(read["settings"]["status_page_domain_verification"], Value::Null);

    let proof = claim(&world.owner, DOMAIN).await;
    assert_eq!(proof["name"], format!("_vedette.{DOMAIN}"));
    assert!(text(&proof["value"]).starts_with("vedette-verify="), "{proof}");
    assert_eq!(proof["verified"], false);
    let page = get(&world, DOMAIN, "/").await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
    assert!(page.text.contains("Shop"), "{}", page.text);

    publish(&world, &proof);
    assert_eq!(
        claim(&world.owner, DOMAIN).await,
        json!({
            "name": proof["name"], "value": proof["value"], "verified": true,
        })
    );
    for host in [DOMAIN, "STATUS.Shop.Example", "status.shop.example.", "status.shop.example:8443"]
    {
        let page = get(&world, host, "/").await;
        assert_eq!(page.status, 200, "{host}: {}", page.text);
        assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
        assert!(page.text.contains("Shop"), "{host}");
    }
    let feed = get(&world, DOMAIN, "/status.json").await;
    assert_eq!(feed.status, 200, "{}", feed.text);
    assert_eq!(get(&world, DOMAIN, "/status.rss").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_hears_of_proved_domains_alone_however_often_it_asks() {
    let world = World::start().await;
    let operator = world.service.operator();
    let ask = async |domain: &str| operator.get(&format!("/admin/domains?domain={domain}")).await;
    assert_eq!(ask(DOMAIN).await.status, 404, "nobody names it");
    let proof = claim(&world.owner, DOMAIN).await;
    assert_eq!(ask(DOMAIN).await.status, 404, "whoever names it does not own it for that");
    publish(&world, &proof);
    assert_eq!(claim(&world.owner, DOMAIN).await["verified"], true);
    let yes = json!({"domain": DOMAIN, "account_id": world.owner.id});
    assert_eq!(ask(DOMAIN).await.expect(200), yes);
    // More than an address has in a minute.
    for nth in 0..61 {
        assert_eq!(ask(&format!("n{nth}.shop.example")).await.status, 404, "{nth}");
    }
    assert_eq!(ask(DOMAIN).await.expect(200), yes);
    for domain in ["", "localhost", "127.0.0.1", "shop.example"] {
        assert_eq!(ask(domain).await.status, 404, "{domain}");
    }
    operator.get("/admin/domains").await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_alone_takes_no_path_from_the_service() {
    let world = World::start().await;
    assert_eq!(claim(&world.owner, DOMAIN).await["verified"], false);
    for path in ["/", "/status.json", "/status.rss", "/style.css", "/custom.css", "/icon.svg"] {
        assert_eq!(get(&world, DOMAIN, path).await.status, 200, "{path}");
    }
    assert_eq!(get(&world, DOMAIN, "/v1/openapi.json").await.status, 200);
    assert_eq!(get(&world, DOMAIN, "/nothing").await.status, 404);
    let root = Client::new(&format!("http://{}", world.service.api), None);
    let visitor = root.from_address("192.0.2.20");
    let look = async || {
        visitor.finish(visitor.request(Method::GET, "/v1/sites").header("host", DOMAIN)).await
    };
    let (first, second) = (look().await, look().await);
    assert_eq!((first.status, second.status), (401, 401));
    let left = |answer: &Answer| answer.number("x-ratelimit-remaining");
    assert_eq!(left(&second), left(&first) - 1, "requests count there as anywhere");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_but_the_page_is_served_on_a_domain() {
    let world = World::start().await;
    prove(&world, &world.owner, DOMAIN).await;
    for path in [
        "/v1/sites",
        "/v1/settings/notifications",
        "/v1/openapi.json",
        "/v1/docs",
        "/v1/public/check-ssl?domain=shop.example",
        "/status/",
        "/status/somebody-else",
        "/index.html",
        "/nothing",
        "//",
    ] {
        let client = world.owner.client.clone();
        let root = Client::new(&format!("http://{}", world.service.api), Some(&world.owner.key));
        let request = root.request(Method::GET, path).header("host", DOMAIN);
        let answer = client.finish(request).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
    }
    for method in [Method::POST, Method::DELETE] {
        assert_eq!(visit(&world, method.clone(), DOMAIN, "/").await.status, 404, "{method}");
    }
    let root = Client::new(&format!("http://{}", world.service.api), None);
    let browser = root.request(Method::GET, "/nothing").header("host", DOMAIN);
    let told = root.finish(browser.header("accept", "text/html,*/*;q=0.8")).await;
    assert_eq!(told.status, 404);
    assert!(told.text.contains("There is no status page here"), "for people: {}", told.text);
    world.owner.client.get("/sites").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_behind_one_address_sees_the_page_on_its_domain() {
    let world = World::start().await;
    prove(&world, &world.owner, DOMAIN).await;
    let root = Client::new(&format!("http://{}", world.service.api), None);
    let crowd = root.from_address("192.0.2.19");
    let look = async |path: &str| {
        crowd.finish(crowd.request(Method::GET, path).header("host", DOMAIN)).await
    };
    // The first look makes the domain known, and counts.
    assert_eq!(look("/").await.status, 200);
    for _ in 0..80 {
        let answer = look("/").await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        limit_headers(&answer, "on its own domain");
        assert_eq!(answer.number("x-ratelimit-limit"), 10, "the public window is told");
        assert_eq!(answer.number("x-ratelimit-remaining"), 10, "and not used");
    }
    let missing = look("/v1/sites").await;
    assert_eq!(missing.status, 404);
    limit_headers(&missing, "nothing else is served");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_nobody_has_is_served_as_before() {
    let world = World::start().await;
    prove(&world, &world.owner, DOMAIN).await;
    for host in ["other.shop.example", "shop.example", "localhost", "127.0.0.1", "[::1]"] {
        assert_eq!(get(&world, host, "/").await.status, 404, "{host}");
        assert_eq!(get(&world, host, "/v1/sites").await.status, 401, "{host}");
        assert_eq!(get(&world, host, "/v1/openapi.json").await.status, 200, "{host}");
    }
}

async fn titled(account: &Account, title: &str) {
    account.client.patch(SETTINGS, json!({"status_page_title": title})).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_claims_the_first_that_has_a_page_is_shown() {
    let world = World::start().await;
    let (first, lapsed) = (world.account("pro").await, world.account("pro").await);
    for (account, title) in [(&first, "First"), (&lapsed, "Lapsed"), (&world.owner, "Third")] {
        claim(account, DOMAIN).await;
        titled(account, title).await;
    }
    let shown = async |title: &str| {
        let page = get(&world, DOMAIN, "/").await;
        assert_eq!(page.status, 200, "{}", page.text);
        assert!(page.text.contains(title), "{title}: {}", page.text);
    };
    shown("First").await;
    let account = format!("/admin/accounts/{}", lapsed.id);
    world.service.operator().patch(&account, json!({"plan": "free"})).await.expect(200);
    let off = json!({"status_page_enabled": false});
    first.client.patch(SETTINGS, off).await.expect(200);
    shown("Third").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_follows_the_plan_at_once() {
    let world = World::start().await;
    let (holder, claimant) = (world.account("pro").await, world.account("pro").await);
    prove(&world, &holder, DOMAIN).await;
    claim(&claimant, "status.other.example").await;
    for (account, domain) in [(&holder, DOMAIN), (&claimant, "status.other.example")] {
        let path = format!("/admin/accounts/{}", account.id);
        for (plan, expected) in [("pro", 200), ("free", 404), ("pro", 200), ("starter", 404)] {
            world.service.operator().patch(&path, json!({"plan": plan})).await.expect(200);
            let shown = get(&world, domain, "/").await;
            assert_eq!(shown.status, expected, "{domain} on {plan}: {}", shown.text);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_keeps_nobody_out_and_a_proof_everybody() {
    let world = World::start().await;
    let squatter = world.account("pro").await;
    let (theirs, ours) = (claim(&squatter, DOMAIN).await, claim(&world.owner, DOMAIN).await);
    assert_ne!(theirs["value"], ours["value"]);
    titled(&squatter, "Squat").await;
    assert!(get(&world, DOMAIN, "/").await.text.contains("Squat"), "it came first");
    publish(&world, &ours);
    assert_eq!(claim(&world.owner, DOMAIN).await["verified"], true);
    assert!(get(&world, DOMAIN, "/").await.text.contains("Shop"));

    let late = world.account("pro").await;
    let body = json!({"status_page_custom_domain": DOMAIN, "status_page_title": "Late"});
    let refused = late.client.patch(SETTINGS, body).await.expect(400);
    let message = text(&refused["message"]);
    assert!(message.contains("status_page_custom_domain"), "{message}");
    assert!(message.contains("taken"), "{message}");
    let read = late.client.get(SETTINGS).await.expect(200);
    assert_eq!(read["settings"]["status_page_custom_domain"], Value::Null);
    assert_eq!(read["settings"]["status_page_title"], "", "nothing of it was changed");

    let read = squatter.client.get(SETTINGS).await.expect(200);
    assert_eq!(read["settings"]["status_page_domain_verification"]["verified"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_that_changes_hands_follows_its_dns() {
    let world = World::start().await;
    prove(&world, &world.owner, DOMAIN).await;
    let other = world.account("pro").await;
    let body = json!({"status_page_custom_domain": DOMAIN});
    other.client.patch(SETTINGS, body.clone()).await.expect(400);

    world.lab.dns.answer_type(&format!("_vedette.{DOMAIN}"), RecordType::TXT, Reply::Silence);
    other.client.patch(SETTINGS, body).await.expect(400);

    world.lab.dns.forget(&format!("_vedette.{DOMAIN}"));
    prove(&world, &other, DOMAIN).await;
    let read = world.owner.client.get(SETTINGS).await.expect(200);
    assert_eq!(read["settings"]["status_page_custom_domain"], DOMAIN, "settings stay as written");
    assert_eq!(read["settings"]["status_page_domain_verification"]["verified"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_a_domain_frees_it() {
    let world = World::start().await;
    prove(&world, &world.owner, DOMAIN).await;
    assert_eq!(get(&world, DOMAIN, "/").await.status, 200);
    let left = json!({"status_page_custom_domain": null});
    let changed = world.owner.client.patch(SETTINGS, left).await.expect(200);
    assert_eq!(changed["settings"]["status_page_domain_verification"], Value::Null);
    until("the domain to be nobody's", async || {
        (get(&world, DOMAIN, "/").await.status == 404).then_some(())
    })
    .await;
    let other = world.account("pro").await;
    prove(&world, &other, DOMAIN).await;
    assert_eq!(get(&world, DOMAIN, "/").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_names_and_what_is_no_public_name_are_refused() {
    let own = ("VEDETTE_PUBLIC_URL".to_owned(), "https://vedette.shop.example".to_owned());
    let world = World::with(|settings| settings.environment.push(own)).await;
    for domain in [
        "vedette.shop.example",
        "VEDETTE.shop.example.",
        "localhost",
        "127.0.0.1",
        "127.1",
        "::1",
        "https://status.shop.example",
        "status.shop.example:443",
        "status",
        "",
    ] {
        let body = json!({"status_page_custom_domain": domain});
        let refused = world.owner.client.patch(SETTINGS, body).await.expect(400);
        assert!(text(&refused["message"]).contains("status_page_custom_domain"), "{refused}");
    }
    let read = world.owner.client.get(SETTINGS).await.expect(200);
    assert_eq!(read["settings"]["status_page_custom_domain"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_style_sheet_is_given_back_as_it_was_written() {
    let world = World::start().await;
    let css = "@import url(//e.example);\n/* mine */ a { color : RED; background: url(x) }</style>";
    let body = json!({"status_page_custom_css": css});
    let changed = world.owner.client.patch(SETTINGS, body).await.expect(200);
    assert_eq!(changed["settings"]["status_page_custom_css"], css);
    let read = world.owner.client.get(SETTINGS).await.expect(200);
    assert_eq!(read["settings"]["status_page_custom_css"], css);
}
