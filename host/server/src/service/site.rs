//! Sites: created, listed, changed and deleted.
//!
//! *Invariant:* what a site points at and what its checks are configured with was judged by the
//! egress policy and the plugins before it is stored; it is judged again whenever it is used.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use serde_json::Value;
use vedette_model::{
    AccountId, CheckType, DomainName, Edition, NewSite, Patch, Plan, Site, SiteId, SitePatch,
    Timestamp,
    parse::{self, Body},
    site::monitored,
};
use vedette_sandbox::{
    PluginError, ValidateError,
    egress::{Audience, Refusal},
};
use vedette_store::{Error as StoreError, Runs, Stamp};

use super::{due, plan, random, status_page, unanswered};
use crate::{App, Caller, Error, Resource, Result};

/// The caller's sites, oldest first, each with `monitoring_enabled` as it is in effect: over the
/// plan's limit only the oldest are checked. With where the account stood when they were read.
pub async fn list(app: &App, caller: &Caller) -> Result<(Stamp, Vec<Site>)> {
    let plan = plan::of(&caller.account)?;
    let (stamp, sites) = app.store.listed_sites(caller.account.id).await?;
    Ok((stamp, in_effect(sites, plan)))
}

/// Registers a site; its checks run for the first time right away.
///
/// # Errors
/// `Invalid` for a bad field or a site that already exists, `Forbidden` when the plan's sites are
/// used up.
pub async fn create(app: &App, caller: &Caller, body: &Value) -> Result<Site> {
    let mut new = NewSite::parse(body, &app.sandbox.check_types())?;
    let plan = plan::of(&caller.account)?;
    vet_domain(app, &new.domain)?;
    judge(app, &new.domain, &mut new.rest, &BTreeMap::new()).await?;
    let now = app.clock.now();
    let site = new.into_site(random::id(), caller.account.id, now);
    let due = first_runs(&site, now);
    match app.store.create_site(&site, plan.sites, &due).await {
        Ok(()) => {}
        Err(StoreError::SiteLimit) => return Err(used_up(caller.edition, plan)),
        Err(StoreError::Duplicate) => return Err(duplicate("domain")),
        Err(cause) => return Err(cause.into()),
    }
    status_page::forget(app, caller.account.id);
    app.wake.schedule.notify_one();
    Ok(site)
}

/// Changes what the body names. Checks that are new to the site run right away; with those that it
/// no longer lists, the alerts end that they would have resolved themselves.
///
/// # Errors
/// `NotFound` for a site that is not the caller's, `Invalid` for a bad field.
pub async fn update(app: &App, caller: &Caller, id: SiteId, body: &Value) -> Result<Site> {
    let before = read(app, caller, id).await?;
    change(app, caller, before, body, None).await
}

/// The same, where the body may name another `domain` too (spec: MCP, `update_site`).
///
/// # Errors
/// As [`update`] has them.
pub async fn update_and_move(app: &App, caller: &Caller, id: SiteId, body: &Value) -> Result<Site> {
    let before = read(app, caller, id).await?;
    let domain = Body::of(body)?
        .optional("domain", |field, value| DomainName::parse(parse::text(field, value)?))?;
    if let Some(domain) = &domain {
        vet_domain(app, domain)?;
    }
    change(app, caller, before, body, domain).await
}

async fn read(app: &App, caller: &Caller, id: SiteId) -> Result<Site> {
    app.store.site(caller.account.id, id).await?.ok_or(UNKNOWN)
}

