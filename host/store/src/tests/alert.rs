//! Alerts as customers see and resolve them.

use vedette_model::AlertFilter;

use super::*;
use crate::error::Error;

pub(super) fn filter(resolved: Option<bool>) -> AlertFilter {
    AlertFilter { resolved, limit: 200, ..AlertFilter::default() }
}

pub(super) async fn totals(store: &Store, account: &Account) -> (u64, u64, u64) {
    let mut totals = [0; 3];
    for (total, resolved) in totals.iter_mut().zip([Some(false), Some(true), None]) {
        let page = store.alerts(account.id, &filter(resolved)).await.unwrap();
        assert_eq!(page.items.len() as u64, page.total);
        *total = page.total;
    }
    (totals[0], totals[1], totals[2])
}

#[test]
fn totals_follow_every_change() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let expiring = || vec![finding("ssl.expiring", "f1")];
        let alert = raised(&ssl_run(&store, &account, &site, noon(), expiring()).await);
        assert_eq!(totals(&store, &account).await, (1, 0, 1));
        // Resolved and reopened by hand, twice the same is once.
        for _ in 0..2 {
            let done = store.set_alert_resolved(account.id, alert.id, true, noon()).await.unwrap();
            assert!(done.unwrap().is_resolved);
            assert_eq!(totals(&store, &account).await, (0, 1, 1));
        }
        let reopened = store.set_alert_resolved(account.id, alert.id, false, noon()).await.unwrap();
        assert_eq!(reopened.unwrap().resolved_at, None);
        assert_eq!(totals(&store, &account).await, (1, 0, 1));
        // Resolved by a run that no longer finds it.
        ssl_run(&store, &account, &site, noon() + seconds(60), vec![]).await;
        assert_eq!(totals(&store, &account).await, (0, 1, 1));
        ssl_run(&store, &account, &site, noon() + seconds(120), expiring()).await;
        assert_eq!(totals(&store, &account).await, (1, 1, 2));
    });
}

#[test]
fn a_severity_that_changes_is_found_under_the_new_one() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        ssl_run(&store, &account, &site, noon(), vec![finding("ssl.expiring", "f1")]).await;
        let worse = Finding { severity: Some(Severity::Critical), ..finding("ssl.expiring", "f1") };
        let decision = ssl_run(&store, &account, &site, noon() + seconds(60), vec![worse]).await;
        let of = |severity| AlertFilter { severity: Some(severity), ..filter(None) };
        let critical = store.alerts(account.id, &of(Severity::Critical)).await.unwrap();
        assert_eq!(critical.items, decision.updated);
        assert_eq!(store.alerts(account.id, &of(Severity::Warning)).await.unwrap().total, 0);
    });
}

#[test]
fn alerts_are_filtered_and_paged_newest_first() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let mut all = Vec::new();
        for nth in 0..30 {
            let at = noon() + seconds(nth);
            let mut found = vec![changed(&format!("f{nth}"))];
            if nth % 3 == 0 {
                found.push(Finding {
                    severity: Some(if nth % 2 == 0 {
                        Severity::Critical
                    } else {
                        Severity::Warning
                    }),
                    ..finding("ssl.expiring", &format!("f{nth}"))
                });
            }
            ssl_run(&store, &account, &site, at, found).await;
        }
        let page = store.alerts(account.id, &filter(None)).await.unwrap();
        assert_eq!((page.items.len(), page.total), (40, 40));
        all.extend(page.items);
        assert!(all.is_sorted_by(|a, b| a.created_at >= b.created_at));
        for alert_type in [None, Some("ssl"), Some("cert_change"), Some("dns")] {
            for severity in [None, Some(Severity::Info), Some(Severity::Critical)] {
                for resolved in [None, Some(true), Some(false)] {
                    let found: Vec<&Alert> = all
                        .iter()
                        .filter(|alert| alert_type.is_none_or(|t| alert.alert_type == t))
                        .filter(|alert| severity.is_none_or(|s| alert.severity == s))
                        .filter(|alert| resolved.is_none_or(|r| alert.is_resolved == r))
                        .collect();
                    for (limit, offset) in [(50, 0), (4, 0), (4, 4), (7, 38)] {
                        let alert_type = alert_type.map(str::to_owned);
                        let filter = AlertFilter { alert_type, severity, resolved, limit, offset };
                        let page = store.alerts(account.id, &filter).await.unwrap();
                        assert_eq!(page.total, found.len() as u64, "{filter:?}");
                        let expected = found.iter().skip(offset as usize).take(limit as usize);
                        assert_eq!(
                            page.items.iter().map(|alert| alert.id).collect::<Vec<_>>(),
                            expected.map(|alert| alert.id).collect::<Vec<_>>(),
                            "{filter:?}"
                        );
                    }
                }
            }
        }
    });
}

