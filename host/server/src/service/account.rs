//! Accounts: made by the operator or a first session, recognised by their credentials.
//!
//! *Invariant:* a credential that cannot be one of our keys, or that the issuer has not signed,
//! costs no look into the database.
//! *Invariant:* a deleted, rolled or expired key is refused from the next request on, on every
//! node: what the store answers from memory holds only while the account stands at its stamp,
//! which each request compares when it is counted.

use std::{net::IpAddr, sync::Arc};

use anyhow::Context;
use chrono::TimeDelta;
use vedette_model::{
    Account, AccountId, ApiKey, Edition, Feature, Plan, Role, Timestamp,
    api_key::{shown_prefix, well_formed},
    email,
    session::looks_like_one,
};
use vedette_store::{Error as StoreError, Found, Person};

use super::{
    api_key::{hash, mint},
    random, session, site, status_page,
};
use crate::{App, Caller, Error, Result};

/// An account and the key that was made with it: the only time that the key is shown.
#[derive(Clone)]
pub struct CreatedAccount {
    pub account: Account,
    pub key: String,
}

/// Makes an account and its first key, which is listed and counts like any other.
///
/// # Errors
/// `Invalid` for an address that is none, an edition that is not served (its key would open
/// nothing), or a plan that it does not have.
pub async fn create(app: &App, address: &str, plan: &str, edition: &str) -> Result<CreatedAccount> {
    let address = email::parse("email", address)?;
    let served = app.config.edition.ids();
    let edition = Edition::by_id(edition).filter(|edition| served.contains(&edition.id));
    let edition = edition.ok_or_else(|| one_of("edition", served))?;
    let plan = edition.plan(plan).ok_or_else(|| no_such_plan(edition, served))?;
    let (created, key) = drawn_up(address, plan, edition, app.clock.now());
    app.store.create_account(&created.account, &key).await?;
    Ok(announced(created))
}

/// An account and its first key as they are to be stored.
fn drawn_up(
    email: String,
    plan: &Plan,
    edition: &Edition,
    now: Timestamp,
) -> (CreatedAccount, ApiKey) {
    let account = Account {
        id: random::id(),
        email,
        full_name: None,
        edition: edition.id.to_owned(),
        plan: plan.id.to_owned(),
        created_at: now,
    };
    let secret = mint(edition);
    let key = ApiKey {
        id: random::id(),
        account_id: account.id,
        name: FIRST_KEY.to_owned(),
        prefix: shown_prefix(&secret).to_owned(),
        hash: hash(&secret),
        created_at: now,
        last_used_at: None,
        expires_at: None,
        role: Role::Owner,
        made_by: None,
    };
    (CreatedAccount { account, key: secret }, key)
}

fn announced(created: CreatedAccount) -> CreatedAccount {
    let account = &created.account;
    let (id, edition, plan) = (account.id, account.edition.as_str(), account.plan.as_str());
    tracing::info!(account_id = %id, edition, plan, "account {id} created on the plan {plan}");
    created
}

/// Accounts in the order they were made.
pub async fn list(app: &App, limit: u32, offset: u32) -> Result<Vec<Account>> {
    Ok(app.store.accounts(limit, offset).await?)
}

/// Moves an account to another plan of its edition. What it then has too much of stays and is not
/// used: channels are silent, the newest sites are not checked; what it has more of is at once.
///
/// # Errors
/// `NotFound` when there is no such account, `Invalid` for a plan that its edition does not have.
pub async fn change_plan(app: &App, id: AccountId, plan: &str) -> Result<()> {
    const NOBODY: Error = Error::NotFound("account");
    let account = app.store.account(id).await?.ok_or(NOBODY)?;
    let edition = edition(&account)?;
    let plan = edition.plan(plan).ok_or_else(|| one_of("plan", &plans(edition)))?;
    if !app.store.set_plan(id, plan.id).await? {
        return Err(NOBODY);
    }
    moved(app, &account, plan).await;
    Ok(())
}

/// What follows once another plan of an account is stored, whoever it was that set it. The account
/// is as it was before.
pub(super) async fn moved(app: &App, account: &Account, to: &Plan) {
    let (id, name) = (account.id, to.id);
    app.limits.recent.forget(id);
    status_page::forget(app, id);
    tracing::info!(account_id = %id, plan = name, "account {id} was moved to the plan {name}");
    // An account of a plan that no edition has was not watched at all.
    if let Ok(before) = plan(account) {
        site::resume(app, id, site::Standing { sites: None, plan: before }, to).await;
    }
}

