//! The transaction that makes a decision real.

use tokio::sync::oneshot;
use vedette_model::DeliveryState;
use vedette_model::delivery::queue;

use super::*;
use crate::error::Error;
use crate::{CheckFilter, Runs, Settle};

#[test]
fn what_was_committed_is_the_next_context() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let before = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        assert_eq!(before.account, account);
        assert_eq!(before.site, bare(&site));
        assert_eq!(before.state, Default::default());
        assert!(before.open.is_empty() && before.siblings.is_empty());

        let run = record(&site, &ssl(), noon());
        let decision =
            checked(&store, &account, run, vec![finding("ssl.expiring", "f1")]).await.unwrap();
        let after = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        assert_eq!(after.state, decision.state);
        assert_eq!(after.state.version, 1);
        assert_eq!(result_of(after.state.latest.as_ref().unwrap())["serial"], u64::MAX);
        assert_eq!(after.open, decision.raised);

        let other = store.check_context(account.id, site.id, &uptime()).await.unwrap().unwrap();
        assert_eq!(other.state, Default::default());
        assert!(other.open.is_empty());
        assert_eq!(other.siblings, [(ssl(), decision.record.result)]);
    });
}

#[test]
fn a_settled_result_survives_a_run_that_could_not_tell() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let good = ssl_run(&store, &account, &site, noon(), vec![]).await;
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let broken =
            CheckRecord { result: Value::Null, ..record(&site, &ssl(), noon() + seconds(60)) };
        let decision = {
            let context = Context {
                account_id: account.id,
                site: &site,
                check_type: &ssl(),
                events: &events(),
                state: &context.state,
                open: &[],
                maintenance: false,
                now: noon() + seconds(60),
            };
            reconcile(&context, broken.clone(), None, &mut Uuid::new_v4)
        };
        store.commit(plain(&account, 1, &decision)).await.unwrap();
        let state = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap().state;
        assert_eq!(state.settled.as_ref().unwrap().result, good.record.result);
        assert_eq!(state, decision.state);
        // A check without a result is nobody's sibling.
        let other = store.check_context(account.id, site.id, &uptime()).await.unwrap().unwrap();
        assert!(other.siblings.is_empty());
    });
}

#[test]
fn of_decisions_from_the_same_past_one_is_committed() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let commit = {
            let (store, account, site) = (store.clone(), account.clone(), site.clone());
            move |nth: usize| {
                let (store, account) = (store.clone(), account.clone());
                let at = noon() + TimeDelta::milliseconds(i64::try_from(nth).unwrap());
                let found = vec![finding("ssl.expiring", "f1")];
                let decision = decide(&context, record(&site, &ssl(), at), found);
                async move { store.commit(plain(&account, 0, &decision)).await }
            }
        };
        let answers = at_once(16, commit).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert_eq!(answers.iter().filter(|a| matches!(a, Err(Error::Stale))).count(), 15);
        let page = store.checks_page(account.id, site.id, &everything()).await.unwrap().unwrap();
        assert_eq!((page.items.len(), page.total), (1, 1));
        assert_eq!(store.alerts(account.id, &all_alerts()).await.unwrap().total, 1);
    });
}

#[test]
fn a_commit_repeated_is_stale_and_changes_nothing() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let decision = ssl_run(&store, &account, &site, noon(), vec![changed("f2")]).await;
        let before = rows(&store).await;
        let again = store.commit(plain(&account, 0, &decision)).await;
        assert!(matches!(again, Err(Error::Stale)), "{again:?}");
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn what_was_decided_of_a_place_is_stale_once_the_site_has_moved() {
    on_both(|store| async move {
        for to_domain in [false, true] {
            let (account, site) = with_site(&store).await;
            ssl_run(&store, &account, &site, noon(), vec![]).await;
            // The other never ran before the move.
            for check_type in [ssl(), uptime()] {
                let context = store.check_context(account.id, site.id, &check_type).await;
                let context = context.unwrap().unwrap();
                let run = |at: i64| record(&site, &check_type, noon() + seconds(at));
                let late = decide(&context, run(60), vec![]);
                let moved = |site: &mut Site| {
                    if to_domain {
                        site.domain =
                            DomainName::parse(&format!("{check_type}.example.com")).unwrap();
                        return Runs::default();
                    }
                    site.custom_port = Some(site.custom_port.map_or(8443, |port| port + 1));
                    Runs { moved: vec![check_type.clone()], ..Runs::default() }
                };
                store.update_site(account.id, site.id, moved).await.unwrap().unwrap();
                for nth in 0..2 {
                    let version = context.state.version;
                    let refused = store.commit(plain(&account, version, &late)).await;
                    assert!(matches!(refused, Err(Error::Stale)), "{nth} runs there: {refused:?}");
                    checked(&store, &account, run(120 + nth), vec![]).await.unwrap();
                }
            }
        }
    });
}

