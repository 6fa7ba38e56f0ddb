//! What may be said about a site when it is created or changed.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value;

use super::Site;
use crate::parse::{self, Body};
use crate::{AccountId, CheckType, DomainName, Invalid, Patch, Secret, SiteId, Timestamp};

/// The body of `POST /sites`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSite {
    pub domain: DomainName,
    pub rest: SitePatch,
}

/// The body of `PATCH /sites`: only what is to change. `monitoring_enabled` and `check_config`
/// go beyond the documented fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SitePatch {
    pub check_types: Option<Vec<CheckType>>,
    pub custom_port: Patch<u16>,
    pub origin_ip: Patch<IpAddr>,
    pub alert_days: Option<u16>,
    pub monitoring_enabled: Option<bool>,
    /// Replaces the whole table; the plugins have not seen it yet.
    pub check_config: Patch<BTreeMap<CheckType, Value>>,
    pub dns_provider: Patch<String>,
    pub dns_provider_config: Patch<Secret<Value>>,
    pub deploy_target: Patch<String>,
    pub deploy_config: Patch<Secret<Value>>,
}

impl NewSite {
    /// `installed` are the check types that have a plugin: a site may list those and the four
    /// documented ones.
    pub fn parse(body: &Value, installed: &[CheckType]) -> Result<Self, Invalid> {
        let domain = Body::of(body)?
            .required("domain", |field, value| DomainName::parse(parse::text(field, value)?))?;
        Ok(Self { domain, rest: SitePatch::parse(body, installed)? })
    }

    /// The site with its defaults: all four documented checks, 14 days, monitored.
    pub fn into_site(self, id: SiteId, account_id: AccountId, now: Timestamp) -> Site {
        let mut site = Site {
            id,
            account_id,
            domain: self.domain,
            check_types: documented(),
            custom_port: None,
            origin_ip: None,
            alert_days: DEFAULT_ALERT_DAYS,
            monitoring_enabled: true,
            check_config: BTreeMap::new(),
            dns_provider: None,
            dns_provider_config: None,
            deploy_target: None,
            deploy_config: None,
            label: None,
            created_at: now,
        };
        self.rest.apply(&mut site);
        site
    }
}

impl SitePatch {
    /// `installed` as for a new site; of a site that is there, also what it names already.
    pub fn parse(body: &Value, installed: &[CheckType]) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        Ok(Self {
            check_types: body
                .optional("check_types", |field, value| check_types(field, value, installed))?,
            custom_port: body
                .patch("custom_port", |field, value| parse::integer(field, value, 1..=u16::MAX))?,
            origin_ip: body.patch("origin_ip", |field, value| {
                parse::address(field, parse::text(field, value)?)
            })?,
            alert_days: body
                .optional("alert_days", |field, value| parse::integer(field, value, 1..=365))?,
            monitoring_enabled: body.optional("monitoring_enabled", parse::boolean)?,
            check_config: body
                .patch("check_config", |field, value| check_config(field, value, installed))?,
            dns_provider: body.patch("dns_provider", name)?,
            dns_provider_config: body.patch("dns_provider_config", secret_object)?,
            deploy_target: body.patch("deploy_target", name)?,
            deploy_config: body.patch("deploy_config", secret_object)?,
        })
    }

    /// Cannot fail: what is not nullable was read as an option.
    pub fn apply(self, site: &mut Site) {
        if let Some(check_types) = self.check_types {
            site.check_types = check_types;
        }
        if let Some(alert_days) = self.alert_days {
            site.alert_days = alert_days;
        }
        if let Some(monitoring_enabled) = self.monitoring_enabled {
            site.monitoring_enabled = monitoring_enabled;
        }
        match self.check_config {
            Patch::Keep => {}
            Patch::Clear => site.check_config.clear(),
            Patch::Set(check_config) => site.check_config = check_config,
        }
        self.custom_port.apply_option(&mut site.custom_port);
        self.origin_ip.apply_option(&mut site.origin_ip);
        self.dns_provider.apply_option(&mut site.dns_provider);
        self.dns_provider_config.apply_option(&mut site.dns_provider_config);
        self.deploy_target.apply_option(&mut site.deploy_target);
        self.deploy_config.apply_option(&mut site.deploy_config);
    }
}

/// The check types of the contract, which are also the default.
fn documented() -> Vec<CheckType> {
    CheckType::LISTED.map(|name| name.parse().expect("documented names are well formed")).to_vec()
}

fn check_types(
    field: &'static str,
    value: &Value,
    installed: &[CheckType],
) -> Result<Vec<CheckType>, Invalid> {
    let accepted = accepted(installed);
    let mut types = Vec::new();
    for item in parse::list(field, value)? {
        let check_type = accepted
            .iter()
            .find(|accepted| item.as_str() == Some(accepted.as_str()))
            .ok_or_else(|| one_of(field, &accepted, item.as_str()))?;
        if !types.contains(check_type) {
            types.push(check_type.clone());
        }
    }
    if types.is_empty() {
        return Err(one_of(field, &accepted, None));
    }
    Ok(types)
}

fn check_config(
    field: &'static str,
    value: &Value,
    installed: &[CheckType],
) -> Result<BTreeMap<CheckType, Value>, Invalid> {
    let accepted = accepted(installed);
    let mut table = BTreeMap::new();
    for (name, config) in parse::object(field, value)? {
        let check_type = accepted
            .iter()
            .find(|accepted| accepted.as_str() == name)
            .ok_or_else(|| one_of(field, &accepted, Some(name.as_str())))?;
        if !config.is_object() {
            return Err(Invalid::new(format!("{field}.{name}"), "must be an object"));
        }
        table.insert(check_type.clone(), config.clone());
    }
    Ok(table)
}

fn accepted(installed: &[CheckType]) -> Vec<CheckType> {
    let mut accepted = documented();
    for check_type in installed {
        if !accepted.contains(check_type) {
            accepted.push(check_type.clone());
        }
    }
    accepted
}

/// `unknown` is what was named in place of one of them.
fn one_of(field: &'static str, accepted: &[CheckType], unknown: Option<&str>) -> Invalid {
    let names: Vec<&str> = accepted.iter().map(CheckType::as_str).collect();
    let unknown = unknown.map(|name| {
        let name: String = name.chars().take(LONGEST_TOLD).collect();
        format!("; {name:?} is none of them")
    });
    let unknown = unknown.unwrap_or_default();
    Invalid::new(field, format!("must name one or more of {}{unknown}", names.join(", ")))
}

fn name(field: &'static str, value: &Value) -> Result<String, Invalid> {
    parse::line(field, value, LONGEST_NAME).map(str::to_owned)
}

fn secret_object(field: &'static str, value: &Value) -> Result<Secret<Value>, Invalid> {
    parse::object(field, value).map(|members| Secret::new(Value::Object(members.clone())))
}

const DEFAULT_ALERT_DAYS: u16 = 14;
const LONGEST_NAME: usize = 500;
/// Characters of a client's own word in a sentence of ours.
const LONGEST_TOLD: usize = 80;
