//! The configuration: flags over environment over one TOML file over defaults.
//!
//! Every layer is a TOML table; the merged table becomes a [`Config`] once, so a value means the
//! same wherever it was written. `deploy/vedette.example.toml` shows every key.
//!
//! *Invariant:* a key that is not known is an error in the file and on the command line.
//! *Invariant:* secrets do not appear in `Debug`.

mod layers;

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de};
use url::Url;
use vedette_model::{schedule, secret::Secret};

pub use layers::{Error, set};

/// All that the operator decides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the API listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where the operator's port listens. Not on loopback it needs `admin.token`.
    pub admin_listen: SocketAddr,
    /// `surrealkv://PATH`, `mem://` or `ws(s)://USER:PASSWORD@HOST`.
    pub db: String,
    pub edition: Mounted,
    /// The address that clients use, where it differs from `listen`.
    #[serde(deserialize_with = "optional_url")]
    pub public_url: Option<Url>,
    pub no_first_account: bool,
    /// Stands in `location` of every check record that this node makes.
    pub location: String,
    /// Holds compiled plugins; made if absent. None = compile at every start.
    pub cache_dir: Option<PathBuf>,
    /// Resolvers for all checks and webhooks; empty = the system's.
    #[serde(deserialize_with = "resolvers")]
    pub dns_server: Vec<SocketAddr>,
    /// PEM files with roots that are trusted besides the public ones.
    pub ca_file: Vec<PathBuf>,
    /// Only from these is `X-Forwarded-For` believed.
    #[serde(deserialize_with = "nets")]
    pub trusted_proxy: Vec<IpNet>,
    pub log: Log,
    pub admin: Admin,
    pub cors: Cors,
    pub egress: Egress,
    pub intervals: Intervals,
    pub confirm: Confirm,
    pub plugins: Plugins,
    pub smtp: Smtp,
    pub oidc: Oidc,
    pub payments: Payments,
    pub cron: Cron,
    pub secrets: Secrets,
    pub heartbeat: Heartbeat,
    pub channels: Channels,
    pub signup: Signup,
}

