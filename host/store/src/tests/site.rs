//! Sites: limits, duplicates, changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use vedette_model::{CheckState, SiteId};

use super::*;
use crate::error::Error;
use crate::tx::Binds;
use crate::{Runs, StateScope, key};

#[test]
fn a_site_reads_back_as_it_was_made() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        assert_eq!(store.site(account.id, site.id).await.unwrap(), Some(site.clone()));
        assert_eq!(store.listed_sites(account.id).await.unwrap().1, [bare(&site)]);
    });
}

#[test]
fn sites_are_listed_oldest_first() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let mut made = Vec::new();
        for age in [2, 5, 1, 4, 3] {
            let domain = format!("s{age}.example.com");
            let site = Site { created_at: noon() - seconds(age), ..site(&account, &domain) };
            store.create_site(&site, 50, &[]).await.unwrap();
            made.push(bare(&site));
        }
        made.sort_by_key(|site| site.created_at);
        assert_eq!(store.listed_sites(account.id).await.unwrap().1, made);
    });
}

#[test]
fn with_120_sites_left_200_at_once_create_exactly_120() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let create = {
            let (store, account) = (store.clone(), account.clone());
            move |nth: usize| {
                let (store, account) = (store.clone(), account.clone());
                async move {
                    let site = site(&account, &format!("s{nth}.example.com"));
                    store.create_site(&site, 120, &[(ssl(), noon())]).await
                }
            }
        };
        let answers = at_once(200, create).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 120);
        assert_eq!(answers.iter().filter(|a| matches!(a, Err(Error::SiteLimit))).count(), 80);
        assert_eq!(store.listed_sites(account.id).await.unwrap().1.len(), 120);
    });
}

#[test]
fn of_equal_sites_at_once_one_is_created() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let create = {
            let (store, account) = (store.clone(), account.clone());
            move |_| {
                let (store, account) = (store.clone(), account.clone());
                async move { store.create_site(&site(&account, "www.example.com"), 50, &[]).await }
            }
        };
        let answers = at_once(20, create).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert_eq!(answers.iter().filter(|a| matches!(a, Err(Error::Duplicate))).count(), 19);
        // Those that were refused took no room.
        store.create_site(&site(&account, "two.example.com"), 2, &[]).await.unwrap();
    });
}

#[test]
fn another_port_address_or_account_makes_another_site() {
    on_both(|store| async move {
        let (account, first) = with_site(&store).await;
        let port = Site { custom_port: Some(8443), ..site(&account, "www.example.com") };
        let address =
            Site { origin_ip: Some([192, 0, 2, 1].into()), ..site(&account, "www.example.com") };
        for site in [&port, &address] {
            store.create_site(site, 50, &[]).await.unwrap();
        }
        let stranger = signed_up(&store).await;
        store.create_site(&site(&stranger, "www.example.com"), 50, &[]).await.unwrap();

        let same = store.update_site(account.id, port.id, |site| {
            site.custom_port = None;
            Vec::new()
        });
        assert!(matches!(same.await, Err(Error::Duplicate)));
        assert_eq!(store.site(account.id, port.id).await.unwrap(), Some(port.clone()));

        // Once the first has moved, its place is free.
        let moved = store.update_site(account.id, first.id, |site| {
            site.custom_port = Some(993);
            Vec::new()
        });
        assert_eq!(moved.await.unwrap().unwrap().custom_port, Some(993));
        let took = store.update_site(account.id, port.id, |site| {
            site.custom_port = None;
            Vec::new()
        });
        assert_eq!(took.await.unwrap().unwrap().custom_port, None);
    });
}

