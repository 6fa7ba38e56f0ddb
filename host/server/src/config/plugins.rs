//! `[plugins]`: where the checks look things up, so that each source can be another one.

use serde::Deserialize;
use serde_json::json;
use url::Url;
use vedette_model::CheckType;
use vedette_sandbox::Settings;

use super::text::url;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plugins {
    pub domain: DomainSources,
    pub ct: CtSources,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DomainSources {
    /// Where the RDAP servers are listed (RFC 9224).
    #[serde(deserialize_with = "url")]
    pub rdap_bootstrap_url: Url,
    /// The WHOIS server that knows all others, `host:port`.
    pub whois_root: String,
}

/// Asked in this order until one answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CtSources {
    pub sources: Vec<CtSource>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CtSource {
    pub kind: CtSourceKind,
    #[serde(deserialize_with = "url")]
    pub url: Url,
    /// Base64 of the log's public key (DER), which signs the tree heads of a static log.
    #[serde(default)]
    pub key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CtSourceKind {
    Crtsh,
    Certspotter,
    Static,
}

impl Plugins {
    /// What each check is handed with every run.
    pub fn settings(&self) -> Settings {
        let Self { domain, ct } = self;
        let sources: Vec<_> = ct.sources.iter().map(CtSource::as_json).collect();
        let domain = json!({
            "rdap_bootstrap_url": domain.rdap_bootstrap_url.as_str(),
            "whois_root": domain.whois_root,
        });
        let named = [("domain", domain), ("ct", json!({ "sources": sources }))];
        let check_type = |name: &str| name.parse::<CheckType>().expect("the name of a check");
        named.into_iter().map(|(name, settings)| (check_type(name), settings)).collect()
    }

    /// `host:port`, as the grants of a plugin need it.
    pub(super) fn is_whois_root_a_place(&self) -> bool {
        let place = self.domain.whois_root.rsplit_once(':');
        place.is_some_and(|(host, port)| {
            !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
        })
    }
}

impl CtSource {
    fn as_json(&self) -> serde_json::Value {
        let kind = match self.kind {
            CtSourceKind::Crtsh => "crtsh",
            CtSourceKind::Certspotter => "certspotter",
            CtSourceKind::Static => "static",
        };
        let url = self.url.as_str().trim_end_matches('/');
        match &self.key {
            Some(key) => json!({ "kind": kind, "url": url, "key": key }),
            None => json!({ "kind": kind, "url": url }),
        }
    }
}

impl Default for DomainSources {
    fn default() -> Self {
        Self {
            rdap_bootstrap_url: known("https://data.iana.org/rdap/dns.json"),
            whois_root: "whois.iana.org:43".to_owned(),
        }
    }
}

impl Default for CtSources {
    fn default() -> Self {
        let source = |kind, url| CtSource { kind, url: known(url), key: None };
        Self {
            sources: vec![
                source(CtSourceKind::Crtsh, "https://crt.sh/"),
                source(CtSourceKind::Certspotter, "https://api.certspotter.com/"),
            ],
        }
    }
}

fn known(url: &str) -> Url {
    Url::parse(url).expect("a URL written here is one")
}
