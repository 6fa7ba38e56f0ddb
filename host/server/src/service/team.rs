//! Teams: who works on an account's data beside its owner. Invited, let in, given another role, and
//! taken out again. What a member then does is judged by `credential::authenticate` and the roles of
//! the routes.
//!
//! *Invariant:* a token is told twice: in the answer that made it and in the mail.
//! *Invariant:* a key that somebody else made in the caller's account speaks for that account and
//! not for the caller: with it nobody goes into a team or out of one.

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;
use vedette_model::{
    AccountId, Delivery, Feature, InvitationId, Plan, Role,
    delivery::LETTERS_A_DAY,
    team::{self, Acceptance, Asked, Invitation, Member, NewInvitation, Refusal, RoleChange},
};
use vedette_store::Error as StoreError;

use super::{
    api_key::hash,
    letter::{self, Letter},
    plan, random,
};
use crate::{App, Caller, Error, Resource, Result};

/// A team as all its members see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Team {
    /// Without the owner.
    pub members: Vec<Member>,
    /// Those that can still be accepted.
    pub invitations: Vec<Invitation>,
    /// The owner's.
    pub plan: &'static Plan,
}

/// An invitation and the token to accept it with, which is shown only this once.
#[derive(Clone)]
pub struct Invited {
    pub invitation: Invitation,
    pub token: String,
}

/// Whose team somebody is in, or would be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Accepted {
    pub success: bool,
    pub team_owner_id: AccountId,
    pub role: Role,
    pub team_owner_email: String,
    pub team_owner_name: Option<String>,
}

/// Whether the caller may change the team: the plan comes first, then the role.
///
/// # Errors
/// `Forbidden`; names the plan or the role that it takes.
pub fn administered(caller: &Caller) -> Result<()> {
    included(caller)?;
    caller.must_be(Role::Admin)
}

/// # Errors
/// `Forbidden` for a plan without teams; names the one that has them.
pub async fn read(app: &App, caller: &Caller) -> Result<Team> {
    let plan = included(caller)?;
    let (members, invitations) = app.store.team(caller.account.id, app.clock.now()).await?;
    Ok(Team { members, invitations, plan })
}

/// Asks somebody into the team, by mail where there is a relay. An open invitation of the same
/// address is replaced.
///
/// # Errors
/// `Invalid` for a bad field, or for somebody who is already a member; `Forbidden` when members and
/// open invitations fill the plan; `Limited` when the day's letters are used up.
pub async fn invite(app: &App, caller: &Caller, body: &Value) -> Result<Invited> {
    let plan = plan::of(&caller.account)?;
    let new = NewInvitation::parse(body)?;
    if new.email.eq_ignore_ascii_case(&caller.account.email) {
        return Err(Error::invalid("email", "must not be the owner's own"));
    }
    let token = token();
    let (owner, now) = (caller.account.id, app.clock.now());
    let invitation = new.into_invitation(random::id(), owner, hash(&token), now);
    let mail = mail(app, caller, &invitation, &token);
    match app.store.invite(&invitation, plan.team_members, LETTERS_A_DAY, mail.as_slice()).await {
        Ok(()) => {}
        Err(StoreError::TeamLimit) => return Err(full(caller, plan)),
        Err(StoreError::LetterLimit) => return Err(letter::none_left(now)),
        Err(StoreError::Duplicate) => {
            return Err(Error::invalid("email", "already belongs to a member"));
        }
        Err(StoreError::InTeam) => {
            let advice = "cannot be invited while you are in another team; leave that one first";
            return Err(Error::invalid("email", advice));
        }
        Err(StoreError::Gone) => return Err(Error::NotFound(Resource::Account)),
        Err(cause) => return Err(cause.into()),
    }
    if mail.is_some() {
        app.wake.outbox.tell_of_all();
    }
    tracing::info!(account_id = %owner, "somebody was invited into the team of account {owner}");
    Ok(Invited { invitation, token })
}

/// Gives a member another role, from their next request on.
///
/// # Errors
/// `Invalid` for a bad field, `NotFound` for somebody who is not in the team.
pub async fn change_role(app: &App, caller: &Caller, body: &Value) -> Result<Member> {
    let RoleChange { member, role } = RoleChange::parse(body)?;
    let changed = app.store.set_member_role(caller.account.id, member, role).await?;
    changed.ok_or(UNKNOWN)
}

/// Joins the team that a token invites to, or says which team that would be.
///
/// # Errors
/// `NotFound` for a token that never was, or is used, expired or replaced; `Invalid` for somebody
/// who is in a team or has one; `Forbidden` for an invitation to another address, and when the
/// owner's plan has no teams or no room.
pub async fn accept(app: &App, caller: &Caller, body: &Value) -> Result<Accepted> {
    if !in_person(caller) {
        caller.must_be(Role::Owner)?;
    }
    let Acceptance { token, preview } = Acceptance::parse(body)?;
    let (user, now) = (&caller.user, app.clock.now());
    let asked = app.store.asked(&hash(&token), user.id).await?.ok_or(NO_INVITATION)?;
    let plan = plan::of(&asked.owner)?;
    team::may_accept(&asked, user, plan, now).map_err(refuse)?;
    if preview {
        return Ok(Accepted::of(asked));
    }
    match app.store.join_team(&asked, user.id, random::id(), plan.team_members, now).await {
        Ok(()) => {}
        // All of this happened since it was looked at.
        Err(StoreError::Gone) => return Err(refuse(Refusal::Gone)),
        Err(StoreError::InTeam) => return Err(refuse(Refusal::IsMember)),
        Err(StoreError::HasTeam) => return Err(refuse(Refusal::HasMembers)),
        Err(StoreError::TeamLimit) => return Err(refuse(Refusal::Full)),
        Err(StoreError::Stale) => return Err(refuse(Refusal::NoTeams)),
        Err(cause) => return Err(cause.into()),
    }
    let (member, owner) = (user.id, asked.owner.id);
    tracing::info!(account_id = %member, team = %owner, "account {member} joined team {owner}");
    Ok(Accepted::of(asked))
}

