//! Teams: a row per member and a row per invitation under the owner's account, and a row per token
//! that says which invitation it accepts.
//!
//! What is remembered of a member holds while the owner's account stands at its stamp, so that a
//! change of a membership, and one of a member's own keys or plan, raises the owner's stamp as
//! well; and one of the owner's plan the stamps of the members, who act for themselves while it
//! has no teams ([`TELL_TEAM`]).
//!
//! *Invariant:* members and open invitations together never exceed the limit, and a person is in at
//! most one team: every transaction that adds one writes the owner's account, and a join the new
//! member's too.
//! *Invariant:* a key that a member made can do what the member can: it has their role, from the
//! transaction that changes it on, and goes when they leave.
//! *Invariant:* a token accepts one invitation once: it goes with the invitation, in the
//! transaction that accepts, replaces or withdraws it.

use surrealdb::types::{RecordId, SurrealValue};
use uuid::Uuid;
use vedette_model::team::{Asked, Invitation, Member};
use vedette_model::{AccountId, Delivery, InvitationId, MembershipId, Role, Timestamp, quota};

use crate::account::AccountRow;
use crate::delivery::{QUEUE_LETTERS, letters};
use crate::error::{Error, Result, gone_is_none};
use crate::letter::SENT;
use crate::tx::Binds;
use crate::{Stamp, Store, Team, key};

/// What [`TEAM_OF_ACCOUNT`] reads.
#[derive(SurrealValue)]
pub(crate) struct TeamRow {
    role: String,
    owner: AccountRow,
    stamp: Stamp,
}

#[derive(SurrealValue)]
struct ListRow {
    members: Vec<MemberRow>,
    invitations: Vec<InvitationRow>,
}

#[derive(SurrealValue)]
struct MemberRow {
    membership: Uuid,
    role: String,
    joined_at: Timestamp,
    account: AccountRow,
}

#[derive(SurrealValue)]
struct InvitationRow {
    id: RecordId,
    email: String,
    role: String,
    token: RecordId,
    created_at: Timestamp,
    expires_at: Timestamp,
}

#[derive(SurrealValue)]
struct AskedRow {
    invitation: InvitationRow,
    owner: AccountRow,
    owner_team: Option<RecordId>,
}

#[derive(SurrealValue)]
struct RoomRow {
    members: Vec<RecordId>,
    own: Vec<RecordId>,
    user_team: Option<RecordId>,
}

