//! From what a run found to what becomes of the alerts.
//!
//! *Invariant:* [`reconcile`] decides from its arguments alone and changes nothing: a
//! [`Decision`] becomes real when the store commits it.
//! *Invariant:* a run that could not tell (no assessment, or health `unknown`) neither confirms,
//! raises, resolves nor forgets anything (decisions: our own trouble).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::reported::{Reported, needed, reported, severity};
use super::{Alert, Notice, NoticeStatus, Severity};
use crate::assessment::{Assessment, EventType, Finding, Health};
use crate::cert_history::CertChange;
use crate::check::{
    CheckRecord, CheckState, CheckStatus, CheckType, Raised, Settled, Source, Tracked,
};
use crate::site::Site;
use crate::{AccountId, AlertId, Timestamp};

/// What a decision rests on, besides the run itself.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub account_id: AccountId,
    pub site: &'a Site,
    pub check_type: &'a CheckType,
    /// What the plugin may raise.
    pub events: &'a [EventType],
    /// What the last runs left.
    pub state: &'a CheckState,
    /// This site's open alerts of this check type.
    pub open: &'a [Alert],
    /// Trouble was announced for the time of the run. It is judged like any, and told after its
    /// end; the status page does not hold it against the site.
    pub maintenance: bool,
    pub now: Timestamp,
}

/// What is to be stored and told, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The run, with its status.
    pub record: CheckRecord,
    /// The status is another than that of the run before, or there was none.
    pub turned: bool,
    /// The next state; its version is one above the one that was read.
    pub state: CheckState,
    pub raised: Vec<Alert>,
    /// Open alerts whose words or severity changed.
    pub updated: Vec<Alert>,
    pub resolved: Vec<Alert>,
    /// One notification's `alerts[]`: what was raised or got worse, then what resolved.
    pub notices: Vec<Notice>,
    pub cert_changes: Vec<CertChange>,
    /// A finding is not confirmed yet: the check should run again soon, see
    /// [`crate::schedule::recheck_after`].
    pub recheck: bool,
    /// This run is the first to put in doubt whether the target is up, or still down: the recheck
    /// follows at once. Anything else has to last, and a source that is asked again at once may
    /// only repeat itself.
    pub at_once: bool,
    /// Runs in a row, this one included, that left a finding unconfirmed.
    pub unconfirmed_runs: u32,
}

/// Decides what a run means. `new_id` is asked once for each alert that is raised.
pub fn reconcile(
    ctx: &Context<'_>,
    record: CheckRecord,
    assessment: Option<Assessment>,
    new_id: &mut dyn FnMut() -> Uuid,
) -> Decision {
    let mut decision = unchanged(ctx, record);
    match assessment {
        Some(assessment) if assessment.health != Health::Unknown => {
            decision.judge(ctx, assessment, new_id);
        }
        Some(_) | None => decision.record.status = CheckStatus::Unknown,
    }
    let before = ctx.state.latest.as_ref();
    decision.turned = before.is_none_or(|before| before.status != decision.record.status);
    if decision.counts(ctx) {
        decision.state.tally.count(&decision.record);
    } else {
        decision.state.tally.pass_over(&decision.record);
    }
    decision.state.latest = Some(decision.record.clone());
    decision
}

/// The identity of a finding and its alert within one site: `ssl 5f2c…` (decisions: one open
/// alert per site, alert type and key). Alert types have no blanks, so no two pairs share one.
pub fn tracking_key(alert_type: &str, key: &str) -> String {
    format!("{alert_type} {key}")
}

/// Only the version has moved on.
fn unchanged(ctx: &Context<'_>, record: CheckRecord) -> Decision {
    let state = CheckState { version: ctx.state.version + 1, ..ctx.state.clone() };
    Decision {
        record,
        turned: false,
        unconfirmed_runs: state.unconfirmed_runs,
        state,
        raised: Vec::new(),
        updated: Vec::new(),
        resolved: Vec::new(),
        notices: Vec::new(),
        cert_changes: Vec::new(),
        recheck: false,
        at_once: false,
    }
}

impl Decision {
    /// Whether the run is part of how well the site was: not what was announced.
    fn counts(&self, ctx: &Context<'_>) -> bool {
        match self.record.status {
            CheckStatus::Ok | CheckStatus::Unknown => true,
            CheckStatus::Degraded | CheckStatus::Down => !ctx.maintenance,
        }
    }

    fn judge(
        &mut self,
        ctx: &Context<'_>,
        assessment: Assessment,
        new_id: &mut dyn FnMut() -> Uuid,
    ) {
        self.record.status = assessment.health.into();
        let reported = reported(ctx.events, assessment.findings);
        let mut before = std::mem::take(&mut self.state.tracked);
        for Reported { event, finding } in &reported {
            let key = tracking_key(&event.alert_type, &finding.dedup_key);
            let tracked = self.track(ctx, before.remove(&key), finding, event, new_id);
            self.state.tracked.insert(key, tracked);
        }
        self.linger(ctx, before);
        self.resolve(ctx);
        self.settle(assessment.memory);
    }

