//! Somebody new: greeted once, and counted by the address that they came from.

use std::net::IpAddr;

use super::*;
use crate::key;
use crate::tx::Binds;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// An account that a first session made from an address.
async fn made(store: &Store, from: &str, at: Timestamp) -> Account {
    let account = Account { plan: "free".to_owned(), created_at: at, ..account() };
    let identity = account.id.to_string();
    store.sign_up(&identity, &account, Some(address(from))).await.unwrap();
    account
}

async fn counted(store: &Store, from: &str, after: Timestamp) -> usize {
    store.free_accounts_of(address(from), "free", after).await.unwrap()
}

#[test]
fn a_letter_of_welcome_is_queued_once_however_many_ask_at_once() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let greet = {
            let (store, account) = (store.clone(), account.clone());
            move |_: usize| {
                let (store, letter) = (store.clone(), purge::mail(&account, "ops@example.com"));
                async move { store.welcome(letter.account_id, &letter, noon()).await.unwrap() }
            }
        };
        let answers = at_once(20, greet).await;
        assert_eq!(answers.into_iter().filter(|sent| *sent).count(), 1);
        let queued = store.lease_deliveries("a", noon() + seconds(1), LEASE, 9).await.unwrap();
        assert_eq!(only(queued).to.as_deref(), Some("ops@example.com"));
    });
}

#[test]
fn who_is_gone_is_not_welcomed() {
    on_both(|store| async move {
        let nobody = account();
        let letter = purge::mail(&nobody, &nobody.email);
        assert!(!store.welcome(nobody.id, &letter, noon()).await.unwrap());
        assert_eq!(store.outbox_depth(noon()).await.unwrap(), 0);
    });
}

#[test]
fn an_address_is_counted_by_its_accounts_of_late_that_are_free_or_were_when_they_were_deleted() {
    on_both(|store| async move {
        let (mine, other, since) = ("192.0.2.1", "2001:db8:1:2::", noon());
        assert_eq!(counted(&store, mine, since).await, 0);
        made(&store, mine, noon()).await;
        let upgraded = made(&store, mine, noon() + seconds(1)).await;
        let deleted = made(&store, mine, noon() + seconds(2)).await;
        made(&store, mine, noon() + seconds(3)).await;
        made(&store, other, noon() + seconds(4)).await;
        assert_eq!(counted(&store, mine, since).await, 3, "the first is too long ago");
        assert_eq!(counted(&store, other, since).await, 1);

        assert!(store.set_plan(upgraded.id, "pro").await.unwrap());
        assert_eq!(counted(&store, mine, since).await, 2);
        store.close_account(deleted.id, 0).await.unwrap().unwrap();
        assert_eq!(counted(&store, mine, since).await, 2, "it was made, and was free");
        store.close_account(upgraded.id, 0).await.unwrap().unwrap();
        assert_eq!(counted(&store, mine, since).await, 2);
        let later = noon() + seconds(2);
        assert_eq!(counted(&store, mine, later).await, 1, "it counts from when it was made");
    });
}

#[test]
fn whose_a_deleted_account_was_is_forgotten_with_it() {
    on_both(|store| async move {
        let goes = made(&store, "192.0.2.1", noon()).await;
        let kept = || async {
            let ids: Vec<surrealdb::types::RecordId> =
                store.read("SELECT VALUE id FROM signup", Binds::new()).await.unwrap();
            only(ids)
        };
        let before = kept().await;
        store.close_account(goes.id, 0).await.unwrap().unwrap();
        let after = kept().await;
        assert_eq!(key::text_at(&after, 0).unwrap(), key::text_at(&before, 0).unwrap());
        assert_ne!(key::uuid_at(&after, 1).unwrap(), goes.id.0);
        let named: Vec<surrealdb::types::RecordId> = store
            .read("SELECT VALUE account FROM signup WHERE account != NONE", Binds::new())
            .await
            .unwrap();
        assert!(named.is_empty(), "{named:?}");
    });
}

#[test]
fn of_an_address_no_more_stays_than_is_looked_at() {
    on_both(|store| async move {
        let goes = made(&store, "192.0.2.1", noon()).await;
        let most = i64::try_from(crate::welcome::MOST_LOOKED_AT).unwrap();
        let mark = key::text_at(&store.signup(address("192.0.2.1"), goes.id), 0).unwrap();
        let unit = "FOR $nth IN $others {
            CREATE type::record('signup', [$mark, $nth]) SET plan = 'free', created_at = $now
                RETURN NONE
        }";
        let binds = Binds::new()
            .with("others", (1..most).collect::<Vec<i64>>())
            .with("mark", mark)
            .with("now", noon());
        store.write(unit, binds).await.unwrap();
        let since = noon() - seconds(1);
        assert_eq!(counted(&store, "192.0.2.1", since).await, crate::welcome::MOST_LOOKED_AT);
        store.close_account(goes.id, 0).await.unwrap().unwrap();
        assert_eq!(counted(&store, "192.0.2.1", since).await, crate::welcome::MOST_LOOKED_AT - 1);
    });
}

#[test]
fn sign_ups_without_an_address_count_for_nobody() {
    on_both(|store| async move {
        let before = rows(&store).await;
        store.sign_up("someone", &account(), None).await.unwrap();
        let after = rows(&store).await;
        let tables = |rows: &[(String, u64)]| rows.iter().any(|(table, _)| table == "signup");
        assert!(!tables(&before) && !tables(&after), "{after:?}");
    });
}

#[test]
fn of_an_address_nothing_is_stored_but_its_mark() {
    on_both(|store| async move {
        let account = made(&store, "192.0.2.1", noon()).await;
        let ids: Vec<surrealdb::types::RecordId> =
            store.read("SELECT VALUE id FROM signup", Binds::new()).await.unwrap();
        let mark = key::text_at(&only(ids.clone()), 0).unwrap();
        assert_eq!(mark.len(), 32);
        assert!(mark.bytes().all(|byte| byte.is_ascii_hexdigit()), "{mark}");
        assert_eq!(key::uuid_at(&ids[0], 1).unwrap(), account.id.0);
    });
}

#[test]
fn sign_ups_are_forgotten_when_they_count_no_more() {
    on_both(|store| async move {
        for second in 0..5 {
            made(&store, "192.0.2.1", noon() + seconds(second)).await;
        }
        let before = noon() + seconds(3);
        while store.forget_signups(before, 2).await.unwrap() {}
        assert_eq!(counted(&store, "192.0.2.1", noon() - seconds(1)).await, 2);
        assert!(!store.forget_signups(before, 2).await.unwrap());
    });
}
