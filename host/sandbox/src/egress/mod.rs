//! The one door through which every connection leaves: probes, plugin HTTP and TCP, webhooks,
//! mail.
//!
//! ```text
//! parse (url, names) → resolve → vet every address → connect to exactly those → compare the peer
//!         ▲                                                                          │
//!         └──────────────────────────── every redirect ◄─────────────────────────────┘
//! ```
//!
//! The pure half ([`classify`], [`url`], [`Policy`]) decides and is tested with tables; the other
//! half ([`Resolver`], [`Egress`]) resolves and dials.
//!
//! *Invariant:* no socket is opened to an address that the policy has not judged.
//! *Invariant:* a name is resolved once per connection; what was judged is what is dialled.
//! *Invariant:* the pure half names neither tokio nor wasmtime.

mod absolute;
mod address;
mod alias;
mod answer;
mod connect;
pub(crate) mod der;
mod dns_server;
mod expansion;
mod heard;
mod http;
mod net_error;
mod policy;
mod refusal;
mod resolv_conf;
mod resolver;
#[cfg(test)]
mod sample;
pub mod smtp;
mod tls;
mod trust;
mod unchecked;
mod upstream;
pub mod url;
mod validating;
mod vendor;

pub use self::http::{HttpRequest, HttpResponse, HttpTiming};
pub use address::{Class, classify};
pub use connect::{Connected, Dial};
pub use dns_server::{DnsServer, NoDnsServer, Transport};
pub use net_error::{NOT_TLS, NetError, Phase, code};
pub use policy::{Audience, Policy};
pub use refusal::Refusal;
pub use resolver::Resolver;
pub use tls::{accepting_authorities, verifying_config};
pub use trust::Trust;
pub use vendor::Vendor;

pub(crate) use self::http::sendable;
pub(crate) use absolute::absolute;
pub(crate) use answer::{Answered, is_silence};
pub(crate) use resolver::Validation;
pub(crate) use tls::{Recorder, client_config, handshake};
pub(crate) use trust::Anchor;

use std::path::PathBuf;

use rustls_pki_types::CertificateDer;
use thiserror::Error;

use crate::hidden::{Hidden, hide};

/// What the egress layer is built from.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub policy: Policy,
    /// `--dns-server`; empty = the `nameserver` lines of `/etc/resolv.conf`.
    pub dns_servers: Vec<DnsServer>,
    /// `--ca-file`: trusted besides the Mozilla set.
    pub roots: Vec<CertificateDer<'static>>,
    /// DNSKEY records that replace the root zone's as the anchor of DNSSEC: a lab's, a private
    /// root's. None = those of the DNS root.
    pub dnssec_anchor: Option<PathBuf>,
    /// Bytes that are read of one HTTP connection, to the last. None = 32 MiB.
    pub most_read: Option<u32>,
}

/// The egress layer. Cheap to clone.
#[derive(Clone)]
pub struct Egress(Hidden<Inner>);

struct Inner {
    policy: Policy,
    resolver: Resolver,
    trust: Trust,
    most_read: u32,
}

/// Why the egress layer cannot be set up.
#[derive(Debug, Error)]
pub enum SetupError {
    #[error("no DNS server is configured: give --dns-server, or nameserver lines in {0}")]
    NoResolver(&'static str),
    #[error("cannot set up the resolver: {0}")]
    Resolver(String),
    #[error("cannot read the DNSSEC anchor {}: {reason}", path.display())]
    Anchor { path: PathBuf, reason: String },
    #[error("certificate {index} of the CA file is not usable: {reason}")]
    Root { index: usize, reason: String },
}

impl Egress {
    /// Sets up the layer; opens no socket.
    pub fn new(options: Options) -> Result<Self, SetupError> {
        let trust = Trust::new(&options.roots)?;
        let anchor = options.dnssec_anchor.as_deref();
        let resolver = Resolver::new(options.dns_servers, anchor, trust.clone())?;
        let most_read = options.most_read.unwrap_or(self::http::MOST_READ);
        Ok(Self(hide(Inner { policy: options.policy, resolver, trust, most_read })))
    }

    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    pub fn resolver(&self) -> &Resolver {
        &self.0.resolver
    }

    /// The trusted roots.
    pub fn trust(&self) -> &Trust {
        &self.0.trust
    }

    fn most_read(&self) -> u32 {
        self.0.most_read
    }
}

/// Counts a refusal and turns it into the probe's error.
pub(crate) fn refused(refusal: Refusal) -> NetError {
    metrics::counter!("vedette_egress_refused_total", "reason" => refusal.reason()).increment(1);
    NetError::from(refusal)
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    /// Otherwise code that prints an error's causes would say it twice.
    #[test]
    fn what_keeps_the_egress_layer_from_being_set_up_is_said_once() {
        let cause = SetupError::Anchor {
            path: PathBuf::from("/nowhere/root.key"),
            reason: "there is no such file".to_owned(),
        };
        let said = "cannot read the DNSSEC anchor /nowhere/root.key: there is no such file";
        assert_eq!(cause.to_string(), said);
        assert!(cause.source().is_none());
    }
}
