//! History that is older than it is kept.

use vedette_model::AlertFilter;

use super::alert::{filter, totals};
use super::page::{assert_page, runs};
use super::*;
use crate::error::Error;
use crate::tx::Binds;
use crate::{CheckFilter, Forgotten, Runs, row};

fn day(days: i64) -> Timestamp {
    noon() - TimeDelta::days(days)
}

/// Removes all that is from before the day of a moment, a few records at a time; answers how many.
async fn forget(store: &Store, before: Timestamp) -> u64 {
    let (mut passed, mut removed) = (0, 0);
    loop {
        match store.forget_checks(before, passed, 3).await {
            Ok(Forgotten::Removed(count)) => removed += count,
            Ok(Forgotten::Latest) => passed += 1,
            Ok(Forgotten::Nothing) => return removed,
            // Others were always faster; who removes history tries again.
            Err(Error::Conflict) => {}
            Err(cause) => panic!("{cause}"),
        }
    }
}

/// The records that are there, newest first.
async fn there(store: &Store) -> Vec<CheckRecord> {
    let docs: Vec<String> = store.read("SELECT VALUE doc FROM check", Binds::new()).await.unwrap();
    let mut records: Vec<CheckRecord> = row::read_all("check", &docs).unwrap();
    records.sort_by_key(|record| std::cmp::Reverse(record.checked_at));
    records
}

/// Runs of ssl, one a second, the latest at a moment.
fn seconds_before(at: Timestamp, count: i64) -> impl Iterator<Item = (CheckType, Timestamp)> {
    (0..count).rev().map(move |nth| (ssl(), at - seconds(nth)))
}

/// Of one check and of all, of all times and of some, from the first record on and from later ones.
fn filters() -> Vec<CheckFilter> {
    let edge = |days: i64| Some(day(days) + seconds(2_000));
    let of_all = [
        (None, None, 200, 0),
        (None, None, 5, 40),
        (None, None, 60, 1_000),
        (edge(7), edge(5), 200, 0),
        (edge(9), None, 10, 30),
        (None, edge(6), 3, 2),
    ];
    let mut filters = Vec::new();
    for (from, to, limit, offset) in of_all {
        for check_type in [None, Some(ssl()), Some(uptime())] {
            filters.push(CheckFilter { check_type, from, until: to, limit, offset });
        }
    }
    filters
}

fn all() -> CheckFilter {
    CheckFilter { limit: 200, ..CheckFilter::default() }
}

#[test]
fn old_records_go_from_the_oldest_day_on_and_answers_fit_all_the_while() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let mut moments = Vec::new();
        for days in (0..10).rev() {
            moments.push((ssl(), day(days)));
            moments.extend((1..9).map(|nth| (uptime(), day(days) + seconds(nth * 600))));
        }
        let made = runs(&store, &account, &site, moments).await;
        let before = day(4) + seconds(7_200);
        loop {
            let there = there(&store).await;
            for check_type in [ssl(), uptime()] {
                let days = |records: &[CheckRecord]| {
                    let of = records.iter().filter(|record| record.check_type == check_type);
                    of.map(|record| record.checked_at.date_naive()).collect::<Vec<_>>()
                };
                let (made, there) = (days(&made), days(&there));
                let oldest = *there.last().unwrap();
                let newer =
                    |days: &[chrono::NaiveDate]| days.iter().filter(|day| **day > oldest).count();
                assert_eq!(newer(&there), newer(&made), "{check_type} from {oldest}");
            }
            for filter in filters() {
                assert_page(&store, &account, &site, &there, &filter).await;
            }
            match store.forget_checks(before, 0, 3).await.unwrap() {
                // None where a batch before took the last of the day, and did not know it.
                Forgotten::Removed(count) => assert!(count <= 4, "{count}"),
                Forgotten::Nothing => break,
                Forgotten::Latest => panic!("the latest records are young"),
            }
        }
        let is_kept = |record: &&CheckRecord| record.checked_at.date_naive() >= before.date_naive();
        let kept: Vec<CheckRecord> = made.iter().filter(is_kept).cloned().collect();
        assert_eq!(there(&store).await, kept);
        let rows = rows(&store).await;
        assert!(rows.contains(&("check_day".to_owned(), 10)), "5 days of 2 checks: {rows:?}");
    });
}

