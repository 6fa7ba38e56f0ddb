//! How far holds what is remembered of members, and that nothing of a team outlives it.

use super::*;
use crate::key;
use crate::team::{DISBAND, LEAVE};
use crate::tx::Binds;

#[test]
fn whatever_changes_for_a_member_raises_the_stamp_that_is_compared() {
    on_both(|store| async move {
        let (owner, member) = team(&store).await;
        let key = only(store.api_keys(member.id).await.unwrap());
        let mut last = [stamp(&store, owner.id).await, stamp(&store, member.id).await];
        for change in 0..7 {
            let (of_owner, of_member) = match change {
                0 => {
                    let role = Role::Viewer;
                    store.set_member_role(owner.id, member.id.0, role).await.unwrap().unwrap();
                    (true, false)
                }
                1 => {
                    let at = Some(noon());
                    store.update_api_key_expiry(member.id, key.id, at).await.unwrap().unwrap();
                    (true, true)
                }
                2 => {
                    let rolled =
                        store.roll_api_key(member.id, key.id, by_owner("new", "sp_new")).await;
                    rolled.unwrap().unwrap();
                    (true, true)
                }
                3 => {
                    assert!(store.delete_api_key(member.id, key.id).await.unwrap());
                    (true, true)
                }
                4 => {
                    assert!(store.set_plan(member.id, "free").await.unwrap());
                    (true, true)
                }
                5 => {
                    // Without teams they act for themselves, and their own stamp is compared.
                    assert!(store.set_plan(owner.id, "pro").await.unwrap());
                    (true, true)
                }
                _ => {
                    assert!(!store.leave_team(member.id, owner.id.0).await.unwrap());
                    assert!(store.leave_team(member.id, member.id.0).await.unwrap());
                    assert!(!store.leave_team(member.id, member.id.0).await.unwrap());
                    (true, true)
                }
            };
            let now = [stamp(&store, owner.id).await, stamp(&store, member.id).await];
            assert_eq!([now[0] != last[0], now[1] != last[1]], [of_owner, of_member], "{change}");
            last = now;
        }
    });
}

#[test]
fn a_member_who_is_remembered_elsewhere_is_told_by_the_owners_stamp() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let one = open(&on_disk(directory.path())).await;
        let other = one.without_memory();
        let (owner, member) = team(&one).await;
        let key = only(one.api_keys(member.id).await.unwrap());
        let found = other.caller(&key.hash).await.unwrap().unwrap();
        let known = found.person.team.as_ref().unwrap().stamp;
        assert_eq!(other.count_call(owner.id, MONTH, 100).await.unwrap().stamp, known);
        assert!(one.remove_member(owner.id, member.id.0).await.unwrap());
        assert_eq!(other.caller(&key.hash).await.unwrap(), Some(found), "from memory");
        assert_ne!(other.count_call(owner.id, MONTH, 100).await.unwrap().stamp, known);
        assert_eq!(other.caller_anew(&key.hash).await.unwrap().unwrap().person.team, None);
        one.close().await.unwrap();
    });
}

#[test]
fn a_team_goes_with_its_owner_and_a_membership_with_its_member() {
    on_both(|store| async move {
        let (owner, first) = team(&store).await;
        let second = somebody(&store, "bert@example.com").await;
        let made = invite(&store, &owner, &second.email).await.unwrap();
        join(&store, &made, &second).await.unwrap();
        let open = invite(&store, &owner, "waits@example.com").await.unwrap();

        let before = stamp(&store, owner.id).await;
        let leaves = Binds::new().with("member", key::account(first.id));
        store.write(LEAVE, leaves).await.unwrap();
        assert_eq!(only(members(&store, &owner).await).member_id, second.id);
        assert_eq!(role_of(&store, &first).await, None);
        assert_ne!(stamp(&store, owner.id).await, before);
        let nowhere = Binds::new().with("member", key::account(first.id));
        store.write(LEAVE, nowhere).await.unwrap();

        let before = stamp(&store, second.id).await;
        let ends = Binds::new().with("owner", key::account(owner.id));
        store.write(DISBAND, ends).await.unwrap();
        assert_eq!(role_of(&store, &second).await, None);
        assert_ne!(stamp(&store, second.id).await, before);
        assert!(members(&store, &owner).await.is_empty());
        assert_eq!(store.asked(&open.hash, first.id).await.unwrap(), None);
        let left = rows(&store).await;
        assert!(left.iter().all(|(table, _)| !table.starts_with("team_")), "{left:?}");
    });
}