async fn change(
    app: &App,
    caller: &Caller,
    before: Site,
    body: &Value,
    domain: Option<DomainName>,
) -> Result<Site> {
    let (account, id) = (caller.account.id, before.id);
    let plan = plan::of(&caller.account)?;
    let mut patch = SitePatch::parse(body, &nameable(app, &before))?;
    let target = domain.as_ref().unwrap_or(&before.domain);
    judge(app, target, &mut patch, &before.check_config).await?;
    let now = app.clock.now();
    let change = |site: &mut Site| {
        let before = site.clone();
        patch.clone().apply(site);
        if let Some(domain) = &domain {
            site.domain = domain.clone();
        }
        let moved = moved(app, &before, site);
        let dropped = before.dropped(site).into_iter().map(|check_type| (check_type, now));
        Runs {
            due: first_runs(site, now),
            anew: changed(&before, site),
            plugins: plugins(app, &moved),
            moved,
            dropped: dropped.collect(),
        }
    };
    match app.store.update_site(account, id, change).await {
        Ok(Some(_)) => {}
        Ok(None) => return Err(UNKNOWN),
        Err(StoreError::Duplicate) => {
            let field = match &domain {
                Some(_) => "domain",
                None if body.get("custom_port").is_some() => "custom_port",
                None => "origin_ip",
            };
            return Err(duplicate(field));
        }
        Err(cause) => return Err(cause.into()),
    }
    status_page::forget(app, account);
    app.streams.announce(account);
    app.wake.schedule.notify_one();
    // Whether it is monitored in effect depends on the account's other sites.
    let sites = in_effect(app.store.listed_sites(account).await?.1, plan);
    sites.into_iter().find(|site| site.id == id).ok_or(UNKNOWN)
}

/// Removes a site with all its data: at once for everybody who asks, the rows soon after. A site
/// that was over the plan's limit and now is not is checked at once.
pub async fn delete(app: &App, caller: &Caller, id: SiteId) -> Result<()> {
    let account = caller.account.id;
    let plan = plan::of(&caller.account)?;
    let before = app.store.listed_sites(account).await?.1;
    if !app.store.delete_site(account, id).await? {
        return Err(UNKNOWN);
    }
    status_page::forget(app, account);
    app.wake.purge.notify_one();
    resume(app, account, Standing { sites: Some(&before), plan }, plan).await;
    Ok(())
}

/// The state of an account before something changed.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
    /// Oldest first; none where they are as they were.
    pub(super) sites: Option<&'a [Site]>,
    pub(super) plan: &'a Plan,
}

/// Makes the checks run at once that a change of the plan or of the sites adds. The change stands
/// even if that fails: then they run when they are due.
pub(super) async fn resume(app: &App, account: AccountId, before: Standing<'_>, plan: &Plan) {
    let hastened = async {
        let sites = app.store.listed_sites(account).await?.1;
        let was = monitored(before.sites.unwrap_or(&sites), before.plan);
        let is = monitored(&sites, plan);
        let interval = |check_type: &CheckType, plan: &Plan| due::interval(app, check_type, plan);
        let more_often = |check: &CheckType| interval(check, plan) < interval(check, before.plan);
        let checks = resumed(was, is, &app.sandbox.check_types(), more_often);
        app.store.run_at_once(&checks, app.clock.now()).await
    };
    match hastened.await {
        Ok(()) => app.wake.schedule.notify_one(),
        Err(cause) => tracing::warn!(
            account_id = %account,
            "checks of account {account} wait for their turn: {cause}"
        ),
    }
}

