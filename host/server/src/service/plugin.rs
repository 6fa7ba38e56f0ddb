//! The operator's view of plugins: which there are, and reading the lock anew.

use serde_json::{Value, json};

use crate::{App, Error, Result, plugins};

/// All plugins, and where the operator's are.
///
/// # Errors
/// `Internal` when the folder's reading broke.
pub async fn list(app: &App) -> Result<Value> {
    let (sandbox, operators) = (app.sandbox.clone(), app.plugins.clone());
    let listing = tokio::task::spawn_blocking(move || {
        let (folder, known) = (operators.folder(), operators.known());
        let views = plugins::installed(&sandbox, folder, &known);
        let mut listing =
            json!({ "plugins": views, "folder": folder.path().display().to_string() });
        if let Some(reason) = &known.lock_error {
            listing["lock_error"] = reason.as_str().into();
        }
        listing
    });
    listing.await.map_err(|cause| Error::Internal(anyhow::Error::new(cause)))
}

/// Has `/metrics` tell how many plugins stand how at this moment.
pub(crate) fn show_standing(app: &App) {
    for (state, count) in plugins::standing(&app.sandbox, &app.plugins.known()) {
        metrics::gauge!("vedette_plugins", "state" => state).set(count as f64);
    }
}

/// Has the sandbox hold what the lock wants, and answers what it holds then.
///
/// # Errors
/// `Malformed` when the lock cannot be read: the plugins stay as they are.
pub async fn reload(app: &App) -> Result<Value> {
    let reloaded = app.plugins.reload(&app.sandbox).await;
    reloaded.map_err(|cause| Error::Malformed(format!("{cause:#}")))?;
    list(app).await
}
