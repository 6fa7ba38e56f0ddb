//! Who may reach what: the operator's lists over the classes of [`classify`].
//!
//! *Invariant:* pure. No clock, no IO, neither tokio nor wasmtime: all of it runs in table tests.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use url::Url;
use vedette_model::{DomainName, domain_name::Target};

use super::{Class, Refusal, classify, url as http_url};

/// The operator's egress rules. The default lets public addresses pass and nothing else.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// `egress.allow`: special ranges open to authenticated checks and webhooks.
    pub allow: Vec<IpNet>,
    /// `egress.deny`: nobody reaches these, checked before all else.
    pub deny: Vec<IpNet>,
    /// `--public-egress-allow`: special ranges open to the public endpoints.
    pub public_allow: Vec<IpNet>,
    /// Where this process listens itself; refused even inside `allow`. A listener on the
    /// unspecified address covers its port on every loopback address, and dialling the unspecified
    /// address reaches a loopback address.
    pub own_listeners: Vec<SocketAddr>,
}

/// On whose behalf a connection is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Audience {
    /// Checks of an account, webhooks: public addresses and `allow`.
    Authenticated,
    /// Endpoints without a credential: public addresses and `public_allow`, never `allow`.
    Public,
}

impl Policy {
    /// Judges an address, whatever the port.
    pub fn vet_address(&self, address: IpAddr, audience: Audience) -> Result<(), Refusal> {
        self.vet_denied(address)?;
        match classify(address) {
            Class::Public => Ok(()),
            Class::Special(_) if within(self.opened(audience), address) => Ok(()),
            Class::Special(range) => Err(Refusal::Address(range)),
        }
    }

    /// Whether it is refused only as an address for documentation: nobody is there, and a check
    /// that does not connect may see it.
    pub fn leads_nowhere(&self, address: IpAddr, audience: Audience) -> bool {
        matches!(self.vet_address(address, audience), Err(Refusal::Address("documentation")))
    }

    /// Judges an address with its port: as [`vet_address`](Self::vet_address), and not ourselves.
    pub fn vet_socket(&self, socket: SocketAddr, audience: Audience) -> Result<(), Refusal> {
        self.vet_address(socket.ip(), audience)?;
        self.vet_listener(socket)
    }

    /// What holds even for addresses that the configuration itself names: `deny` and our own
    /// listeners.
    pub fn vet_configured(&self, socket: SocketAddr) -> Result<(), Refusal> {
        self.vet_denied(socket.ip())?;
        self.vet_listener(socket)
    }

    /// Judges a name before it is resolved. Special-use names pass once ranges are opened to the
    /// audience (a corporate network has them); then only the address decides.
    pub fn vet_name(&self, name: &DomainName, audience: Audience) -> Result<(), Refusal> {
        let opened = !self.opened(audience).is_empty();
        if name.is_special_use() && !opened { Err(Refusal::SpecialName) } else { Ok(()) }
    }

    /// Judges a name or an address literal.
    pub fn vet_target(&self, target: &Target, audience: Audience) -> Result<(), Refusal> {
        match target {
            Target::Name(name) => self.vet_name(name, audience),
            Target::Address(address) => self.vet_address(*address, audience),
        }
    }

    /// Parses and judges an HTTP URL: form, port, name or literal address.
    pub fn vet_url(&self, text: &str, audience: Audience) -> Result<Url, Refusal> {
        let url = http_url::parse(text)?;
        let target = http_url::target(&url)?;
        self.vet_target(&target, audience)?;
        if let Target::Address(address) = target {
            self.vet_listener(SocketAddr::new(address, http_url::port(&url)))?;
        }
        Ok(url)
    }

    /// Whether `egress.allow` names this address, special or not: then it may stand in for a
    /// vendor's host.
    pub(super) fn names(&self, address: IpAddr) -> bool {
        within(&self.allow, address)
    }

    fn opened(&self, audience: Audience) -> &[IpNet] {
        match audience {
            Audience::Authenticated => &self.allow,
            Audience::Public => &self.public_allow,
        }
    }

    /// A mapped address reaches the same machine as the IPv4 address inside it, so a denied range
    /// covers both spellings (the opposite does not hold: allowing one opens only that one).
    fn vet_denied(&self, address: IpAddr) -> Result<(), Refusal> {
        let denied = within(&self.deny, address) || within(&self.deny, address.to_canonical());
        if denied { Err(Refusal::Denied) } else { Ok(()) }
    }

    fn vet_listener(&self, socket: SocketAddr) -> Result<(), Refusal> {
        let address = socket.ip().to_canonical();
        let own = self.own_listeners.iter().any(|listener| {
            let listens = listener.ip().to_canonical();
            let here = match (listens.is_unspecified(), address.is_unspecified()) {
                (true, true) => true,
                (true, false) => address.is_loopback(),
                (false, true) => listens.is_loopback(),
                (false, false) => listens == address,
            };
            listener.port() == socket.port() && here
        });
        if own { Err(Refusal::OwnListener) } else { Ok(()) }
    }
}

fn within(nets: &[IpNet], address: IpAddr) -> bool {
    nets.iter().any(|net| net.contains(&address))
}

#[cfg(test)]
mod tests;