    /// Counts a finding that was reported, and raises or updates its alert once it is confirmed.
    /// An alert that seems to turn into another event (degraded, then down) is confirmed as that
    /// event first.
    fn track(
        &mut self,
        ctx: &Context<'_>,
        before: Option<Tracked>,
        finding: &Finding,
        event: &EventType,
        new_id: &mut dyn FnMut() -> Uuid,
    ) -> Tracked {
        let in_a_row = before.as_ref().filter(|tracked| tracked.event == event.name);
        let count = in_a_row.map_or(0, |tracked| tracked.count).saturating_add(1);
        let raised = before.and_then(|tracked| tracked.raised);
        let confirmed = count >= self.needed(event, finding);
        // Worse than what its owner resolved by hand is told like anything new.
        let worse = |raised: &Raised| {
            severity(event, finding) > raised.severity
                && open_alert(ctx, finding, event, None).is_none()
        };
        let raised = match raised {
            Some(raised) if (confirmed || raised.event == event.name) && !worse(&raised) => {
                Some(self.goes_on(ctx, raised, finding, event))
            }
            _ if confirmed => Some(self.confirmed(ctx, finding, event, new_id)),
            doubtful => {
                self.recheck = true;
                let is_down = event.self_resolving && self.record.status == CheckStatus::Down;
                self.at_once |= is_down && count == 1;
                doubtful
            }
        };
        Tracked { event: event.name.clone(), count, absent: 0, raised }
    }

    /// Equal findings in a row before an alert.
    fn needed(&self, event: &EventType, finding: &Finding) -> u32 {
        if self.is_brought() && severity(event, finding) == Severity::Info {
            return 1;
        }
        needed(event, finding)
    }

    /// Somebody else reported it, and no recheck of ours follows: that it is over is believed at
    /// once, or it would last until they report again.
    fn is_brought(&self) -> bool {
        matches!(self.record.source, Source::Api | Source::Agent)
    }

    /// What is not reported is no longer counted, nor remembered as raised; an alert whose event
    /// asks for more than one run without it stays for those.
    fn linger(&mut self, ctx: &Context<'_>, before: BTreeMap<String, Tracked>) {
        for (key, tracked) in before {
            let Some(raised) = &tracked.raised else { continue };
            let event = ctx.events.iter().find(|event| event.name == raised.event);
            let clears = if self.is_brought() { 1 } else { event.map_or(1, |event| event.clears) };
            let absent = tracked.absent.saturating_add(1);
            if absent < clears {
                self.recheck = true;
                self.at_once |= absent == 1;
                self.state.tracked.insert(key, Tracked { count: 0, absent, ..tracked });
            }
        }
    }

    /// A finding that was raised before. When its alert is no longer open, its owner resolved it:
    /// then it stays quiet until the finding is gone.
    fn goes_on(
        &mut self,
        ctx: &Context<'_>,
        raised: Raised,
        finding: &Finding,
        event: &EventType,
    ) -> Raised {
        match open_alert(ctx, finding, event, Some(raised.alert)) {
            Some(alert) => self.update(ctx, alert, finding, event),
            None => raised,
        }
    }

    /// A finding that has just been reported often enough. An alert of the same identity may be
    /// open from before: a change that awaits its owner, or one that was reopened.
    fn confirmed(
        &mut self,
        ctx: &Context<'_>,
        finding: &Finding,
        event: &EventType,
        new_id: &mut dyn FnMut() -> Uuid,
    ) -> Raised {
        self.remember_certificate(ctx, finding, event);
        match open_alert(ctx, finding, event, None) {
            Some(alert) => self.update(ctx, alert, finding, event),
            None => self.raise(ctx, finding, event, AlertId(new_id())),
        }
    }

    fn raise(
        &mut self,
        ctx: &Context<'_>,
        finding: &Finding,
        event: &EventType,
        id: AlertId,
    ) -> Raised {
        let alert = Alert {
            id,
            account_id: ctx.account_id,
            site_id: ctx.site.id,
            domain: ctx.site.name().to_owned(),
            check_type: ctx.check_type.clone(),
            event: event.name.clone(),
            alert_type: event.alert_type.clone(),
            key: finding.dedup_key.clone(),
            severity: severity(event, finding),
            message: finding.message.clone(),
            suggestion: finding.suggestion.clone(),
            details: finding.details.clone(),
            self_resolving: event.self_resolving,
            is_resolved: event.announces(),
            created_at: ctx.now,
            updated_at: ctx.now,
            resolved_at: event.announces().then_some(ctx.now),
        };
        let raised =
            Raised { alert: alert.id, event: alert.event.clone(), severity: alert.severity };
        self.notices.push(alert.notice(NoticeStatus::Raised));
        self.raised.push(alert);
        raised
    }

