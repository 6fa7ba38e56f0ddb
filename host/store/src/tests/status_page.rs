//! What the public status page is made from.

use vedette_model::incident::NewIncident;
use vedette_model::status_page::{DayCount, HourCount, Slug, Tally, response, uptime as counted};

use super::*;
use crate::error::Error;

fn slug(text: &str) -> Slug {
    text.parse().unwrap()
}

async fn name(store: &Store, account: &Account, text: &str) -> Result<()> {
    let enable = |settings: &mut vedette_model::NotificationSettings| {
        settings.status_page_enabled = true;
        settings.status_page_slug.get_or_insert_with(|| slug(text));
        Ok::<(), ()>(())
    };
    store.update_settings(account.id, enable).await.map(|_| ())
}

#[test]
fn a_name_is_one_accounts_for_good() {
    on_both(|store| async move {
        let (first, second) = (signed_up(&store).await, signed_up(&store).await);
        assert_eq!(store.status_page_account(&slug("acme")).await.unwrap(), None);
        name(&store, &first, "acme").await.unwrap();
        assert_eq!(store.status_page_account(&slug("acme")).await.unwrap(), Some(first.id));
        let taken = name(&store, &second, "acme").await;
        assert!(matches!(taken, Err(Error::Duplicate)), "{taken:?}");
        let kept = store.settings(second.id).await.unwrap();
        assert!(!kept.status_page_enabled, "all or nothing");
        name(&store, &second, "acme-2").await.unwrap();
        name(&store, &first, "other").await.unwrap();
        assert_eq!(store.status_page_account(&slug("other")).await.unwrap(), None);
        assert_eq!(store.status_page_account(&slug("acme-2")).await.unwrap(), Some(second.id));
    });
}

#[test]
fn accounts_that_want_one_name_at_once_get_it_once() {
    on_both(|store| async move {
        let claim = {
            let store = store.clone();
            move |_| {
                let store = store.clone();
                async move {
                    let account = signed_up(&store).await;
                    name(&store, &account, "acme").await.is_ok()
                }
            }
        };
        let named = at_once(12, claim).await;
        assert_eq!(named.into_iter().filter(|named| *named).count(), 1);
    });
}

/// A run of the uptime check that was answered within so many milliseconds.
async fn answered(store: &Store, account: &Account, site: &Site, at: Timestamp, ms: u64) {
    let mut run = record(site, &uptime(), at);
    run.result = json!({"status": "up", "response_time_ms": ms});
    checked(store, account, run, Vec::new()).await.unwrap();
}

#[test]
fn facts_are_of_the_sites_asked_for_and_of_no_other_account() {
    on_both(|store| async move {
        let (account, shop) = with_site(&store).await;
        let blog = site(&account, "blog.example.com");
        store.create_site(&blog, 50, &[]).await.unwrap();
        let (stranger, theirs) = with_site(&store).await;
        for (second, ms) in [(-3_600, 50), (0, 100), (60, 301)] {
            answered(&store, &account, &shop, noon() + seconds(second), ms).await;
        }
        answered(&store, &stranger, &theirs, noon(), 77).await;
        ssl_run(&store, &account, &shop, noon(), Vec::new()).await;
        let new = NewIncident::parse(&json!({"title": "Late"})).unwrap();
        let (id, update) = (Uuid::new_v4().into(), Uuid::new_v4().into());
        let critical = Default::default();
        let incident = new.into_incident(id, update, account.id, account.id, &critical, noon());
        store.create_incident(&incident, 100).await.unwrap();

        let owner = store.status_page_owner(account.id).await.unwrap().unwrap();
        assert_eq!((owner.account.id, owner.sites.len()), (account.id, 2));
        let sites: Vec<&Site> = owner.sites.iter().collect();
        let (watched, incidents) = store.status_page_facts(&owner, &sites).await.unwrap();
        assert_eq!(incidents, [incident]);
        let shown = watched.iter().find(|watched| watched.site == shop.id).unwrap();
        let day = counted::day(noon());
        assert_eq!(only(shown.tally.days.clone()), DayCount { day, ok: 3, ..DayCount::default() });
        let this = response::hour(noon());
        assert_eq!(
            shown.tally.hours,
            [
                HourCount { hour: this - 1, answers: 1, total_ms: 50 },
                HourCount { hour: this, answers: 2, total_ms: 401 }
            ]
        );
        let mut types: Vec<_> =
            shown.latest.iter().map(|latest| latest.check_type.as_str()).collect();
        types.sort_unstable();
        assert_eq!(types, ["ssl", "uptime"]);
        let other = watched.iter().find(|watched| watched.site == blog.id).unwrap();
        assert!(other.latest.is_empty() && other.tally == Tally::default());
        let nothing = store.status_page_facts(&owner, &[]).await.unwrap();
        assert!(nothing.0.is_empty());
    });
}

