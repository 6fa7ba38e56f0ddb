//! The row that a commit leaves while the account's feed is open.
//!
//! Every commit looks at two rows: at the feed, and, for update, at the gate, which openings alone
//! write. So it waits for nobody: many may read a row for update at once, and it takes no part in
//! what becomes of the feed's row, which everybody who numbers writes. A feed that is closed at
//! that moment keeps one row too many, until it is opened and numbered again.

use surrealdb::types::{Object, RecordId, Value};
use uuid::Uuid;
use vedette_model::event::{AlertChange, AlertEvent, CheckChange, IncidentChange};
use vedette_model::{AccountId, Alert, Decision, IncidentId};

use super::Kept;
use crate::error::Result;
use crate::tx::Binds;
use crate::{key, row};

/// What [`NOTE`] needs, for a commit of a check.
pub(crate) fn of_check(binds: &mut Binds, account: AccountId, decision: &Decision) -> Result<()> {
    let Decision { record, turned, raised, updated, resolved, .. } = decision;
    let changes = [
        (AlertChange::Raised, raised),
        (AlertChange::Updated, updated),
        (AlertChange::Resolved, resolved),
    ];
    let alerts = changes.into_iter().flat_map(|(change, alerts)| {
        alerts.iter().map(move |alert| AlertEvent { change, alert: alert.clone() })
    });
    let check = CheckChange::of(*turned);
    let kept = Kept { check, alerts: alerts.collect(), incident: None };
    let check = key::check(record.site_id, &record.check_type, record.checked_at, record.id);
    note(binds, account, &kept, Some(("checked", check)))
}

/// What [`NOTE`] needs, for alerts that have changed without a run.
pub(crate) fn of_alerts(
    binds: &mut Binds,
    account: AccountId,
    change: AlertChange,
    alerts: &[Alert],
) -> Result<()> {
    let alerts = alerts.iter().map(|alert| AlertEvent { change, alert: alert.clone() });
    let kept = Kept { check: CheckChange::Same, alerts: alerts.collect(), incident: None };
    note(binds, account, &kept, None)
}

/// What [`NOTE`] needs, for an incident.
pub(crate) fn of_incident(
    binds: &mut Binds,
    change: IncidentChange,
    account: AccountId,
    incident: IncidentId,
) -> Result<()> {
    let kept = Kept { check: CheckChange::Same, alerts: Vec::new(), incident: Some(change) };
    note(binds, account, &kept, Some(("incident", key::incident(account, incident))))
}

fn note(
    binds: &mut Binds,
    account: AccountId,
    kept: &Kept,
    about: Option<(&str, RecordId)>,
) -> Result<()> {
    let mut content = Object::new();
    if let Some((column, row)) = about {
        content.insert(column, row);
    }
    content.insert("doc", row::write("event", kept)?);
    binds.bind("event_feed", key::event_feed(account));
    binds.bind("event_gate", key::event_gate(account));
    // In the order in which this process made them; nobody reads a time from it.
    binds.bind("event_row", key::event_new(account, Uuid::now_v7()));
    binds.bind("event_content", Value::Object(content));
    Ok(())
}

/// Goes into the transaction that makes something happen, after what it throws for.
pub(crate) const NOTE: &str = "
LET $event_gate_read = (SELECT VALUE openings FROM ONLY $event_gate FOR UPDATE);
IF $event_feed.is_open = true {
    CREATE $event_row CONTENT $event_content RETURN NONE
};";