#[test]
fn an_alert_with_an_open_equal_is_not_reopened() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let expiring = || vec![finding("ssl.expiring", "f1")];
        let old = raised(&ssl_run(&store, &account, &site, noon(), expiring()).await);
        ssl_run(&store, &account, &site, noon() + seconds(60), vec![]).await;
        let new =
            raised(&ssl_run(&store, &account, &site, noon() + seconds(120), expiring()).await);
        assert_ne!(old.id, new.id);
        let reopened = store.set_alert_resolved(account.id, old.id, false, noon()).await;
        assert!(matches!(reopened, Err(Error::Duplicate)), "{reopened:?}");
        assert_eq!(totals(&store, &account).await, (1, 1, 2));
    });
}

#[test]
fn resolving_and_checking_at_once_keeps_the_totals_true() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let found = (0..8).map(|nth| changed(&format!("f{nth}"))).collect();
        let raised = ssl_run(&store, &account, &site, noon(), found).await.raised;
        let toggle = {
            let store = store.clone();
            move |nth: usize| {
                let (store, alert) = (store.clone(), raised[nth % 8].id);
                async move {
                    let at = noon() + seconds(1);
                    store
                        .set_alert_resolved(account.id, alert, !nth.is_multiple_of(3), at)
                        .await
                        .map(drop)
                }
            }
        };
        for answer in at_once(48, toggle).await {
            answer.unwrap();
        }
        let (open, resolved, all) = totals(&store, &account).await;
        assert_eq!((open + resolved, all), (8, 8));
    });
}

#[test]
fn alerts_of_a_deleted_site_are_gone_at_once() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let other = super::site(&account, "two.example.com");
        store.create_site(&other, 50, &[]).await.unwrap();
        let gone = raised(&ssl_run(&store, &account, &site, noon(), vec![changed("f1")]).await);
        let stays = raised(&ssl_run(&store, &account, &other, noon(), vec![changed("f1")]).await);
        store.delete_site(account.id, site.id).await.unwrap();
        assert_eq!(totals(&store, &account).await, (1, 0, 1));
        let page = store.alerts(account.id, &filter(None)).await.unwrap();
        assert_eq!(page.items, [stays]);
        assert_eq!(store.alert(account.id, gone.id).await.unwrap(), None);
        for resolved in [false, true] {
            let set = store.set_alert_resolved(account.id, gone.id, resolved, noon()).await;
            assert_eq!(set.unwrap(), None, "{resolved}");
        }
        assert_eq!(store.deliveries_of(account.id, gone.id, 9).await.unwrap(), None);
    });
}

#[test]
fn what_was_reopened_since_a_run_was_judged_is_not_raised_beside_it() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let expiring = || vec![finding("ssl.expiring", "f1")];
        let alert = raised(&ssl_run(&store, &account, &site, noon(), expiring()).await);
        ssl_run(&store, &account, &site, noon() + seconds(60), vec![]).await;
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let at = noon() + seconds(120);
        let decision = decide(&context, record(&site, &ssl(), at), expiring());
        assert_eq!(decision.raised.len(), 1);
        store.set_alert_resolved(account.id, alert.id, false, noon()).await.unwrap();
        let late = store.commit(plain(&account, context.state.version, &decision)).await;
        assert!(matches!(late, Err(Error::Stale)), "{late:?}");
        assert_eq!(totals(&store, &account).await, (1, 0, 1));
        // Read again, it is the same trouble.
        let decision = ssl_run(&store, &account, &site, at, expiring()).await;
        assert!(decision.raised.is_empty());
        assert_eq!(totals(&store, &account).await, (1, 0, 1));
    });
}

#[test]
fn what_is_reopened_while_a_run_is_stored_is_not_raised_beside_it() {
    interrupted::on_both(|engine| async move {
        let (store, other) = (engine.store(), engine.other());
        let (account, site) = with_site(&store).await;
        let degraded =
            || vec![Finding { severity: Some(Severity::Warning), ..finding("ssl.expiring", "f1") }];
        let alert = raised(&ssl_run(&store, &account, &site, noon(), degraded()).await);
        store.set_alert_resolved(account.id, alert.id, true, noon() + seconds(9)).await.unwrap();
        ssl_run(&store, &account, &site, noon() + seconds(60), vec![]).await;
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let at = noon() + seconds(120);
        let worse =
            vec![Finding { severity: Some(Severity::Critical), ..finding("ssl.expiring", "f1") }];
        let decision = decide(&context, record(&site, &ssl(), at), worse);
        assert_eq!(decision.raised.len(), 1);
        let of = account.id;
        engine.meanwhile(async move {
            other.set_alert_resolved(of, alert.id, false, noon()).await.unwrap();
        });
        let late = store.commit(plain(&account, context.state.version, &decision)).await;
        assert!(matches!(late, Err(Error::Stale)), "{late:?}");
        assert_eq!(totals(&store, &account).await, (1, 0, 1));
    });
}
