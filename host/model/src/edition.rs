//! The two documented deployments, as data.
//!
//! *Invariant:* a difference between the editions is a field of these tables, never an `if`.

use std::time::Duration;

use crate::CheckType;
use crate::plan::{Feature, Plan};

/// Prefixes, plans and record types of one deployment.
#[derive(Debug, PartialEq)]
pub struct Edition {
    /// As configuration names it, e.g. `standard`.
    pub id: &'static str,
    /// What every path starts with.
    pub prefix: &'static str,
    /// What every API key starts with.
    pub key_prefix: &'static str,
    /// From the lowest to the highest.
    pub plans: &'static [Plan],
    /// Record types of a DNS result, in the order they are shown.
    pub record_types: &'static [&'static str],
    /// Whether an SSL result carries `tls_grade`.
    pub grade: bool,
    /// Endpoints and tools beyond those that all editions have.
    pub areas: &'static [Area],
}

/// A group of endpoints that an edition has or lacks (spec: Variant B additional endpoints).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// `/auth/welcome`
    Welcome,
    /// `/account`
    Account,
    /// `/checkout`, `/billing/status`, `/webhooks/payments`
    Billing,
    /// `/team`
    Team,
    /// `/cron`
    Cron,
    /// `/agent`, and the tool `list_private_certs`
    Agents,
}

/// Every record type of a DNS result, whatever the edition.
const RECORD_TYPES: [&str; 7] = ["A", "AAAA", "CNAME", "MX", "TXT", "CAA", "NS"];

impl Edition {
    /// Both, the primary description first.
    pub fn all() -> [&'static Self; 2] {
        [&STANDARD, &TEAM]
    }

    pub fn by_id(id: &str) -> Option<&'static Self> {
        Self::all().into_iter().find(|edition| edition.id == id)
    }

    /// Fields of a check's result that the edition does not show, by name: `tls_grade` of `ssl`,
    /// `records/CAA` of `dns`. Nobody need find them out. What another check calls so is its own.
    pub fn omitted(&self, check_type: &CheckType) -> Vec<String> {
        match check_type.as_str() {
            "ssl" if !self.grade => vec!["tls_grade".to_owned()],
            "dns" => {
                let types = RECORD_TYPES.iter().filter(|name| !self.record_types.contains(name));
                types.map(|name| format!("records/{name}")).collect()
            }
            _ => Vec::new(),
        }
    }

    pub fn has(&self, area: Area) -> bool {
        self.areas.contains(&area)
    }

    pub fn plan(&self, id: &str) -> Option<&'static Plan> {
        self.plans.iter().find(|plan| plan.id == id)
    }

    /// What a new account gets: the first plan of the table.
    pub fn lowest_plan(&self) -> &'static Plan {
        self.plans.first().expect("an edition has plans")
    }

    pub fn highest_plan(&self) -> &'static Plan {
        self.plans.last().expect("an edition has plans")
    }

    /// The first plan that includes a feature: what a 403 names.
    pub fn lowest_plan_with(&self, feature: Feature) -> Option<&'static Plan> {
        self.plans.iter().find(|plan| plan.includes(feature))
    }

    /// The first plan for which something counts higher: what the 403 of a used-up count names.
    pub fn lowest_plan_above(&self, plan: &Plan, count: fn(&Plan) -> u32) -> Option<&'static Plan> {
        self.plans.iter().find(|other| count(other) > count(plan))
    }
}

/// The primary description.
pub static STANDARD: Edition = Edition {
    id: "standard",
    prefix: "/v1",
    key_prefix: "ct_",
    plans: &[
        Plan {
            id: "free",
            qps: 10,
            monthly_calls: 100,
            api_keys: 1,
            sites: 2,
            team_members: 0,
            agents: 0,
            features: &[],
            min_intervals: FREE_INTERVALS,
        },
        Plan {
            id: "starter",
            qps: 50,
            monthly_calls: 2_000,
            api_keys: 3,
            sites: 10,
            team_members: 0,
            agents: 0,
            features: &[Feature::Email, Feature::ChatWebhooks, Feature::CustomWebhook],
            min_intervals: &[],
        },
        Plan {
            id: "pro",
            qps: 100,
            monthly_calls: 10_000,
            api_keys: 5,
            sites: 50,
            team_members: 0,
            agents: 0,
            features: &[
                Feature::Email,
                Feature::ChatWebhooks,
                Feature::CustomWebhook,
                Feature::StatusPageStyle,
                Feature::Renewal,
            ],
            min_intervals: &[],
        },
    ],
    record_types: &RECORD_TYPES,
    grade: false,
    areas: &[],
};

/// Variant B.
pub static TEAM: Edition = Edition {
    id: "team",
    prefix: "/api",
    key_prefix: "sp_",
    plans: &[
        Plan {
            id: "free",
            qps: 10,
            monthly_calls: 100,
            api_keys: 1,
            sites: 2,
            team_members: 0,
            agents: 0,
            features: &[],
            min_intervals: FREE_INTERVALS,
        },
        Plan {
            id: "pro",
            qps: 100,
            monthly_calls: 10_000,
            api_keys: 5,
            sites: 20,
            team_members: 0,
            agents: 0,
            features: &[Feature::Email, Feature::Renewal],
            min_intervals: &[],
        },
        Plan {
            id: "team",
            qps: 300,
            monthly_calls: 50_000,
            api_keys: 10,
            sites: 80,
            team_members: 3,
            agents: 10,
            features: &[
                Feature::Email,
                Feature::ChatWebhooks,
                Feature::CustomWebhook,
                Feature::StatusPageStyle,
                Feature::Renewal,
                Feature::Team,
                Feature::Agents,
            ],
            min_intervals: &[],
        },
    ],
    record_types: &["A", "AAAA", "CNAME", "MX", "TXT", "NS"],
    grade: true,
    areas: &[Area::Welcome, Area::Account, Area::Billing, Area::Team, Area::Cron, Area::Agents],
};

/// Decisions: intervals.
const FREE_INTERVALS: &[(&str, Duration)] = &[("uptime", Duration::from_secs(5 * 60))];

#[cfg(test)]
mod tests;
