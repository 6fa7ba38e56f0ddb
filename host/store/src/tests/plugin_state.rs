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
        let (_, site) = with_site(&store).await;
        let scope = StateScope { plugin: "domain", site: Some(site.id) };
        let ttl = Some(Duration::from_secs(60));
        store.plugin_state_set(scope, "a", &[7; 99], ttl, noon(), 100).await.unwrap();
        let last = noon() + seconds(60) - TimeDelta::milliseconds(1);
        assert!(store.plugin_state_get(scope, "a", last).await.unwrap().is_some());
        let full = store.plugin_state_set(scope, "b", &[7; 99], None, last, 100).await;
        assert!(matches!(full, Err(Error::StateQuota)), "{full:?}");
        let after = noon() + seconds(60);
        assert_eq!(store.plugin_state_get(scope, "a", after).await.unwrap(), None);
        store.plugin_state_set(scope, "b", &[7; 99], None, after, 100).await.unwrap();
        assert!(store.plugin_state_get(scope, "b", after).await.unwrap().is_some());
    });
}

#[test]
fn shared_values_that_expire_make_room_oldest_first() {
    on_both(|store| async move {
        set_for(&store, "a", 39, 60).await.unwrap();
        set_for(&store, "b", 39, 30).await.unwrap();
        set(&store, SHARED, "c", 9).await.unwrap();
        // Another plugin's are not in the way.
        let other = StateScope { plugin: "ct", ..SHARED };
        let ttl = Some(Duration::from_secs(1));
        store.plugin_state_set(other, "a", &[7; 99], ttl, noon(), 100).await.unwrap();
        set_for(&store, "d", 20, 10).await.unwrap();
        assert_eq!(kept(&store, noon()).await, ["b", "c", "d"], "no more than needed");
        set_for(&store, "d", 59, 10).await.unwrap();
        assert_eq!(kept(&store, noon()).await, ["c", "d"], "not what is set itself");
        for (key, bytes) in [("e", 90), ("e", 100)] {
            let full = set_for(&store, key, bytes, 60).await;
            assert!(matches!(full, Err(Error::StateQuota)), "{full:?}");
            assert_eq!(kept(&store, noon()).await, ["c", "d"], "what never expires stays");
        }
        set(&store, SHARED, "c", 99).await.unwrap();
        assert_eq!(kept(&store, noon()).await, ["c"]);
        assert!(store.plugin_state_get(other, "a", noon()).await.unwrap().is_some());
    });
}

#[test]
fn shared_values_that_have_expired_go_before_others() {
    on_both(|store| async move {
        set_for(&store, "a", 39, 10).await.unwrap();
        set_for(&store, "b", 39, 60).await.unwrap();
        let later = noon() + seconds(10);
        store.plugin_state_set(SHARED, "c", &[7; 39], None, later, 100).await.unwrap();
        assert_eq!(kept(&store, later).await, ["b", "c"]);
        set(&store, SHARED, "d", 19).await.unwrap();
        assert_eq!(kept(&store, later).await, ["b", "c", "d"], "it was counted no longer");
    });
}

#[test]
fn the_quota_holds_when_many_make_room_at_once() {
    on_both(|store| async move {
        let write = {
            let store = store.clone();
            move |nth: usize| {
                let store = store.clone();
                async move { set_for(&store, &format!("{nth:02}"), 8, 60).await }
            }
        };
        assert!(at_once(30, write).await.iter().all(Result::is_ok));
        let mut left = 0;
        for nth in 0..30 {
            let value = store.plugin_state_get(SHARED, &format!("{nth:02}"), noon()).await;
            left += usize::from(value.unwrap().is_some());
        }
        assert_eq!(left, 10);
    });
}

#[test]
fn quota_that_was_lowered_lets_through_what_takes_less() {
    on_both(|store| async move {
        set(&store, SHARED, "a", 49).await.unwrap();
        set(&store, SHARED, "b", 49).await.unwrap();
        let lowered = async |key: &str, bytes: usize| {
            store.plugin_state_set(SHARED, key, &vec![7; bytes], None, noon(), 60).await
        };
        for (key, bytes) in [("a", 49), ("a", 50), ("c", 0)] {
            let full = lowered(key, bytes).await;
            assert!(matches!(full, Err(Error::StateQuota)), "{key} {full:?}");
        }
        lowered("a", 19).await.unwrap();
        lowered("b", 29).await.unwrap();
        lowered("c", 9).await.unwrap();
    });
}

/// Sets a shared value of so many bytes for so many seconds.
async fn set_for(store: &Store, key: &str, bytes: usize, ttl: u64) -> Result<()> {
    let ttl = Some(Duration::from_secs(ttl));
    store.plugin_state_set(SHARED, key, &vec![7; bytes], ttl, noon(), 100).await
}

/// Which of the shared values are there.
async fn kept(store: &Store, now: Timestamp) -> Vec<&'static str> {
    let mut kept = Vec::new();
    for key in ["a", "b", "c", "d", "e"] {
        if store.plugin_state_get(SHARED, key, now).await.unwrap().is_some() {
            kept.push(key);
        }
    }
    kept
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
