//! The status page and the description in a real browser: Chromium shows them at phone and desk
//! widths, light and dark, and axe-core judges whether everybody can read them.

use std::path::PathBuf;

use chrono::{SecondsFormat, TimeDelta, Utc};
use serde_json::{Value, json};
use vedette_tests::{Account, Lab, Service};

use crate::program::{command, find, installed, pass_over, succeed, turn};

#[tokio::test(flavor = "multi_thread")]
async fn pages_can_be_read_by_everybody_and_ask_for_nothing_that_is_forbidden() {
    let needed = [("node", "nodejs"), ("chromium", "chromium")];
    if !installed(&needed) {
        return;
    }
    let Some(folder) = modules() else {
        pass_over("axe-core and puppeteer-core");
        return;
    };
    let _turn = turn().await;
    let lab = Lab::start().await.expect("loopback has free ports");
    let service = Service::start(lab.settings()).await.expect("the service starts");
    let empty = service.account("empty@example.com", "pro").await.expect("an account");
    let busy = service.account("busy@example.com", "pro").await.expect("an account");
    fill(&busy).await;
    let pages = [enable(&empty, json!({"status_page_title": "Nothing yet"})).await, {
        let style = json!({"status_page_title": "Acme", "status_page_accent_color": "#ffee00"});
        enable(&busy, style).await
    }];
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/status_page/look.mjs");
    let chromium = find("chromium").expect("it was found before");
    let description = format!("http://{}/v1/docs", service.api);
    let mut look = command("node");
    look.arg(script).arg(folder).arg(chromium).args(pages).arg(description);
    let findings = succeed(&mut look).await.expect("the browser runs");
    assert_eq!(findings, "");
}

/// The folder whose `node_modules` has what the script needs.
fn modules() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("VEDETTE_PEERS")?);
    let has = |name: &str| folder.join("node_modules").join(name).is_dir();
    (has("axe-core") && has("puppeteer-core")).then_some(folder)
}

/// Everything that a page can show: sites, a long and a hostile text, both kinds of incidents and
/// of maintenance windows.
async fn fill(owner: &Account) {
    let client = &owner.client;
    let mut site = Value::Null;
    for domain in ["shop.example", "a-rather-long-name-of-a-host.eu-central-1.example"] {
        let body = json!({"domain": domain, "check_types": ["ssl"]});
        site = client.post("/sites", body).await.expect(200)["site"]["id"].clone();
    }
    let title = format!("<b>{}</b>", "Unbreakable".repeat(15));
    let body = json!({"title": title, "severity": "critical", "affected_sites": [site]});
    client.post("/incidents", body).await.expect(200);
    let body = json!({"title": "Over", "severity": "minor"});
    let past = client.post("/incidents", body).await.expect(200)["incident"]["id"].clone();
    let path = format!("/incidents/{}", past.as_str().expect("an id"));
    client.patch(&path, json!({"status": "resolved"})).await.expect(200);
    for (from, to) in [(-1, 1), (24, 25)] {
        let at = |hours| {
            let at = Utc::now() + TimeDelta::hours(hours);
            at.to_rfc3339_opts(SecondsFormat::Secs, true)
        };
        let body = json!({"starts_at": at(from), "ends_at": at(to), "description": "New disks"});
        client.post("/maintenance-windows", body).await.expect(200);
    }
}

/// Enables the page and answers where it is.
async fn enable(owner: &Account, mut body: Value) -> String {
    body["status_page_enabled"] = json!(true);
    let answer = owner.client.patch("/settings/notifications", body).await.expect(200);
    answer["settings"]["status_page_url"].as_str().expect("an address").to_owned()
}
