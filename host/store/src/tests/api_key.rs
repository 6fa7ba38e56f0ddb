//! Accounts and keys.

use super::*;
use crate::error::Error;

#[test]
fn an_account_reads_back_as_it_was_made() {
    on_both(|store| async move {
        assert!(!store.any_account().await.unwrap());
        let mut account = account();
        account.created_at = noon() + TimeDelta::nanoseconds(123_456_789);
        let mut key = api_key(&account, "first");
        key.expires_at = Some(noon() + seconds(60));
        store.create_account(&account, &key).await.unwrap();
        assert!(store.any_account().await.unwrap());
        assert_eq!(store.account(account.id).await.unwrap(), Some(account.clone()));
        assert_eq!(store.api_keys(account.id).await.unwrap(), [key.clone()]);
        let found = store.caller(&key.hash).await.unwrap().unwrap();
        assert_eq!((&found.key, &*found.person.account), (&key, &account));
    });
}

#[test]
fn of_many_who_find_no_account_at_all_one_makes_the_first() {
    on_both(|store| async move {
        let each = {
            let store = store.clone();
            move |_| {
                let store = store.clone();
                async move {
                    let account = account();
                    let key = api_key(&account, "first");
                    store.create_first_account(&account, &key).await.unwrap()
                }
            }
        };
        let made = at_once(8, each).await.into_iter().filter(|made| *made).count();
        assert_eq!((made, store.accounts(10, 0).await.unwrap().len()), (1, 1));
        let account = account();
        let made = store.create_first_account(&account, &api_key(&account, "late")).await.unwrap();
        assert!(!made);
        assert_eq!(store.account(account.id).await.unwrap(), None);
    });
}

#[test]
fn accounts_are_listed_oldest_first() {
    on_both(|store| async move {
        let mut made = Vec::new();
        for age in [5, 1, 3, 2, 4] {
            let account = Account { created_at: noon() - seconds(age), ..account() };
            store.create_account(&account, &api_key(&account, "first")).await.unwrap();
            made.push(account);
        }
        made.sort_by_key(|account| account.created_at);
        assert_eq!(store.accounts(10, 0).await.unwrap(), made);
        assert_eq!(store.accounts(2, 3).await.unwrap(), made[3..]);
        assert!(store.accounts(2, 5).await.unwrap().is_empty());
    });
}

#[test]
fn a_plan_is_changed_for_those_who_exist() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        assert!(store.set_plan(account.id, "free").await.unwrap());
        assert_eq!(store.account(account.id).await.unwrap().unwrap().plan, "free");
        assert!(!store.set_plan(super::account().id, "free").await.unwrap());
    });
}

#[test]
fn with_6_keys_left_40_at_once_create_exactly_6() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let create = {
            let (store, account) = (store.clone(), account.clone());
            move |nth: usize| {
                let (store, account) = (store.clone(), account.clone());
                async move {
                    let key = api_key(&account, &nth.to_string());
                    store.create_api_key(account.id, &key, 7).await
                }
            }
        };
        let answers = at_once(40, create).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 6);
        assert_eq!(answers.iter().filter(|a| matches!(a, Err(Error::KeyLimit))).count(), 34);
        assert_eq!(store.api_keys(account.id).await.unwrap().len(), 7);
    });
}

#[test]
fn a_deleted_key_makes_room_for_one() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let first = only(store.api_keys(account.id).await.unwrap());
        let second = api_key(&account, "second");
        let full = store.create_api_key(account.id, &second, 1).await;
        assert!(matches!(full, Err(Error::KeyLimit)), "{full:?}");
        assert!(store.delete_api_key(account.id, first.id).await.unwrap());
        assert!(!store.delete_api_key(account.id, first.id).await.unwrap());
        assert!(store.caller(&first.hash).await.unwrap().is_none());
        store.create_api_key(account.id, &second, 1).await.unwrap();
        assert_eq!(only(store.api_keys(account.id).await.unwrap()), second);
    });
}

#[test]
fn a_rolled_key_keeps_everything_but_its_secret() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let old = only(store.api_keys(account.id).await.unwrap());
        let rolled = store
            .roll_api_key(account.id, old.id, by_owner("newhash", "ct_newnewne"))
            .await
            .unwrap()
            .unwrap();
        let expected =
            ApiKey { hash: "newhash".into(), prefix: "ct_newnewne".into(), ..old.clone() };
        assert_eq!(rolled, expected);
        assert!(store.caller(&old.hash).await.unwrap().is_none());
        assert_eq!(store.caller("newhash").await.unwrap().unwrap().key, expected);
    });
}

#[test]
fn an_expiry_is_set_and_cleared() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let key = only(store.api_keys(account.id).await.unwrap());
        let at = Some(noon() + seconds(5));
        let set = store.update_api_key_expiry(account.id, key.id, at).await.unwrap().unwrap();
        assert_eq!(set.expires_at, at);
        assert_eq!(store.caller(&key.hash).await.unwrap().unwrap().key, set);
        let cleared = store.update_api_key_expiry(account.id, key.id, None).await.unwrap();
        assert_eq!(cleared, Some(key));
    });
}

#[test]
fn the_last_use_never_goes_back() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let key = only(store.api_keys(account.id).await.unwrap());
        for at in [noon(), noon() + seconds(9), noon() + seconds(3)] {
            store.touch_api_key(account.id, &key, at).await.unwrap();
        }
        let used = only(store.api_keys(account.id).await.unwrap()).last_used_at;
        assert_eq!(used, Some(noon() + seconds(9)));
    });
}
