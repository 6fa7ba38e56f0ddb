//! The configuration: flags over environment over one TOML file over defaults.
//!
//! Every layer is a TOML table; the merged table becomes a [`Config`] once, so a value means the
//! same wherever it was written. `deploy/vedette.example.toml` shows every key.
//!
//! *Invariant:* a key that is not known is an error in the file and on the command line.
//! *Invariant:* secrets do not appear in `Debug`.

mod layers;
mod log;
mod plugins;
mod sections;
mod text;
mod unknown;

use std::{net::SocketAddr, path::PathBuf};

use ipnet::IpNet;
use serde::Deserialize;
use url::Url;
use vedette_sandbox::egress::DnsServer;

pub use layers::{Error, set};
pub use log::{Log, LogFormat};
pub use plugins::{CtSource, CtSourceKind, CtSources, DomainSources, Plugins};
pub use sections::{
    Admin, Channels, Confirm, Cors, Cron, Egress, Guard, Heartbeat, Intervals, Oidc, Payments,
    Renewal, Retention, Secrets, Signup, Smtp, Tls,
};
use text::{address, nets, optional_url, resolvers};
pub(crate) use text::{parse_interval, parse_span, span_text, without_user};
pub(crate) use unknown::variables as unknown_variables;

/// All that the operator decides.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the API listens; port 0 takes a free one.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// Where the operator's port listens. Not on loopback it needs `admin.token`.
    #[serde(deserialize_with = "address")]
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
    /// Holds compiled plugins; made if absent. None = where systemd says, else the user's cache.
    pub cache_dir: Option<PathBuf>,
    /// Resolvers for all checks and webhooks; empty = the system's.
    #[serde(deserialize_with = "resolvers")]
    pub dns_server: Vec<DnsServer>,
    /// DNSKEY records that replace the root zone's as the anchor of DNSSEC.
    pub dnssec_anchor: Option<PathBuf>,
    /// PEM files with roots that are trusted besides the public ones.
    pub ca_file: Vec<PathBuf>,
    /// Only from these is `X-Forwarded-For` believed.
    #[serde(deserialize_with = "nets")]
    pub trusted_proxy: Vec<IpNet>,
    pub tls: Tls,
    pub log: Log,
    pub admin: Admin,
    pub cors: Cors,
    pub egress: Egress,
    pub intervals: Intervals,
    pub confirm: Confirm,
    pub guard: Guard,
    pub retention: Retention,
    pub plugins: Plugins,
    pub smtp: Smtp,
    pub oidc: Oidc,
    pub payments: Payments,
    pub cron: Cron,
    pub renewal: Renewal,
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

impl Config {
    /// What `deserialize` cannot see: how the keys stand to each other, and their bounds.
    fn check(self) -> Result<Self, Error> {
        self.log.check()?;
        self.admin.check()?;
        if self.db.split('?').next() == Some("surrealkv://") {
            return Err(Error::key("db", "must name a folder, as in surrealkv://data/vedette"));
        }
        if let Some(url) = &self.public_url
            && (url.query().is_some() || url.fragment().is_some())
        {
            return Err(Error::key("public_url", "must have neither query nor fragment"));
        }
        self.smtp.check()?;
        self.tls.check()?;
        self.intervals.check()?;
        self.confirm.check()?;
        self.guard.check()?;
        self.cors.check()?;
        self.channels.check()?;
        self.plugins.check()?;
        self.oidc.check()?;
        self.payments.check()?;
        self.cron.check()?;
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
            dnssec_anchor: None,
            ca_file: Vec::new(),
            trusted_proxy: Vec::new(),
            tls: Tls::default(),
            log: Log::default(),
            admin: Admin::default(),
            cors: Cors::default(),
            egress: Egress::default(),
            intervals: Intervals::default(),
            confirm: Confirm::default(),
            guard: Guard::default(),
            retention: Retention::default(),
            plugins: Plugins::default(),
            smtp: Smtp::default(),
            oidc: Oidc::default(),
            payments: Payments::default(),
            cron: Cron::default(),
            renewal: Renewal::default(),
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

#[cfg(test)]
mod tests {
    use vedette_model::secret::Secret;

    use super::*;

    #[test]
    fn defaults_pass_their_own_check() {
        Config::default().check().unwrap();
    }

    #[test]
    fn a_certificate_needs_its_key_and_a_key_its_certificate() {
        let of = |cert: Option<&str>, key: Option<&str>| {
            let tls = Tls { cert_file: cert.map(Into::into), key_file: key.map(Into::into) };
            Config { tls, ..Config::default() }.check()
        };
        assert!(of(Some("c"), None).unwrap_err().to_string().starts_with("tls.key_file"));
        assert!(of(None, Some("k")).unwrap_err().to_string().starts_with("tls.cert_file"));
        assert_eq!(of(Some("c"), Some("k")).unwrap().tls.scheme(), "https");
        assert_eq!(of(None, None).unwrap().tls.scheme(), "http");
    }

    #[test]
    fn an_open_operators_port_needs_a_token() {
        let admin_listen = "0.0.0.0:8081".parse().unwrap();
        let open = Config { admin_listen, ..Config::default() };
        let open = open.check().expect("a command that reads the file opens no port");
        let refused = open.admin.ensure_guards(admin_listen).unwrap_err().to_string();
        assert!(refused.contains("admin.token"), "{refused}");
        let admin = Admin { token: Some(Secret::new("secret".into())) };
        admin.ensure_guards(admin_listen).unwrap();
        Admin::default().ensure_guards(Config::default().admin_listen).unwrap();
    }
}
