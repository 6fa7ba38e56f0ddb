//! What is kept in memory, seen from a second node on the same database.

use super::*;

/// Two stores that share an engine know nothing of each other but the rows.
async fn nodes(directory: &std::path::Path) -> (Store, Store) {
    let one = open(&on_disk(directory)).await;
    let other = one.without_memory();
    (one, other)
}

#[test]
fn a_change_on_one_node_is_told_by_the_stamp_on_the_other() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let (one, other) = nodes(directory.path()).await;
        let (account, kept) = with_site(&one).await;
        let key = only(one.api_keys(account.id).await.unwrap());
        let found = other.caller(&key.hash).await.unwrap().unwrap();
        let counted = other.count_call(account.id, "2026-11", 100).await.unwrap();
        assert_eq!(counted.stamp, found.person.stamp);
        let (stamp, sites) = other.listed_sites(account.id).await.unwrap();
        assert_eq!(stamp, found.person.stamp);
        // No list needs what is sealed.
        assert_eq!(sites, [Site { deploy_config: None, ..kept.clone() }]);

        let update = |site: &mut Site| {
            site.alert_days = 30;
            vec![(ssl(), noon())]
        };
        one.update_site(account.id, kept.id, update).await.unwrap().unwrap();
        let counted = other.count_call(account.id, "2026-11", 100).await.unwrap();
        assert_ne!(counted.stamp, found.person.stamp);
        let (stamp, sites) = other.listed_sites(account.id).await.unwrap();
        assert_eq!((stamp, sites[0].alert_days), (counted.stamp, 30));
        let context = other.check_context(account.id, kept.id, &ssl()).await.unwrap().unwrap();
        assert_eq!(context.stamp, counted.stamp);

        assert!(one.delete_api_key(account.id, key.id).await.unwrap());
        assert_eq!(other.caller(&key.hash).await.unwrap(), Some(found), "from memory");
        let now = other.count_call(account.id, "2026-11", 100).await.unwrap();
        assert_ne!(now.stamp, counted.stamp);
        assert_eq!(other.caller_anew(&key.hash).await.unwrap(), None);
        assert_eq!(other.caller(&key.hash).await.unwrap(), None);
        one.close().await.unwrap();
    });
}

#[test]
fn every_change_of_plan_keys_or_sites_raises_the_stamp() {
    on_both(|store| async move {
        let (account, kept) = with_site(&store).await;
        let key = only(store.api_keys(account.id).await.unwrap());
        let mut last = store.count_call(account.id, "2026-11", 1_000).await.unwrap().stamp;
        for change in 0..6 {
            match change {
                0 => assert!(store.set_plan(account.id, "free").await.unwrap()),
                1 => {
                    let made = site(&account, "more.example");
                    store.create_site(&made, 10, &[]).await.unwrap();
                }
                2 => assert!(store.delete_site(account.id, kept.id).await.unwrap()),
                3 => {
                    let at = Some(noon());
                    store.update_api_key_expiry(account.id, key.id, at).await.unwrap().unwrap();
                }
                4 => {
                    let rolled =
                        store.roll_api_key(account.id, key.id, by_owner("new", "ct_new")).await;
                    rolled.unwrap().unwrap();
                }
                _ => assert!(store.delete_api_key(account.id, key.id).await.unwrap()),
            }
            let stamp = store.count_call(account.id, "2026-11", 1_000).await.unwrap().stamp;
            assert_ne!(stamp, last, "change {change}");
            last = stamp;
        }
        let again = store.count_call(account.id, "2026-11", 1_000).await.unwrap().stamp;
        assert_eq!(again, last, "a call changes nothing");
    });
}

#[test]
fn a_caller_of_an_account_that_was_closed_elsewhere_is_looked_for_again() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let (one, other) = nodes(directory.path()).await;
        let account = signed_up(&one).await;
        let before = rows(&one).await;
        let key = only(one.api_keys(account.id).await.unwrap());
        let found = other.caller(&key.hash).await.unwrap().unwrap();
        let page = other.events(account.id, 0, 9).await.unwrap();
        assert_eq!(page.stamp, found.person.stamp);

        one.close_account(account.id, 0).await.unwrap().unwrap();
        assert_eq!(other.caller(&key.hash).await.unwrap(), Some(found.clone()), "from memory");
        let counted = other.count_call(account.id, "2026-11", 100).await.unwrap();
        assert_ne!(counted.stamp, found.person.stamp);
        let so_far = other.calls_so_far(account.id, "2026-11").await.unwrap();
        assert_eq!((so_far.used, so_far.stamp), (0, counted.stamp), "and nothing is counted");
        let page = other.events(account.id, 0, 9).await.unwrap();
        assert_eq!(page.stamp, counted.stamp);
        assert_eq!(other.listed_sites(account.id).await.unwrap(), (counted.stamp, vec![]));
        assert_eq!(other.caller_anew(&key.hash).await.unwrap(), None);

        while one.purge_next(500).await.unwrap() {}
        assert!(rows(&one).await.len() < before.len(), "less than before there was the account");
        one.close().await.unwrap();
    });
}