#[test]
fn runs_of_different_checks_do_not_stand_in_each_others_way() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let run = {
            let (store, account, site) = (store.clone(), account.clone(), site.clone());
            move |nth: usize| {
                let (store, account) = (store.clone(), account.clone());
                let check_type: CheckType = format!("type{nth}").parse().unwrap();
                let record = record(&site, &check_type, noon());
                async move { checked(&store, &account, record, vec![]).await.map(drop) }
            }
        };
        for answer in at_once(16, run).await {
            answer.unwrap();
        }
        let latest = store.latest_checks(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(latest.len(), 16);
    });
}

#[test]
fn a_late_owner_writes_nothing() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let late = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        let taken = noon() + seconds(61);
        let current = only(store.lease_due("b", &[ssl()], taken, LEASE, 9).await.unwrap());
        assert!(current.epoch > late.epoch);

        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let decision = decide(&context, record(&site, &ssl(), noon()), vec![changed("f2")]);
        let before = rows(&store).await;
        let next_due = noon() + seconds(3600);
        let settle = |lease| Some(Settle { lease, next_due, asked_at: None });
        let refused =
            store.commit(Commit { settle: settle(&late), ..plain(&account, 0, &decision) }).await;
        assert!(matches!(refused, Err(Error::Fenced)), "{refused:?}");
        assert_eq!(rows(&store).await, before);

        store
            .commit(Commit { settle: settle(&current), ..plain(&account, 0, &decision) })
            .await
            .unwrap();
        // Settled once is settled.
        let decision = ssl_decision(&store, &account, &site).await;
        let again = store
            .commit(Commit { settle: settle(&current), ..plain(&account, 1, &decision) })
            .await;
        assert!(matches!(again, Err(Error::Fenced)), "{again:?}");
        let due = store.lease_due("a", &[ssl()], next_due - seconds(1), LEASE, 9).await.unwrap();
        assert!(due.is_empty());
        let due = only(store.lease_due("a", &[ssl()], next_due, LEASE, 9).await.unwrap());
        assert_eq!(due.due_at, next_due);
    });
}

#[test]
fn an_expired_lease_that_nobody_took_still_settles() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let lease = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        let decision = ssl_decision(&store, &account, &site).await;
        let next_due = noon() + seconds(3600);
        let settle = Some(Settle { lease: &lease, next_due, asked_at: None });
        store.commit(Commit { settle, ..plain(&account, 0, &decision) }).await.unwrap();
        let expired = noon() + seconds(61);
        let due = store.lease_due("b", &[ssl()], expired, LEASE, 9).await.unwrap();
        assert!(due.is_empty());
        let due = only(store.lease_due("b", &[ssl()], next_due, LEASE, 9).await.unwrap());
        assert_eq!(due.due_at, next_due);
    });
}

#[test]
fn an_unplanned_run_brings_the_next_one_forward_only() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let due = [noon() + seconds(20), noon() - seconds(5), noon() + seconds(900)];
        for (version, next_due) in (0_u64..).zip(due) {
            let decision = ssl_decision(&store, &account, &site).await;
            let commit = Commit { next_due: Some(next_due), ..plain(&account, version, &decision) };
            store.commit(commit).await.unwrap();
        }
        let lease = only(store.lease_due("a", &[ssl()], noon(), LEASE, 9).await.unwrap());
        assert_eq!(lease.due_at, noon() - seconds(5));
        // A run at work is not taken away from its owner.
        let decision = ssl_decision(&store, &account, &site).await;
        let commit = Commit { next_due: Some(noon()), ..plain(&account, 3, &decision) };
        store.commit(commit).await.unwrap();
        assert!(store.lease_due("b", &[ssl()], noon(), LEASE, 9).await.unwrap().is_empty());
    });
}

#[test]
fn commit_whose_caller_has_gone_is_followed_by_another_revision() {
    interrupted::on_both(|engine| async move {
        let store = engine.store();
        let (account, site) = with_site(&store).await;
        let decision = ssl_decision(&store, &account, &site).await;
        let (begun, has_begun) = oneshot::channel();
        let (go, may_go) = oneshot::channel();
        engine.meanwhile(async move {
            begun.send(()).unwrap();
            may_go.await.unwrap();
        });
        tokio::select! {
            committed = store.commit(plain(&account, 0, &decision)) => panic!("{committed:?}"),
            begun = has_begun => begun.unwrap(),
        }
        let before = store.revision(account.id);
        go.send(()).expect("it goes on");
        let revised = async {
            while store.revision(account.id) == before {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), revised).await.unwrap();
        let latest = store.latest_checks(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(latest[&ssl()], decision.record);
    });
}

#[test]
fn nothing_is_committed_for_a_site_that_is_gone() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let decision = ssl_decision(&store, &account, &site).await;
        store.delete_site(account.id, site.id).await.unwrap();
        while store.purge_next(500).await.unwrap() {}
        let before = rows(&store).await;
        let refused = store.commit(plain(&account, 0, &decision)).await;
        assert!(matches!(refused, Err(Error::Gone)), "{refused:?}");
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn alert_changes_deliveries_and_history_come_with_the_record() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let settings = store
            .update_settings(account.id, |settings| {
                settings.custom_webhook_url = Some("https://hooks.example.com/x".to_owned().into());
                Ok::<(), ()>(())
            })
            .await
            .unwrap()
            .unwrap();
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        assert_eq!(context.settings, settings);
        let found = vec![finding("ssl.expiring", "f1"), changed("f1")];
        let decision = decide(&context, record(&site, &ssl(), noon()), found);
        let deliveries = queue(&decision, &account, &settings, noon());
        let commit = Commit { deliveries: &deliveries, ..plain(&account, 0, &decision) };
        store.commit(commit).await.unwrap();

        let alerts = store.alerts(account.id, &all_alerts()).await.unwrap();
        assert_eq!(alerts.total, 2);
        let history = store.cert_history(account.id, site.id).await.unwrap().unwrap();
        assert_eq!((history.items, history.total), (decision.cert_changes.clone(), 1));
        let queued = only(deliveries);
        for alert in &decision.raised {
            let told = store.deliveries_of(account.id, alert.id, 9).await.unwrap().unwrap();
            assert_eq!(only(told), queued);
        }
        assert_eq!(queued.state, DeliveryState::Pending);
    });
}

