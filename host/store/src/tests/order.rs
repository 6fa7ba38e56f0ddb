//! What is about a site goes after a batch about that site that is not through, on every node.

use vedette_model::delivery::{Lane, Outcome, Plan, plan};
use vedette_model::{Delivery, DeliveryId, SiteId};

use super::delivery::{claimed, decided, gathered, lane, queued};
use super::*;
use crate::LaneContext;

const NOTHING: [SiteId; 0] = [];
const DAY: i64 = 86_400;

fn later(by: i64) -> Timestamp {
    noon() + seconds(by)
}

fn retry() -> Outcome {
    Outcome::Retry { reason: "status 500".to_owned(), after: None }
}

/// The deliveries of a lane that can go.
fn free(context: &LaneContext, now: Timestamp) -> Vec<DeliveryId> {
    let lane = Lane {
        quiet_at: context.quiet_at,
        waiting: &context.waiting,
        held: &context.held,
        windows: &context.windows,
        asked: &[],
        alerts: &context.alerts,
        batch_max: 100,
        behind: &context.behind,
        tried_at: context.tried_at,
    };
    match plan(&lane, now) {
        Plan::Gather(gathering) => gathering.deliveries(),
        Plan::Nothing | Plan::Rest(_) => Vec::new(),
    }
}

/// Makes a batch of one delivery of the account alone, a second after noon, under way for a minute.
async fn begun(store: &Store, account: &Account, first: &Delivery) -> Delivery {
    let mut context = lane(store, account, later(1)).await;
    context.waiting.retain(|one| one.id == first.id);
    let gathering = decided(&context, later(1), 100);
    assert!(claimed(store, "a", &context, &gathering, later(1)).await);
    let head = only(gathering.batches).head;
    Delivery { epoch: head.epoch + 1, ..head }
}

/// What is behind the lane's batches on another node, at a moment.
async fn behind(store: &Store, account: &Account, now: Timestamp) -> Vec<SiteId> {
    lane(&store.without_memory(), account, now).await.behind
}

#[test]
fn what_is_about_a_site_waits_for_its_batch_on_another_node_and_other_sites_do_not() {
    on_both(|store| async move {
        let other = store.without_memory();
        let (account, site) = with_site(&store).await;
        let elsewhere = super::site(&account, "two.example.com");
        store.create_site(&elsewhere, 50, &[(ssl(), noon())]).await.unwrap();
        let all = queued(&store, &account, &site, 2).await;
        let apart = only(queued(&store, &account, &elsewhere, 1).await);
        let (stranger, strange) = with_site(&store).await;
        queued(&store, &stranger, &strange, 1).await;

        // Under way, by nobody that the other node knows.
        let first = begun(&store, &account, &all[0]).await;
        let seen = lane(&other, &account, later(4)).await;
        assert_eq!((&seen.behind[..], seen.tried_at), (&[site.id][..], None));
        assert_eq!(free(&seen, later(4)), [apart.id]);
        assert_eq!(behind(&store, &stranger, later(4)).await, NOTHING);

        // It failed, and is to be tried again; then the other node does that.
        assert!(store.settle_delivery(&first.after(retry(), later(3))).await.unwrap());
        let seen = lane(&other, &account, later(4)).await;
        assert_eq!((&seen.behind[..], seen.tried_at), (&[site.id][..], Some(later(4))));
        assert_eq!(free(&seen, later(4)), [apart.id]);
        let second = only(other.lease_deliveries("b", later(4), LEASE, 9).await.unwrap());
        let seen = lane(&store, &account, later(5)).await;
        assert_eq!(seen.behind, [site.id]);
        assert_eq!(free(&seen, later(5)), [apart.id]);

        assert!(other.settle_delivery(&second.after(Outcome::Delivered, later(6))).await.unwrap());
        let seen = lane(&store, &account, later(6)).await;
        assert_eq!(seen.behind, NOTHING);
        let mut freed = free(&seen, later(6));
        let mut both = vec![all[1].id, apart.id];
        freed.sort();
        both.sort();
        assert_eq!(freed, both);
    });
}