#[test]
fn changes_at_once_are_all_kept() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let made = Arc::new(AtomicUsize::new(0));
        let change = {
            let (store, made) = (store.clone(), Arc::clone(&made));
            move |nth: usize| {
                let (store, made) = (store.clone(), Arc::clone(&made));
                async move {
                    let extra: CheckType = format!("type{nth}").parse().unwrap();
                    store
                        .update_site(account.id, site.id, |site| {
                            made.fetch_add(1, Ordering::Relaxed);
                            site.check_types.push(extra.clone());
                            site.check_types.iter().map(|t| (t.clone(), noon())).collect::<Vec<_>>()
                        })
                        .await
                        .unwrap()
                        .unwrap();
                }
            }
        };
        at_once(24, change).await;
        assert_eq!(made.load(Ordering::Relaxed), 24, "they take turns, and none is made again");
        let stored = only(store.listed_sites(account.id).await.unwrap().1);
        assert_eq!(stored.check_types.len(), 25);
        let due = store.lease_due("a", &stored.check_types, noon(), LEASE, 100).await.unwrap();
        assert_eq!(due.len(), 25);
    });
}

#[test]
fn a_check_that_is_planned_anew_runs_at_once_and_its_old_run_counts_no_more() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let old = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        let moved = noon() + seconds(1);
        let change = |site: &mut Site| {
            site.custom_port = Some(8443);
            Runs { due: vec![(ssl(), moved)], anew: vec![ssl()], ..Runs::default() }
        };
        store.update_site(account.id, site.id, change).await.unwrap();
        let new = only(store.lease_due("a", &[ssl()], moved, LEASE, 9).await.unwrap());
        assert_eq!(new.due_at, moved);
        store.release_lease(&old, noon()).await.unwrap();
        assert!(store.lease_due("b", &[ssl()], moved, LEASE, 9).await.unwrap().is_empty());
    });
}

#[test]
fn a_check_that_has_moved_begins_anew_and_no_other_does() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let dns: CheckType = "dns".parse().unwrap();
        let read = async |check_type: &CheckType| {
            store.check_context(account.id, site.id, check_type).await.unwrap().unwrap()
        };
        ssl_run(&store, &account, &site, noon(), vec![finding("ssl.expiring", "leaf")]).await;
        for check_type in [&uptime(), &dns] {
            let run = record(&site, check_type, noon());
            checked(&store, &account, run, Vec::new()).await.unwrap();
        }
        let (before, others) = (read(&ssl()).await, read(&dns).await.state);
        assert_eq!(before.open.len(), 1);
        let tally = read(&uptime()).await.state.tally;
        assert!(!tally.days.is_empty(), "uptime is counted by days");
        let moved = |site: &mut Site| {
            site.origin_ip = Some([192, 0, 2, 1].into());
            Runs { moved: vec![ssl(), uptime()], ..Runs::default() }
        };
        store.update_site(account.id, site.id, moved).await.unwrap().unwrap();

        let after = read(&ssl()).await;
        assert_eq!(after.state, CheckState { version: 2, ..CheckState::default() });
        assert_eq!(after.open, before.open, "what was raised stays");
        assert_eq!(after.siblings.len(), 1, "what was found elsewhere says nothing here");
        assert_eq!(read(&dns).await.state, others);
        let state = CheckState { version: 2, tally, ..CheckState::default() };
        assert_eq!(read(&uptime()).await.state, state, "the days are the domain's");
        let latest = store.latest_checks(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(latest.keys().collect::<Vec<_>>(), [&dns]);

        ssl_run(&store, &account, &site, noon() + seconds(60), Vec::new()).await;
        assert_eq!(read(&ssl()).await.state.version, 3);
    });
}