#[test]
fn of_an_alert_that_was_told_often_the_latest_deliveries_are_read() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let settings = vedette_model::NotificationSettings {
            custom_webhook_url: Some("https://hooks.example.com/x".to_owned().into()),
            ..Default::default()
        };
        let mut queued = Vec::new();
        for (hours, found) in [(0, vec![finding("ssl.expiring", "f1")]), (1, Vec::new())] {
            let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
            let at = noon() + TimeDelta::hours(hours);
            let decision = decide(&context, record(&site, &ssl(), at), found);
            let deliveries = queue(&decision, &account, &settings, at);
            let commit = Commit {
                deliveries: &deliveries,
                ..plain(&account, context.state.version, &decision)
            };
            store.commit(commit).await.unwrap();
            queued.push(only(deliveries));
        }
        let alert = queued[0].notices[0].alert_id;
        let latest = store.deliveries_of(account.id, alert, 1).await.unwrap().unwrap();
        assert_eq!(latest, queued[1..], "raised, and then resolved");
        let both = store.deliveries_of(account.id, alert, 9).await.unwrap().unwrap();
        assert_eq!(both, queued, "oldest first");
    });
}

#[test]
fn a_delivery_that_is_queued_is_not_queued_again() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let decision = decide(&context, record(&site, &ssl(), noon()), vec![changed("f1")]);
        let settings = vedette_model::NotificationSettings {
            custom_webhook_url: Some("https://hooks.example.com/x".to_owned().into()),
            ..Default::default()
        };
        let deliveries = queue(&decision, &account, &settings, noon());
        let commit = Commit { deliveries: &deliveries, ..plain(&account, 0, &decision) };
        store.commit(commit).await.unwrap();
        assert_eq!(delivery::gathered(&store, &account, noon(), 100).await.len(), 1);

        // It comes a second time, where nobody had heard what became of it.
        let again = store.commit(commit).await;
        assert!(matches!(again, Err(Error::Stale)), "{again:?}");
        // The id of a delivery is made from its record's: another record does not queue it. Nor may it,
        // or what is under way would be told twice, or what the other has to tell not at all.
        let other = ssl_decision(&store, &account, &site).await;
        let of_another = Commit { deliveries: &deliveries, ..plain(&account, 1, &other) };
        let refused = store.commit(of_another).await;
        assert!(matches!(refused, Err(Error::Duplicate)), "{refused:?}");

        let after = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        assert_eq!(after.state.version, 1, "they were refused as a whole");
        let context = delivery::lane(&store, &account, noon()).await;
        assert_eq!((context.waiting.len(), context.behind), (0, vec![site.id]), "it is under way");
    });
}

#[test]
fn a_decision_about_an_alert_that_its_owner_resolved_meanwhile_is_stale() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let found = vec![finding("ssl.expiring", "f1")];
        let alert = raised(&ssl_run(&store, &account, &site, noon(), found).await);
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let at = noon() + seconds(60);
        let decision = decide(&context, record(&site, &ssl(), at), vec![]);
        assert_eq!(decision.resolved.len(), 1);
        store.set_alert_resolved(account.id, alert.id, true, at).await.unwrap().unwrap();
        let refused = store.commit(plain(&account, 1, &decision)).await;
        assert!(matches!(refused, Err(Error::Stale)), "{refused:?}");
        // Decided anew it goes through.
        checked(&store, &account, record(&site, &ssl(), at), vec![]).await.unwrap();
        let resolved = store.alert(account.id, alert.id).await.unwrap().unwrap();
        assert!(resolved.is_resolved);
    });
}

async fn ssl_decision(store: &Store, account: &Account, site: &Site) -> Decision {
    let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
    decide(&context, record(site, &ssl(), noon()), vec![])
}

fn everything() -> CheckFilter {
    CheckFilter { limit: 200, ..CheckFilter::default() }
}

fn all_alerts() -> vedette_model::AlertFilter {
    vedette_model::AlertFilter { limit: 200, ..Default::default() }
}