#[test]
fn batch_that_was_given_up_or_that_nobody_can_send_holds_nothing_back() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let all = queued(&store, &account, &site, 1).await;
        let first = begun(&store, &account, &all[0]).await;
        // Its owner died, and somebody takes it when its lease has ended; unless nobody can.
        assert_eq!(behind(&store, &account, later(80)).await, [site.id]);
        assert_eq!(behind(&store, &account, later(DAY)).await, [site.id]);
        assert_eq!(behind(&store, &account, later(DAY + 1)).await, NOTHING);
        // It was leased by a clock that was ahead by an hour.
        assert_eq!(behind(&store, &account, later(-3_600)).await, NOTHING);
        let taken = only(store.lease_deliveries("b", later(80), LEASE, 9).await.unwrap());
        assert_eq!(taken.id, first.id);
        assert_eq!(behind(&store, &account, later(81)).await, [site.id]);
        let rejected = taken.after(Outcome::Rejected("status 404".to_owned()), later(82));
        assert!(store.settle_delivery(&rejected).await.unwrap());
        assert_eq!(behind(&store, &account, later(82)).await, NOTHING);
    });
}

#[test]
fn batch_that_waits_on_after_days_in_which_nobody_ran_goes_first_all_the_same() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let all = queued(&store, &account, &site, 2).await;
        begun(&store, &account, &all[0]).await;
        let monday = 3 * DAY;
        let again = only(store.lease_deliveries("b", later(monday), LEASE, 9).await.unwrap());
        let unsent =
            again.after(Outcome::Unsent("no DNS server answers".to_owned()), later(monday));
        assert_eq!(unsent.attempt, 0);
        assert!(store.settle_delivery(&unsent).await.unwrap());
        let seen = lane(&store, &account, later(monday + 1)).await;
        assert_eq!((free(&seen, later(monday + 1)), seen.behind), (vec![], vec![site.id]));
        let gone = later(monday + DAY + 60);
        assert_eq!(behind(&store, &account, gone).await, NOTHING, "nobody can send it any more");
    });
}

#[test]
fn order_outlives_the_process() {
    on_embedded(|store| async move {
        let (account, site) = with_site(&store).await;
        let all = queued(&store, &account, &site, 2).await;
        begun(&store, &account, &all[0]).await;
        assert_eq!(store.recover_leases(later(2)).await.unwrap(), 1);
        let seen = lane(&store, &account, later(4)).await;
        assert_eq!((free(&seen, later(4)), seen.behind), (vec![], vec![site.id]));
    });
}

#[test]
fn batch_goes_after_one_of_its_gathering_about_the_same_site_on_another_node() {
    on_both(|store| async move {
        let other = store.without_memory();
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 2).await;
        let mut batches = gathered(&store, &account, later(1), 1).await;
        let (first, second) = (batches.remove(0), batches.remove(0).id);
        let taken = only(other.lease_deliveries("b", later(1), LEASE, 9).await.unwrap());
        assert_eq!(taken.id, second);
        assert_eq!(other.goes_after(first.id, later(1)).await.unwrap(), None);
        let after = async |now| other.goes_after(second, later(now)).await.unwrap();
        assert_eq!(after(2).await, Some(later(2)), "it is under way");
        assert_eq!(after(DAY + 1).await, None, "nobody can send it");

        assert!(store.settle_delivery(&first.after(retry(), later(2))).await.unwrap());
        assert_eq!(after(2).await, Some(later(3)), "it is tried again then");
        let again = only(store.lease_deliveries("a", later(3), LEASE, 9).await.unwrap());
        assert_eq!(after(4).await, Some(later(4)));
        assert!(store.settle_delivery(&again.after(Outcome::Delivered, later(5))).await.unwrap());
        assert_eq!(after(5).await, None);
    });
}

#[test]
fn batches_of_one_gathering_about_different_sites_wait_for_nobody() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let elsewhere = super::site(&account, "two.example.com");
        store.create_site(&elsewhere, 50, &[(ssl(), noon())]).await.unwrap();
        queued(&store, &account, &site, 1).await;
        queued(&store, &account, &elsewhere, 1).await;
        for batch in gathered(&store, &account, later(1), 1).await {
            assert_eq!(store.goes_after(batch.id, later(1)).await.unwrap(), None);
        }
    });
}