#[test]
fn the_latest_record_stays_until_there_is_a_newer_one() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let old = runs(&store, &account, &site, seconds_before(day(500), 5)).await;
        let recent = runs(&store, &account, &site, [(uptime(), noon())]).await;
        assert_eq!(forget(&store, day(400)).await, 4);

        let kept = vec![recent[0].clone(), old[0].clone()];
        assert_eq!(there(&store).await, kept);
        for (from, limit, offset) in [(None, 200, 0), (Some(day(500)), 1, 1), (None, 50, 1_000)] {
            let filter = CheckFilter { from, limit, offset, ..CheckFilter::default() };
            assert_page(&store, &account, &site, &kept, &filter).await;
        }
        let latest = store.latest_checks(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(latest, [(ssl(), kept[1].clone()), (uptime(), kept[0].clone())].into());

        ssl_run(&store, &account, &site, noon(), Vec::new()).await;
        assert_eq!(forget(&store, day(400)).await, 1);
        let page = store.checks_page(account.id, site.id, &all()).await.unwrap().unwrap();
        assert_eq!((page.items.len(), page.total), (2, 2));
    });
}

#[test]
fn the_latest_record_stays_also_where_the_clock_was_set_back_before_it() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        runs(&store, &account, &site, seconds_before(day(450), 5)).await;
        let latest = runs(&store, &account, &site, [(ssl(), day(460))]).await;
        assert_eq!(forget(&store, day(400)).await, 5);
        assert_eq!(there(&store).await, latest);
        assert_page(&store, &account, &site, &latest, &all()).await;
    });
}

#[test]
fn of_a_check_that_has_moved_nothing_old_stays() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        runs(&store, &account, &site, seconds_before(day(500), 5)).await;
        let moved = |site: &mut Site| {
            site.custom_port = Some(8443);
            Runs { moved: vec![ssl()], ..Runs::default() }
        };
        store.update_site(account.id, site.id, moved).await.unwrap().unwrap();
        assert_eq!(forget(&store, day(400)).await, 5);
        assert_page(&store, &account, &site, &[], &all()).await;
        ssl_run(&store, &account, &site, noon(), Vec::new()).await;
        let page = store.checks_page(account.id, site.id, &all()).await.unwrap().unwrap();
        assert_eq!((page.items.len(), page.total), (1, 1));
    });
}

#[test]
fn runs_that_are_committed_meanwhile_are_neither_lost_nor_refused() {
    interrupted::on_both(|engine| async move {
        let (store, other) = (engine.store(), engine.other());
        let (account, site) = with_site(&other).await;
        runs(&other, &account, &site, seconds_before(day(500), 5)).await;

        engine.meanwhile({
            let (other, account, site) = (other.clone(), account.clone(), site.clone());
            async move {
                ssl_run(&other, &account, &site, day(2), Vec::new()).await;
            }
        });
        assert_eq!(forget(&store, day(400)).await, 5, "what was the latest is so no longer");

        ssl_run(&other, &account, &site, day(1), Vec::new()).await;
        engine.meanwhile({
            let other = other.clone();
            async move {
                assert_eq!(forget(&other, noon()).await, 1, "the other one is the latest");
            }
        });
        ssl_run(&store, &account, &site, noon(), Vec::new()).await;
        let there = there(&other).await;
        assert_eq!(there.len(), 2);
        assert_page(&other, &account, &site, &there, &all()).await;
        assert_eq!(forget(&store, noon()).await, 1);
    });
}

#[test]
fn nodes_may_be_at_it_at_once_while_checks_go_on_and_pages_are_read() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let days = (0..6).rev().flat_map(|nth| seconds_before(day(410 + nth), 15));
        runs(&store, &account, &site, days).await;
        let forgetting = tokio::spawn({
            let store = store.clone();
            async move {
                let node = move |_| {
                    let node = store.without_memory();
                    async move { forget(&node, day(400)).await }
                };
                at_once(3, node).await.into_iter().sum::<u64>()
            }
        });
        let mut made = 0;
        while !forgetting.is_finished() {
            if made < 20 {
                ssl_run(&store, &account, &site, noon() + seconds(made), Vec::new()).await;
                made += 1;
            }
            let page = store.checks_page(account.id, site.id, &all()).await.unwrap().unwrap();
            assert_eq!(page.items.len() as u64, page.total);
            let offset = u32::try_from(page.total.saturating_sub(5)).unwrap();
            let last = CheckFilter { offset, limit: 10, ..all() };
            let page = store.checks_page(account.id, site.id, &last).await.unwrap().unwrap();
            let left = page.total.saturating_sub(u64::from(offset)).min(10);
            assert_eq!(page.items.len() as u64, left);
        }
        let removed = forgetting.await.unwrap() + forget(&store, day(400)).await;
        let there = there(&store).await;
        assert_eq!(removed + there.len() as u64, 90 + u64::try_from(made).unwrap());
        assert!(there.iter().all(|record| record.checked_at >= noon()) || made == 0, "{there:?}");
        assert_page(&store, &account, &site, &there, &all()).await;
    });
}

