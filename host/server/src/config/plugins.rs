//! `[plugins]`: where the operator's own are, and where the checks look things up, so that each
//! source can be another one.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;
use url::{Host, Url};
use vedette_model::{CheckType, DomainName};
use vedette_sandbox::Settings;

use super::{Error, text::url};

/// The operator's plugins, and where the built-in checks ask.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plugins {
    /// Holds the operator's own plugins and their lock; one that does not exist holds none.
    pub folder: PathBuf,
    pub domain: DomainSources,
    pub ct: CtSources,
}

/// Where registrations are asked about.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DomainSources {
    /// Where the RDAP servers are listed (RFC 9224).
    #[serde(deserialize_with = "url")]
    pub rdap_bootstrap_url: Url,
    /// The WHOIS server that knows all others, `host:port`.
    pub whois_root: String,
}

/// Asked in this order until one answers; none = nobody is asked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CtSources {
    pub sources: Vec<CtSource>,
}

/// One place where certificates are looked up.
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

/// How a source is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CtSourceKind {
    Crtsh,
    Certspotter,
    /// A log that is files (the static CT API).
    Static,
}

impl Plugins {
    /// What each check is handed with every run.
    pub fn settings(&self) -> Settings {
        let Self { folder: _, domain, ct } = self;
        let sources: Vec<_> = ct.sources.iter().map(CtSource::as_json).collect();
        let whois_root = match domain.whois_root.strip_prefix("localhost:") {
            Some(port) => format!("{LOOPBACK}:{port}"),
            None => domain.whois_root.clone(),
        };
        let domain = json!({
            "rdap_bootstrap_url": dialled(&domain.rdap_bootstrap_url).as_str(),
            "whois_root": whois_root,
        });
        let named = [("domain", domain), ("ct", json!({ "sources": sources }))];
        let check_type = |name: &str| name.parse::<CheckType>().expect("the name of a check");
        named.into_iter().map(|(name, settings)| (check_type(name), settings)).collect()
    }

    /// What a grant of a plugin cannot name is told by its key, and not by the plugin.
    pub(super) fn check(&self) -> Result<(), Error> {
        let place = self.domain.whois_root.rsplit_once(':');
        let is_place = place.is_some_and(|(host, port)| {
            Host::parse(host).is_ok_and(|host| is_granted(&host))
                && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        if !is_place {
            let reason = "must be host:port, such as whois.iana.org:43";
            return Err(Error::key("plugins.domain.whois_root", reason));
        }
        for (nth, source) in self.ct.sources.iter().enumerate() {
            let wrong = |field: &str, reason: &str| {
                Err(Error::key(format!("plugins.ct.sources[{nth}].{field}"), reason))
            };
            if source.url.query().is_some() || source.url.fragment().is_some() {
                return wrong("url", "must have neither query nor fragment");
            }
            if source.key.is_some() && source.kind != CtSourceKind::Static {
                return wrong("key", "is for logs (kind static): nothing else is signed");
            }
        }
        let bootstrap =
            ("plugins.domain.rdap_bootstrap_url".to_owned(), &self.domain.rdap_bootstrap_url);
        let sources = self.ct.sources.iter().enumerate();
        let sources =
            sources.map(|(nth, source)| (format!("plugins.ct.sources[{nth}].url"), &source.url));
        for (key, url) in std::iter::once(bootstrap).chain(sources) {
            if url.host().is_none_or(|host| !is_granted(&host)) {
                return Err(Error::key(
                    key,
                    "must name its host by an address or a name with a dot",
                ));
            }
        }
        Ok(())
    }
}

impl CtSource {
    fn as_json(&self) -> serde_json::Value {
        let kind = match self.kind {
            CtSourceKind::Crtsh => "crtsh",
            CtSourceKind::Certspotter => "certspotter",
            CtSourceKind::Static => "static",
        };
        let url = dialled(&self.url);
        let url = url.as_str().trim_end_matches('/');
        match &self.key {
            Some(key) => json!({ "kind": kind, "url": url, "key": key }),
            None => json!({ "kind": kind, "url": url }),
        }
    }
}

impl Default for Plugins {
    fn default() -> Self {
        Self {
            folder: "data/plugins".into(),
            domain: DomainSources::default(),
            ct: CtSources::default(),
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

/// Names that public DNS could have, and addresses; of the rest, the one that [`dialled`] replaces.
fn is_granted<S: AsRef<str>>(host: &Host<S>) -> bool {
    match host {
        Host::Ipv4(_) | Host::Ipv6(_) => true,
        Host::Domain(name) if name.as_ref() == "localhost" => true,
        Host::Domain(name) => DomainName::parse(name.as_ref()).is_ok(),
    }
}

/// Plugins are told of hosts by name or address; `localhost` is no name to be looked up.
fn dialled(url: &Url) -> Url {
    let mut dialled = url.clone();
    if url.host_str() == Some("localhost") && dialled.set_host(Some(LOOPBACK)).is_err() {
        return url.clone();
    }
    dialled
}

fn known(url: &str) -> Url {
    Url::parse(url).expect("a URL written here is one")
}

const LOOPBACK: &str = "127.0.0.1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_on_localhost_are_told_by_address() {
        let text = r#"
            domain = { rdap_bootstrap_url = "http://localhost:81/dns.json", whois_root = "localhost:4343" }
            ct = { sources = [{ kind = "crtsh", url = "http://localhost:82/" }] }
        "#;
        let plugins: Plugins = toml::from_str(text).expect("a configuration");
        let settings = plugins.settings();
        let of = |name: &str| &settings[&name.parse::<CheckType>().expect("the name of a check")];
        assert_eq!(of("domain")["rdap_bootstrap_url"], "http://127.0.0.1:81/dns.json");
        assert_eq!(of("domain")["whois_root"], "127.0.0.1:4343");
        assert_eq!(of("ct")["sources"][0]["url"], "http://127.0.0.1:82");
    }
}
