//! Teams: who is let in, how far what is remembered of them holds, and that the limit does.

use vedette_model::delivery::{Rendered, letter};
use vedette_model::team::{Invitation, Member, NewInvitation};
use vedette_model::{AccountId, Delivery};

use super::*;
use crate::Stamp;
use crate::error::Error;

mod memory;

/// As many as the plan has.
const LIMIT: u32 = 3;
/// In a day.
const LETTERS: u32 = 2;
const MONTH: &str = "2026-11";

async fn somebody(store: &Store, email: &str) -> Account {
    let account = Account {
        email: email.to_owned(),
        edition: "team".to_owned(),
        plan: "team".to_owned(),
        ..account()
    };
    store.create_account(&account, &api_key(&account, "first")).await.unwrap();
    account
}

fn invitation(owner: &Account, email: &str, role: Role) -> Invitation {
    let new = NewInvitation { email: email.to_owned(), role };
    let hash = format!("{:032x}", Uuid::new_v4().as_u128());
    new.into_invitation(Uuid::new_v4().into(), owner.id, hash, noon())
}

async fn invite(store: &Store, owner: &Account, email: &str) -> Result<Invitation> {
    let made = invitation(owner, email, Role::Editor);
    store.invite(&made, LIMIT, LETTERS, &[]).await.map(|()| made)
}

fn mail(invitation: &Invitation) -> Delivery {
    let words = Rendered::Email {
        subject: "asked".to_owned(),
        text: "come".to_owned(),
        html: None,
        told: Vec::new(),
    };
    let id = Uuid::new_v4().into();
    letter(id, invitation.owner_id, &invitation.email, words, noon())
}

async fn join(store: &Store, invitation: &Invitation, user: &Account) -> Result<()> {
    let asked = store.asked(&invitation.hash, user.id).await?.ok_or(Error::Gone)?;
    store.join_team(&asked, user.id, Uuid::new_v4().into(), LIMIT, noon()).await
}

/// A team of an owner and one member, an editor.
async fn team(store: &Store) -> (Account, Account) {
    let owner = somebody(store, "owner@example.com").await;
    let member = somebody(store, "anna@example.com").await;
    let made = invite(store, &owner, &member.email).await.unwrap();
    join(store, &made, &member).await.unwrap();
    (owner, member)
}

async fn members(store: &Store, owner: &Account) -> Vec<Member> {
    store.team(owner.id, noon()).await.unwrap().0
}

async fn open_invitations(store: &Store, owner: &Account) -> Vec<Invitation> {
    store.team(owner.id, noon()).await.unwrap().1
}

async fn stamp(store: &Store, account: AccountId) -> Stamp {
    store.calls_so_far(account, MONTH).await.unwrap().stamp
}

/// The role in whose team somebody acts, as their key and as a look at the rows say it.
async fn role_of(store: &Store, member: &Account) -> Option<(AccountId, Role)> {
    let key = only(store.api_keys(member.id).await.unwrap());
    let found = store.caller_anew(&key.hash).await.unwrap().unwrap();
    found.person.team.as_ref().map(|team| (team.account.id, team.role))
}

#[test]
fn a_member_is_found_with_the_owner_the_role_and_the_owners_stamp() {
    on_both(|store| async move {
        let (owner, member) = team(&store).await;
        let key = only(store.api_keys(member.id).await.unwrap());
        let found = store.caller_anew(&key.hash).await.unwrap().unwrap();
        assert_eq!(*found.person.account, member);
        let team = found.person.team.as_ref().unwrap();
        assert_eq!((&*team.account, team.role), (&owner, Role::Editor));
        assert_eq!(team.stamp, stamp(&store, owner.id).await);
        assert_eq!(found.person.stamp, stamp(&store, member.id).await);

        let listed = only(members(&store, &owner).await);
        assert_eq!((listed.member_id, listed.role), (member.id, Role::Editor));
        assert_eq!((listed.email, listed.full_name), (member.email.clone(), None));
        assert!(open_invitations(&store, &owner).await.is_empty(), "it is used up");
        let key = only(store.api_keys(owner.id).await.unwrap());
        assert_eq!(store.caller_anew(&key.hash).await.unwrap().unwrap().person.team, None);
    });
}

#[test]
fn a_session_leads_to_the_same_team() {
    on_both(|store| async move {
        let owner = somebody(&store, "owner@example.com").await;
        let member = Account { email: "anna@example.com".to_owned(), ..account() };
        store.sign_up("anna", &member, None).await.unwrap();
        assert_eq!(store.person_of("anna").await.unwrap().unwrap().team, None);
        let made = invite(&store, &owner, &member.email).await.unwrap();
        join(&store, &made, &member).await.unwrap();
        let team = store.person_of("anna").await.unwrap().unwrap().team.unwrap();
        assert_eq!((&*team.account, team.role), (&owner, Role::Editor));
        assert_eq!(team.stamp, stamp(&store, owner.id).await);
    });
}

