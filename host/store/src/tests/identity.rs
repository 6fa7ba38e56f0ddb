//! Identities and their accounts.

use super::*;

async fn account_of(store: &Store, identity: &str) -> Option<Account> {
    store.person_of(identity).await.unwrap().map(|person| Account::clone(&person.account))
}
use crate::error::Error;
use crate::key;
use crate::tx::Binds;

#[test]
fn an_identity_has_the_account_that_it_signed_up_and_no_key() {
    on_both(|store| async move {
        assert_eq!(account_of(&store, "someone").await, None);
        let account = account();
        store.sign_up("someone", &account, None).await.unwrap();
        assert_eq!(account_of(&store, "someone").await, Some(account.clone()));
        assert_eq!(account_of(&store, "somebody else").await, None);
        assert_eq!(store.account(account.id).await.unwrap(), Some(account.clone()));
        assert!(store.api_keys(account.id).await.unwrap().is_empty());
        store.create_api_key(account.id, &api_key(&account, "first"), 1).await.unwrap();
    });
}

#[test]
fn equal_addresses_are_two_accounts() {
    on_both(|store| async move {
        let (first, second) = (account(), account());
        store.sign_up("one", &first, None).await.unwrap();
        store.sign_up("two", &second, None).await.unwrap();
        assert_eq!(account_of(&store, "one").await, Some(first));
        assert_eq!(account_of(&store, "two").await, Some(second));
    });
}

#[test]
fn of_20_sign_ups_at_once_one_makes_the_account() {
    on_both(|store| async move {
        let sign_up = {
            let store = store.clone();
            move |_: usize| {
                let store = store.clone();
                async move { store.sign_up("someone", &account(), None).await }
            }
        };
        let answers = at_once(20, sign_up).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert!(answers.iter().all(|a| matches!(a, Ok(()) | Err(Error::Duplicate))), "{answers:?}");
        let kept = account_of(&store, "someone").await.unwrap();
        assert_eq!(store.accounts(50, 0).await.unwrap(), [kept]);
    });
}

#[test]
fn an_identity_whose_account_is_gone_signs_up_anew() {
    on_both(|store| async move {
        let (first, second) = (account(), account());
        store.sign_up("someone", &first, None).await.unwrap();
        let gone = Binds::new().with("account", key::account(first.id));
        store.write("DELETE $account RETURN NONE", gone).await.unwrap();
        assert_eq!(account_of(&store, "someone").await, None);
        store.sign_up("someone", &second, None).await.unwrap();
        assert_eq!(account_of(&store, "someone").await, Some(second));
    });
}
