//! API keys. A row per key under its account, and a row per hash that says whose it is: that one
//! is what a request looks up.

use std::sync::Arc;

use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::{AccountId, ApiKey, ApiKeyId, Role, Timestamp};

use crate::account::AccountRow;
use crate::error::{Error, Result, gone_is_none};
use crate::team::{TEAM_OF_ACCOUNT, TELL_TEAM, TeamRow};
use crate::tx::Binds;
use crate::{Found, Person, Stamp, Store, key};

/// The columns of a key.
#[derive(Debug, SurrealValue)]
pub(crate) struct ApiKeyRow {
    id: RecordId,
    name: String,
    prefix: String,
    hash: String,
    created_at: Timestamp,
    last_used_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    /// None = the owner's: from before there were others.
    role: Option<String>,
    made_by: Option<RecordId>,
}

#[derive(SurrealValue)]
struct CallerRow {
    key: ApiKeyRow,
    account: AccountRow,
    stamp: Stamp,
    team: Option<TeamRow>,
}

/// A new secret of a key, and who receives it.
#[derive(Clone, Copy, Debug)]
pub struct Rolled<'a> {
    pub hash: &'a str,
    pub prefix: &'a str,
    pub role: Role,
    /// As in [`ApiKey::made_by`].
    pub made_by: Option<AccountId>,
}

#[derive(SurrealValue)]
struct RolledRow {
    /// The hash that finds nobody any more.
    old: String,
    key: ApiKeyRow,
}

impl Store {
    /// Who a key belongs to, by the key's hash, from memory where it was asked for before: what
    /// is answered holds if the account still stands at its stamp. Expired keys are found too.
    pub async fn caller(&self, hash: &str) -> Result<Option<Arc<Found>>> {
        match self.inner.known.caller(hash) {
            Some(found) => Ok(Some(found)),
            // From memory most of the time: nobody else is to carry what this takes.
            None => Box::pin(self.caller_anew(hash)).await,
        }
    }

    /// Drops what is kept in memory of a key.
    pub fn forget_caller(&self, hash: &str) {
        self.inner.known.forget_caller(hash);
    }

    /// Who a key belongs to now. One round trip.
    pub async fn caller_anew(&self, hash: &str) -> Result<Option<Arc<Found>>> {
        let statement = format!(
            "SELECT key.*, account.*, account.stamp AS stamp, {TEAM_OF_ACCOUNT} FROM ONLY $hash"
        );
        let binds = Binds::new().with("hash", key::api_key_hash(hash));
        let row: Option<CallerRow> = self.read(&statement, binds).await?;
        let Some(row) = row else {
            self.inner.known.forget_caller(hash);
            return Ok(None);
        };
        let found = Arc::new(Found {
            key: row.key.into_key()?,
            person: Person {
                account: Arc::new(row.account.into_account()?),
                stamp: row.stamp,
                team: row.team.map(TeamRow::into_team).transpose()?,
            },
        });
        self.inner.known.keep_caller(Arc::clone(&found));
        Ok(Some(found))
    }

    /// Notes that a key was used; an earlier moment than the one noted changes nothing.
    pub async fn touch_api_key(
        &self,
        account: AccountId,
        api_key: &ApiKey,
        now: Timestamp,
    ) -> Result<()> {
        let unit = "UPDATE $key SET last_used_at = $now
            WHERE last_used_at = NONE OR last_used_at < $now RETURN NONE";
        // Before the write: of requests that come together one writes.
        self.inner.known.note_use(&api_key.hash, now);
        let id = key::api_key(account, api_key.id);
        self.write(unit, Binds::new().with("key", id).with("now", now)).await
    }

    /// An account's keys, oldest first.
    pub async fn api_keys(&self, account: AccountId) -> Result<Vec<ApiKey>> {
        let rows: Vec<ApiKeyRow> = self
            .read("SELECT * FROM $keys", Binds::new().with("keys", key::api_keys(account)))
            .await?;
        let mut keys: Vec<ApiKey> =
            rows.into_iter().map(ApiKeyRow::into_key).collect::<Result<_>>()?;
        keys.sort_by_key(|key| (key.created_at, key.id));
        Ok(keys)
    }

    /// Adds a key while the account has fewer than `limit`, else `KeyLimit`. `Stale` if its maker
    /// has another role in the account's team by now, or none.
    pub async fn create_api_key(
        &self,
        account: AccountId,
        api_key: &ApiKey,
        limit: u32,
    ) -> Result<()> {
        let _turn = self.turn(account.0).await;
        let unit = format!(
            "LET $room = (UPDATE $account SET api_keys += 1 WHERE api_keys < $limit RETURN AFTER);
            IF array::is_empty($room) {{
                IF record::exists($account) {{ THROW 'key_limit' }} ELSE {{ THROW 'gone' }}
            }};
            {MAKER_STANDS}
            CREATE $key CONTENT $key_row RETURN NONE;
            CREATE $hash SET account = $account, key = $key RETURN NONE"
        );
        let binds = made_by(api_key.made_by, api_key.role)
            .with("account", key::account(account))
            .with("limit", limit)
            .with("key", key::api_key(account, api_key.id))
            .with("key_row", ApiKeyRow::content(api_key))
            .with("hash", key::api_key_hash(&api_key.hash));
        self.write(&unit, binds).await
    }

