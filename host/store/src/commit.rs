//! The transaction that makes a decision real: the record and the counters it changes, the state,
//! the alerts, the certificate history, the deliveries, the schedule and the event for streams; all
//! of it or nothing.
//!
//! *Invariant:* a decision is committed once at most, because the state's version moves with it
//! and is compared; a lost lease, a changed alert or a deleted site refuse it as a whole.

use surrealdb::types::{Object, SurrealValue, Value};
use vedette_model::{
    AccountId, Alert, CertChange, CheckRecord, CheckStatus, Decision, Delivery, Severity,
    Timestamp, schedule::awaits_confirmation,
};

use crate::alert::OPEN_KEYS;
use crate::error::Result;
use crate::schedule::Lease;
use crate::unit::Unit;
use crate::{Store, check, delivery, event, key, row};

/// A decision and what goes with it.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    pub account_id: AccountId,
    /// The node that made the run, or took in what others measured.
    pub node: &'a str,
    /// The version of the state that was decided from.
    pub expected_version: u64,
    pub decision: &'a Decision,
    /// Queued with the decision.
    pub deliveries: &'a [Delivery],
    /// The lease that the run was made under; none for runs that nobody had planned.
    pub settle: Option<Settle<'a>>,
    /// For a run without a lease: brings the next planned run forward to this moment, unless it
    /// is sooner anyway or at work.
    pub next_due: Option<Timestamp>,
}

/// Ends a lease: the check is due again at `next_due`.
#[derive(Clone, Copy, Debug)]
pub struct Settle<'a> {
    pub lease: &'a Lease,
    pub next_due: Timestamp,
    /// When the run asked for that moment; none = it is the regular one.
    pub asked_at: Option<Timestamp>,
}

impl Store {
    /// Makes a decision real. `Stale` when the state or an alert has changed since it was read:
    /// read the context again and decide anew. `Fenced` when the lease has another owner, `Gone`
    /// when the account has no such site, or no agent of it looks there: then the run counts for
    /// nothing.
    pub async fn commit(&self, commit: Commit<'_>) -> Result<()> {
        let mut unit = Unit::default();
        unit.check(&commit)?;
        unit.schedule(&commit);
        let Decision { raised, updated, resolved, cert_changes, record, .. } = commit.decision;
        for alert in updated.iter().chain(resolved) {
            unit.change(alert)?;
        }
        unit.must_be_new(raised);
        for alert in raised {
            unit.raise(alert)?;
        }
        for change in cert_changes {
            unit.cert_change(record, change)?;
        }
        for delivery in commit.deliveries {
            unit.deliver(record, delivery)?;
        }
        unit.text.push_str(event::NOTE);
        event::of_check(&mut unit.binds, commit.account_id, commit.decision)?;
        self.revise(commit.account_id, unit.text, unit.binds).await
    }
}

/// What a commit says; most often just the first part.
impl Unit {
    fn check(&mut self, commit: &Commit<'_>) -> Result<()> {
        let Decision { record, state, .. } = commit.decision;
        let (site, check_type) = (record.site_id, &record.check_type);
        let doc = row::write("check", record)?;
        let rev = key::rev(record.checked_at);
        let day = key::rev_day(rev);
        let counted = |status| i64::from(record.status == status);
        self.text.push_str(&format!("LET $was = {};\n{CHECK}", check::VERSION));
        self.record(record, &doc)?;
        self.binds = std::mem::take(&mut self.binds)
            .with("site", key::watched(commit.account_id, site, record.source))
            .with("site_id", site.0)
            .with("check_type", check_type.as_str())
            .with("state", key::check_state(site, check_type))
            .with("expected", commit.expected_version)
            .with("version", state.version)
            .with("memory", key::check_memory(site, check_type))
            .with("memory_doc", check::memory(state)?)
            .with("check", key::check(site, check_type, record.checked_at, record.id))
            .with("rev", rev)
            .with("check_doc", doc)
            .with("day_row", key::check_day(site, check_type, day))
            .with("day", day)
            .with("day_end", key::first_rev(day + 1))
            .with("ok", counted(CheckStatus::Ok))
            .with("degraded", counted(CheckStatus::Degraded))
            .with("down", counted(CheckStatus::Down))
            .with("unknown", counted(CheckStatus::Unknown))
            .with("duration_ms", record.duration_ms);
        Ok(())
    }

    fn schedule(&mut self, commit: &Commit<'_>) {
        let record = &commit.decision.record;
        let next_due = match commit.settle {
            Some(settle) => {
                self.text.push_str(SETTLE);
                self.binds.bind("owner", settle.lease.owner.as_str());
                self.binds.bind("epoch", settle.lease.epoch);
                self.binds.bind("asked_at", settle.asked_at);
                settle.next_due
            }
            None => {
                let Some(next_due) = commit.next_due else { return };
                self.text.push_str(SOONER);
                next_due
            }
        };
        self.binds.bind("schedule", key::schedule(record.site_id, &record.check_type));
        self.binds.bind("node", commit.node);
        self.binds.bind("next_due", next_due);
        self.binds.bind("recheck", awaits_confirmation(commit.decision.unconfirmed_runs));
    }

