//! Accounts.

use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::{Account, AccountId, ApiKey, Timestamp};

use crate::api_key::ApiKeyRow;
use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key};

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
        let unit = "CREATE $account SET email = $email, edition = $edition, plan = $plan,
                created_at = $created_at, sites = 0, api_keys = 1 RETURN NONE;
            CREATE $key CONTENT $key_row RETURN NONE;
            CREATE $hash SET account = $account, key = $key RETURN NONE";
        let binds = Binds::new()
            .with("account", key::account(account.id))
            .with("email", account.email.as_str())
            .with("edition", account.edition.as_str())
            .with("plan", account.plan.as_str())
            .with("created_at", account.created_at)
            .with("key", key::api_key(account.id, first_key.id))
            .with("key_row", ApiKeyRow::content(first_key))
            .with("hash", key::api_key_hash(&first_key.hash));
        self.write(unit, binds).await
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
        let unit = "RETURN count(UPDATE $id SET plan = $plan, stamp += 1 RETURN AFTER)";
        let binds = Binds::new().with("id", key::account(account)).with("plan", plan);
        let changed: i64 = self.tx(unit, binds).await?;
        Ok(changed == 1)
    }
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
