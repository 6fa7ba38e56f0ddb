//! Transactions: retries, and what comes of what is thrown.

use super::*;
use crate::error::Error;
use crate::tx::Binds;

#[test]
fn no_update_is_lost_when_32_tasks_count_on_one_row() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let row = crate::key::usage(account.id, "2026-11");
        let each = {
            let (store, row) = (store.clone(), row.clone());
            move |_| {
                let (store, row) = (store.clone(), row.clone());
                async move {
                    for _ in 0..10 {
                        let unit = "LET $was = (SELECT VALUE used FROM ONLY $row) ?? 0;
                            UPSERT $row SET used = $was + 1 RETURN NONE";
                        store.write(unit, Binds::new().with("row", row.clone())).await.unwrap();
                    }
                }
            }
        };
        at_once(32, each).await;
        assert_eq!(store.calls_so_far(account.id, "2026-11").await.unwrap().used, 320);
    });
}

#[test]
fn what_is_tried_once_says_whether_it_was_done() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let row = crate::key::usage(account.id, "2026-11");
        let once = {
            let (store, row) = (store.clone(), row.clone());
            move |_| {
                let (store, row) = (store.clone(), row.clone());
                async move {
                    let unit = "LET $was = (SELECT VALUE used FROM ONLY $row) ?? 0;
                        UPSERT $row SET used = $was + 1 RETURN NONE";
                    store.write_once(unit, Binds::new().with("row", row)).await.unwrap()
                }
            }
        };
        let done = at_once(32, once).await.into_iter().filter(|done| *done).count();
        let counted = store.calls_so_far(account.id, "2026-11").await.unwrap().used;
        assert!(done > 0 && usize::try_from(counted).unwrap() == done, "{counted} of {done}");
    });
}

#[test]
fn what_is_thrown_undoes_the_unit_and_has_a_name() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let thrown = |word: &'static str| {
            let unit = format!("UPDATE $account SET plan = 'stolen'; THROW '{word}'");
            let binds = Binds::new().with("account", crate::key::account(account.id));
            let store = &store;
            async move { store.write(&unit, binds).await.unwrap_err() }
        };
        assert!(matches!(thrown("stale").await, Error::Stale));
        assert!(matches!(thrown("gone").await, Error::Gone));
        assert!(matches!(thrown("fenced").await, Error::Fenced));
        assert!(matches!(thrown("duplicate").await, Error::Duplicate));
        assert!(matches!(thrown("site_limit").await, Error::SiteLimit));
        assert!(matches!(thrown("key_limit").await, Error::KeyLimit));
        assert!(matches!(thrown("team_limit").await, Error::TeamLimit));
        assert!(matches!(thrown("letter_limit").await, Error::LetterLimit));
        assert!(matches!(thrown("in_team").await, Error::InTeam));
        assert!(matches!(thrown("has_team").await, Error::HasTeam));
        assert!(matches!(thrown("state_quota").await, Error::StateQuota));
        assert!(matches!(thrown("anything").await, Error::Engine(_)));
        assert_eq!(store.account(account.id).await.unwrap(), Some(account));
    });
}

#[test]
fn creating_what_exists_is_a_duplicate() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let again = store.create_account(&account, &api_key(&account, "other")).await;
        assert!(matches!(again, Err(Error::Duplicate)), "{again:?}");
        assert_eq!(store.api_keys(account.id).await.unwrap().len(), 1);
    });
}

#[test]
fn values_are_bound_and_never_read_as_text() {
    on_both(|store| async move {
        let mut account = account();
        account.email = "x'; REMOVE TABLE account; --@example.com".to_owned();
        store.create_account(&account, &api_key(&account, "`; THROW 'x'")).await.unwrap();
        assert_eq!(store.account(account.id).await.unwrap(), Some(account.clone()));
        assert_eq!(store.api_keys(account.id).await.unwrap()[0].name, "`; THROW 'x'");
    });
}
