//! A site: a domain that is monitored, and how.
//!
//! *Invariant:* the provider and deployment settings of a site are stored and never shown; what
//! the API shows is [`SiteView`] alone (spec: Site).

mod change;
mod looked_at;

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::change::{NewSite, SitePatch};
pub use self::looked_at::{Endpoint, LookedAt};
use crate::{AccountId, CheckType, DomainName, Plan, Secret, SiteId, Timestamp};

/// A stored site. The same domain, port and address twice in one account is one too many.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    pub id: SiteId,
    pub account_id: AccountId,
    pub domain: DomainName,
    /// No duplicates, at least one.
    pub check_types: Vec<CheckType>,
    /// 1–65535; none = 443.
    pub custom_port: Option<u16>,
    /// Dialled instead of what the domain resolves to.
    pub origin_ip: Option<IpAddr>,
    /// Days before an expiry at which to alert, 1–365.
    pub alert_days: u16,
    pub monitoring_enabled: bool,
    /// What the plugins of these checks are given.
    pub check_config: BTreeMap<CheckType, Value>,
    pub dns_provider: Option<String>,
    pub dns_provider_config: Option<Secret<Value>>,
    pub deploy_target: Option<String>,
    pub deploy_config: Option<Secret<Value>>,
    /// What alerts call it where its domain says nothing: the place that an agent looks at, which
    /// stands where a site stands. None for every site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    pub created_at: Timestamp,
}

/// A site as the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteView<'a> {
    pub id: SiteId,
    pub domain: &'a DomainName,
    pub check_types: &'a [CheckType],
    pub custom_port: Option<u16>,
    pub origin_ip: Option<IpAddr>,
    pub alert_days: u16,
    pub monitoring_enabled: bool,
    pub check_config: &'a BTreeMap<CheckType, Value>,
    pub created_at: Timestamp,
}

impl Site {
    /// What alerts call it.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.domain.as_str())
    }

    /// Where its checks connect.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint { port: self.custom_port.unwrap_or(DEFAULT_PORT), address: self.origin_ip }
    }

    /// The site as it was set; for what is in effect under the plan see [`monitored`].
    pub fn view(&self) -> SiteView<'_> {
        SiteView {
            id: self.id,
            domain: &self.domain,
            check_types: &self.check_types,
            custom_port: self.custom_port,
            origin_ip: self.origin_ip,
            alert_days: self.alert_days,
            monitoring_enabled: self.monitoring_enabled,
            check_config: &self.check_config,
            created_at: self.created_at,
        }
    }

    /// The checks that are about it: those listed, and `uptime` whether listed or not (decisions:
    /// `check_types`).
    pub fn checks(&self) -> Vec<CheckType> {
        let mut checks = self.check_types.clone();
        if !checks.iter().any(|check_type| check_type.is_uptime()) {
            checks.push(CheckType::UPTIME.parse().expect("the name of a documented check"));
        }
        checks
    }

    /// The checks that were about it and are not about what it has become.
    pub fn dropped(&self, after: &Self) -> Vec<CheckType> {
        let kept = after.checks();
        let mut dropped = self.checks();
        dropped.retain(|check_type| !kept.contains(check_type));
        dropped
    }

    /// Those that the scheduler runs, as far as they are installed. None while monitoring is off.
    pub fn scheduled(&self, installed: &[CheckType]) -> Vec<CheckType> {
        if !self.monitoring_enabled {
            return Vec::new();
        }
        let own = self.checks();
        installed.iter().filter(|installed| own.contains(installed)).cloned().collect()
    }

    /// The configuration of one check; an empty object where none was given.
    pub fn config_of(&self, check_type: &CheckType) -> Value {
        self.check_config
            .get(check_type)
            .cloned()
            .unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }
}

/// The sites of one account, oldest first, each with whether it is checked in effect: after a
/// downgrade only the oldest up to the plan's limit are (decisions: site limits).
pub fn monitored<'a>(
    oldest_first: &'a [Site],
    plan: &Plan,
) -> impl Iterator<Item = (&'a Site, bool)> {
    let limit = plan.sites as usize;
    oldest_first
        .iter()
        .enumerate()
        .map(move |(index, site)| (site, site.monitoring_enabled && index < limit))
}

/// The port of a site that names none (spec: Site, `custom_port`).
pub const DEFAULT_PORT: u16 = 443;

#[cfg(test)]
mod tests;
