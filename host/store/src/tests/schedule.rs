//! Leases on due checks.

use super::*;
use crate::tx::Binds;
use crate::{Lease, Settle, key};

async fn many_sites(store: &Store, count: usize) -> Account {
    let account = signed_up(store).await;
    for nth in 0..count {
        let due = noon() - seconds(i64::try_from(nth).unwrap());
        let site = site(&account, &format!("s{nth}.example.com"));
        store.create_site(&site, 1_000, &[(ssl(), due)]).await.unwrap();
    }
    account
}

#[test]
fn four_workers_take_each_due_check_once() {
    on_both(|store| async move {
        many_sites(&store, 200).await;
        let work = {
            let store = store.clone();
            move |nth: usize| {
                let store = store.clone();
                async move {
                    let node = format!("node{nth}");
                    let mut taken = Vec::new();
                    loop {
                        let leases =
                            store.lease_due(&node, &[ssl()], noon(), LEASE, 7).await.unwrap();
                        if leases.is_empty() {
                            return taken;
                        }
                        assert!(leases.iter().all(|lease| lease.owner == node));
                        taken.extend(leases.into_iter().map(|lease| lease.site_id));
                    }
                }
            }
        };
        let mut taken: Vec<_> = at_once(4, work).await.into_iter().flatten().collect();
        assert_eq!(taken.len(), 200);
        taken.sort();
        taken.dedup();
        assert_eq!(taken.len(), 200);
    });
}

#[test]
fn what_has_waited_longest_goes_first() {
    on_both(|store| async move {
        many_sites(&store, 10).await;
        let leases = store.lease_due("a", &[ssl()], noon(), LEASE, 4).await.unwrap();
        let due: Vec<_> = leases.iter().map(|lease| lease.due_at).collect();
        let expected: Vec<_> = (6..10).rev().map(|nth| noon() - seconds(nth)).collect();
        assert_eq!(due, expected);
    });
}

#[test]
fn only_asked_for_types_are_taken() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let site = site(&account, "www.example.com");
        let due = [(ssl(), noon()), (uptime(), noon() - seconds(1))];
        store.create_site(&site, 1, &due).await.unwrap();
        assert!(store.lease_due("a", &[], noon(), LEASE, 9).await.unwrap().is_empty());
        let leases = store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap();
        assert_eq!(only(leases).check_type, ssl());
        let both = [ssl(), uptime()];
        let leases = store.lease_due("a", &both, noon(), LEASE, 9).await.unwrap();
        assert_eq!(only(leases).check_type, uptime());
    });
}

/// How many checks nobody takes, by type.
async fn lying(
    store: &Store,
    taken: &[CheckType],
    since: Timestamp,
    limit: usize,
) -> Vec<(CheckType, usize)> {
    let lying = store.left_lying(taken, since, limit).await.unwrap().into_iter();
    lying.map(|(check_type, sites)| (check_type, sites.len())).collect()
}

#[test]
fn what_nobody_takes_is_counted_by_its_type() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        for nth in 0..3 {
            let site = site(&account, &format!("s{nth}.example.com"));
            let due = [(ssl(), noon()), (uptime(), noon() - seconds(nth))];
            store.create_site(&site, 9, &due).await.unwrap();
        }
        let since = noon() - seconds(1);
        let both = [ssl(), uptime()];
        assert!(store.left_lying(&both, since, 9).await.unwrap().is_empty());
        assert_eq!(lying(&store, &[ssl()], since, 9).await, [(uptime(), 2)], "one was due later");
        assert_eq!(lying(&store, &[], since, 9).await, [(ssl(), 0), (uptime(), 2)]);
        assert_eq!(lying(&store, &[ssl()], since, 1).await, [(uptime(), 1)]);
        let first = only(store.left_lying(&[ssl()], since, 1).await.unwrap()).1;
        let longest = |site: &Site| site.domain.as_str() == "s2.example.com";
        let sites = store.listed_sites(account.id).await.unwrap().1;
        let longest = sites.into_iter().find(longest).unwrap();
        assert_eq!(first, [(account.id, longest.id)]);
        let leases = store.lease_due("another", &[uptime()], noon(), LEASE, 9).await.unwrap();
        assert_eq!(leases.len(), 3);
        assert_eq!(
            lying(&store, &[ssl()], since, 9).await,
            [(uptime(), 0)],
            "another node has the plugin"
        );
    });
}

