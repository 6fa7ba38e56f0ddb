//! The tables of the configuration, each as the part of the program takes it that it is for.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};

use ipnet::IpNet;
use serde::Deserialize;
use url::{Host, Url};
use vedette_model::{
    Area, Edition,
    billing::{paid_plans, plan_names},
    schedule,
    secret::Secret,
};

use super::{
    Error,
    text::{SHORTEST_INTERVAL, kept, nets, optional_url, span, url},
};

/// The API's own certificate; without it the API speaks plain HTTP.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// PEM, the leaf first. Read again when it changes, like the key.
    pub cert_file: Option<PathBuf>,
    pub key_file: Option<PathBuf>,
}

/// The operator's port.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Admin {
    /// The bearer token of the operator's port; required there when it is set.
    pub token: Option<Secret<String>>,
}

/// Whose scripts may call the API from a browser.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cors {
    /// Origins whose scripts may use the private endpoints, e.g. `https://app.example.com`.
    /// The public endpoints are open to every origin, without credentials.
    pub origins: Vec<String>,
}

/// Which addresses are reached besides the public ones, and which are not.
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

/// How a finding is confirmed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Confirm {
    /// How long after an unconfirmed finding the check runs again; after a first failure at once.
    #[serde(deserialize_with = "span")]
    pub recheck: Duration,
}

/// When what a check finds is not believed, since the trouble may be our own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Guard {
    /// While our threads are late by this, what a check finds is stored as unknown.
    #[serde(deserialize_with = "span")]
    pub late: Duration,
}

/// The relay that takes our mail.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Smtp {
    /// `smtp://` or `smtps://`, with user and password where the relay asks for them; `?tls=`
    /// says whether STARTTLS is. Needs `from`.
    pub url: Option<Secret<String>>,
    pub from: Option<String>,
}

/// The identity provider whose session tokens are accepted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Oidc {
    /// Exactly as tokens write it in `iss`. None = no session tokens.
    pub issuer: Option<String>,
    /// None = what the issuer's discovery document names.
    #[serde(deserialize_with = "optional_url")]
    pub jwks_url: Option<Url>,
    /// What tokens for us write in `aud`; required with an issuer.
    pub audience: Option<String>,
}

/// Who takes the money for plans.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Payments {
    /// Signs what the provider tells us.
    pub secret: Option<Secret<String>>,
    /// What comes before `/checkouts` and `/subscriptions` in the provider's API.
    #[serde(deserialize_with = "optional_url")]
    pub api_base: Option<Url>,
    pub api_key: Option<Secret<String>>,
    /// Where a buyer comes back to; none = the description of the API.
    #[serde(deserialize_with = "optional_url")]
    pub success_url: Option<Url>,
    /// The provider's product ids, each with the plan it buys.
    pub products: BTreeMap<String, String>,
}

/// What opens `POST /cron` (team edition).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cron {
    pub secret: Option<Secret<String>>,
}

/// The deprecated renewal of certificates.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Renewal {
    /// The directory of the authority that is asked (RFC 8555, 7.1.1).
    #[serde(deserialize_with = "url")]
    pub directory_url: Url,
    /// The e-mail address that the authority is told.
    pub contact: Option<String>,
    /// How long the name servers of a zone may take to agree after an update.
    #[serde(deserialize_with = "span")]
    pub propagation: Duration,
}

/// How long history is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Records of checks; none = for ever. The latest of each check of a site stays.
    #[serde(deserialize_with = "kept")]
    pub checks: Option<Duration>,
    /// Alerts, from when they were resolved; none = for ever.
    #[serde(deserialize_with = "kept")]
    pub alerts: Option<Duration>,
}

/// How secrets are kept.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Secrets {
    /// Holds the key that seals secrets at rest; made if absent. None = in the folder of the
    /// embedded database.
    pub key_file: Option<PathBuf>,
}

/// Who is told once a minute that the service is well.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Heartbeat {
    #[serde(deserialize_with = "optional_url")]
    pub url: Option<Url>,
}

/// What chat channels may reach.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Channels {
    /// Hosts of servers that speak a chat vendor's webhook format.
    pub extra_hosts: Vec<String>,
}

/// Who may sign up (team edition).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Signup {
    /// Free accounts that one address may create (team edition).
    pub max_free_per_ip: u32,
}

impl Admin {
    pub(super) fn check(&self) -> Result<(), Error> {
        shown("admin.token", self.token.as_ref())
    }

    /// Refuses a port that others can reach and nobody guards. Asked by who binds it: commands read the
    /// same file, and the token may stand where only the service's process finds it.
    pub(crate) fn ensure_guards(&self, listen: SocketAddr) -> Result<(), Error> {
        if self.token.is_some() || listen.ip().is_loopback() {
            return Ok(());
        }
        Err(Error::key("admin.token", "is required when admin_listen is not on loopback"))
    }
}

impl Smtp {
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.url.is_some() && self.from.is_none() {
            let reason = "is required with smtp.url: the address that mail comes from";
            return Err(Error::key("smtp.from", reason));
        }
        Ok(())
    }
}

