//! What a plugin may reach: asked by its manifest, granted by the operator, held against every
//! host call.
//!
//! *Invariant:* pure. Whether an address may be reached at all is the egress layer's question;
//! here only names, ports, methods and types are compared.
//! *Invariant:* nothing is granted that was not asked for.

use std::{collections::BTreeSet, net::IpAddr, str::FromStr, sync::Arc};

use serde_json::Value;
use vedette_model::{DomainName, domain_name::Target};

mod parse;
mod permit;
mod setting;

pub use parse::NoEntry;
pub(crate) use parse::Tables;
pub(crate) use permit::{About, is_below};

/// Capabilities, as asked or as granted. `log` and `clock` need none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    pub dns: Option<Dns>,
    pub tcp: Option<Vec<Place>>,
    pub tls: Option<Tls>,
    pub http: Option<Http>,
    /// `x509.examine` without `tls`; the grant `tls` includes it.
    pub x509: bool,
    pub state: Option<State>,
    /// Names of the operator's secrets.
    pub secrets: BTreeSet<String>,
    pub random: bool,
    /// Hosts and ports of those above that the operator's settings name, not the plugin: they are
    /// dialled as written.
    pub configured: Arc<[(Target, u16)]>,
}

/// Names and record types that may be looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dns {
    pub names: Vec<Names>,
    pub types: BTreeSet<String>,
    /// Servers that may be asked in place of the operator's.
    pub resolvers: BTreeSet<IpAddr>,
}

/// A set of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// The run's target, what lies below it, and its parents: labels leak to nobody else.
    Target,
    /// This name and what lies below it.
    Below(DomainName),
    Any,
}

/// Where TLS may connect, and whether the host may fetch missing issuers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    pub to: Vec<Place>,
    pub aia: bool,
}

/// Where HTTP requests may go, and with which methods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    pub to: Vec<Origin>,
    pub methods: BTreeSet<String>,
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub host: Host,
    pub port: Port,
}

/// A place of HTTP requests; no scheme = both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub https_only: bool,
    pub place: Place,
}

/// Which hosts a grant is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// The canonical target of the run.
    Target,
    /// Hosts that the target's MX records named in this run.
    TargetMx,
    Named(Target),
    Any,
}

/// Which ports of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// The site's port, or the protocol's: 443, and 80 for plain HTTP.
    Own,
    Number(u16),
    Any,
}

/// Bytes of state per scope; 0 = the scope is not granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub site: u64,
    pub shared: u64,
}

/// What an operator grants a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Grant {
    /// All that the manifest asks for: the lock of built-in plugins, whose bytes the binary carries.
    #[default]
    AsAsked,
    /// At most this.
    Only(Box<Capabilities>),
}

impl Grant {
    /// What a plugin that asks for `asked` gets.
    pub fn given(&self, asked: &Capabilities) -> Capabilities {
        match self {
            Self::AsAsked => asked.clone(),
            Self::Only(granted) => asked.intersect(granted),
        }
    }
}

impl Capabilities {
    /// Reads a table as it stands in `[capabilities]` of a manifest; the lock of the operator's
    /// plugins grants in the same words. What it says of the operator's settings, a JSON object, is
    /// filled in.
    ///
    /// # Errors
    /// One sentence that names the entry.
    pub fn of_table(table: toml::Table, settings: &Value) -> Result<Self, String> {
        let tables: Tables = toml::Value::Table(table)
            .try_into()
            .map_err(|error: toml::de::Error| error.message().trim().replace('\n', " "))?;
        tables.read(settings).map_err(|wrong| wrong.to_string())
    }

    /// What is in both. An interface that both name stays linked even when nothing it could reach
    /// is left: calls then answer `not-permitted`.
    pub fn intersect(&self, granted: &Self) -> Self {
        Self {
            dns: both(&self.dns, &granted.dns, Dns::intersect),
            tcp: both(&self.tcp, &granted.tcp, |asked, granted| meet(asked, granted)),
            tls: both(&self.tls, &granted.tls, |asked, granted| Tls {
                to: meet(&asked.to, &granted.to),
                aia: asked.aia && granted.aia,
            }),
            http: both(&self.http, &granted.http, |asked, granted| Http {
                to: meet(&asked.to, &granted.to),
                methods: &asked.methods & &granted.methods,
            }),
            x509: self.x509 && granted.x509,
            state: both(&self.state, &granted.state, |asked, granted| State {
                site: asked.site.min(granted.site),
                shared: asked.shared.min(granted.shared),
            }),
            secrets: &self.secrets & &granted.secrets,
            random: self.random && granted.random,
            configured: Arc::clone(&self.configured),
        }
    }

