//! Pages of check records, against a plain list.

use chrono::SubsecRound;

use super::*;
use crate::CheckFilter;

/// Commits runs at the given moments and answers the records, newest first.
pub(super) async fn runs(
    store: &Store,
    account: &Account,
    site: &Site,
    moments: impl IntoIterator<Item = (CheckType, Timestamp)>,
) -> Vec<CheckRecord> {
    let mut records = Vec::new();
    for (check_type, at) in moments {
        let run = record(site, &check_type, at);
        records.push(checked(store, account, run, vec![]).await.unwrap().record);
    }
    records.sort_by_key(|record| std::cmp::Reverse(record.checked_at));
    records
}

/// What the page has to be. Records are of whole milliseconds here.
fn expected(records: &[CheckRecord], filter: &CheckFilter) -> (Vec<CheckRecord>, u64) {
    let found: Vec<&CheckRecord> = records
        .iter()
        .filter(|record| filter.check_type.as_ref().is_none_or(|t| *t == record.check_type))
        .filter(|record| filter.from.is_none_or(|from| record.checked_at >= from.trunc_subsecs(3)))
        .filter(|record| filter.until.is_none_or(|until| record.checked_at < until))
        .collect();
    let page = found.iter().skip(filter.offset as usize).take(filter.limit as usize);
    (page.map(|record| (*record).clone()).collect(), found.len() as u64)
}

pub(super) async fn assert_page(
    store: &Store,
    account: &Account,
    site: &Site,
    records: &[CheckRecord],
    filter: &CheckFilter,
) {
    let page = store.checks_page(account.id, site.id, filter).await.unwrap().unwrap();
    let (items, total) = expected(records, filter);
    assert_eq!(page.total, total, "{filter:?}");
    let ids = |records: &[CheckRecord]| {
        records.iter().map(|record| (record.checked_at, record.id)).collect::<Vec<_>>()
    };
    assert_eq!(ids(&page.items), ids(&items), "{filter:?}");
}

#[test]
fn pages_and_totals_are_exact_at_every_edge() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let midnight = Utc.with_ymd_and_hms(2026, 11, 20, 0, 0, 0).unwrap();
        let tick = TimeDelta::milliseconds(1);
        // Four days, with runs on and beside both midnights.
        let moments: Vec<_> = [-172_800, -90_000, -86_400, -50_000, -3_600, 0, 60, 43_200, 86_400]
            .into_iter()
            .flat_map(|at| [midnight + seconds(at) - tick, midnight + seconds(at)])
            .flat_map(|at| [(ssl(), at), (uptime(), at + tick * 2)])
            .collect();
        let records = runs(&store, &account, &site, moments.clone()).await;
        let mut edges: Vec<Option<Timestamp>> = vec![None];
        edges.extend(moments.iter().step_by(3).map(|(_, at)| Some(*at)));
        edges.push(Some(midnight));
        edges.push(Some(midnight + seconds(43_200) + TimeDelta::microseconds(500)));
        for check_type in [None, Some(ssl()), Some(uptime()), Some("dns".parse().unwrap())] {
            for from in &edges {
                for to in &edges {
                    for (limit, offset) in [(200, 0), (5, 0), (3, 4), (7, 11), (1, 35), (9, 40)] {
                        let check_type = check_type.clone();
                        let filter =
                            CheckFilter { check_type, from: *from, until: *to, limit, offset };
                        assert_page(&store, &account, &site, &records, &filter).await;
                    }
                }
            }
        }
    });
}

#[test]
fn deep_pages_skip_whole_days() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let moments = (0..1_300).map(|nth| (ssl(), noon() - seconds(nth * 700)));
        let records = runs(&store, &account, &site, moments).await;
        for offset in [0, 1, 950, 999, 1_000, 1_001, 1_100, 1_250, 1_299, 1_300, 5_000] {
            for check_type in [None, Some(ssl())] {
                let filter = CheckFilter { check_type, limit: 60, offset, ..Default::default() };
                assert_page(&store, &account, &site, &records, &filter).await;
            }
        }
    });
}

#[test]
fn records_of_one_millisecond_are_all_shown_once() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let moments = (0..20).map(|nth| (if nth % 2 == 0 { ssl() } else { uptime() }, noon()));
        let records = runs(&store, &account, &site, moments).await;
        for check_type in [None, Some(ssl())] {
            let mut seen = Vec::new();
            for offset in (0..20).step_by(3) {
                let check_type = check_type.clone();
                let filter = CheckFilter { check_type, limit: 3, offset, ..Default::default() };
                let page = store.checks_page(account.id, site.id, &filter).await.unwrap().unwrap();
                seen.extend(page.items.into_iter().map(|record| record.id));
            }
            seen.sort();
            let mut all: Vec<_> = records
                .iter()
                .filter(|record| check_type.as_ref().is_none_or(|t| *t == record.check_type))
                .map(|record| record.id)
                .collect();
            all.sort();
            assert_eq!(seen, all);
        }
    });
}

#[test]
fn a_site_that_was_never_checked_has_an_empty_page() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let bounded = CheckFilter { from: Some(noon()), limit: 50, ..Default::default() };
        for filter in [CheckFilter { limit: 50, ..Default::default() }, bounded] {
            let page = store.checks_page(account.id, site.id, &filter).await.unwrap().unwrap();
            assert_eq!((page.items, page.total), (vec![], 0));
        }
        assert_eq!(store.latest_checks(account.id, site.id).await.unwrap(), Some([].into()));
        let history = store.cert_history(account.id, site.id).await.unwrap().unwrap();
        assert_eq!((history.items, history.total), (vec![], 0));
    });
}

#[test]
fn the_latest_record_is_the_last_that_was_committed() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let moments = (0..3).map(|nth| (ssl(), noon() + seconds(nth)));
        let records = runs(&store, &account, &site, moments).await;
        let latest = store.latest_checks(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(latest, [(ssl(), records[0].clone())].into());
    });
}

#[test]
fn the_last_50_certificate_changes_are_shown_of_all() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        for nth in 0..53 {
            let at = noon() + seconds(nth);
            let found = vec![changed(&format!("f{nth}"))];
            ssl_run(&store, &account, &site, at, found).await;
        }
        let history = store.cert_history(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(history.total, 53);
        let shown: Vec<_> = history.items.iter().map(|change| &*change.fingerprint).collect();
        let last: Vec<_> = (3..53).rev().map(|nth| format!("f{nth}")).collect();
        assert_eq!(shown, last);
    });
}
