//! Accounts: made by the operator, listed, and moved from one plan to another.

use vedette_model::{
    Account, AccountId, ApiKey, Edition, Plan, Role, Timestamp, api_key::shown_prefix, email,
};

use super::{
    api_key::{hash, mint},
    plan, random, site, status_page,
};
use crate::{App, Error, Resource, Result};

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

/// Moves an account to another plan of its edition. What exceeds the new plan stays but is not
/// used: channels are silent, the newest sites are not checked. What the plan adds is there at
/// once.
///
/// # Errors
/// `NotFound` when there is no such account, `Invalid` for a plan that its edition does not have.
pub async fn change_plan(app: &App, id: AccountId, plan: &str) -> Result<()> {
    const NOBODY: Error = Error::NotFound(Resource::Account);
    let account = app.store.account(id).await?.ok_or(NOBODY)?;
    let edition = plan::edition_of(&account)?;
    let plan = edition.plan(plan).ok_or_else(|| one_of("plan", &plans(edition)))?;
    if !app.store.set_plan(id, plan.id).await? {
        return Err(NOBODY);
    }
    moved(app, &account, plan).await;
    Ok(())
}

/// Gives an account another address: of an owner whose own has changed, who cannot accept invitations
/// to the new one until then, and whose mail goes to the old one.
///
/// # Errors
/// `NotFound` when there is no such account.
pub async fn change_email(app: &App, id: AccountId, address: &str) -> Result<()> {
    if !app.store.set_email(id, address).await? {
        return Err(Error::NotFound(Resource::Account));
    }
    tracing::info!(account_id = %id, "account {id} has another address");
    Ok(())
}

/// What follows once another plan of an account is stored, whoever set it. `account` is as it was
/// before.
pub(super) async fn moved(app: &App, account: &Account, to: &Plan) {
    let (id, name) = (account.id, to.id);
    app.limits.recent.forget(id);
    status_page::moved(app, id).await;
    tracing::info!(account_id = %id, plan = name, "account {id} was moved to the plan {name}");
    // An account of a plan that no edition has was not watched at all.
    if let Ok(before) = plan::of(account) {
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
    // Another node may have been faster: then the key that it shows is the only one.
    let is_first = app.store.create_first_account(&created.account, &key).await?;
    Ok(is_first.then(|| announced(created)))
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
