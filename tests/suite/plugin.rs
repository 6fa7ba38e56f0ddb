//! Operators' own plugins, from a file to an endpoint and back: `vedette plugin …` on the folder of a
//! running service.

mod broken;
mod case;
mod channel;
mod command;
mod folder;
mod project;
mod run;
mod set;
mod version;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};
use tempfile::TempDir;
use vedette_sandbox::{
    MemoryState, Options, Sandbox,
    egress::{self, DnsServer, Egress, Policy},
};
use vedette_tests::{Ran, Reply, Service, plugin_in};

use crate::{
    guest::{Guest, Says},
    world::World,
};

/// A service with a plugin folder, and where components come from.
struct Operated {
    world: World,
    home: TempDir,
}

impl Operated {
    async fn start() -> Self {
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
        self.file(&format!("{id}-{version}.wasm"), &Self::guest(id, version, ok))
    }

    fn guest(id: &str, version: &str, ok: bool) -> Guest {
        let name = id.split_once('.').expect("publisher.name").1;
        let event = format!("{name}.bad");
        let says = Says { id, version, event: &event, ..Says::default() };
        let mut guest = Guest::check_saying(&says, "", &[]);
        guest.manifest = format!(
            "[plugin]\nid = \"{id}\"\nversion = \"{version}\"\nkind = \"check\"\n\
             check-type = \"{name}\"\nwit = \"vedette:plugin@1\"\n"
        );
        guest.run_answers(&json!({ "ok": ok }).to_string());
        guest
    }

    /// Writes a component to a file of this name.
    fn file(&self, name: &str, guest: &Guest) -> PathBuf {
        let file = self.home.path().join(name);
        fs::write(&file, guest.build()).expect("written");
        file
    }

    /// Runs a command on the folder.
    async fn run(&self, arguments: &[&str]) -> Ran {
        plugin_in(&self.folder(), arguments).await.expect("the program runs")
    }

    /// The same, and has the service take it up.
    async fn change(&self, arguments: &[&str]) -> Value {
        let admin = format!("http://{}", self.world.service.admin);
        let ran = self.run(&[arguments, &["--admin", admin.as_str()]].concat()).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.json()
    }

    async fn install(&self, file: &Path) -> Value {
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

/// A sandbox of no service, whose runs may reach loopback.
fn sandbox_with(dns: DnsServer, roots: Vec<CertificateDer<'static>>) -> Sandbox {
    let allow = vec!["127.0.0.0/8".parse().expect("a range")];
    let egress = Egress::new(egress::Options {
        policy: Policy { allow, ..Policy::default() },
        dns_servers: vec![dns],
        roots,
        ..egress::Options::default()
    });
    let options = Options {
        egress: egress.expect("an egress layer"),
        cache_dir: None,
        settings: Default::default(),
        state: Arc::new(MemoryState::default()),
    };
    Sandbox::new(options).expect("a sandbox")
}

fn path(file: &Path) -> &str {
    file.to_str().expect("a plain path")
}
