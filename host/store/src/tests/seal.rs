//! Secrets at rest: nothing in the database shows them, and another key is refused.

use std::collections::BTreeMap;

use surrealdb::types::{Object, Value as Stored};
use tempfile::TempDir;
use vedette_model::delivery::{Outcome, Rendered, letter, queue};
use vedette_model::secret::revealed;
use vedette_model::settings::ChannelSettings;
use vedette_model::{Delivery, NotificationSettings};

use super::*;
use crate::delivery::{QUEUE_LETTERS, letters};
use crate::error::Error;
use crate::tx::Binds;
use crate::{key, row};

/// Stands in every secret below.
const MARK: &str = "s3cr3tmark";
/// Stands where nothing is sealed: who finds this looks in the right place.
const PLAIN: &str = "www.example.com";

fn secret(field: &str) -> Option<vedette_model::Secret<String>> {
    Some(format!("https://{field}.example.com/{MARK}?token={MARK}").into())
}

pub(super) fn settings() -> NotificationSettings {
    NotificationSettings {
        slack_webhook_url: secret("slack"),
        discord_webhook_url: secret("discord"),
        teams_webhook: secret("teams"),
        custom_webhook_url: secret("hooks"),
        webhook_secret: secret("whsec"),
        plugin_channels: BTreeMap::from([("pager".to_owned(), plugin_channel().into())]),
        ..NotificationSettings::default()
    }
}

fn plugin_channel() -> ChannelSettings {
    let set = json!({ "url": format!("https://pager.example.com/{MARK}"), "token": MARK });
    set.as_object().cloned().expect("an object")
}

fn secret_site(account: &Account) -> Site {
    Site {
        dns_provider_config: Some(json!({ "token": MARK }).into()),
        deploy_config: Some(json!({ "key": { (MARK): [MARK] } }).into()),
        ..site(account, PLAIN)
    }
}

async fn set(store: &Store, account: &Account) {
    let changed = store.update_settings(account.id, |set| {
        *set = settings();
        Ok::<(), ()>(())
    });
    changed.await.unwrap().unwrap();
}

/// An account with secrets wherever there can be some.
pub(super) async fn with_secrets(store: &Store) -> (Account, Site) {
    let account = signed_up(store).await;
    let site = secret_site(&account);
    store.create_site(&site, 50, &[(ssl(), noon())]).await.unwrap();
    set(store, &account).await;
    (account, site)
}

/// The same on disk, sealed with the first key and closed.
pub(super) async fn on_disk_with_secrets() -> (TempDir, String, Account, Site) {
    let directory = tempfile::tempdir().unwrap();
    let url = on_disk(directory.path());
    let store = open(&url).await;
    let (account, site) = with_secrets(&store).await;
    store.close().await.unwrap();
    (directory, url, account, site)
}

/// A letter with a secret in it, on its way.
pub(super) async fn queue_letter(store: &Store, account: &Account) -> Delivery {
    let words = Rendered::Email {
        subject: "Hello".to_owned(),
        text: MARK.to_owned(),
        html: Some(MARK.to_owned()),
        told: Vec::new(),
    };
    let letter = letter(Uuid::new_v4().into(), account.id, &account.email, words, noon());
    let rows = letters(std::slice::from_ref(&letter), &store.inner.seal).unwrap();
    store.write(QUEUE_LETTERS, Binds::new().with("letters", rows)).await.unwrap();
    letter
}

/// All rows of all tables, as text.
async fn dump(store: &Store) -> String {
    let schema: Object = store.read("INFO FOR DB", Binds::new()).await.unwrap();
    let Some(Stored::Object(tables)) = schema.get("tables") else { panic!("no tables") };
    let mut text = String::new();
    for (table, _) in tables.iter() {
        let rows: Stored =
            store.read(&format!("SELECT * FROM {table}"), Binds::new()).await.unwrap();
        text.push_str(&format!("{table}: {rows:?}\n"));
    }
    text
}