#[test]
fn critical_incidents_are_among_the_facts_however_many_are_newer() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let mut made = Vec::new();
        for nth in 0..23 {
            // Its title says what only the document of a critical one says.
            let body = match nth {
                0 => json!({"title": "Down", "severity": "critical"}),
                _ => json!({"title": "\"severity\":\"critical\""}),
            };
            let new = NewIncident::parse(&body).unwrap();
            let (id, update) = (Uuid::new_v4().into(), Uuid::new_v4().into());
            let (none, at) = (Default::default(), noon() + seconds(nth));
            let incident = new.into_incident(id, update, account.id, account.id, &none, at);
            store.create_incident(&incident, 100).await.unwrap();
            made.push(incident.id);
        }
        let owner = store.status_page_owner(account.id).await.unwrap().unwrap();
        let (_, incidents) = store.status_page_facts(&owner, &[]).await.unwrap();
        let found: Vec<_> = incidents.iter().map(|incident| incident.id).collect();
        assert_eq!(found.len(), 21);
        assert!(found.contains(&made[0]) && !found.contains(&made[1]));
    });
}

#[test]
fn a_site_stands_as_before_while_a_run_is_in_doubt() {
    on_both(|store| async move {
        let (account, shop) = with_site(&store).await;
        let slow = || vec![Finding { confirmations: Some(2), ..finding("ssl.expiring", "site") }];
        let runs = [
            (slow(), CheckStatus::Unknown),
            (Vec::new(), CheckStatus::Ok),
            (slow(), CheckStatus::Ok),
            (slow(), CheckStatus::Degraded),
            (Vec::new(), CheckStatus::Ok),
        ];
        for (second, (findings, shown)) in (0..).zip(runs) {
            let run = record(&shop, &uptime(), noon() + seconds(second));
            checked(&store, &account, run, findings).await.unwrap();
            let owner = store.status_page_owner(account.id).await.unwrap().unwrap();
            let sites: Vec<&Site> = owner.sites.iter().collect();
            let (watched, _) = store.status_page_facts(&owner, &sites).await.unwrap();
            assert_eq!(only(only(watched).latest).status, shown, "run {second}");
        }
    });
}

#[test]
fn an_hour_is_not_taken_for_the_same_hour_of_the_next_day() {
    on_both(|store| async move {
        let (account, shop) = with_site(&store).await;
        answered(&store, &account, &shop, noon(), 100).await;
        answered(&store, &account, &shop, noon() + seconds(24 * 3_600), 300).await;
        let owner = store.status_page_owner(account.id).await.unwrap().unwrap();
        let sites: Vec<&Site> = owner.sites.iter().collect();
        let now = noon() + seconds(24 * 3_600);
        let (watched, _) = store.status_page_facts(&owner, &sites).await.unwrap();
        let times = response::times(&only(watched).tally.hours, now);
        assert_eq!(times.into_iter().flatten().collect::<Vec<_>>(), [300]);
    });
}