#[test]
fn the_next_due_moment_counts_leases_too() {
    on_both(|store| async move {
        let both = [ssl(), uptime()];
        assert_eq!(store.next_due(&both).await.unwrap(), None);
        assert_eq!(store.next_due(&[]).await.unwrap(), None);
        let account = signed_up(&store).await;
        let due = [(ssl(), noon()), (uptime(), noon() + seconds(90))];
        store.create_site(&site(&account, "www.example.com"), 1, &due).await.unwrap();
        assert_eq!(store.next_due(&both).await.unwrap(), Some(noon()));
        assert_eq!(store.next_due(&[uptime()]).await.unwrap(), Some(noon() + seconds(90)));
        only(store.lease_due("a", &both, noon(), LEASE, 9).await.unwrap());
        assert_eq!(store.next_due(&both).await.unwrap(), Some(noon() + LEASE));
    });
}

#[test]
fn a_lease_is_given_back_by_its_owner_alone() {
    on_both(|store| async move {
        with_site(&store).await;
        let first = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        let later = noon() + seconds(61);
        let second = only(store.lease_due("b", &[ssl()], later, LEASE, 9).await.unwrap());
        store.release_lease(&first, noon()).await.unwrap();
        assert!(store.lease_due("c", &[ssl()], later, LEASE, 9).await.unwrap().is_empty());
        store.release_lease(&second, later + seconds(5)).await.unwrap();
        assert!(store.lease_due("c", &[ssl()], later, LEASE, 9).await.unwrap().is_empty());
        let third = store.lease_due("c", &[ssl()], later + seconds(5), LEASE, 9).await.unwrap();
        assert_eq!(only(third).due_at, later + seconds(5));
    });
}

#[test]
fn what_is_put_off_stays_planned_for_when_it_was() {
    on_both(|store| async move {
        with_site(&store).await;
        let first = async |at| only(store.lease_due("a", &[ssl()], at, LEASE, 9).await.unwrap());
        let mut lease = first(noon()).await;
        assert_eq!((lease.due_at, lease.ready_at), (noon(), noon()));
        for wait in [2, 4] {
            let later = noon() + seconds(wait);
            store.put_off_lease(&lease, later).await.unwrap();
            let before = later - seconds(1);
            assert!(store.lease_due("b", &[ssl()], before, LEASE, 9).await.unwrap().is_empty());
            lease = first(later).await;
            assert_eq!((lease.due_at, lease.ready_at), (noon(), later));
        }
        let anew = noon() + seconds(60);
        store.release_lease(&lease, anew).await.unwrap();
        let lease = first(anew).await;
        assert_eq!((lease.due_at, lease.ready_at), (anew, anew));
    });
}

#[test]
fn what_a_version_before_planned_anew_was_ready_no_sooner() {
    on_both(|store| async move {
        let (_, site) = with_site(&store).await;
        let first = async |at| only(store.lease_due("a", &[ssl()], at, LEASE, 9).await.unwrap());
        let lease = first(noon()).await;
        let later = noon() + seconds(2);
        store.put_off_lease(&lease, later).await.unwrap();
        let anew = noon() + seconds(3600);
        let binds = Binds::new().with("row", key::schedule(site.id, &ssl())).with("anew", anew);
        let unit = "UPDATE $row SET due_at = $anew, planned_at = $anew RETURN NONE";
        store.write(unit, binds).await.unwrap();
        let lease = first(anew).await;
        assert_eq!((lease.due_at, lease.ready_at), (anew, anew));
    });
}

