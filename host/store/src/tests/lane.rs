//! Lanes: what waits becomes batches, once, and is held back as long as it is silenced.

use vedette_model::delivery::{Notice, NoticeStatus, Outcome};
use vedette_model::{AlertId, Delivery, DeliveryId, DeliveryState, MaintenanceWindow};

use super::delivery::{claimed, decided, gathered, lane, queued};
use super::*;
use crate::tx::Binds;
use crate::{Error, key};

fn later(by: i64) -> Timestamp {
    noon() + seconds(by)
}

async fn log(store: &Store, account: &Account, queued: &Delivery) -> Delivery {
    let alert = queued.notices[0].alert_id;
    only(store.deliveries_of(account.id, alert, 9).await.unwrap().unwrap())
}

#[test]
fn of_two_nodes_that_read_a_lane_one_gathers_it() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 9).await;
        let other = store.without_memory();
        let seen = [lane(&store, &account, later(1)).await, lane(&other, &account, later(1)).await];
        let gather = {
            let (seen, stores) = (seen.clone(), [store.clone(), other]);
            move |nth: usize| {
                let (context, store) = (seen[nth].clone(), stores[nth].clone());
                async move {
                    let gathering = decided(&context, later(1), 100);
                    claimed(&store, ["a", "b"][nth], &context, &gathering, later(1)).await
                }
            }
        };
        let won = at_once(2, gather).await;
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
        let after = lane(&store, &account, later(1)).await;
        assert_eq!((after.version, after.waiting.len()), (1, 0));
        assert_eq!(after.quiet_at, Some(later(3)));
        // Who read it before, and comes late, gathers nothing.
        let late = decided(&seen[0], later(9), 100);
        assert!(!claimed(&store, "c", &seen[0], &late, later(9)).await);
    });
}

#[test]
fn claim_is_known_by_its_batch_for_as_long_as_that_is_its_owners() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let waits = only(queued(&store, &account, &site, 1).await);
        let (id, epoch) = (waits.id, waits.epoch + 1);
        let claimed = async |node: &str, epoch| store.is_claimed(node, id, epoch).await.unwrap();
        assert!(!claimed("a", epoch).await, "nothing was written");
        let batch = only(gathered(&store, &account, later(1), 100).await);
        assert_eq!((batch.id, batch.epoch), (id, epoch));
        assert!(claimed("a", epoch).await);
        assert!(!claimed("b", epoch).await, "another node has won the lane");
        let taken = only(store.lease_deliveries("a", later(70), LEASE, 9).await.unwrap());
        assert!(!claimed("a", epoch).await, "it is leased again");
        assert!(store.settle_delivery(&taken.after(Outcome::Delivered, later(71))).await.unwrap());
        assert!(!claimed("a", epoch + 1).await);
    });
}

#[test]
fn batch_of_a_process_that_died_is_sent_by_the_next_with_the_same_bytes() {
    on_embedded(|store| async move {
        let (account, site) = with_site(&store).await;
        let all = queued(&store, &account, &site, 3).await;
        let context = lane(&store, &account, later(1)).await;
        let mut gathering = decided(&context, later(1), 100);
        gathering.batches[0].head.rendered = Some(Vec::new());
        assert!(claimed(&store, "dead", &context, &gathering, later(1)).await);

        let due = store.look_at_outbox(later(2), 9).await.unwrap();
        assert_eq!((due.batches, due.waiting), (false, vec![]));
        assert_eq!(store.recover_leases(later(2)).await.unwrap(), 1);
        assert!(store.look_at_outbox(later(2), 9).await.unwrap().batches);
        let next = only(store.lease_deliveries("next", later(2), LEASE, 9).await.unwrap());
        assert_eq!((next.id, next.notices.len()), (all[0].id, 3));
        assert_eq!(next.rendered, Some(Vec::new()));
        let dead = Delivery { epoch: next.epoch - 1, ..next.clone() };
        assert!(!store.keep_delivery(&dead, later(62)).await.unwrap());
        assert!(!store.settle_delivery(&dead).await.unwrap());
        assert!(store.keep_delivery(&next, later(62)).await.unwrap());

        let sent = next.after(Outcome::Delivered, later(3));
        assert!(store.settle_delivery(&sent).await.unwrap());
        for (queued, state) in
            all.iter().zip([DeliveryState::Delivered, DeliveryState::Merged, DeliveryState::Merged])
        {
            let told = log(&store, &account, queued).await;
            assert_eq!((told.state, told.batch_id, told.attempt), (state, Some(all[0].id), 1));
            assert_eq!(told.finished_at, Some(later(3)));
        }
        assert_eq!(store.outbox_depth(later(3)).await.unwrap(), 0);
    });
}