impl Store {
    /// The members of an account's team, those who joined first at the beginning, and the
    /// invitations that are open, the oldest first.
    pub async fn team(
        &self,
        owner: AccountId,
        now: Timestamp,
    ) -> Result<(Vec<Member>, Vec<Invitation>)> {
        let statement = "RETURN {
                members: (SELECT membership, role, joined_at, member.* AS account FROM $members),
                invitations: (SELECT * FROM $invitations)
            }";
        let mut rows: ListRow = self.read(statement, of_team(owner)).await?;
        rows.members.sort_by_key(|row| (row.joined_at, row.membership));
        let members = rows.members.into_iter().map(MemberRow::into_member);
        let members: Vec<Member> = members.collect::<Result<_>>()?;
        let invitations = rows.invitations.into_iter().map(InvitationRow::into_invitation);
        let mut invitations: Vec<Invitation> = invitations.collect::<Result<_>>()?;
        invitations.retain(|invitation| invitation.is_open(now));
        invitations.sort_by_key(|invitation| (invitation.created_at, invitation.id));
        Ok((members, invitations))
    }

    /// Invites somebody into a team, replacing an earlier invitation of the same address, while
    /// there are fewer members and open invitations than `limit`, else `TeamLimit`; queues the
    /// letters with it, while the account stays within `letters_a_day`, else `LetterLimit`.
    /// `Duplicate` when a member has the address, `InTeam` when the owner is in another team.
    pub async fn invite(
        &self,
        invitation: &Invitation,
        limit: u32,
        letters_a_day: u32,
        mail: &[Delivery],
    ) -> Result<()> {
        let owner = invitation.owner_id;
        let _turn = self.turn(owner.0).await;
        let unit = format!(
            "{SENT}
            LET $owner = (UPDATE $account SET stamp += 1, invited_on = $today,
                invited = $sent + $mails RETURN AFTER)[0];
            IF $owner = NONE {{ THROW 'gone' }};
            IF $owner.team != NONE {{ THROW 'in_team' }};
            LET $present = (SELECT VALUE member.email FROM $members);
            IF $email IN $present {{ THROW 'duplicate' }};
            LET $dead = (SELECT id, token FROM $invitations
                WHERE email = $email OR expires_at <= $now);
            DELETE $dead.token RETURN NONE;
            DELETE $dead.id RETURN NONE;
            LET $open = (SELECT VALUE id FROM $invitations);
            IF array::len($present) + array::len($open) >= $limit {{ THROW 'team_limit' }};
            IF $mails > 0 AND $sent + $mails > $letters_a_day {{ THROW 'letter_limit' }};
            CREATE $invitation SET owner = $account, email = $email, role = $role,
                token = $ticket, created_at = $now, expires_at = $expires_at RETURN NONE;
            CREATE $ticket SET invitation = $invitation RETURN NONE;
            {QUEUE_LETTERS}"
        );
        let binds = of_team(owner)
            .with("account", key::account(owner))
            .with("invitation", key::team_invitation(owner, invitation.id))
            .with("ticket", key::team_token(&invitation.hash))
            .with("email", invitation.email.as_str())
            .with("role", invitation.role.as_str())
            .with("now", invitation.created_at)
            .with("expires_at", invitation.expires_at)
            .with("today", quota::day(invitation.created_at))
            .with("mails", mail.len())
            .with("letters_a_day", letters_a_day)
            .with("limit", limit)
            .with("letters", letters(mail, &self.inner.seal)?);
        self.write(&unit, binds).await
    }

    /// Takes an invitation back. False when the owner has no such invitation that is open.
    pub async fn withdraw_invitation(
        &self,
        owner: AccountId,
        invitation: InvitationId,
        now: Timestamp,
    ) -> Result<bool> {
        let unit = "LET $ticket = $invitation.token;
            IF $ticket = NONE { THROW 'gone' };
            LET $until = $invitation.expires_at;
            DELETE $ticket RETURN NONE;
            DELETE $invitation RETURN NONE;
            RETURN $until > $now";
        let binds = Binds::new()
            .with("invitation", key::team_invitation(owner, invitation))
            .with("now", now);
        let was_open: Option<bool> = gone_is_none(self.tx(unit, binds).await)?;
        Ok(was_open.unwrap_or(false))
    }

    /// The invitation that a token of this hash accepts, and how `user` stands to it; none where no
    /// token has it (any longer).
    pub async fn asked(&self, hash: &str, user: AccountId) -> Result<Option<Asked>> {
        let row: Option<AskedRow> = self
            .read(
                "SELECT invitation.*, invitation.owner.* AS owner,
                    invitation.owner.team AS owner_team FROM ONLY $ticket",
                Binds::new().with("ticket", key::team_token(hash)),
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        let invitation = row.invitation.into_invitation()?;
        let binds = of_team(invitation.owner_id)
            .with("own", key::of_account("team_member", user))
            .with("user", key::account(user));
        let statement = "RETURN {
                members: (SELECT VALUE id FROM $members),
                own: (SELECT VALUE id FROM $own LIMIT 1),
                user_team: $user.team
            }";
        let room: RoomRow = self.read(statement, binds).await?;
        Ok(Some(Asked {
            invitation,
            owner: row.owner.into_account()?,
            owner_is_member: row.owner_team.is_some(),
            members: room.members.len(),
            user_is_member: room.user_team.is_some(),
            user_has_members: !room.own.is_empty(),
        }))
    }

    /// Puts `user` into the team that they are asked into, and uses the invitation up. It is
    /// decided again what [`vedette_model::team::may_accept`] decided: `Gone` when the invitation
    /// is, or either account, `InTeam`, `HasTeam`, `TeamLimit`, and `Stale` when the owner's plan
    /// is not the one that `asked` says.
    pub async fn join_team(
        &self,
        asked: &Asked,
        user: AccountId,
        membership: MembershipId,
        limit: u32,
        now: Timestamp,
    ) -> Result<()> {
        let owner = asked.owner.id;
        let _turn = self.turn(owner.0).await;
        let unit = "LET $open = $ticket.invitation;
            IF $open = NONE { THROW 'gone' };
            LET $until = $open.expires_at;
            IF $until <= $now { THROW 'gone' };
            LET $owner = (UPDATE $account SET stamp += 1 RETURN AFTER)[0];
            IF $owner = NONE OR $owner.team != NONE { THROW 'gone' };
            IF $owner.plan != $plan { THROW 'stale' };
            LET $other = $user.team;
            IF $other != NONE { THROW 'in_team' };
            LET $own_members = (SELECT VALUE id FROM $own LIMIT 1);
            IF !array::is_empty($own_members) { THROW 'has_team' };
            LET $present = (SELECT VALUE id FROM $members);
            IF array::len($present) >= $limit { THROW 'team_limit' };
            LET $joined = (UPDATE $user SET team = $membership, stamp += 1 RETURN AFTER);
            IF array::is_empty($joined) { THROW 'gone' };
            CREATE $membership SET membership = $id, owner = $account, member = $user,
                role = $role, joined_at = $now RETURN NONE;
            DELETE $ticket RETURN NONE;
            DELETE $open RETURN NONE";
        let binds = of_team(owner)
            .with("account", key::account(owner))
            .with("ticket", key::team_token(&asked.invitation.hash))
            .with("user", key::account(user))
            .with("own", key::of_account("team_member", user))
            .with("membership", key::team_member(owner, user))
            .with("id", membership.0)
            .with("role", asked.invitation.role.as_str())
            .with("plan", asked.owner.plan.as_str())
            .with("limit", limit)
            .with("now", now);
        self.write(unit, binds).await
    }

    /// Gives a member, and so the keys that they made, another role; none when the team has nobody
    /// with this id, which is that of the member or of the membership.
    pub async fn set_member_role(
        &self,
        owner: AccountId,
        named: Uuid,
        role: Role,
    ) -> Result<Option<Member>> {
        let unit = format!(
            "{FIND_MEMBER}
            UPDATE $found SET role = $role RETURN NONE;
            LET $member = $found.member;
            UPDATE $keys SET role = $role WHERE made_by = $member RETURN NONE;
            UPDATE $account SET stamp += 1 RETURN NONE;
            RETURN $found.{{ membership, role, joined_at, account: member.* }}"
        );
        let binds = named_member(owner, named)
            .with("account", key::account(owner))
            .with("keys", key::api_keys(owner))
            .with("role", role.as_str());
        let row: Option<MemberRow> = gone_is_none(self.tx(&unit, binds).await)?;
        row.map(MemberRow::into_member).transpose()
    }

    /// Takes somebody out of a team; false when the team has nobody with this id, which is that of
    /// the member or of the membership.
    pub async fn remove_member(&self, owner: AccountId, named: Uuid) -> Result<bool> {
        let unit = format!("{FIND_MEMBER} LET $member = $found.member; {LEAVE}");
        let removed = self.write(&unit, named_member(owner, named)).await;
        Ok(gone_is_none(removed)?.is_some())
    }

    /// Removes somebody from the team that they are in, if they are the one named, by their own id
    /// or by that of the membership; false if they are not, or are in no team.
    pub async fn leave_team(&self, member: AccountId, named: Uuid) -> Result<bool> {
        let unit = format!(
            "LET $own = $member.team;
            LET $leaves = $own != NONE AND ($member = $named_account OR $own.membership = $named);
            IF $leaves {{ {LEAVE} }};
            RETURN $leaves"
        );
        let binds = Binds::new()
            .with("member", key::account(member))
            .with("named", named)
            .with("named_account", key::account(named.into()));
        self.tx(&unit, binds).await
    }
}