    /// None of them was open when they were judged. One that somebody has reopened since stands for
    /// the same trouble, and does not touch the state of the check.
    fn must_be_new(&mut self, raised: &[Alert]) {
        let open = raised.iter().filter(|alert| !alert.is_resolved);
        let keys: Vec<String> = open.map(key::alert_identity).collect();
        if !keys.is_empty() {
            self.text.push_str(&format!(
                "LET $open_keys = ({OPEN_KEYS});
                IF $raised_keys ANYINSIDE $open_keys {{ THROW 'stale' }};"
            ));
            self.binds.bind("raised_keys", keys);
        }
        // A caller that reopens one at this very moment writes one of its type's counters.
        for alert in raised.iter().filter(|alert| !alert.is_resolved) {
            for severity in [Severity::Info, Severity::Warning, Severity::Critical] {
                let counter = key::alert_count(&Alert { severity, ..alert.clone() });
                self.say(
                    "LET $reopened# = (SELECT VALUE n FROM ONLY $counter# FOR UPDATE);",
                    [("counter", counter.into_value())],
                );
            }
        }
    }

    fn raise(&mut self, alert: &Alert) -> Result<()> {
        let mut content = Object::new();
        content.insert("account", alert.account_id.0);
        content.insert("site", alert.site_id.0);
        content.insert("check_type", alert.check_type.as_str());
        content.insert("alert_type", alert.alert_type.as_str());
        content.insert("key", key::alert_identity(alert));
        content.insert("severity", alert.severity.as_str());
        content.insert("is_resolved", alert.is_resolved);
        content.insert("rev", key::rev(alert.created_at));
        content.insert("ended", key::ended(alert));
        content.insert("doc", row::write("alert", alert)?);
        let row = key::alert(alert.account_id, alert.id);
        self.say(
            "CREATE $row# CONTENT $content# RETURN NONE;
            UPSERT $count# SET n += 1 RETURN NONE;",
            [
                ("row", row.into_value()),
                ("content", Value::Object(content)),
                ("count", key::alert_count(alert).into_value()),
            ],
        );
        Ok(())
    }

    /// The alert was open when it was read. If its owner has resolved it since, the decision was
    /// made from a past that is over.
    pub(crate) fn change(&mut self, alert: &Alert) -> Result<()> {
        self.say(
            "LET $was# = $row#.*;
            IF $was# = NONE OR $was#.is_resolved { THROW 'stale' };
            UPDATE $row# SET severity = $severity#, is_resolved = $is_resolved#, ended = $ended#,
                doc = $doc# RETURN NONE;
            UPDATE type::record('alert_count', [$was#.account, $was#.site, $was#.alert_type, $was#.severity, false])
                SET n -= 1 RETURN NONE;
            UPSERT $count# SET n += 1 RETURN NONE;",
            [
                ("row", key::alert(alert.account_id, alert.id).into_value()),
                ("severity", alert.severity.as_str().into_value()),
                ("is_resolved", alert.is_resolved.into_value()),
                ("ended", key::ended(alert).into_value()),
                ("doc", row::write("alert", alert)?.into_value()),
                ("count", key::alert_count(alert).into_value()),
            ],
        );
        Ok(())
    }

    fn cert_change(&mut self, record: &CheckRecord, change: &CertChange) -> Result<()> {
        let row = key::cert_history(record.site_id, change.changed_at, record.id, self.groups);
        self.say(
            "CREATE $row# SET site = $site_id, rev = $changed#, doc = $doc# RETURN NONE;",
            [
                ("row", row.into_value()),
                ("changed", key::rev(change.changed_at).into_value()),
                ("doc", row::write("certificate change", change)?.into_value()),
            ],
        );
        Ok(())
    }

    fn deliver(&mut self, record: &CheckRecord, delivery: &Delivery) -> Result<()> {
        self.say(
            "CREATE $row# CONTENT $content# RETURN NONE;",
            [
                ("row", key::delivery(delivery.id).into_value()),
                ("content", delivery::content(record.site_id, delivery)?),
            ],
        );
        Ok(())
    }
}

/// The site is read for update: shared with other commits, in conflict with its deletion.
const CHECK: &str = "LET $found = (SELECT VALUE id FROM ONLY $site FOR UPDATE);
IF $found = NONE { THROW 'gone' };
IF $was != $expected { THROW 'stale' };
UPSERT $state SET check_type = $check_type, version = $version, runs += 1,
    latest = $check_doc RETURN NONE;
UPSERT $memory SET doc = $memory_doc RETURN NONE;
UPSERT $day_row SET day = $day, runs += 1, ok += $ok, degraded += $degraded, down += $down,
    unknown += $unknown, duration_ms += $duration_ms RETURN NONE;";

const SETTLE: &str = "
LET $settled = (UPDATE $schedule SET due_at = $next_due, planned_at = $next_due,
    put_off_to = NONE, asked_at = $asked_at, recheck = $recheck, seen_by = $node, owner = ''
    WHERE owner = $owner AND epoch = $epoch RETURN AFTER);
IF array::len($settled) != 1 { THROW 'fenced' };";

const SOONER: &str = "
UPDATE $schedule SET due_at = $next_due, planned_at = $next_due, put_off_to = NONE,
    asked_at = NONE, recheck = $recheck, seen_by = $node
    WHERE owner = '' AND due_at > $next_due RETURN NONE;";
