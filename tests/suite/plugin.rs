//! Operators' own plugins, from a file to an endpoint and back: `vedette plugin …` on the folder of a
//! running service.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpListener, time::timeout};
use vedette_tests::{Ran, Reply, Service, plugin_in};

use crate::{
    guest::{Guest, I32, Says},
    world::{World, text, until},
};

/// A service with a plugin folder, and where components come from.
pub(crate) struct Operated {
    pub(crate) world: World,
    home: TempDir,
}

impl Operated {
    pub(crate) async fn start() -> Self {
        Self::with("").await
    }

    /// The same, with further lines of the configuration.
    async fn with(lines: &str) -> Self {
        let home = TempDir::with_prefix("vedette-plugins-").expect("a folder");
        let folder = home.path().join("plugins");
        let toml = format!("[plugins]\nfolder = '{}'\n{lines}", folder.display());
        let world = World::with(|settings| settings.toml = toml).await;
        let address = "127.0.0.1".parse().expect("an address");
        world.lab.dns.answer("shop.example", Reply::address(address));
        Self { world, home }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("plugins")
    }

    /// A check of that id and version whose every run answers `{"ok": …}`; its file.
    fn component(&self, id: &str, version: &str, ok: bool) -> PathBuf {
        let name = id.split_once('.').expect("publisher.name").1;
        let event = format!("{name}.bad");
        let says = Says { id, version, event: &event, ..Says::default() };
        let mut guest = Guest::check_saying(&says, "", &[]);
        guest.manifest = format!(
            "[plugin]\nid = \"{id}\"\nversion = \"{version}\"\nkind = \"check\"\n\
             check-type = \"{name}\"\nwit = \"vedette:plugin@1\"\n"
        );
        guest.run_answers(&json!({ "ok": ok }).to_string());
        self.file(&format!("{id}-{version}.wasm"), &guest)
    }

    /// Writes a component to a file of this name.
    pub(crate) fn file(&self, name: &str, guest: &Guest) -> PathBuf {
        let file = self.home.path().join(name);
        fs::write(&file, guest.build()).expect("written");
        file
    }

    /// Runs a command on the folder.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Ran {
        plugin_in(&self.folder(), arguments).await.expect("the program runs")
    }

    /// The same, and has the service take it up.
    pub(crate) async fn change(&self, arguments: &[&str]) -> Value {
        let admin = format!("http://{}", self.world.service.admin);
        let ran = self.run(&[arguments, &["--admin", admin.as_str()]].concat()).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.json()
    }

    pub(crate) async fn install(&self, file: &Path) -> Value {
        let ran = self.run(&["install", path(file)]).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.json()
    }

    /// How the service shows a plugin.
    async fn shown(&self, id: &str) -> Value {
        shown(&self.world.service, id).await
    }

    /// What an on-demand run of the check `banner` answers.
    async fn banner(&self) -> Value {
        self.world.look("banner", "shop.example").await["ok"].clone()
    }

    /// The status of that endpoint, and of a site that lists the check.
    async fn statuses(&self, domain: &str) -> (u16, u16) {
        let client = &self.world.owner.client;
        let checked = client.post("/check-banner", json!({ "domain": "shop.example" })).await;
        let site = json!({ "domain": domain, "check_types": ["banner"] });
        (checked.status, client.post("/sites", site).await.status)
    }
}

async fn shown(service: &Service, id: &str) -> Value {
    let listing = service.operator().get("/admin/plugins").await.expect(200);
    let plugins = listing["plugins"].as_array().expect("a list");
    plugins.iter().find(|plugin| plugin["id"] == id).cloned().unwrap_or_default()
}

/// `vedette plugin run` of that file, about a site of the lab.
async fn run_from(file: &Path, more: &[&str]) -> Ran {
    let arguments = ["run", path(file), "--target", "shop.example"];
    let ran = vedette_tests::plugin(&[&arguments[..], more].concat()).await;
    ran.expect("the program runs")
}

