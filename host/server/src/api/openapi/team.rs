//! `/team`.

use serde_json::{Value, json};

use super::{
    operation::Operation,
    sample::{ACCOUNT, LATER},
    schema::{
        boolean, count, list, moment, object, one_of, or_null, record, reference, said, success,
        text, uuid,
    },
};

pub(super) const TAG: &str = "Team";

pub(super) fn operations() -> Vec<Operation> {
    vec![read(), invite(), change_role(), accept(), remove()]
}

fn read() -> Operation {
    let team = record(json!({
        "members": list(reference("TeamMember")),
        "invitations": list(reference("TeamInvitation")),
        "plan": said(text(), "The plan of the team's owner."),
        "teamMembersLimit": said(count(), "Members and open invitations together."),
    }));
    Operation::get("/team", TAG, "readTeam", "List members and invitations")
        .says(
            "Whoever is in a team acts for its owner's account, with the role that they have \
             there. The header `X-Vedette-Account` with the id of the caller's own account makes \
             a request be about that instead.",
        )
        .answers(
            "Everybody in the team but its owner, and the invitations that are open.",
            team,
            json!({
                "members": [member()],
                "invitations": [invitation()],
                "plan": "team",
                "teamMembersLimit": 3,
            }),
        )
        .fails(403, NO_TEAMS)
}

fn invite() -> Operation {
    let email = json!({ "type": "string", "format": "email" });
    let role = said(role(), "`viewer` where there is none.");
    let mut invited = invitation();
    invited["token"] = json!(TOKEN);
    Operation::post("/team", TAG, "inviteTeamMember", "Invite somebody")
        .says(
            "By mail, where the service has a mail relay. The invitation is for this address \
             alone, holds for seven days and is accepted once; an open one of the same address is \
             replaced. Of these and of tests of the mail channel an account has at most 50 sent by \
             mail in a day (UTC), those that were replaced or taken back among them.",
        )
        .takes(
            object(&["email"], json!({ "email": email, "role": role })),
            json!({ "email": EMAIL, "role": "editor" }),
        )
        .answers(
            "The invitation, with its token for the only time.",
            record(json!({ "invitation": reference("CreatedTeamInvitation") })),
            json!({ "invitation": invited }),
        )
        .fails(403, "The plan has no teams or no room, or the role is below `admin`.")
}

fn change_role() -> Operation {
    Operation::patch("/team/role", TAG, "changeTeamRole", "Change a member's role")
        .says("It holds from the member's next request on.")
        .takes(
            record(json!({ "member_id": named(), "role": role() })),
            json!({ "member_id": MEMBER, "role": "admin" }),
        )
        .answers(
            "The member.",
            record(json!({ "member": reference("TeamMember") })),
            json!({ "member": member() }),
        )
        .fails(403, NOT_ALLOWED)
        .fails(404, "Nobody in the team has this id.")
}

fn accept() -> Operation {
    let token = json!({ "type": "string", "minLength": 1 });
    let preview = said(boolean(), "Whether to be told only, without accepting.");
    let accepted = record(json!({
        "success": boolean(),
        "team_owner_id": said(uuid(), "The account whose data the team works on."),
        "role": role(),
        "team_owner_email": text(),
        "team_owner_name": or_null(text()),
    }));
    Operation::post("/team/accept", TAG, "acceptTeamInvitation", "Accept an invitation")
        .says(
            "The caller's e-mail address must be the one that was invited. Somebody is in one team \
             at most, and whoever has members of their own is in none.",
        )
        .takes(
            object(&["token"], json!({ "token": token, "preview": preview })),
            json!({ "token": TOKEN }),
        )
        .answers(
            "Whose team it is, and the caller's role there.",
            accepted,
            json!({
                "success": true,
                "team_owner_id": ACCOUNT,
                "role": "editor",
                "team_owner_email": "owner@example.com",
                "team_owner_name": "Ada Owner",
            }),
        )
        .fails(403, "It is for another address, or the owner's plan has no teams or no room.")
        .fails(404, "There is no such invitation, or it was used, replaced, or has expired.")
}

fn remove() -> Operation {
    Operation::delete("/team", TAG, "removeTeamMember", "Remove a member")
        .says(
            "They act for their own account from the next request on. The id of an invitation \
             takes that back. With the id of the caller's own account the caller leaves, whatever \
             the role.",
        )
        .takes(record(json!({ "member_id": named() })), json!({ "member_id": MEMBER }))
        .answers("They are out.", success(), json!({ "success": true }))
        .fails(403, NOT_ALLOWED)
        .fails(404, "Nobody in the team, and no invitation, has this id.")
}

pub(super) fn schemas() -> Vec<(String, Value)> {
    let member = record(json!({
        "id": said(uuid(), "The membership."),
        "member_id": said(uuid(), "The member's account."),
        "role": role(),
        "email": text(),
        "full_name": or_null(text()),
    }));
    let invitation = json!({
        "id": uuid(),
        "email": text(),
        "role": role(),
        "expires_at": moment(),
    });
    let mut created = invitation.clone();
    created["token"] = said(text(), "What it is accepted with. It is not shown again.");
    vec![
        ("TeamMember".to_owned(), said(member, "Somebody in a team.")),
        ("TeamInvitation".to_owned(), said(record(invitation), "That somebody is asked in.")),
        (
            "CreatedTeamInvitation".to_owned(),
            said(record(created), "An invitation with its token."),
        ),
    ]
}

fn role() -> Value {
    one_of(&["admin", "editor", "viewer"])
}

fn named() -> Value {
    said(uuid(), "A `member_id` of the list, or an `id`.")
}

fn member() -> Value {
    json!({
        "id": "0199c1ea-2c31-7d46-a6f3-0b1c2d3e4f50",
        "member_id": MEMBER,
        "role": "admin",
        "email": EMAIL,
        "full_name": "Anna Example",
    })
}

fn invitation() -> Value {
    json!({
        "id": "0199c1eb-7f52-7e57-b704-1c2d3e4f5061",
        "email": EMAIL,
        "role": "editor",
        "expires_at": LATER,
    })
}

const MEMBER: &str = "0199c1ea-2c30-7c35-95e2-fa0b1c2d3e4f";
const EMAIL: &str = "anna@example.com";
const TOKEN: &str = "6f1d0c8e…";
const NO_TEAMS: &str = "The plan has no teams.";
const NOT_ALLOWED: &str = "The plan has no teams, or the role is below `admin`.";
