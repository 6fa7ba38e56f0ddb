//! The world of registries: an RDAP service that a bootstrap file lists, and WHOIS servers that a
//! root refers to.

use std::net::IpAddr;

use crate::{Dns, Reply};

pub use rdap::{Rdap, registration};
pub use whois::{Desk, Says, Whois};

mod rdap;
mod whois;

/// The registry's WHOIS server, as referrals name it.
pub const REGISTRY: &str = "whois.example.net";
/// A registrar's WHOIS server.
pub const REGISTRAR: &str = "whois.example.org";

/// Both protocols, and the names of their servers.
pub struct Registry {
    pub rdap: Rdap,
    pub whois: Whois,
}

impl Registry {
    /// RDAP serves the top-level domains of `tlds`; WHOIS starts without a single answer.
    pub async fn start(tlds: &[&str]) -> anyhow::Result<Self> {
        Ok(Self { rdap: Rdap::start(tlds).await?, whois: Whois::start().await? })
    }

    /// Gives the WHOIS servers their names.
    pub fn name_in(&self, dns: &Dns) {
        for (name, desk) in [(REGISTRY, &self.whois.registry), (REGISTRAR, &self.whois.registrar)] {
            let address: IpAddr = desk.address().ip();
            dns.answer(name, Reply::address(address));
        }
    }

    /// The operator's settings that lead here.
    pub fn toml(&self) -> String {
        let (rdap, whois) = (self.rdap.bootstrap_url(), self.whois.root.address());
        format!("[plugins.domain]\nrdap_bootstrap_url = \"{rdap}\"\nwhois_root = \"{whois}\"\n")
    }
}
