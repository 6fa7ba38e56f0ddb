//! More than one look at the store takes up. The clock stands: nothing is found by itself.

use std::{convert::Infallible, future::pending, sync::Arc};

use parking_lot::Mutex;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use vedette_model::{
    Delivery, DeliveryState, InvitationId, NotificationSettings, Role, Secret,
    delivery::{LETTER, Outcome},
    edition::STANDARD,
    team::Invitation,
};
use vedette_store::Look;

use super::*;
use crate::{
    App, Clock,
    clock::ManualClock,
    instance,
    work::{
        lanes::receiver,
        outbox::Work,
        sample::{at, delivery, queue, telling},
    },
};

#[test]
fn lanes_that_are_due_are_taken_up_however_many_there_are() {
    // What is due at a whole second is found by every look only from the next second on.
    let (clock, hand) = Clock::manual(at(1));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        queue(&app, &owner, &each_of_its_own(LOOK + 44, "webhook")).await;
        let mut outbox = outbox(&app);
        work_off(&mut outbox, &hand).await;
        let left = left(&app).await;
        assert_eq!((left.waiting.len(), left.batches), (0, false));
    });
}

#[test]
fn lanes_of_a_channel_that_is_not_here_are_left_to_others_first_and_hold_nobody_back() {
    let (clock, hand) = Clock::manual(at(1));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        let mut waiting = each_of_its_own(LOOK + 44, "pager");
        waiting.push(telling(owner.account.id, "webhook", 1_000));
        queue(&app, &owner, &waiting).await;
        let mut outbox = outbox(&app);
        // They are of the moment 0.
        while app.clock.now() < at(4) {
            outbox.take_up().await;
            end(&mut outbox).await;
            hand.advance(LOOK_AGAIN);
        }
        let still = left(&app).await.waiting;
        assert_eq!(still.len(), LOOK + 44);
        assert!(still.iter().all(|(_, channel)| channel == "pager"));

        hand.set(at(6));
        work_off(&mut outbox, &hand).await;
        assert_eq!(left(&app).await.waiting.len(), 0, "nobody has taken them up");
    });
}

#[test]
fn batch_of_a_channel_that_is_on_no_node_waits_as_for_any_trouble_of_ours() {
    let (clock, _) = Clock::manual(at(10));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        let mut outbox = paging(&app).await;
        outbox.take_up().await;
        end(&mut outbox).await;
        let batch = leased(&app, at(11)).await.pop().expect("it is due again");
        assert_eq!((batch.attempt, batch.state), (0, DeliveryState::Pending));
        let reason = "no plugin for the channel pager is installed";
        assert_eq!(batch.last_error.as_deref(), Some(reason));
    });
}

#[test]
fn batch_of_a_channel_that_is_not_here_is_left_to_others_whenever_it_is_due() {
    let (clock, hand) = Clock::manual(at(10));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        let mut outbox = paging(&app).await;
        // It becomes a batch, which is due again at 11.
        for (moment, is_left) in [(10, false), (11, true), (15, true), (16, false)] {
            hand.set(at(moment));
            outbox.know(Some(at(moment)));
            outbox.take_up().await;
            end(&mut outbox).await;
            let look = app.store.look_at_outbox(at(moment), 1).await.expect("the store answers");
            assert_eq!(look.batches, is_left, "{moment}");
        }
    });
}

/// With something to tell on a channel whose plugin is not here.
async fn paging(app: &Arc<App>) -> Outbox {
    let owner = instance::owner(app, &STANDARD).await;
    let account = owner.account.id;
    let pager = json!({ "pager_url": "https://pager.example/" });
    let pager = pager.as_object().cloned().expect("an object");
    let set = |settings: &mut NotificationSettings| {
        settings.plugin_channels.insert("pager".to_owned(), Secret::new(pager.clone()));
        Ok::<(), Infallible>(())
    };
    let changed = app.store.update_settings(account, set).await;
    assert!(changed.is_ok_and(|changed| changed.is_ok()));
    queue(app, &owner, &[telling(account, "pager", 1)]).await;
    outbox(app)
}

#[test]
fn batches_that_are_due_are_leased_however_many_there_are() {
    let (clock, _) = Clock::manual(at(0));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        write(&app, 3 * BATCH + 8).await;
        let mut outbox = outbox(&app);
        outbox.take_up().await;
        assert!(leased(&app, app.clock.now()).await.is_empty());
        end(&mut outbox).await;
    });
}

