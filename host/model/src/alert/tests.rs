mod by_hand;
mod confirmation;
mod invariants;
mod raising;
mod record;
mod resolving;
mod view;

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta};
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::assessment::{Assessment, EventType, Finding, Health};
use crate::check::{CheckRecord, CheckState, CheckStatus, Source};
use crate::site::{NewSite, Site};

fn at(minutes: i64) -> Timestamp {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment of 2027")
        + TimeDelta::minutes(minutes)
}

fn site() -> Site {
    NewSite::parse(&json!({"domain": "example.com"}), &[]).expect("a domain is enough").into_site(
        Uuid::from_u128(1).into(),
        Uuid::from_u128(2).into(),
        at(0),
    )
}

fn event(name: &str, alert_type: &str, severity: Severity, confirmations: u32) -> EventType {
    EventType {
        name: name.into(),
        alert_type: alert_type.into(),
        severity,
        title: name.into(),
        self_resolving: alert_type != "cert_change" && alert_type != "dns",
        confirmations,
        clears: match name {
            "site.down" => 2,
            "ssl.renewed" | "site.up" => 0,
            _ => 1,
        },
    }
}

fn events() -> Vec<EventType> {
    vec![
        event("ssl.expiring", "ssl", Severity::Critical, 1),
        event("ssl.expired", "ssl", Severity::Critical, 1),
        event("ssl.invalid", "ssl", Severity::Critical, 1),
        event("ssl.renewed", "ssl", Severity::Info, 1),
        event("certificate.changed", "cert_change", Severity::Warning, 1),
        event("dns.changed", "dns", Severity::Warning, 2),
        event("site.down", "uptime", Severity::Critical, 2),
        event("site.degraded", "uptime", Severity::Warning, 1),
        event("site.up", "uptime", Severity::Info, 1),
    ]
}

fn finding(event: &str, key: &str) -> Finding {
    Finding {
        event: event.into(),
        severity: None,
        dedup_key: key.into(),
        message: format!("{event} on example.com"),
        suggestion: None,
        details: None,
        confirmations: None,
    }
}

fn change(fingerprint: &str) -> Finding {
    let details =
        json!({"fingerprint": fingerprint, "change_type": "renewal", "issuer": "Example CA"});
    Finding { details: Some(details), ..finding("certificate.changed", fingerprint) }
}

/// What a store does with decisions, without a store: one site and one check.
struct Past {
    site: Site,
    state: CheckState,
    alerts: BTreeMap<AlertId, Alert>,
    check_type: &'static str,
    maintenance: bool,
    source: Source,
    runs: i64,
    ids: u128,
}

impl Past {
    fn new() -> Self {
        Self {
            site: site(),
            state: CheckState::default(),
            alerts: BTreeMap::new(),
            check_type: "ssl",
            maintenance: false,
            source: Source::Scheduler,
            runs: 0,
            ids: 0,
        }
    }

    fn now(&self) -> Timestamp {
        at(self.runs)
    }

    fn open(&self) -> Vec<Alert> {
        self.alerts.values().filter(|alert| !alert.is_resolved).cloned().collect()
    }

    fn open_events(&self) -> Vec<String> {
        self.open().into_iter().map(|alert| alert.event).collect()
    }

    fn decide(&mut self, assessment: Option<Assessment>) -> Decision {
        self.runs += 1;
        let check_type = self.check_type.parse().expect("a well-formed name");
        let record = CheckRecord {
            id: Uuid::from_u128(1000 + self.ids).into(),
            site_id: self.site.id,
            check_type,
            checked_at: self.now(),
            status: CheckStatus::Unknown,
            result: json!({"run": self.runs}),
            error: None,
            duration_ms: 3,
            source: self.source,
            location: "local".into(),
        };
        let (check_type, events, open) = (record.check_type.clone(), events(), self.open());
        let ctx = Context {
            account_id: self.site.account_id,
            site: &self.site,
            check_type: &check_type,
            events: &events,
            state: &self.state,
            open: &open,
            maintenance: self.maintenance,
            now: self.now(),
        };
        let ids = &mut self.ids;
        reconcile(&ctx, record, assessment, &mut || {
            *ids += 1;
            Uuid::from_u128(*ids)
        })
    }

    fn commit(&mut self, decision: &Decision) {
        self.state = decision.state.clone();
        let changed = decision.raised.iter().chain(&decision.updated).chain(&decision.resolved);
        self.alerts.extend(changed.map(|alert| (alert.id, alert.clone())));
    }

    fn run(&mut self, findings: &[Finding]) -> Decision {
        self.assess(Health::Degraded, findings)
    }

    fn assess(&mut self, health: Health, findings: &[Finding]) -> Decision {
        let assessment =
            Assessment { health, findings: findings.to_vec(), memory: Some("{}".into()) };
        let decision = self.decide(Some(assessment));
        self.commit(&decision);
        decision
    }

    fn by_hand(&mut self, id: AlertId, resolved: bool) {
        let now = self.now();
        self.alerts.get_mut(&id).expect("a stored alert").set_resolved(resolved, now);
    }
}

fn told(decision: &Decision) -> Vec<(&str, NoticeStatus)> {
    decision.notices.iter().map(|notice| (notice.event.as_str(), notice.status)).collect()
}