    /// Interfaces that a component with these capabilities must import, by name without version.
    pub(crate) fn interfaces(&self) -> BTreeSet<&'static str> {
        let linked = [
            (self.dns.is_some(), "vedette:net/dns"),
            (self.tcp.is_some(), "vedette:net/tcp"),
            (self.tls.is_some(), "vedette:net/tls"),
            (self.http.is_some(), "vedette:net/http"),
            (self.x509, "vedette:net/x509"),
            (self.state.is_some(), "vedette:env/state"),
            (!self.secrets.is_empty(), "vedette:env/secrets"),
            (self.random, "vedette:env/random"),
        ];
        linked.into_iter().filter_map(|(granted, name)| granted.then_some(name)).collect()
    }

    /// Whether `x509` is linked.
    pub(crate) fn examines(&self) -> bool {
        self.x509 || self.tls.is_some()
    }
}

impl Dns {
    fn intersect(&self, granted: &Self) -> Self {
        Self {
            names: meet(&self.names, &granted.names),
            types: &self.types & &granted.types,
            resolvers: &self.resolvers & &granted.resolvers,
        }
    }
}

fn both<T>(asked: &Option<T>, granted: &Option<T>, meet: impl FnOnce(&T, &T) -> T) -> Option<T> {
    Some(meet(asked.as_ref()?, granted.as_ref()?))
}

/// A set of what may be reached.
trait Set: Sized + PartialEq {
    /// What is in both; none where they are apart.
    fn and(&self, other: &Self) -> Option<Self>;
}

/// What is in one of the sets that were asked for and in one of those that were granted.
fn meet<T: Set>(asked: &[T], granted: &[T]) -> Vec<T> {
    let mut met: Vec<T> = Vec::new();
    for asked in asked {
        for both in granted.iter().filter_map(|granted| asked.and(granted)) {
            if !met.contains(&both) {
                met.push(both);
            }
        }
    }
    met
}

/// The smaller of two that are equal or of which one is `any`. All others are apart: that a site's
/// own port is 443 is known to its runs alone.
fn narrower<T: Clone + PartialEq>(one: &T, other: &T, any: &T) -> Option<T> {
    if one == any {
        return Some(other.clone());
    }
    (other == any || one == other).then(|| one.clone())
}

impl Set for Names {
    fn and(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Below(one), Self::Below(above)) if is_below(one.as_str(), above.as_str()) => {
                Some(self.clone())
            }
            (Self::Below(above), Self::Below(one)) if is_below(one.as_str(), above.as_str()) => {
                Some(other.clone())
            }
            _ => narrower(self, other, &Self::Any),
        }
    }
}

impl Set for Place {
    fn and(&self, other: &Self) -> Option<Self> {
        let host = narrower(&self.host, &other.host, &Host::Any)?;
        Some(Self { host, port: narrower(&self.port, &other.port, &Port::Any)? })
    }
}

impl Set for Origin {
    fn and(&self, other: &Self) -> Option<Self> {
        let https_only = self.https_only || other.https_only;
        Some(Self { https_only, place: self.place.and(&other.place)? })
    }
}

impl FromStr for Names {
    type Err = NoEntry;

    fn from_str(text: &str) -> Result<Self, NoEntry> {
        parse::names(text)
    }
}

impl FromStr for Place {
    type Err = NoEntry;

    fn from_str(text: &str) -> Result<Self, NoEntry> {
        parse::place(text, "to")
    }
}

impl FromStr for Origin {
    type Err = NoEntry;

    fn from_str(text: &str) -> Result<Self, NoEntry> {
        parse::origin(text)
    }
}

#[cfg(test)]
mod tests;
