//! The outbox: batches and their attempts.

use vedette_model::delivery::{Gathering, Lane, Outcome, Plan, asks, plan, queue};
use vedette_model::{AlertId, Delivery, DeliveryState, NotificationSettings};

use super::*;
use crate::{Claim, LaneContext};

/// The webhook's lane of an account, with the alerts that it needs to be judged.
pub(super) async fn lane(store: &Store, account: &Account, now: Timestamp) -> LaneContext {
    let lane = [(account.id, "webhook".to_owned())];
    let context = only(store.lanes(&lane, &[], now).await.unwrap()).unwrap();
    let asks = asks(&context.waiting, &context.windows).into_iter();
    let asked: Vec<_> = asks.map(|alert| (account.id, alert)).collect();
    only(store.lanes(&lane, &asked, now).await.unwrap()).unwrap()
}

/// What the model decides about a lane whose channel carries `size` alerts in one notification.
pub(super) fn decided(context: &LaneContext, now: Timestamp, size: usize) -> Gathering {
    let asked: Vec<AlertId> = asks(&context.waiting, &context.windows);
    let lane = Lane {
        quiet_at: context.quiet_at,
        waiting: &context.waiting,
        held: &context.held,
        windows: &context.windows,
        asked: &asked,
        alerts: &context.alerts,
        batch_max: size,
        behind: &[],
        tried_at: None,
    };
    match plan(&lane, now) {
        Plan::Gather(gathering) => gathering,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn claimed(
    store: &Store,
    node: &str,
    context: &LaneContext,
    gathering: &Gathering,
    now: Timestamp,
) -> bool {
    let claim = Claim {
        node,
        account_id: context.account_id,
        channel: &context.channel,
        expected_version: context.version,
        expected_windows: context.windows_version,
        gathering,
        now,
        lease: LEASE,
    };
    store.claim(claim).await.unwrap()
}

/// Gathers the lane into batches and answers them. The first is leased, the others are due.
pub(super) async fn gathered(
    store: &Store,
    account: &Account,
    now: Timestamp,
    size: usize,
) -> Vec<Delivery> {
    let context = lane(store, account, now).await;
    let gathering = decided(&context, now, size);
    assert!(claimed(store, "a", &context, &gathering, now).await);
    let heads = gathering.batches.into_iter().map(|batch| batch.head);
    heads.map(|head| Delivery { epoch: head.epoch + 1, ..head }).collect()
}

/// Queues one delivery for each of `count` runs.
pub(super) async fn queued(
    store: &Store,
    account: &Account,
    site: &Site,
    count: u64,
) -> Vec<Delivery> {
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
        let first = gathered(&store, &account, later, 1).await.remove(0).id;
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
        assert_eq!(taken.len(), 59);
        assert!(!taken.contains(&first), "it is leased already");
    });
}

#[test]
fn batch_of_a_channel_that_a_sender_lacks_is_left_to_others_first() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 3).await;
        let due = noon() + seconds(1);
        // One is under way, and two are due.
        gathered(&store, &account, due, 1).await;
        let now = due + seconds(5);
        for (channel, others_first, taken) in
            [("pager", noon(), 0), ("webhook", noon(), 1), ("pager", due, 1)]
        {
            let channels = [channel.to_owned()];
            let wanted = Wanted { channels: &channels, others_first, held: &[] };
            let leased = store.lease_batches(wanted, "b", now, LEASE, 1).await;
            assert_eq!(leased.unwrap().len(), taken, "{channel}");
        }
    });
}

#[test]
fn batch_that_a_sender_has_still_is_left_to_others_when_its_lease_has_ended() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 1).await;
        let first = only(gathered(&store, &account, noon(), 100).await);
        let now = noon() + seconds(61);
        let wanted = Wanted { channels: &[], others_first: now, held: &[first.id] };
        let leased = store.lease_batches(wanted, "a", now, LEASE, 9).await.unwrap();
        assert!(leased.is_empty(), "{leased:?}");
        assert!(store.look_at_outbox(now, 9).await.unwrap().batches, "it is due");
        assert!(store.settle_delivery(&first.clone().after(retry(), now)).await.unwrap());
        let due = now + seconds(1);
        let second = only(store.lease_deliveries("b", due, LEASE, 9).await.unwrap());
        assert_eq!((second.id, second.attempt), (first.id, 1));
    });
}

