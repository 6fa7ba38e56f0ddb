//! Events: written with what made them, numbered without a hole, forgotten after a while.

use std::collections::BTreeSet;

use vedette_model::event::{CheckChange, Part};
use vedette_model::{AccountId, Event};

use super::*;

/// What an event tells, by name; what is gone as an empty name.
fn names(event: &Event) -> Vec<&'static str> {
    event.parts.iter().map(|part| part.name().unwrap_or_default()).collect()
}

fn numbers(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.number).collect()
}

async fn read(store: &Store, account: &Account, from: u64) -> Vec<Event> {
    store.number_events(account.id, noon()).await.unwrap();
    store.events(account.id, from, 100).await.unwrap().events
}

/// What is kept from a number on, event by event.
pub(super) async fn told(store: &Store, account: &Account, from: u64) -> Vec<Vec<&'static str>> {
    read(store, account, from).await.iter().map(names).collect()
}

/// Opens a feed and reads where it begins, as a stream does.
async fn begin(store: Store, account: AccountId, expected: u64) {
    store.open_events(account, noon() + seconds(60)).await.unwrap();
    assert_eq!(store.number_events(account, noon()).await.unwrap(), expected);
}

/// Closes a feed that has no events.
async fn close(store: &Store, account: AccountId) {
    let after = noon() + seconds(61);
    assert!(!store.forget_events(account, noon(), 100, 10, after).await.unwrap());
    assert!(store.event_feeds().await.unwrap().is_empty());
}

#[test]
fn what_is_committed_while_a_first_reader_comes_is_kept() {
    interrupted::on_both(|engine| async move {
        let (store, other) = (engine.store(), engine.other());
        let found = || vec![finding("ssl.expiring", "f1")];

        let (account, site) = with_site(&other).await;
        engine.meanwhile(begin(other.clone(), account.id, 1));
        ssl_run(&store, &account, &site, noon(), found()).await;
        assert_eq!(told(&other, &account, 2).await, [["check.finished", "alert.raised"]]);

        let (account, site) = with_site(&other).await;
        let alert = raised(&ssl_run(&other, &account, &site, noon(), found()).await);
        engine.meanwhile(begin(other.clone(), account.id, 1));
        store.set_alert_resolved(account.id, alert.id, true, noon()).await.unwrap();
        assert_eq!(told(&other, &account, 2).await, [["alert.resolved"]]);

        let (account, site) = with_site(&other).await;
        engine.meanwhile(begin(other.clone(), account.id, 1));
        let opened = incident::incident(&account, noon(), &[site.id]);
        store.create_incident(&opened, 1_000).await.unwrap();
        assert_eq!(told(&other, &account, 2).await, [["incident.created"]]);
    });
}

#[test]
fn what_is_committed_while_a_reader_comes_back_is_kept() {
    interrupted::on_both(|engine| async move {
        let (store, other) = (engine.store(), engine.other());
        let (account, site) = with_site(&other).await;
        begin(other.clone(), account.id, 1).await;
        close(&other, account.id).await;
        engine.meanwhile(begin(other.clone(), account.id, 2));
        ssl_run(&store, &account, &site, noon(), vec![]).await;
        assert_eq!(told(&other, &account, 3).await, [["check.finished"]]);

        // The feed is open when the transaction begins, and again when it is committed.
        let (account, site) = with_site(&other).await;
        begin(other.clone(), account.id, 1).await;
        let (node, id) = (other.clone(), account.id);
        engine.meanwhile(async move {
            let after = noon() + seconds(61);
            assert!(!node.forget_events(id, noon(), 100, 10, after).await.unwrap());
            begin(node, id, 2).await;
        });
        ssl_run(&store, &account, &site, noon(), vec![]).await;
        assert_eq!(told(&other, &account, 3).await, [["check.finished"]]);
    });
}

