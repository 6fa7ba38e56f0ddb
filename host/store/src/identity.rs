//! Identities: who somebody is to the identity provider, and the account that it made for them.

use std::net::IpAddr;
use std::sync::Arc;

use surrealdb::types::SurrealValue;
use vedette_model::Account;

use crate::account::AccountRow;
use crate::error::Result;
use crate::team::{TEAM_OF_ACCOUNT, TeamRow};
use crate::tx::Binds;
use crate::{Person, Stamp, Store, key};

/// An account that is gone leaves nothing to read.
#[derive(SurrealValue)]
struct IdentityRow {
    account: Option<AccountRow>,
    stamp: Option<Stamp>,
    team: Option<TeamRow>,
}

impl Store {
    /// Who an identity is, by the hash that names it. One round trip.
    pub async fn person_of(&self, identity: &str) -> Result<Option<Person>> {
        let statement = format!(
            "SELECT account.*, account.stamp AS stamp, {TEAM_OF_ACCOUNT} FROM ONLY $identity"
        );
        let binds = Binds::new().with("identity", key::identity(identity));
        let row: Option<IdentityRow> = self.read(&statement, binds).await?;
        let Some(IdentityRow { account: Some(account), stamp, team }) = row else {
            return Ok(None);
        };
        Ok(Some(Person {
            account: Arc::new(account.into_account()?),
            stamp: stamp.unwrap_or_default(),
            team: team.map(TeamRow::into_team).transpose()?,
        }))
    }

    /// Creates the account of an identity that has none, without a key; `Duplicate` when it has
    /// one. Of several at once the first makes the account: all write the identity's row. What is
    /// given as its address is counted for a while ([`Store::free_accounts_of`]).
    pub async fn sign_up(
        &self,
        identity: &str,
        account: &Account,
        address: Option<IpAddr>,
    ) -> Result<()> {
        let unit = "LET $known = $identity.account;
            IF $known != NONE {
                IF record::exists($known) { THROW 'duplicate' }
            };
            UPSERT $identity SET account = $account RETURN NONE;
            IF $signup != NONE {
                CREATE $signup SET account = $account, created_at = $created_at RETURN NONE
            };
            CREATE $account SET email = $email, edition = $edition, plan = $plan,
                created_at = $created_at, sites = 0, api_keys = 0 RETURN NONE";
        let binds = Binds::new()
            .with("identity", key::identity(identity))
            .with("account", key::account(account.id))
            .with("signup", address.map(|address| self.signup(address, account.id)))
            .with("email", account.email.as_str())
            .with("edition", account.edition.as_str())
            .with("plan", account.plan.as_str())
            .with("created_at", account.created_at);
        self.write(unit, binds).await
    }
}
