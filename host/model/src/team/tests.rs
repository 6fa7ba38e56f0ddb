//! Bodies about teams, and who may accept an invitation.

use serde_json::json;

use super::*;
use crate::edition::TEAM;

fn now() -> Timestamp {
    Timestamp::from_timestamp(1_790_000_000, 0).unwrap()
}

fn account(id: u128, email: &str) -> Account {
    Account {
        id: Uuid::from_u128(id).into(),
        email: email.into(),
        full_name: None,
        edition: "team".into(),
        plan: "team".into(),
        created_at: now(),
    }
}

fn invitation(email: &str) -> Invitation {
    let new = NewInvitation { email: email.into(), role: Role::Editor };
    let owner = Uuid::from_u128(1).into();
    new.into_invitation(Uuid::from_u128(7).into(), owner, "hash".into(), now())
}

/// An invitation that `anna@example.com` may accept.
fn asked() -> Asked {
    Asked {
        invitation: invitation("anna@example.com"),
        owner: account(1, "owner@example.com"),
        owner_is_member: false,
        members: 2,
        user_is_member: false,
        user_has_members: false,
    }
}

#[test]
fn an_invitation_holds_for_seven_days_and_no_moment_longer() {
    let invitation = invitation("anna@example.com");
    assert_eq!(invitation.expires_at, now() + TimeDelta::days(7));
    assert!(invitation.is_open(now()));
    assert!(invitation.is_open(invitation.expires_at - TimeDelta::milliseconds(1)));
    assert!(!invitation.is_open(invitation.expires_at));
}

#[test]
fn who_may_accept_and_why_others_may_not() {
    let anna = account(2, "anna@example.com");
    type Case = (&'static str, Asked, Account, &'static str, Result<(), Refusal>);
    let mut table: Vec<Case> = Vec::new();
    let mut row = |what, change: fn(&mut Asked), user: &Account, plan, expected| {
        let mut asked = asked();
        change(&mut asked);
        table.push((what, asked, user.clone(), plan, expected));
    };
    row("as asked", |_| (), &anna, "team", Ok(()));
    row("the last place", |asked| asked.members = 2, &anna, "team", Ok(()));
    row("no place", |asked| asked.members = 3, &anna, "team", Err(Refusal::Full));
    row("no teams", |_| (), &anna, "pro", Err(Refusal::NoTeams));
    row("in a team", |asked| asked.user_is_member = true, &anna, "team", Err(Refusal::IsMember));
    let has_members = |asked: &mut Asked| asked.user_has_members = true;
    row("has a team", has_members, &anna, "team", Err(Refusal::HasMembers));
    let late = |asked: &mut Asked| asked.invitation.expires_at = now();
    row("too late", late, &anna, "team", Err(Refusal::Gone));
    let moved = |asked: &mut Asked| asked.owner_is_member = true;
    row("the owner is a member elsewhere", moved, &anna, "team", Err(Refusal::Gone));

    let shouted = account(2, "Anna@Example.COM");
    row("another case", |_| (), &shouted, "team", Ok(()));
    let bert = account(3, "bert@example.com");
    row("somebody else", |_| (), &bert, "team", Err(Refusal::SomebodyElse));
    row("somebody else, no teams", |_| (), &bert, "pro", Err(Refusal::SomebodyElse));
    row("somebody else, too late", late, &bert, "team", Err(Refusal::Gone));
    let owner = account(1, "owner@example.com");
    row("the owner", |_| (), &owner, "team", Err(Refusal::Own));

    for (what, asked, user, plan, expected) in table {
        let plan = TEAM.plan(plan).unwrap();
        assert_eq!(may_accept(&asked, &user, plan, now()), expected, "{what}");
    }
}

#[test]
fn an_invitation_is_for_an_address_and_for_viewers_unless_told_otherwise() {
    let parse = |body: Value| NewInvitation::parse(&body);
    let of = |email: &str, role| Ok(NewInvitation { email: email.into(), role });
    assert_eq!(parse(json!({"email": "Anna@Example.com"})), of("anna@example.com", Role::Viewer));
    let body = json!({"email": "anna@example.com", "role": "admin", "more": 1});
    assert_eq!(parse(body), of("anna@example.com", Role::Admin));
    for (body, field) in [
        (json!({}), "email"),
        (json!({"email": null}), "email"),
        (json!({"email": "anna"}), "email"),
        (json!({"email": 1}), "email"),
        (json!({"email": "anna@example.com", "role": "owner"}), "role"),
        (json!({"email": "anna@example.com", "role": null}), "role"),
        (json!([]), "body"),
    ] {
        assert_eq!(parse(body.clone()).unwrap_err().field, field, "{body}");
    }
}

#[test]
fn a_change_names_a_member_and_a_role() {
    let member = Uuid::from_u128(5);
    let body = json!({"member_id": member, "role": "editor"});
    assert_eq!(RoleChange::parse(&body), Ok(RoleChange { member, role: Role::Editor }));
    assert_eq!(parse_member(&body), Ok(member));
    for (body, field) in [
        (json!({"role": "editor"}), "member_id"),
        (json!({"member_id": "5", "role": "editor"}), "member_id"),
        (json!({"member_id": 5, "role": "editor"}), "member_id"),
        (json!({"member_id": member}), "role"),
        (json!({"member_id": member, "role": "owner"}), "role"),
    ] {
        assert_eq!(RoleChange::parse(&body).unwrap_err().field, field, "{body}");
    }
}

#[test]
fn an_acceptance_brings_a_token_and_is_meant_unless_it_says_otherwise() {
    let parse = |body: Value| Acceptance::parse(&body);
    let of = |preview| Ok(Acceptance { token: "t0ken".into(), preview });
    assert_eq!(parse(json!({"token": "t0ken"})), of(false));
    assert_eq!(parse(json!({"token": "t0ken", "preview": true})), of(true));
    for (body, field) in [
        (json!({}), "token"),
        (json!({"token": 1}), "token"),
        (json!({"token": ""}), "token"),
        (json!({"token": "t0ken", "preview": "yes"}), "preview"),
        (json!({"token": "t0ken", "preview": null}), "preview"),
    ] {
        assert_eq!(parse(body.clone()).unwrap_err().field, field, "{body}");
    }
}

#[test]
fn the_token_is_shown_only_where_it_is_told() {
    let invitation = invitation("anna@example.com");
    let shown = json!(invitation.view());
    assert_eq!(shown.get("token"), None);
    assert_eq!(shown["role"], "editor");
    assert_eq!(json!(invitation.view().with_token("t0ken"))["token"], "t0ken");
}
