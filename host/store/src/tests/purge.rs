//! What deleted sites and accounts leave behind.

use std::sync::atomic::{AtomicBool, Ordering};

use vedette_model::delivery::{Rendered, letter, queue};
use vedette_model::status_page::Slug;
use vedette_model::{Delivery, NotificationSettings};

use super::*;
use crate::StateScope;
use crate::delivery::{QUEUE_LETTERS, letters};
use crate::error::Error;
use crate::key;
use crate::tx::Binds;

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
fn what_cannot_be_purged_keeps_nothing_else() {
    on_both(|store| async move {
        // They come first, and no version knows what they stand for.
        let strange = "CREATE purge:[1, 2] RETURN NONE; CREATE purge:[1, 3] RETURN NONE;
            CREATE account_purge:[1] SET email = 'ops@example.com' RETURN NONE";
        store.write(strange, Binds::new()).await.unwrap();
        let before = rows(&store).await;
        let (account, site) = with_site(&store).await;
        busy(&store, &account, &site).await;
        close(&store, &account).await;
        let error = loop {
            match store.purge_next(500).await {
                Ok(more) => assert!(more, "these are left"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        assert_eq!(rows(&store).await, before);
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

const DOMAIN: &str = "status.example.com";

fn slug() -> Slug {
    Slug::of("Acme", None)
}

/// A mail of an account to somebody.
pub(super) fn mail(account: &Account, to: &str) -> Delivery {
    let words = Rendered::Email {
        subject: "Hello".to_owned(),
        text: "Hello.".to_owned(),
        html: None,
        told: Vec::new(),
    };
    letter(Uuid::new_v4().into(), account.id, to, words, noon())
}

async fn queue_letters(store: &Store, mails: &[Delivery]) {
    let binds = Binds::new().with("letters", letters(mails, &store.inner.seal).unwrap());
    store.write(QUEUE_LETTERS, binds).await.unwrap();
}

/// An account of a first session that has rows in every table, but for what its sites have.
async fn lived_in(store: &Store, identity: &str) -> Account {
    let account = account();
    let address = "192.0.2.7".parse().unwrap();
    store.sign_up(identity, &account, Some(address)).await.unwrap();
    store.create_api_key(account.id, &api_key(&account, "ci"), 5).await.unwrap();
    store.count_call(account.id, "2026-11", 100).await.unwrap();
    store.switch_renewal(account.id, true, noon()).await.unwrap();
    let published = store.update_settings(account.id, |settings| {
        settings.status_page_enabled = true;
        settings.status_page_slug = Some(slug());
        settings.status_page_custom_domain = Some(DOMAIN.to_owned());
        Ok::<(), ()>(())
    });
    published.await.unwrap().unwrap();
    store.hold_status_page_domain(DOMAIN, account.id, noon()).await.unwrap();
    let window = maintenance::window(&account, None, 0);
    store.create_maintenance_window(&window, 9).await.unwrap();
    store.open_events(account.id, noon() + seconds(60)).await.unwrap();
    for numbered in [true, false] {
        let incident = incident::incident(&account, noon(), &[]);
        store.create_incident(&incident, 9).await.unwrap();
        if numbered {
            store.number_events(account.id, noon()).await.unwrap();
        }
    }
    let incident = incident::incident(&account, noon(), &[]);
    store.create_auto_incident(&incident, None, 9).await.unwrap();
    let lane = "CREATE $lane SET version = 1, quiet_at = $now RETURN NONE";
    let binds = Binds::new().with("lane", key::channel_lane(account.id, "webhook"));
    store.write(lane, binds.with("now", noon())).await.unwrap();
    queue_letters(store, &[mail(&account, &account.email)]).await;
    account
}

/// Deletes an account as the service does.
async fn close(store: &Store, account: &Account) -> NotificationSettings {
    loop {
        for site in store.listed_sites(account.id).await.unwrap().1 {
            store.delete_site(account.id, site.id).await.unwrap();
        }
        match store.close_account(account.id, 0).await {
            Ok(settings) => return settings.expect("it was there"),
            Err(Error::Stale) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_closed_account_leaves_nothing_and_everything_of_others() {
    on_both(|store| async move {
        let (stays, kept) = with_site(&store).await;
        busy(&store, &stays, &kept).await;
        queue_letters(&store, &[mail(&stays, &stays.email)]).await;
        let before = rows(&store).await;

        let goes = lived_in(&store, "someone").await;
        let key = only(store.api_keys(goes.id).await.unwrap());
        let site = site(&goes, "two.example.com");
        store.create_site(&site, 50, &[(ssl(), noon()), (uptime(), noon())]).await.unwrap();
        busy(&store, &goes, &site).await;
        let closed = store.close_account(goes.id, 0).await;
        assert!(matches!(closed, Err(Error::Stale)), "it has a site: {closed:?}");
        assert!(store.caller(&key.hash).await.unwrap().is_some());

        let settings = close(&store, &goes).await;
        assert_eq!(settings.status_page_slug, Some(slug()));
        assert_eq!(store.close_account(goes.id, 0).await.unwrap(), None);
        assert_eq!(store.account(goes.id).await.unwrap(), None);
        assert_eq!(store.caller(&key.hash).await.unwrap(), None);
        assert_eq!(store.person_of("someone").await.unwrap(), None);
        assert_eq!(store.status_page_account(&slug()).await.unwrap(), None);
        assert_eq!(store.status_page_holding(DOMAIN).await.unwrap(), None);
        assert!(store.status_page_claimants(DOMAIN, 9).await.unwrap().is_empty());
        assert!(store.event_feeds().await.unwrap().is_empty());

        let mut steps = 0;
        while store.purge_next(7).await.unwrap() {
            steps += 1;
        }
        assert!(steps > 10, "batches of 7 took {steps} steps");
        // That somebody signed up from an address stays for as long as that counts.
        while store.forget_signups(noon() + seconds(1), 7).await.unwrap() {}
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn what_a_closed_account_writes_to_others_is_sent() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let other = mail(&account, &format!("x{}", account.email));
        queue_letters(&store, &[mail(&account, &account.email), other.clone()]).await;
        close(&store, &account).await;
        while store.purge_next(500).await.unwrap() {}
        let left = store.lease_deliveries("a", noon() + seconds(1), LEASE, 9).await.unwrap();
        assert_eq!(only(left).id, other.id);
    });
}

#[test]
fn an_account_that_calls_without_a_pause_is_closed_all_the_same() {
    on_both(|store| async move {
        let before = rows(&store).await;
        let account = signed_up(&store).await;
        let is_closed = AtomicBool::new(false);
        let calls = async {
            while !is_closed.load(Ordering::Relaxed) {
                store.count_call(account.id, "2026-11", 1_000_000).await.unwrap();
            }
        };
        let end = async {
            close(&store, &account).await;
            is_closed.store(true, Ordering::Relaxed);
        };
        futures::join!(calls, end);
        while store.purge_next(500).await.unwrap() {}
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn sites_that_are_made_while_their_account_is_closed_go_with_it() {
    on_both(|store| async move {
        let before = rows(&store).await;
        let race = {
            let store = store.clone();
            move |nth: usize| {
                let store = store.clone();
                async move {
                    let account = signed_up(&store).await;
                    let make = async {
                        for number in 0..6 {
                            let site = site(&account, &format!("s{number}.example.com"));
                            // It ends with the account.
                            let _ = store.create_site(&site, 100, &[(ssl(), noon())]).await;
                        }
                    };
                    let close = async {
                        for _ in 0..nth % 7 {
                            tokio::task::yield_now().await;
                        }
                        close(&store, &account).await;
                    };
                    futures::join!(make, close);
                }
            }
        };
        at_once(12, race).await;
        while store.purge_next(500).await.unwrap() {}
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn what_is_under_way_when_its_account_is_closed_comes_to_nothing() {
    interrupted::on_both(|engine| async move {
        let (store, other) = (engine.store(), engine.other());
        let before = rows(&other).await;
        for nth in 0..6 {
            let account = signed_up(&other).await;
            let (closer, goes) = (other.clone(), account.clone());
            engine.meanwhile(async move {
                close(&closer, &goes).await;
            });
            let id = account.id;
            let written = match nth {
                0 => store.create_site(&site(&account, "a.example"), 9, &[]).await,
                1 => store.create_api_key(id, &api_key(&account, "late"), 9).await,
                2 => store.open_events(id, noon()).await,
                3 => {
                    let incident = incident::incident(&account, noon(), &[]);
                    store.create_incident(&incident, 9).await
                }
                4 => {
                    let window = maintenance::window(&account, None, 0);
                    store.create_maintenance_window(&window, 9).await
                }
                _ => {
                    let changed = store.update_settings(id, |settings| {
                        settings.status_page_slug = Some(slug());
                        Ok::<(), ()>(())
                    });
                    changed.await.map(|_| ())
                }
            };
            assert!(matches!(written, Err(Error::Gone)), "{nth}: {written:?}");
        }
        while other.purge_next(500).await.unwrap() {}
        assert_eq!(rows(&other).await, before);
    });
}
