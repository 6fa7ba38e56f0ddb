//! API keys: made, listed, extended, rolled and deleted.
//!
//! *Invariant:* the key itself exists only in the answer that made it; what is stored is its
//! SHA-256 and its first characters.

use aws_lc_rs::digest;
use serde::Serialize;
use serde_json::Value;
use vedette_model::{
    ApiKey, ApiKeyId, Edition, Plan, Role,
    api_key::{self, NewApiKey},
    parse::{self, Body},
};
use vedette_store::{Error as StoreError, Rolled};

use super::{plan, random};
use crate::{App, Caller, Error, Resource, Result};

/// A key with its secret: the answer of create and roll, and of nothing else.
#[derive(Clone, Serialize)]
pub struct CreatedKey {
    pub id: ApiKeyId,
    pub key: String,
    pub prefix: String,
    pub name: String,
}

/// The caller's keys, without secrets.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<ApiKey>> {
    Ok(app.store.api_keys(caller.account.id).await?)
}

/// Makes a key for the caller's account.
///
/// # Errors
/// `Forbidden` when the plan's keys are used up; names the plan that has more.
pub async fn create(app: &App, caller: &Caller, body: &Value) -> Result<CreatedKey> {
    let now = app.clock.now();
    let new = NewApiKey::parse(body, now)?;
    let plan = plan::of(&caller.account)?;
    let secret = mint(caller.edition);
    let key = ApiKey {
        id: random::id(),
        account_id: caller.account.id,
        name: new.name,
        prefix: api_key::shown_prefix(&secret).to_owned(),
        hash: hash(&secret),
        created_at: now,
        last_used_at: None,
        expires_at: new.expires_at,
        role: caller.role,
        made_by: caller.maker,
    };
    match app.store.create_api_key(caller.account.id, &key, plan.api_keys).await {
        Ok(()) => Ok(CreatedKey::of(key, secret)),
        Err(StoreError::KeyLimit) => Err(used_up(caller.edition, plan)),
        Err(StoreError::Gone | StoreError::Stale) => Err(Error::NotFound(Resource::Account)),
        Err(cause) => Err(cause.into()),
    }
}

/// Sets, extends or clears the expiry; an expired key is valid again at once.
pub async fn set_expiry(app: &App, caller: &Caller, id: ApiKeyId, body: &Value) -> Result<ApiKey> {
    let expires_at = api_key::parse_expiry(body, app.clock.now())?;
    let changed = app.store.update_api_key_expiry(caller.account.id, id, expires_at).await?;
    changed.ok_or(UNKNOWN)
}

/// Replaces the secret; id, name and expiry stay, the old secret stops working at once. The key is
/// the caller's from here on, with their role: they alone know it.
pub async fn roll(app: &App, caller: &Caller, body: &Value) -> Result<CreatedKey> {
    let id = Body::of(body)?
        .required("id", |field, value| parse::uuid(field, parse::text(field, value)?))?;
    let id = ApiKeyId(id);
    must_rank_with(app, caller, id).await?;
    let secret = mint(caller.edition);
    let prefix = api_key::shown_prefix(&secret);
    let hash = hash(&secret);
    let rolled = Rolled { hash: &hash, prefix, role: caller.role, made_by: caller.maker };
    match app.store.roll_api_key(caller.account.id, id, rolled).await {
        Ok(rolled) => {
            let rolled = rolled.ok_or(UNKNOWN)?;
            app.limits.recent.disown_all(caller.account.id);
            Ok(CreatedKey::of(rolled, secret))
        }
        Err(StoreError::Stale) => Err(Error::NotFound(Resource::Account)),
        Err(cause) => Err(cause.into()),
    }
}

/// Any key of the account: whoever may make keys also ends one that has leaked (decisions: roles).
pub async fn delete(app: &App, caller: &Caller, id: ApiKeyId) -> Result<()> {
    let deleted = app.store.delete_api_key(caller.account.id, id).await?;
    if !deleted {
        return Err(UNKNOWN);
    }
    app.limits.recent.disown_all(caller.account.id);
    Ok(())
}

/// Nobody gets the new secret of a key that may more than they do: it would let them do so too.
async fn must_rank_with(app: &App, caller: &Caller, id: ApiKeyId) -> Result<()> {
    if caller.role == Role::Owner {
        return Ok(());
    }
    let keys = app.store.api_keys(caller.account.id).await?;
    let key = keys.into_iter().find(|key| key.id == id).ok_or(UNKNOWN)?;
    if caller.role >= key.role {
        return Ok(());
    }
    Err(Error::forbidden(format!(
        "this key has the role {}, and its new secret would be yours; delete it and create one \
         instead",
        key.role.as_str()
    )))
}

impl CreatedKey {
    pub(crate) fn of(key: ApiKey, secret: String) -> Self {
        Self { id: key.id, key: secret, prefix: key.prefix, name: key.name }
    }
}

/// Only what may be shown: the secret is not printed, wherever this ends up.
impl std::fmt::Debug for CreatedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedKey").field("id", &self.id).field("prefix", &self.prefix).finish()
    }
}

/// A fresh key of an edition, from the system's randomness.
pub(crate) fn mint(edition: &Edition) -> String {
    api_key::mint(edition.key_prefix, random::bytes())
}

/// What a key is stored and looked up by: lower-case hex of its SHA-256.
pub(crate) fn hash(key: &str) -> String {
    hex::encode(digest::digest(&digest::SHA256, key.as_bytes()))
}

fn used_up(edition: &Edition, plan: &Plan) -> Error {
    plan::used_up(edition, plan, "API key", |plan| plan.api_keys)
}

const UNKNOWN: Error = Error::NotFound(Resource::ApiKey);

#[cfg(test)]
mod tests {
    use vedette_model::edition::{STANDARD, TEAM};

    use super::*;

    #[test]
    fn minted_keys_are_well_formed_and_differ() {
        for edition in [&STANDARD, &TEAM] {
            let (one, other) = (mint(edition), mint(edition));
            assert!(api_key::well_formed(&one, edition.key_prefix), "{one}");
            assert_ne!(one, other);
        }
    }

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn hash_is_sha_256_in_hex() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash("abc"), abc);
    }

    #[test]
    fn full_plan_names_the_plan_with_more_keys() {
        let said = used_up(&STANDARD, STANDARD.lowest_plan()).to_string();
        assert_eq!(said, "the free plan has 1 API key, and it is in use; the starter plan has 3");
        let said = used_up(&STANDARD, STANDARD.highest_plan()).to_string();
        assert!(said.ends_with("delete one first"), "{said}");
    }

    #[test]
    fn secret_is_not_printed() {
        let key = CreatedKey {
            id: ApiKeyId(uuid::Uuid::from_u128(1)),
            key: "ct_secret".to_owned(),
            prefix: "ct_12345678".to_owned(),
            name: "ci".to_owned(),
        };
        assert!(!format!("{key:?}").contains("ct_secret"));
    }
}
