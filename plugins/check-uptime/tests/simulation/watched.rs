//! A site that is watched: each result is judged by the check, decided on by the rules of the
//! service, and the decision kept, as the service does it.

use std::time::Duration;

use check_uptime::{Config, Uptime, UptimeResult};
use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_model::{
    Alert, Assessment, CheckRecord, CheckState, CheckStatus, CheckType, Decision, Finding, Health,
    NewSite, Severity, Site, Source, Timestamp,
    alert::{self, reconcile},
    assessment::EventType,
    schedule::{next_due, recheck_after},
};
use vedette_sdk::{self as sdk, Check, Evidence, Settled};

pub(crate) const DOMAIN: &str = "www.example.com";
/// Between regular runs (decisions: intervals).
pub(crate) const INTERVAL: Duration = Duration::from_secs(60);
/// `[confirm] recheck`.
const RECHECK: Duration = Duration::from_secs(10);

/// So many seconds into the simulation.
pub(crate) fn at(seconds: i64) -> Timestamp {
    DateTime::from_timestamp(1_767_225_600 + seconds, 0).expect("a moment of our time")
}

/// One site, its state, and its open alerts.
pub(crate) struct Watched {
    site: Site,
    check_type: CheckType,
    events: Vec<EventType>,
    state: CheckState,
    settled: Option<Settled<UptimeResult>>,
    open: Vec<Alert>,
    ids: u128,
}

impl Watched {
    pub(crate) fn new(number: u32) -> Self {
        let id = Uuid::from_u128(u128::from(number) << 64 | 7);
        let new = NewSite::parse(&json!({ "domain": DOMAIN }), &[]).expect("a domain is enough");
        Self {
            site: new.into_site(id.into(), Uuid::from_u128(1).into(), at(0)),
            check_type: "uptime".parse().expect("a well-formed name"),
            events: Uptime::describe().events.iter().map(event_type).collect(),
            state: CheckState::default(),
            settled: None,
            open: Vec::new(),
            ids: 0,
        }
    }

    pub(crate) fn first_run(&self, now: Timestamp) -> Timestamp {
        next_due(self.site.id, &self.check_type, INTERVAL, now)
    }

    /// When the check runs again: soon, where something awaits confirmation.
    pub(crate) fn next_run(&self, decision: &Decision, now: Timestamp) -> Timestamp {
        let regular = next_due(self.site.id, &self.check_type, INTERVAL, now);
        let soon = recheck_after(decision.unconfirmed_runs, decision.at_once, RECHECK);
        soon.filter(|_| decision.recheck).map_or(regular, |wait| regular.min(now + wait))
    }

    /// What a run means that ended now; none: it could not check. Moments grow.
    pub(crate) fn judge(&mut self, seen: Option<UptimeResult>, now: Timestamp) -> Decision {
        let assessment = seen.clone().map(|current| self.assess(current, now));
        let record = self.record(now);
        let context = alert::Context {
            account_id: self.site.account_id,
            site: &self.site,
            check_type: &self.check_type,
            events: &self.events,
            state: &self.state,
            open: &self.open,
            maintenance: false,
            now,
        };
        let ids = &mut self.ids;
        let decision = reconcile(&context, record, assessment, &mut || {
            *ids += 1;
            Uuid::from_u128(*ids)
        });
        self.keep(&decision, seen, now);
        decision
    }

    /// Whether its owner reads that it is down.
    pub(crate) fn is_called_down(&self) -> bool {
        self.open.iter().any(|alert| alert.event == "site.down")
    }

    fn assess(&self, current: UptimeResult, now: Timestamp) -> Assessment {
        let said = Uptime::assess(Evidence {
            current,
            current_at: now.timestamp(),
            settled: self.settled.clone(),
            siblings: Vec::new(),
            config: Config::default(),
            alert_days: self.site.alert_days,
            memory: self.state.memory.clone(),
        });
        Assessment {
            health: health(said.health),
            findings: said.findings.into_iter().map(finding).collect(),
            memory: said.memory,
        }
    }

    fn record(&self, now: Timestamp) -> CheckRecord {
        CheckRecord {
            id: Uuid::nil().into(),
            site_id: self.site.id,
            check_type: self.check_type.clone(),
            checked_at: now,
            status: CheckStatus::Unknown,
            result: Value::Null,
            error: None,
            duration_ms: 0,
            source: Source::Scheduler,
            location: String::new(),
        }
    }

    fn keep(&mut self, decision: &Decision, seen: Option<UptimeResult>, now: Timestamp) {
        self.state = decision.state.clone();
        let settles = self.state.settled.as_ref().is_some_and(|settled| settled.at == now);
        if let Some(facts) = seen.filter(|_| settles) {
            self.settled = Some(Settled { facts, at: now.timestamp() });
        }
        let changed = [&decision.raised, &decision.updated, &decision.resolved];
        for alert in changed.into_iter().flatten() {
            self.open.retain(|open| open.id != alert.id);
            if !alert.is_resolved {
                self.open.push(alert.clone());
            }
        }
    }
}

fn event_type(event: &sdk::EventType) -> EventType {
    EventType {
        name: event.name.to_owned(),
        alert_type: event.alert_type.to_owned(),
        severity: severity(event.severity),
        title: event.title.to_owned(),
        self_resolving: event.self_resolving,
        confirmations: event.confirmations.into(),
        clears: event.clears.into(),
    }
}

fn finding(said: sdk::Finding) -> Finding {
    Finding {
        event: said.event,
        severity: said.severity.map(severity),
        dedup_key: said.dedup_key,
        message: said.message,
        suggestion: said.suggestion,
        details: said.details.map(Value::from),
        confirmations: said.confirmations.map(u32::from),
    }
}

fn severity(severity: sdk::Severity) -> Severity {
    match severity {
        sdk::Severity::Info => Severity::Info,
        sdk::Severity::Warning => Severity::Warning,
        sdk::Severity::Critical => Severity::Critical,
    }
}

fn health(health: sdk::Health) -> Health {
    match health {
        sdk::Health::Ok => Health::Ok,
        sdk::Health::Degraded => Health::Degraded,
        sdk::Health::Down => Health::Down,
        sdk::Health::Unknown => Health::Unknown,
    }
}
