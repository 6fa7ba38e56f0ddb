//! The status page's own domain: whose it is, by a TXT record that only its owner can make.
//!
//! ```text
//! settings name it → a claim, like anybody's → the TXT record names the account → it is held
//!         held ── looked at again after an hour ──► the record is gone → a claim again
//! ```
//!
//! A claim keeps nobody out. While nobody holds a domain, the page of the first account that names
//! it and has one is shown there; the service keeps every other path, since the domain may be its
//! own. The holder of a domain keeps it while the record is there; a new owner removes the previous
//! account's record.
//!
//! *Invariant:* a domain whose DNS names an account shows the page of no other.
//! *Invariant:* a claim takes the page of nobody who claimed before off a domain.
//! *Invariant:* our own trouble with the DNS takes no domain from anybody.
//! *Invariant:* one domain costs at most one DNS question a minute, apart from its owner's own
//! changes, and a request waits at most 5 s for it.
//! *Invariant:* whose page a host shows is looked up as often as the page itself is rewritten.

mod holder;

use std::{hash::Hash, sync::Arc, time::Duration};

use moka::future::Cache;
use serde::Serialize;
use vedette_model::{
    AccountId, DomainName, Feature, NotificationSettings,
    status_page::domain::{of_host, proof_name, proof_value},
};
use vedette_sandbox::egress::Audience;

use self::holder::{Proofs, standing, token};
use super::FRESH;
use crate::{App, Error, Result, service::plan};

/// What this process remembers of domains, for a minute at most and bounded.
pub(crate) struct Domains {
    /// Whose page a host shows; none for hosts that are nobody's. At most as old as a page: another
    /// node may since have moved an account to another plan, or changed its settings.
    hosts: Cache<String, Option<Shown>>,
    /// The hosts that were somebody's page and nothing else when last looked at.
    pages: Cache<String, ()>,
    proofs: Cache<String, Proofs>,
    /// The names of pages, which stay as they are.
    slugs: Cache<AccountId, String>,
}

/// Whose page a host shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) account: AccountId,
    /// Whether the DNS names the account. Only then is the host the page's alone.
    pub(crate) proved: bool,
}

/// How the settings show the proof of their domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Verification {
    /// Where to put the TXT record.
    name: String,
    /// What the record has to say.
    value: String,
    verified: bool,
}

impl Default for Domains {
    fn default() -> Self {
        Self {
            hosts: remembering(MOST_HOSTS, FRESH),
            pages: remembering(MOST_HOSTS, MEMORY),
            proofs: remembering(MOST_PROOFS, MEMORY),
            slugs: remembering(MOST_PROOFS, MEMORY),
        }
    }
}

/// Whose status page is shown on a host, if the host is the domain of one.
pub(crate) async fn shown_at(app: &App, host: &str) -> Result<Option<Shown>> {
    let Some(domain) = of_others(app, host).map(String::from) else { return Ok(None) };
    let found = app.domains.hosts.try_get_with(domain.clone(), look(app, &domain)).await;
    // All that waited for the same look share its error.
    found.map_err(|cause: Arc<Error>| Error::Internal(anyhow::Error::new(cause)))
}

/// Whether a host is somebody's page and nothing else, as far as this process remembers: for a minute
/// after the last look at it.
pub(crate) async fn is_known(app: &App, host: &str) -> bool {
    let Some(domain) = of_others(app, host) else { return false };
    app.domains.pages.get(domain.as_str()).await.is_some()
}

/// Whether a host is no page's, as far as this process remembers: one that it has not looked at may
/// be one.
pub(crate) async fn is_nobodys(app: &App, host: &str) -> bool {
    let Some(domain) = of_others(app, host) else { return true };
    app.domains.hosts.get(domain.as_str()).await == Some(None)
}

/// The name of an account's page in its address; none while it has no page.
pub(crate) async fn slug_of(app: &App, account: AccountId) -> Result<Option<String>> {
    if let Some(slug) = app.domains.slugs.get(&account).await {
        return Ok(Some(slug));
    }
    let slug = app.store.settings(account).await?.status_page_slug;
    let slug = slug.map(|slug| slug.as_str().to_owned());
    if let Some(slug) = &slug {
        app.domains.slugs.insert(account, slug.clone()).await;
    }
    Ok(slug)
}

/// The proof that the settings' domain needs, and whether it is there; none without a domain.
pub(crate) async fn verification(
    app: &App,
    account: AccountId,
    settings: &NotificationSettings,
) -> Result<Option<Verification>> {
    let Some(domain) = &settings.status_page_custom_domain else { return Ok(None) };
    let verified = standing(app, domain, Some(account), PROOF_LASTS).await? == Some(account);
    let remembered = app.domains.hosts.get(domain).await;
    if verified && remembered.is_some_and(|shown| shown.is_none_or(|shown| !shown.proved)) {
        app.domains.hosts.invalidate(domain).await;
    }
    let value = proof_value(&token(account, domain));
    Ok(Some(Verification { name: proof_name(domain), value, verified }))
}

