//! Incidents: kept whole, counted, changed one after the other.

use std::collections::BTreeSet;

use vedette_model::incident::{CriticalAlerts, NewIncident};
use vedette_model::{Incident, IncidentFilter, IncidentStatus, IncidentUpdate, SiteId};

use super::*;
use crate::error::Error;

pub(super) fn incident(account: &Account, at: Timestamp, sites: &[SiteId]) -> Incident {
    let body = json!({"title": "Mail is late", "affected_sites": sites});
    NewIncident::parse(&body).unwrap().into_incident(
        Uuid::new_v4().into(),
        Uuid::new_v4().into(),
        account.id,
        account.id,
        &CriticalAlerts::default(),
        at,
    )
}

fn update(account: &Account, status: IncidentStatus, message: &str) -> IncidentUpdate {
    IncidentUpdate {
        id: Uuid::new_v4().into(),
        status,
        message: message.to_owned(),
        author_id: account.id,
        created_at: noon() + seconds(60),
        quotes_alerts: false,
    }
}

fn filter(status: Option<IncidentStatus>) -> IncidentFilter {
    IncidentFilter { status, limit: 200, offset: 0 }
}

async fn appended(store: &Store, incident: &Incident, update: IncidentUpdate) -> Incident {
    let append = |incident: &mut Incident| incident.append(update.clone());
    let answer = store.update_incident(incident.account_id, incident.id, append).await;
    answer.unwrap().unwrap().unwrap()
}

#[test]
fn an_incident_reads_back_as_it_was_made_and_changed() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let made = incident(&account, noon(), &[site.id]);
        store.create_incident(&made, 1_000).await.unwrap();
        assert_eq!(store.incident(account.id, made.id).await.unwrap(), Some(made.clone()));
        let next = update(&account, IncidentStatus::Resolved, "it's \"over\"; THROW 'x'");
        let changed = appended(&store, &made, next).await;
        assert_eq!(changed.updates.len(), 2);
        assert_eq!(store.incident(account.id, made.id).await.unwrap(), Some(changed.clone()));
        let page = store.incidents(account.id, &filter(None)).await.unwrap();
        assert_eq!((page.items, page.total), (vec![changed], 1));
    });
}

#[test]
fn incidents_are_filtered_and_paged_newest_first() {
    on_both(|store| async move {
        use IncidentStatus::{Identified, Investigating, Monitoring, Resolved};
        let account = signed_up(&store).await;
        let mut all = Vec::new();
        for nth in 0..12 {
            let made = incident(&account, noon() + seconds(nth), &[]);
            store.create_incident(&made, 1_000).await.unwrap();
            all.push(match nth % 4 {
                0 => made,
                1 => appended(&store, &made, update(&account, Identified, "x")).await,
                _ => appended(&store, &made, update(&account, Resolved, "x")).await,
            });
        }
        all.reverse();
        for status in
            [None, Some(Investigating), Some(Identified), Some(Monitoring), Some(Resolved)]
        {
            let found: Vec<&Incident> = all
                .iter()
                .filter(|incident| status.is_none_or(|status| incident.status == status))
                .collect();
            for (limit, offset) in [(50, 0), (2, 0), (2, 2), (5, 11), (1, 12)] {
                let filter = IncidentFilter { status, limit, offset };
                let page = store.incidents(account.id, &filter).await.unwrap();
                assert_eq!(page.total, found.len() as u64, "{filter:?}");
                let expected = found.iter().skip(offset as usize).take(limit as usize);
                assert!(page.items.iter().eq(expected.copied()), "{filter:?}");
            }
        }
    });
}

#[test]
fn updates_at_once_are_all_kept_and_the_totals_stay_true() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let made = incident(&account, noon(), &[]);
        store.create_incident(&made, 1_000).await.unwrap();
        let add = {
            let (store, made, account) = (store.clone(), made.clone(), account.clone());
            move |nth: usize| {
                let (store, made) = (store.clone(), made.clone());
                let status = match nth % 2 {
                    0 => IncidentStatus::Resolved,
                    _ => IncidentStatus::Monitoring,
                };
                let update = update(&account, status, &nth.to_string());
                async move { appended(&store, &made, update).await }
            }
        };
        for answer in at_once(24, add).await {
            assert!(answer.updates.len() > 1);
        }
        let stored = store.incident(account.id, made.id).await.unwrap().unwrap();
        let mut told: Vec<usize> =
            stored.updates[1..].iter().map(|update| update.message.parse().unwrap()).collect();
        told.sort_unstable();
        assert_eq!(told, (0..24).collect::<Vec<_>>());
        assert_eq!(Some(stored.status), stored.updates.last().map(|update| update.status));
        assert_eq!(store.incidents(account.id, &filter(None)).await.unwrap().total, 1);
        let of = filter(Some(stored.status));
        assert_eq!(store.incidents(account.id, &of).await.unwrap().total, 1);
        let of = filter(Some(IncidentStatus::Investigating));
        assert_eq!(store.incidents(account.id, &of).await.unwrap().total, 0);
    });
}