/// On an empty database one account with the edition's highest plan; none on any other.
pub async fn first_account(app: &App, edition: &Edition) -> Result<Option<CreatedAccount>> {
    if app.store.any_account().await? {
        return Ok(None);
    }
    let address = email::parse("email", FIRST_ADDRESS)?;
    let (created, key) = drawn_up(address, edition.highest_plan(), edition, app.clock.now());
    // Another node may have been faster: the key that it shows is the only one.
    let is_first = app.store.create_first_account(&created.account, &key).await?;
    Ok(is_first.then(|| announced(created)))
}

/// What a request shows of who makes it.
#[derive(Clone, Copy, Debug)]
pub struct Credential<'a> {
    /// What stands behind `Authorization: Bearer`.
    pub bearer: &'a str,
    /// For which account somebody in a team acts: none = the team's.
    pub account: Option<AccountId>,
    /// Where it comes from; none where it is looked at again, and nobody new is let in.
    pub address: Option<IpAddr>,
}

/// Whose request this is. A session is one of the edition that was `asked`; a key is one of its
/// own, which its prefix names.
///
/// # Errors
/// `Unauthenticated` for everything that is neither a living key nor a session token that holds,
/// `NotFound` for an account that is not theirs to act for.
pub async fn authenticate(
    app: &App,
    asked: &'static Edition,
    credential: Credential<'_>,
) -> Result<Caller> {
    let Credential { bearer, account: wanted, address } = credential;
    if looks_like_one(bearer) {
        // Who names an account had one: if it is gone, no other is made in its place.
        let newcomer = address.filter(|_| wanted.is_none());
        let person = session::authenticate(app, asked, bearer, newcomer).await?;
        return caller(&person, None, asked, wanted);
    }
    let edition =
        Edition::all().into_iter().find(|edition| well_formed(bearer, edition.key_prefix));
    let edition = edition.ok_or_else(invalid_key)?;
    let now = app.clock.now();
    let hash = hash(bearer);
    let mut found = app.store.caller(&hash).await?;
    // Whoever is refused here makes no call, and so does not find out by it that what is remembered is
    // over: another node may have extended the key, or they may be in the team by now.
    if found
        .as_ref()
        .is_some_and(|found| found.key.expired(now) || !may_act_for(found, edition, wanted))
    {
        found = app.store.caller_anew(&hash).await?;
    }
    let found = found.ok_or_else(invalid_key)?;
    let Found { key, person } = &*found;
    let account = &person.account;
    // The prefix said which edition's key this is; the account must agree.
    if account.edition != edition.id {
        return Err(invalid_key());
    }
    if key.expired(now) {
        return Err(Error::Unauthenticated("the API key has expired; extend its expiry".into()));
    }
    if touch_is_due(key.last_used_at, now) {
        match app.store.touch_api_key(account.id, key, now).await {
            // Who lost to others lost to requests of the same moment: it is noted.
            Ok(()) | Err(StoreError::Conflict) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    caller(person, Some(key), edition, wanted)
}

/// Whether a key leads to the account that is named, if one is.
fn may_act_for(found: &Found, edition: &'static Edition, wanted: Option<AccountId>) -> bool {
    wanted.is_none() || caller(&found.person, Some(&found.key), edition, wanted).is_ok()
}

/// Somebody, and the account that they act for: their own, or that of the team they are in while
/// its plan has teams. A key with a lesser role is not theirs but that of somebody who was in their
/// team: it leads to their account and no further.
fn caller(
    person: &Person,
    key: Option<&ApiKey>,
    edition: &'static Edition,
    wanted: Option<AccountId>,
) -> Result<Caller> {
    let own = key.map_or(Role::Owner, |key| key.role);
    let team = person.team.as_ref().filter(|team| {
        own == Role::Owner
            && wanted.is_none_or(|wanted| wanted == team.account.id)
            && plan(&team.account).is_ok_and(|plan| plan.includes(Feature::Team))
    });
    let (account, stamp, role, maker) = match team {
        Some(team) => (&team.account, team.stamp, team.role, Some(person.account.id)),
        None if wanted.is_none_or(|wanted| wanted == person.account.id) => {
            (&person.account, person.stamp, own, key.and_then(|key| key.made_by))
        }
        None => return Err(Error::NotFound("account")),
    };
    Ok(Caller {
        account: Arc::clone(account),
        user: Arc::clone(&person.account),
        role,
        maker,
        edition,
        stamp,
    })
}

/// Has the next look at a credential go to the store.
pub fn forget(app: &App, bearer: &str) {
    app.store.forget_caller(&hash(bearer));
}

/// The plan that bounds an account.
pub(crate) fn plan(account: &Account) -> Result<&'static Plan> {
    Ok(edition(account)?.plan(&account.plan).with_context(|| {
        let Account { id, plan, edition, .. } = account;
        format!("account {id} is on the plan {plan} of the edition {edition}: no such plan")
    })?)
}

/// The plan of an account, where it includes a feature.
///
/// # Errors
/// `Forbidden`; names the plan that has it.
pub(crate) fn included(
    account: &Account,
    edition: &Edition,
    feature: Feature,
) -> Result<&'static Plan> {
    let plan = plan(account)?;
    if plan.includes(feature) { Ok(plan) } else { Err(lacking(edition, plan, feature)) }
}

