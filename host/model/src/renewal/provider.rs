//! How a site proves that its name is its owner's: a TXT record, set by dynamic update.
//!
//! *Invariant:* the site endpoints take any provider and any object (spec: Site); they are judged
//! here, when a renewal needs them.

use serde_json::Value;

use crate::base64::decode;
use crate::domain_name::Target;
use crate::parse::{self, Body};
use crate::{DomainName, Invalid, Secret, Site};

/// `dns_provider` `rfc2136`: a name server that takes updates (RFC 2136) signed with a shared key
/// (TSIG, RFC 8945).
#[derive(Clone, Debug, PartialEq)]
pub struct Rfc2136 {
    pub server: Target,
    pub port: u16,
    /// The zone that is updated, lower case, without trailing dot.
    pub zone: String,
    pub key_name: String,
    pub key_secret: Secret<Vec<u8>>,
    pub algorithm: Algorithm,
}

/// What updates are signed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    HmacSha256,
    HmacSha512,
}

impl Rfc2136 {
    /// Reads `dns_provider` and `dns_provider_config` of a site.
    pub fn of(site: &Site) -> Result<Self, Invalid> {
        match site.dns_provider.as_deref() {
            Some(RFC2136) => {}
            Some(_) => return Err(Invalid::new("dns_provider", "is not supported: set rfc2136")),
            None => {
                let reason = "is not set: renewal needs it, and supports rfc2136";
                return Err(Invalid::new("dns_provider", reason));
            }
        }
        let config = site.dns_provider_config.as_ref().ok_or_else(|| {
            let reason = "is not set: give server, zone, key_name and key_secret";
            Invalid::new("dns_provider_config", reason)
        })?;
        let provider = Self::parse(config.expose())?;
        let record = challenge_name(&site.domain);
        let below = record.strip_suffix(&provider.zone).unwrap_or(".");
        if below.is_empty() || (below.ends_with('.') && below.len() > 1) {
            return Ok(provider);
        }
        let reason = format!("must hold {record}, which is not in {}", provider.zone);
        Err(Invalid::new("dns_provider_config.zone", reason))
    }

    fn parse(config: &Value) -> Result<Self, Invalid> {
        let read = || -> Result<Self, Invalid> {
            let config = Body::of(config)?;
            let (server, port) = config.required("server", server)?;
            Ok(Self {
                server,
                port,
                zone: config.required("zone", name)?,
                key_name: config.required("key_name", name)?,
                key_secret: config.required("key_secret", secret)?,
                algorithm: config
                    .optional("algorithm", algorithm)?
                    .unwrap_or(Algorithm::HmacSha256),
            })
        };
        read().map_err(|Invalid { field, reason }| {
            Invalid::new(format!("dns_provider_config.{field}"), reason)
        })
    }
}

/// Where an authority looks for the proof (RFC 8555, 8.4).
pub fn challenge_name(domain: &DomainName) -> String {
    format!("_acme-challenge.{domain}")
}

/// `host`, `host:port` or `[v6]:port`; without a port it is 53.
fn server(field: &'static str, value: &Value) -> Result<(Target, u16), Invalid> {
    let text = parse::line(field, value, LONGEST_SERVER)?;
    let malformed = || Invalid::new(field, "must be host:port, such as ns1.example.com:53");
    if let Ok(target) = Target::parse(text) {
        return Ok((target, DNS_PORT));
    }
    let (host, port) = text.rsplit_once(':').ok_or_else(malformed)?;
    let port: u16 = port.parse().map_err(|_| malformed())?;
    let bare = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').ok_or_else(malformed)?,
        None if host.contains(':') => return Err(malformed()),
        None => host,
    };
    let target = Target::parse(bare).map_err(|_| malformed())?;
    if port == 0 { Err(malformed()) } else { Ok((target, port)) }
}

/// A name of the DNS, which unlike that of a host may have one label and underscores.
fn name(field: &'static str, value: &Value) -> Result<String, Invalid> {
    let text = parse::line(field, value, LONGEST_NAME + 1)?.to_ascii_lowercase();
    let name = text.strip_suffix('.').unwrap_or(&text);
    let is_label = |label: &str| {
        let fits = (1..=63).contains(&label.len()) && !label.starts_with('-');
        fits && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    if name.len() > LONGEST_NAME || !name.split('.').all(is_label) {
        return Err(Invalid::new(field, "must be a DNS name, such as example.com"));
    }
    Ok(name.to_owned())
}

fn secret(field: &'static str, value: &Value) -> Result<Secret<Vec<u8>>, Invalid> {
    decode(parse::line(field, value, LONGEST_SECRET)?)
        .filter(|bytes| !bytes.is_empty())
        .map(Secret::new)
        .ok_or_else(|| Invalid::new(field, "must be the key in base64, as tsig-keygen prints it"))
}

fn algorithm(field: &'static str, value: &Value) -> Result<Algorithm, Invalid> {
    match parse::text(field, value)? {
        "hmac-sha256" => Ok(Algorithm::HmacSha256),
        "hmac-sha512" => Ok(Algorithm::HmacSha512),
        _ => Err(Invalid::new(field, "must be hmac-sha256 or hmac-sha512")),
    }
}

/// The one value of `dns_provider` that renewal knows.
const RFC2136: &str = "rfc2136";
const DNS_PORT: u16 = 53;
const LONGEST_NAME: usize = 253;
const LONGEST_SERVER: usize = 300;
const LONGEST_SECRET: usize = 700;
