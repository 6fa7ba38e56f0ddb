//! Accounts.
//!
//! *Invariant:* a deleted account cannot be found: all rows that lead to it go with its row. What
//! only it leads to is removed bit by bit ([`Store::purge_next`]).

use surrealdb::types::{RecordId, SurrealValue};
use uuid::Uuid;
use vedette_model::delivery::LETTER;
use vedette_model::{Account, AccountId, ApiKey, NotificationSettings, Timestamp};

use crate::api_key::ApiKeyRow;
use crate::error::{Error, Result, gone_is_none};
use crate::purge::own_letters;
use crate::team::TELL_TEAM;
use crate::tx::Binds;
use crate::{Store, agent, billing, key, team, welcome};

/// The columns of an account that the model knows.
#[derive(Debug, SurrealValue)]
pub(crate) struct AccountRow {
    id: RecordId,
    email: String,
    full_name: Option<String>,
    edition: String,
    plan: String,
    created_at: Timestamp,
}

impl Store {
    /// Creates an account with its first key, which counts like any other.
    pub async fn create_account(&self, account: &Account, first_key: &ApiKey) -> Result<()> {
        self.write(CREATE, creation(account, first_key)).await
    }

    /// Creates an account where there is none at all; says whether it did. Of nodes that find the
    /// database empty at once, one does.
    pub async fn create_first_account(
        &self,
        account: &Account,
        first_key: &ApiKey,
    ) -> Result<bool> {
        let unit = format!(
            "LET $anybody = (SELECT VALUE id FROM account LIMIT 1);
            IF !array::is_empty($anybody) {{ THROW 'duplicate' }};
            UPSERT $first SET made_at = $created_at RETURN NONE;
            {CREATE}"
        );
        let binds = creation(account, first_key).with("first", key::first_account());
        match self.write(&unit, binds).await {
            Ok(()) => Ok(true),
            Err(Error::Duplicate) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub async fn account(&self, account: AccountId) -> Result<Option<Account>> {
        let row: Option<AccountRow> =
            self.read("RETURN $id.*", Binds::new().with("id", key::account(account))).await?;
        row.map(AccountRow::into_account).transpose()
    }

    /// All accounts, oldest first: for the operator.
    pub async fn accounts(&self, limit: u32, offset: u32) -> Result<Vec<Account>> {
        let rows: Vec<AccountRow> = self
            .read(
                "SELECT * FROM account ORDER BY created_at LIMIT $limit START $offset",
                Binds::new().with("limit", limit).with("offset", offset),
            )
            .await?;
        rows.into_iter().map(AccountRow::into_account).collect()
    }

    /// Whether anybody has an account: false on a new database.
    pub async fn any_account(&self) -> Result<bool> {
        let first: Vec<RecordId> =
            self.read("SELECT VALUE id FROM account LIMIT 1", Binds::new()).await?;
        Ok(!first.is_empty())
    }

    /// Moves an account to another plan of its edition; false when there is no such account.
    pub async fn set_plan(&self, account: AccountId, plan: &str) -> Result<bool> {
        let unit = format!(
            "LET $moved = (UPDATE $account SET plan = $plan, stamp += 1 RETURN AFTER);
            {TELL_TEAM}
            RETURN count($moved)"
        );
        let binds = Binds::new().with("account", key::account(account)).with("plan", plan);
        let changed: i64 = self.tx(&unit, binds).await?;
        self.inner.known.forget_account(account);
        Ok(changed == 1)
    }

    /// Sets or clears the name of an account's owner, and answers the account; none when there is
    /// no such account.
    pub async fn set_full_name(
        &self,
        account: AccountId,
        full_name: Option<String>,
    ) -> Result<Option<Account>> {
        let unit =
            "LET $changed = (UPDATE $id SET full_name = $full_name, stamp += 1 RETURN AFTER);
            RETURN $changed[0]";
        let binds = Binds::new().with("id", key::account(account)).with("full_name", full_name);
        let row: Option<AccountRow> = self.tx(unit, binds).await?;
        row.map(AccountRow::into_account).transpose()
    }

    /// Sets the address of an account's owner; false when there is no such account. Letters that went to
    /// the one before go: nothing else would find them once the account is deleted.
    pub async fn set_email(&self, account: AccountId, email: &str) -> Result<bool> {
        let Some(before) = self.account(account).await? else { return Ok(false) };
        let unit = "LET $letters = (SELECT VALUE id FROM delivery WHERE account = $of
                AND channel = $letter AND finished = true AND string::contains(doc, $own));
            DELETE $letters RETURN NONE;
            RETURN array::len(UPDATE $id SET email = $email, stamp += 1 RETURN AFTER)";
        let binds = Binds::new()
            .with("id", key::account(account))
            .with("email", email)
            .with("of", account.0)
            .with("letter", LETTER)
            .with("own", own_letters(&before.email)?);
        let changed: u64 = self.tx(unit, binds).await?;
        Ok(changed > 0)
    }

    /// Removes an account for good: from here on its credentials lead nowhere, nobody is in its
    /// team and it is in nobody's, its page and its domain are free. Answers the settings that it
    /// had; none when there is no such account. `paid` is the version of its billing whose
    /// subscription was cancelled. `Stale` when that has moved on, when the account has a site, or
    /// when its settings were changed meanwhile: cancel again, delete its sites and try again.
    pub async fn close_account(
        &self,
        account: AccountId,
        paid: u64,
    ) -> Result<Option<NotificationSettings>> {
        let (settings, version) = self.versioned_settings(account).await?;
        let domain = settings.status_page_custom_domain.as_deref();
        let id = key::account(account);
        let _turn = self.turn(account.0).await;
        let binds = Binds::new()
            .with("account", id.clone())
            .with("owner", id.clone())
            .with("member", id)
            .with("account_id", account.0)
            .with("sites", key::sites(account))
            .with("settings", key::settings(account))
            .with("version", version)
            .with("billing", key::billing(account))
            .with("paid", paid)
            .with("keys", key::api_keys(account))
            .with("slug", settings.status_page_slug.as_ref().map(key::status_page_slug))
            .with("claim", domain.map(|domain| key::status_page_claim(domain, account)))
            .with("held", domain.map(key::status_page_domain))
            .with("alone", alone(account))
            .with("nobody", Uuid::new_v4())
            .with("most_signups", welcome::MOST_LOOKED_AT)
            .with("purge", key::account_purge(account));
        let Some(hashes) = gone_is_none(self.tx::<Vec<String>>(&closing(), binds).await)? else {
            return Ok(None);
        };
        for hash in &hashes {
            self.inner.known.forget_caller(hash);
        }
        Ok(Some(settings))
    }
}

fn creation(account: &Account, first_key: &ApiKey) -> Binds {
    Binds::new()
        .with("account", key::account(account.id))
        .with("email", account.email.as_str())
        .with("edition", account.edition.as_str())
        .with("plan", account.plan.as_str())
        .with("created_at", account.created_at)
        .with("key", key::api_key(account.id, first_key.id))
        .with("key_row", ApiKeyRow::content(first_key))
        .with("hash", key::api_key_hash(&first_key.hash))
}

/// The rows of which an account has at most one. Without feed and gate no commit leaves an event.
fn alone(account: AccountId) -> Vec<RecordId> {
    vec![
        key::renewal_switch(account),
        key::event_feed(account),
        key::event_gate(account),
        key::incident_auto(account),
    ]
}

/// What connects others with the account comes first: they read its row.
fn closing() -> String {
    let others = [team::LEAVE, team::DISBAND, agent::RETIRE, billing::FORGET, welcome::UNNAME]
        .map(|unit| unit.trim().trim_end_matches(';'));
    format!("{CLOSABLE}\n{};\n{CLOSE}", others.join(";\n"))
}

impl AccountRow {
    pub(crate) fn into_account(self) -> Result<Account> {
        Ok(Account {
            id: key::uuid_at(&self.id, 0)?.into(),
            email: self.email,
            full_name: self.full_name,
            edition: self.edition,
            plan: self.plan,
            created_at: self.created_at,
        })
    }
}

const CREATE: &str = "CREATE $account SET email = $email, edition = $edition, plan = $plan,
    created_at = $created_at, sites = 0, api_keys = 1 RETURN NONE;
CREATE $key CONTENT $key_row RETURN NONE;
CREATE $hash SET account = $account, key = $key RETURN NONE";

/// A site that is made in the same moment writes the account's row: it is seen here, or its maker is
/// in conflict and finds the account gone. So with a payment event, which reads that row for update.
const CLOSABLE: &str = "IF !record::exists($account) { THROW 'gone' };
LET $first_site = (SELECT VALUE id FROM $sites LIMIT 1);
IF !array::is_empty($first_site) { THROW 'stale' };
LET $settings_version = $settings.version ?? 0;
IF $settings_version != $version { THROW 'stale' };
LET $billing_version = $billing.version ?? 0;
IF $billing_version != $paid { THROW 'stale' };";

/// The month's calls are left to the purge: every call of the account writes them, and of two that
/// write one row the unit that takes longer loses.
const CLOSE: &str = "LET $hashes = (SELECT VALUE hash FROM $keys);
FOR $hash IN $hashes { DELETE type::record('api_key_hash', $hash) RETURN NONE };
DELETE $keys RETURN NONE;
LET $identities = (SELECT VALUE id FROM identity WHERE account = $account);
DELETE $identities RETURN NONE;
DELETE $settings RETURN NONE;
IF $slug != NONE { DELETE $slug WHERE account = $account RETURN NONE };
IF $claim != NONE {
    DELETE $claim RETURN NONE;
    DELETE $held WHERE account = $account_id RETURN NONE
};
DELETE $alone RETURN NONE;
CREATE $purge SET email = $account.email RETURN NONE;
DELETE $account RETURN NONE;
RETURN $hashes";
