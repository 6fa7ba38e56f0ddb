//! Records with long results, which stand in the database once a day.

use super::*;
use crate::tx::Binds;
use crate::{CheckFilter, Forgotten, Runs};
use vedette_model::event::Part;

fn ct() -> CheckType {
    "ct".parse().unwrap()
}

/// As long as a list of certificates.
fn list(of: &str) -> Value {
    let certificate = |nth: usize| json!({"issuer": of, "serial_number": format!("{nth:032x}")});
    json!({"certificates": (0..100).map(certificate).collect::<Vec<_>>(), "source": "crtsh"})
}

/// Commits a run that saw `result`.
async fn saw(
    store: &Store,
    account: &Account,
    site: &Site,
    at: Timestamp,
    result: Value,
) -> CheckRecord {
    let run = CheckRecord { result, ..record(site, &ct(), at) };
    checked(store, account, run, Vec::new()).await.unwrap().record
}

/// Commits a run at each of these moments, all of which saw the same.
async fn all_saw(
    store: &Store,
    account: &Account,
    site: &Site,
    moments: impl Iterator<Item = Timestamp>,
    result: &Value,
) -> Vec<CheckRecord> {
    let mut committed = Vec::new();
    for at in moments {
        committed.push(saw(store, account, site, at, result.clone()).await);
    }
    committed
}

/// All records, which are as they were committed.
async fn assert_whole(store: &Store, account: &Account, site: &Site, committed: &[CheckRecord]) {
    let filter = CheckFilter { limit: 200, ..CheckFilter::default() };
    let page = store.checks_page(account.id, site.id, &filter).await.unwrap().unwrap();
    let mut newest_first = committed.to_vec();
    newest_first.sort_by_key(|record| std::cmp::Reverse(record.checked_at));
    assert!(page.items == newest_first, "{} of {}", page.items.len(), newest_first.len());
}

/// How many rows hold their result themselves.
async fn whole(store: &Store) -> usize {
    let docs: Vec<String> = store.read("SELECT VALUE doc FROM check", Binds::new()).await.unwrap();
    docs.iter().filter(|doc| doc.contains("certificates")).count()
}

#[test]
fn a_long_result_is_kept_once_a_day_and_read_with_every_record() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let moments = (0..48).map(|hour| noon() + seconds(hour * 3_600));
        let committed = all_saw(&store, &account, &site, moments, &list("CA")).await;
        assert_eq!(whole(&store).await, 3, "half a day, a day and half a day");
        assert_whole(&store, &account, &site, &committed).await;

        let latest = store.latest_checks(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(latest[&ct()], committed[47]);
        let context = store.check_context(account.id, site.id, &ct()).await.unwrap().unwrap();
        assert_eq!(context.state.latest.unwrap(), committed[47]);
    });
}

#[test]
fn a_result_that_changes_is_kept_and_so_is_one_that_changes_back() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let mut committed = Vec::new();
        for (minute, of) in ["A", "A", "B", "B", "A", "A"].into_iter().enumerate() {
            let at = noon() + seconds(minute as i64 * 60);
            committed.push(saw(&store, &account, &site, at, list(of)).await);
        }
        assert_eq!(whole(&store).await, 3);
        // What is short is no occasion to forget what was long.
        committed.push(saw(&store, &account, &site, noon() + seconds(360), json!({})).await);
        committed.push(saw(&store, &account, &site, noon() + seconds(420), list("A")).await);
        assert_eq!(whole(&store).await, 3);
        assert_whole(&store, &account, &site, &committed).await;

        let moved = |site: &mut Site| {
            site.custom_port = Some(8443);
            Runs { moved: vec![ct()], ..Runs::default() }
        };
        store.update_site(account.id, site.id, moved).await.unwrap().unwrap();
        committed.push(saw(&store, &account, &site, noon() + seconds(480), list("A")).await);
        assert_whole(&store, &account, &site, &committed).await;
    });
}

#[test]
fn no_record_leans_on_a_newer_one() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let mut committed = Vec::new();
        // A clock that was set back within the day, to the day before, and went on.
        for hour in [6, 4, 5, -20, -19, 6] {
            let at = noon() + seconds(hour * 3_600 + committed.len() as i64);
            committed.push(saw(&store, &account, &site, at, list("CA")).await);
        }
        assert_eq!(whole(&store).await, 4, "at 6, 4, -20, and at 6 again");
        assert_whole(&store, &account, &site, &committed).await;
    });
}

#[test]
fn no_record_leans_on_one_of_the_same_moment() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        // Of these two either may go first.
        for _ in 0..2 {
            saw(&store, &account, &site, noon(), list("CA")).await;
        }
        assert_eq!(whole(&store).await, 2);
        saw(&store, &account, &site, noon() + TimeDelta::milliseconds(1), list("CA")).await;
        assert_eq!(whole(&store).await, 2);
    });
}

#[test]
fn records_of_a_day_that_goes_bit_by_bit_are_whole_while_they_are_there() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let moments = (0..10).map(|minute| noon() + seconds(minute * 60));
        let committed = all_saw(&store, &account, &site, moments, &list("CA")).await;
        let today = noon() + TimeDelta::days(40);
        // The latest one leans on what goes, and stays.
        while store.forget_checks(today, 0, 4).await.unwrap() != Forgotten::Latest {
            let filter = CheckFilter { limit: 200, ..CheckFilter::default() };
            let page = store.checks_page(account.id, site.id, &filter).await.unwrap().unwrap();
            assert!(page.items.iter().all(|record| committed.contains(record)));
        }
        assert_whole(&store, &account, &site, &committed[9..]).await;

        // Back on that day, there is nothing left to lean on.
        let later = saw(&store, &account, &site, noon() + seconds(900), list("CA")).await;
        assert_whole(&store, &account, &site, &[committed[9].clone(), later.clone()]).await;
        saw(&store, &account, &site, today, list("CA")).await;
        while store.forget_checks(today, 0, 1).await.unwrap() != Forgotten::Nothing {}
        assert_eq!(whole(&store).await, 1);
    });
}

#[test]
fn who_reads_along_is_told_the_whole_result() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        store.open_events(account.id, noon() + seconds(300)).await.unwrap();
        let first = saw(&store, &account, &site, noon(), list("CA")).await;
        let second = saw(&store, &account, &site, noon() + seconds(60), list("CA")).await;
        store.number_events(account.id, noon() + seconds(61)).await.unwrap();
        let page = store.events(account.id, 1, 10).await.unwrap();
        let records =
            page.events.into_iter().flat_map(|event| event.parts).map(|part| match part {
                Part::Check(_, record) => record,
                other => panic!("{other:?}"),
            });
        assert!(records.eq([first, second]));
    });
}