#[test]
fn an_invitation_reads_back_as_it_was_made_and_is_queued_with_its_letter() {
    on_both(|store| async move {
        let owner = somebody(&store, "owner@example.com").await;
        let made = invitation(&owner, "anna@example.com", Role::Admin);
        store.invite(&made, LIMIT, LETTERS, &[mail(&made)]).await.unwrap();
        assert_eq!(open_invitations(&store, &owner).await, std::slice::from_ref(&made));
        let asked = store.asked(&made.hash, owner.id).await.unwrap().unwrap();
        assert_eq!(store.outbox_depth(noon()).await.unwrap(), 1);
        assert_eq!(store.asked("nobody's", owner.id).await.unwrap(), None);
        assert_eq!((asked.invitation, asked.owner, asked.members), (made, owner, 0));
    });
}

#[test]
fn a_refused_invitation_queues_no_letter() {
    on_both(|store| async move {
        let (owner, member) = team(&store).await;
        let made = invitation(&owner, &member.email, Role::Admin);
        let twice = store.invite(&made, LIMIT, LETTERS, &[mail(&made)]).await;
        assert!(matches!(twice, Err(Error::Duplicate)), "{twice:?}");
        assert_eq!(store.outbox_depth(noon()).await.unwrap(), 0);
        assert_eq!(store.asked(&made.hash, member.id).await.unwrap(), None);
    });
}

#[test]
fn a_day_has_so_many_letters_whatever_becomes_of_the_invitations() {
    on_both(|store| async move {
        let owner = somebody(&store, "owner@example.com").await;
        let ask = async |created_at: Timestamp, is_mailed: bool| {
            let made = invitation(&owner, "anna@example.com", Role::Viewer);
            let made = Invitation { created_at, ..made };
            let letter = mail(&made);
            let letters = if is_mailed { std::slice::from_ref(&letter) } else { &[] };
            store.invite(&made, LIMIT, LETTERS, letters).await.map(|()| made)
        };
        for _ in 0..LETTERS {
            let made = ask(noon(), true).await.unwrap();
            assert!(store.withdraw_invitation(owner.id, made.id, noon()).await.unwrap());
        }
        let over = ask(noon(), true).await;
        assert!(matches!(over, Err(Error::LetterLimit)), "{over:?}");
        assert!(open_invitations(&store, &owner).await.is_empty());
        assert_eq!(store.outbox_depth(noon()).await.unwrap(), 2);
        // A token that is passed on by hand is no letter, and the next day has letters of its own.
        ask(noon(), false).await.unwrap();
        let next = noon() + seconds(12 * 3600);
        ask(next, true).await.unwrap();
        assert_eq!(store.outbox_depth(next).await.unwrap(), 3);
        // What is sent without the outbox counts too, all of it or nothing.
        let count = async |mails| store.count_letters(owner.id, mails, LETTERS, next).await;
        assert!(matches!(count(2).await, Err(Error::LetterLimit)));
        count(1).await.unwrap();
        assert!(matches!(count(1).await, Err(Error::LetterLimit)));
        let over = ask(next, true).await;
        assert!(matches!(over, Err(Error::LetterLimit)), "{over:?}");
        let nobody = store.count_letters(Uuid::new_v4().into(), 1, LETTERS, next).await;
        assert!(matches!(nobody, Err(Error::Gone)), "{nobody:?}");
    });
}

#[test]
fn a_second_invitation_of_an_address_takes_the_place_of_the_first() {
    on_both(|store| async move {
        let owner = somebody(&store, "owner@example.com").await;
        let anna = somebody(&store, "anna@example.com").await;
        let first = invite(&store, &owner, &anna.email).await.unwrap();
        let mut last = first.clone();
        for _ in 0..LIMIT {
            last = invite(&store, &owner, &anna.email).await.unwrap();
        }
        assert_eq!(open_invitations(&store, &owner).await, [last.clone()]);
        assert_eq!(store.asked(&first.hash, anna.id).await.unwrap(), None);
        join(&store, &last, &anna).await.unwrap();
    });
}

#[test]
fn with_room_for_1_of_8_at_once_exactly_1_is_invited() {
    on_both(|store| async move {
        let (owner, _) = team(&store).await;
        invite(&store, &owner, "waits@example.com").await.unwrap();
        let call = {
            let (store, owner) = (store.clone(), owner.clone());
            move |nth: usize| {
                let (store, owner) = (store.clone(), owner.clone());
                async move { invite(&store, &owner, &format!("n{nth}@example.com")).await }
            }
        };
        let answers = at_once(8, call).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert_eq!(answers.iter().filter(|a| matches!(a, Err(Error::TeamLimit))).count(), 7);
        assert_eq!(open_invitations(&store, &owner).await.len(), 2);
    });
}

