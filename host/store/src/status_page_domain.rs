//! Custom domains of status pages: who claims one, and who has proved that it is theirs. Claims
//! are written with the settings that name the domain.
//!
//! *Invariant:* a domain is held by at most one account, since its row's id is the domain.
//! *Invariant:* an account that holds a domain also claims it.

use surrealdb::types::SurrealValue;
use uuid::Uuid;
use vedette_model::{AccountId, Timestamp};

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key};

/// Whose a domain is, and when that was proved last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    pub account: AccountId,
    pub proven_at: Timestamp,
}

#[derive(SurrealValue)]
struct HoldingRow {
    account: Uuid,
    proven_at: Timestamp,
}

impl Store {
    /// None while nobody has proved that the domain is theirs.
    pub async fn status_page_holding(&self, domain: &str) -> Result<Option<Holding>> {
        let row: Option<HoldingRow> = self
            .read(
                "RETURN $held.{ account, proven_at }",
                Binds::new().with("held", key::status_page_domain(domain)),
            )
            .await?;
        Ok(row.map(|row| Holding { account: row.account.into(), proven_at: row.proven_at }))
    }

    /// Up to `limit` accounts whose settings name the domain, in the order in which they came.
    pub async fn status_page_claimants(&self, domain: &str, limit: u32) -> Result<Vec<AccountId>> {
        let accounts: Vec<Uuid> = self
            .read(
                "SELECT VALUE account FROM $claims ORDER BY nth, account LIMIT $limit",
                Binds::new().with("claims", key::status_page_claims(domain)).with("limit", limit),
            )
            .await?;
        Ok(accounts.into_iter().map(AccountId::from).collect())
    }

    /// The domain is the account's, as it has proved at `now`; `Gone` when the account does not
    /// claim it any more, `DomainTaken` when somebody else holds it.
    pub async fn hold_status_page_domain(
        &self,
        domain: &str,
        account: AccountId,
        now: Timestamp,
    ) -> Result<()> {
        // The claim is read for update: in conflict with settings that leave the domain.
        let unit = "IF (SELECT VALUE id FROM ONLY $claim FOR UPDATE) = NONE { THROW 'gone' };
            IF ($held.account ?? $owner) != $owner {
                THROW 'domain_taken'
            };
            UPSERT $held SET account = $owner, proven_at = $now RETURN NONE";
        let binds = Binds::new()
            .with("claim", key::status_page_claim(domain, account))
            .with("held", key::status_page_domain(domain))
            .with("owner", account.0)
            .with("now", now);
        self.write(unit, binds).await
    }

    /// The domain is nobody's, unless it has been proved since.
    pub async fn release_status_page_domain(&self, domain: &str, held: Holding) -> Result<()> {
        let unit = "DELETE $held WHERE account = $owner AND proven_at = $proven_at RETURN NONE";
        let binds = Binds::new()
            .with("held", key::status_page_domain(domain))
            .with("owner", held.account.0)
            .with("proven_at", held.proven_at);
        self.write(unit, binds).await
    }
}
