//! Where an agent looks: a host and a port, and what stands for them where others have a site.

use std::fmt;

use serde_json::Value;
use uuid::Uuid;

use crate::domain_name::is_label;
use crate::parse;
use crate::text::misleads;
use crate::{
    AccountId, AgentId, CheckType, DomainName, Invalid, NewSite, Patch, Site, SiteId, SitePatch,
    Timestamp,
};

/// A host and a port of an agent's network. Nothing of it is ever resolved or dialled here, so any
/// name and any address is fine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// A name in lower case, of one label or more, or an address.
    pub host: String,
    pub port: u16,
    /// Which of its certificates, where there are several; none = the one that stands for it.
    pub beside: Option<String>,
}

impl Place {
    /// The id by which alerts name it: the same for every report of this agent about it.
    pub fn id(&self, account: AccountId, agent: AgentId) -> SiteId {
        let Self { host, port, beside } = self;
        let name = match beside {
            None => format!("{account} {host} {port}"),
            Some(beside) => format!("{account} {host} {port} {beside}"),
        };
        SiteId(Uuid::new_v5(&agent.0, name.as_bytes()))
    }

    /// What its results are judged and its alerts are raised for. Its domain leads nowhere; what
    /// people read is its label.
    pub fn site(&self, account: AccountId, agent: AgentId, now: Timestamp) -> Site {
        let id = self.id(account, agent);
        let domain = DomainName::parse(&format!("{id}.agent.invalid"));
        let rest = SitePatch {
            check_types: Some(vec![check_type()]),
            custom_port: Patch::Set(self.port),
            ..SitePatch::default()
        };
        let new = NewSite { domain: domain.expect("a UUID is a label"), rest };
        Site { label: Some(self.to_string()), ..new.into_site(id, account, now) }
    }
}

/// As people write it: `db01`, `db01:8443`, `[fd00::1]:8443`, `db01 (CN=web)`. The subject of a
/// certificate may hold any character; those that would mislead whoever reads it are blanks here.
/// Its place's id is made of all of them.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, beside } = self;
        match port {
            443 => f.write_str(host),
            port if host.contains(':') => write!(f, "[{host}]:{port}"),
            port => write!(f, "{host}:{port}"),
        }?;
        match beside {
            None => Ok(()),
            Some(beside) => write!(f, " ({})", beside.replace(misleads, " ")),
        }
    }
}

/// The check that judges what agents report.
pub fn check_type() -> CheckType {
    "ssl".parse().expect("the name of a check")
}

/// What a place is judged as, by its row. Rows of before hold its name with all its characters.
pub fn judged_as(row: Site) -> Site {
    let label = row.label.map(|label| label.replace(misleads, " "));
    Site { label, ..row }
}

/// A name in the spelling of [`DomainName`], where one label is enough, or an address.
pub(super) fn host(field: &'static str, value: &Value) -> Result<String, Invalid> {
    let text = parse::text(field, value)?;
    if let Ok(address) = parse::address(field, text) {
        return Ok(address.to_string());
    }
    if let Ok(name) = DomainName::parse(text) {
        return Ok(name.into());
    }
    let label = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    if is_label(&label) {
        return Ok(label);
    }
    Err(Invalid::new(field, "must be a host name or an IP address, without scheme, port or path"))
}