/// Of the sites that are watched now: all checks of those that were not before, and of the others
/// the checks that run more often now.
fn resumed<'a>(
    was: impl Iterator<Item = (&'a Site, bool)>,
    is: impl Iterator<Item = (&'a Site, bool)>,
    installed: &[CheckType],
    more_often: impl Fn(&CheckType) -> bool,
) -> Vec<(SiteId, CheckType)> {
    let watched = |(site, watched): (&Site, bool)| watched.then_some(site.id);
    let before: BTreeSet<SiteId> = was.filter_map(watched).collect();
    is.filter(|(_, watched)| *watched)
        .flat_map(|(site, _)| {
            let mut checks = site.scheduled(installed);
            checks.retain(|check| !before.contains(&site.id) || more_often(check));
            checks.into_iter().map(move |check_type| (site.id, check_type))
        })
        .collect()
}

/// The check types that a change of a site may name: those installed, and those that it already
/// has, whose plugins may have been removed for a while.
fn nameable(app: &App, site: &Site) -> Vec<CheckType> {
    let mut known = app.sandbox.check_types();
    known.extend(site.check_types.iter().chain(site.check_config.keys()).cloned());
    known
}

/// Has the policy judge the address, and the plugins their configurations, which are stored as
/// the plugins normalise them. What the site `had` may stay while its plugin is not there.
async fn judge(
    app: &App,
    domain: &DomainName,
    patch: &mut SitePatch,
    had: &BTreeMap<CheckType, Value>,
) -> Result<()> {
    let policy = app.sandbox.egress().policy();
    // Nobody is reached at an address meant for examples: it may be stored, like a name that leads
    // there, and the checks say that it is blocked.
    if let Some(address) = patch.origin_ip.value()
        && !policy.leads_nowhere(*address, Audience::Authenticated)
    {
        vet_origin(app, *address)?;
    }
    let Patch::Set(configs) = &mut patch.check_config else { return Ok(()) };
    for (check_type, config) in configs {
        *config = match app.sandbox.validate(check_type, domain.as_str(), config).await {
            Ok(normalised) => normalised,
            Err(ValidateError::Problems(problems)) => {
                return Err(unanswered::misfit(check_type, &problems));
            }
            Err(ValidateError::Unavailable(PluginError::NotInstalled))
                if had.get(check_type) == Some(&*config) =>
            {
                config.clone()
            }
            Err(ValidateError::Unavailable(PluginError::NotInstalled)) => {
                let field = format!("check_config/{check_type}");
                return Err(Error::invalid(field, "cannot be set: the check is not installed"));
            }
            Err(ValidateError::Unavailable(cause)) => return Err(cause.into()),
        };
    }
    Ok(())
}

fn vet_domain(app: &App, domain: &DomainName) -> Result<()> {
    let policy = app.sandbox.egress().policy();
    policy.vet_name(domain, Audience::Authenticated).map_err(|refusal| refused("domain", &refusal))
}

/// Refuses an `origin_ip` that no check of an account may be pointed at.
pub(crate) fn vet_origin(app: &App, address: IpAddr) -> Result<()> {
    let policy = app.sandbox.egress().policy();
    policy
        .vet_address(address, Audience::Authenticated)
        .map_err(|refusal| refused("origin_ip", &refusal))
}

/// Every check of a monitored site, due now. Also those without a plugin so far: nobody leases them
/// until they have one, and then no migration is needed.
fn first_runs(site: &Site, now: Timestamp) -> Vec<(CheckType, Timestamp)> {
    let checks = site.scheduled(&site.checks());
    checks.into_iter().map(|check_type| (check_type, now)).collect()
}

/// The checks that probe something else now, or are judged by another threshold: they run at once,
/// and what they were about to find about the site as it was no longer counts.
fn changed(before: &Site, after: &Site) -> Vec<CheckType> {
    let moved = before.domain != after.domain
        || before.custom_port != after.custom_port
        || before.origin_ip != after.origin_ip;
    let threshold = before.alert_days != after.alert_days;
    let mut checks = after.checks();
    checks.retain(|check_type| {
        moved
            || (threshold && !check_type.is_uptime())
            || before.config_of(check_type) != after.config_of(check_type)
    });
    checks
}

/// The checks that connect elsewhere now, also those that the site does not list: what they
/// remember is of another host, with a certificate of its own. Checks that ask others about the domain
/// ask the same as before, as long as the domain stays: where it is changed the store begins all checks
/// anew. `uptime` goes on: a service that was down and has moved is up again.
fn moved(app: &App, before: &Site, after: &Site) -> Vec<CheckType> {
    let mut checks = app.sandbox.check_types();
    let is_elsewhere = before.endpoint() != after.endpoint();
    let is_of_a_host =
        |check_type: &CheckType| app.sandbox.reaches_target(check_type) && !check_type.is_uptime();
    checks.retain(|check_type| is_elsewhere && is_of_a_host(check_type));
    checks
}

/// Whose these checks are.
fn plugins(app: &App, checks: &[CheckType]) -> Vec<String> {
    let installed = checks.iter().filter_map(|check_type| app.sandbox.check(check_type));
    installed.map(|check| check.id.clone()).collect()
}

/// Which sites of an account are monitored in effect, and the plan that bounds them; none of an account
/// that is gone.
pub(crate) async fn watched(
    app: &App,
    account: AccountId,
) -> Result<Option<(BTreeSet<SiteId>, &'static Plan)>> {
    let Some(found) = app.store.account(account).await? else { return Ok(None) };
    let (plan, sites) = (plan::of(&found)?, app.store.listed_sites(account).await?.1);
    let watched = monitored(&sites, plan).filter(|(_, watched)| *watched);
    Ok(Some((watched.map(|(site, _)| site.id).collect(), plan)))
}

fn in_effect(mut sites: Vec<Site>, plan: &Plan) -> Vec<Site> {
    let watched: Vec<bool> = monitored(&sites, plan).map(|(_, watched)| watched).collect();
    for (site, watched) in sites.iter_mut().zip(watched) {
        site.monitoring_enabled = watched;
    }
    sites
}

fn used_up(edition: &Edition, plan: &Plan) -> Error {
    plan::used_up(edition, plan, "site", |plan| plan.sites)
}

fn duplicate(field: &'static str) -> Error {
    let reason = match field {
        // Not to be mended by another port: mostly it was added before.
        "domain" => {
            "is a site already, with this custom_port and origin_ip: the list of sites has it"
        }
        _ => {
            "makes it the same as another site: domain, custom_port and origin_ip together must differ"
        }
    };
    Error::invalid(field, reason)
}

fn refused(field: &'static str, refusal: &Refusal) -> Error {
    Error::invalid(field, format!("is refused: {refusal}"))
}

const UNKNOWN: Error = Error::NotFound(Resource::Site);

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;
    use vedette_model::edition::STANDARD;

    use super::*;

    fn sites(count: u128) -> Vec<Site> {
        let now = Timestamp::from_timestamp(1_790_000_000, 0).expect("within the years");
        let new = NewSite::parse(&json!({ "domain": "example.com" }), &[]).expect("a site");
        (0..count)
            .map(|nth| {
                new.clone().into_site(SiteId(Uuid::from_u128(nth)), AccountId(Uuid::nil()), now)
            })
            .collect()
    }

    fn installed() -> [CheckType; 2] {
        ["ssl", "uptime"].map(|name| name.parse().expect("the name of a check"))
    }

    #[test]
    fn after_a_downgrade_the_oldest_sites_stay_monitored() {
        let shown = in_effect(sites(4), STANDARD.lowest_plan());
        let enabled: Vec<bool> = shown.iter().map(|site| site.monitoring_enabled).collect();
        assert_eq!(enabled, [true, true, false, false]);
    }

    #[test]
    fn sites_that_come_within_the_limit_are_checked_at_once() {
        let installed = installed();
        let free = STANDARD.lowest_plan();
        let before = sites(4);
        let due_without = |after: &[Site]| {
            resumed(monitored(&before, free), monitored(after, free), &installed, |_| false)
        };
        let third = before[2].id;
        let expected = installed.clone().map(|check_type| (third, check_type));
        assert_eq!(due_without(&before[1..]), expected, "without the first");
        assert!(due_without(&before[..3]).is_empty(), "without the last");
    }

    #[test]
    fn what_a_plan_runs_more_often_is_checked_at_once() {
        let installed = installed();
        let sites = sites(3);
        let was = monitored(&sites, STANDARD.lowest_plan());
        let is = monitored(&sites, STANDARD.highest_plan());
        let due = resumed(was, is, &installed, |check_type| check_type.is_uptime());
        let due: Vec<(SiteId, &str)> = due.iter().map(|(site, it)| (*site, it.as_str())).collect();
        let [first, second, third] = [sites[0].id, sites[1].id, sites[2].id];
        let expected = [(first, "uptime"), (second, "uptime"), (third, "ssl"), (third, "uptime")];
        assert_eq!(due, expected);
    }

    #[test]
    fn full_plan_names_the_plan_with_more_sites() {
        let said = used_up(&STANDARD, STANDARD.lowest_plan()).to_string();
        assert_eq!(said, "the free plan has 2 sites, and all are in use; the starter plan has 10");
        assert!(used_up(&STANDARD, STANDARD.highest_plan()).to_string().contains("delete one"));
    }
}