/// Which editions are served (decisions: Names).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mounted {
    Standard,
    Team,
    Both,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// A filter such as `info` or `vedette_server=debug,warn`.
    pub filter: String,
    pub format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Admin {
    /// The bearer token of the operator's port; required there when it is set.
    pub token: Option<Secret<String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cors {
    /// Origins whose scripts may use the private endpoints, e.g. `https://app.example.com`.
    /// The public endpoints are open to every origin, without credentials.
    pub origins: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Egress {
    /// Ranges opened for authenticated checks and webhooks.
    #[serde(deserialize_with = "nets")]
    pub allow: Vec<IpNet>,
    /// Ranges that nobody reaches; checked first.
    #[serde(deserialize_with = "nets")]
    pub deny: Vec<IpNet>,
    /// Ranges opened for the public endpoints.
    #[serde(deserialize_with = "nets")]
    pub public_allow: Vec<IpNet>,
}

/// How often each check of a monitored site runs (decisions: Checks, intervals).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Intervals {
    #[serde(deserialize_with = "span")]
    pub ssl: Duration,
    #[serde(deserialize_with = "span")]
    pub dns: Duration,
    #[serde(deserialize_with = "span")]
    pub domain: Duration,
    #[serde(deserialize_with = "span")]
    pub ct: Duration,
    #[serde(deserialize_with = "span")]
    pub uptime: Duration,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Confirm {
    /// How long after an unconfirmed finding the check runs again.
    #[serde(deserialize_with = "span")]
    pub recheck: Duration,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plugins {
    pub domain: DomainSources,
    pub ct: CtSources,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DomainSources {
    #[serde(deserialize_with = "optional_url")]
    pub rdap_bootstrap_url: Option<Url>,
    /// `host:port`.
    pub whois_root: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CtSourceKind {
    Crtsh,
    Certspotter,
    Static,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Smtp {
    /// `smtp://` or `smtps://`, with user and password where the relay asks for them.
    pub url: Option<Secret<String>>,
    pub from: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Oidc {
    pub issuer: Option<String>,
    #[serde(deserialize_with = "optional_url")]
    pub jwks_url: Option<Url>,
    pub audience: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Payments {
    pub secret: Option<Secret<String>>,
    #[serde(deserialize_with = "optional_url")]
    pub api_base: Option<Url>,
    pub api_key: Option<Secret<String>>,
    /// The provider's product ids, each with the plan it buys.
    pub products: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cron {
    pub secret: Option<Secret<String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Secrets {
    pub key_file: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Heartbeat {
    #[serde(deserialize_with = "optional_url")]
    pub url: Option<Url>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Channels {
    /// Hosts of servers that speak a chat vendor's webhook format.
    pub extra_hosts: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Signup {
    /// Free accounts that one address may create (team edition).
    pub max_free_per_ip: u32,
}

impl Config {
    /// What `deserialize` cannot see: how the keys stand to each other, and their bounds.
    fn check(self) -> Result<Self, Error> {
        if !self.admin_listen.ip().is_loopback() && self.admin.token.is_none() {
            return Err(Error::key(
                "admin.token",
                "is required when admin_listen is not on loopback",
            ));
        }
        let spans = [
            ("intervals.ssl", self.intervals.ssl),
            ("intervals.dns", self.intervals.dns),
            ("intervals.domain", self.intervals.domain),
            ("intervals.ct", self.intervals.ct),
            ("intervals.uptime", self.intervals.uptime),
        ];
        if let Some((key, _)) = spans.into_iter().find(|(_, span)| *span < SHORTEST_INTERVAL) {
            return Err(Error::key(key, "must be at least 1s"));
        }
        for origin in &self.cors.origins {
            let parsed = Url::parse(origin).ok();
            if parsed.is_none_or(|url| url.origin().ascii_serialization() != *origin) {
                let reason =
                    format!("holds {origin}, which is no origin such as https://app.example.com");
                return Err(Error::key("cors.origins", reason));
            }
        }
        if self.location.is_empty() {
            return Err(Error::key("location", "must not be empty"));
        }
        Ok(self)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            admin_listen: SocketAddr::from(([127, 0, 0, 1], 8081)),
            db: "surrealkv://data/vedette".into(),
            edition: Mounted::Standard,
            public_url: None,
            no_first_account: false,
            location: "default".into(),
            cache_dir: None,
            dns_server: Vec::new(),
            ca_file: Vec::new(),
            trusted_proxy: Vec::new(),
            log: Log::default(),
            admin: Admin::default(),
            cors: Cors::default(),
            egress: Egress::default(),
            intervals: Intervals::default(),
            confirm: Confirm::default(),
            plugins: Plugins::default(),
            smtp: Smtp::default(),
            oidc: Oidc::default(),
            payments: Payments::default(),
            cron: Cron::default(),
            secrets: Secrets::default(),
            heartbeat: Heartbeat::default(),
            channels: Channels::default(),
            signup: Signup::default(),
        }
    }
}

impl Mounted {
    /// The editions' ids, in the order they are mounted.
    pub fn ids(self) -> &'static [&'static str] {
        match self {
            Self::Standard => &["standard"],
            Self::Team => &["team"],
            Self::Both => &["standard", "team"],
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { filter: DEFAULT_FILTER.into(), format: LogFormat::Text }
    }
}

impl Default for Intervals {
    fn default() -> Self {
        let schedule::Intervals { ssl, dns, domain, ct, uptime, other: _ } = Default::default();
        Self { ssl, dns, domain, ct, uptime }
    }
}

impl Default for Confirm {
    fn default() -> Self {
        Self { recheck: Duration::from_secs(10) }
    }
}

impl Default for Signup {
    fn default() -> Self {
        Self { max_free_per_ip: 3 }
    }
}

/// `"90s"`, `"5m"`, `"6h"`, `"1d"`, `"500ms"`: a whole number and its unit.
fn parse_span(text: &str) -> Option<Duration> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(milliseconds).map(Duration::from_millis)
}

fn span<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(input)?;
    parse_span(&text)
        .filter(|span| *span <= LONGEST_SPAN)
        .ok_or_else(|| de::Error::custom(format!("{text} is no span such as 60s, 5m or 6h")))
}

fn url<'de, D: Deserializer<'de>>(input: D) -> Result<Url, D::Error> {
    let text = String::deserialize(input)?;
    Url::parse(&text).map_err(|cause| de::Error::custom(format!("{text} is no URL: {cause}")))
}

fn optional_url<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Url>, D::Error> {
    url(input).map(Some)
}

/// Ranges; a bare address is the range of itself.
fn nets<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<IpNet>, D::Error> {
    each(input, |text| {
        let net = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        net.map_err(|_| format!("{text} is no range such as 10.0.0.0/8"))
    })
}

/// Resolvers; without a port it is 53.
fn resolvers<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<SocketAddr>, D::Error> {
    each(input, |text| {
        let address = text.parse().or_else(|_| text.parse::<IpAddr>().map(|ip| (ip, 53).into()));
        address.map_err(|_| format!("{text} is no address such as 127.0.0.1:53"))
    })
}

fn each<'de, D: Deserializer<'de>, T>(
    input: D,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, D::Error> {
    let texts = Vec::<String>::deserialize(input)?;
    texts.iter().map(|text| read(text).map_err(de::Error::custom)).collect()
}

/// What we do ourselves; of the libraries only what is wrong. When the embedded database closes,
/// its second handle complains that the first has closed it; errors that matter come as results.
const DEFAULT_FILTER: &str = "warn,vedette_server=info,vedette_store=info,vedette_sandbox=info,\
     surrealdb::core::kvs::ds=off,surrealkv=error";
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_SPAN: Duration = Duration::from_secs(366 * 86_400);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_a_number_and_a_unit() {
        let good = [
            ("60s", 60_000),
            ("5m", 300_000),
            ("6h", 21_600_000),
            ("1d", 86_400_000),
            ("250ms", 250),
        ];
        for (text, milliseconds) in good {
            assert_eq!(parse_span(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in [
            "",
            "s",
            "60",
            "1.5h",
            "-1s",
            "1w",
            "1 s",
            "99999999999999999999d",
            "9999999999999999d",
        ] {
            assert_eq!(parse_span(text), None, "{text}");
        }
    }

    #[test]
    fn defaults_pass_their_own_check() {
        Config::default().check().unwrap();
    }

    #[test]
    fn an_open_operators_port_needs_a_token() {
        let admin_listen = "0.0.0.0:8081".parse().unwrap();
        let open = Config { admin_listen, ..Config::default() };
        assert!(open.clone().check().unwrap_err().to_string().contains("admin.token"));
        let admin = Admin { token: Some(Secret::new("secret".into())) };
        Config { admin, ..open }.check().unwrap();
    }
}