fn path(file: &Path) -> &str {
    file.to_str().expect("a plain path")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_becomes_a_check_when_it_is_approved_and_is_none_when_it_is_disabled() {
    let operated = Operated::start().await;
    let client = &operated.world.owner.client;
    let file = operated.component("acme.banner", "1.0.0", true);
    let installed = operated.install(&file).await;
    assert_eq!(
        (&installed["state"], &installed["check_type"]),
        (&json!("pending"), &json!("banner"))
    );
    let shown = operated.shown("acme.banner").await;
    assert_eq!((&shown["state"], &shown["built_in"]), (&json!("pending"), &json!(false)));
    assert_eq!(operated.statuses("one.example").await, (404, 400));

    operated.change(&["approve", "acme.banner", "--by", "ops@example.com"]).await;
    let shown = operated.shown("acme.banner").await;
    assert_eq!((&shown["state"], &shown["version"]), (&json!("running"), &json!("1.0.0")));
    assert_eq!(shown["sha256"], installed["sha256"]);
    assert_eq!(operated.banner().await, true);
    assert_eq!(operated.statuses("two.example").await, (200, 200));
    assert_eq!(client.get("/check-banner").await.status, 405);
    assert_eq!(client.anonymous().post("/check-banner", json!({})).await.status, 401);
    let document = client.get("/openapi.json").await.expect(200).to_string();
    assert!(document.contains("/check-banner") && document.contains("BannerResult"));
    let refused = client.get("/alerts?type=other").await.expect(400);
    let known = "type must be one of ssl, dns, domain, ct, cert_change, uptime, test";
    assert_eq!(refused["message"], known);
    let tools = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert!(client.post("/mcp", tools).await.expect(200).to_string().contains("check_banner"));

    operated.change(&["disable", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await["state"], "disabled");
    assert_eq!(operated.statuses("three.example").await, (404, 400));
    assert!(!client.get("/openapi.json").await.expect(200).to_string().contains("/check-banner"));
    operated.change(&["enable", "acme.banner"]).await;
    assert_eq!(operated.banner().await, true);

    operated.change(&["remove", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await, Value::Null);
    assert_eq!(operated.statuses("four.example").await, (404, 400));
    let left = fs::read_dir(operated.folder()).expect("the folder").count();
    assert_eq!(left, 1, "the lock alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_version_takes_the_place_of_the_first_and_gives_it_back() {
    let operated = Operated::start().await;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    operated.change(&["approve", "acme.banner"]).await;
    assert_eq!(operated.banner().await, true);
    operated.install(&operated.component("acme.banner", "2.0.0", false)).await;
    assert_eq!(operated.banner().await, true, "it waits for approval");
    operated.change(&["approve", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await["version"], "2.0.0");
    assert_eq!(operated.banner().await, false);
    operated.change(&["rollback", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await["version"], "1.0.0");
    assert_eq!(operated.banner().await, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_plugin_saw_can_be_read_when_it_is_gone() {
    let operated = Operated::start().await;
    let client = &operated.world.owner.client;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    operated.change(&["approve", "acme.banner"]).await;
    let site = json!({ "domain": "shop.example", "check_types": ["banner"] });
    let site = client.post("/sites", site).await.expect(200);
    let history = |check_type| {
        let id = site["site"]["id"].as_str().expect("an id");
        format!("/checks?site_id={id}&check_type={check_type}")
    };
    let seen = until("the first run", async || {
        let page = client.get(&history("banner")).await.expect(200);
        (page["total"] != 0).then_some(page)
    })
    .await;
    operated.change(&["remove", "acme.banner"]).await;
    let kept = client.get(&history("banner")).await.expect(200);
    let oldest = |page: &Value| page["checks"].as_array().and_then(|all| all.last().cloned());
    assert_eq!(oldest(&kept), oldest(&seen));
    let refused = client.get(&history("other")).await.expect(400);
    assert!(refused["message"].to_string().contains("check_type must be one of"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_asks_for_more_runs_has_them_at_once() {
    let operated = Operated::start().await;
    let client = &operated.world.owner.client;
    let asking = |version: &str, interval: &str| {
        let says = Says { id: "acme.banner", version, event: "banner.bad", ..Says::default() };
        let mut guest = Guest::check_saying(&says, "", &[]);
        guest.manifest = format!(
            "[plugin]\nid = \"acme.banner\"\nversion = \"{version}\"\nkind = \"check\"\n\
             check-type = \"banner\"\nwit = \"vedette:plugin@1\"\n\
             [schedule]\ninterval = \"{interval}\"\n"
        );
        operated.file(&format!("{version}.wasm"), &guest)
    };
    operated.install(&asking("1.0.0", "720h")).await;
    operated.change(&["approve", "acme.banner"]).await;
    let site = json!({ "domain": "shop.example", "check_types": ["banner"] });
    let site = client.post("/sites", site).await.expect(200);
    let id = site["site"]["id"].as_str().expect("an id").to_owned();
    let runs = async |at_least: u64| {
        let page = client.get(&format!("/checks?site_id={id}&check_type=banner")).await.expect(200);
        (page["total"].as_u64() >= Some(at_least)).then_some(())
    };
    until("the first run", async || runs(1).await).await;
    operated.install(&asking("2.0.0", "5s")).await;
    operated.change(&["approve", "acme.banner"]).await;
    until("the next", async || runs(2).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_version_that_is_kept_can_be_gone_back_to() {
    let operated = Operated::start().await;
    let first = operated.component("acme.banner", "1.0.0", true);
    let hash = operated.install(&first).await["sha256"].as_str().expect("a hash").to_owned();
    operated.change(&["approve", "acme.banner"]).await;
    for version in ["2.0.0", "3.0.0"] {
        operated.install(&operated.component("acme.banner", version, false)).await;
        operated.change(&["approve", "acme.banner"]).await;
    }
    let again = operated.run(&["install", path(&first)]).await;
    assert_eq!(again.code, Some(2), "{again:?}");
    let folder = format!("--folder {}", operated.folder().display());
    let how = format!("vedette plugin approve acme.banner --sha256 {} {folder}", &hash[..12]);
    assert!(again.json().to_string().contains(&how), "{again:?}");

    operated.change(&["approve", "acme.banner", "--sha256", &hash[..12]]).await;
    assert_eq!(operated.shown("acme.banner").await["version"], "1.0.0");
    assert_eq!(operated.banner().await, true);
    operated.change(&["rollback", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await["version"], "3.0.0");
}

#[tokio::test(flavor = "multi_thread")]
async fn advice_names_the_folder_that_the_command_was_given() {
    let operated = Operated::start().await;
    let folder = format!("--folder {}", operated.folder().display());
    for (command, advice) in [
        ("approve", "vedette plugin install FILE"),
        ("disable", "vedette plugin list"),
        ("remove", "vedette plugin list"),
    ] {
        let ran = operated.run(&[command, "acme.none"]).await;
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.json().to_string().contains(&format!("{advice} {folder}")), "{ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_tampered_with_is_refused_and_the_others_go_on() {
    let operated = Operated::start().await;
    for (id, ok) in [("acme.banner", true), ("acme.other", true)] {
        operated.install(&operated.component(id, "1.0.0", ok)).await;
    }
    operated.change(&["approve", "acme.banner"]).await;
    let approved = operated.run(&["approve", "acme.other"]).await;
    assert_eq!(approved.code, Some(0), "{approved:?}");
    let hash = approved.json()["sha256"].as_str().expect("a hash").to_owned();
    let component = operated.component("acme.other", "1.0.1", false);
    fs::copy(component, operated.folder().join(format!("{hash}.wasm"))).expect("tampered with");

    let pid = operated.world.service.pid().expect("it runs").to_string();
    let told = std::process::Command::new("kill").args(["-HUP", &pid]).status();
    assert!(told.expect("kill runs").success());
    let refused = until("the refusal", async || {
        let shown = operated.shown("acme.other").await;
        (shown["state"] == "failed").then_some(shown)
    })
    .await;
    let error = refused["error"].as_str().expect("a sentence");
    assert!(error.contains("is not the file that was approved"), "{error}");
    assert_eq!(operated.banner().await, true);
    let client = &operated.world.owner.client;
    let other = client.post("/check-other", json!({ "domain": "shop.example" })).await;
    assert_eq!(other.status, 404);

    let Operated { world, home: _home } = operated;
    let mut service = world.service;
    service.stop().await.expect("it ends");
    let service = service.start_again().await.expect("it starts without the one that is bad");
    assert_eq!(shown(&service, "acme.other").await["state"], "failed");
    assert_eq!(shown(&service, "acme.banner").await["state"], "running");
    assert_eq!(shown(&service, "vedette.check-ssl").await["state"], "running");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_cannot_be_followed_changes_nothing() {
    let operated = Operated::start().await;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    operated.change(&["approve", "acme.banner"]).await;
    fs::write(operated.folder().join("plugins.lock"), "version = 2\n").expect("written");
    let operator = operated.world.service.operator();
    let refused = operator.send(Method::POST, "/admin/plugins/reload", None).await;
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.text.contains("its version is 2"), "{refused:?}");
    let listing = operator.get("/admin/plugins").await.expect(200);
    assert!(listing["lock_error"].is_string());
    assert_eq!(operated.banner().await, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_at_the_same_moment_are_all_kept() {
    let operated = Operated::start().await;
    let ids = ["acme.a", "acme.b", "acme.c", "acme.d"];
    for id in ids {
        operated.install(&operated.component(id, "1.0.0", true)).await;
    }
    let approve = |id| {
        let operated = &operated;
        async move { operated.run(&["approve", id]).await }
    };
    for ran in futures::future::join_all(ids.map(approve)).await {
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let listed = operated.run(&["list"]).await.json().to_string();
    assert_eq!(listed.matches("\"enabled\"").count(), ids.len(), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_the_service_keeps_nobody_from_the_folder() {
    let operated = Operated::start().await;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    // Connections are taken and never answered.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let admin = format!("http://{}", silent.local_addr().expect("bound"));
    let another = async {
        until("the approval", async || {
            let lock = fs::read_to_string(operated.folder().join("plugins.lock")).ok()?;
            lock.contains("acme.banner").then_some(())
        })
        .await;
        // Half of what the first of them waits for its service.
        timeout(Duration::from_secs(30), operated.run(&["disable", "acme.banner"])).await
    };
    let approve = ["approve", "acme.banner", "--admin", admin.as_str()];
    tokio::select! {
        approved = operated.run(&approve) => panic!("nobody took it up: {approved:?}"),
        ran = another => {
            let ran = ran.expect("the folder is free");
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_at_fault_is_the_exit_code() {
    let operated = Operated::start().await;
    let good = operated.component("acme.banner", "1.0.0", true);
    let taken = operated.component("acme.ssl", "1.0.0", true);
    let ours = operated.component("vedette.banner", "1.0.0", true);
    let junk = operated.home.path().join("junk.wasm");
    fs::write(&junk, "junk").expect("written");
    let torn = operated.home.path().join("torn.wasm");
    fs::write(&torn, [&fs::read(&good).expect("readable")[..], &b"behind"[..]].concat())
        .expect("written");
    let zeros = "0".repeat(64);
    let api = format!("http://{}", operated.world.service.api);
    let inspected = operated.run(&["inspect", path(&good)]).await.json();
    let hash = inspected["sha256"].as_str().expect("a hash").to_ascii_uppercase();
    for (arguments, code, said) in [
        (vec!["inspect", path(&good)], 0, "acme.banner"),
        (vec!["inspect", path(&junk)], 1, "not a WebAssembly component"),
        (vec!["inspect", "/nowhere.wasm"], 2, "cannot read /nowhere.wasm"),
        (vec!["inspect", path(&taken)], 1, "not be installed: the check type ssl is built in"),
        (vec!["inspect", path(&torn)], 1, "not be installed: the component does not compile"),
        (vec!["install", path(&torn)], 1, "the component does not compile"),
        (
            vec!["install", path(&good), "--sha256", zeros.as_str()],
            1,
            "get the file that its author",
        ),
        (vec!["install", path(&taken)], 1, "the check type ssl is built in"),
        (vec!["install", path(&ours)], 1, "the publisher vedette"),
        (vec!["install", path(&good)], 0, "pending"),
        (vec!["approve", "acme.banner", "--grant", "dns"], 2, "--grant names dns"),
        (vec!["approve", "acme.banner", "--grant", ""], 2, "--grant has an empty name"),
        (vec!["approve", "acme.banner", "--by", " "], 2, "--by is empty"),
        (vec!["list", "--admin", api.as_str()], 2, "is not the operator's port"),
        (vec!["approve", "acme.banner", "--sha256", "g"], 2, "SHA-256 that begins with g"),
        (vec!["approve", "acme.other"], 2, "vedette plugin install FILE"),
        (vec!["rollback", "acme.banner"], 2, "no plugin acme.banner is approved"),
        (vec!["approve", "acme.banner", "--sha256", hash.as_str()], 0, "acme.banner"),
        (vec!["rollback", "acme.banner"], 2, "to go back to"),
        (vec!["install", path(&good)], 2, "is approved already"),
        (vec!["list"], 0, "enabled"),
        (vec!["disable", "acme.banner"], 0, "acme.banner"),
        (vec!["remove", "acme.other"], 2, "there is no plugin acme.other"),
    ] {
        let ran = operated.run(&arguments).await;
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(ran.json().to_string().contains(said), "{arguments:?}: {ran:?}");
    }
    // What can be shown of it is shown all the same.
    let refused = operated.run(&["inspect", path(&torn)]).await.json();
    assert_eq!((&refused["id"], &refused["error"]), (&json!("acme.banner"), &json!("plugin")));
    assert_eq!(refused["manifest_sha256"], inspected["manifest_sha256"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_a_plugin_cannot_be_loaded_with_changes_nothing() {
    let operated = Operated::start().await;
    let [random, tcp] = ["vedette:env/random@1.0.0", "vedette:net/tcp@1.0.0"];
    let capabilities = "random = true\ntcp = { to = [\"target:25\"] }";
    let mut guest = Guest::check(capabilities, &[random, tcp]);
    guest.import(random, "bytes", &[I32; 2], &[]);
    guest.import(tcp, "exchange", &[I32; 11], &[]);
    operated.install(&operated.file("test.wasm", &guest)).await;
    let refused = operated.run(&["approve", "acme.test", "--grant", "random"]).await;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let refused = refused.json()["message"].to_string();
    assert!(refused.contains("--grant leaves out tcp") && refused.contains(tcp), "{refused}");
    let listed = operated.run(&["list"]).await.json();
    assert_eq!(listed["plugins"][0]["state"], "pending", "{listed}");
    operated.change(&["approve", "acme.test", "--grant", "random,tcp"]).await;
    assert_eq!(operated.shown("acme.test").await["state"], "running");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_the_service_does_not_see_is_told() {
    let operated = Operated::start().await;
    let admin = format!("http://{}", operated.world.service.admin);
    let first = operated.component("acme.banner", "1.0.0", true);
    let second = operated.component("acme.banner", "2.0.0", true);
    let folder = operated.home.path().join("elsewhere");
    for (arguments, admin, code, said) in [
        (vec!["install", path(&first)], None, 0, "pending"),
        (vec!["approve", "acme.banner"], Some(admin.as_str()), 2, "knows no acme.banner"),
        (vec!["disable", "acme.banner"], Some(admin.as_str()), 2, "name that folder with --folder"),
        (vec!["enable", "acme.banner"], Some(admin.as_str()), 2, "/plugins, seen from where"),
        (vec!["install", path(&second)], None, 0, "pending"),
        (vec!["approve", "acme.banner"], Some("http://127.0.0.1:1"), 2, "the folder is changed"),
        (vec!["rollback", "acme.banner"], Some("http://127.0.0.1:1"), 2, "the folder is changed"),
        (vec!["list"], None, 0, "\"version\":\"1.0.0\""),
        (vec!["remove", "acme.banner"], Some(admin.as_str()), 0, "acme.banner"),
    ] {
        let told = admin.map_or(Vec::new(), |admin| vec!["--admin", admin]);
        let ran = plugin_in(&folder, &[arguments.as_slice(), told.as_slice()].concat()).await;
        let ran = ran.expect("the program runs");
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(ran.json().to_string().contains(said), "{arguments:?}: {ran:?}");
    }

    operated.install(&first).await;
    operated.change(&["approve", "acme.banner"]).await;
    for file in [&first, &second] {
        let ran = plugin_in(&folder, &["install", path(file)]).await.expect("the program runs");
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let remove = ["remove", "acme.banner", "--admin", admin.as_str()];
    let ran = plugin_in(&folder, &remove).await.expect("the program runs");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.json().to_string().contains("still has acme.banner"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_check_of_an_operators_plugin_needs_no_service() {
    let operated = Operated::start().await;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    let folder = operated.folder();
    let settings = vedette_tests::Settings {
        toml: format!("[plugins]\nfolder = '{}'\n", folder.display()),
        ..operated.world.lab.settings()
    };
    let arguments = ["banner", "shop.example", "--json"];
    let pending = vedette_tests::check(&settings, &arguments).await.expect("the program runs");
    assert_eq!(pending.code, Some(2), "{pending:?}");
    assert_eq!(operated.run(&["approve", "acme.banner"]).await.code, Some(0));
    let ran = vedette_tests::check(&settings, &arguments).await.expect("the program runs");
    assert_eq!((ran.code, &ran.json()["ok"]), (Some(0), &json!(true)), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_is_run_from_its_file_and_tells_what_that_cost() {
    let operated = Operated::start().await;
    let dns = operated.world.lab.settings().dns;
    let dns = dns.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let network = ["--egress-allow", "127.0.0.0/8", "--dns-server", dns.as_str(), "--json"];
    let good = operated.component("acme.banner", "1.0.0", true);
    let ran = run_from(&good, &network).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = ran.json();
    assert_eq!((&said["id"], &said["health"]), (&json!("acme.banner"), &json!("ok")));
    assert_eq!((&said["result"], &said["findings"]), (&json!({ "ok": true }), &json!([])));
    assert_eq!(said["costs"]["calls"]["used"], 0, "{said}");
    assert!(said["costs"]["memory"]["used"].as_u64().is_some_and(|kib| kib > 0), "{said}");
    assert!(!operated.folder().exists(), "nothing is installed");

    let mut broken = Guest::check("", &[]);
    broken.run(|code| {
        code.unreachable();
    });
    let broken = operated.file("broken.wasm", &broken);
    let channel = operated.file("pager.wasm", &Guest::channel("ref:pager_url"));
    let ours = operated.component("acme.ssl", "1.0.0", true);
    for (file, more, code, said) in [
        (&broken, vec![], 1, "it trapped"),
        (&ours, vec![], 1, "the check type ssl is built in"),
        (&channel, vec![], 2, "acme.pager is a channel"),
        (&good, vec!["--secret", "token"], 2, "--secret must be NAME=VARIABLE"),
    ] {
        let ran = run_from(file, &[&network[..], more.as_slice()].concat()).await;
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.json().to_string().contains(said), "{ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_broke_too_often_is_shown_as_paused() {
    let operated = Operated::start().await;
    let mut broken = Guest::check("", &[]);
    broken.run(|code| {
        code.unreachable();
    });
    operated.install(&operated.file("broken.wasm", &broken)).await;
    operated.change(&["approve", "acme.test"]).await;
    assert_eq!(operated.shown("acme.test").await["paused_for_seconds"], Value::Null);
    let client = &operated.world.owner.client;
    for _ in 0..5 {
        let ran = client.post("/check-test", json!({ "domain": "shop.example" })).await;
        assert_eq!(ran.status, 500);
    }
    let shown = operated.shown("acme.test").await;
    let paused = shown["paused_for_seconds"].as_u64();
    assert!(paused.is_some_and(|seconds| (1..=30).contains(&seconds)), "{shown}");
    assert_eq!(operated.shown("vedette.check-ssl").await["paused_for_seconds"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_that_broke_has_its_answer_long_before_its_next_regular_run() {
    let operated = Operated::with("[confirm]\nrecheck = \"1s\"\n").await;
    let mut broken = Guest::check("", &[]);
    broken.run(|code| {
        code.unreachable();
    });
    operated.install(&operated.file("broken.wasm", &broken)).await;
    operated.change(&["approve", "acme.test"]).await;
    let site = json!({ "domain": "shop.example", "check_types": ["test"] });
    let made = operated.world.owner.client.post("/sites", site).await.expect(200);
    let id = text(&made["site"]["id"]);
    let first = operated.world.latest("test", &id, |_| true).await;
    assert_eq!((&first["status"], &first["error"]), (&json!("unknown"), &json!("plugin_failed")));
    let mut mended = Guest::check_saying(&Says { version: "1.0.1", ..Says::default() }, "", &[]);
    mended.manifest = mended.manifest.replace("1.0.0", "1.0.1");
    operated.install(&operated.file("mended.wasm", &mended)).await;
    operated.change(&["approve", "acme.test"]).await;
    operated.world.latest("test", &id, |record| record["status"] == "ok").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_are_shown_with_their_limits_and_gates() {
    let world = World::start().await;
    let plans = world.service.operator().get("/admin/plans").await.expect(200);
    let editions = plans["editions"].as_array().expect("a list");
    assert_eq!(editions.len(), 2);
    assert_eq!((&editions[0]["id"], &editions[0]["mounted"]), (&json!("standard"), &json!(true)));
    assert_eq!((&editions[1]["id"], &editions[1]["mounted"]), (&json!("team"), &json!(false)));
    let starter = &editions[0]["plans"][1];
    assert_eq!((&starter["id"], &starter["sites"]), (&json!("starter"), &json!(10)));
    assert_eq!(starter["features"], json!(["email", "chat_webhooks", "custom_webhook"]));
    assert_eq!(editions[0]["plans"][0]["min_interval_seconds"], json!({ "uptime": 300 }));
}