#[test]
fn what_plugins_kept_goes_where_they_look_elsewhere_now() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let neighbour = super::site(&account, "two.example.com");
        store.create_site(&neighbour, 50, &[]).await.unwrap();
        let of = |site: SiteId, plugin: &'static str| StateScope { plugin, site: Some(site) };
        let (ssl_kept, ct_kept) = (of(site.id, "check-ssl"), of(site.id, "check-ct"));
        let others = [of(neighbour.id, "check-ssl"), StateScope { plugin: "check-ct", site: None }];
        let keep = async |scope: StateScope<'static>, key: &str| {
            // Two do not fit, and a scope that was emptied has room again.
            store.plugin_state_set(scope, key, &[7; 60], None, noon(), 100).await
        };
        let kept = async |scope: StateScope<'static>| {
            store.plugin_state_get(scope, "a", noon()).await.unwrap().is_some()
        };
        for scope in [ssl_kept, ct_kept, others[0], others[1]] {
            keep(scope, "a").await.unwrap();
            assert!(keep(scope, "b").await.is_err());
        }

        let to_port = |site: &mut Site| {
            site.custom_port = Some(8443);
            Runs { moved: vec![ssl()], plugins: vec!["check-ssl".to_owned()], ..Runs::default() }
        };
        store.update_site(account.id, site.id, to_port).await.unwrap().unwrap();
        assert!(!kept(ssl_kept).await);
        assert!(kept(ct_kept).await, "it asks others about the domain");
        keep(ssl_kept, "b").await.unwrap();

        let to_domain = |site: &mut Site| {
            site.domain = DomainName::parse("moved.example.com").unwrap();
            Runs::default()
        };
        store.update_site(account.id, site.id, to_domain).await.unwrap().unwrap();
        assert!(!kept(ct_kept).await);
        for scope in [ssl_kept, ct_kept] {
            keep(scope, "c").await.unwrap();
        }
        for scope in others {
            assert!(kept(scope).await);
            assert!(keep(scope, "c").await.is_err(), "and counts");
        }
    });
}

#[test]
fn the_usual_port_makes_no_other_site() {
    on_both(|store| async move {
        let (account, none) = with_site(&store).await;
        let named = Site { custom_port: Some(443), ..site(&account, "www.example.com") };
        let refused = store.create_site(&named, 50, &[]).await;
        assert!(matches!(refused, Err(Error::Duplicate)), "{refused:?}");
        store.update_site(account.id, none.id, to_port(Some(443))).await.unwrap().unwrap();
        let again = store.create_site(&site(&account, "www.example.com"), 50, &[]).await;
        assert!(matches!(again, Err(Error::Duplicate)), "{again:?}");
        store.update_site(account.id, none.id, to_port(Some(8443))).await.unwrap().unwrap();
        store.create_site(&named, 50, &[]).await.unwrap();
        let back = store.update_site(account.id, none.id, to_port(None)).await;
        assert!(matches!(back, Err(Error::Duplicate)), "{back:?}");
    });
}

fn to_port(port: Option<u16>) -> impl Fn(&mut Site) -> Vec<(CheckType, Timestamp)> {
    move |site| {
        site.custom_port = port;
        Vec::new()
    }
}

/// When they were two.
#[test]
fn who_has_both_keeps_both() {
    on_both(|store| async move {
        let (account, none) = with_site(&store).await;
        let named = Site { custom_port: Some(443), ..site(&account, "www.example.com") };
        store.update_site(account.id, none.id, to_port(Some(8443))).await.unwrap().unwrap();
        store.create_site(&named, 50, &[]).await.unwrap();
        let unit = "DELETE $key RETURN NONE;
            CREATE $older_key RETURN NONE;
            UPDATE $site SET key = $older_key RETURN NONE";
        let binds = Binds::new()
            .with("key", key::site_key(&named))
            .with("older_key", key::older_site_key(&named))
            .with("site", key::site(account.id, named.id));
        store.write(unit, binds).await.unwrap();
        let again = site(&account, "www.example.com");
        let refused = store.create_site(&again, 50, &[]).await;
        assert!(matches!(refused, Err(Error::Duplicate)), "{refused:?}");

        let unit = "CREATE $key RETURN NONE";
        store.write(unit, Binds::new().with("key", key::site_key(&again))).await.unwrap();
        let warned = |site: &mut Site| {
            site.alert_days = 30;
            Vec::new()
        };
        store.update_site(account.id, named.id, warned).await.unwrap().unwrap();
        assert!(store.delete_site(account.id, named.id).await.unwrap());
        let refused = store.create_site(&again, 50, &[]).await;
        assert!(matches!(refused, Err(Error::Duplicate)), "the other's key stays: {refused:?}");
    });
}