    /// Told again only when it got worse (decisions: one open alert).
    fn update(
        &mut self,
        ctx: &Context<'_>,
        alert: &Alert,
        finding: &Finding,
        event: &EventType,
    ) -> Raised {
        let severity = severity(event, finding);
        let domain = ctx.site.name();
        let same = alert.event == event.name
            && alert.domain == domain
            && alert.severity == severity
            && alert.message == finding.message
            && alert.suggestion == finding.suggestion
            && alert.details == finding.details;
        if !same {
            let next = Alert {
                event: event.name.clone(),
                domain: domain.to_owned(),
                self_resolving: event.self_resolving,
                severity,
                message: finding.message.clone(),
                suggestion: finding.suggestion.clone(),
                details: finding.details.clone(),
                updated_at: ctx.now,
                ..alert.clone()
            };
            if severity > alert.severity {
                self.notices.push(next.notice(NoticeStatus::Raised));
            }
            self.updated.push(next);
        }
        Raised { alert: alert.id, event: event.name.clone(), severity }
    }

    fn remember_certificate(&mut self, ctx: &Context<'_>, finding: &Finding, event: &EventType) {
        if event.alert_type != CERT_CHANGE {
            return;
        }
        let details = finding.details.as_ref();
        let seen_at = self.record.checked_at;
        self.cert_changes.extend(
            details.and_then(|details| CertChange::from_details(ctx.site.id, details, seen_at)),
        );
    }

    /// Condition alerts whose finding is gone resolve themselves; change alerts wait for their
    /// owner (decisions: resolution).
    fn resolve(&mut self, ctx: &Context<'_>) {
        for alert in ctx.open {
            let lasts =
                self.state.tracked.contains_key(&tracking_key(&alert.alert_type, &alert.key));
            if !alert.self_resolving || alert.is_resolved || lasts {
                continue;
            }
            let mut alert = alert.clone();
            alert.set_resolved(true, ctx.now);
            if alert.severity >= Severity::Warning {
                self.tell_the_end_of(&alert);
            }
            self.resolved.push(alert);
        }
    }

    /// In words of its own, unless what was raised in this commit already says how the alert ended:
    /// an announcement of the same type (`ssl.renewed`, `site.up`), or that it has come to the worst
    /// (`ssl.expiring` that became `ssl.expired`). Other trouble of the same type says nothing of
    /// it: whose certificate was about to expire and is for other names now has another one.
    fn tell_the_end_of(&mut self, alert: &Alert) {
        let tells = |raised: &&Alert| {
            raised.alert_type == alert.alert_type
                && (raised.is_resolved || raised.event.ends_with(EXPIRED))
        };
        let teller = self.raised.iter().find(tells).map(|raised| raised.id);
        let told = self.notices.iter_mut().find(|notice| Some(notice.alert_id) == teller);
        match told {
            Some(notice) => notice.ends.push(alert.id),
            None => self.notices.push(alert.notice(NoticeStatus::Resolved)),
        }
    }

    /// The result becomes what the next one is compared with, unless a finding is still open to
    /// doubt.
    fn settle(&mut self, memory: Option<String>) {
        self.state.memory = memory;
        if self.recheck {
            self.state.unconfirmed_runs = self.state.unconfirmed_runs.saturating_add(1);
        } else {
            self.state.unconfirmed_runs = 0;
            let (result, at) = (self.record.result.clone(), self.record.checked_at);
            let status = Some(self.record.status);
            self.state.settled = Some(Settled { result, at, status });
        }
        self.unconfirmed_runs = self.state.unconfirmed_runs;
    }
}

/// The open alert of a finding, preferably the one that it was raised as.
fn open_alert<'a>(
    ctx: &Context<'a>,
    finding: &Finding,
    event: &EventType,
    raised: Option<AlertId>,
) -> Option<&'a Alert> {
    let is_about =
        |alert: &&Alert| alert.alert_type == event.alert_type && alert.key == finding.dedup_key;
    let mut open = ctx.open.iter().filter(|alert| !alert.is_resolved).filter(is_about);
    let first = open.next()?;
    if Some(first.id) == raised {
        return Some(first);
    }
    open.find(|alert| Some(alert.id) == raised).or(Some(first))
}

/// The alert type whose details are certificate history; that of a built-in check alone.
pub const CERT_CHANGE: &str = "cert_change";
/// How the events of what is past its date end (spec: Event types).
const EXPIRED: &str = ".expired";
