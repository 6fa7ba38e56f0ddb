//! An RDAP service with its bootstrap file (RFC 9224, RFC 9083).

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::{Asked, Pages, Script};

/// One service for all top-level domains of its bootstrap file. A domain never set is 404.
pub struct Rdap {
    pages: Pages,
}

impl Rdap {
    pub async fn start(tlds: &[&str]) -> anyhow::Result<Self> {
        let pages = Pages::plain().await?;
        let services = json!([[tlds, [pages.url("/registry/")]]]);
        let bootstrap = json!({
            "version": "1.0",
            "publication": "2026-01-01T00:00:00Z",
            "description": "RDAP bootstrap file of the lab",
            "services": services,
        });
        pages.at(BOOTSTRAP, Script::json(&bootstrap));
        Ok(Self { pages })
    }

    pub fn bootstrap_url(&self) -> String {
        self.pages.url(BOOTSTRAP)
    }

    /// From the next question on.
    pub fn answer(&self, domain: &str, script: Script) {
        self.pages.at(&path(domain), script);
    }

    /// Answers with this object.
    pub fn register(&self, domain: &str, object: &Value) {
        self.answer(domain, object_of(object));
    }

    /// Another place on the same server, for redirects; answers its URL.
    pub fn place(&self, path: &str, script: Script) -> String {
        self.pages.at(path, script);
        self.pages.url(path)
    }

    pub fn url(&self, domain: &str) -> String {
        self.pages.url(&path(domain))
    }

    pub fn asked(&self, domain: &str) -> Vec<Asked> {
        self.pages.asked(&path(domain))
    }
}

/// An object as registries publish it, with everything that the check reads.
pub fn registration(domain: &str, registrar: &str, expires: DateTime<Utc>) -> Value {
    json!({
        "rdapConformance": ["rdap_level_0"],
        "objectClassName": "domain",
        "handle": "D-1-LAB",
        "ldhName": domain.to_uppercase(),
        "status": ["active"],
        "events": [
            {"eventAction": "registration", "eventDate": "2001-02-03T04:05:06Z"},
            {"eventAction": "expiration", "eventDate": expires.to_rfc3339_opts(SecondsFormat::Secs, true)},
            {"eventAction": "last changed", "eventDate": "2024-02-03T04:05:06Z"},
        ],
        "nameservers": [
            {"objectClassName": "nameserver", "ldhName": format!("NS2.{}.", domain.to_uppercase())},
            {"objectClassName": "nameserver", "ldhName": format!("ns1.{domain}")},
        ],
        "entities": [{
            "objectClassName": "entity",
            "handle": "9999",
            "roles": ["registrar", "technical"],
            "publicIds": [{"type": "IANA Registrar ID", "identifier": "9999"}],
            "vcardArray": ["vcard", [
                ["version", {}, "text", "4.0"],
                ["fn", {}, "text", registrar],
                ["adr", {}, "text", ["", "", "1 Lab Road", "", "", "", ""]],
            ]],
            "entities": [{
                "objectClassName": "entity",
                "roles": ["abuse"],
                "vcardArray": ["vcard", [["fn", {}, "text", "Abuse Desk"]]],
            }],
        }],
    })
}

/// With the media type that RDAP has of its own.
fn object_of(object: &Value) -> Script {
    Script::reply(200, &[("content-type", "application/rdap+json")], object.to_string())
}

fn path(domain: &str) -> String {
    format!("/registry/domain/{domain}")
}

const BOOTSTRAP: &str = "/rdap/dns.json";
