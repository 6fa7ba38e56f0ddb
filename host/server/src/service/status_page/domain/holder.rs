//! Who holds a domain: whose proof was there when it was last looked for.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use aws_lc_rs::digest::{SHA256, digest};
use vedette_model::{
    AccountId,
    status_page::domain::{proof_name, proof_value},
};
use vedette_store::{Error as StoreError, Holding};

use crate::{App, Result};

/// What the DNS says of a domain.
#[derive(Clone)]
pub(super) enum Proofs {
    Known(Arc<[String]>),
    /// Could not be found out.
    Unknown,
}

/// Who holds a domain, after a look at its proof if the last one is older than `lasts`. `asking`
/// may hold it however many others claim it.
pub(super) async fn standing(
    app: &App,
    domain: &str,
    asking: Option<AccountId>,
    lasts: Duration,
) -> Result<Option<AccountId>> {
    let now = app.clock.now();
    if let Some(held) = app.store.status_page_holding(domain).await? {
        if (now - held.proven_at).to_std().is_ok_and(|age| age < lasts) {
            return Ok(Some(held.account));
        }
        match proofs(app, domain).await {
            Proofs::Unknown => return Ok(Some(held.account)),
            Proofs::Known(texts) if proves(&texts, held.account, domain) => {
                return hold(app, domain, held.account).await;
            }
            Proofs::Known(_) => release(app, domain, held).await?,
        }
    }
    let mut claimants = app.store.status_page_claimants(domain, MOST_CLAIMANTS).await?;
    if claimants.is_empty() {
        return Ok(None);
    }
    if let Some(asking) = asking.filter(|asking| !claimants.contains(asking)) {
        claimants.push(asking);
    }
    let Proofs::Known(texts) = proofs(app, domain).await else { return Ok(None) };
    match claimants.into_iter().find(|claimant| proves(&texts, *claimant, domain)) {
        Some(claimant) => hold(app, domain, claimant).await,
        None => Ok(None),
    }
}

/// Writes down that the proof is there. Of several at once the first holds the domain.
async fn hold(app: &App, domain: &str, account: AccountId) -> Result<Option<AccountId>> {
    match app.store.hold_status_page_domain(domain, account, app.clock.now()).await {
        Ok(()) => {
            tracing::info!(account_id = %account, "the status page domain {domain} is proved");
            Ok(Some(account))
        }
        Err(StoreError::DomainTaken) => {
            Ok(app.store.status_page_holding(domain).await?.map(|held| held.account))
        }
        Err(StoreError::Gone) => Ok(None),
        Err(cause) => Err(cause.into()),
    }
}

async fn release(app: &App, domain: &str, held: Holding) -> Result<()> {
    app.store.release_status_page_domain(domain, held).await?;
    let account_id = held.account;
    tracing::info!(%account_id, "the status page domain {domain} is no longer proved");
    Ok(())
}

/// The texts at the place of the proof, at most a minute old.
async fn proofs(app: &App, domain: &str) -> Proofs {
    let look = async {
        let deadline = Instant::now() + PATIENCE;
        let resolver = app.sandbox.egress().resolver();
        match resolver.texts(&proof_name(domain), deadline).await {
            Ok(texts) => Proofs::Known(texts.into()),
            Err(cause) => {
                tracing::debug!("the proof of {domain} cannot be looked up: {cause}");
                Proofs::Unknown
            }
        }
    };
    app.domains.proofs.get_with(domain.to_owned(), look).await
}

fn proves(texts: &[String], account: AccountId, domain: &str) -> bool {
    let wanted = proof_value(&token(account, domain));
    texts.iter().any(|text| text.trim() == wanted)
}

/// Names an account to a domain: always the same, and nothing about either can be read from it. It
/// is no secret; the proof is that the record is in the domain's zone.
pub(super) fn token(account: AccountId, domain: &str) -> String {
    let hash = digest(&SHA256, format!("vedette status page {account} {domain}").as_bytes());
    hex::encode(&hash.as_ref()[..TOKEN])
}

/// Bytes of a token.
const TOKEN: usize = 20;
const PATIENCE: Duration = Duration::from_secs(5);
/// Others that claim the domain can prove it at the next look at their own settings.
const MOST_CLAIMANTS: u32 = 64;

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_token_names_one_account_to_one_domain() {
        let (one, two) = (AccountId(Uuid::from_u128(1)), AccountId(Uuid::from_u128(2)));
        let of_one = token(one, "status.example.com");
        assert_eq!(of_one, token(one, "status.example.com"));
        assert_eq!(of_one.len(), 2 * TOKEN);
        assert_ne!(of_one, token(two, "status.example.com"));
        assert_ne!(of_one, token(one, "status.example.org"));
        let texts = ["v=spf1 -all".to_owned(), format!("vedette-verify={of_one}")];
        assert!(proves(&texts, one, "status.example.com"));
        assert!(!proves(&texts, two, "status.example.com"));
        assert!(!proves(&texts[..1], one, "status.example.com"));
    }
}