impl Intervals {
    pub(super) fn check(&self) -> Result<(), Error> {
        let spans = [
            ("intervals.ssl", self.ssl),
            ("intervals.dns", self.dns),
            ("intervals.domain", self.domain),
            ("intervals.ct", self.ct),
            ("intervals.uptime", self.uptime),
        ];
        spans.into_iter().try_for_each(|(key, span)| long_enough(key, span))
    }
}

impl Confirm {
    /// While nothing that is found is believed, this alone keeps a check from running all the time.
    pub(super) fn check(&self) -> Result<(), Error> {
        long_enough("confirm.recheck", self.recheck)
    }
}

impl Guard {
    /// Every machine is late by some milliseconds: nothing would ever be believed.
    pub(super) fn check(&self) -> Result<(), Error> {
        long_enough("guard.late", self.late)
    }
}

fn long_enough(key: &str, span: Duration) -> Result<(), Error> {
    if span < SHORTEST_INTERVAL {
        return Err(Error::key(key, "must be at least 1s"));
    }
    Ok(())
}

impl Cors {
    pub(super) fn check(&self) -> Result<(), Error> {
        for origin in &self.origins {
            let parsed = Url::parse(origin).ok();
            if parsed.is_none_or(|url| url.origin().ascii_serialization() != *origin) {
                let reason =
                    format!("holds {origin}, which is no origin such as https://app.example.com");
                return Err(Error::key("cors.origins", reason));
            }
        }
        Ok(())
    }
}

impl Channels {
    pub(super) fn check(&self) -> Result<(), Error> {
        for host in &self.extra_hosts {
            if host.contains('*') || Host::parse(host).is_err() {
                let reason = format!("holds {host}, which is not a host such as chat.example.com");
                return Err(Error::key("channels.extra_hosts", reason));
            }
        }
        Ok(())
    }
}

impl Oidc {
    pub(super) fn check(&self) -> Result<(), Error> {
        let Some(issuer) = &self.issuer else {
            return match self.audience.is_some() || self.jwks_url.is_some() {
                true => Err(Error::key("oidc.issuer", "is required by the other keys of [oidc]")),
                false => Ok(()),
            };
        };
        if self.audience.is_none() {
            return Err(Error::key("oidc.audience", "is required with oidc.issuer"));
        }
        let is_place =
            || Url::parse(issuer).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if self.jwks_url.is_none() && !is_place() {
            let reason = "must be a URL such as https://login.example.com/ without oidc.jwks_url";
            return Err(Error::key("oidc.issuer", reason));
        }
        Ok(())
    }
}

impl Cron {
    pub(super) fn check(&self) -> Result<(), Error> {
        // An empty one opens nothing.
        let secret = self.secret.as_ref().filter(|secret| !secret.expose().is_empty());
        shown("cron.secret", secret)
    }
}

/// A secret that others show in a header: everybody knows the empty one, and one with the end of a
/// line, as files have it, nobody could send.
fn shown(key: &'static str, secret: Option<&Secret<String>>) -> Result<(), Error> {
    let Some(secret) = secret.map(Secret::expose) else { return Ok(()) };
    if secret.is_empty() {
        return Err(Error::key(key, "must not be empty"));
    }
    if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        let reason =
            "must consist of visible ASCII characters, without blanks or the end of a line";
        return Err(Error::key(key, reason));
    }
    Ok(())
}

impl Payments {
    pub(super) fn check(&self) -> Result<(), Error> {
        shown("payments.secret", self.secret.as_ref())?;
        shown("payments.api_key", self.api_key.as_ref())?;
        let mut selling = Edition::all().into_iter().filter(|edition| edition.has(Area::Billing));
        let Some(edition) = selling.next() else { return Ok(()) };
        for (product, plan) in &self.products {
            if !paid_plans(edition).iter().any(|sold| sold.id == plan) {
                let key = format!("payments.products.{product}");
                let reason = format!("is {plan}, but must be one of {}", plan_names(edition));
                return Err(Error::key(key, reason));
            }
        }
        Ok(())
    }
}

impl Tls {
    pub(super) fn check(&self) -> Result<(), Error> {
        match (&self.cert_file, &self.key_file) {
            (Some(_), None) => Err(Error::key("tls.key_file", "is required with tls.cert_file")),
            (None, Some(_)) => Err(Error::key("tls.cert_file", "is required with tls.key_file")),
            (Some(_), Some(_)) | (None, None) => Ok(()),
        }
    }

    /// What clients put before the address.
    pub fn scheme(&self) -> &'static str {
        if self.cert_file.is_some() { "https" } else { "http" }
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

impl Default for Guard {
    fn default() -> Self {
        Self { late: Duration::from_secs(1) }
    }
}

impl Default for Retention {
    fn default() -> Self {
        // A year, and the month that it is compared with.
        let kept = Some(Duration::from_secs(400 * 86_400));
        Self { checks: kept, alerts: kept }
    }
}

impl Default for Renewal {
    fn default() -> Self {
        let directory = "https://acme-v02.api.letsencrypt.org/directory";
        Self {
            directory_url: Url::parse(directory).expect("a URL written here is one"),
            contact: None,
            propagation: Duration::from_secs(10),
        }
    }
}

impl Default for Signup {
    fn default() -> Self {
        Self { max_free_per_ip: 3 }
    }
}
