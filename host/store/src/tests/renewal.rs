//! Renewals: one at a time of each site, ended by the owner that holds them.

use vedette_model::{RenewalEntry, RenewalStatus, RenewedCertificate, Secret};

use super::*;
use crate::error::Error;

fn begun(site: &Site, at: Timestamp) -> RenewalEntry {
    RenewalEntry::pending(&site.domain, at)
}

fn renewed(key: &str) -> RenewedCertificate {
    RenewedCertificate {
        certificate: "chain".to_owned(),
        private_key: Secret::new(key.to_owned()),
        expires_at: noon() + seconds(90 * 86_400),
    }
}

fn statuses(log: &[RenewalEntry]) -> Vec<RenewalStatus> {
    log.iter().map(|entry| entry.status).collect()
}

#[test]
fn renewal_is_off_until_it_is_switched_on_and_after_it_is_switched_off() {
    on_both(|store| async move {
        let (account, other) = (signed_up(&store).await.id, signed_up(&store).await.id);
        assert!(!store.renewal_is_on(account).await.unwrap());
        for _ in 0..2 {
            assert!(store.switch_renewal(account, true, noon()).await.unwrap());
            assert!(store.renewal_is_on(account).await.unwrap());
        }
        assert!(!store.renewal_is_on(other).await.unwrap());
        for _ in 0..2 {
            assert!(store.switch_renewal(account, false, noon()).await.unwrap());
            assert!(!store.renewal_is_on(account).await.unwrap());
        }
        let nobody = Uuid::new_v4().into();
        assert!(!store.switch_renewal(nobody, true, noon()).await.unwrap());
        assert!(!store.renewal_is_on(nobody).await.unwrap());
    });
}

#[test]
fn a_renewal_is_begun_leased_and_ended() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        store.begin_renewal(account.id, site.id, &begun(&site, noon())).await.unwrap();
        let lease = only(store.lease_renewals("a", noon(), LEASE, 2).await.unwrap());
        assert_eq!((lease.account_id, lease.site_id, lease.epoch), (account.id, site.id, 1));
        assert!(store.lease_renewals("b", noon(), LEASE, 2).await.unwrap().is_empty());
        assert_eq!(store.renewed_certificate(account.id, site.id).await.unwrap(), None);

        let certificate = renewed("k1");
        let success = RenewalEntry::success(&site.domain, &certificate, noon());
        store.end_renewal(&lease, &success, Some(&certificate)).await.unwrap();
        let log = store.renewal_log(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(log, [success, begun(&site, noon())], "of one moment the end is newer");
        let kept = store.renewed_certificate(account.id, site.id).await.unwrap();
        assert_eq!(kept, Some(certificate.clone()));

        // A later one that fails keeps what there was.
        let later = noon() + seconds(1);
        store.begin_renewal(account.id, site.id, &begun(&site, later)).await.unwrap();
        let lease = only(store.lease_renewals("a", later, LEASE, 2).await.unwrap());
        store.end_renewal(&lease, &RenewalEntry::failed("no", later), None).await.unwrap();
        let log = store.renewal_log(account.id, site.id).await.unwrap().unwrap();
        let (success, failed) = (RenewalStatus::Success, RenewalStatus::Failed);
        let pending = RenewalStatus::Pending;
        assert_eq!(statuses(&log), [failed, pending, success, pending]);
        let kept = store.renewed_certificate(account.id, site.id).await.unwrap();
        assert_eq!(kept, Some(certificate));
    });
}

#[test]
fn of_renewals_begun_at_once_one_is_under_way() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let begin = {
            let (store, site) = (store.clone(), site.clone());
            move |nth: usize| {
                let (store, site) = (store.clone(), site.clone());
                let at = noon() + TimeDelta::milliseconds(i64::try_from(nth).unwrap());
                async move { store.begin_renewal(site.account_id, site.id, &begun(&site, at)).await }
            }
        };
        let answers = at_once(8, begin).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert_eq!(answers.iter().filter(|a| matches!(a, Err(Error::Duplicate))).count(), 7);
        let log = store.renewal_log(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(statuses(&log), [RenewalStatus::Pending]);
    });
}

#[test]
fn an_owner_that_comes_late_ends_nothing() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        store.begin_renewal(account.id, site.id, &begun(&site, noon())).await.unwrap();
        let late = only(store.lease_renewals("a", noon(), LEASE, 2).await.unwrap());
        let after = noon() + seconds(61);
        let owner = only(store.lease_renewals("b", after, LEASE, 2).await.unwrap());
        assert_eq!(owner.epoch, 2);
        let failed = RenewalEntry::failed("no", after);
        let fenced = store.end_renewal(&late, &failed, Some(&renewed("k"))).await;
        assert!(matches!(fenced, Err(Error::Fenced)), "{fenced:?}");
        store.release_renewal(&late, after).await.unwrap();
        assert!(store.lease_renewals("c", after, LEASE, 2).await.unwrap().is_empty());

        store.release_renewal(&owner, after).await.unwrap();
        let owner = only(store.lease_renewals("c", after, LEASE, 2).await.unwrap());
        assert_eq!(owner.epoch, 3);
        store.end_renewal(&owner, &failed, None).await.unwrap();
        assert_eq!(store.renewed_certificate(account.id, site.id).await.unwrap(), None);
    });
}

