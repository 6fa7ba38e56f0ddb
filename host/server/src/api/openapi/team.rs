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
            "Members of a team act for its owner's account, with their role. To act for their own \
             account, they send its id in the header `X-Vedette-Account`.",
        )
        .answers(
            "All members except the owner, and the open invitations.",
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
            "The invitation is mailed if the service has a mail relay. It is for this address \
             only, is valid for seven days and can be accepted once. It replaces an open \
             invitation of the same address. An account may send 50 mails a day (UTC) in \
             invitations and tests; invitations that were replaced or withdrawn count too.",
        )
        .takes(
            object(&["email"], json!({ "email": email, "role": role })),
            json!({ "email": EMAIL, "role": "editor" }),
        )
        .answers(
            "The invitation with its token, which is shown only this once.",
            record(json!({ "invitation": reference("CreatedTeamInvitation") })),
            json!({ "invitation": invited }),
        )
        .fails(
            403,
            "The plan has no team or no room for more members, or the caller's role is \
             below `admin`.",
        )
}

fn change_role() -> Operation {
    Operation::patch("/team/role", TAG, "changeTeamRole", "Change a member's role")
        .says("The new role applies from the member's next request on.")
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
    let preview = said(boolean(), "True: only show the invitation, without accepting it.");
    let accepted = record(json!({
        "success": boolean(),
        "team_owner_id": said(uuid(), "The account that the team works on."),
        "role": role(),
        "team_owner_email": text(),
        "team_owner_name": or_null(text()),
    }));
    Operation::post("/team/accept", TAG, "acceptTeamInvitation", "Accept an invitation")
        .says(
            "The caller's e-mail address must be the invited one. A person can be in one team \
             only, and the owner of a team with members can be in none.",
        )
        .takes(
            object(&["token"], json!({ "token": token, "preview": preview })),
            json!({ "token": TOKEN }),
        )
        .answers(
            "The team's owner, and the caller's role in the team.",
            accepted,
            json!({
                "success": true,
                "team_owner_id": ACCOUNT,
                "role": "editor",
                "team_owner_email": "owner@example.com",
                "team_owner_name": "Ada Owner",
            }),
        )
        .fails(
            403,
            "The invitation is for another address, or the owner's plan has no team or no \
             room for more members.",
        )
        .fails(404, "There is no such invitation, or it was used or replaced or has expired.")
}

fn remove() -> Operation {
    Operation::delete("/team", TAG, "removeTeamMember", "Remove a member")
        .says(
            "The member acts for their own account from the next request on. The id of an \
             invitation withdraws the invitation. With the id of their own account callers leave \
             the team; that needs no role.",
        )
        .takes(record(json!({ "member_id": named() })), json!({ "member_id": MEMBER }))
        .answers("They are out.", success(), json!({ "success": true }))
        .fails(403, NOT_ALLOWED)
        .fails(404, "No member and no invitation has this id.")
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
    created["token"] = said(
        text(),
        "The token to accept the invitation with. It is not shown \
         again.",
    );
    vec![
        ("TeamMember".to_owned(), said(member, "Somebody in a team.")),
        ("TeamInvitation".to_owned(), said(record(invitation), "An invitation into a team.")),
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
const NOT_ALLOWED: &str = "The plan has no team, or the caller's role is below `admin`.";
