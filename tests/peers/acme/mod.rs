//! Renewal, from the request to the certificate, against `pebble`: an authority that asks for the
//! proof in the DNS, of a name server that takes it by signed update.

mod pebble;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};
use vedette_tests::{Account, Lab, RecordType, Reply, Service, UpdateKey};

use crate::program::{installed, turn};
use pebble::{NAME, Pebble};

/// A debug build and an authority that looks several times need this at most.
const PATIENCE: Duration = Duration::from_secs(240);

struct World {
    lab: Lab,
    service: Service,
    owner: Account,
    _pebble: Pebble,
}

impl World {
    /// An owner for whom renewal is on; the authority is the configured one.
    async fn start() -> anyhow::Result<Self> {
        let lab = Lab::start().await?;
        lab.dns.answer(NAME, Reply::address([127, 0, 0, 1].into()));
        let pebble = Pebble::start(&lab).await?;
        let mut settings = lab.settings();
        settings.toml = format!(
            "[renewal]\ndirectory_url = \"{}\"\ncontact = \"ops@vedette.example\"\n\
             propagation = \"0s\"\n",
            pebble.directory()
        );
        let service = Service::start(settings).await?;
        let owner = service.account("owner@example.com", "pro").await?;
        let path = format!("/admin/accounts/{}", owner.id);
        service.operator().patch(&path, json!({"renewal": true})).await.expect(200);
        Ok(Self { lab, service, owner, _pebble: pebble })
    }

    /// A site that the lab's name server can prove, with this key.
    async fn site(&self, domain: &str, key: &UpdateKey) -> String {
        let body = json!({
            "domain": domain,
            "monitoring_enabled": false,
            "dns_provider": "rfc2136",
            "dns_provider_config": {
                "server": self.lab.dns.address().to_string(),
                "zone": domain,
                "key_name": key.name,
                "key_secret": key.secret(),
            },
        });
        let created = self.owner.client.post("/sites", body).await.expect(200);
        created["site"]["id"].as_str().expect("an id").to_owned()
    }

    /// Renews and waits for the end; answers the newest line of the log.
    async fn renew(&self, site: &str) -> Value {
        self.owner.client.post("/renewal", json!({"site_id": site})).await.expect(200);
        let end = Instant::now() + PATIENCE;
        loop {
            let log = self.owner.client.get(&format!("/renewal?site_id={site}")).await.expect(200);
            let newest = log["logs"][0].clone();
            if newest["status"] != "pending" {
                return newest;
            }
            let said = self.service.output();
            assert!(Instant::now() < end, "waited {PATIENCE:?} for a renewal:\n{said}");
            sleep(Duration::from_millis(200)).await; // only the API tells
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pebble_issues_what_the_dns_proves() {
    if !installed(&[("pebble", "pebble")]) {
        return;
    }
    let _turn = turn().await;
    let world = World::start().await.expect("the service and pebble start");
    let key = UpdateKey::new("renewal-key");
    world.lab.dns.take_updates(&key);
    let site = world.site("shop.example", &key).await;
    let path = format!("/renewal/certificate?site_id={site}");
    world.owner.client.get(&path).await.expect(404);

    let newest = world.renew(&site).await;
    assert_eq!(newest["status"], "success", "{newest}\n{}", world.service.output());
    let renewed = world.owner.client.get(&path).await.expect(200);
    let chain = renewed["certificate"].as_str().expect("PEM");
    assert!(chain.matches("BEGIN CERTIFICATE").count() >= 2, "with the intermediate: {chain}");
    let private_key = renewed["private_key"].as_str().expect("PEM");
    assert!(private_key.starts_with("-----BEGIN PRIVATE KEY-----"));
    let expires_at: DateTime<Utc> =
        renewed["expires_at"].as_str().and_then(|text| text.parse().ok()).expect("a time");
    assert!(expires_at > Utc::now() + TimeDelta::days(1));
    assert!(!world.service.output().contains(private_key));

    let owner = "_acme-challenge.shop.example";
    assert!(world.lab.dns.asked(owner, RecordType::TXT) > 0, "the authority has looked");
    assert!(world.lab.dns.records(owner, RecordType::TXT).is_empty(), "the proof was taken out");

    // Again, with the account that was made the first time.
    let newest = world.renew(&site).await;
    assert_eq!(newest["status"], "success", "{newest}");
    let again = world.owner.client.get(&path).await.expect(200);
    assert_ne!(again["private_key"], renewed["private_key"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_server_that_does_not_know_the_key_fails_the_renewal() {
    if !installed(&[("pebble", "pebble")]) {
        return;
    }
    let _turn = turn().await;
    let world = World::start().await.expect("the service and pebble start");
    world.lab.dns.take_updates(&UpdateKey::new("another-key"));
    let site = world.site("shop.example", &UpdateKey::new("renewal-key")).await;
    let newest = world.renew(&site).await;
    assert_eq!(newest["status"], "failed");
    let said = newest["message"].as_str().expect("a sentence");
    assert!(said.contains("key_secret"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_that_the_authority_does_not_find_fails_with_its_words() {
    if !installed(&[("pebble", "pebble")]) {
        return;
    }
    let _turn = turn().await;
    let world = World::start().await.expect("the service and pebble start");
    // The updates go to a name server that the authority does not ask.
    let elsewhere = Lab::start().await.expect("free ports");
    let key = UpdateKey::new("renewal-key");
    elsewhere.dns.take_updates(&key);
    let site = world.site("shop.example", &key).await;
    let server = json!({"dns_provider_config": {
        "server": elsewhere.dns.address().to_string(),
        "zone": "shop.example",
        "key_name": key.name,
        "key_secret": key.secret(),
    }});
    world.owner.client.patch(&format!("/sites?id={site}"), server).await.expect(200);
    let newest = world.renew(&site).await;
    assert_eq!(newest["status"], "failed");
    let said = newest["message"].as_str().expect("a sentence");
    assert!(said.contains("did not accept the proof"), "{said}");
    let owner = "_acme-challenge.shop.example";
    assert!(elsewhere.dns.records(owner, RecordType::TXT).is_empty(), "the proof was taken out");
}
