//! How a site stands, and how all of them stand together.
//!
//! A site stands as its last uptime run says. Where that could not tell, or is too old, it is
//! unknown, and what is in doubt changes nothing until it is confirmed ([`Latest::confirmed`]).
//! A certificate that was seen and is not valid, or a name that does not resolve, makes it degraded
//! at least: visitors meet that too. What only its owner has to know (a registration that ends, a
//! certificate in a log) is not told here.
//!
//! Together, the first that fits:
//!
//! 1. outage: a site is down, or an open incident is critical;
//! 2. degraded: a site is degraded, or an incident is open;
//! 3. maintenance: a site is in maintenance;
//! 4. operational: at least one site is;
//! 5. unknown.
//!
//! A site in maintenance stands for nothing else while its window lasts.

use serde::Serialize;

use super::latest::Latest;
use crate::incident::IncidentSeverity;
use crate::{CheckStatus, CheckType};

/// In the order in which they are listed: what visitors look for comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteState {
    Down,
    Degraded,
    Maintenance,
    Unknown,
    Operational,
}

/// How all sites stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Overall {
    Operational,
    Degraded,
    Outage,
    Maintenance,
    Unknown,
}

/// What the page says first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    pub state: Overall,
    pub description: &'static str,
    /// How many sites stand how; empty without sites.
    pub detail: String,
}

impl SiteState {
    pub fn of(latest: &[Latest], in_maintenance: bool) -> Self {
        if in_maintenance {
            return Self::Maintenance;
        }
        let status = |name: &str| {
            let found = latest.iter().find(|latest| latest.check_type.as_str() == name);
            found.map_or(CheckStatus::Unknown, |latest| latest.status)
        };
        let hampered = MET_BY_VISITORS.iter().any(|name| status(name) == CheckStatus::Down);
        match status(CheckType::UPTIME) {
            CheckStatus::Down => Self::Down,
            CheckStatus::Ok | CheckStatus::Unknown if hampered => Self::Degraded,
            CheckStatus::Degraded => Self::Degraded,
            CheckStatus::Ok => Self::Operational,
            CheckStatus::Unknown => Self::Unknown,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Down => "Down",
            Self::Degraded => "Degraded",
            Self::Maintenance => "Maintenance",
            Self::Unknown => "Unknown",
            Self::Operational => "Operational",
        }
    }
}

impl Verdict {
    /// Over all sites and the severities of the incidents that are not resolved.
    pub fn of(sites: &[SiteState], open: &[IncidentSeverity]) -> Self {
        let count = |state| sites.iter().filter(|site| **site == state).count();
        let (down, degraded) = (count(SiteState::Down), count(SiteState::Degraded));
        let (resting, unknown) = (count(SiteState::Maintenance), count(SiteState::Unknown));
        let critical = open.contains(&IncidentSeverity::Critical);
        let (state, description) = if down > 0 && down + resting == sites.len() {
            (Overall::Outage, "Major outage")
        } else if down > 0 {
            (Overall::Outage, "Partial outage")
        } else if critical {
            (Overall::Outage, "Major incident in progress")
        } else if degraded > 0 {
            (Overall::Degraded, "Some systems are degraded")
        } else if !open.is_empty() {
            (Overall::Degraded, "Incident in progress")
        } else if resting > 0 {
            (Overall::Maintenance, "Maintenance in progress")
        } else if sites.is_empty() {
            (Overall::Unknown, "No systems are monitored yet")
        } else if unknown == sites.len() {
            (Overall::Unknown, "The current state is unknown")
        } else if unknown > 0 {
            (Overall::Operational, "No known problems")
        } else {
            (Overall::Operational, "All systems operational")
        };
        Self { state, description, detail: detail(sites) }
    }
}

/// `1 down, 12 operational`
fn detail(sites: &[SiteState]) -> String {
    let said = DETAILS.iter().filter_map(|(state, adjective)| {
        let count = sites.iter().filter(|site| *site == state).count();
        (count > 0).then(|| format!("{count} {adjective}"))
    });
    said.collect::<Vec<_>>().join(", ")
}

