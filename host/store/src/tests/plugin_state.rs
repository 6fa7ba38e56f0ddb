//! What plugins keep between runs.

use super::*;
use crate::StateScope;
use crate::error::Error;

const SHARED: StateScope<'static> = StateScope { plugin: "domain", site: None };

async fn set(store: &Store, scope: StateScope<'_>, key: &str, bytes: usize) -> Result<()> {
    store.plugin_state_set(scope, key, &vec![7; bytes], None, noon(), 100).await
}

#[test]
fn state_is_kept_by_plugin_site_and_key() {
    on_both(|store| async move {
        let (_, site) = with_site(&store).await;
        let of_site = StateScope { plugin: "domain", site: Some(site.id) };
        let other = StateScope { plugin: "ct", site: Some(site.id) };
        for (scope, value) in [(SHARED, b"a"), (of_site, b"b"), (other, b"c")] {
            store.plugin_state_set(scope, "k", value, None, noon(), 100).await.unwrap();
        }
        for (scope, value) in [(SHARED, b"a"), (of_site, b"b"), (other, b"c")] {
            let kept = store.plugin_state_get(scope, "k", noon()).await.unwrap();
            assert_eq!(kept.as_deref(), Some(&value[..]));
            assert_eq!(store.plugin_state_get(scope, "other", noon()).await.unwrap(), None);
        }
        store.plugin_state_delete(of_site, "k").await.unwrap();
        store.plugin_state_delete(of_site, "k").await.unwrap();
        assert_eq!(store.plugin_state_get(of_site, "k", noon()).await.unwrap(), None);
        assert!(store.plugin_state_get(other, "k", noon()).await.unwrap().is_some());
    });
}

#[test]
fn the_quota_counts_keys_and_values_exactly() {
    on_both(|store| async move {
        set(&store, SHARED, "a", 49).await.unwrap();
        set(&store, SHARED, "b", 49).await.unwrap();
        let full = set(&store, SHARED, "c", 0).await;
        assert!(matches!(full, Err(Error::StateQuota)), "{full:?}");
        // A smaller value in place of a larger one makes room, a deleted one too.
        set(&store, SHARED, "a", 48).await.unwrap();
        set(&store, SHARED, "c", 0).await.unwrap();
        let full = set(&store, SHARED, "a", 49).await;
        assert!(matches!(full, Err(Error::StateQuota)), "{full:?}");
        store.plugin_state_delete(SHARED, "b").await.unwrap();
        set(&store, SHARED, "d", 49).await.unwrap();
        // Another plugin has a quota of its own.
        set(&store, StateScope { plugin: "ct", ..SHARED }, "a", 99).await.unwrap();
    });
}

#[test]
fn the_quota_holds_when_many_write_at_once() {
    on_both(|store| async move {
        let write = {
            let store = store.clone();
            move |nth: usize| {
                let store = store.clone();
                async move { set(&store, SHARED, &format!("{nth:02}"), 8).await }
            }
        };
        let answers = at_once(30, write).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 10);
        assert_eq!(answers.iter().filter(|a| matches!(a, Err(Error::StateQuota))).count(), 20);
    });
}

#[test]
fn what_has_expired_is_not_there_and_makes_room() {
    on_both(|store| async move {
        let ttl = Some(Duration::from_secs(60));
        store.plugin_state_set(SHARED, "a", &[7; 99], ttl, noon(), 100).await.unwrap();
        let last = noon() + seconds(60) - TimeDelta::milliseconds(1);
        assert!(store.plugin_state_get(SHARED, "a", last).await.unwrap().is_some());
        let full = store.plugin_state_set(SHARED, "b", &[7; 99], None, last, 100).await;
        assert!(matches!(full, Err(Error::StateQuota)), "{full:?}");
        let after = noon() + seconds(60);
        assert_eq!(store.plugin_state_get(SHARED, "a", after).await.unwrap(), None);
        store.plugin_state_set(SHARED, "b", &[7; 99], None, after, 100).await.unwrap();
        assert!(store.plugin_state_get(SHARED, "b", after).await.unwrap().is_some());
    });
}

#[test]
fn nothing_is_kept_for_a_site_that_is_gone() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let scope = StateScope { plugin: "ct", site: Some(site.id) };
        store.delete_site(account.id, site.id).await.unwrap();
        let late = store.plugin_state_set(scope, "k", b"v", None, noon(), 100).await;
        assert!(matches!(late, Err(Error::Gone)), "{late:?}");
    });
}
