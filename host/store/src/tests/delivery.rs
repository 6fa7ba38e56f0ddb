//! The outbox.

use vedette_model::delivery::{Outcome, queue};
use vedette_model::{Delivery, DeliveryState, NotificationSettings};

use super::*;

/// Queues one delivery for each of `count` runs.
async fn queued(store: &Store, account: &Account, site: &Site, count: u64) -> Vec<Delivery> {
    let settings = NotificationSettings {
        custom_webhook_url: Some("https://hooks.example.com/x".to_owned().into()),
        ..NotificationSettings::default()
    };
    let mut all = Vec::new();
    for nth in 0..count {
        let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
        let at = noon() + TimeDelta::milliseconds(i64::try_from(nth).unwrap());
        let found = vec![changed(&format!("f{nth}"))];
        let decision = decide(&context, record(site, &ssl(), at), found);
        let deliveries = queue(&decision, account, &settings, at);
        let commit =
            Commit { deliveries: &deliveries, ..plain(account, context.state.version, &decision) };
        store.commit(commit).await.unwrap();
        all.push(only(deliveries));
    }
    all
}

fn retry() -> Outcome {
    Outcome::Retry { reason: "status 503".to_owned(), after: None }
}

#[test]
fn four_senders_take_each_delivery_once() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 60).await;
        let later = noon() + seconds(1);
        let send = {
            let store = store.clone();
            move |nth: usize| {
                let store = store.clone();
                async move {
                    let mut taken = Vec::new();
                    loop {
                        let node = format!("node{nth}");
                        let batch = store.lease_deliveries(&node, later, LEASE, 5).await.unwrap();
                        if batch.is_empty() {
                            return taken;
                        }
                        taken.extend(batch.into_iter().map(|delivery| delivery.id));
                    }
                }
            }
        };
        let mut taken: Vec<_> = at_once(4, send).await.into_iter().flatten().collect();
        taken.sort();
        taken.dedup();
        assert_eq!(taken.len(), 60);
    });
}

#[test]
fn a_delivery_that_failed_is_due_again_and_finishes_once() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        assert_eq!(store.next_delivery_due().await.unwrap(), None);
        let before = only(queued(&store, &account, &site, 1).await);
        assert_eq!(store.next_delivery_due().await.unwrap(), Some(noon()));

        let first = only(store.lease_deliveries("a", noon(), LEASE, 9).await.unwrap());
        assert_eq!(first, Delivery { epoch: first.epoch, ..before });
        assert!(store.lease_deliveries("b", noon(), LEASE, 9).await.unwrap().is_empty());
        let failed = first.after(retry(), noon() + seconds(2));
        assert!(store.settle_delivery(&failed).await.unwrap());
        // Given back is given back.
        assert!(!store.settle_delivery(&failed).await.unwrap());

        let due = noon() + seconds(3);
        assert_eq!(store.next_delivery_due().await.unwrap(), Some(due));
        let early = store.lease_deliveries("a", due - seconds(1), LEASE, 9).await.unwrap();
        assert!(early.is_empty());
        let second = only(store.lease_deliveries("a", due, LEASE, 9).await.unwrap());
        assert_eq!((second.attempt, second.last_error.as_deref()), (1, Some("status 503")));
        let sent = second.after(Outcome::Delivered, due);
        assert!(store.settle_delivery(&sent).await.unwrap());
        assert_eq!(store.next_delivery_due().await.unwrap(), None);
        let much_later = due + seconds(86_400);
        assert!(store.lease_deliveries("a", much_later, LEASE, 9).await.unwrap().is_empty());
        let alert = sent.notices[0].alert_id;
        let told = only(store.deliveries_of(account.id, alert).await.unwrap().unwrap());
        assert_eq!((told.state, told.finished_at), (DeliveryState::Delivered, Some(due)));
    });
}

#[test]
fn a_sender_that_comes_late_settles_nothing() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 1).await;
        let late = only(store.lease_deliveries("a", noon(), LEASE, 9).await.unwrap());
        let taken = noon() + seconds(61);
        let current = only(store.lease_deliveries("b", taken, LEASE, 9).await.unwrap());
        assert_eq!(late.id, current.id);
        let rejected = late.after(Outcome::Rejected("status 404".to_owned()), taken);
        assert!(!store.settle_delivery(&rejected).await.unwrap());
        assert!(store.settle_delivery(&current.after(Outcome::Delivered, taken)).await.unwrap());
        let alert = rejected.notices[0].alert_id;
        let told = only(store.deliveries_of(account.id, alert).await.unwrap().unwrap());
        assert_eq!(told.state, DeliveryState::Delivered);
    });
}

#[test]
fn deliveries_of_the_dead_are_due_at_once() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 2).await;
        let now = noon() + seconds(1);
        assert_eq!(store.lease_deliveries("a", now, LEASE, 9).await.unwrap().len(), 2);
        assert_eq!(store.recover_leases(now).await.unwrap(), 2);
        assert_eq!(store.lease_deliveries("a", now, LEASE, 9).await.unwrap().len(), 2);
    });
}

#[test]
fn finished_deliveries_are_forgotten_in_batches_and_others_are_not() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 5).await;
        let at = noon() + seconds(1);
        for delivery in store.lease_deliveries("a", at, LEASE, 4).await.unwrap() {
            assert!(store.settle_delivery(&delivery.after(Outcome::Delivered, at)).await.unwrap());
        }
        assert!(!store.forget_deliveries(at, 500).await.unwrap());
        let after = at + seconds(1);
        assert!(store.forget_deliveries(after, 3).await.unwrap());
        assert!(store.forget_deliveries(after, 3).await.unwrap());
        assert!(!store.forget_deliveries(after, 3).await.unwrap());
        assert_eq!(store.lease_deliveries("a", at, LEASE, 9).await.unwrap().len(), 1);
    });
}
