//! How a name stands with its registry, and the result that this makes at a moment.
//!
//! A standing has no "now" in it: it is kept for a day, and dated whenever it is told.
//!
//! *Invariant:* pure; what strangers wrote is cut to a length before it is kept.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    error::Token,
    last_chance::LastChance,
    moment,
    name::{Name, a_labels},
    result::{DataAvailability, DomainResult, Source},
    text::cut,
};

/// What a registry publishes about a registered name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Registration {
    pub(crate) registrar: Option<String>,
    /// Unix seconds.
    pub(crate) expires_at: Option<i64>,
    /// Lower case, sorted. None: not published; empty: stated to have none.
    pub(crate) name_servers: Option<Vec<String>>,
    pub(crate) privacy_protected: Option<bool>,
    pub(crate) status: Vec<String>,
}

/// What one server answered about a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Registered(Registration),
    NotFound,
    Reserved,
    /// It does not want to be asked; may be for how long.
    Throttled(Option<Duration>),
    /// It lets us in at no time, or not from here: another source may.
    Denied,
    /// Nothing that would say how the name stands.
    Failed(Token),
}

/// How a name stands, after everyone was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    Registered(Registration, Source),
    NotFound(Source),
    Reserved(Source),
    /// A server denied us, and no other told of a registration.
    Denied,
    Unknown(Token),
}

impl Registration {
    /// Cut to what is worth keeping of the answer of an adversary.
    pub(crate) fn bounded(self) -> Self {
        let status = self.status.into_iter().take(MAX_ITEMS);
        let registrar = self.registrar.map(|text| cut(text.trim(), MAX_REGISTRAR));
        Self {
            registrar: registrar.filter(|text| !text.is_empty()),
            expires_at: self.expires_at,
            name_servers: self.name_servers.and_then(hosts),
            privacy_protected: self.privacy_protected,
            status: status.map(|text| cut(&text, MAX_STATUS)).collect(),
        }
    }
}

impl Standing {
    /// Whether its owner has to act, and may be doing so: what is told of it is looked at again soon.
    /// Where a date is long past, the registry does not keep it.
    pub(crate) fn is_lapsing(&self, now: i64) -> bool {
        let Self::Registered(registration, _) = self else { return false };
        let past = registration.expires_at.map(|at| now.saturating_sub(at));
        let is_past = past.is_some_and(|past| (1..=LAPSE).contains(&past));
        is_past || LastChance::of(&registration.status).is_some()
    }
}

/// Those that are names of hosts, sorted, each once. None where texts were there and not one of
/// them is.
fn hosts(names: Vec<String>) -> Option<Vec<String>> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    let is_host = |name: &String| (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain);
    let was_empty = names.is_empty();
    let names = names.iter().map(|name| a_labels(name));
    let mut hosts: Vec<String> = names.filter(is_host).take(MAX_ITEMS).collect();
    hosts.sort_unstable();
    hosts.dedup();
    (was_empty || !hosts.is_empty()).then_some(hosts)
}

impl Standing {
    /// The result at a moment.
    pub(crate) fn result(&self, name: &Name, now: i64) -> DomainResult {
        let result = DomainResult { domain: name.as_str().to_owned(), ..DomainResult::default() };
        let failed = |token: Token, source| DomainResult {
            error: Some(token.as_str().to_owned()),
            source,
            ..result.clone()
        };
        match self {
            Self::NotFound(source) => failed(Token::DomainNotFound, Some(*source)),
            Self::Reserved(source) => failed(Token::DomainReserved, Some(*source)),
            Self::Denied => failed(Token::RateLimited, None),
            Self::Unknown(token) => failed(*token, None),
            Self::Registered(registration, source) => {
                let seen = registration.clone();
                let is_full = seen.registrar.is_some() && seen.expires_at.is_some();
                DomainResult {
                    registrar: seen.registrar,
                    expires_at: seen.expires_at.map(moment::rfc3339),
                    days_remaining: seen.expires_at.map(|at| moment::days_until(at, now)),
                    name_servers: seen.name_servers,
                    privacy_protected: seen.privacy_protected,
                    status: seen.status,
                    data_availability: match is_full {
                        true => DataAvailability::Full,
                        false => DataAvailability::Partial,
                    },
                    source: Some(*source),
                    ..result
                }
            }
        }
    }
}

