//! Alerts, as their owner lists and settles them. The pipeline raises them and resolves those that
//! resolve themselves.

use std::sync::Arc;

use vedette_model::{Alert, AlertFilter, AlertId, Delivery, Invalid, alert::resolved_filter};
use vedette_sandbox::CheckDescriptor;
use vedette_store::{Error as StoreError, Page};

use crate::{App, Caller, Error, Resource, Result};

/// The caller's alerts that pass the filter, newest first.
pub async fn list(app: &App, caller: &Caller, filter: &AlertFilter) -> Result<Page<Alert>> {
    Ok(app.store.alerts(caller.account.id, filter).await?)
}

/// One of the caller's alerts.
///
/// # Errors
/// `NotFound` when there is no such alert, or it is someone else's.
pub async fn read(app: &App, caller: &Caller, id: AlertId) -> Result<Alert> {
    app.store.alert(caller.account.id, id).await?.ok_or(UNKNOWN)
}

/// Marks an alert as resolved, or reopens it (decisions: resolution).
///
/// # Errors
/// `NotFound` when there is no such alert, or it is someone else's; `Invalid` if the same trouble
/// was raised again since, and so has an open alert.
pub async fn set_resolved(
    app: &App,
    caller: &Caller,
    id: AlertId,
    resolved: bool,
) -> Result<Alert> {
    let changed = app.store.set_alert_resolved(caller.account.id, id, resolved, app.clock.now());
    let changed = match changed.await {
        Err(StoreError::Duplicate) => return Err(Error::invalid("is_resolved", RAISED_ANEW)),
        changed => changed?.ok_or(UNKNOWN)?,
    };
    app.streams.announce(caller.account.id);
    Ok(changed)
}

/// What was sent or is still to be sent about an alert, oldest first; the latest if there are many.
///
/// # Errors
/// `NotFound` when there is no such alert, or it is someone else's.
pub async fn deliveries(app: &App, caller: &Caller, id: AlertId) -> Result<Vec<Delivery>> {
    let told = app.store.deliveries_of(caller.account.id, id, MOST_DELIVERIES).await?;
    told.ok_or(UNKNOWN)
}

/// What a listing is asked for, from its words; `page` is limit and offset.
pub(crate) fn filter(
    app: &App,
    alert_type: Option<&str>,
    severity: Option<&str>,
    resolved: Option<&str>,
    page: (u32, u32),
) -> Result<AlertFilter, Invalid> {
    Ok(AlertFilter {
        alert_type: alert_type.map(|text| known_type(app, text)).transpose()?,
        severity: severity.map(str::parse).transpose()?,
        resolved: resolved_filter(resolved)?,
        limit: page.0,
        offset: page.1,
    })
}

/// The documented types, and those that these checks raise.
pub(crate) fn types(checks: &[Arc<CheckDescriptor>]) -> Vec<String> {
    let mut types: Vec<String> = DOCUMENTED.map(str::to_owned).into();
    for event in checks.iter().flat_map(|check| &check.events) {
        if !types.contains(&event.alert_type) {
            types.push(event.alert_type.clone());
        }
    }
    types
}

fn known_type(app: &App, text: &str) -> Result<String, Invalid> {
    let checks = app.sandbox.check_types();
    let checks: Vec<_> =
        checks.iter().filter_map(|check_type| app.sandbox.check(check_type)).collect();
    let known = types(&checks);
    if known.iter().any(|known| known == text) {
        return Ok(text.to_owned());
    }
    Err(Invalid::new("type", format!("must be one of {}", known.join(", "))))
}

const UNKNOWN: Error = Error::NotFound(Resource::Alert);
/// As many as a page of alerts has at most.
const MOST_DELIVERIES: usize = 200;

const RAISED_ANEW: &str = "cannot be false: the same trouble has been raised again since, and that \
     alert is open; list the alerts of the site to find it";

const DOCUMENTED: [&str; 6] = ["ssl", "dns", "domain", "ct", "cert_change", "uptime"];
