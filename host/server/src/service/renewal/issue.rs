//! One renewal from its lease to its last line in the log.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use vedette_model::{
    RenewalEntry, RenewedCertificate, Site,
    renewal::{Rfc2136, deployable},
};
use vedette_store::{Error as StoreError, RenewalLease};

use super::{acme, rfc2136::Proof};
use crate::{App, Result};

/// How a renewal ended that brought nothing.
enum Ended {
    /// For good; says to the owner what to change.
    Failed(String),
    /// Because we stop: the next process begins it again.
    Interrupted,
}

/// Carries a renewal out and writes down how it ended. It ends within five minutes, and soon after
/// `shutdown` is cancelled; then it is given back.
pub(crate) async fn carry_out(
    app: &App,
    lease: &RenewalLease,
    shutdown: &CancellationToken,
) -> Result<()> {
    let Some(site) = app.store.site(lease.account_id, lease.site_id).await? else {
        return Ok(app.store.forget_renewal(lease.site_id).await?);
    };
    let ended = obtain(app, lease, &site, shutdown).await;
    let (now, domain, site_id) = (app.clock.now(), &site.domain, site.id);
    let (entry, renewed) = match ended {
        Ok(renewed) => (RenewalEntry::success(domain, &renewed, now), Some(renewed)),
        Err(Ended::Failed(reason)) => (RenewalEntry::failed(&reason, now), None),
        Err(Ended::Interrupted) => return Ok(app.store.release_renewal(lease, now).await?),
    };
    match app.store.end_renewal(lease, &entry, renewed.as_ref()).await {
        Ok(()) => {
            let said = &entry.message;
            tracing::info!(%site_id, status = ?entry.status, "renewal of {domain} ended: {said}");
            Ok(())
        }
        Err(StoreError::Gone | StoreError::Fenced) => {
            tracing::info!(%site_id, "renewal of {domain} has another owner, or its site is gone");
            Ok(())
        }
        Err(cause) => Err(cause.into()),
    }
}

async fn obtain(
    app: &App,
    lease: &RenewalLease,
    site: &Site,
    shutdown: &CancellationToken,
) -> Result<RenewedCertificate, Ended> {
    if lease.epoch > MOST_OWNERS {
        let reason = "it was interrupted by a restart more than once; begin it again";
        return Err(Ended::Failed(reason.to_owned()));
    }
    let unset = |invalid: vedette_model::Invalid| Ended::Failed(invalid.to_string());
    deployable(site).map_err(unset)?;
    let provider = Rfc2136::of(site).map_err(unset)?;
    let mut proof = Proof::new(app, &provider, &site.domain);
    let ended = tokio::select! {
        ended = tokio::time::timeout(LONGEST, acme::obtain(app, site, &mut proof)) => {
            match ended {
                Ok(ended) => ended.map_err(Ended::Failed),
                Err(_) => Err(Ended::Failed("it took longer than 5 minutes".to_owned())),
            }
        }
        () = shutdown.cancelled() => Err(Ended::Interrupted),
    };
    if let Err(reason) = proof.withdraw().await {
        let domain = &site.domain;
        tracing::warn!(
            site_id = %site.id, "the proof of {domain} could not be removed from its zone: {reason}"
        );
    }
    ended
}

/// The first, and one more after an interruption.
const MOST_OWNERS: u64 = 2;
const LONGEST: Duration = Duration::from_secs(5 * 60);