/// Grace, redemption and deletion take registries no longer.
const LAPSE: i64 = 90 * moment::DAY;
/// Of name servers and of statuses.
const MAX_ITEMS: usize = 32;
/// In characters.
const MAX_REGISTRAR: usize = 256;
const MAX_NAME: usize = 253;
const MAX_STATUS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_767_225_600;

    fn name() -> Name {
        Name::of("www.example.com").expect("it is a name")
    }

    fn registration() -> Registration {
        Registration {
            registrar: Some("Registrar".to_owned()),
            expires_at: Some(NOW + 10 * moment::DAY),
            name_servers: Some(vec!["ns1.example.com".to_owned()]),
            privacy_protected: Some(true),
            status: vec!["ok".to_owned()],
        }
    }

    #[test]
    fn standing_is_dated_when_it_is_told() {
        let standing = Standing::Registered(registration(), Source::Rdap);
        let result = standing.result(&name(), NOW);
        assert_eq!(result.domain, "example.com");
        assert_eq!(result.expires_at.as_deref(), Some("2026-01-11T00:00:00Z"));
        assert_eq!(result.days_remaining, Some(10));
        assert_eq!(standing.result(&name(), NOW + 11 * moment::DAY).days_remaining, Some(-1));
        assert_eq!((result.source, result.error), (Some(Source::Rdap), None));
    }

    #[test]
    fn availability_tells_what_is_published() {
        let without = |change: fn(&mut Registration)| {
            let mut registration = registration();
            change(&mut registration);
            let standing = Standing::Registered(registration, Source::Whois);
            standing.result(&name(), NOW).data_availability
        };
        assert_eq!(without(|_| ()), DataAvailability::Full);
        assert_eq!(without(|r| r.expires_at = None), DataAvailability::Partial);
        assert_eq!(without(|r| r.registrar = None), DataAvailability::Partial);
        assert_eq!(without(|r| r.name_servers = None), DataAvailability::Full);
    }

    #[test]
    fn registration_lapses_from_its_date_on_until_it_is_deleted() {
        let lapsing = |expires_at: Option<i64>, status: &str| {
            let status = vec![status.to_owned()];
            let registration = Registration { expires_at, status, ..registration() };
            Standing::Registered(registration, Source::Rdap).is_lapsing(NOW)
        };
        for (past, expected) in
            [(-1, false), (0, false), (1, true), (LAPSE, true), (LAPSE + 1, false)]
        {
            assert_eq!(lapsing(Some(NOW - past), "ok"), expected, "{past}");
        }
        assert!(lapsing(Some(NOW + LAPSE), "redemptionPeriod"));
        assert!(!lapsing(None, "ok"));
        assert!(!Standing::NotFound(Source::Rdap).is_lapsing(NOW));
    }

    #[test]
    fn standing_without_facts_has_its_error() {
        for (standing, error, source) in [
            (Standing::NotFound(Source::Whois), "domain_not_found", Some(Source::Whois)),
            (Standing::Reserved(Source::Rdap), "domain_reserved", Some(Source::Rdap)),
            (Standing::Denied, "rate_limited", None),
            (Standing::Unknown(Token::Timeout), "timeout", None),
        ] {
            let result = standing.result(&name(), NOW);
            assert_eq!(result.error.as_deref(), Some(error));
            assert_eq!(result.source, source);
            assert_eq!(result.data_availability, DataAvailability::Unavailable);
            assert_eq!((result.expires_at, result.name_servers), (None, None));
        }
    }

    #[test]
    fn name_servers_are_names_of_hosts() {
        let bounded = |names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            let registration = Registration { name_servers: Some(names), ..registration() };
            registration.bounded().name_servers.map(|names| names.join(" "))
        };
        assert_eq!(
            bounded(&["b.example", "a.example", "b.example"]).as_deref(),
            Some("a.example b.example")
        );
        assert_eq!(bounded(&["a.example", "<b>", ""]).as_deref(), Some("a.example"));
        assert_eq!(
            bounded(&["ns.bücher.example", "ns.a.example", "ns.xn--bcher-kva.example"]).as_deref(),
            Some("ns.a.example ns.xn--bcher-kva.example")
        );
        assert_eq!(bounded(&["none at all"]), None);
        assert_eq!(bounded(&[]).as_deref(), Some(""));
    }

    #[test]
    fn what_is_kept_of_the_largest_answer_fits() {
        let registration = Registration {
            registrar: Some("\u{1}\"".repeat(90_000)),
            expires_at: Some(i64::MAX),
            name_servers: Some((0..900).map(|n| format!("{n:0>253}")).collect()),
            privacy_protected: None,
            status: vec!["\\".repeat(9_000); 900],
        };
        let kept = serde_json::to_string(&registration.bounded()).expect("it has a form in JSON");
        assert!(kept.len() < 15 << 10, "{}", kept.len());
    }
}