#[test]
fn a_delivery_that_failed_is_due_again_and_finishes_once() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        assert_eq!(store.next_delivery_due().await.unwrap(), None);
        let before = only(queued(&store, &account, &site, 1).await);
        assert_eq!(store.next_delivery_due().await.unwrap(), Some(noon()));

        let first = only(gathered(&store, &account, noon(), 100).await);
        assert_eq!((first.id, &first.notices), (before.id, &before.notices));
        assert!(store.lease_deliveries("b", noon(), LEASE, 9).await.unwrap().is_empty());
        let failed = first.clone().after(retry(), noon() + seconds(2));
        assert!(store.settle_delivery(&failed).await.unwrap());
        // Who did not hear that it was written says it again; but given back is given back.
        assert!(store.settle_delivery(&failed).await.unwrap());
        let other = first.after(Outcome::Delivered, noon() + seconds(2));
        assert!(!store.settle_delivery(&other).await.unwrap());

        let due = noon() + seconds(3);
        assert_eq!(store.next_delivery_due().await.unwrap(), Some(due));
        let early = store.lease_deliveries("a", due - seconds(1), LEASE, 9).await.unwrap();
        assert!(early.is_empty());
        let second = only(store.lease_deliveries("a", due, LEASE, 9).await.unwrap());
        assert_eq!((second.attempt, second.last_error.as_deref()), (1, Some("status 503")));
        let sent = second.after(Outcome::Delivered, due);
        for _ in 0..2 {
            assert!(store.settle_delivery(&sent).await.unwrap());
        }
        assert!(!store.settle_delivery(&failed).await.unwrap(), "by another owner since");
        assert_eq!(store.next_delivery_due().await.unwrap(), None);
        let much_later = due + seconds(86_400);
        assert!(store.lease_deliveries("a", much_later, LEASE, 9).await.unwrap().is_empty());
        let alert = sent.notices[0].alert_id;
        let told = only(store.deliveries_of(account.id, alert, 9).await.unwrap().unwrap());
        assert_eq!((told.state, told.finished_at), (DeliveryState::Delivered, Some(due)));
    });
}

#[test]
fn a_sender_that_comes_late_settles_nothing() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 1).await;
        let late = only(gathered(&store, &account, noon(), 100).await);
        let taken = noon() + seconds(61);
        let current = only(store.lease_deliveries("b", taken, LEASE, 9).await.unwrap());
        assert_eq!(late.id, current.id);
        let rejected = late.after(Outcome::Rejected("status 404".to_owned()), taken);
        assert!(!store.settle_delivery(&rejected).await.unwrap());
        assert!(store.settle_delivery(&current.after(Outcome::Delivered, taken)).await.unwrap());
        let alert = rejected.notices[0].alert_id;
        let told = only(store.deliveries_of(account.id, alert, 9).await.unwrap().unwrap());
        assert_eq!(told.state, DeliveryState::Delivered);
    });
}

