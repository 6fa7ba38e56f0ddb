//! A service with something to tell: a site, its alert, a stranger's site.

use anyhow::Context;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};
use vedette_tests::{Account, Lab, Registry, Service, Settings, Site, program, registration};

/// What all clients ask about.
pub(crate) const DOMAIN: &str = "shop.example";
/// What a subscriber adds.
pub(crate) const NEW_DOMAIN: &str = "new.example";

/// A debug build raises an alert in this time on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct World {
    pub(crate) service: Service,
    pub(crate) owner: Account,
    site: String,
    alert: String,
    foreign: String,
    _lab: (Lab, Site, Registry),
}

impl World {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let lab = Lab::start().await?;
        let registry = Registry::start(&["example"]).await?;
        registry.name_in(&lab.dns);
        let expires = chrono::Utc::now() + chrono::TimeDelta::days(200);
        registry.rdap.register(DOMAIN, &registration(DOMAIN, "Lab Registrar", expires));
        let server = lab.site(DOMAIN, lab.certificate(DOMAIN, 5)?).await?;
        let service = Service::start(Settings {
            toml: registry.toml(),
            public_egress_allow: vec!["127.0.0.1/32".into()],
            ..lab.settings()
        })
        .await?;
        let owner = service.account("owner@example.com", "pro").await?;
        let stranger = service.account("stranger@example.com", "pro").await?;
        let site = add(&owner, DOMAIN).await?;
        let foreign = add(&stranger, "stranger.example").await?;
        let check = json!({"domain": DOMAIN, "port": server.port(), "site_id": site});
        owner.client.post("/check-ssl", check).await.expect(200);
        let alert = alert(&owner).await?;
        Ok(Self { service, owner, site, alert, foreign, _lab: (lab, server, registry) })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/v1{path}", self.service.api)
    }

    /// What a client's script is told; `packages` is the folder above `node_modules`.
    pub(crate) fn task(&self, packages: &str) -> Value {
        json!({
            "url": self.url("/mcp"),
            "public_url": self.url("/public/mcp"),
            "key": self.owner.key,
            "program": program().expect("it was built"),
            "packages": packages,
            "domain": DOMAIN,
            "new_domain": NEW_DOMAIN,
            "site_id": self.site,
            "alert_id": self.alert,
            "foreign_id": self.foreign,
        })
    }
}

/// A site that nothing runs for but what is asked for.
async fn add(account: &Account, domain: &str) -> anyhow::Result<String> {
    let body = json!({"domain": domain, "monitoring_enabled": false});
    let created = account.client.post("/sites", body).await.expect(200);
    Ok(created["site"]["id"].as_str().context("a site has an id")?.to_owned())
}

async fn alert(account: &Account) -> anyhow::Result<String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let page = account.client.get("/alerts").await.expect(200);
        if let Some(id) = page["alerts"][0]["id"].as_str() {
            return Ok(id.to_owned());
        }
        anyhow::ensure!(Instant::now() < end, "no alert in {PATIENCE:?}");
        sleep(Duration::from_millis(200)).await; // only the API tells
    }
}
