//! The example of `sdk/javascript`, from its sources to an alert: its own tests, the component that
//! SpiderMonkey and it become, the gate, the service.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::Duration,
};

use aws_lc_rs::digest::{self, SHA256};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::timeout;
use vedette_tests::{Lab, Script, Service, plugin_in};

use crate::program::{command, has_node, pass_over, succeed, turn};

/// A snapshot of the engine is made: some ten seconds of CPU.
const BUILDING: Duration = Duration::from_secs(900);
const DOMAIN: &str = "shop.example";

#[tokio::test(flavor = "multi_thread")]
async fn a_check_in_javascript_is_built_approved_and_told_of() {
    let Some(packages) = packages().await else { return };
    let _turn = turn().await;
    let home = TempDir::with_prefix("vedette-javascript-").expect("a folder");
    let project = lay_out(home.path(), &packages).await;
    let tested = succeed(command("node").arg("--test").current_dir(&project)).await;
    tested.expect("the example's own tests pass");
    let component = build(&project).await;
    let plugins = home.path().join("plugins");
    approve(&plugins, &component).await;

    let lab = Lab::start().await.expect("loopback has free ports");
    let pages = lab.pages(DOMAIN).await.expect("loopback has free ports");
    let mut settings = lab.settings();
    settings.toml = format!("[plugins]\nfolder = '{}'\n", plugins.display());
    let service = Service::start(settings).await.expect("the service starts");
    let owner = service.account("owner@example.com", "pro").await.expect("an account");
    let client = &owner.client;
    let body = json!({
        "domain": DOMAIN,
        "custom_port": pages.port(),
        "check_types": ["json_health"],
        "check_config": {"json_health": {"path": "/health"}},
        "monitoring_enabled": false,
    });
    let site = client.post("/sites", body).await.expect(200)["site"].clone();
    // Filled in by `validate`.
    assert_eq!(site["check_config"]["json_health"]["scheme"], "https", "{site}");

    // The second of two bad runs in a row is told, and the first good one ends it.
    for (status, alerts) in [("up", 0), ("draining", 0), ("draining", 1), ("up", 0)] {
        pages.at("/health", Script::json(&json!({"status": status})));
        let body = json!({"domain": DOMAIN, "site_id": site["id"]});
        let result = client.post("/check-json_health", body).await.expect(200);
        assert_eq!(result, json!({"status": status, "error": null}));
        let open = client.get("/alerts").await.expect(200);
        assert_eq!(open["total"], alerts, "{open}");
        if alerts > 0 {
            let alert = &open["alerts"][0];
            assert_eq!(alert["event"], "json_health.unhealthy", "{alert}");
            assert_eq!(alert["message"], "it says that it is \"draining\"");
        }
    }
}

/// The folder whose `node_modules` has what builds a plugin.
async fn packages() -> Option<PathBuf> {
    if !has_node().await {
        return None;
    }
    let folder = PathBuf::from(std::env::var_os("VEDETTE_PEERS").unwrap_or_default());
    let packages = std::path::absolute(folder.join("javascript/node_modules")).ok()?;
    let is_there = packages.join("@bytecodealliance/componentize-js").is_dir();
    if !is_there {
        pass_over("@bytecodealliance/componentize-js");
    }
    is_there.then_some(packages)
}

/// What a checkout has after `npm install`, without writing into this one; the example's folder.
async fn lay_out(home: &Path, packages: &Path) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let sdk = home.join("sdk/javascript");
    fs::create_dir_all(&sdk).expect("a folder");
    let mut copy = command("cp");
    copy.arg("-r").arg(root.join("wit")).arg(home);
    succeed(&mut copy).await.expect("the contract is copied");
    let mut copy = command("cp");
    let wanted = ["build.mjs", "package.json", "example"];
    copy.arg("-r").args(wanted.map(|name| root.join("sdk/javascript").join(name))).arg(&sdk);
    succeed(&mut copy).await.expect("the kit is copied");
    symlink(packages, sdk.join("node_modules")).expect("a link");
    sdk.join("example")
}

/// The component's file.
async fn build(project: &Path) -> PathBuf {
    let mut node = command("node");
    node.arg("../build.mjs").current_dir(project);
    let built = timeout(BUILDING, node.output()).await.expect("it ends").expect("Node runs");
    let errors = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{errors}");
    PathBuf::from(String::from_utf8(built.stdout).expect("a path").trim())
}

/// Puts it into the folder as `vedette plugin install` does, which would compile it once more.
async fn approve(plugins: &Path, component: &Path) {
    fs::create_dir(plugins).expect("a folder");
    let bytes = fs::read(component).expect("the component");
    let hash = hex::encode(digest::digest(&SHA256, &bytes));
    fs::write(plugins.join(format!("{hash}.wasm")), bytes).expect("written");
    let approved = plugin_in(plugins, &["approve", "acme.json-health"]).await;
    let approved = approved.expect("the program runs");
    assert_eq!(approved.code, Some(0), "{approved:?}");
}
