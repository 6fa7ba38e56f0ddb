//! What was seen of a site so far: the latest records, pages of all, the changes of certificates.

use std::collections::BTreeMap;

use vedette_model::{CertChange, CheckRecord, CheckType, Invalid, SiteId, parse};
use vedette_store::{CheckFilter, Page};

use super::{NO_SITE, view::shown_record};
use crate::{App, Caller, Result};

/// The latest record of each check that ever ran for the site.
pub async fn latest(
    app: &App,
    caller: &Caller,
    site: SiteId,
) -> Result<BTreeMap<CheckType, CheckRecord>> {
    let latest = app.store.latest_checks(caller.account.id, site).await?.ok_or(NO_SITE)?;
    let shown = |(check_type, record)| (check_type, shown_record(caller.edition, record));
    Ok(latest.into_iter().map(shown).collect())
}

/// What a page is asked for, from its words. Of several mistakes a bad type is reported before a
/// bad period, and that before a bad `page`.
pub(crate) fn query(
    check_type: Option<&str>,
    from: Option<&str>,
    to: Option<&str>,
    page: Result<(u32, u32), Invalid>,
) -> Result<CheckFilter> {
    let check_type = check_type.map(str::parse::<CheckType>).transpose()?;
    let period = parse::period(from, to)?;
    let (limit, offset) = page?;
    Ok(CheckFilter { check_type, from: period.from, until: period.until, limit, offset })
}

/// A page of the site's records, newest first.
pub async fn page(
    app: &App,
    caller: &Caller,
    site: SiteId,
    filter: CheckFilter,
) -> Result<Page<CheckRecord>> {
    if let Some(check_type) = &filter.check_type {
        require_known(app, caller, site, check_type).await?;
    }
    let page = app.store.checks_page(caller.account.id, site, &filter).await?.ok_or(NO_SITE)?;
    let shown = |record| shown_record(caller.edition, record);
    Ok(Page { items: page.items.into_iter().map(shown).collect(), total: page.total })
}

/// The documented types can be asked for whether a plugin for them is installed or not; any other
/// if its plugin is installed or it once ran for the site: its history stays when the plugin goes.
async fn require_known(
    app: &App,
    caller: &Caller,
    site: SiteId,
    check_type: &CheckType,
) -> Result<()> {
    if CheckType::DOCUMENTED.contains(&check_type.as_str())
        || app.sandbox.check(check_type).is_some()
    {
        return Ok(());
    }
    let seen = app.store.latest_checks(caller.account.id, site).await?.ok_or(NO_SITE)?;
    if seen.contains_key(check_type) {
        return Ok(());
    }
    let reason = "must be one of ssl, dns, domain, ct, uptime or an installed check";
    Err(Invalid::new("check_type", reason).into())
}

/// The last 50 changes of the site's certificates.
pub async fn cert_history(app: &App, caller: &Caller, site: SiteId) -> Result<Page<CertChange>> {
    app.store.cert_history(caller.account.id, site).await?.ok_or(NO_SITE)
}
