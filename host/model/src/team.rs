//! Teams: who works on an account's data beside its owner, who is invited to, and who may accept.
//!
//! *Invariant:* an invitation is for one address: somebody with its token but another address is
//! refused (decisions: invitations).
//! *Invariant:* a person is in at most one team, and a member has no members of their own.

use chrono::TimeDelta;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::parse::{self, Body};
use crate::{
    Account, AccountId, Feature, Invalid, InvitationId, MembershipId, Plan, Role, Timestamp, email,
};

/// Somebody in a team, as the API shows them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Member {
    /// The membership's own.
    pub id: MembershipId,
    /// The account that the member signs in to.
    pub member_id: AccountId,
    pub role: Role,
    pub email: String,
    pub full_name: Option<String>,
}

/// An invitation into a team.
#[derive(Clone, Debug, PartialEq)]
pub struct Invitation {
    pub id: InvitationId,
    /// Whose team it is.
    pub owner_id: AccountId,
    /// Whom it is for; in lower case.
    pub email: String,
    pub role: Role,
    /// Lower-case hex SHA-256 of the token that accepts it. The token itself stands in the letter
    /// alone, until that is sent or given up.
    pub hash: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// An invitation as the API shows it; with its token in the answer that made it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InvitationView<'a> {
    pub id: InvitationId,
    pub email: &'a str,
    pub role: Role,
    pub expires_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<&'a str>,
}

/// The body of `POST /team`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewInvitation {
    pub email: String,
    pub role: Role,
}

/// The body of `PATCH /team/role`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleChange {
    /// See [`parse_member`].
    pub member: Uuid,
    pub role: Role,
}

/// The body of `POST /team/accept`.
#[derive(Clone, Debug, PartialEq)]
pub struct Acceptance {
    pub token: String,
    /// Only to be told what it would be.
    pub preview: bool,
}

/// An invitation, and all that decides whether somebody may accept it.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub invitation: Invitation,
    /// Whose team it is.
    pub owner: Account,
    /// Whether the owner has gone into another team since.
    pub owner_is_member: bool,
    /// How many are in the team.
    pub members: usize,
    /// Whether the caller is already in a team.
    pub user_is_member: bool,
    /// Whether the caller has a team of their own.
    pub user_has_members: bool,
}

/// Why somebody cannot accept an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It holds no longer, which nobody can tell from one that never was.
    Gone,
    /// It is their own team.
    Own,
    /// It is for another address.
    SomebodyElse,
    /// They are in a team already.
    IsMember,
    /// Their own account has members.
    HasMembers,
    /// The owner's plan has no teams, or has them no longer.
    NoTeams,
    /// The owner's plan has no room.
    Full,
}

/// Whether somebody may accept; `plan` is that of the team's owner.
pub fn may_accept(
    asked: &Asked,
    user: &Account,
    plan: &Plan,
    now: Timestamp,
) -> Result<(), Refusal> {
    let room = usize::try_from(plan.team_members).unwrap_or(usize::MAX);
    let refusals = [
        (!asked.invitation.is_open(now) || asked.owner_is_member, Refusal::Gone),
        (user.id == asked.owner.id, Refusal::Own),
        (!asked.invitation.email.eq_ignore_ascii_case(&user.email), Refusal::SomebodyElse),
        (asked.user_is_member, Refusal::IsMember),
        (asked.user_has_members, Refusal::HasMembers),
        (!plan.includes(Feature::Team), Refusal::NoTeams),
        (asked.members >= room, Refusal::Full),
    ];
    match refusals.into_iter().find(|(holds, _)| *holds) {
        Some((_, refusal)) => Err(refusal),
        None => Ok(()),
    }
}

/// The person a body is about: `member_id`, which takes what a listing shows as `member_id` or
/// `id`.
pub fn parse_member(body: &Value) -> Result<Uuid, Invalid> {
    Body::of(body)?.required(MEMBER, uuid)
}

impl Invitation {
    /// An invitation ends at `expires_at`.
    pub fn is_open(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    pub fn view(&self) -> InvitationView<'_> {
        InvitationView {
            id: self.id,
            email: &self.email,
            role: self.role,
            expires_at: self.expires_at,
            token: None,
        }
    }
}

impl<'a> InvitationView<'a> {
    /// For the one answer that tells the token.
    pub fn with_token(self, token: &'a str) -> Self {
        Self { token: Some(token), ..self }
    }
}

impl NewInvitation {
    pub fn parse(body: &Value) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        let email =
            body.required("email", |field, value| email::parse(field, parse::text(field, value)?))?;
        let role = body.optional("role", Role::parse)?.unwrap_or(Role::OF_MEMBERS[0]);
        Ok(Self { email, role })
    }

    /// `hash` is that of the token.
    pub fn into_invitation(
        self,
        id: InvitationId,
        owner_id: AccountId,
        hash: String,
        now: Timestamp,
    ) -> Invitation {
        Invitation {
            id,
            owner_id,
            email: self.email,
            role: self.role,
            hash,
            created_at: now,
            expires_at: now + LASTS,
        }
    }
}

impl RoleChange {
    pub fn parse(body: &Value) -> Result<Self, Invalid> {
        let member = parse_member(body)?;
        let role = Body::of(body)?.required("role", Role::parse)?;
        Ok(Self { member, role })
    }
}

impl Acceptance {
    pub fn parse(body: &Value) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        let token = body.required("token", parse::text)?.to_owned();
        if token.is_empty() {
            return Err(Invalid::new("token", "must not be empty"));
        }
        let preview = body.optional("preview", parse::boolean)?.unwrap_or(false);
        Ok(Self { token, preview })
    }
}

fn uuid(field: &'static str, value: &Value) -> Result<Uuid, Invalid> {
    parse::uuid(field, parse::text(field, value)?)
}

const MEMBER: &str = "member_id";
/// Decisions: invitations.
const LASTS: TimeDelta = TimeDelta::days(7);

#[cfg(test)]
mod tests;
