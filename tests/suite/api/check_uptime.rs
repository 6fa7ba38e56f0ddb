//! `POST /check-uptime`: up, slow or down, and how long it took to tell.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};
use vedette_tests::{Leaf, Manner, OldTls, Pages, Reply, Script, gzip};

use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_answers_is_up() {
    let world = World::start().await;
    let pages = world.lab.pages("shop.example").await.expect("free port");
    pages.at("/", Script::html("<h1>open</h1>"));
    let result = look(&world, "shop.example", pages.port()).await;

    assert_eq!(result["status"], "up", "{result:#}");
    assert_eq!(result["status_code"], 200);
    assert_eq!(result["keyword_match"], Value::Null);
    assert_eq!(result["error"], Value::Null);
    let (whole, first) = (number(&result, "response_time_ms"), number(&result, "ttfb_ms"));
    assert!(0.0 < first && first <= whole && whole < 5000.0, "{result:#}");

    let asked = pages.asked("/").remove(0);
    assert_eq!(asked.method, "GET");
    assert!(asked.header("host").is_some_and(|host| host.starts_with("shop.example")));
    assert!(
        asked.header("user-agent").is_some_and(|agent| agent.to_lowercase().contains("vedette"))
    );
    assert_eq!((asked.header("cookie"), asked.header("authorization")), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn statuses_from_400_on_are_down() {
    let world = World::start().await;
    let pages = world.lab.pages("status.example").await.expect("free port");
    for (status, expected) in [
        (204, "up"),
        (301, "up"),
        (400, "down"),
        (401, "down"),
        (403, "down"),
        (404, "down"),
        (500, "down"),
        (503, "down"),
    ] {
        // A redirect without a location leads nowhere: it is the answer.
        pages.at("/", Script::status(status));
        let result = look(&world, "status.example", pages.port()).await;
        assert_eq!(result["status"], expected, "{status}: {result:#}");
        assert_eq!(result["status_code"], status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_answers_is_down_with_its_reason() {
    let world = World::start().await;
    let lab = &world.lab;
    let banner = Manner::Banner(b"220 mail.example ESMTP\r\n".to_vec());
    let mail = lab.peer("mail.example", banner).await.expect("free port");
    let torn = lab.peer("torn.example", Manner::Reset).await.expect("free port");
    let nobody = vedette_tests::free_port().await.expect("free port");
    lab.dns.answer("closed.example", Reply::address(nobody.ip()));
    let cases = [
        ("closed.example", nobody.port(), "connection_refused"),
        ("gone.example", 443, "dns_not_found"),
        ("torn.example", torn.port(), "connection_reset"),
        ("mail.example", mail.port(), ""),
    ];
    for (domain, port, error) in cases {
        let result = look(&world, domain, port).await;
        assert_eq!(result["status"], "down", "{domain}: {result:#}");
        assert_eq!(result["status_code"], 0, "{domain}");
        assert_eq!(result["keyword_match"], Value::Null, "{domain}");
        assert!(number(&result, "ttfb_ms") <= number(&result, "response_time_ms"), "{domain}");
        // What speaks no TLS may be asked in clear, too, and is no web server then either.
        assert!(result["error"].is_string(), "{domain}: {result:#}");
        assert!(error.is_empty() || result["error"] == error, "{domain}: {result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_clear_that_waits_for_the_end_of_a_request_is_up() {
    let world = World::start().await;
    // A handshake brings no empty line, so it says nothing to one.
    let pages = Pages::plain().await.expect("free port");
    world.lab.dns.answer("clear.example", Reply::address(pages.web().ip()));
    pages.at("/", Script::html("<h1>open</h1>"));
    // A busy machine has some seconds for each of the two ways to ask.
    let config = json!({"uptime": {"timeout_ms": 8_000, "degraded_ms": 0}});
    let result = configured(&world, "clear.example", &pages, config).await;
    assert_eq!((&result["status"], &result["status_code"]), (&json!("up"), &json!(200)));
    assert_eq!(result["url"], format!("http://clear.example:{}/", pages.port()), "{result:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_never_end_or_never_come_end_in_time() {
    let world = World::start().await;
    let silent = scripted(&world, "silent.example", Script::silence()).await;
    let stalled = scripted(&world, "stalled.example", Script::stalled("<h1>half")).await;
    let torn = scripted(&world, "torn.example", Script::reset()).await;
    let endless = scripted(&world, "endless.example", Script::endless()).await;
    let bomb = gzip(&vec![b'0'; 64 << 20]).await.expect("it is compressed");
    let bomb =
        Script::reply(200, &[("content-encoding", "gzip"), ("content-type", "text/html")], bomb);
    let bomb = scripted(&world, "bomb.example", bomb).await;
    let deaf = world.lab.peer("deaf.example", Manner::Silence).await.expect("free port");
    let cases = [
        ("silent.example", silent.port(), "down"),
        ("stalled.example", stalled.port(), "down"),
        ("torn.example", torn.port(), "down"),
        // More of a page than anybody reads: what was read is enough.
        ("endless.example", endless.port(), "up"),
        ("bomb.example", bomb.port(), "up"),
        ("deaf.example", deaf.port(), "down"),
    ];
    let config = json!({"uptime": {"timeout_ms": 8_000, "degraded_ms": 0}});
    let looks = cases.iter().map(|(domain, port, _)| {
        let members = json!({"custom_port": port, "check_config": config});
        async {
            let id = world.quiet_with(domain, members).await;
            world.run("uptime", domain, &id).await
        }
    });
    for ((domain, _, status), result) in cases.iter().zip(join_all(looks).await) {
        assert_eq!(result["status"], *status, "{domain}: {result:#}");
        assert_eq!(result["error"].is_string(), *status == "down", "{domain}: {result:#}");
        assert!(number(&result, "response_time_ms") < 16_000.0, "{domain}: {result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_keeps_its_status_and_its_times() {
    let world = World::start().await;
    let pages = world.lab.pages("half.example").await.expect("free port");
    let cases = [
        ("/held", Script::half(200).held(), 200, "response_timeout"),
        ("/held-failure", Script::half(500).held(), 500, "response_timeout"),
        ("/cut", Script::half(200), 200, "connection_reset"),
        ("/cut-failure", Script::half(503), 503, "connection_reset"),
        ("/round", Script::redirect("/round"), 302, "invalid_response"),
        ("/files", Script::redirect("ftp://half.example/"), 302, "invalid_response"),
        ("/unread", Script::redirect("http://[::bad"), 302, "invalid_response"),
    ];
    for (path, script, status, error) in cases {
        pages.at(path, script);
        let timeout_ms = if error == "response_timeout" { 4_000 } else { 10_000 };
        let config = json!({"uptime": {"path": path, "keyword": "half", "timeout_ms": timeout_ms}});
        let result = configured(&world, "half.example", &pages, config).await;
        assert_eq!(result["status"], "down", "{path}: {result:#}");
        assert_eq!(result["status_code"], status, "{path}: {result:#}");
        assert_eq!(result["error"], error, "{path}: {result:#}");
        assert_eq!(result["keyword_match"], Value::Null, "{path}: {result:#}");
        let (whole, first) = (number(&result, "response_time_ms"), number(&result, "ttfb_ms"));
        assert!(0.0 < first && first <= whole, "{path}: {result:#}");
        for part in ["connect_ms", "tls_ms", "first_byte_ms", "transfer_ms"] {
            assert!(result["phases"][part].is_number(), "{path}, {part}: {result:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_followed_and_the_last_answer_counts() {
    let world = World::start().await;
    let pages = world.lab.pages("moved.example").await.expect("free port");
    for hop in 1..6 {
        pages.at(&format!("/{hop}"), Script::redirect(&format!("/{}", hop + 1)));
    }
    pages.at("/", Script::redirect("1"));
    pages.at("/6", Script::html("arrived"));
    let moved = look(&world, "moved.example", pages.port()).await;
    assert_eq!((&moved["status"], &moved["status_code"]), (&json!("up"), &json!(200)), "{moved:#}");

    pages.at("/6", Script::status(500));
    let broken = look(&world, "moved.example", pages.port()).await;
    assert_eq!((&broken["status"], &broken["status_code"]), (&json!("down"), &json!(500)));

    pages.at("/", Script::redirect("/"));
    let endless = look(&world, "moved.example", pages.port()).await;
    assert_eq!((&endless["status"], &endless["redirects"]), (&json!("down"), &json!(10)));
    assert_eq!(
        (&endless["error"], &endless["failed_url"]),
        (&json!("invalid_response"), &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_nobody_who_answers_is_the_last_answer() {
    let world = World::start().await;
    let pages = world.lab.pages("moved.example").await.expect("free port");
    pages.at("/", Script::redirect("/next"));
    world.lab.dns.answer("inside.example", Reply::address("10.1.2.3".parse().expect("valid")));
    let nobody = vedette_tests::free_port().await.expect("free port");
    world.lab.dns.answer("closed.example", Reply::address(nobody.ip()));
    let closed = format!("https://closed.example:{}/", nobody.port());
    for (location, error) in [
        ("https://inside.example/", "blocked_address"),
        ("http://169.254.169.254/latest", "blocked_address"),
        ("https://gone.example/", "dns_not_found"),
        (closed.as_str(), "connection_refused"),
    ] {
        pages.at("/next", Script::redirect(location));
        let result = look(&world, "moved.example", pages.port()).await;
        assert_eq!(result["status"], "down", "{location}: {result:#}");
        assert_eq!(result["error"], error, "{location}: {result:#}");
        assert_eq!(result["status_code"], 302, "{location}: {result:#}");
        assert_eq!(result["redirects"], 1, "{location}: {result:#}");
        let answered = format!("https://moved.example:{}/next", pages.port());
        assert_eq!(result["final_url"], answered, "{location}: {result:#}");
        assert_eq!(result["failed_url"], location, "{result:#}");
        assert!(number(&result, "ttfb_ms") <= number(&result, "response_time_ms"), "{result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keyword_is_found_wherever_it_stands() {
    let world = World::start().await;
    let pages = world.lab.pages("words.example").await.expect("free port");
    let latin = [("content-type", "text/html; charset=iso-8859-1")];
    let packed = gzip("<p>Größe: 42</p>".as_bytes()).await.expect("it is compressed");
    let gzipped = [("content-encoding", "gzip"), ("content-type", "text/html; charset=utf-8")];
    pages.at("/chunks", Script::chunks(&["<p>Grö", "ße: ", "42</p>"], Duration::from_millis(20)));
    pages.at("/latin", Script::reply(200, &latin, b"<p>Gr\xf6\xdfe: 42</p>"));
    pages.at("/packed", Script::reply(200, &gzipped, packed));
    pages.at("/case", Script::html("<p>GRÖSSE: 42, größe: 42</p>"));
    pages.at("/empty", Script::status(200));
    let cases = [
        ("/chunks", true),
        ("/latin", true),
        ("/packed", true),
        ("/case", false),
        ("/empty", false),
    ];
    for (path, found) in cases {
        let config = json!({"uptime": {"path": path, "keyword": "Größe: 42"}});
        let result = configured(&world, "words.example", &pages, config).await;
        assert_eq!(result["keyword_match"], found, "{path}: {result:#}");
        assert_eq!(result["status"], if found { "up" } else { "down" }, "{path}: {result:#}");
        assert_eq!(result["status_code"], 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slower_than_wanted_is_degraded() {
    let world = World::start().await;
    let pages = world.lab.pages("slow.example").await.expect("free port");
    // Much longer than what a busy machine adds to an answer that comes at once.
    let (pause, page) = (Duration::from_secs(4), "<p>sorry to keep you waiting</p>");
    pages.at("/", Script::html(page).late(pause));
    pages.at("/body", Script::chunks(&[page], pause));
    for (path, late_first_byte) in [("/", true), ("/body", false)] {
        let config = json!({"uptime": {"path": path, "degraded_ms": 500}});
        let result = configured(&world, "slow.example", &pages, config).await;
        assert_eq!(result["status"], "degraded", "{path}: {result:#}");
        assert_eq!(result["error"], Value::Null, "{path}");
        assert!(number(&result, "response_time_ms") >= 4_000.0, "{path}: {result:#}");
        assert_eq!(number(&result, "ttfb_ms") >= 4_000.0, late_first_byte, "{path}: {result:#}");
    }
    for limit in [0, 30_000] {
        let config = json!({"uptime": {"degraded_ms": limit}});
        let result = configured(&world, "slow.example", &pages, config).await;
        assert_eq!(result["status"], "up", "{limit}: {result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_is_expected_is_up() {
    let world = World::start().await;
    let pages = world.lab.pages("login.example").await.expect("free port");
    pages.at("/", Script::status(401));
    let config = json!({"uptime": {"expected_status": [401]}});
    let result = configured(&world, "login.example", &pages, config.clone()).await;
    assert_eq!(
        (&result["status"], &result["status_code"]),
        (&json!("up"), &json!(401)),
        "{result:#}"
    );
    pages.at("/", Script::status(200));
    let result = configured(&world, "login.example", &pages, config).await;
    assert_eq!(result["status"], "down", "not the one that is expected: {result:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_count_unless_the_site_says_otherwise() {
    let world = World::start().await;
    let expired = Leaf::for_names(&["old.example"]).days_left(-3);
    let expired = world.lab.authority.issue(&expired).expect("signed");
    let pages = Pages::secure(expired).await.expect("free port");
    pages.at("/", Script::html("still here"));
    world.lab.dns.answer("old.example", Reply::address(pages.web().ip()));
    let result = look(&world, "old.example", pages.port()).await;
    assert_eq!(
        (&result["status"], &result["status_code"]),
        (&json!("down"), &json!(0)),
        "{result:#}"
    );
    assert!(result["error"].is_string());
    assert_eq!(pages.asked("/").len(), 0, "nothing is asked of a server that may be another");

    let config = json!({"uptime": {"verify_tls": false}});
    let result = configured(&world, "old.example", &pages, config).await;
    assert_eq!((&result["status"], &result["error"]), (&json!("up"), &Value::Null), "{result:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_certificate_is_told_as_by_the_ssl_check() {
    let world = World::start().await;
    let authority = &world.lab.authority;
    let short = Leaf::for_names(&["short.example"]).without_intermediate();
    let own = Leaf::for_names(&["own.example"]);
    for (domain, certificate, error) in [
        ("short.example", authority.issue(&short), "incomplete_chain"),
        ("own.example", own.self_signed(), "self_signed_certificate"),
    ] {
        let pages = Pages::secure(certificate.expect("signed")).await.expect("free port");
        world.lab.dns.answer(domain, Reply::address(pages.web().ip()));
        let result = look(&world, domain, pages.port()).await;
        assert_eq!(result["error"], error, "{result:#}");
        let body = json!({"domain": domain, "port": pages.port()});
        let ssl: Value = world.owner.client.post("/check-ssl", body).await.expect(200);
        assert_eq!(ssl["error"], error, "{ssl:#}");
    }
}

/// Visitors may well see its pages: nothing is said of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_only_the_check_cannot_talk_to_is_not_judged() {
    let world = World::start().await;
    for (domain, version, suite, is_judged) in [
        // ECDHE with CBC, RSA key exchange, and DHE.
        ("curve.example", 0x0303, 0xc014, false),
        ("cipher.example", 0x0303, 0x009c, false),
        ("prime.example", 0x0303, 0x009f, false),
        // 3DES, and TLS 1.0: clients of today turn them down, too.
        ("short.example", 0x0303, 0x000a, true),
        ("aged.example", 0x0301, 0x002f, true),
    ] {
        let certificate = world.lab.certificate(domain, 45).expect("signed");
        let server = OldTls { version, suite, certificate };
        let peer = world.lab.peer(domain, Manner::OldTls(Arc::new(server))).await;
        let peer = peer.expect("free port");
        if is_judged {
            let result = look(&world, domain, peer.port()).await;
            assert_eq!(result["status"], "down", "{domain}: {result:#}");
            assert_eq!(result["error"], "tls_handshake_failed", "{domain}: {result:#}");
        } else {
            let body = json!({"domain": domain, "port": peer.port()});
            let answer = world.owner.client.post("/check-uptime", body).await;
            assert_eq!(answer.status, 400, "{domain}: {}", answer.text);
            assert!(answer.text.contains("its TLS is older"), "{domain}: {}", answer.text);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_origin_address_of_a_site_is_not_used() {
    let world = World::start().await;
    let pages = world.lab.pages("edge.example").await.expect("free port");
    pages.at("/", Script::html("at the edge"));
    let members = json!({"custom_port": pages.port(), "origin_ip": "127.0.0.99"});
    let id = world.quiet_with("edge.example", members).await;
    let result = world.run("uptime", "edge.example", &id).await;
    assert_eq!(result["status"], "up", "uptime is what visitors see: {result:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_and_blocked_targets_are_refused() {
    let world = World::start().await;
    world.lab.dns.answer("inside.example", Reply::address("10.1.2.3".parse().expect("valid")));
    for body in [
        json!({}),
        json!({"domain": 7}),
        json!({"domain": "no spaces.example"}),
        json!({"domain": "127.0.0.1"}),
        json!({"domain": "inside.example"}),
        json!({"domain": "a.example", "port": 0}),
        json!({"domain": "a.example", "site_id": "17"}),
    ] {
        let answer = world.owner.client.post("/check-uptime", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
    }
    for (body, fields) in [
        (json!({"domain": "inside.example"}), "domain "),
        (json!({"domain": "a.example", "port": 25}), "domain and port "),
        (json!({"domain": "inside.example", "port": 443}), "domain and port "),
    ] {
        let refused = world.owner.client.post("/check-uptime", body.clone()).await.expect(400);
        let said = text(&refused["message"]);
        assert!(said.starts_with(&format!("{fields}cannot be checked: ")), "{body}: {said}");
    }
    let anonymous = world.owner.client.anonymous();
    anonymous.post("/check-uptime", json!({"domain": "a.example"})).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_result_is_the_answered_one() {
    let world = World::start().await;
    let pages = world.lab.pages("kept.example").await.expect("free port");
    for (script, status) in [(Script::html("well"), "ok"), (Script::status(500), "down")] {
        pages.at("/", script);
        let id = world.quiet_with("kept.example", json!({"custom_port": pages.port()})).await;
        let result = world.run("uptime", "kept.example", &id).await;
        let record = world.latest("uptime", &id, |_| true).await;
        assert_eq!(record["result"], result);
        assert_eq!((&record["status"], &record["source"]), (&json!(status), &json!("on_demand")));
        let page = format!("/checks?site_id={id}&check_type=uptime");
        let page = world.owner.client.get(&page).await.expect(200);
        assert_eq!((&page["total"], &page["checks"][0]), (&json!(1), &record));
        let body = json!({"domain": "kept.example", "site_id": id});
        world.account("pro").await.client.post("/check-uptime", body).await.expect(404);
        world.owner.client.delete(&format!("/sites?id={id}")).await.expect(200);
    }
}

async fn look(world: &World, domain: &str, port: u16) -> Value {
    let body = json!({"domain": domain, "port": port});
    world.owner.client.post("/check-uptime", body).await.expect(200)
}

/// Runs the check as a site of its own is configured.
async fn configured(world: &World, domain: &str, pages: &Pages, config: Value) -> Value {
    let members = json!({"custom_port": pages.port(), "check_config": config});
    let id = world.quiet_with(domain, members).await;
    let result = world.run("uptime", domain, &id).await;
    world.owner.client.delete(&format!("/sites?id={id}")).await.expect(200);
    result
}

async fn scripted(world: &World, domain: &str, script: Script) -> Pages {
    let pages = world.lab.pages(domain).await.expect("free port");
    pages.at("/", script);
    pages
}

fn number(result: &Value, field: &str) -> f64 {
    result[field].as_f64().unwrap_or_else(|| panic!("{field} is no number: {result:#}"))
}
