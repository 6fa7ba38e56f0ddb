//! Who makes a request, by the credential that it shows: an API key or a session.
//!
//! *Invariant:* a credential that cannot be one of our keys, or that the issuer has not signed, is
//! refused without a look into the database.
//! *Invariant:* a deleted, rolled or expired key is refused from the next request on, on every
//! node: what the store answers from memory holds only while the account stands at its stamp,
//! which each request compares when it is counted.

use std::{net::IpAddr, sync::Arc};

use chrono::TimeDelta;
use vedette_model::{
    Account, AccountId, ApiKey, Edition, Feature, Role, Timestamp,
    api_key::well_formed,
    session::{LONGEST, looks_like_one},
};
use vedette_store::{Error as StoreError, Found, Person};

use super::{api_key::hash, plan, session};
use crate::{App, Caller, Error, Resource, Result};

/// What a request shows about its caller.
#[derive(Clone, Copy, Debug)]
pub struct Credential<'a> {
    /// What follows `Authorization: Bearer`.
    pub bearer: &'a str,
    /// The account that a member of a team acts for; none = the team's.
    pub account: Option<AccountId>,
    /// The address it comes from; none when it is looked at again, and nobody new is let in.
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
    if bearer.len() > LONGEST {
        return Err(Error::Unauthenticated(TOO_LONG.into()));
    }
    if looks_like_one(bearer) {
        // A caller that names an account had one: if it is gone, no other is made in its place.
        let newcomer = address.filter(|_| wanted.is_none());
        let person = Box::pin(session::authenticate(app, asked, bearer, newcomer)).await?;
        return caller(&person, None, asked, wanted);
    }
    let edition =
        Edition::all().into_iter().find(|edition| well_formed(bearer, edition.key_prefix));
    let edition = edition.ok_or_else(invalid_key)?;
    let now = app.clock.now();
    let hash = hash(bearer);
    let mut found = app.store.caller(&hash).await?;
    // A caller who is refused here makes no call, and so could not learn that what we remember is
    // out of date: another node may have extended the key, or they may be in the team by now.
    if found
        .as_ref()
        .is_some_and(|found| found.key.expired(now) || !may_act_for(found, edition, wanted))
    {
        found = Box::pin(app.store.caller_anew(&hash)).await?;
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
        match Box::pin(app.store.touch_api_key(account.id, key, now)).await {
            // A write that lost did so to requests of the same moment: it is noted already.
            Ok(()) | Err(StoreError::Conflict) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    caller(person, Some(key), edition, wanted)
}

/// Whether a key leads to the account that is named, if one is, or to the one whose team its maker
/// is in.
fn may_act_for(found: &Found, edition: &'static Edition, wanted: Option<AccountId>) -> bool {
    let is_the_owners = wanted.is_none() && found.key.made_by.is_none();
    is_the_owners || caller(&found.person, Some(&found.key), edition, wanted).is_ok()
}

/// Somebody, and the account that they act for: their own, or that of the team they are in while
/// its plan has teams. A key that somebody in their own team made leads to their account and no
/// further, and rests while their plan has no teams.
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
            && has_team(&team.account)
    });
    let (account, stamp, role, maker) = match team {
        Some(team) => (&team.account, team.stamp, team.role, Some(person.account.id)),
        None if key.is_some_and(|key| key.made_by.is_some()) && !has_team(&person.account) => {
            return Err(Error::Unauthenticated(RESTS.into()));
        }
        None if wanted.is_none_or(|wanted| wanted == person.account.id) => {
            (&person.account, person.stamp, own, key.and_then(|key| key.made_by))
        }
        None => return Err(Error::NotFound(Resource::Account)),
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

fn has_team(account: &Account) -> bool {
    plan::of(account).is_ok_and(|plan| plan.includes(Feature::Team))
}

/// Has the next look at a credential go to the store.
pub fn forget(app: &App, bearer: &str) {
    app.store.forget_caller(&hash(bearer));
}

/// `last_used_at` is exact to the minute: a write for each request would cost more than it tells.
fn touch_is_due(last: Option<Timestamp>, now: Timestamp) -> bool {
    last.is_none_or(|last| now - last >= TOUCH_EVERY)
}

fn invalid_key() -> Error {
    Error::Unauthenticated(
        "the API key is wrong, expired or deleted; make another with POST /api-keys".into(),
    )
}

const TOO_LONG: &str = "the credential has more than 8,192 characters; show an API key, or a session \
     token with fewer claims";
const RESTS: &str = "the API key was made by a member of a team, and the plan no longer includes \
     teams; the account's owner can upgrade, or make a key of their own";
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