async fn assert_sealed(store: &Store) {
    let dump = dump(store).await;
    assert!(dump.contains(PLAIN), "the dump is of everything");
    let leak = dump.lines().find(|rows| rows.contains(MARK));
    assert!(leak.is_none(), "{leak:?}");
}

pub(super) async fn assert_kept(store: &Store, account: &Account, site: &Site) {
    assert_eq!(store.settings(account.id).await.unwrap(), settings());
    assert_eq!(store.site(account.id, site.id).await.unwrap().as_ref(), Some(site));
    assert_eq!(only(store.listed_sites(account.id).await.unwrap().1).id, site.id);
    let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
    assert_eq!((context.site.id, context.settings), (site.id, settings()));
}

#[test]
fn no_row_shows_a_secret() {
    on_both(|store| async move {
        let (account, site) = with_secrets(&store).await;
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let decision = decide(&context, record(&site, &ssl(), noon()), vec![changed("f1")]);
        let deliveries = queue(&decision, &account, &settings(), noon());
        assert!(!deliveries.is_empty());
        let commit = Commit { deliveries: &deliveries, ..plain(&account, 0, &decision) };
        store.commit(commit).await.unwrap();
        for leased in delivery::gathered(&store, &account, noon(), 100).await {
            let part = Rendered::Http {
                url: "ref:custom_webhook_url".to_owned(),
                method: "POST".to_owned(),
                headers: Vec::new(),
                body: "{}".to_owned(),
            };
            let rendered = Delivery { rendered: Some(vec![part]), ..leased };
            assert!(store.settle_delivery(&rendered).await.unwrap());
        }
        let changed = store.update_site(account.id, site.id, |site| {
            site.dns_provider = Some("cloudflare".to_owned());
            vec![(ssl(), noon())]
        });
        let changed = changed.await.unwrap().unwrap();
        assert_sealed(&store).await;
        assert_kept(&store, &account, &changed).await;
    });
}

#[test]
fn a_letter_is_sealed_and_says_the_same_at_every_attempt() {
    on_both(|store| async move {
        let (account, _) = with_secrets(&store).await;
        let letter = queue_letter(&store, &account).await;
        assert_sealed(&store).await;
        let mut now = noon();
        for attempt in 0..3 {
            let leased = only(store.lease_deliveries("a", now, LEASE, 9).await.unwrap());
            assert_eq!((leased.attempt, &leased.rendered), (attempt, &letter.rendered));
            assert!(store.keep_delivery(&leased, now + LEASE).await.unwrap());
            assert_sealed(&store).await;
            let away = Outcome::Retry { reason: "away".to_owned(), after: None };
            let tried = leased.after(away, now);
            assert!(store.settle_delivery(&tried).await.unwrap());
            assert_sealed(&store).await;
            now = tried.due_at;
        }
        assert_eq!(store.outbox_depth(now).await.unwrap(), 0, "three attempts");
    });
}

#[test]
fn a_letter_that_does_not_open_keeps_no_other_from_being_sent() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let spoiled = queue_letter(&store, &account).await;
        let other = queue_letter(&store, &account).await;
        let unit = "UPDATE $spoiled SET sealed = $other.sealed RETURN NONE";
        let binds = Binds::new()
            .with("spoiled", key::delivery(spoiled.id))
            .with("other", key::delivery(other.id));
        store.write(unit, binds).await.unwrap();
        let leased = only(store.lease_deliveries("a", noon(), LEASE, 9).await.unwrap());
        assert_eq!(leased.id, other.id);
    });
}

#[test]
fn a_letter_on_its_way_is_sealed_with_a_new_first_key() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let url = on_disk(directory.path());
        let store = open(&url).await;
        let account = signed_up(&store).await;
        let letter = queue_letter(&store, &account).await;
        store.close().await.unwrap();
        drop(store);

        let store = Store::open(&url, keyed(&both_keys())).await.unwrap();
        store.close().await.unwrap();
        drop(store);
        let store = Store::open(&url, keyed(KEYS[1])).await.unwrap();
        let leased = only(store.lease_deliveries("a", noon(), LEASE, 9).await.unwrap());
        assert_eq!(leased.rendered, letter.rendered);
        store.close().await.unwrap();
    });
}

