//! The account itself: how its owner is called, and its end.
//!
//! *Invariant:* an account that is deleted is gone at once for everybody who asks: its credentials,
//! its page and its domain, and what this process remembers of it. Its rows go soon after.

use std::sync::Arc;

use anyhow::Context;
use serde_json::Value;
use vedette_model::{Account, AccountId, account::parse_full_name};
use vedette_store::Error as StoreError;

use super::{billing, status_page};
use crate::{App, Caller, Error, Resource, Result};

/// Changes what the body names, and answers the account.
///
/// # Errors
/// `Invalid` for a bad field.
pub async fn update(app: &App, caller: &Caller, body: &Value) -> Result<Account> {
    let patch = parse_full_name(body)?;
    if patch.is_keep() {
        return Ok(Account::clone(&caller.account));
    }
    let mut full_name = None;
    patch.apply_option(&mut full_name);
    let changed = app.store.set_full_name(caller.account.id, full_name).await?;
    changed.ok_or(Error::NotFound(Resource::Account))
}

/// Deletes an account with all its data, for good. Its subscriptions are cancelled first; if that
/// fails, nothing is deleted. One that is bought meanwhile is cancelled too; if that fails, the
/// account stays. Runs to its end even if its caller goes away, and at a stop.
///
/// # Errors
/// Those of cancelling the subscriptions.
pub async fn delete(app: Arc<App>, account: AccountId) -> Result<()> {
    let service = Arc::clone(&app);
    let deletion = app.tasks.spawn(async move { close(&service, account).await });
    deletion.await.context("the deletion of an account broke off")?
}

async fn close(app: &App, account: AccountId) -> Result<()> {
    let mut cancelled = billing::Cancelled::default();
    for _ in 0..ATTEMPTS {
        billing::cancel(app, account, &mut cancelled).await?;
        // What its agents look at goes with the account itself.
        let (_, sites) = app.store.listed_sites(account).await?;
        for site in sites {
            app.store.delete_site(account, site.id).await?;
        }
        match app.store.close_account(account, cancelled.version).await {
            Ok(settings) => {
                if let Some(settings) = settings {
                    status_page::closed(app, account, &settings).await;
                    tracing::info!(account_id = %account, "account {account} was deleted");
                }
                app.site_lists.invalidate(&account);
                app.overviews.invalidate(&account);
                app.streams.announce(account);
                app.wake.purge.notify_one();
                return Ok(());
            }
            // Somebody added a site in the meantime, changed the settings, or paid.
            Err(StoreError::Stale) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    Err(anyhow::anyhow!("account {account} was changed all the while it was to be deleted").into())
}

const ATTEMPTS: usize = 16;
