//! Maintenance windows: planned, listed and deleted. What they silence is judged when something
//! is to be sent.

use serde_json::Value;
use vedette_model::{MaintenanceWindow, MaintenanceWindowId, maintenance::NewMaintenanceWindow};
use vedette_store::Error as StoreError;

use super::{random, status_page};
use crate::{App, Caller, Error, Resource, Result};

/// The caller's windows, past ones too, the earliest first.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<MaintenanceWindow>> {
    Ok(app.store.maintenance_windows(caller.account.id).await?)
}

/// Plans a window for one site or for all.
///
/// # Errors
/// `Invalid` for a bad field, `NotFound` for a site that is not the caller's, `Forbidden` when
/// the account has as many windows as it may.
pub async fn create(app: &App, caller: &Caller, body: &Value) -> Result<MaintenanceWindow> {
    let new = NewMaintenanceWindow::parse(body)?;
    let window = new.into_window(random::id(), caller.account.id, app.clock.now());
    match app.store.create_maintenance_window(&window, MOST_WINDOWS).await {
        Ok(()) => {
            status_page::forget(app, caller.account.id);
            Ok(window)
        }
        Err(StoreError::WindowLimit) => Err(Error::forbidden(format!(
            "an account has at most {MOST_WINDOWS} maintenance windows; delete those that are over"
        ))),
        Err(StoreError::Gone) if window.site_id.is_some() => Err(Error::NotFound(Resource::Site)),
        Err(cause) => Err(cause.into()),
    }
}

/// Removes a window; what no other window silences is told at once.
pub async fn delete(app: &App, caller: &Caller, id: MaintenanceWindowId) -> Result<()> {
    let now = app.clock.now();
    if !app.store.delete_maintenance_window(caller.account.id, id, now).await? {
        return Err(Error::NotFound(Resource::MaintenanceWindow));
    }
    app.wake.outbox.tell_of_all();
    status_page::forget(app, caller.account.id);
    Ok(())
}

/// Far more than anybody plans, and few enough to be read whenever an alert is sent.
const MOST_WINDOWS: u32 = 1_000;