#[test]
fn lease_that_is_renewed_goes_on_and_one_that_was_lost_does_not() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 1).await;
        let mut first = only(gathered(&store, &account, noon(), 100).await);
        first.rendered = Some(Vec::new());
        let renewed = noon() + seconds(90);
        assert!(store.keep_delivery(&first, renewed).await.unwrap());
        let early = store.lease_deliveries("b", renewed - seconds(1), LEASE, 9).await.unwrap();
        assert!(early.is_empty(), "it would have ended by now");
        let second = only(store.lease_deliveries("b", renewed, LEASE, 9).await.unwrap());
        assert_eq!(second.rendered, Some(Vec::new()), "what is left was written down");
        let late = renewed + seconds(60);
        assert!(!store.keep_delivery(&first, late + seconds(9)).await.unwrap());
        assert!(!store.look_at_outbox(late - seconds(1), 9).await.unwrap().batches);
        let third = only(store.lease_deliveries("c", late, LEASE, 9).await.unwrap());
        assert!(!store.keep_delivery(&second, late + seconds(9)).await.unwrap());
        // The clock leaps: who has it keeps it, with what is written of it.
        let leapt = late + seconds(3_600);
        let held = [(third.id, third.epoch), (second.id, second.epoch), (Uuid::new_v4().into(), 1)];
        store.keep_leases(&held, leapt + LEASE).await.unwrap();
        let soon = leapt + LEASE - seconds(1);
        assert!(store.lease_deliveries("d", soon, LEASE, 9).await.unwrap().is_empty());
        store.keep_leases(&[(second.id, second.epoch)], leapt + LEASE * 9).await.unwrap();
        let fourth = only(store.lease_deliveries("d", leapt + LEASE, LEASE, 9).await.unwrap());
        assert_eq!(fourth.rendered, third.rendered);
        assert!(!store.settle_delivery(&third.after(Outcome::Delivered, late)).await.unwrap());
        let third = fourth;
        assert!(store.settle_delivery(&third.after(Outcome::Delivered, late)).await.unwrap());
    });
}

#[test]
fn deliveries_of_the_dead_are_due_at_once() {
    on_embedded(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 2).await;
        let now = noon() + seconds(1);
        assert_eq!(gathered(&store, &account, now, 1).await.len(), 2);
        assert_eq!(store.lease_deliveries("a", now, LEASE, 9).await.unwrap().len(), 1);
        assert_eq!(store.recover_leases(now).await.unwrap(), 2);
        assert_eq!(store.lease_deliveries("a", now, LEASE, 9).await.unwrap().len(), 2);
    });
}

#[test]
fn what_is_due_beyond_a_horizon_is_due_now_unless_it_is_leased() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 3).await;
        let minute = seconds(60);
        let early = noon() - seconds(3_600);
        assert_eq!(store.hasten_deliveries(noon() + minute, early).await.unwrap(), 0);
        assert!(store.look_at_outbox(early, 9).await.unwrap().waiting.is_empty());
        assert_eq!(store.hasten_deliveries(early + minute, early).await.unwrap(), 3);
        assert_eq!(store.look_at_outbox(early, 9).await.unwrap().waiting.len(), 3);

        assert_eq!(gathered(&store, &account, early, 1).await.len(), 3);
        let earlier = early - seconds(3_600);
        assert_eq!(store.hasten_deliveries(earlier + minute, earlier).await.unwrap(), 2);
        assert_eq!(store.lease_deliveries("b", earlier, LEASE, 9).await.unwrap().len(), 2);
    });
}

#[test]
fn delivery_of_a_node_that_is_gone_and_whose_clock_was_ahead_is_due_at_once() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 1).await;
        let (ahead, horizon) = (noon() + seconds(3_600), noon() + seconds(90));
        gathered(&store, &account, ahead, 1).await;
        store.sign_on("a", noon(), LEASE).await.unwrap();
        assert_eq!(store.end_delivery_leases("b", horizon, noon()).await.unwrap(), 0);
        store.sign_off("a").await.unwrap();
        assert_eq!(store.end_delivery_leases("a", horizon, noon()).await.unwrap(), 0);
        assert!(store.lease_deliveries("b", noon(), LEASE, 9).await.unwrap().is_empty());
        assert_eq!(store.end_delivery_leases("b", horizon, noon()).await.unwrap(), 1);
        assert_eq!(store.lease_deliveries("b", noon(), LEASE, 9).await.unwrap().len(), 1);
    });
}

#[test]
fn finished_deliveries_are_forgotten_in_batches_and_others_are_not() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 5).await;
        let at = noon() + seconds(1);
        let mut batches = gathered(&store, &account, at, 1).await;
        batches.truncate(1);
        batches.extend(store.lease_deliveries("a", at, LEASE, 3).await.unwrap());
        for delivery in batches {
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