/// Removes a member from the team, or withdraws an invitation. `named` is what the body says; a
/// caller who may not do this is not told whether it was valid.
///
/// # Errors
/// `Forbidden` for a plan or a role that does not include it, except for a member who
/// leaves: that is always possible. `NotFound` for an id of nobody in the team.
pub async fn remove(app: &App, caller: &Caller, named: Result<Uuid>) -> Result<()> {
    let member = caller.user.id;
    if let Ok(named) = named
        && in_person(caller)
        && app.store.leave_team(member, named).await?
    {
        tracing::info!(account_id = %member, "account {member} left its team");
        return Ok(());
    }
    administered(caller)?;
    let (named, owner) = (named?, caller.account.id);
    if app.store.remove_member(owner, named).await? {
        tracing::info!(account_id = %owner, "a member was removed from the team of {owner}");
        return Ok(());
    }
    let withdrawn = app.store.withdraw_invitation(owner, InvitationId(named), app.clock.now());
    if withdrawn.await? { Ok(()) } else { Err(UNKNOWN) }
}

impl Accepted {
    fn of(asked: Asked) -> Self {
        Self {
            success: true,
            team_owner_id: asked.owner.id,
            role: asked.invitation.role,
            team_owner_email: asked.owner.email,
            team_owner_name: asked.owner.full_name,
        }
    }
}

/// Only what may be shown: the token is not printed, wherever this ends up.
impl std::fmt::Debug for Invited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invited").field("id", &self.invitation.id).finish_non_exhaustive()
    }
}

fn included(caller: &Caller) -> Result<&'static Plan> {
    plan::included(&caller.account, caller.edition, Feature::Team)
}

/// Whether the credential is the user's own. A key with a lesser role was made by somebody in their
/// team, and leads to their account and no further.
fn in_person(caller: &Caller) -> bool {
    caller.account.id != caller.user.id || caller.role == Role::Owner
}

/// The letter that carries the token, if there is a relay for it.
fn mail(app: &App, caller: &Caller, invitation: &Invitation, token: &str) -> Option<Delivery> {
    let owner = &caller.account;
    let letter = Letter::Invitation {
        name: owner.full_name.as_deref(),
        address: &owner.email,
        role: invitation.role,
        token,
        expires_at: invitation.expires_at,
    };
    let (address, now) = (&invitation.email, invitation.created_at);
    letter.to(app, owner.id, address, random::id(), now)
}

/// 256 bits of the system's randomness, in hex.
fn token() -> String {
    let mut next = random::bytes();
    hex::encode(std::array::from_fn::<u8, 32, _>(|_| next()))
}

fn full(caller: &Caller, plan: &Plan) -> Error {
    let have = format!(
        "the {} plan has {} team members, open invitations among them, and all are in use",
        plan.id, plan.team_members
    );
    Error::forbidden(match caller.edition.lowest_plan_above(plan, |plan| plan.team_members) {
        Some(more) => format!("{have}; the {} plan has {}", more.id, more.team_members),
        None => format!("{have}; remove a member or take an invitation back first"),
    })
}

fn refuse(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Gone => NO_INVITATION,
        Refusal::Own => Error::invalid("token", "is an invitation to your own team"),
        Refusal::SomebodyElse => Error::forbidden(
            "the invitation is for another e-mail address; sign in with the one it was sent to",
        ),
        Refusal::IsMember => Error::invalid(
            "token",
            "cannot be accepted while you are in a team; leave that one first",
        ),
        Refusal::HasMembers => Error::invalid(
            "token",
            "cannot be accepted while your own team has members; remove them first",
        ),
        Refusal::NoTeams => {
            Error::forbidden("the plan of the team's owner no longer includes teams; ask the owner")
        }
        Refusal::Full => Error::forbidden("the team is full by now; ask its owner"),
    }
}

const UNKNOWN: Error = Error::NotFound(Resource::TeamMember);
const NO_INVITATION: Error = Error::NotFound(Resource::Invitation);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_256_bits_and_differ() {
        let (one, other) = (token(), token());
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
    }

    #[test]
    fn token_is_not_printed() {
        let new = NewInvitation { email: "anna@example.com".to_owned(), role: Role::Viewer };
        let (id, owner) = (InvitationId(Uuid::nil()), AccountId(Uuid::nil()));
        let invitation =
            new.into_invitation(id, owner, "hash".to_owned(), vedette_model::Timestamp::UNIX_EPOCH);
        let invited = Invited { invitation, token: "t0ken".to_owned() };
        let printed = format!("{invited:?}");
        assert!(!printed.contains("t0ken") && !printed.contains("hash"), "{printed}");
    }

    #[test]
    fn every_refusal_tells_what_to_do() {
        for refusal in [
            Refusal::Own,
            Refusal::SomebodyElse,
            Refusal::IsMember,
            Refusal::HasMembers,
            Refusal::NoTeams,
            Refusal::Full,
        ] {
            let error = refuse(refusal);
            assert!(matches!(error, Error::Invalid(_) | Error::Forbidden { .. }), "{error}");
        }
        assert!(matches!(refuse(Refusal::Gone), Error::NotFound(Resource::Invitation)));
    }
}
