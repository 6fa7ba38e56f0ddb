//! Checks that are taken off their site: what ends with them, and what stays.

use super::alert::{filter, totals};
use vedette_model::schedule::awaits_confirmation;

use super::*;
use crate::Runs;
use crate::error::Error;

/// The site is for uptime alone from here on.
fn without_ssl(at: Timestamp) -> impl Fn(&mut Site) -> Runs {
    move |site| {
        site.check_types = vec![uptime()];
        Runs { due: vec![(uptime(), at)], dropped: vec![(ssl(), at)], ..Runs::default() }
    }
}

fn with_ssl(at: Timestamp) -> impl Fn(&mut Site) -> Runs {
    move |site| {
        site.check_types = vec![ssl()];
        vec![(ssl(), at), (uptime(), at)].into()
    }
}

fn expiring() -> Finding {
    finding("ssl.expiring", "f1")
}

#[test]
fn conditions_are_resolved_in_silence_and_changes_stay() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let condition = raised(&ssl_run(&store, &account, &site, noon(), vec![expiring()]).await);
        let found = vec![expiring(), changed("f2")];
        let change = raised(&ssl_run(&store, &account, &site, noon() + seconds(9), found).await);
        let run = record(&site, &uptime(), noon());
        let other = raised(&checked(&store, &account, run, vec![expiring()]).await.unwrap());
        assert_eq!(totals(&store, &account).await, (3, 0, 3));
        store.open_events(account.id, noon() + seconds(60)).await.unwrap();
        let begin = store.number_events(account.id, noon()).await.unwrap() + 1;

        let at = noon() + seconds(30);
        for _ in 0..2 {
            store.update_site(account.id, site.id, without_ssl(at)).await.unwrap().unwrap();
            assert_eq!(totals(&store, &account).await, (2, 1, 3));
        }
        let resolved = only(store.alerts(account.id, &filter(Some(true))).await.unwrap().items);
        assert_eq!((resolved.id, resolved.resolved_at), (condition.id, Some(at)));
        for stays in [&change, &other] {
            let now = store.alert(account.id, stays.id).await.unwrap();
            assert_eq!(now.as_ref(), Some(stays));
        }
        let warned = store.open_alerts(account.id, Severity::Warning).await.unwrap();
        assert_eq!(warned, (1, vec![site.id]), "that of uptime");
        assert_eq!(event::told(&store, &account, begin).await, [["alert.resolved"]]);
        let queued = rows(&store).await.into_iter().find(|(table, _)| table == "delivery");
        assert_eq!(queued, None);
    });
}

#[test]
fn a_check_that_is_put_back_raises_what_still_holds_and_knows_what_it_saw() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let found = || vec![expiring(), finding("ssl.expiring", "f2")];
        let before = ssl_run(&store, &account, &site, noon(), found()).await;
        // The owner has acknowledged one of the two.
        let known = before.raised[1].id;
        store.set_alert_resolved(account.id, known, true, noon()).await.unwrap();
        let off = noon() + seconds(60);
        store.update_site(account.id, site.id, without_ssl(off)).await.unwrap().unwrap();
        assert_eq!(totals(&store, &account).await, (0, 2, 2));

        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        assert!(context.state.tracked.is_empty());
        assert_eq!(context.state.latest, before.state.latest);
        assert_eq!(context.state.settled, before.state.settled);
        assert_eq!(context.state.memory, before.state.memory);

        let on = noon() + seconds(120);
        store.update_site(account.id, site.id, with_ssl(on)).await.unwrap().unwrap();
        let due = store.lease_due("a", &[ssl()], on, LEASE, 9).await.unwrap();
        assert_eq!(only(due).due_at, on);
        let after = ssl_run(&store, &account, &site, on, found()).await;
        assert_eq!((after.raised.len(), after.notices.len()), (2, 2));
        assert_eq!(totals(&store, &account).await, (2, 2, 4));
    });
}

#[test]
fn a_check_that_is_put_back_is_looked_at_again_however_often_it_was() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let doubtful =
            |key: &str| vec![Finding { confirmations: Some(2), ..finding("ssl.expiring", key) }];
        for (second, key) in (0..).zip(["f1", "f2", "f3", "f4", "f5", "f6"]) {
            ssl_run(&store, &account, &site, noon() + seconds(second), doubtful(key)).await;
        }
        let off = noon() + seconds(60);
        store.update_site(account.id, site.id, without_ssl(off)).await.unwrap().unwrap();
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        assert_eq!(context.state.unconfirmed_runs, 1, "the last of them is as doubtful as it was");

        let on = noon() + seconds(120);
        store.update_site(account.id, site.id, with_ssl(on)).await.unwrap().unwrap();
        let run = ssl_run(&store, &account, &site, on, doubtful("f7")).await;
        assert!(run.recheck && awaits_confirmation(run.unconfirmed_runs), "{run:?}");
    });
}

#[test]
fn a_check_that_never_ran_is_dropped_like_any_other() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        store.update_site(account.id, site.id, without_ssl(noon())).await.unwrap().unwrap();
        assert!(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap().is_empty());
        ssl_run(&store, &account, &site, noon(), vec![expiring()]).await;
        assert_eq!(totals(&store, &account).await, (1, 0, 1), "somebody asked for that run");
    });
}

#[test]
fn a_site_that_moves_as_well_ends_them_all_the_same() {
    on_both(|store| async move {
        for to_domain in [false, true] {
            let (account, site) = with_site(&store).await;
            ssl_run(&store, &account, &site, noon(), vec![expiring()]).await;
            let moves = |site: &mut Site| {
                if to_domain {
                    site.domain = DomainName::parse("moved.example.com").unwrap();
                } else {
                    site.custom_port = Some(8443);
                }
                Runs { moved: vec![ssl()], ..without_ssl(noon())(site) }
            };
            store.update_site(account.id, site.id, moves).await.unwrap().unwrap();
            assert_eq!(totals(&store, &account).await, (0, 1, 1));
        }
    });
}

#[test]
fn what_was_judged_before_is_judged_anew() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        ssl_run(&store, &account, &site, noon(), vec![expiring()]).await;
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let run = record(&site, &ssl(), noon() + seconds(60));
        let late = decide(&context, run, vec![expiring()]);
        assert!(late.resolved.is_empty() && late.updated.is_empty(), "it changes no alert");
        store.update_site(account.id, site.id, without_ssl(noon())).await.unwrap().unwrap();
        let refused = store.commit(plain(&account, context.state.version, &late)).await;
        assert!(matches!(refused, Err(Error::Stale)), "{refused:?}");
    });
}

#[test]
fn what_is_raised_meanwhile_ends_too() {
    interrupted::on_both(|engine| async move {
        let (store, other) = (engine.store(), engine.other());
        let (account, site) = with_site(&other).await;
        ssl_run(&other, &account, &site, noon(), vec![]).await;
        let (node, owner, watched) = (other.clone(), account.clone(), site.clone());
        engine.meanwhile(async move {
            ssl_run(&node, &owner, &watched, noon() + seconds(60), vec![expiring()]).await;
        });
        let at = noon() + seconds(61);
        store.update_site(account.id, site.id, without_ssl(at)).await.unwrap().unwrap();
        assert_eq!(totals(&other, &account).await, (0, 1, 1));
    });
}
