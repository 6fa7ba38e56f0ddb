//! What most tests begin with: a lab, a running service, an owner and a stranger.

use std::{fmt::Debug, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;
use vedette_tests::{Account, Lab, Service, Settings, Site};

/// Long enough for a loaded machine; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at a state that only the API shows.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

pub(crate) struct World {
    pub(crate) lab: Lab,
    pub(crate) service: Service,
    pub(crate) owner: Account,
}

impl World {
    /// An owner on the plan `pro`.
    pub(crate) async fn start() -> Self {
        Self::with(|_| ()).await
    }

    /// The same, after a change of what the program is told.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let lab = Lab::start().await.expect("loopback has free ports");
        let mut settings = lab.settings();
        change(&mut settings);
        let service = Service::start(settings).await.expect("the service starts");
        let owner =
            service.account("owner@example.com", "pro").await.expect("accounts can be made");
        Self { lab, service, owner }
    }

    pub(crate) async fn account(&self, plan: &str) -> Account {
        let email = format!("{plan}-{}@example.com", uuid::Uuid::new_v4());
        self.service.account(&email, plan).await.expect("accounts can be made")
    }

    /// A site of the lab whose certificate has this many days left.
    pub(crate) async fn site(&self, domain: &str, days: i64) -> Site {
        let certificate = self.lab.certificate(domain, days).expect("the authority signs");
        self.lab.site(domain, certificate).await.expect("loopback has free ports")
    }

    /// Registers it for the ssl check; returns the id.
    pub(crate) async fn watch(&self, domain: &str, site: &Site) -> String {
        let body = json!({"domain": domain, "custom_port": site.port(), "check_types": ["ssl"]});
        let created = self.owner.client.post("/sites", body).await.expect(200);
        text(&created["site"]["id"])
    }

    /// The owner's alerts go to the lab's receiver.
    pub(crate) async fn hook(&self) {
        let body = json!({"custom_webhook_url": self.lab.receiver.url("/hook")});
        self.owner.client.patch("/settings/notifications", body).await.expect(200);
    }

    /// The test call of the owner's notification settings.
    pub(crate) async fn send_test(&self) -> Value {
        let path = "/settings/notifications";
        self.owner.client.send(reqwest::Method::POST, path, None).await.expect(200)
    }

    /// The latest ssl record of a site, as soon as there is one that `accepts`.
    pub(crate) async fn latest_ssl(
        &self,
        site_id: &str,
        accepts: impl Fn(&Value) -> bool,
    ) -> Value {
        let path = format!("/checks?site_id={site_id}");
        until("an ssl record", async || {
            let record = self.owner.client.get(&path).await.expect(200)["ssl"].clone();
            (record.is_object() && accepts(&record)).then_some(record)
        })
        .await
    }

    /// Runs the ssl check of a registered site now, through the API.
    pub(crate) async fn check_now(&self, domain: &str, site: &Site, site_id: &str) -> Value {
        let body = json!({"domain": domain, "port": site.port(), "site_id": site_id});
        self.owner.client.post("/check-ssl", body).await.expect(200)
    }

    /// The owner's unresolved alerts, as soon as there are `count`.
    pub(crate) async fn open_alerts(&self, count: usize) -> Vec<Value> {
        until(&format!("{count} open alerts"), async || {
            let page = self.owner.client.get("/alerts").await.expect(200);
            let alerts = page["alerts"].as_array().cloned().unwrap_or_default();
            (alerts.len() == count).then_some(alerts)
        })
        .await
    }
}

/// Looks until there is an answer; fails the test when there is none in time.
pub(crate) async fn until<T: Debug>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} for {what}");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// A member that must be a string.
#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}
