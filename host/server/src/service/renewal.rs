//! The deprecated renewal of certificates: begun, followed in its log, and picked up.
//!
//! A request only begins a renewal; [`carry_out`] does the rest in the background:
//! authority (ACME) ← proof in the DNS (RFC 2136) → certificate, kept for its owner.
//!
//! *Invariant:* the plan comes first, then the operator's switch, then what the request says.
//! *Invariant:* no log, message or trace shows a key.

mod acme;
mod issue;
mod rfc2136;

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use vedette_model::{
    AccountId, RenewalEntry, RenewedCertificate, SiteId,
    renewal::{self, CLOSED, Rfc2136},
};
use vedette_sandbox::egress::{Audience, NetError};
use vedette_store::Error as StoreError;

use crate::{App, Caller, Error, Resource, Result};

pub(crate) use issue::carry_out;

/// The answer of a renewal that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Begun {
    pub message: String,
    pub site_id: SiteId,
}

/// Begins the renewal of a site's certificate, unless one is under way.
///
/// # Errors
/// `Forbidden` while the operator has not switched renewal on for the account, `NotFound` for a
/// site that is not the caller's, `Invalid` when its DNS provider cannot be used.
pub async fn begin(app: &App, caller: &Caller, body: &Value) -> Result<Begun> {
    let account = caller.account.id;
    if !app.store.renewal_is_on(account).await? {
        return Err(Error::forbidden(CLOSED));
    }
    let site_id = renewal::parse_site(body)?;
    let site = app.store.site(account, site_id).await?.ok_or(UNKNOWN)?;
    let provider = Rfc2136::of(&site)?;
    vet(app, &provider).await?;
    let domain = &site.domain;
    let entry = RenewalEntry::pending(domain, app.clock.now());
    let message = match app.store.begin_renewal(account, site_id, &entry).await {
        Ok(()) => format!(
            "renewal of the certificate for {domain} has begun; GET /renewal tells how it ends"
        ),
        Err(StoreError::Duplicate) => {
            format!("a renewal of the certificate for {domain} is under way already")
        }
        Err(StoreError::Gone) => return Err(UNKNOWN),
        Err(cause) => return Err(cause.into()),
    };
    app.wake.renewal.notify_one();
    Ok(Begun { message, site_id })
}

/// The last lines of a site's log, newest first.
pub async fn log(app: &App, caller: &Caller, site: SiteId) -> Result<Vec<RenewalEntry>> {
    app.store.renewal_log(caller.account.id, site).await?.ok_or(UNKNOWN)
}

/// What the last renewal of a site brought.
///
/// # Errors
/// `NotFound` for a site that is not the caller's, or before the first renewal.
pub async fn certificate(app: &App, caller: &Caller, site: SiteId) -> Result<RenewedCertificate> {
    let account = caller.account.id;
    let kept = app.store.renewed_certificate(account, site).await?;
    if let Some(renewed) = kept {
        return Ok(renewed);
    }
    let known = app.store.site(account, site).await?.is_some();
    Err(if known { Error::NotFound(Resource::RenewedCertificate) } else { UNKNOWN })
}

/// The operator's switch.
///
/// # Errors
/// `NotFound` when there is no such account.
pub async fn switch(app: &App, id: AccountId, on: bool) -> Result<()> {
    if !app.store.switch_renewal(id, on, app.clock.now()).await? {
        return Err(Error::NotFound(Resource::Account));
    }
    let word = if on { "on" } else { "off" };
    tracing::info!(account_id = %id, on, "renewal was switched {word} for account {id}");
    Ok(())
}

/// Refuses a name server that may not be reached; it is judged again at every connection.
async fn vet(app: &App, provider: &Rfc2136) -> Result<()> {
    let egress = app.sandbox.egress();
    let deadline = Instant::now() + RESOLVE;
    let resolved = egress.resolve(&provider.server, Audience::Authenticated, deadline).await;
    match resolved {
        Err(cause @ (NetError::AddressBlocked(_) | NetError::NotPermitted(_))) => {
            Err(Error::invalid("dns_provider_config.server", format!("is refused: {cause}")))
        }
        // A name that cannot be resolved now may be in a moment: the log will tell.
        Ok(_) | Err(_) => Ok(()),
    }
}

const UNKNOWN: Error = Error::NotFound(Resource::Site);
const RESOLVE: Duration = Duration::from_secs(5);