/// What a plan answers to whoever asks for a feature that it lacks.
pub(super) fn lacking(edition: &Edition, plan: &Plan, feature: Feature) -> Error {
    let lacks = format!("the {} plan does not include {}", plan.id, feature.noun());
    Error::forbidden(match edition.lowest_plan_with(feature) {
        Some(other) => format!("{lacks}; the {} plan does", other.id),
        None => lacks,
    })
}

/// What a plan answers to whoever has as many of a thing as it counts; names a plan with more.
pub(super) fn used_up(
    edition: &Edition,
    plan: &Plan,
    thing: &str,
    count: fn(&Plan) -> u32,
) -> Error {
    let have = match count(plan) {
        1 => format!("the {} plan has 1 {thing}, and it is in use", plan.id),
        many => format!("the {} plan has {many} {thing}s, and all are in use", plan.id),
    };
    Error::forbidden(match edition.lowest_plan_above(plan, count) {
        Some(more) => format!("{have}; the {} plan has {}", more.id, count(more)),
        None => format!("{have}; delete one first"),
    })
}

/// The edition whose tables bound an account.
pub(crate) fn edition(account: &Account) -> Result<&'static Edition> {
    let Account { id, edition, .. } = account;
    let known = Edition::by_id(edition);
    Ok(known
        .with_context(|| format!("account {id} is of the edition {edition}: no such edition"))?)
}

/// `last_used_at` tells the minute: a write for each request would cost more than it says.
fn touch_is_due(last: Option<Timestamp>, now: Timestamp) -> bool {
    last.is_none_or(|last| now - last >= TOUCH_EVERY)
}

fn invalid_key() -> Error {
    Error::Unauthenticated("the API key is not valid".into())
}

fn plans(edition: &Edition) -> Vec<&'static str> {
    edition.plans.iter().map(|plan| plan.id).collect()
}

/// Where other editions are served as well, the plan may be one of theirs.
fn no_such_plan(edition: &Edition, served: &[&str]) -> Error {
    let mut reason = format!("must be one of {}", plans(edition).join(", "));
    if served.len() > 1 {
        reason.push_str(&format!(", the plans of the edition {}", edition.id));
    }
    Error::invalid("plan", reason)
}

fn one_of(field: &'static str, names: &[&str]) -> Error {
    Error::invalid(field, format!("must be one of {}", names.join(", ")))
}

const FIRST_KEY: &str = "first key";
const FIRST_ADDRESS: &str = "admin@localhost.localdomain";
const TOUCH_EVERY: TimeDelta = TimeDelta::seconds(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_is_noted_at_first_and_then_once_a_minute() {
        let at = |seconds: i64| Timestamp::from_timestamp(1_790_000_000 + seconds, 0);
        let now = at(0).expect("within the years");
        assert!(touch_is_due(None, now));
        assert!(!touch_is_due(at(-59), now));
        assert!(touch_is_due(at(-60), now));
    }
}