#[test]
fn batch_that_a_task_has_still_is_not_sent_again_when_its_lease_has_ended() {
    let (clock, hand) = Clock::manual(at(0));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        write(&app, 2).await;
        let (sent, unsent) = {
            let mut leased = leased(&app, at(0)).await.into_iter();
            (leased.next().expect("it is due"), leased.next().expect("it is due, too"))
        };
        hand.advance(LEASE);
        let now = app.clock.now();
        let mut outbox = outbox(&app);
        // It waits for the database to write down what became of it.
        let id = outbox.tasks.spawn(pending()).id();
        let held = Arc::new(Mutex::new(Some(sent.clone())));
        outbox.out.insert(id, Work { receiver: receiver(&sent), held });
        outbox.take_up().await;
        let settle = |batch: Delivery| {
            let store = app.store.clone();
            async move { store.settle_delivery(&batch.after(Outcome::Delivered, now)).await }
        };
        assert!(!settle(unsent).await.expect("the store answers"), "it was taken up");
        assert!(settle(sent).await.expect("the store answers"));
    });
}

#[test]
fn batch_that_is_given_back_after_days_in_which_nobody_ran_waits_for_our_own_trouble_still() {
    let monday = at(3 * 24 * 3_600);
    let (clock, _) = Clock::manual(monday);
    instance::with_idle_app(instance::config(), clock, move |app| async move {
        write(&app, 1).await;
        let later = monday + Duration::from_secs(2);
        send::give_back(&app, first_letter(&app, monday).await, later).await;
        let unsent = Outcome::Unsent("no DNS server answers".to_owned());
        let waits = first_letter(&app, later).await.after(unsent, later);
        assert_eq!((waits.attempt, waits.state), (0, DeliveryState::Pending));
    });
}

/// One that nobody stops.
fn outbox(app: &Arc<App>) -> Outbox {
    Outbox::new(Arc::clone(app), CancellationToken::new())
}

/// The first of those that [`write`] has be due, leased.
async fn first_letter(app: &App, now: Timestamp) -> Delivery {
    let id = DeliveryId(Uuid::from_u128(1));
    let mut due = leased(app, now).await.into_iter();
    due.find(|delivery| delivery.id == id).expect("it is due")
}

/// What another node takes of the batches that are due.
async fn leased(app: &App, now: Timestamp) -> Vec<Delivery> {
    let wanted = Wanted { channels: &[], others_first: now, held: &[] };
    let leased = app.store.lease_batches(wanted, "another", now, LEASE, BATCH).await;
    leased.expect("the store answers")
}

/// Waits until all that was begun has ended.
async fn end(outbox: &mut Outbox) {
    while let Some(ended) = outbox.tasks.join_next_with_id().await {
        outbox.ended(ended);
    }
}

/// Until there is nothing to do for a while.
async fn work_off(outbox: &mut Outbox, hand: &ManualClock) {
    loop {
        let next = outbox.take_up().await;
        // What ends makes room, and the loop looks again.
        let is_idle = outbox.tasks.is_empty();
        end(outbox).await;
        if is_idle && next > outbox.app.clock.now() + LOOK_AGAIN {
            break;
        }
        hand.advance(LOOK_AGAIN);
    }
}

/// What there is to do within the hour.
async fn left(app: &App) -> Look {
    let later = app.clock.now() + Duration::from_secs(3_600);
    app.store.look_at_outbox(later, 2 * LOOK).await.expect("the store answers")
}

/// Has letters be due, each of another account.
async fn write(app: &App, count: usize) {
    let owner = instance::owner(app, &STANDARD).await;
    let invitation = Invitation {
        id: InvitationId(Uuid::from_u128(1)),
        owner_id: owner.account.id,
        email: "ops@shop.example".to_owned(),
        role: Role::Viewer,
        hash: "of a token".to_owned(),
        created_at: at(0),
        expires_at: at(60),
    };
    let letters = each_of_its_own(count, LETTER);
    app.store.invite(&invitation, 9, 1_000, &letters).await.expect("it is written");
}

fn each_of_its_own(count: usize, channel: &str) -> Vec<Delivery> {
    (1..=count as u128).map(|nth| delivery(nth, channel, nth)).collect()
}