#[test]
fn a_change_keeps_the_turn_of_checks_that_stay() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let later = noon() + seconds(600);
        store
            .update_site(account.id, site.id, |site| {
                site.check_types.push(uptime());
                vec![(ssl(), later), (uptime(), later)]
            })
            .await
            .unwrap();
        let types = [ssl(), uptime()];
        let due = only(store.lease_due("a", &types, noon(), LEASE, 9).await.unwrap());
        assert_eq!((due.check_type, due.due_at), (ssl(), noon()));
        let due = store.lease_due("a", &types, later, LEASE, 9).await.unwrap();
        assert!(due.iter().any(|lease| lease.check_type == uptime() && lease.due_at == later));

        store.update_site(account.id, site.id, |_| vec![(uptime(), later)]).await.unwrap();
        let due = store.lease_due("a", &types, later + seconds(600), LEASE, 9).await.unwrap();
        assert_eq!(only(due).check_type, uptime());
    });
}

#[test]
fn a_deleted_site_makes_room_and_may_come_back() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let again = super::site(&account, "www.example.com");
        let full = store.create_site(&again, 1, &[]).await;
        assert!(matches!(full, Err(Error::Duplicate)), "{full:?}");
        assert!(store.delete_site(account.id, site.id).await.unwrap());
        assert!(!store.delete_site(account.id, site.id).await.unwrap());
        assert!(store.listed_sites(account.id).await.unwrap().1.is_empty());
        store.create_site(&again, 1, &[]).await.unwrap();
        assert_eq!(only(store.listed_sites(account.id).await.unwrap().1), bare(&again));
    });
}

#[test]
fn nobody_without_an_account_has_sites() {
    on_both(|store| async move {
        let orphan = site(&account(), "www.example.com");
        let created = store.create_site(&orphan, 50, &[]).await;
        assert!(matches!(created, Err(Error::Gone)), "{created:?}");
    });
}

#[test]
fn the_latest_records_of_many_sites_are_read_at_once() {
    on_both(|store| async move {
        let (account, first) = with_site(&store).await;
        let second = site(&account, "two.example.com");
        store.create_site(&second, 50, &[]).await.unwrap();
        let before = store.revision(account.id);
        for minute in 0..2 {
            let context = store.check_context(account.id, first.id, &ssl()).await.unwrap().unwrap();
            let at = noon() + seconds(60 * minute);
            let decision = decide(&context, record(&first, &ssl(), at), vec![]);
            let version = context.state.version;
            store.commit(plain(&account, version, &decision)).await.unwrap();
        }
        if let Some(before) = before {
            assert_ne!(store.revision(account.id), Some(before));
        }
        let glances = store.glances(&[first.id, second.id], &[ssl(), uptime()]).await.unwrap();
        assert_eq!(glances.len(), 1, "what never ran is absent");
        assert_eq!(glances[0].site_id, first.id);
        assert_eq!(glances[0].checked_at, noon() + seconds(60));
        assert!(store.glances(&[], &[ssl()]).await.unwrap().is_empty());

        let moved = |site: &mut Site| {
            site.domain = DomainName::parse("moved.example.com").unwrap();
            Runs { due: vec![(ssl(), noon())], anew: vec![ssl()], ..Runs::default() }
        };
        store.update_site(account.id, first.id, moved).await.unwrap().unwrap();
        let glances = store.glances(&[first.id], &[ssl()]).await.unwrap();
        assert!(glances.is_empty(), "of another domain the past says nothing");
    });
}