#[test]
fn a_site_whose_secrets_were_cleared_has_none() {
    on_both(|store| async move {
        let (account, site) = with_secrets(&store).await;
        let changed = store.update_site(account.id, site.id, |site| {
            site.dns_provider_config = None;
            site.deploy_config = None;
            Vec::new()
        });
        let changed = changed.await.unwrap().unwrap();
        assert_eq!(store.site(account.id, site.id).await.unwrap(), Some(changed));
    });
}

#[test]
fn a_row_that_was_copied_to_another_account_does_not_open() {
    on_both(|store| async move {
        let (account, site) = with_secrets(&store).await;
        let thief = signed_up(&store).await;
        let copies = "LET $settings = (SELECT version, doc FROM ONLY $from_settings);
            CREATE $to_settings CONTENT $settings RETURN NONE;
            LET $site = (SELECT version, key, doc, sealed FROM ONLY $from_site);
            CREATE $to_site CONTENT $site RETURN NONE";
        let binds = Binds::new()
            .with("from_settings", key::settings(account.id))
            .with("to_settings", key::settings(thief.id))
            .with("from_site", key::site(account.id, site.id))
            .with("to_site", key::site(thief.id, site.id));
        store.write(copies, binds).await.unwrap();
        let settings = store.settings(thief.id).await;
        assert!(matches!(settings, Err(Error::Corrupt { .. })), "{settings:?}");
        let stolen = store.site(thief.id, site.id).await;
        assert!(matches!(stolen, Err(Error::Corrupt { .. })), "{stolen:?}");
        assert_kept(&store, &account, &site).await;
    });
}

#[test]
fn a_site_whose_secrets_cannot_be_opened_is_listed_checked_and_deleted() {
    on_both(|store| async move {
        let (account, site) = with_secrets(&store).await;
        let other = super::site(&account, "other.example");
        store.create_site(&other, 50, &[]).await.unwrap();
        let binds = Binds::new().with("site", key::site(account.id, site.id));
        store.write("UPDATE $site SET sealed = 'damaged' RETURN NONE", binds).await.unwrap();
        let damaged = store.site(account.id, site.id).await;
        assert!(matches!(damaged, Err(Error::Corrupt { .. })), "{damaged:?}");

        let (_, listed) = store.listed_sites(account.id).await.unwrap();
        let listed: Vec<_> = listed.iter().map(|site| site.id).collect();
        assert!(listed.contains(&site.id) && listed.contains(&other.id), "{listed:?}");
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        assert_eq!(context.site.id, site.id);
        assert!(store.delete_site(account.id, site.id).await.unwrap());
        assert_eq!(only(store.listed_sites(account.id).await.unwrap().1).id, other.id);
    });
}

/// Puts rows in place as they were before anything was sealed.
async fn unseal(store: &Store, account: &Account, site: &Site) {
    let unit = "UPDATE $settings SET doc = $settings_doc RETURN NONE;
        UPDATE $site SET doc = $site_doc, sealed = NONE RETURN NONE;
        DELETE $seal RETURN NONE";
    let binds = Binds::new()
        .with("settings", key::settings(account.id))
        .with("settings_doc", revealed(|| row::write("settings", &settings())).unwrap())
        .with("site", key::site(account.id, site.id))
        .with("site_doc", revealed(|| row::write("site", site)).unwrap())
        .with("seal", key::seal());
    store.write(unit, binds).await.unwrap();
}

#[test]
fn rows_from_before_are_read_and_sealed_when_the_store_is_opened() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let url = on_disk(directory.path());
        let store = open(&url).await;
        let (account, site) = with_secrets(&store).await;
        unseal(&store, &account, &site).await;
        assert!(dump(&store).await.contains(MARK), "the test has undone it");
        assert_kept(&store, &account, &site).await;
        store.close().await.unwrap();
        drop(store);

        let store = open(&url).await;
        assert_sealed(&store).await;
        assert_kept(&store, &account, &site).await;
        store.close().await.unwrap();
    });
}