#[test]
fn silenced_delivery_is_due_when_its_window_ends_or_is_deleted() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let window = maintenance::window(&account, Some(site.id), 0);
        store.create_maintenance_window(&window, 9).await.unwrap();
        let held = only(queued(&store, &account, &site, 1).await);
        assert_eq!(gathered(&store, &account, later(1), 100).await, []);
        let told = log(&store, &account, &held).await;
        assert_eq!((told.state, told.due_at), (DeliveryState::Silenced, later(60)));
        assert_eq!(told.finished_at, None);
        assert_eq!(store.hasten_deliveries(later(2), later(2)).await.unwrap(), 0);
        let look = store.look_at_outbox(later(59), 9).await.unwrap();
        assert_eq!((look.waiting, look.next), (vec![], Some(later(60))));
        assert_eq!(store.next_delivery_due().await.unwrap(), Some(later(60)));

        assert!(store.delete_maintenance_window(account.id, window.id, later(30)).await.unwrap());
        let look = store.look_at_outbox(later(30), 9).await.unwrap();
        assert_eq!(look.waiting, [(account.id, "webhook".to_owned())]);
        let batch = only(gathered(&store, &account, later(30), 100).await);
        assert_eq!((batch.id, batch.state), (held.id, DeliveryState::Pending));
        assert_eq!(log(&store, &account, &held).await.state, DeliveryState::Pending);
    });
}

#[test]
fn what_began_and_ended_inside_a_window_is_held_back_no_longer() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let window = MaintenanceWindow {
            ends_at: later(600),
            ..maintenance::window(&account, Some(site.id), 0)
        };
        store.create_maintenance_window(&window, 9).await.unwrap();
        let [passes, holds] = queued(&store, &account, &site, 2).await.try_into().unwrap();
        assert_eq!(gathered(&store, &account, later(1), 100).await, []);

        let end = Notice { status: NoticeStatus::Resolved, ..passes.notices[0].clone() };
        let next = AlertId(Uuid::new_v4());
        let next = Notice { alert_id: next, created_at: later(1), ..passes.notices[0].clone() };
        let both = Delivery {
            id: DeliveryId(Uuid::new_v4()),
            notices: vec![next.clone(), end],
            created_at: later(1),
            due_at: later(1),
            ..passes.clone()
        };
        committed(&store, &account, &site, &both).await;
        assert_eq!(gathered(&store, &account, later(2), 100).await, []);
        let alert = passes.notices[0].alert_id;
        let told = store.deliveries_of(account.id, alert, 9).await.unwrap().unwrap();
        assert_eq!((told[0].id, told[0].finished_at), (passes.id, Some(later(2))));
        assert_eq!((told[1].id, told[1].due_at), (both.id, later(600)));
        assert!(told.iter().all(|one| one.state == DeliveryState::Silenced), "{told:?}");

        let mut left = lane(&store, &account, later(600)).await.waiting;
        left.sort_by_key(|delivery| delivery.created_at);
        let left: Vec<_> = left.into_iter().map(|one| (one.id, one.notices)).collect();
        assert_eq!(left, [(holds.id, holds.notices), (both.id, vec![next])]);
    });
}

/// Queues a delivery with a run that finds nothing new.
async fn committed(store: &Store, account: &Account, site: &Site, delivery: &Delivery) {
    let context = store.check_context(account.id, site.id, &ssl()).await.unwrap().unwrap();
    let found = vec![changed("f1")];
    let decision = decide(&context, record(site, &ssl(), delivery.created_at), found);
    let deliveries = std::slice::from_ref(delivery);
    let run = Commit { deliveries, ..plain(account, context.state.version, &decision) };
    store.commit(run).await.unwrap();
}

#[test]
fn what_maintenance_holds_back_is_not_counted_before_it_is_due() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let window = maintenance::window(&account, Some(site.id), 0);
        let window = MaintenanceWindow { ends_at: later(600), ..window };
        store.create_maintenance_window(&window, 9).await.unwrap();
        queued(&store, &account, &site, 3).await;
        assert_eq!(store.outbox_depth(later(1)).await.unwrap(), 3);
        assert_eq!(gathered(&store, &account, later(1), 100).await, []);
        assert_eq!(store.outbox_depth(later(2)).await.unwrap(), 0);
        assert_eq!(store.outbox_depth(later(600)).await.unwrap(), 3);
    });
}

