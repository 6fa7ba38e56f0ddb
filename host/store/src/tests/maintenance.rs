//! Maintenance windows: their limit, their order, and that they go with their site.

use vedette_model::{MaintenanceWindow, SiteId};

use super::*;
use crate::error::Error;

pub(super) fn window(account: &Account, site_id: Option<SiteId>, starts: i64) -> MaintenanceWindow {
    MaintenanceWindow {
        id: Uuid::new_v4().into(),
        account_id: account.id,
        site_id,
        starts_at: noon() + seconds(starts),
        ends_at: noon() + seconds(starts + 60),
        description: Some("it's \"planned\"; THROW 'x'".to_owned()),
        created_at: noon(),
    }
}

#[test]
fn windows_read_back_as_they_were_made_the_earliest_first() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        assert!(store.maintenance_windows(account.id).await.unwrap().is_empty());
        let mut made = Vec::new();
        for (nth, starts) in [30, -60, 0, 90].into_iter().enumerate() {
            let window = window(&account, nth.is_multiple_of(2).then_some(site.id), starts);
            store.create_maintenance_window(&window, 9).await.unwrap();
            made.push(window);
        }
        made.sort_by_key(|window| window.starts_at);
        assert_eq!(store.maintenance_windows(account.id).await.unwrap(), made);
        let gone = made.remove(1);
        assert!(store.delete_maintenance_window(account.id, gone.id, noon()).await.unwrap());
        assert!(!store.delete_maintenance_window(account.id, gone.id, noon()).await.unwrap());
        assert_eq!(store.maintenance_windows(account.id).await.unwrap(), made);
    });
}

#[test]
fn windows_of_a_site_are_its_own_and_those_of_all_sites() {
    on_both(|store| async move {
        let (account, one) = with_site(&store).await;
        let other = site(&account, "other.example.com");
        store.create_site(&other, 50, &[(ssl(), noon())]).await.unwrap();
        let made = [None, Some(one.id), Some(other.id)].map(|of| window(&account, of, 0));
        for window in &made {
            store.create_maintenance_window(window, 9).await.unwrap();
        }
        for (site, others) in [(one.id, other.id), (other.id, one.id)] {
            let mut windows = store.maintenance_windows_of(account.id, site).await.unwrap();
            windows.sort_by_key(|window| window.site_id);
            let sites: Vec<_> = windows.iter().map(|window| window.site_id).collect();
            assert_eq!(sites, [None, Some(site)], "none of {others:?}");
        }
        let stranger = signed_up(&store).await;
        assert!(store.maintenance_windows_of(stranger.id, one.id).await.unwrap().is_empty());
    });
}

#[test]
fn with_5_windows_left_20_at_once_create_exactly_5() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let create = {
            let (store, account) = (store.clone(), account.clone());
            move |nth: usize| {
                let store = store.clone();
                let window = window(&account, None, i64::try_from(nth).unwrap());
                async move { store.create_maintenance_window(&window, 5).await }
            }
        };
        let answers = at_once(20, create).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 5);
        assert_eq!(answers.iter().filter(|a| matches!(a, Err(Error::WindowLimit))).count(), 15);
        let made = store.maintenance_windows(account.id).await.unwrap();
        assert_eq!(made.len(), 5);
        // One that is deleted makes room for one.
        assert!(store.delete_maintenance_window(account.id, made[0].id, noon()).await.unwrap());
        store.create_maintenance_window(&window(&account, None, 0), 5).await.unwrap();
        let full = store.create_maintenance_window(&window(&account, None, 0), 5).await;
        assert!(matches!(full, Err(Error::WindowLimit)), "{full:?}");
    });
}

#[test]
fn windows_go_with_their_site() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let of_all = window(&account, None, 0);
        let of_site = window(&account, Some(site.id), 0);
        for window in [&of_all, &of_site] {
            store.create_maintenance_window(window, 9).await.unwrap();
        }
        store.delete_site(account.id, site.id).await.unwrap();
        assert_eq!(store.maintenance_windows(account.id).await.unwrap(), [of_all]);
        assert!(!store.delete_maintenance_window(account.id, of_site.id, noon()).await.unwrap());
        let late = store.create_maintenance_window(&of_site, 9).await;
        assert!(matches!(late, Err(Error::Gone)), "{late:?}");
    });
}

#[test]
fn nobody_without_an_account_or_the_site_has_windows() {
    on_both(|store| async move {
        let (_, site) = with_site(&store).await;
        let stranger = signed_up(&store).await;
        for orphan in [window(&account(), None, 0), window(&stranger, Some(site.id), 0)] {
            let created = store.create_maintenance_window(&orphan, 9).await;
            assert!(matches!(created, Err(Error::Gone)), "{created:?}");
        }
        assert!(store.maintenance_windows(stranger.id).await.unwrap().is_empty());
    });
}