#[test]
fn what_was_planned_for_later_runs_at_once_unless_it_is_leased() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let site = site(&account, "www.example.com");
        let later = noon() + seconds(90);
        store.create_site(&site, 1, &[(ssl(), noon()), (uptime(), later)]).await.unwrap();
        let both = [ssl(), uptime()];
        only(store.lease_due("a", &both, noon(), LEASE, 9).await.unwrap());
        let unknown = Uuid::new_v4().into();
        let checks = [(site.id, ssl()), (site.id, uptime()), (unknown, ssl())];
        store.run_at_once(&checks, noon()).await.unwrap();
        let lease = only(store.lease_due("b", &both, noon(), LEASE, 9).await.unwrap());
        assert_eq!((lease.site_id, lease.check_type, lease.due_at), (site.id, uptime(), noon()));
        store.run_at_once(&[], noon()).await.unwrap();
    });
}

#[test]
fn leases_of_the_dead_are_taken_over_at_once() {
    on_embedded(|store| async move {
        many_sites(&store, 3).await;
        let dead = store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap();
        assert_eq!(store.recover_leases(noon()).await.unwrap(), 3);
        assert_eq!(store.recover_leases(noon()).await.unwrap(), 0);
        let alive = store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap();
        let due = |leases: &[crate::Lease]| leases.iter().map(|l| l.due_at).collect::<Vec<_>>();
        assert_eq!(due(&alive), due(&dead));
        assert!(alive.iter().zip(&dead).all(|(alive, dead)| alive.epoch > dead.epoch));
    });
}

#[test]
fn a_lease_does_not_fit_a_row_that_was_made_anew() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let old = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        store.update_site(account.id, site.id, |_| Vec::new()).await.unwrap();
        let again = noon() + seconds(1);
        store.update_site(account.id, site.id, |_| vec![(ssl(), again)]).await.unwrap();
        let new = only(store.lease_due("a", &[ssl()], again, LEASE, 9).await.unwrap());
        assert_ne!(old.epoch, new.epoch);
        store.release_lease(&old, noon()).await.unwrap();
        assert!(store.lease_due("b", &[ssl()], again, LEASE, 9).await.unwrap().is_empty());
    });
}

#[test]
fn what_is_planned_beyond_a_horizon_is_planned_anew_unless_it_is_leased() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let [leased, far, near] = ["leased", "far", "near"].map(|name| {
            let domain = format!("{name}.example.com");
            site(&account, &domain)
        });
        let horizon = noon() + seconds(60);
        let planned = [(&leased, noon()), (&far, horizon + seconds(1)), (&near, horizon)];
        for (site, at) in planned {
            let other = (uptime(), horizon + seconds(1));
            store.create_site(site, 9, &[(ssl(), at), other]).await.unwrap();
        }
        let lease = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        assert_eq!(store.planned_after(&ssl(), horizon, noon(), 9).await.unwrap(), [far.id]);
        assert_eq!(store.planned_after(&uptime(), horizon, noon(), 2).await.unwrap().len(), 2);

        let anew = [(far.id, noon() + seconds(5)), (leased.id, noon() + seconds(5))];
        store.plan_anew(&ssl(), &anew).await.unwrap();
        store.plan_anew(&ssl(), &[]).await.unwrap();
        assert!(store.planned_after(&ssl(), horizon, noon(), 9).await.unwrap().is_empty());
        let later = noon() + seconds(5);
        let taken = only(store.lease_due("b", &[ssl()], later, LEASE, 9).await.unwrap());
        assert_eq!((taken.site_id, taken.due_at), (far.id, later));
        assert_ne!(lease.site_id, taken.site_id);
    });
}

#[test]
fn lease_of_a_node_that_is_gone_and_whose_clock_was_ahead_is_over() {
    on_both(|store| async move {
        many_sites(&store, 4).await;
        let ahead = noon() + seconds(3600);
        let one = async |node: &'static str, at| {
            only(store.lease_due(node, &[ssl()], at, LEASE, 1).await.unwrap())
        };
        let gone = one("gone", ahead).await;
        // This one's own clock was ahead, and has been set right since; another's still is.
        one("a", ahead).await;
        one("busy", ahead).await;
        store.sign_on("busy", noon(), LEASE).await.unwrap();
        one("gone", noon()).await;
        let horizon = noon() + seconds(300);
        assert_eq!(store.end_leases("a", &ssl(), horizon, noon(), 9).await.unwrap(), 1);
        assert_eq!(store.end_leases("a", &uptime(), horizon, noon(), 9).await.unwrap(), 0);
        let taken = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        assert_eq!((taken.site_id, taken.due_at), (gone.site_id, gone.due_at));
        assert!(taken.epoch > gone.epoch, "what the other brings counts for nothing");
    });
}