#[test]
fn window_that_is_deleted_while_a_lane_is_gathered_holds_nothing_back() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let window = maintenance::window(&account, Some(site.id), 0);
        store.create_maintenance_window(&window, 9).await.unwrap();
        let held = only(queued(&store, &account, &site, 1).await);
        let context = lane(&store, &account, later(1)).await;
        let gathering = decided(&context, later(1), 100);
        assert_eq!(gathering.deferred, [(held.id, later(60))]);
        assert!(store.delete_maintenance_window(account.id, window.id, later(1)).await.unwrap());
        assert!(!claimed(&store, "a", &context, &gathering, later(1)).await);
        let batch = only(gathered(&store, &account, later(1), 100).await);
        assert_eq!(batch.id, held.id);
    });
}

#[test]
fn window_that_is_deleted_while_it_silences_something_holds_nothing_back() {
    interrupted::on_both(|engine| async move {
        let (store, other) = (engine.store(), engine.other());
        let (account, site) = with_site(&other).await;
        let window = maintenance::window(&account, Some(site.id), 0);
        other.create_maintenance_window(&window, 9).await.unwrap();
        let held = only(queued(&other, &account, &site, 1).await);
        let context = lane(&other, &account, later(1)).await;
        let gathering = decided(&context, later(1), 100);
        assert_eq!(gathering.deferred, [(held.id, later(60))]);
        let node = other.clone();
        engine.meanwhile(async move {
            assert!(claimed(&node, "a", &context, &gathering, later(1)).await);
        });
        assert!(store.delete_maintenance_window(account.id, window.id, later(1)).await.unwrap());
        let look = other.look_at_outbox(later(1), 9).await.unwrap();
        assert_eq!(look.waiting, [(account.id, "webhook".to_owned())]);
        let batch = only(gathered(&other, &account, later(1), 100).await);
        assert_eq!(batch.id, held.id);
    });
}

#[test]
fn what_was_silenced_and_is_over_is_dropped_and_says_so() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        let window = maintenance::window(&account, None, 0);
        store.create_maintenance_window(&window, 9).await.unwrap();
        let held = only(queued(&store, &account, &site, 1).await);
        assert_eq!(gathered(&store, &account, later(1), 100).await, []);
        let alert = held.notices[0].alert_id;
        store.set_alert_resolved(account.id, alert, true, later(20)).await.unwrap().unwrap();
        assert_eq!(gathered(&store, &account, later(60), 100).await, []);
        let told = log(&store, &account, &held).await;
        assert_eq!((told.state, told.finished_at), (DeliveryState::Silenced, Some(later(60))));
        assert_eq!(store.next_delivery_due().await.unwrap(), None);
    });
}

#[test]
fn batch_outlives_the_site_of_its_head_when_it_speaks_for_others() {
    on_embedded(|store| async move {
        let (account, first) = with_site(&store).await;
        let second = super::site(&account, "two.example.com");
        store.create_site(&second, 50, &[(ssl(), noon())]).await.unwrap();
        let head = only(queued(&store, &account, &first, 1).await);
        let other = only(queued(&store, &account, &second, 1).await);
        let context = lane(&store, &account, later(1)).await;
        let gathering = decided(&context, later(1), 100);
        let head_of = gathering.batches[0].head.id;
        assert!(claimed(&store, "a", &context, &gathering, later(1)).await);
        let gone = if head_of == head.id { &first } else { &second };
        store.delete_site(account.id, gone.id).await.unwrap();
        while store.purge_next(500).await.unwrap() {}
        store.recover_leases(later(2)).await.unwrap();
        let batch = only(store.lease_deliveries("b", later(2), LEASE, 9).await.unwrap());
        assert_eq!(batch.notices.len(), 2);
        let stays = if head_of == head.id { other } else { head };
        assert_eq!(log(&store, &account, &stays).await.state, DeliveryState::Merged);
    });
}

