//! Alerts, as their owner lists and settles them. Raising and resolving by themselves is the
//! pipeline's.

use vedette_model::{Alert, AlertFilter, AlertId, Delivery};
use vedette_store::Page;

use crate::{App, Caller, Error, Result};

/// The caller's alerts that pass the filter, newest first.
pub async fn list(app: &App, caller: &Caller, filter: &AlertFilter) -> Result<Page<Alert>> {
    Ok(app.store.alerts(caller.account.id, filter).await?)
}

/// Marks an alert as resolved, or reopens it (decisions: resolution).
///
/// # Errors
/// `NotFound` when there is no such alert, or it is someone else's.
pub async fn set_resolved(
    app: &App,
    caller: &Caller,
    id: AlertId,
    resolved: bool,
) -> Result<Alert> {
    let changed = app.store.set_alert_resolved(caller.account.id, id, resolved, app.clock.now());
    let changed = changed.await?.ok_or(Error::NotFound("alert"))?;
    app.streams.announce(caller.account.id);
    Ok(changed)
}

/// What was and is to be sent about an alert, oldest first.
///
/// # Errors
/// `NotFound` when there is no such alert, or it is someone else's.
pub async fn deliveries(app: &App, caller: &Caller, id: AlertId) -> Result<Vec<Delivery>> {
    app.store.deliveries_of(caller.account.id, id).await?.ok_or(Error::NotFound("alert"))
}