#[test]
fn a_restart_takes_over_what_was_under_way() {
    on_embedded(|store| async move {
        let (account, site) = with_site(&store).await;
        store.begin_renewal(account.id, site.id, &begun(&site, noon())).await.unwrap();
        only(store.lease_renewals("a", noon(), LEASE, 2).await.unwrap());
        assert_eq!(store.recover_leases(noon()).await.unwrap(), 1);
        assert_eq!(only(store.lease_renewals("b", noon(), LEASE, 2).await.unwrap()).epoch, 2);
    });
}

#[test]
fn the_log_keeps_its_last_hundred_lines() {
    runtime().block_on(async {
        let store = memory().await;
        let (account, site) = with_site(&store).await;
        for second in 0..53 {
            let at = noon() + seconds(second);
            store.begin_renewal(account.id, site.id, &begun(&site, at)).await.unwrap();
            let lease = only(store.lease_renewals("a", at, LEASE, 2).await.unwrap());
            store.end_renewal(&lease, &RenewalEntry::failed("no", at), None).await.unwrap();
        }
        let log = store.renewal_log(account.id, site.id).await.unwrap().unwrap();
        assert_eq!(log.len(), 100);
        assert_eq!(log[0].created_at, noon() + seconds(52));
        assert_eq!(log[99].created_at, noon() + seconds(3));
        let kept = rows(&store).await.into_iter().find(|(table, _)| table == "renewal_log");
        assert_eq!(kept, Some(("renewal_log".to_owned(), 100)));
    });
}

#[test]
fn strangers_see_and_begin_nothing() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        store.begin_renewal(account.id, site.id, &begun(&site, noon())).await.unwrap();
        let lease = only(store.lease_renewals("a", noon(), LEASE, 2).await.unwrap());
        let success = RenewalEntry::success(&site.domain, &renewed("k"), noon());
        store.end_renewal(&lease, &success, Some(&renewed("k"))).await.unwrap();

        let stranger = signed_up(&store).await.id;
        let before = rows(&store).await;
        let begun = store.begin_renewal(stranger, site.id, &begun(&site, noon())).await;
        assert!(matches!(begun, Err(Error::Gone)), "{begun:?}");
        assert_eq!(store.renewal_log(stranger, site.id).await.unwrap(), None);
        assert_eq!(store.renewed_certificate(stranger, site.id).await.unwrap(), None);
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn a_site_takes_its_renewals_with_it() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let before = rows(&store).await;
        let site = site(&account, "www.example.com");
        store.create_site(&site, 50, &[]).await.unwrap();
        for (second, certificate) in [(0, Some(renewed("k"))), (1, None)] {
            let at = noon() + seconds(second);
            store.begin_renewal(account.id, site.id, &begun(&site, at)).await.unwrap();
            let lease = only(store.lease_renewals("a", at, LEASE, 2).await.unwrap());
            let entry = RenewalEntry::failed("no", at);
            store.end_renewal(&lease, &entry, certificate.as_ref()).await.unwrap();
        }
        let later = noon() + seconds(2);
        store.begin_renewal(account.id, site.id, &begun(&site, later)).await.unwrap();
        let lease = only(store.lease_renewals("a", later, LEASE, 2).await.unwrap());

        assert!(store.delete_site(account.id, site.id).await.unwrap());
        let late = store.end_renewal(&lease, &RenewalEntry::failed("no", later), None).await;
        assert!(matches!(late, Err(Error::Gone)), "{late:?}");
        while store.purge_next(500).await.unwrap() {}
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn credentials_are_kept_by_account_and_directory_until_the_account_goes() {
    on_both(|store| async move {
        let (account, other) = (signed_up(&store).await, signed_up(&store).await);
        let (one, two) = ("https://ca.example/directory", "https://other.example/directory");
        assert_eq!(store.acme_credentials(account.id, one).await.unwrap(), None);
        for text in ["first", "second"] {
            let secret = Secret::new(text.to_owned());
            store.keep_acme_credentials(account.id, one, &secret).await.unwrap();
            assert_eq!(store.acme_credentials(account.id, one).await.unwrap(), Some(secret));
        }
        assert_eq!(store.acme_credentials(account.id, two).await.unwrap(), None);
        assert_eq!(store.acme_credentials(other.id, one).await.unwrap(), None);

        store.close_account(account.id, 0).await.unwrap().expect("there is one");
        while store.purge_next(500).await.unwrap() {}
        let late = Secret::new("late".to_owned());
        store.keep_acme_credentials(account.id, one, &late).await.unwrap();
        assert_eq!(store.acme_credentials(account.id, one).await.unwrap(), None);
    });
}

#[test]
fn renewal_that_begins_while_its_site_is_deleted_leaves_nothing_behind() {
    interrupted::on_both(|engine| async move {
        let (store, other) = (engine.store(), engine.other());
        let account = signed_up(&other).await;
        let before = rows(&other).await;
        let site = site(&account, "www.example.com");
        other.create_site(&site, 50, &[]).await.unwrap();
        let (node, goes) = (other.clone(), site.clone());
        engine.meanwhile(async move {
            let entry = begun(&goes, noon());
            node.begin_renewal(goes.account_id, goes.id, &entry).await.unwrap();
        });
        assert!(store.delete_site(account.id, site.id).await.unwrap());
        while other.purge_next(500).await.unwrap() {}
        assert_eq!(rows(&other).await, before);
        assert!(other.lease_renewals("a", noon(), LEASE, 2).await.unwrap().is_empty());
    });
}