#[test]
fn what_happens_is_kept_once_somebody_reads() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        ssl_run(&store, &account, &site, noon(), vec![]).await;
        assert_eq!(store.number_events(account.id, noon()).await.unwrap(), 0);

        store.open_events(account.id, noon() + seconds(60)).await.unwrap();
        let begin = store.number_events(account.id, noon()).await.unwrap() + 1;
        let found = vec![finding("ssl.expiring", "f1")];
        let decision = ssl_run(&store, &account, &site, noon() + seconds(1), found).await;
        let alert = raised(&decision);
        store.set_alert_resolved(account.id, alert.id, true, noon()).await.unwrap();
        store.set_alert_resolved(account.id, alert.id, false, noon()).await.unwrap();
        let told = incident::incident(&account, noon(), &[site.id]);
        store.create_incident(&told, 1_000).await.unwrap();

        let events = read(&store, &account, begin).await;
        assert_eq!(numbers(&events), (begin..begin + 4).collect::<Vec<_>>());
        let said: Vec<_> = events.iter().map(names).collect();
        let expected: [&[&str]; 4] = [
            &["check.finished", "alert.raised"],
            &["alert.resolved"],
            &["alert.reopened"],
            &["incident.created"],
        ];
        assert_eq!(said, expected);
        let change = CheckChange::of(decision.turned);
        assert_eq!(events[0].parts[0], Part::Check(change, decision.record.clone()));
        match &events[0].parts[1] {
            Part::Alert(event) => assert_eq!(event.alert, alert),
            other => panic!("{other:?}"),
        }
        assert_eq!(read(&store, &account, begin + 3).await, events[3..].to_vec());
    });
}

#[test]
fn numbers_have_no_hole_and_no_double_whoever_gives_them() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        store.open_events(account.id, noon() + seconds(60)).await.unwrap();
        let begin = store.number_events(account.id, noon()).await.unwrap() + 1;
        let other = store.without_memory();
        at_once(24, |nth| {
            let (store, other) = (store.clone(), other.clone());
            let (account, site) = (account.clone(), site.clone());
            async move {
                let told = incident::incident(&account, noon(), &[site.id]);
                let store = if nth % 2 == 0 { store } else { other };
                store.create_incident(&told, 1_000).await.unwrap();
                store.number_events(account.id, noon()).await.unwrap();
            }
        })
        .await;
        let events = read(&store, &account, begin).await;
        assert_eq!(numbers(&events), (begin..begin + 24).collect::<Vec<_>>());
        let ids: BTreeSet<String> =
            events.iter().map(|event| format!("{:?}", event.parts)).collect();
        assert_eq!(ids.len(), 24, "each once");
    });
}

#[test]
fn a_stranger_reads_nothing_and_a_deleted_site_is_told_no_more() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let stranger = signed_up(&store).await;
        for account in [&account, &stranger] {
            store.open_events(account.id, noon() + seconds(60)).await.unwrap();
        }
        let found = vec![finding("ssl.expiring", "f1")];
        ssl_run(&store, &account, &site, noon(), found).await;
        assert!(read(&store, &stranger, 0).await.is_empty());
        assert_eq!(read(&store, &account, 0).await.len(), 1);
        assert!(store.delete_site(account.id, site.id).await.unwrap());
        let left = read(&store, &account, 0).await;
        assert_eq!(names(&left[0]), ["", ""], "its place is kept");
    });
}

#[test]
fn old_events_are_forgotten_and_a_feed_that_nobody_reads_is_closed() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        store.open_events(account.id, noon() + seconds(60)).await.unwrap();
        for nth in 0..5 {
            ssl_run(&store, &account, &site, noon() + seconds(nth), vec![]).await;
            store.number_events(account.id, noon() + seconds(nth)).await.unwrap();
        }
        let first = store.events(account.id, 0, 100).await.unwrap().oldest;
        let forget = async |before, most, now| {
            while store.forget_events(account.id, before, most, 2, now).await.unwrap() {}
            let page = store.events(account.id, 0, 100).await.unwrap();
            (page.oldest - first, numbers(&page.events).len())
        };
        assert_eq!(forget(noon(), 100, noon()).await, (0, 5), "none is that old");
        assert_eq!(forget(noon() + seconds(2), 100, noon()).await, (2, 3));
        assert_eq!(forget(noon(), 1, noon()).await, (4, 1), "the last one");
        assert_eq!(store.event_feeds().await.unwrap(), vec![account.id]);
        assert_eq!(forget(noon() + seconds(9), 100, noon() + seconds(61)).await, (5, 0));
        assert!(store.event_feeds().await.unwrap().is_empty(), "closed and empty");

        ssl_run(&store, &account, &site, noon() + seconds(70), vec![]).await;
        let last = store.number_events(account.id, noon()).await.unwrap();
        assert_eq!(last, first + 4, "nothing is kept of a closed feed");
        store.open_events(account.id, noon() + seconds(200)).await.unwrap();
        let again = store.number_events(account.id, noon()).await.unwrap();
        assert_eq!(again, last + 1, "a number is missing: whoever read before can tell");
        store.open_events(account.id, noon() + seconds(300)).await.unwrap();
        assert_eq!(store.number_events(account.id, noon()).await.unwrap(), again);
    });
}