#[test]
fn an_expired_invitation_lets_nobody_in_and_makes_room() {
    on_both(|store| async move {
        let (owner, _) = team(&store).await;
        let anna = somebody(&store, "late@example.com").await;
        let mut old = invitation(&owner, &anna.email, Role::Viewer);
        old.expires_at = noon();
        store.invite(&old, LIMIT, LETTERS, &[]).await.unwrap();
        assert!(open_invitations(&store, &owner).await.is_empty());
        let late = join(&store, &old, &anna).await;
        assert!(matches!(late, Err(Error::Gone)), "{late:?}");
        assert_eq!(members(&store, &owner).await.len(), 1);
        for email in ["waits@example.com", "more@example.com"] {
            invite(&store, &owner, email).await.unwrap();
        }
        assert_eq!(store.asked(&old.hash, anna.id).await.unwrap(), None);
        let full = invite(&store, &owner, "most@example.com").await;
        assert!(matches!(full, Err(Error::TeamLimit)), "{full:?}");
    });
}

#[test]
fn a_token_lets_somebody_in_once_however_many_bring_it() {
    on_both(|store| async move {
        let owner = somebody(&store, "owner@example.com").await;
        let made = invite(&store, &owner, "anna@example.com").await.unwrap();
        let mut twins = Vec::new();
        for _ in 0..8 {
            twins.push(somebody(&store, "anna@example.com").await);
        }
        let call = {
            let (store, made) = (store.clone(), made.clone());
            move |nth: usize| {
                let (store, made, user) = (store.clone(), made.clone(), twins[nth].clone());
                async move { join(&store, &made, &user).await }
            }
        };
        let answers = at_once(8, call).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        assert!(answers.iter().all(|a| matches!(a, Ok(()) | Err(Error::Gone))), "{answers:?}");
        assert_eq!(members(&store, &owner).await.len(), 1);
    });
}

#[test]
fn nobody_is_in_two_teams_and_no_member_has_one() {
    on_both(|store| async move {
        let (owner, member) = team(&store).await;
        let other = somebody(&store, "other@example.com").await;
        let made = invite(&store, &other, &member.email).await.unwrap();
        let twice = join(&store, &made, &member).await;
        assert!(matches!(twice, Err(Error::InTeam)), "{twice:?}");
        let made = invite(&store, &other, &owner.email).await.unwrap();
        let leads = join(&store, &made, &owner).await;
        assert!(matches!(leads, Err(Error::HasTeam)), "{leads:?}");
        let invites = invite(&store, &member, "more@example.com").await;
        assert!(matches!(invites, Err(Error::InTeam)), "{invites:?}");

        // Whoever was asked by somebody who went into a team since is asked no more.
        let asked = invite(&store, &other, "more@example.com").await.unwrap();
        let more = somebody(&store, "more@example.com").await;
        let made = invite(&store, &owner, &other.email).await.unwrap();
        join(&store, &made, &other).await.unwrap();
        assert!(store.asked(&asked.hash, more.id).await.unwrap().unwrap().owner_is_member);
        let joins = join(&store, &asked, &more).await;
        assert!(matches!(joins, Err(Error::Gone)), "{joins:?}");
    });
}

#[test]
fn two_who_invite_each_other_end_in_one_team() {
    on_both(|store| async move {
        let one = somebody(&store, "one@example.com").await;
        let two = somebody(&store, "two@example.com").await;
        let to_two = invite(&store, &one, &two.email).await.unwrap();
        let to_one = invite(&store, &two, &one.email).await.unwrap();
        let call = {
            let (store, one, two) = (store.clone(), one.clone(), two.clone());
            move |nth: usize| {
                let (made, user) = if nth == 0 { (&to_two, &two) } else { (&to_one, &one) };
                let (store, made, user) = (store.clone(), made.clone(), user.clone());
                async move { join(&store, &made, &user).await }
            }
        };
        let answers = at_once(2, call).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        let count = members(&store, &one).await.len() + members(&store, &two).await.len();
        assert_eq!(count, 1);
    });
}

#[test]
fn a_plan_that_changed_since_lets_nobody_in() {
    on_both(|store| async move {
        let owner = somebody(&store, "owner@example.com").await;
        let anna = somebody(&store, "anna@example.com").await;
        let made = invite(&store, &owner, &anna.email).await.unwrap();
        let asked = store.asked(&made.hash, anna.id).await.unwrap().unwrap();
        store.set_plan(owner.id, "pro").await.unwrap();
        let joins = store.join_team(&asked, anna.id, Uuid::new_v4().into(), LIMIT, noon()).await;
        assert!(matches!(joins, Err(Error::Stale)), "{joins:?}");
        assert_eq!(role_of(&store, &anna).await, None);
        store.set_plan(owner.id, "team").await.unwrap();
        join(&store, &made, &anna).await.unwrap();
    });
}