#[test]
fn a_site_that_is_deleted_meanwhile_leaves_nothing() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let before = rows(&store).await;
        let site = site(&account, "www.example.com");
        store.create_site(&site, 50, &[(ssl(), noon())]).await.unwrap();
        for days in [500, 499, 0] {
            for (_, at) in seconds_before(day(days), 3) {
                for found in [vec![finding("ssl.expiring", "f1")], Vec::new()] {
                    ssl_run(&store, &account, &site, at, found).await;
                }
            }
        }
        let forgetting = tokio::spawn({
            let store = store.clone();
            async move {
                forget(&store, day(400)).await;
                while store.forget_alerts(day(0), 1).await.unwrap() != Forgotten::Nothing {}
            }
        });
        assert!(store.delete_site(account.id, site.id).await.unwrap());
        while store.purge_next(2).await.unwrap() {}
        forgetting.await.unwrap();
        while store.purge_next(500).await.unwrap() {}
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn alerts_go_by_when_they_were_resolved() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let found = vec![
            finding("ssl.expiring", "gone"),
            changed("open"),
            changed("by hand"),
            changed("reopened"),
        ];
        let raised = ssl_run(&store, &account, &site, day(500), found).await.raised;
        let of = |key: &str| raised.iter().find(|alert| alert.key == key).unwrap().id;
        let lasting = vec![finding("ssl.expiring", "lasting")];
        ssl_run(&store, &account, &site, day(499), lasting).await;
        ssl_run(&store, &account, &site, day(10), Vec::new()).await;
        for (key, resolved, days) in
            [("by hand", true, 450), ("reopened", true, 445), ("reopened", false, 440)]
        {
            let set = store.set_alert_resolved(account.id, of(key), resolved, day(days)).await;
            set.unwrap().unwrap();
        }
        assert_eq!(totals(&store, &account).await, (2, 3, 5));

        let at_its_end = store.forget_alerts(day(499), 9).await.unwrap();
        assert_eq!(at_its_end, Forgotten::Nothing, "one was resolved just then");
        for _ in 0..2 {
            assert_eq!(store.forget_alerts(day(400), 1).await.unwrap(), Forgotten::Removed(1));
        }
        assert_eq!(store.forget_alerts(day(400), 9).await.unwrap(), Forgotten::Nothing);
        assert_eq!(totals(&store, &account).await, (2, 1, 3));
        for (key, is_there) in
            [("gone", false), ("by hand", false), ("open", true), ("reopened", true)]
        {
            let alert = store.alert(account.id, of(key)).await.unwrap();
            assert_eq!(alert.is_some(), is_there, "{key}");
        }
        let of_type = |alert_type: &str| AlertFilter {
            alert_type: Some(alert_type.to_owned()),
            ..filter(None)
        };
        for (alert_type, total) in [("ssl", 1), ("cert_change", 2)] {
            let page = store.alerts(account.id, &of_type(alert_type)).await.unwrap();
            assert_eq!((page.items.len() as u64, page.total), (total, total), "{alert_type}");
        }
    });
}

#[test]
fn an_alert_that_is_reopened_meanwhile_stays() {
    interrupted::on_both(|engine| async move {
        let (store, other) = (engine.store(), engine.other());
        let (account, site) = with_site(&other).await;
        let alert = raised(&ssl_run(&other, &account, &site, day(500), vec![changed("f1")]).await);
        let set = other.set_alert_resolved(account.id, alert.id, true, day(499)).await;
        set.unwrap().unwrap();
        engine.meanwhile({
            let (other, account) = (other.clone(), account.clone());
            async move {
                let set = other.set_alert_resolved(account.id, alert.id, false, day(1)).await;
                set.unwrap().unwrap();
            }
        });
        assert_eq!(store.forget_alerts(day(400), 9).await.unwrap(), Forgotten::Nothing);
        assert_eq!(totals(&other, &account).await, (1, 0, 1));
    });
}