/// Judges the domain that settings are to name, before they do: our own names are refused, those
/// that the egress policy refuses, and one that somebody else has proved and goes on proving.
pub(crate) async fn judge(
    app: &App,
    account: AccountId,
    next: &NotificationSettings,
) -> Result<()> {
    let Some(domain) = &next.status_page_custom_domain else { return Ok(()) };
    if is_own(app, domain) {
        return Err(Error::invalid(FIELD, "is a name of this service itself"));
    }
    let name =
        DomainName::parse(domain).map_err(|invalid| Error::invalid(FIELD, invalid.reason))?;
    let policy = app.sandbox.egress().policy();
    policy
        .vet_name(&name, Audience::Authenticated)
        .map_err(|_| Error::invalid(FIELD, "must be a public DNS name"))?;
    // Its owner asks: what we remember may be from before the record was changed.
    app.domains.forget(domain).await;
    match standing(app, domain, None, Duration::ZERO).await? {
        Some(holder) if holder != account => Err(taken()),
        Some(_) | None => Ok(()),
    }
}

/// After settings were changed: what we remember of both domains is out of date.
pub(crate) async fn changed(app: &App, was: &NotificationSettings, now: &NotificationSettings) {
    for settings in [was, now] {
        if let Some(domain) = &settings.status_page_custom_domain {
            app.domains.hosts.invalidate(domain).await;
        }
    }
}

/// After an account was moved to another plan, with domains or without. If its settings cannot be
/// read the move still stands, and its domain follows when it is looked at again.
pub(super) async fn moved(app: &App, account: AccountId) {
    match app.store.settings(account).await {
        Ok(settings) => {
            if let Some(domain) = &settings.status_page_custom_domain {
                app.domains.hosts.invalidate(domain).await;
            }
        }
        Err(cause) => tracing::warn!(
            account_id = %account,
            "the status page domain of account {account} follows its new plan only later: {cause}"
        ),
    }
}

/// After an account was deleted that had these settings.
pub(super) async fn closed(app: &App, account: AccountId, was: &NotificationSettings) {
    app.domains.slugs.invalidate(&account).await;
    if let Some(domain) = &was.status_page_custom_domain {
        app.domains.forget(domain).await;
    }
}

/// The answer to an account that names somebody else's domain.
pub(crate) fn taken() -> Error {
    Error::invalid(
        FIELD,
        "is taken by another account; if the domain is yours, remove the TXT record that names \
         the other account and try again",
    )
}

impl Domains {
    async fn forget(&self, domain: &str) {
        self.hosts.invalidate(domain).await;
        self.proofs.invalidate(domain).await;
    }
}

/// Finds out whose page a domain shows, and notes whether it is that and nothing else.
async fn look(app: &App, domain: &str) -> Result<Option<Shown>> {
    let shown = shown_on(app, domain).await?;
    if shown.is_some_and(|shown| shown.proved) {
        app.domains.pages.insert(domain.to_owned(), ()).await;
    } else {
        app.domains.pages.invalidate(domain).await;
    }
    Ok(shown)
}

/// Whose page a domain shows: its holder's, else that of the first account that names it and has a
/// page, as long as the plan includes it.
async fn shown_on(app: &App, domain: &str) -> Result<Option<Shown>> {
    if let Some(holder) = standing(app, domain, None, PROOF_LASTS).await? {
        let shown = Shown { account: holder, proved: true };
        return Ok(is_entitled(app, holder).await?.then_some(shown));
    }
    for account in app.store.status_page_claimants(domain, MOST_TRIED).await? {
        let enabled = app.store.settings(account).await?.status_page_enabled;
        if enabled && is_entitled(app, account).await? {
            return Ok(Some(Shown { account, proved: false }));
        }
    }
    Ok(None)
}

/// Whether an account is there, on a plan with custom domains.
async fn is_entitled(app: &App, account: AccountId) -> Result<bool> {
    let Some(account) = app.store.account(account).await? else { return Ok(false) };
    Ok(plan::of(&account)?.includes(Feature::StatusPageStyle))
}

/// The domain that a request's `Host` names; none if it is not a name, or our own.
fn of_others(app: &App, host: &str) -> Option<DomainName> {
    // Most requests are for our own name: it is known before anything is read out of it.
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if is_own(app, name) {
        return None;
    }
    of_host(host).filter(|domain| !is_own(app, domain.as_str()))
}

/// Whether a domain is where the service itself is reached.
fn is_own(app: &App, domain: &str) -> bool {
    let own = app.config.public_url.as_ref().and_then(|url| url.host_str());
    own.is_some_and(|own| own.trim_end_matches('.').eq_ignore_ascii_case(domain))
}

fn remembering<K, V>(most: u64, lasts: Duration) -> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    Cache::builder().max_capacity(most).time_to_live(lasts).build()
}

const FIELD: &str = "status_page_custom_domain";
const PROOF_LASTS: Duration = Duration::from_secs(60 * 60);
const MEMORY: Duration = Duration::from_secs(60);
/// Later ones have to prove the domain.
const MOST_TRIED: u32 = 8;
const MOST_HOSTS: u64 = 16_384;
const MOST_PROOFS: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_page_a_host_shows_is_remembered_no_longer_than_the_page() {
        assert_eq!(Domains::default().hosts.policy().time_to_live(), Some(FRESH));
    }
}