#[test]
fn a_role_is_changed_and_a_member_removed_by_either_id_and_nobody_elses() {
    on_both(|store| async move {
        let (owner, member) = team(&store).await;
        let stranger = somebody(&store, "stranger@example.com").await;
        let membership = only(members(&store, &owner).await).id.0;
        for (named, role) in [(member.id.0, Role::Admin), (membership, Role::Viewer)] {
            let changed = store.set_member_role(owner.id, named, role).await.unwrap().unwrap();
            assert_eq!((changed.member_id, changed.role), (member.id, role));
            assert_eq!(role_of(&store, &member).await, Some((owner.id, role)));
            let theirs = store.set_member_role(stranger.id, named, Role::Admin).await.unwrap();
            assert_eq!(theirs, None);
            assert!(!store.remove_member(stranger.id, named).await.unwrap());
        }
        assert_eq!(store.set_member_role(owner.id, owner.id.0, Role::Admin).await.unwrap(), None);
        assert!(store.remove_member(owner.id, membership).await.unwrap());
        assert!(!store.remove_member(owner.id, member.id.0).await.unwrap());
        assert_eq!(role_of(&store, &member).await, None);

        let made = invite(&store, &owner, &member.email).await.unwrap();
        assert!(!store.withdraw_invitation(stranger.id, made.id, noon()).await.unwrap());
        assert!(store.withdraw_invitation(owner.id, made.id, noon()).await.unwrap());
        assert!(!store.withdraw_invitation(owner.id, made.id, noon()).await.unwrap());
        assert_eq!(store.asked(&made.hash, member.id).await.unwrap(), None);
    });
}

#[test]
fn a_key_is_made_by_whom_its_role_is_of() {
    on_both(|store| async move {
        let (owner, member) = team(&store).await;
        let stranger = somebody(&store, "stranger@example.com").await;
        let of = |maker: &Account, role: Role| ApiKey {
            role,
            made_by: Some(maker.id),
            ..api_key(&owner, "deploy")
        };
        for (maker, role) in [(&member, Role::Admin), (&stranger, Role::Editor)] {
            let refused = store.create_api_key(owner.id, &of(maker, role), 10).await;
            assert!(matches!(refused, Err(Error::Stale)), "{refused:?}");
        }
        let key = of(&member, Role::Editor);
        store.create_api_key(owner.id, &key, 10).await.unwrap();
        assert_eq!(store.caller_anew(&key.hash).await.unwrap().unwrap().key, key);

        store.set_member_role(owner.id, member.id.0, Role::Viewer).await.unwrap().unwrap();
        let found = store.caller_anew(&key.hash).await.unwrap().unwrap();
        assert_eq!(found.key.role, Role::Viewer);
        let mut keys = store.api_keys(owner.id).await.unwrap();
        keys.retain(|key| key.made_by.is_none());
        assert_eq!(only(keys).role, Role::Owner, "the owner's own stays what it is");

        // Whoever rolls a key has it, and the role that they have by then.
        let by_member =
            |hash, role| Rolled { role, made_by: Some(member.id), ..by_owner(hash, "sp_rolledro") };
        let was_editor = store.roll_api_key(owner.id, key.id, by_member("x", Role::Editor)).await;
        assert!(matches!(was_editor, Err(Error::Stale)), "{was_editor:?}");
        let own = ApiKey { role: Role::Owner, made_by: None, ..key.clone() };
        for (rolled, expected) in [
            (by_owner("owners", "sp_rolledro"), own),
            (by_member("members", Role::Viewer), ApiKey { role: Role::Viewer, ..key.clone() }),
        ] {
            let key = store.roll_api_key(owner.id, key.id, rolled).await.unwrap().unwrap();
            let (hash, prefix) = (rolled.hash.to_owned(), rolled.prefix.to_owned());
            assert_eq!(key, ApiKey { hash, prefix, ..expected });
        }

        assert!(store.remove_member(owner.id, member.id.0).await.unwrap());
        assert!(store.caller_anew("members").await.unwrap().is_none());
        assert_eq!(only(store.api_keys(owner.id).await.unwrap()).made_by, None);
        assert_eq!(only(store.api_keys(member.id).await.unwrap()).role, Role::Owner);
        // The first key and this one: the count came down with the other.
        store.create_api_key(owner.id, &api_key(&owner, "next"), 2).await.unwrap();
    });
}
