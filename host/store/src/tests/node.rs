//! Nodes on one database, each with a memory of its own.

use super::*;
use crate::{Lease, Settle};

#[test]
fn second_look_is_left_to_another_node_while_one_is_at_work() {
    on_both(|first| async move {
        let second = first.without_memory();
        let (account, site) = found_by_the_first(&first, &second).await;
        assert!(taken(&first, "a", noon()).await.is_empty());
        let lease = only(taken(&second, "b", noon()).await);
        assert!(lease.recheck);

        // Now that one has something to confirm.
        let at = noon() + seconds(1);
        ended(&second, &account, &site, &lease, at, 2).await;
        assert!(taken(&second, "b", at).await.is_empty());
        let lease = only(taken(&first, "a", at).await);

        // Who looks at nothing is not waited for for long.
        let at = noon() + seconds(2);
        ended(&first, &account, &site, &lease, at, 3).await;
        assert!(taken(&first, "a", at + seconds(4)).await.is_empty());
        let lease = only(taken(&first, "a", at + seconds(5)).await);

        let at = noon() + seconds(10);
        ended(&first, &account, &site, &lease, at, 0).await;
        let lease = only(taken(&first, "a", at).await);
        assert!(!lease.recheck, "what confirms nothing is for whoever comes first");
    });
}

#[test]
fn next_look_after_one_that_had_no_answer_is_another_nodes() {
    on_both(|first| async move {
        let second = first.without_memory();
        let (account, site) = found_by_the_first(&first, &second).await;
        let lease = only(taken(&second, "b", noon()).await);
        let at = noon() + seconds(1);
        let decision = decided(&second, &account, &site, at, 1).await;
        let record = CheckRecord { status: CheckStatus::Unknown, ..decision.record.clone() };
        settled(&second, &account, &lease, at, &Decision { record, ..decision }).await;
        assert!(taken(&second, "b", at).await.is_empty(), "it may have none again");
        assert!(only(taken(&first, "a", at).await).recheck);
    });
}

#[test]
fn what_is_left_to_others_is_not_in_the_way_of_what_is_due() {
    on_both(|first| async move {
        let second = first.without_memory();
        let (account, _) = found_by_the_first(&first, &second).await;
        let at = noon() + seconds(1);
        let other = super::site(&account, "other.example");
        first.create_site(&other, 9, &[(ssl(), at)]).await.unwrap();
        let lease = only(first.lease_due("a", &[ssl()], at, LEASE, 1).await.unwrap());
        assert_eq!(lease.site_id, other.id);
    });
}

#[test]
fn what_a_run_on_demand_found_is_left_to_another_node_too() {
    on_both(|first| async move {
        let second = first.without_memory();
        let account = signed_up(&first).await;
        let site = site(&account, "www.example.com");
        let planned = noon() + seconds(900);
        first.create_site(&site, 9, &[(ssl(), planned)]).await.unwrap();
        both_sign_on(&first, &second).await;
        let context = first.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let decision = decide(&context, record(&site, &ssl(), noon()), Vec::new());
        let decision = Decision { unconfirmed_runs: 1, ..decision };
        let commit = Commit { next_due: Some(noon()), ..plain(&account, 0, &decision) };
        first.commit(commit).await.unwrap();
        assert!(taken(&first, "a", noon()).await.is_empty());
        assert!(only(taken(&second, "b", noon()).await).recheck);
    });
}

#[test]
fn what_the_clock_of_an_only_node_showed_last_is_known_to_the_next_process() {
    on_both(|first| async move {
        let second = first.without_memory();
        assert_eq!(second.signed_on_alone_at().await.unwrap(), None);
        // A clock that was put right shows less than before.
        for at in [noon(), noon() + seconds(60), noon() - seconds(3_600)] {
            first.sign_on_alone(at).await.unwrap();
            assert_eq!(second.signed_on_alone_at().await.unwrap(), Some(at));
        }
    });
}

#[test]
fn node_that_is_alone_looks_again_at_once() {
    on_both(|first| async move {
        let second = first.without_memory();
        let (account, site) = with_site(&first).await;
        let lease = only(taken(&first, "a", noon()).await);
        first.sign_on("a", noon(), LASTS).await.unwrap();
        ended(&first, &account, &site, &lease, noon(), 1).await;
        let lease = only(taken(&first, "a", noon()).await);

        both_sign_on(&first, &second).await;
        second.sign_off("b").await.unwrap();
        let at = noon() + seconds(1);
        first.sign_on("a", at, LASTS).await.unwrap();
        ended(&first, &account, &site, &lease, at, 1).await;
        let lease = only(taken(&first, "a", at).await);

        // One that died says nothing of it.
        both_sign_on(&first, &second).await;
        let at = noon() + LASTS + seconds(1);
        first.sign_on("a", at, LASTS).await.unwrap();
        ended(&first, &account, &site, &lease, at, 1).await;
        only(taken(&first, "a", at).await);
    });
}

/// A site that the first of two nodes at work has found something at, which awaits confirmation.
async fn found_by_the_first(first: &Store, second: &Store) -> (Account, Site) {
    let (account, site) = with_site(first).await;
    both_sign_on(first, second).await;
    let lease = only(taken(first, "a", noon()).await);
    ended(first, &account, &site, &lease, noon(), 1).await;
    (account, site)
}

/// Each knows of the other then.
async fn both_sign_on(first: &Store, second: &Store) {
    for (store, node) in [(first, "a"), (second, "b"), (first, "a")] {
        store.sign_on(node, noon(), LASTS).await.unwrap();
    }
}

async fn taken(store: &Store, node: &str, at: Timestamp) -> Vec<Lease> {
    store.lease_due(node, &[ssl()], at, LEASE, 9).await.unwrap()
}

/// The run of the node that holds the lease has left a finding unconfirmed so many times; the next is
/// due at once.
async fn ended(
    store: &Store,
    account: &Account,
    site: &Site,
    lease: &Lease,
    at: Timestamp,
    unconfirmed_runs: u32,
) {
    let decision = decided(store, account, site, at, unconfirmed_runs).await;
    settled(store, account, lease, at, &decision).await;
}

async fn decided(
    store: &Store,
    account: &Account,
    site: &Site,
    at: Timestamp,
    unconfirmed_runs: u32,
) -> Decision {
    let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
    let decision = decide(&context, record(site, &ssl(), at), Vec::new());
    Decision { unconfirmed_runs, ..decision }
}

async fn settled(
    store: &Store,
    account: &Account,
    lease: &Lease,
    at: Timestamp,
    decision: &Decision,
) {
    let settle = Some(Settle { lease, next_due: at, asked_at: None });
    let plain = plain(account, decision.state.version - 1, decision);
    store.commit(Commit { node: &lease.owner, settle, ..plain }).await.unwrap();
}

const LASTS: Duration = Duration::from_secs(20);