#[test]
fn what_a_check_asked_for_stays_planned_unless_it_asked_by_a_clock_that_was_ahead() {
    on_both(|store| async move {
        let next_due = noon() + seconds(8 * 3600);
        let site = asked_for(&store, next_due).await;
        let horizon = noon() + seconds(60);
        assert!(store.planned_after(&ssl(), horizon, noon(), 9).await.unwrap().is_empty());
        let before = noon() - seconds(1);
        assert_eq!(store.planned_after(&ssl(), horizon, before, 9).await.unwrap(), [site.id]);
        // What is planned next is a plan like any other.
        store.plan_anew(&ssl(), &[(site.id, next_due)]).await.unwrap();
        assert_eq!(store.planned_after(&ssl(), horizon, noon(), 9).await.unwrap(), [site.id]);
    });
}

#[test]
fn a_run_that_confirms_goes_before_all_that_wait_longer() {
    on_both(|store| async move {
        let (account, doubted) = with_site(&store).await;
        let lease = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        assert!(!lease.recheck, "the first of all confirms nothing");
        let other = site(&account, "other.example");
        store.create_site(&other, 9, &[(ssl(), noon())]).await.unwrap();
        let settle = async |lease: Lease, at, unconfirmed_runs| {
            let context = store.check_context(account.id, doubted.id, &ssl()).await.unwrap();
            let context = context.unwrap();
            let decision = decide(&context, record(&doubted, &ssl(), at), Vec::new());
            let decision = Decision { unconfirmed_runs, ..decision };
            let settle = Settle { lease: &lease, next_due: at + seconds(10), asked_at: None };
            let commit = plain(&account, context.state.version, &decision);
            store.commit(Commit { settle: Some(settle), ..commit }).await.unwrap();
        };
        let first = async |at| only(store.lease_due("a", &[ssl()], at, LEASE, 1).await.unwrap());

        settle(lease, noon(), 1).await;
        let lease = first(noon() + seconds(20)).await;
        assert_eq!((lease.site_id, lease.recheck), (doubted.id, true));
        // It was nothing: the next one is a run like any other.
        settle(lease, noon() + seconds(20), 0).await;
        let lease = first(noon() + seconds(40)).await;
        assert_eq!((lease.site_id, lease.recheck), (other.id, false));
        let lease = first(noon() + seconds(40)).await;
        assert_eq!((lease.site_id, lease.recheck), (doubted.id, false));
    });
}

#[test]
fn what_runs_at_once_is_planned_like_any_other() {
    on_both(|store| async move {
        let site = asked_for(&store, noon() + seconds(8 * 3600)).await;
        // By a clock that was ahead, so that it is for later all the same.
        let ahead = noon() + seconds(3600);
        store.run_at_once(&[(site.id, ssl())], ahead).await.unwrap();
        let horizon = noon() + seconds(60);
        assert_eq!(store.planned_after(&ssl(), horizon, noon(), 9).await.unwrap(), [site.id]);
    });
}

/// A site whose check ran at noon and asked for its next run itself.
async fn asked_for(store: &Store, next_due: Timestamp) -> Site {
    let (account, site) = with_site(store).await;
    let lease = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
    let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
    let decision = decide(&context, record(&site, &ssl(), noon()), Vec::new());
    let settle = Settle { lease: &lease, next_due, asked_at: Some(noon()) };
    let commit = Commit { settle: Some(settle), ..plain(&account, 0, &decision) };
    store.commit(commit).await.unwrap();
    site
}
