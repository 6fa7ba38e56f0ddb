//! What belongs to somebody else does not exist.

use vedette_model::delivery::queue;
use vedette_model::{AlertFilter, IncidentFilter};

use super::*;
use crate::{CheckFilter, Error, Runs};

#[test]
fn a_strangers_id_finds_and_changes_nothing() {
    on_both(|store| async move {
        let (owner, site) = with_site(&store).await;
        let key = only(store.api_keys(owner.id).await.unwrap());
        let settings = vedette_model::NotificationSettings {
            custom_webhook_url: Some("https://hooks.example.com/x".to_owned().into()),
            ..Default::default()
        };
        let context = store.check_context(owner.id, site.id, &ssl()).await.unwrap().unwrap();
        let decision = decide(&context, record(&site, &ssl(), noon()), vec![changed("f1")]);
        let deliveries = queue(&decision, &owner, &settings, noon());
        let commit = Commit { deliveries: &deliveries, ..plain(&owner, 0, &decision) };
        store.commit(commit).await.unwrap();
        let alert = raised(&decision);
        let incident = incident::incident(&owner, noon(), &[site.id]);
        store.create_incident(&incident, 1_000).await.unwrap();
        let window = maintenance::window(&owner, Some(site.id), 0);
        store.create_maintenance_window(&window, 9).await.unwrap();

        let stranger = signed_up(&store).await.id;
        let before = rows(&store).await;
        let page = CheckFilter { limit: 50, ..CheckFilter::default() };
        let bounded = CheckFilter { from: Some(noon()), ..page.clone() };
        assert!(store.listed_sites(stranger).await.unwrap().1.is_empty());
        assert_eq!(store.site(stranger, site.id).await.unwrap(), None);
        let changed =
            store.update_site(stranger, site.id, |_| -> Runs { panic!("nothing to change") });
        assert_eq!(changed.await.unwrap(), None);
        assert!(!store.delete_site(stranger, site.id).await.unwrap());
        assert!(store.check_context(stranger, site.id, &ssl()).await.unwrap().is_none());
        assert_eq!(store.latest_checks(stranger, site.id).await.unwrap(), None);
        assert_eq!(store.checks_page(stranger, site.id, &page).await.unwrap(), None);
        assert_eq!(store.checks_page(stranger, site.id, &bounded).await.unwrap(), None);
        assert_eq!(store.cert_history(stranger, site.id).await.unwrap(), None);
        let all = AlertFilter { limit: 50, ..AlertFilter::default() };
        let alerts = store.alerts(stranger, &all).await.unwrap();
        assert_eq!((alerts.items, alerts.total), (vec![], 0));
        assert_eq!(store.alert(stranger, alert.id).await.unwrap(), None);
        let resolved = store.set_alert_resolved(stranger, alert.id, true, noon()).await;
        assert_eq!(resolved.unwrap(), None);
        assert_eq!(store.deliveries_of(stranger, alert.id, 9).await.unwrap(), None);
        assert!(store.site_ids(stranger).await.unwrap().is_empty());
        let open = store.open_alerts(stranger, Severity::Warning).await.unwrap();
        assert_eq!(open, (0, vec![]));
        assert_eq!(store.incident(stranger, incident.id).await.unwrap(), None);
        let all = IncidentFilter { limit: 50, ..IncidentFilter::default() };
        let incidents = store.incidents(stranger, &all).await.unwrap();
        assert_eq!((incidents.items, incidents.total), (vec![], 0));
        let changed =
            store.update_incident(stranger, incident.id, |_| -> std::result::Result<(), ()> {
                panic!("nothing to change")
            });
        assert_eq!(changed.await.unwrap(), None);
        assert!(store.maintenance_windows(stranger).await.unwrap().is_empty());
        let deleted = store.delete_maintenance_window(stranger, window.id, noon()).await;
        assert!(!deleted.unwrap());
        assert_eq!(only(store.api_keys(stranger).await.unwrap()).account_id, stranger);
        assert_eq!(store.update_api_key_expiry(stranger, key.id, None).await.unwrap(), None);
        assert_eq!(store.roll_api_key(stranger, key.id, by_owner("h", "p")).await.unwrap(), None);
        assert!(!store.delete_api_key(stranger, key.id).await.unwrap());
        store.touch_api_key(stranger, &key, noon()).await.unwrap();
        assert_eq!(store.calls_so_far(stranger, "2026-11").await.unwrap().used, 0);

        let committed =
            store.commit(Commit { account_id: stranger, ..plain(&owner, 1, &decision) });
        assert!(matches!(committed.await, Err(Error::Gone)));

        assert_eq!(rows(&store).await, before);
        let found = store.caller(&key.hash).await.unwrap().unwrap();
        assert_eq!((&found.key, &*found.person.account), (&key, &owner));
        assert_eq!(store.listed_sites(owner.id).await.unwrap().1, [bare(&site)]);
        assert_eq!(store.alert(owner.id, alert.id).await.unwrap(), Some(alert));
        assert_eq!(store.incident(owner.id, incident.id).await.unwrap(), Some(incident));
        assert_eq!(store.maintenance_windows(owner.id).await.unwrap(), [window]);
    });
}