impl TeamRow {
    pub(crate) fn into_team(self) -> Result<Team> {
        Ok(Team {
            account: self.owner.into_account()?.into(),
            stamp: self.stamp,
            role: role(&self.role)?,
        })
    }
}

impl MemberRow {
    fn into_member(self) -> Result<Member> {
        let account = self.account.into_account()?;
        Ok(Member {
            id: self.membership.into(),
            member_id: account.id,
            role: role(&self.role)?,
            email: account.email,
            full_name: account.full_name,
        })
    }
}

impl InvitationRow {
    fn into_invitation(self) -> Result<Invitation> {
        Ok(Invitation {
            id: key::uuid_at(&self.id, 1)?.into(),
            owner_id: key::uuid_at(&self.id, 0)?.into(),
            email: self.email,
            role: role(&self.role)?,
            hash: key::text_at(&self.token, 0)?,
            created_at: self.created_at,
            expires_at: self.expires_at,
        })
    }
}

fn role(name: &str) -> Result<Role> {
    Role::by_name(name).ok_or_else(|| Error::corrupt("role in a team", name))
}

/// `$members` and `$invitations` of an account.
fn of_team(owner: AccountId) -> Binds {
    Binds::new()
        .with("members", key::of_account("team_member", owner))
        .with("invitations", key::of_account("team_invitation", owner))
}