const DETAILS: [(SiteState, &str); 5] = [
    (SiteState::Down, "down"),
    (SiteState::Degraded, "degraded"),
    (SiteState::Maintenance, "in maintenance"),
    (SiteState::Operational, "operational"),
    (SiteState::Unknown, "unknown"),
];
const MET_BY_VISITORS: [&str; 2] = ["ssl", "dns"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::incident::IncidentSeverity::{Critical, Major, Minor};

    fn latest(check_type: &str, status: CheckStatus) -> Latest {
        let checked_at = Timestamp::from_timestamp(1_790_000_000, 0).unwrap();
        Latest { check_type: check_type.parse().unwrap(), status, checked_at }
    }

    #[test]
    fn a_site_stands_as_its_visitors_meet_it() {
        use CheckStatus::{Degraded, Down, Ok, Unknown};
        let table: &[(&[(&str, CheckStatus)], SiteState)] = &[
            (&[], SiteState::Unknown),
            (&[("uptime", Ok)], SiteState::Operational),
            (&[("uptime", Degraded)], SiteState::Degraded),
            (&[("uptime", Down), ("ssl", Ok)], SiteState::Down),
            (&[("uptime", Unknown), ("ssl", Ok)], SiteState::Unknown),
            (&[("ssl", Ok), ("dns", Ok)], SiteState::Unknown),
            (&[("uptime", Ok), ("ssl", Down)], SiteState::Degraded),
            (&[("uptime", Unknown), ("dns", Down)], SiteState::Degraded),
            (&[("uptime", Ok), ("ssl", Degraded)], SiteState::Operational),
            (&[("uptime", Ok), ("domain", Down), ("ct", Down)], SiteState::Operational),
        ];
        for (checks, expected) in table {
            let latest: Vec<_> =
                checks.iter().map(|(name, status)| latest(name, *status)).collect();
            assert_eq!(SiteState::of(&latest, false), *expected, "{checks:?}");
            assert_eq!(SiteState::of(&latest, true), SiteState::Maintenance);
        }
    }

    #[test]
    fn the_worst_that_is_known_is_said_first() {
        use SiteState::{
            Degraded as Slow, Down, Maintenance as Rest, Operational as Fine, Unknown,
        };
        let table: &[(&[SiteState], &[IncidentSeverity], Overall, &str)] = &[
            (&[], &[], Overall::Unknown, "No systems are monitored yet"),
            (&[Fine, Fine], &[], Overall::Operational, "All systems operational"),
            (&[Fine, Unknown], &[], Overall::Operational, "No known problems"),
            (&[Unknown, Unknown], &[], Overall::Unknown, "The current state is unknown"),
            (&[Fine, Slow], &[], Overall::Degraded, "Some systems are degraded"),
            (&[Fine], &[Minor], Overall::Degraded, "Incident in progress"),
            (&[], &[Major], Overall::Degraded, "Incident in progress"),
            (&[Fine], &[Minor, Critical], Overall::Outage, "Major incident in progress"),
            (&[Down, Fine], &[], Overall::Outage, "Partial outage"),
            (&[Down, Unknown], &[Minor], Overall::Outage, "Partial outage"),
            (&[Down, Down], &[], Overall::Outage, "Major outage"),
            (&[Down, Rest], &[], Overall::Outage, "Major outage"),
            (&[Rest, Fine], &[], Overall::Maintenance, "Maintenance in progress"),
            (&[Rest, Rest], &[], Overall::Maintenance, "Maintenance in progress"),
            (&[Rest, Slow], &[], Overall::Degraded, "Some systems are degraded"),
            (&[Rest, Unknown], &[], Overall::Maintenance, "Maintenance in progress"),
        ];
        for (sites, open, state, description) in table {
            let said = Verdict::of(sites, open);
            assert_eq!(
                (said.state, said.description),
                (*state, *description),
                "{sites:?} {open:?}"
            );
        }
        let said = Verdict::of(&[Fine, Down, Fine, Unknown, Rest], &[]).detail;
        assert_eq!(said, "1 down, 1 in maintenance, 2 operational, 1 unknown");
    }
}