#[test]
fn many_rows_from_before_are_sealed_in_batches() {
    runtime().block_on(async {
        let store = memory().await;
        let mut all = Vec::new();
        for _ in 0..120 {
            let (account, site) = with_secrets(&store).await;
            unseal(&store, &account, &site).await;
            all.push((account, site));
        }
        store.settle_seal().await.unwrap();
        assert_sealed(&store).await;
        for (account, site) in all {
            assert_kept(&store, &account, &site).await;
        }
    });
}

#[test]
fn damaged_secrets_of_one_site_keep_no_store_from_being_opened_with_another_key() {
    runtime().block_on(async {
        let (_directory, url, account, site) = on_disk_with_secrets().await;
        let store = open(&url).await;
        let other = super::site(&account, "other.example");
        store.create_site(&other, 50, &[]).await.unwrap();
        let binds = Binds::new().with("site", key::site(account.id, site.id));
        store.write("UPDATE $site SET sealed = 'damaged' RETURN NONE", binds).await.unwrap();
        store.close().await.unwrap();
        drop(store);

        for keys in [both_keys(), KEYS[1].to_owned()] {
            let store = Store::open(&url, keyed(&keys)).await.unwrap();
            assert_eq!(store.site(account.id, other.id).await.unwrap(), Some(other.clone()));
            let damaged = store.site(account.id, site.id).await;
            assert!(matches!(damaged, Err(Error::Corrupt { .. })), "{damaged:?}");
            store.close().await.unwrap();
        }
        let (store, discarded) = Store::open_discarding(&url, keyed(KEYS[1])).await.unwrap();
        assert_eq!(discarded.sites, [(account.id, site.domain.to_string())]);
        assert!(discarded.settings.is_empty(), "{discarded:?}");
        assert_eq!(
            store.site(account.id, site.id).await.unwrap().map(|site| site.id),
            Some(site.id)
        );
        store.close().await.unwrap();
    });
}

/// As a node does whose keys are still in the order that they had.
pub(super) async fn write_with_the_old_key(url: &str, account: &Account) {
    let old_first = format!("{}{}", KEYS[0], KEYS[1]);
    let store = Store::reach(url, keyed(&old_first)).await.unwrap();
    set(&store, account).await;
    store.close().await.unwrap();
}

#[test]
fn what_another_node_wrote_with_the_old_key_is_sealed_anew_too() {
    runtime().block_on(async {
        let (_directory, url, account, site) = on_disk_with_secrets().await;
        // The first node's order is changed, the second writes, and then its order is changed as well.
        Store::open(&url, keyed(&both_keys())).await.unwrap().close().await.unwrap();
        write_with_the_old_key(&url, &account).await;
        Store::open(&url, keyed(&both_keys())).await.unwrap().close().await.unwrap();

        let store = Store::open(&url, keyed(KEYS[1])).await.unwrap();
        assert_kept(&store, &account, &site).await;
        store.close().await.unwrap();
    });
}

#[test]
fn another_key_is_refused_and_changes_nothing() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let url = on_disk(directory.path());
        let store = open(&url).await;
        let (account, site) = with_secrets(&store).await;
        let before = dump(&store).await;
        store.close().await.unwrap();
        drop(store);

        let refused = Store::open(&url, keyed(KEYS[1])).await;
        assert!(matches!(refused, Err(Error::WrongKey(_))), "{refused:?}");

        let store = open(&url).await;
        assert_eq!(dump(&store).await, before);
        assert_kept(&store, &account, &site).await;
        store.close().await.unwrap();
    });
}

#[test]
fn a_new_first_key_takes_over_and_the_old_one_may_go() {
    runtime().block_on(async {
        let (_directory, url, account, site) = on_disk_with_secrets().await;

        for keys in [both_keys(), KEYS[1].to_owned()] {
            let store = Store::open(&url, keyed(&keys)).await.unwrap();
            assert_kept(&store, &account, &site).await;
            store.close().await.unwrap();
        }
        let refused = Store::open(&url, options()).await;
        assert!(matches!(refused, Err(Error::WrongKey(_))), "{refused:?}");
    });
}
