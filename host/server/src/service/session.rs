//! Session tokens: everybody whom the identity provider vouches for has an account, from their
//! first token on (decisions: session tokens).
//!
//! *Invariant:* an account belongs to an issuer's subject in one edition. Its address never leads
//! to it: otherwise anybody who could put another's address into a token would take over that
//! account.
//! *Invariant:* every token that does not hold gets the same answer.

use std::{net::IpAddr, sync::Arc};

use anyhow::Context;
use serde_json::json;
use vedette_model::{Account, Area, Edition, session::Claims};
use vedette_store::{Error as StoreError, Person, Stamp};

use super::{api_key::hash, random};
use crate::{App, Error, Result, oidc::Refused};

/// Whose request this is; makes the account of somebody new who comes from `newcomer`.
///
/// # Errors
/// `Unauthenticated` for a token that is not valid, for somebody new without an address, and for
/// somebody new if nobody new is let in. `NoSessionKeys` while the issuer's keys cannot be fetched
/// and none of the known ones signed the token: signing in again would not help.
pub(super) async fn authenticate(
    app: &App,
    edition: &'static Edition,
    token: &str,
    newcomer: Option<IpAddr>,
) -> Result<Person> {
    let Some(oidc) = &app.oidc else {
        return Err(Error::Unauthenticated(NOT_TAKEN.into()));
    };
    let claims = oidc.verify(token).await.map_err(|refused| match refused {
        Refused::Token => Error::Unauthenticated(INVALID.into()),
        Refused::NoKeys => Error::NoSessionKeys,
    })?;
    let identity = identity(edition, oidc.issuer(), &claims);
    if let Some(found) = app.store.person_of(&identity).await? {
        return Ok(found);
    }
    let address = newcomer.ok_or_else(|| Error::Unauthenticated(NOBODY.into()))?;
    sign_up(app, edition, &identity, &claims, address).await
}

/// A free account. Of several first requests at once one makes it, and the others find it.
async fn sign_up(
    app: &App,
    edition: &Edition,
    identity: &str,
    claims: &Claims,
    address: IpAddr,
) -> Result<Person> {
    let email = claims.verified_email();
    let email = email.ok_or_else(|| Error::Unauthenticated(NO_ADDRESS.into()))?;
    let account = Account {
        id: random::id(),
        email,
        full_name: None,
        edition: edition.id.to_owned(),
        plan: edition.lowest_plan().id.to_owned(),
        created_at: app.clock.now(),
    };
    // Kept only if somebody asks for it.
    let address = edition.has(Area::Welcome).then_some(address);
    match app.store.sign_up(identity, &account, address).await {
        Ok(()) => {
            let (id, edition) = (account.id, edition.id);
            tracing::info!(account_id = %id, edition, "account {id} created by its first session");
            Ok(Person { account: Arc::new(account), stamp: Stamp::default(), team: None })
        }
        Err(StoreError::Duplicate) => {
            let made = app.store.person_of(identity).await?;
            Ok(made.context("an identity has an account and has none")?)
        }
        Err(cause) => Err(cause.into()),
    }
}

/// The name that somebody is stored under: a JSON list, so that no two of them run together.
fn identity(edition: &Edition, issuer: &str, claims: &Claims) -> String {
    hash(&json!([edition.id, issuer, claims.sub]).to_string())
}

const NOT_TAKEN: &str = "session tokens are not accepted here; send an API key";
const INVALID: &str = "the session token is not valid or has expired; sign in again";
const NOBODY: &str = "the session token belongs to no account; sign in again";
const NO_ADDRESS: &str = "the session token carries no verified e-mail address, which a new account \
     needs; confirm one with your identity provider and sign in again";
