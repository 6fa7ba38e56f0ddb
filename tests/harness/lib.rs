//! The lab: real servers on loopback that stand for the world Vedette watches, and the service
//! itself as its users meet it.
//!
//! [`Lab`] brings a certificate authority, a DNS server that names the sites, TLS sites and a
//! webhook receiver; [`Service`] is the real program on a database of its own. `make run` shows
//! both together, the test suite asks them questions. What single checks need besides stands
//! alone: [`Registry`] (RDAP and WHOIS), [`CtSource`], [`Issuer`] of session tokens, [`Mailbox`] (a
//! mail relay), [`Pages`] with every misbehaviour of a web server, [`Peer`] for what is no web
//! server at all.
//!
//! *Invariant:* nothing here leaves loopback, and every server ends with the value that owns it.

mod authority;
mod client;
mod command;
mod ct;
mod dns;
mod events;
mod issuer;
mod mail;
mod peer;
mod receiver;
mod registry;
mod service;
mod site;
mod web;

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU32, Ordering},
};

pub use authority::{Authority, Certificate, Leaf};
pub use client::{Answer, Client};
pub use command::{Ran, agent, agent_command, check, plugin, plugin_in, secrets};
pub use ct::{CtKind, CtSource, Issuance};
pub use dns::{Dns, Reply, UpdateKey, record};
pub use events::{Event, Events};
pub use hickory_proto::{op::ResponseCode, rr::RecordType};
pub use issuer::{Issuer, Signature, unsigned};
pub use mail::{Mailbox, Mailed, Verdict, relay_toml};
pub use peer::{Manner, OldTls, Peer};
pub use receiver::{Received, Receiver, Response};
pub use registry::{Desk, REGISTRAR, REGISTRY, Rdap, Registry, Says, Whois, registration};
pub use service::{Account, Service, Settings, program};
pub use site::{Demands, Page, Site};
pub use web::{Asked, Pages, Script, Web, gzip};

/// One small internet: an authority that signs, a resolver that names, a receiver that listens.
pub struct Lab {
    pub authority: Authority,
    pub dns: Dns,
    pub receiver: Receiver,
}

impl Lab {
    /// Starts the servers on free ports.
    pub async fn start() -> anyhow::Result<Self> {
        install_crypto();
        Ok(Self {
            authority: Authority::new("Lab Root")?,
            dns: Dns::start().await?,
            receiver: Receiver::start().await?,
        })
    }

    /// Puts a site with this certificate on a free port and gives it its name.
    pub async fn site(&self, domain: &str, certificate: Certificate) -> anyhow::Result<Site> {
        let site = Site::start(certificate).await?;
        self.dns.answer(domain, Reply::address(site.address().ip()));
        Ok(site)
    }

    /// Puts a scripted web server on a free port, with a good certificate, and gives it its name.
    pub async fn pages(&self, domain: &str) -> anyhow::Result<Pages> {
        let pages = Pages::secure(self.certificate(domain, 90)?).await?;
        self.dns.answer(domain, Reply::address(pages.web().ip()));
        Ok(pages)
    }

    /// Puts a server that is no web server on a free port and gives it its name.
    pub async fn peer(&self, domain: &str, manner: Manner) -> anyhow::Result<Peer> {
        let peer = Peer::start(manner).await?;
        self.dns.answer(domain, Reply::address(peer.address().ip()));
        Ok(peer)
    }

    /// A certificate for `domain` from the lab's authority, valid for `days` more days.
    pub fn certificate(&self, domain: &str, days: i64) -> anyhow::Result<Certificate> {
        self.authority.issue(&Leaf::for_names(&[domain]).days_left(days))
    }

    /// What the service must be told to live in this lab.
    pub fn settings(&self) -> Settings {
        Settings {
            dns: vec![self.dns.address()],
            roots: vec![self.authority.root_pem()],
            ..Settings::default()
        }
    }
}

/// A port that nobody listens on, and that this process is not told again: programs that start at
/// the same time never meet on one. It lies below those that the system gives to connections.
pub async fn free_port() -> anyhow::Result<SocketAddr> {
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 20_000;
    static TOLD: AtomicU32 = AtomicU32::new(0);
    // Processes begin at different ports, so that two of them seldom try the same one.
    let begin = std::process::id().wrapping_mul(101);
    for _ in 0..COUNT {
        let told = TOLD.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + begin.wrapping_add(told) % COUNT;
        let address = SocketAddr::from(([127, 0, 0, 1], u16::try_from(port)?));
        if tokio::net::TcpListener::bind(address).await.is_ok() {
            return Ok(address);
        }
    }
    anyhow::bail!("no port from {FIRST} to {} is free", FIRST + COUNT - 1)
}

/// Two TLS providers are compiled in; the process has to name one before the first handshake.
pub fn install_crypto() {
    // An error only says that it was named already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

#[cfg(test)]
mod tests;
