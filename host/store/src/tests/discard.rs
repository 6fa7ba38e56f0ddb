//! A database whose key is lost: what only that key opens goes, and all else stays.

use vedette_model::{NotificationSettings, Secret};

use super::seal::{
    assert_kept, on_disk_with_secrets, queue_letter, settings, with_secrets, write_with_the_old_key,
};
use super::*;
use crate::Discarded;
use crate::error::Error;
use crate::key;
use crate::tx::Binds;

const DIRECTORY: &str = "https://ca.example/directory";
const DOMAIN: &str = "status.example.com";

/// What is sealed everywhere that something can be, and a page with an address.
async fn filled(url: &str) -> (Account, Site) {
    let store = open(url).await;
    let (account, site) = with_secrets(&store).await;
    let paged = store.update_settings(account.id, |set| {
        *set = with_page();
        Ok::<(), ()>(())
    });
    paged.await.unwrap().unwrap();
    queue_letter(&store, &account).await;
    let secret = Secret::new("credentials".to_owned());
    store.keep_acme_credentials(account.id, DIRECTORY, &secret).await.unwrap();
    commit_run(&store, &account, &site).await;
    store.close().await.unwrap();
    (account, site)
}

fn with_page() -> NotificationSettings {
    NotificationSettings { status_page_title: "Acme".to_owned(), ..addressed(settings()) }
}

fn addressed(settings: NotificationSettings) -> NotificationSettings {
    NotificationSettings {
        status_page_slug: Some("acme".parse().unwrap()),
        status_page_custom_domain: Some(DOMAIN.to_owned()),
        ..settings
    }
}

async fn commit_run(store: &Store, account: &Account, site: &Site) {
    let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
    let decision = decide(&context, record(site, &ssl(), noon()), vec![changed("f1")]);
    store.commit(plain(account, 0, &decision)).await.unwrap();
}

async fn discarding(url: &str, keys: &str) -> (Store, Discarded) {
    Store::open_discarding(url, keyed(keys)).await.unwrap()
}

#[test]
fn what_only_the_lost_key_opens_goes_and_all_else_stays() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let url = on_disk(directory.path());
        let (account, site) = filled(&url).await;

        let (store, discarded) = discarding(&url, KEYS[1]).await;
        assert_eq!(discarded.settings, [account.id]);
        assert_eq!(discarded.sites, [(account.id, site.domain.to_string())]);
        let counts = [discarded.letters, discarded.acme_accounts, discarded.certificates];
        assert_eq!(counts, [1, 1, 0]);
        store.close().await.unwrap();
        drop(store);

        // From here on it is a database of the new key like any other.
        let store = Store::open(&url, keyed(KEYS[1])).await.unwrap();
        assert_eq!(store.listed_sites(account.id).await.unwrap().1, [bare(&site)]);
        assert_eq!(store.acme_credentials(account.id, DIRECTORY).await.unwrap(), None);
        assert!(store.lease_deliveries("a", noon(), LEASE, 9).await.unwrap().is_empty());
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        assert_eq!(context.settings, addressed(NotificationSettings::default()));
        assert_eq!((context.state.version, context.open.len()), (1, 1), "history and alerts");
        // The page's address is still the account's.
        let renamed = store.update_settings(account.id, |set| {
            set.status_page_enabled = true;
            Ok::<(), ()>(())
        });
        renamed.await.unwrap().unwrap();
        let found = store.status_page_account(&"acme".parse().unwrap()).await.unwrap();
        assert_eq!(found, Some(account.id));
        store.close().await.unwrap();
        drop(store);

        let refused = Store::open(&url, options()).await;
        assert!(matches!(refused, Err(Error::WrongKey(_))), "{refused:?}");
    });
}

#[test]
fn nothing_is_discarded_where_a_key_opens_it() {
    runtime().block_on(async {
        let (_directory, url, account, site) = on_disk_with_secrets().await;
        for keys in [KEYS[0].to_owned(), both_keys(), KEYS[1].to_owned()] {
            let (store, discarded) = discarding(&url, &keys).await;
            assert!(discarded.settings.is_empty() && discarded.sites.is_empty(), "{discarded:?}");
            assert_kept(&store, &account, &site).await;
            store.close().await.unwrap();
        }
    });
}

#[test]
fn what_a_node_wrote_with_a_lost_key_after_the_change_is_discarded_alone() {
    runtime().block_on(async {
        let (_directory, url, account, site) = on_disk_with_secrets().await;
        Store::open(&url, keyed(&both_keys())).await.unwrap().close().await.unwrap();
        write_with_the_old_key(&url, &account).await;

        let (store, discarded) = discarding(&url, KEYS[1]).await;
        assert_eq!(discarded.settings, [account.id]);
        assert!(discarded.sites.is_empty(), "{discarded:?}");
        assert_eq!(store.site(account.id, site.id).await.unwrap(), Some(site));
        store.close().await.unwrap();
    });
}

#[test]
fn what_was_cut_short_is_done_again() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let url = on_disk(directory.path());
        let (account, site) = filled(&url).await;
        // As far as the settings, and not to the word.
        let store = Store::reach(&url, keyed(KEYS[1])).await.unwrap();
        let doc = store.seal_settings(account.id, &NotificationSettings::default()).unwrap();
        let binds = Binds::new().with("id", key::settings(account.id)).with("doc", doc);
        store.write("UPDATE $id SET doc = $doc RETURN NONE", binds).await.unwrap();
        store.close().await.unwrap();
        drop(store);

        let (store, discarded) = discarding(&url, KEYS[1]).await;
        assert!(discarded.settings.is_empty(), "{discarded:?}");
        assert_eq!(discarded.sites, [(account.id, site.domain.to_string())]);
        assert_eq!(store.settings(account.id).await.unwrap(), NotificationSettings::default());
        store.close().await.unwrap();
    });
}

#[test]
fn an_empty_database_has_nothing_to_discard() {
    runtime().block_on(async {
        let refused = Store::open_discarding("mem://", options()).await;
        assert!(matches!(refused, Err(Error::Address(_))), "{refused:?}");
    });
}