/// What [`FIND_MEMBER`] needs.
fn named_member(owner: AccountId, named: Uuid) -> Binds {
    Binds::new()
        .with("members", key::of_account("team_member", owner))
        .with("named", named)
        .with("named_account", key::account(named.into()))
}

/// Whose team an account is in, in a statement that reads `account`: an `Option<TeamRow>`.
pub(crate) const TEAM_OF_ACCOUNT: &str =
    "account.team.{ role, owner: owner.*, stamp: owner.stamp } AS team";

/// For units that change the keys or the plan of `$account`, a record's id: raises the stamps of
/// the others by which is told whether what is remembered of it, or by way of it, still holds.
pub(crate) const TELL_TEAM: &str = "LET $told_id = record::id($account);
LET $told = (SELECT VALUE member FROM team_member:[$told_id]..=[$told_id, ..]);
UPDATE $told SET stamp += 1 RETURN NONE;
LET $told_owner = $account.team.owner;
IF $told_owner != NONE { UPDATE $told_owner SET stamp += 1 RETURN NONE };";

/// For the unit that deletes an account: takes `$member`, its record's id, out of the team that
/// they are in, with the keys that they made there. Nothing happens where they are in none.
pub(crate) const LEAVE: &str = "LET $membership = $member.team;
IF $membership != NONE {
    LET $left_id = record::id($membership.owner);
    LET $left_keys = (SELECT id, hash FROM api_key:[$left_id]..=[$left_id, ..]
        WHERE made_by = $member);
    DELETE (SELECT VALUE type::record('api_key_hash', hash) FROM $left_keys) RETURN NONE;
    DELETE $left_keys.id RETURN NONE;
    UPDATE $membership.owner SET stamp += 1, api_keys -= array::len($left_keys) RETURN NONE;
    DELETE $membership RETURN NONE;
    UPDATE $member SET team = NONE, stamp += 1 RETURN NONE
};";

/// For the unit that deletes an account: removes everybody from the team of `$owner`, its record's
/// id, and withdraws all invitations. It writes the account, as a join does: so nobody slips in.
pub(crate) const DISBAND: &str = "UPDATE $owner SET stamp += 1 RETURN NONE;
LET $disbanded = record::id($owner);
LET $disbanded_members = (SELECT VALUE member FROM team_member:[$disbanded]..=[$disbanded, ..]);
UPDATE $disbanded_members SET team = NONE, stamp += 1 RETURN NONE;
DELETE team_member:[$disbanded]..=[$disbanded, ..] RETURN NONE;
LET $disbanded_tokens = (SELECT VALUE token FROM team_invitation:[$disbanded]..=[$disbanded, ..]);
DELETE $disbanded_tokens RETURN NONE;
DELETE team_invitation:[$disbanded]..=[$disbanded, ..] RETURN NONE;";

/// The row of whom an id names, or `gone`.
const FIND_MEMBER: &str = "LET $found = (SELECT VALUE id FROM $members
    WHERE member = $named_account OR membership = $named)[0];
IF $found = NONE { THROW 'gone' };";
