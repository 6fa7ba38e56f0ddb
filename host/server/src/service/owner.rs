//! What the operator does in an owner's place: makes another key if theirs is lost, and deletes an
//! account that nobody uses.

use std::sync::Arc;

use serde_json::json;
use vedette_model::{Account, AccountId, ApiKey, ApiKeyId, Role};
use vedette_store::Stamp;

use super::{
    api_key::{self, CreatedKey},
    plan, profile,
};
use crate::{App, Caller, Error, Resource, Result};

/// Makes one more key of an account.
///
/// # Errors
/// `Forbidden` when the plan's keys are used up; names those that may be rolled instead.
pub async fn make_key(app: &App, id: AccountId) -> Result<CreatedKey> {
    let owner = owner(account(app, id).await?)?;
    match api_key::create(app, &owner, &json!({ "name": NAME })).await {
        Ok(made) => Ok(told(id, made)),
        Err(Error::Forbidden { message }) => {
            let keys = api_key::list(app, &owner).await?;
            Err(Error::forbidden(format!("{message}; or roll one of them: {}", named(&keys))))
        }
        Err(cause) => Err(cause),
    }
}

/// Gives a key of an account a new secret. A key that has expired would open nothing, so its expiry
/// is cleared.
///
/// # Errors
/// `NotFound` when the account has no such key.
pub async fn roll_key(app: &App, id: AccountId, key: ApiKeyId) -> Result<CreatedKey> {
    let owner = owner(account(app, id).await?)?;
    let rolled = api_key::roll(app, &owner, &json!({ "id": key })).await?;
    let keys = api_key::list(app, &owner).await?;
    let now = app.clock.now();
    if keys.iter().any(|of| of.id == key && of.expired(now)) {
        api_key::set_expiry(app, &owner, key, &json!({ "expiresAt": null })).await?;
    }
    Ok(told(id, rolled))
}

/// Deletes an account with all its data, as its owner may in an edition that lets them.
///
/// # Errors
/// As [`profile::delete`]; `NotFound` when there is no such account.
pub async fn delete(app: Arc<App>, id: AccountId) -> Result<()> {
    account(&app, id).await?;
    profile::delete(app, id).await
}

async fn account(app: &App, id: AccountId) -> Result<Account> {
    app.store.account(id).await?.ok_or(Error::NotFound(Resource::Account))
}

fn owner(account: Account) -> Result<Caller> {
    let edition = plan::edition_of(&account)?;
    let account = Arc::new(account);
    // Nothing is answered here that is kept until the account stands elsewhere.
    let stamp = Stamp::default();
    Ok(Caller {
        user: Arc::clone(&account),
        account,
        role: Role::Owner,
        maker: None,
        edition,
        stamp,
    })
}

fn told(account: AccountId, made: CreatedKey) -> CreatedKey {
    let key = made.id;
    tracing::info!(
        account_id = %account, key_id = %key, "the operator was given key {key} of account {account}"
    );
    made
}

/// By what their owner may know them.
fn named(keys: &[ApiKey]) -> String {
    let named = keys.iter().map(|key| format!("{} ({}, {}…)", key.id, key.name, key.prefix));
    named.collect::<Vec<_>>().join(", ")
}

/// Of the keys that the operator makes.
const NAME: &str = "from the operator";