#[test]
fn site_that_is_deleted_while_its_lane_is_gathered_takes_only_its_own_along() {
    on_both(|store| async move {
        let (account, goes) = with_site(&store).await;
        let stays = super::site(&account, "two.example.com");
        store.create_site(&stays, 50, &[(ssl(), noon())]).await.unwrap();
        queued(&store, &account, &goes, 1).await;
        let kept = only(queued(&store, &account, &stays, 1).await);
        let context = lane(&store, &account, later(1)).await;
        store.delete_site(account.id, goes.id).await.unwrap();
        while store.purge_next(500).await.unwrap() {}
        let gathering = decided(&context, later(1), 100);
        assert!(!claimed(&store, "a", &context, &gathering, later(1)).await);
        let batch = only(gathered(&store, &account, later(1), 100).await);
        assert_eq!((batch.id, batch.notices), (kept.id, kept.notices));
    });
}

#[test]
fn lane_that_cannot_be_read_keeps_no_other_from_being_gathered() {
    on_both(|store| async move {
        let (broken, site) = with_site(&store).await;
        let bad = only(queued(&store, &broken, &site, 1).await);
        let unit = "UPDATE $bad SET doc = '{}' RETURN NONE";
        store.write(unit, Binds::new().with("bad", key::delivery(bad.id))).await.unwrap();
        let (account, site) = with_site(&store).await;
        let kept = only(queued(&store, &account, &site, 1).await);
        let lanes = [&broken, &account].map(|owner| (owner.id, "webhook".to_owned()));

        let mut read = store.lanes(&lanes, &[], later(1)).await.unwrap();
        let good = read.pop().unwrap().unwrap();
        assert_eq!(only(good.waiting).id, kept.id);
        let cause = only(read).unwrap_err();
        assert!(matches!(cause, Error::Corrupt { what: "delivery", .. }), "{cause}");

        let aside = [(lanes[0].clone(), later(30))];
        assert_eq!(store.postpone_lanes(&aside, later(1)).await.unwrap(), 0);
        let look = store.look_at_outbox(later(1), 9).await.unwrap();
        assert_eq!(look.waiting, [(account.id, "webhook".to_owned())]);
    });
}

#[test]
fn lane_that_is_put_aside_is_in_nobodys_way() {
    on_both(|store| async move {
        let (account, site) = with_site(&store).await;
        queued(&store, &account, &site, 3).await;
        let (other, others) = with_site(&store).await;
        queued(&store, &other, &others, 1).await;
        let aside = [((account.id, "webhook".to_owned()), later(5))];
        assert_eq!(store.postpone_lanes(&aside, later(1)).await.unwrap(), 0);
        let look = store.look_at_outbox(later(1), 9).await.unwrap();
        assert_eq!(look.waiting, [(other.id, "webhook".to_owned())]);
        assert_eq!(look.next, Some(later(5)));
        assert_eq!(lane(&store, &account, later(5)).await.waiting.len(), 3);
    });
}

#[test]
fn lanes_are_put_aside_while_the_same_are_gathered_and_none_is_divided() {
    on_both(|store| async move {
        let mut accounts = Vec::new();
        for _ in 0..20 {
            let (account, site) = with_site(&store).await;
            queued(&store, &account, &site, 3).await;
            accounts.push(account);
        }
        let compete = {
            let (store, accounts) = (store.clone(), accounts.clone());
            move |nth: usize| {
                let (store, accounts) = (store.clone(), accounts.clone());
                async move {
                    let Some(account) = accounts.get(nth) else {
                        let lane = |account: &Account| (account.id, "webhook".to_owned());
                        let aside: Vec<_> =
                            accounts.iter().map(|account| (lane(account), later(5))).collect();
                        return store.postpone_lanes(&aside, later(1)).await.unwrap();
                    };
                    let context = lane(&store, account, later(1)).await;
                    if !context.waiting.is_empty() {
                        let gathering = decided(&context, later(1), 100);
                        assert!(claimed(&store, "a", &context, &gathering, later(1)).await);
                    }
                    0
                }
            }
        };
        let left: usize = at_once(accounts.len() + 1, compete).await.into_iter().sum();
        let look = store.look_at_outbox(later(1), 99).await.unwrap();
        let due: std::collections::BTreeSet<_> = look.waiting.into_iter().collect();
        assert!(due.len() <= left, "{due:?} are due, and {left} were left");
        for account in &accounts {
            let waiting = lane(&store, account, later(5)).await.waiting.len();
            assert!(waiting == 0 || waiting == 3, "{waiting}");
        }
    });
}
