//! An account that has one of everything, and what all of it looks like from outside.

use serde_json::{Value, json};
use vedette_tests::{Account, Client};

use crate::world::{World, in_days, rfc3339, text};

pub(crate) struct Tenant {
    pub(crate) account: Account,
    /// A site that nothing runs for.
    pub(crate) site: String,
    /// Its one alert: a certificate that expires soon.
    pub(crate) alert: String,
    /// A key beside the one that the client uses.
    pub(crate) key: String,
}

impl Tenant {
    pub(crate) async fn start(world: &World) -> Self {
        let account = world.account("pro").await;
        let client = &account.client;
        let body = json!({"domain": DOMAIN, "monitoring_enabled": false});
        let site = text(&client.post("/sites", body).await.expect(200)["site"]["id"]);
        let body = json!({"site_id": site, "check_type": "ssl", "result": result(5)});
        client.post("/checks", body).await.expect(200);
        let alerts = client.get("/alerts").await.expect(200);
        assert_eq!(alerts["total"], 1, "{alerts}");
        let alert = text(&alerts["alerts"][0]["id"]);
        client.post("/api-keys", json!({"name": "spare"})).await.expect(200);
        let keys = client.get("/api-keys").await.expect(200)["keys"].clone();
        let spare = keys.as_array().and_then(|keys| keys.iter().find(|key| key["name"] == "spare"));
        let key = text(&spare.expect("listed")["id"]);
        Self { account, site, alert, key }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.account.client
    }

    /// All that the account can read, except when its keys were last used.
    pub(crate) async fn state(&self) -> Value {
        let mut state = json!({});
        for path in [
            "/sites".to_owned(),
            "/alerts?resolved=all".to_owned(),
            "/api-keys".to_owned(),
            "/settings/notifications".to_owned(),
            format!("/checks?site_id={}", self.site),
            format!("/checks?site_id={}&check_type=ssl", self.site),
            format!("/cert-history?site_id={}", self.site),
        ] {
            state[&path] = self.client().get(&path).await.expect(200);
        }
        for key in state["/api-keys"]["keys"].as_array_mut().into_iter().flatten() {
            key["last_used_at"] = Value::Null;
        }
        state
    }

    /// A body or path with the ids of these resources in place of their names.
    pub(crate) fn fill(&self, template: &str) -> String {
        fill(template, &self.site, &self.alert, &self.key)
    }
}

/// `{site}`, `{alert}` and `{key}` of a template, replaced.
pub(crate) fn fill(template: &str, site: &str, alert: &str, key: &str) -> String {
    template.replace("{site}", site).replace("{alert}", alert).replace("{key}", key)
}

/// An ssl result as somebody else could have measured it, with so many days left.
pub(crate) fn result(days: i64) -> Value {
    let (from, to) = (rfc3339(in_days(-10)), rfc3339(in_days(days)));
    json!({
        "valid": true, "issuer": "Some CA", "issuer_org": null, "domain": DOMAIN,
        "valid_from": from, "valid_to": to, "expires_at": to, "days_remaining": days,
        "san": [DOMAIN], "chain": [], "chain_complete": true, "chain_error": null,
        "protocol_version": "TLSv1.3", "cipher_name": "TLS_AES_128_GCM_SHA256",
        "cipher_strength": 128, "hsts": null, "ocsp_stapling": null, "mixed_content": null,
        "error": null,
    })
}

/// The domain of every tenant's site: accounts share no names.
pub(crate) const DOMAIN: &str = "tenant.example";