#[test]
fn a_refused_change_changes_nothing() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let made = incident(&account, noon(), &[]);
        store.create_incident(&made, 1_000).await.unwrap();
        let refused = store
            .update_incident(account.id, made.id, |incident| {
                incident.title.clear();
                Err("not like this")
            })
            .await
            .unwrap();
        assert_eq!(refused, Some(Err("not like this")));
        assert_eq!(store.incident(account.id, made.id).await.unwrap(), Some(made));
    });
}

#[test]
fn a_deleted_site_is_affected_no_longer() {
    on_both(|store| async move {
        let (account, stays) = with_site(&store).await;
        let goes = site(&account, "two.example.com");
        store.create_site(&goes, 50, &[]).await.unwrap();
        assert_eq!(store.site_ids(account.id).await.unwrap(), BTreeSet::from([stays.id, goes.id]));
        let made = incident(&account, noon(), &[goes.id, stays.id]);
        store.create_incident(&made, 1_000).await.unwrap();
        store.delete_site(account.id, goes.id).await.unwrap();
        let left = Incident { affected_sites: Some(vec![stays.id]), ..made };
        assert_eq!(store.incident(account.id, left.id).await.unwrap(), Some(left.clone()));
        assert_eq!(only(store.incidents(account.id, &filter(None)).await.unwrap().items), left);
        let next = update(&account, IncidentStatus::Identified, "x");
        let changed = appended(&store, &left, next).await;
        assert_eq!(changed.affected_sites, left.affected_sites);
    });
}

#[test]
fn open_alerts_are_counted_with_their_sites() {
    on_both(|store| async move {
        let (account, first) = with_site(&store).await;
        let second = site(&account, "two.example.com");
        store.create_site(&second, 50, &[]).await.unwrap();
        let worse = |key: &str| Finding {
            severity: Some(Severity::Critical),
            ..finding("ssl.expiring", key)
        };
        ssl_run(&store, &account, &first, noon(), vec![worse("f1"), worse("f2")]).await;
        ssl_run(&store, &account, &second, noon(), vec![finding("ssl.expiring", "f1")]).await;
        let critical = store.open_alerts(account.id, Severity::Critical).await.unwrap();
        assert_eq!(critical, (2, vec![first.id]));
        let warning = store.open_alerts(account.id, Severity::Warning).await.unwrap();
        assert_eq!(warning, (1, vec![second.id]));
        ssl_run(&store, &account, &first, noon() + seconds(60), vec![]).await;
        let none = store.open_alerts(account.id, Severity::Critical).await.unwrap();
        assert_eq!(none, (0, vec![]));
    });
}

#[test]
fn nobody_without_an_account_has_incidents() {
    on_both(|store| async move {
        let created = store.create_incident(&incident(&account(), noon(), &[]), 1_000).await;
        assert!(matches!(created, Err(Error::Gone)), "{created:?}");
    });
}

#[test]
fn open_incidents_are_limited_and_resolved_ones_make_room() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let first = incident(&account, noon(), &[]);
        store.create_incident(&first, 2).await.unwrap();
        let answers = at_once(4, |_| {
            let (store, account) = (store.clone(), account.clone());
            async move { store.create_incident(&incident(&account, noon(), &[]), 2).await }
        })
        .await;
        let refused = |answer: &&crate::Result<()>| matches!(answer, Err(Error::IncidentLimit));
        assert_eq!(answers.iter().filter(refused).count(), 3, "{answers:?}");
        assert_eq!(store.incidents(account.id, &filter(None)).await.unwrap().total, 2);
        appended(&store, &first, update(&account, IncidentStatus::Resolved, "over")).await;
        store.create_incident(&incident(&account, noon(), &[]), 2).await.unwrap();
    });
}

#[test]
fn of_several_incidents_of_one_moment_one_is_made() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        assert_eq!(store.auto_incident(account.id).await.unwrap(), None);
        let answers = at_once(6, |_| {
            let (store, account) = (store.without_memory(), account.clone());
            async move {
                let made = incident(&account, noon(), &[]);
                store.create_auto_incident(&made, None, 9).await
            }
        })
        .await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        assert!(answers.iter().all(|answer| matches!(answer, Ok(()) | Err(Error::Stale))));
        let last = store.auto_incident(account.id).await.unwrap().expect("made");
        let next = incident(&account, noon() + seconds(1), &[]);
        store.create_auto_incident(&next, Some(last.id), 9).await.unwrap();
        assert_eq!(store.auto_incident(account.id).await.unwrap(), Some(next));
    });
}
