//! `/status/…`: the public page in all its forms, who sees it, and what it never says.

use reqwest::{Method, header};
use serde_json::{Value, json};
use vedette_tests::{Answer, Client, Script};

use crate::world::{World, rfc3339, text, time, until};

/// A client without a credential whose paths begin at the root.
fn visitor(world: &World) -> Client {
    Client::new(&format!("http://{}", world.service.api), None)
}

/// Enables the owner's page and answers its path.
async fn enable(client: &Client, body: Value) -> String {
    let mut body = body;
    body["status_page_enabled"] = json!(true);
    let settings = client.patch("/settings/notifications", body).await.expect(200);
    let slug = text(&settings["settings"]["status_page_slug"]);
    let url = text(&settings["settings"]["status_page_url"]);
    assert!(url.ends_with(&format!("/status/{slug}")), "{url}");
    format!("/status/{slug}")
}

async fn page(visitor: &Client, path: &str) -> Answer {
    let answer = visitor.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer
}

async fn data(visitor: &Client, path: &str) -> Value {
    page(visitor, &format!("{path}.json")).await.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_named_when_it_is_first_enabled_and_keeps_its_name() {
    let world = World::start().await;
    let client = &world.owner.client;
    let settings = client.get("/settings/notifications").await.expect(200)["settings"].clone();
    assert_eq!(settings["status_page_slug"], Value::Null);
    assert_eq!(settings["status_page_url"], Value::Null);
    let body = json!({"status_page_title": "Acme Status", "status_page_slug": "mine"});
    let changed = client.patch("/settings/notifications", body).await.expect(200);
    assert_eq!(changed["settings"]["status_page_slug"], Value::Null, "not enabled yet");

    assert_eq!(enable(client, json!({})).await, "/status/acme-status");
    let read = client.get("/settings/notifications").await.expect(200)["settings"].clone();
    let url = text(&read["status_page_url"]);
    assert_eq!(url, format!("http://{}/status/acme-status", world.service.api));
    let body = json!({"status_page_title": "Other", "status_page_enabled": false});
    client.patch("/settings/notifications", body).await.expect(200);
    assert_eq!(enable(client, json!({})).await, "/status/acme-status");

    let second = world.account("free").await.client;
    let title = json!({"status_page_title": "ACME status!"});
    assert_eq!(enable(&second, title).await, "/status/acme-status-2");
    let third = world.account("free").await.client;
    third.post("/sites", json!({"domain": "shop.example"})).await.expect(200);
    assert_eq!(enable(&third, json!({})).await, "/status/shop-example");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_tells_sites_incidents_and_maintenance_in_all_its_forms() {
    let world = World::start().await;
    let client = &world.owner.client;
    let shop = watched(client, "shop.example").await;
    let blog = watched(client, "blog.example").await;
    let path = enable(client, json!({"status_page_title": "Acme"})).await;
    let title = "Payments <late> & slow";
    let body = json!({"title": title, "severity": "major", "affected_sites": [shop]});
    let opened = client.post("/incidents", body).await.expect(200)["incident"].clone();
    let updates = format!("/incidents/{}/updates", text(&opened["id"]));
    let body = json!({"status": "identified", "message": "A bank is down."});
    client.post(&updates, body).await.expect(200);
    let at = |hours| rfc3339(chrono::Utc::now() + chrono::TimeDelta::hours(hours));
    let body = json!({"site_id": blog, "starts_at": at(2), "ends_at": at(3),
        "description": "New disks"});
    client.post("/maintenance-windows", body).await.expect(200);

    let visitor = visitor(&world);
    let json = data(&visitor, &path).await;
    assert_eq!(json["title"], "Acme");
    time(&json["updated_at"]);
    let sites = json["sites"].as_array().expect("sites");
    assert_eq!(sites.len(), 2);
    let shown = sites.iter().find(|site| site["domain"] == "shop.example").expect("the site");
    assert_eq!(shown["days"]["states"].as_array().map(Vec::len), Some(90));
    assert_eq!(shown["days"]["states"][0], "no_data");
    let state = text(&json["status"]["state"]);
    assert!(state == "degraded" || state == "outage", "no server has these names: {state}");
    let incident = &json["incidents"][0];
    assert_eq!((&incident["title"], &incident["status"]), (&json!(title), &json!("identified")));
    assert_eq!(incident["affected"], json!(["shop.example"]));
    assert_eq!(incident["updates"][0]["message"], "A bank is down.");
    assert_eq!(json["maintenance"][0]["domain"], "blog.example");
    assert_eq!(json["maintenance"][0]["active"], false);

    let html = page(&visitor, &path).await.text;
    for said in [
        "shop.example",
        "blog.example",
        "Payments &#60;late&#62;",
        "A bank is down.",
        "New disks",
        "Planned maintenance",
        "<h1 dir=\"auto\">Acme</h1>",
        "lang=\"en\"",
        "<main",
    ] {
        assert!(html.contains(said), "{said}: {html}");
    }
    assert!(!html.contains("<script") && !html.contains(" style="), "{html}");
    let feed = page(&visitor, &format!("{path}.rss")).await;
    assert_eq!(feed.header("content-type"), Some("application/rss+xml; charset=utf-8"));
    assert_eq!(feed.text.matches("<item>").count(), 2);
    assert!(feed.text.contains("Identified: Payments &lt;late&gt; &amp; slow"), "{}", feed.text);

    let body = json!({"status": "resolved", "message": "All is well."});
    client.post(&updates, body).await.expect(200);
    let json = data(&visitor, &path).await;
    assert_eq!(json["incidents"], json!([]), "a change is seen at once where it was made");
    assert_eq!(json["past_incidents"][0]["title"], title);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_incident_of_the_moment_is_on_the_page_at_once() {
    let world = World::start().await;
    let client = &world.owner.client;
    let path = enable(client, json!({"status_page_title": "Acme"})).await;
    let visitor = visitor(&world);
    assert_eq!(data(&visitor, &path).await["incidents"], json!([]));
    client.post("/incidents", json!({"auto_create": true})).await.expect(200);
    let shown = data(&visitor, &path).await["incidents"].clone();
    assert_eq!(shown[0]["title"], "Problem", "{shown}");
    let told = &shown[0]["updates"][0]["message"];
    assert_eq!(told, "There are no critical alerts at the moment.", "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_alerts_of_the_moment_say_is_for_the_owner_alone() {
    let world = World::start().await;
    let client = &world.owner.client;
    let hidden = world.quiet("hidden.example").await;
    let path = enable(client, json!({"status_page_title": "Acme"})).await;
    let visitor = visitor(&world);
    world.report_days(&hidden, -1).await;
    let alert = text(&world.open_alerts(1).await[0]["message"]);
    let made = client.post("/incidents", json!({"auto_create": true})).await.expect(200);
    assert!(text(&made["incident"]["updates"][0]["message"]).contains(&alert), "{made}");

    let told = data(&visitor, &path).await["incidents"][0]["updates"].clone();
    assert_eq!(told[0]["message"], "We are looking into a problem.", "{told}");
    for form in ["", ".json", ".rss"] {
        let said = page(&visitor, &format!("{path}{form}")).await.text;
        assert!(said.contains("We are looking into a problem."), "{said}");
        assert!(!said.contains("hidden.example") && !said.contains(&alert), "{said}");
        assert!(!said.contains("critical alerts"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_sees_and_no_form_holds_is_left_out() {
    let world = World::start().await;
    let client = &world.owner.client;
    watched(client, "shop.example").await;
    let path = enable(client, json!({"status_page_title": "\u{202e}\u{200b}"})).await;
    let at = |hours| rfc3339(chrono::Utc::now() + chrono::TimeDelta::hours(hours));
    let body = json!({"starts_at": at(2), "ends_at": at(3),
        "description": "New\u{0} disks\u{1b}\u{fffe}"});
    client.post("/maintenance-windows", body).await.expect(200);
    let visitor = visitor(&world);
    let json = data(&visitor, &path).await;
    assert_eq!(json["title"], "shop.example");
    assert_eq!(json["maintenance"][0]["description"], "New disks");
    let html = page(&visitor, &path).await.text;
    assert!(html.contains("New disks") && !html.contains(['\u{0}', '\u{1b}', '\u{fffe}']));
}

#[tokio::test(flavor = "multi_thread")]
async fn results_reach_the_page_by_themselves() {
    let world = World::start().await;
    let site = world.site("shop.example", 90).await;
    let body = json!({"domain": "shop.example", "custom_port": site.port()});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    let path = enable(&world.owner.client, json!({})).await;
    world.latest("uptime", &id, |record| record["status"] == "ok").await;
    let visitor = visitor(&world);
    let shown = until("the site to be operational", async || {
        let json = data(&visitor, &path).await;
        (json["sites"][0]["state"] == "operational").then(|| json["sites"][0].clone())
    })
    .await;
    assert_eq!(shown["uptime_percent"], 100.0);
    assert_eq!(shown["days"]["states"][89], "ok");
    assert!(shown["response_time_ms"].is_u64(), "{shown}");
    assert_eq!(shown["response_times_ms"].as_array().map(Vec::len), Some(24));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_whose_name_was_never_found_is_down() {
    let world = World::start().await;
    let client = &world.owner.client;
    let created = client.post("/sites", json!({"domain": "soon.example"})).await.expect(200);
    let id = text(&created["site"]["id"]);
    for _ in 0..2 {
        world.run("uptime", "soon.example", &id).await;
    }
    world.alerts("uptime", 1).await;
    let path = enable(client, json!({})).await;
    let shown = data(&visitor(&world), &path).await;
    let site = &shown["sites"][0];
    assert_eq!((&site["state"], &site["uptime_percent"]), (&json!("down"), &json!(0.0)));
    assert_eq!(site["days"]["states"][89], "down");
    assert_eq!(shown["status"]["description"], "Major outage");
}

#[tokio::test(flavor = "multi_thread")]
async fn maintenance_that_was_announced_is_no_downtime() {
    let world = World::start().await;
    let client = &world.owner.client;
    let pages = world.lab.pages("shop.example").await.expect("free port");
    pages.at("/", Script::html("open"));
    let body = json!({"domain": "shop.example", "custom_port": pages.port()});
    let created = client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    world.run("uptime", "shop.example", &id).await;
    let at = |hours| rfc3339(chrono::Utc::now() + chrono::TimeDelta::hours(hours));
    let body = json!({"site_id": id, "starts_at": at(-1), "ends_at": at(1)});
    client.post("/maintenance-windows", body).await.expect(200);
    pages.at("/", Script::status(503));
    for _ in 0..3 {
        world.run("uptime", "shop.example", &id).await;
    }
    world.alerts("uptime", 1).await;
    let path = enable(client, json!({})).await;
    let shown = data(&visitor(&world), &path).await["sites"][0].clone();
    assert_eq!((&shown["state"], &shown["uptime_percent"]), (&json!("maintenance"), &json!(100.0)));
    assert_eq!(shown["days"]["states"][89], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_off_or_never_was_is_not_there() {
    let world = World::start().await;
    let client = &world.owner.client;
    let path = enable(client, json!({"status_page_title": "Acme"})).await;
    let visitor = visitor(&world);
    for part in ["", ".json", ".rss", "/style.css", "/custom.css", "/icon.svg"] {
        page(&visitor, &format!("{path}{part}")).await;
    }
    let off = json!({"status_page_enabled": false});
    client.patch("/settings/notifications", off).await.expect(200);
    for part in ["", ".json", ".rss", "/style.css", "/custom.css", "/icon.svg"] {
        let switched_off = visitor.get(&format!("{path}{part}")).await;
        let never_was = visitor.get(&format!("/status/never-was{part}")).await;
        assert_eq!((switched_off.status, never_was.status), (404, 404), "{part}");
        assert_eq!(switched_off.text, never_was.text, "{part}");
    }
    let html = visitor.get(&path).await;
    assert_eq!(html.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(html.text.contains("no status page here"));
    // Else browsers ask for /favicon.ico, which counts in the window of their address.
    assert!(html.text.contains("rel=\"icon\" href=\"data:,\""), "{}", html.text);
    page(&visitor, "/status/style.css").await;
    assert!(visitor.get(&format!("{path}.json")).await.json()["error"].is_string());
    for path in ["/status/..%2f..%2fetc", "/status/A", "/status/%00", "/status/a.xml", "/status"] {
        assert_eq!(visitor.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_was_asked_for_too_early_is_there_once_it_is_switched_on() {
    let world = World::start().await;
    let (client, visitor) = (&world.owner.client, visitor(&world));
    for _ in 0..2 {
        assert_eq!(visitor.get("/status/acme").await.status, 404);
    }
    let path = enable(client, json!({"status_page_title": "Acme"})).await;
    assert_eq!(path, "/status/acme");
    page(&visitor, &path).await;
    let off = json!({"status_page_enabled": false});
    client.patch("/settings/notifications", off).await.expect(200);
    for _ in 0..2 {
        assert_eq!(visitor.get(&path).await.status, 404);
    }
    enable(client, json!({})).await;
    page(&visitor, &path).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_monitored_and_the_owners_is_told() {
    let world = World::start().await;
    let client = &world.owner.client;
    let body = json!({"domain": "shop.example", "custom_port": 48_123,
        "origin_ip": "127.0.0.77", "check_types": ["ssl"]});
    client.post("/sites", body).await.expect(200);
    world.quiet("hidden.example").await;
    let stranger = world.account("pro").await.client;
    watched(&stranger, "theirs.example").await;
    let title = json!({"title": "Their trouble"});
    stranger.post("/incidents", title).await.expect(200);
    let path = enable(client, json!({"status_page_title": "Acme"})).await;
    let visitor = visitor(&world);
    for form in ["", ".json", ".rss"] {
        let said = page(&visitor, &format!("{path}{form}")).await.text;
        for secret in [
            "hidden.example",
            "theirs.example",
            "Their trouble",
            "48123",
            "127.0.0.77",
            &world.owner.id,
            &world.owner.email,
        ] {
            assert!(!said.contains(secret), "{form} tells {secret}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn style_is_applied_as_far_as_the_plan_goes() {
    let world = World::start().await;
    let client = &world.owner.client;
    let style = json!({
        "status_page_title": "Acme", "status_page_hide_powered_by": true,
        "status_page_logo_url": "https://e.example/logo.svg",
        "status_page_accent_color": "#ffcc00", "status_page_custom_css": "h1 { color: teal }",
    });
    let path = enable(client, style).await;
    let visitor = visitor(&world);
    let html = page(&visitor, &path).await.text;
    assert!(html.contains("https://e.example/logo.svg") && html.contains("/custom.css"));
    assert!(!html.contains("Powered by"));
    let style = page(&visitor, &format!("{path}/style.css")).await.text;
    assert!(style.contains("--line:#ffcc00"), "the accent as it is, where nothing is read on it");
    assert!(page(&visitor, &format!("{path}/custom.css")).await.text.contains("teal"));

    let free = world.account("free").await.client;
    let body = json!({"status_page_title": "Free", "status_page_enabled": true});
    free.patch("/settings/notifications", body).await.expect(200);
    let body = json!({"status_page_custom_css": "h1 { color: teal }"});
    free.patch("/settings/notifications", body).await.expect(403);
    let html = page(&visitor, "/status/free").await.text;
    assert!(html.contains("Powered by") && !html.contains("custom.css"));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_for_everybody_and_for_caches() {
    let world = World::start().await;
    let path = enable(&world.owner.client, json!({"status_page_title": "Acme"})).await;
    let visitor = visitor(&world);
    for part in ["", ".json", ".rss", "/style.css"] {
        let answer = page(&visitor, &format!("{path}{part}")).await;
        assert_eq!(
            answer.header("content-security-policy"),
            Some(
                "default-src 'none'; style-src 'self'; img-src 'self' https: data:; \
                 form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
            )
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("public, max-age=20"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(answer.header("set-cookie"), None);
        assert_eq!(answer.number("x-monthlylimit-limit"), 0);
        let head = visitor.send(Method::HEAD, &format!("{path}{part}"), None).await;
        assert_eq!((head.status, head.text.as_str()), (200, ""));
        let post = visitor.send(Method::POST, &format!("{path}{part}"), None).await;
        assert_eq!(post.status, 405);
    }
    let style = format!("{path}/style.css");
    let tag = page(&visitor, &style).await.header("etag").expect("a tag").to_owned();
    let again = visitor.request(Method::GET, &style).header(header::IF_NONE_MATCH, tag);
    let again = visitor.finish(again).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leads_to_no_page_counts_in_the_window() {
    let world = World::start().await;
    let visitor = visitor(&world).from_address("192.0.2.10");
    let mut left = 60;
    for (method, path, status) in [
        (Method::GET, "/status/a/b/c", 404),
        (Method::POST, "/status/acme", 405),
        (Method::OPTIONS, "/status/a/b/c", 404),
    ] {
        for _ in 0..2 {
            left -= 1;
            let answer = visitor.send(method.clone(), path, None).await;
            assert_eq!(answer.status, status, "{path}");
            assert_eq!(answer.number("x-ratelimit-remaining"), left, "{method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_lead_below_the_path_of_the_public_address() {
    let toml = "public_url = \"https://example.com/watch/\"\n";
    let world = World::with(|settings| settings.toml = toml.to_owned()).await;
    let path = enable(&world.owner.client, json!({"status_page_title": "Acme"})).await;
    let html = page(&visitor(&world), &path).await.text;
    for link in ["/style.css", "/icon.svg", ".rss", ".json"] {
        assert!(html.contains(&format!("href=\"/watch{path}{link}\"")), "{link}: {html}");
    }
    let missing = visitor(&world).get("/status/nobody").await.text;
    assert!(missing.contains("href=\"/watch/status/style.css\""), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_behind_one_address_sees_the_page() {
    let world = World::start().await;
    let path = enable(&world.owner.client, json!({"status_page_title": "Acme"})).await;
    let crowd = visitor(&world).from_address("192.0.2.9");
    for _ in 0..80 {
        let answer = page(&crowd, &path).await;
        assert_eq!(answer.number("x-ratelimit-limit"), 10);
        assert_eq!(answer.number("x-ratelimit-remaining"), 10, "it is outside of the window");
    }
    // One that leaves an answer as it came.
    let http = reqwest::Client::builder().no_proxy().no_gzip().no_brotli().build();
    let http = http.expect("a client without a proxy has nothing to fail on");
    let style = format!("http://{}{path}/style.css", world.service.api);
    for coding in ["br", "gzip"] {
        let request = http.get(&style).header(header::ACCEPT_ENCODING, coding);
        let packed = request.send().await.expect("the service answers");
        let said = packed.headers().get(header::CONTENT_ENCODING);
        assert_eq!(said.and_then(|said| said.to_str().ok()), Some(coding));
    }
}

/// A monitored site that is looked at for its certificate alone; returns the id.
async fn watched(client: &Client, domain: &str) -> String {
    let body = json!({"domain": domain, "check_types": ["ssl"]});
    text(&client.post("/sites", body).await.expect(200)["site"]["id"])
}
