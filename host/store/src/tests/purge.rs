//! What deleted sites leave behind.

use vedette_model::NotificationSettings;
use vedette_model::delivery::queue;

use super::*;
use crate::StateScope;

/// Fills every table that a site can have rows in.
async fn busy(store: &Store, account: &Account, site: &Site) {
    let settings = NotificationSettings {
        custom_webhook_url: Some("https://hooks.example.com/x".to_owned().into()),
        ..NotificationSettings::default()
    };
    for nth in 0..12 {
        for check_type in [ssl(), uptime()] {
            let context =
                store.check_context(account.id, site.id, &check_type).await.unwrap().unwrap();
            let found = vec![changed(&format!("f{nth}")), finding("ssl.expiring", "f1")];
            let mut run = record(site, &check_type, noon() - seconds(nth * 40_000));
            run.result["response_time_ms"] = json!(120);
            let decision = decide(&context, run, found);
            let deliveries = queue(&decision, account, &settings, noon());
            let commit = Commit {
                deliveries: &deliveries,
                ..plain(account, context.state.version, &decision)
            };
            store.commit(commit).await.unwrap();
        }
    }
    let window = maintenance::window(account, Some(site.id), 0);
    store.create_maintenance_window(&window, 9).await.unwrap();
    for plugin in ["ct", "dns"] {
        let scope = StateScope { plugin, site: Some(site.id) };
        store.plugin_state_set(scope, "k", b"v", None, noon(), 100).await.unwrap();
    }
}

#[test]
fn a_purge_leaves_nothing_of_the_site_and_everything_of_others() {
    on_both(|store| async move {
        let (account, stays) = with_site(&store).await;
        busy(&store, &account, &stays).await;
        let before = rows(&store).await;
        let tables: Vec<&str> = before.iter().map(|(table, _)| &**table).collect();
        for table in ["check", "check_day", "check_memory", "alert", "cert_history", "delivery"] {
            assert!(tables.contains(&table), "{table} has no rows: {tables:?}");
        }

        let goes = super::site(&account, "two.example.com");
        store.create_site(&goes, 50, &[(ssl(), noon()), (uptime(), noon())]).await.unwrap();
        busy(&store, &account, &goes).await;
        assert!(store.delete_site(account.id, goes.id).await.unwrap());
        assert_eq!(store.latest_checks(account.id, goes.id).await.unwrap(), None);

        let mut steps = 0;
        while store.purge_next(7).await.unwrap() {
            steps += 1;
        }
        assert!(steps > 10, "batches of 7 took {steps} steps");
        assert_eq!(rows(&store).await, before);
        assert!(!store.purge_next(7).await.unwrap());
    });
}

#[test]
fn sites_deleted_while_they_are_checked_leave_nothing() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let before = rows(&store).await;
        let race = {
            let (store, account) = (store.clone(), account.clone());
            move |nth: usize| {
                let (store, account) = (store.clone(), account.clone());
                async move {
                    let site = site(&account, &format!("s{nth}.example.com"));
                    store.create_site(&site, 100, &[(ssl(), noon())]).await.unwrap();
                    let check = async {
                        for second in 0..4 {
                            let at = noon() + seconds(second);
                            let run = record(&site, &ssl(), at);
                            // It ends with the site.
                            let _ = checked(&store, &account, run, vec![changed("f1")]).await;
                        }
                    };
                    let delete = async {
                        for _ in 0..nth % 7 {
                            tokio::task::yield_now().await;
                        }
                        assert!(store.delete_site(account.id, site.id).await.unwrap());
                        while store.purge_next(500).await.unwrap() {}
                    };
                    futures::join!(check, delete);
                }
            }
        };
        at_once(24, race).await;
        while store.purge_next(500).await.unwrap() {}
        assert_eq!(rows(&store).await, before);
    });
}