    /// Sets or clears when a key expires.
    pub async fn update_api_key_expiry(
        &self,
        account: AccountId,
        api_key: ApiKeyId,
        expires_at: Option<Timestamp>,
    ) -> Result<Option<ApiKey>> {
        let _turn = self.turn(account.0).await;
        let unit = format!(
            "LET $changed = (UPDATE $key SET expires_at = $expires_at RETURN AFTER);
            IF array::is_empty($changed) {{ THROW 'gone' }};
            UPDATE $account SET stamp += 1 RETURN NONE;
            {TELL_TEAM}
            RETURN $changed[0]"
        );
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("key", key::api_key(account, api_key))
            .with("expires_at", expires_at);
        let row = gone_is_none(self.tx::<ApiKeyRow>(&unit, binds).await)?;
        let changed = row.map(ApiKeyRow::into_key).transpose()?;
        if let Some(key) = &changed {
            self.inner.known.forget_caller(&key.hash);
        }
        Ok(changed)
    }

    /// Replaces a key's secret: the old hash finds nobody from here on, and the key belongs to the
    /// person who receives the new one. `Stale` as in [`Self::create_api_key`].
    pub async fn roll_api_key(
        &self,
        account: AccountId,
        api_key: ApiKeyId,
        rolled: Rolled<'_>,
    ) -> Result<Option<ApiKey>> {
        let _turn = self.turn(account.0).await;
        let unit = format!(
            "LET $old = $key.hash;
            IF $old = NONE {{ THROW 'gone' }};
            {MAKER_STANDS}
            DELETE type::record('api_key_hash', $old) RETURN NONE;
            CREATE $new_hash SET account = $account, key = $key RETURN NONE;
            UPDATE $account SET stamp += 1 RETURN NONE;
            {TELL_TEAM}
            RETURN {{
                old: $old,
                key: (UPDATE $key SET hash = $hash, prefix = $prefix, role = $role,
                    made_by = $maker RETURN AFTER)[0]
            }}"
        );
        let binds = made_by(rolled.made_by, rolled.role)
            .with("account", key::account(account))
            .with("key", key::api_key(account, api_key))
            .with("new_hash", key::api_key_hash(rolled.hash))
            .with("hash", rolled.hash)
            .with("prefix", rolled.prefix);
        let Some(rolled) = gone_is_none(self.tx::<RolledRow>(&unit, binds).await)? else {
            return Ok(None);
        };
        self.inner.known.forget_caller(&rolled.old);
        rolled.key.into_key().map(Some)
    }

    /// False when the account has no such key.
    pub async fn delete_api_key(&self, account: AccountId, api_key: ApiKeyId) -> Result<bool> {
        let _turn = self.turn(account.0).await;
        let unit = format!(
            "LET $old = $key.hash;
            IF $old = NONE {{ THROW 'gone' }};
            DELETE type::record('api_key_hash', $old) RETURN NONE;
            DELETE $key RETURN NONE;
            UPDATE $account SET api_keys -= 1, stamp += 1 RETURN NONE;
            {TELL_TEAM}
            RETURN $old"
        );
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("key", key::api_key(account, api_key));
        let old: Option<String> = gone_is_none(self.tx(&unit, binds).await)?;
        if let Some(old) = &old {
            self.inner.known.forget_caller(old);
        }
        Ok(old.is_some())
    }
}

impl ApiKeyRow {
    pub(crate) fn content(key: &ApiKey) -> Self {
        Self {
            id: key::api_key(key.account_id, key.id),
            name: key.name.clone(),
            prefix: key.prefix.clone(),
            hash: key.hash.clone(),
            created_at: key.created_at,
            last_used_at: key.last_used_at,
            expires_at: key.expires_at,
            role: Some(key.role.as_str().to_owned()),
            made_by: key.made_by.map(key::account),
        }
    }

    fn into_key(self) -> Result<ApiKey> {
        let role = match &self.role {
            None => Role::Owner,
            Some(name) => Role::by_name(name)
                .ok_or_else(|| Error::corrupt("API key", format!("role {name}")))?,
        };
        let made_by = self.made_by.map(|maker| key::uuid_at(&maker, 0)).transpose()?;
        Ok(ApiKey {
            id: key::uuid_at(&self.id, 1)?.into(),
            account_id: key::uuid_at(&self.id, 0)?.into(),
            name: self.name,
            prefix: self.prefix,
            hash: self.hash,
            created_at: self.created_at,
            last_used_at: self.last_used_at,
            expires_at: self.expires_at,
            role,
            made_by: made_by.map(AccountId),
        })
    }
}

/// What [`MAKER_STANDS`] needs beside `$account`.
fn made_by(maker: Option<AccountId>, role: Role) -> Binds {
    Binds::new().with("maker", maker.map(key::account)).with("role", role.as_str())
}

/// A member who makes a key for the owner must have the role that it gets: their role in the team
/// may have changed since they asked.
const MAKER_STANDS: &str = "LET $membership = $maker.team;
IF $maker != NONE AND ($membership.owner != $account OR $membership.role != $role) {
    THROW 'stale'
};";
