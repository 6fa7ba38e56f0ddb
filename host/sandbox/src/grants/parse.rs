//! The `[capabilities]` table of a manifest.

use std::{collections::BTreeSet, net::IpAddr, str::FromStr};

use serde::Deserialize;
use serde_json::Value;
use vedette_model::{DomainName, domain_name::Target};

use super::{Capabilities, Dns, Host, Http, Names, Origin, Place, Port, State, Tls, setting};
use crate::manifest::Size;

/// An entry that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {reason}")]
pub struct NoEntry {
    pub field: &'static str,
    pub reason: String,
}

/// `[capabilities]` as written; absent = not linked.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tables {
    dns: Option<DnsTable>,
    tcp: Option<TcpTable>,
    tls: Option<TlsTable>,
    http: Option<HttpTable>,
    #[serde(default)]
    x509: bool,
    state: Option<StateTable>,
    #[serde(default)]
    secrets: BTreeSet<String>,
    #[serde(default)]
    random: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DnsTable {
    names: Vec<String>,
    types: BTreeSet<String>,
    #[serde(default)]
    resolvers: BTreeSet<IpAddr>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TcpTable {
    to: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsTable {
    to: Vec<String>,
    #[serde(default)]
    aia: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpTable {
    to: Vec<String>,
    #[serde(default = "reading")]
    methods: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StateTable {
    #[serde(default)]
    site: Option<Size>,
    #[serde(default)]
    shared: Option<Size>,
}

impl Tables {
    /// The settings of the operator's that entries name.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &str> {
        self.places().filter_map(|text| setting::named(text)).map(|(key, _)| key)
    }

    /// What the tables ask for, with `{key}` standing for what the operator set as `key` in
    /// `settings`; a key that is not set asks for nothing.
    pub(crate) fn read(self, settings: &Value) -> Result<Capabilities, NoEntry> {
        let configured = self.configured(settings)?;
        let tables = self;
        let places =
            |texts: &[String], field| each(texts, settings, field, |text| place(text, field));
        let dns = tables.dns.map(|table| {
            let names = table.names.iter().map(|text| names(text)).collect::<Result<_, _>>()?;
            Ok(Dns { names, types: table.types, resolvers: table.resolvers })
        });
        let tcp = tables.tcp.map(|table| places(&table.to, "capabilities.tcp.to"));
        let tls = tables
            .tls
            .map(|table| Ok(Tls { to: places(&table.to, "capabilities.tls.to")?, aia: table.aia }));
        let http = tables.http.map(|table| {
            let to = each(&table.to, settings, HTTP_TO, origin)?;
            Ok(Http { to, methods: table.methods })
        });
        let state = tables.state.map(|table| {
            let bytes = |size: Option<Size>| size.map_or(0, |Size(bytes)| bytes);
            let state = State { site: bytes(table.site), shared: bytes(table.shared) };
            if state.site > SITE_STATE || state.shared > SHARED_STATE {
                let reason = "may ask for 64KiB per site and 16MiB shared".to_owned();
                return Err(NoEntry { field: "capabilities.state", reason });
            }
            Ok(state)
        });
        Ok(Capabilities {
            dns: dns.transpose()?,
            tcp: tcp.transpose()?,
            tls: tls.transpose()?,
            http: http.transpose()?,
            x509: tables.x509,
            state: state.transpose()?,
            secrets: tables.secrets,
            random: tables.random,
            configured: configured.into(),
        })
    }

    /// The places of the settings that are asked for by name: `{sources}`, and not `*:{whois_root}`,
    /// which is any host on that one's port.
    fn configured(&self, settings: &Value) -> Result<Vec<(Target, u16)>, NoEntry> {
        let named = self.places().filter(|text| text.starts_with('{')).cloned();
        let origins = each(&named.collect::<Vec<_>>(), settings, HTTP_TO, origin)?;
        let places = origins.into_iter().filter_map(|origin| match origin.place {
            Place { host: Host::Named(host), port: Port::Number(port) } => Some((host, port)),
            _ => None,
        });
        Ok(places.collect())
    }

    /// Where these ask to connect to, as written.
    fn places(&self) -> impl Iterator<Item = &String> {
        let tcp = self.tcp.iter().flat_map(|table| &table.to);
        let tls = self.tls.iter().flat_map(|table| &table.to);
        let http = self.http.iter().flat_map(|table| &table.to);
        tcp.chain(tls).chain(http)
    }
}

fn each<T>(
    texts: &[String],
    settings: &Value,
    field: &'static str,
    read: impl Fn(&str) -> Result<T, NoEntry>,
) -> Result<Vec<T>, NoEntry> {
    let mut entries = Vec::with_capacity(texts.len());
    for text in texts {
        for filled in setting::fill(text, settings, field)? {
            entries.push(read(&filled)?);
        }
    }
    Ok(entries)
}

/// `target`, `*`, or a name.
pub(super) fn names(text: &str) -> Result<Names, NoEntry> {
    match text {
        "target" => Ok(Names::Target),
        "*" => Ok(Names::Any),
        name => DomainName::parse(name).map(Names::Below).map_err(|error| NoEntry {
            field: "capabilities.dns.names",
            reason: format!("must be target, * or a name: {name:?} {}", error.reason),
        }),
    }
}

/// `target`, `host:port`, `*:port`, where host may be `target` or `target-mx` and port `*`.
pub(super) fn place(text: &str, field: &'static str) -> Result<Place, NoEntry> {
    if text == "target" {
        return Ok(Place { host: Host::Target, port: Port::Own });
    }
    let wrong = || NoEntry {
        field,
        reason: format!("must name target, target-mx:port, host:port or *:port, not {text:?}"),
    };
    let (name, number) = text.rsplit_once(':').ok_or_else(wrong)?;
    let host = host(name).ok_or_else(wrong)?;
    let port = port(number).ok_or_else(wrong)?;
    Ok(Place { host, port })
}

/// As [`place`], or an origin: `https://host[:port]`, `https://*`, `http://…`.
pub(super) fn origin(text: &str) -> Result<Origin, NoEntry> {
    let (scheme, rest) = match text.split_once("://") {
        None => return place(text, HTTP_TO).map(|place| Origin { https_only: false, place }),
        Some((scheme, rest)) => (scheme, rest.trim_end_matches('/')),
    };
    let wrong = || NoEntry {
        field: HTTP_TO,
        reason: format!(
            "must name target, host:port or an origin such as https://host, not {text:?}"
        ),
    };
    let usual = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return Err(wrong()),
    };
    let (name, port) = match rest.rsplit_once(':').filter(|_| !rest.ends_with(']')) {
        Some((name, number)) => (name, port(number).ok_or_else(wrong)?),
        None if rest == "*" => (rest, Port::Any),
        None => (rest, Port::Number(usual)),
    };
    let host = host(name).ok_or_else(wrong)?;
    Ok(Origin { https_only: scheme == "https", place: Place { host, port } })
}

fn host(text: &str) -> Option<Host> {
    match text {
        "target" => Some(Host::Target),
        "target-mx" => Some(Host::TargetMx),
        "*" => Some(Host::Any),
        named => {
            let literal = named.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            Target::parse(literal.unwrap_or(named)).ok().map(Host::Named)
        }
    }
}

fn port(text: &str) -> Option<Port> {
    if text == "*" {
        return Some(Port::Any);
    }
    u16::from_str(text).ok().filter(|port| *port > 0).map(Port::Number)
}

fn reading() -> BTreeSet<String> {
    ["GET", "HEAD"].map(str::to_owned).into()
}

const HTTP_TO: &str = "capabilities.http.to";
const SITE_STATE: u64 = 64 << 10;
const SHARED_STATE: u64 = 16 << 20;
