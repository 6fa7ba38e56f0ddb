//! More than one look at the store takes up. The clock stands: nothing is found by itself.

use std::sync::Arc;

use uuid::Uuid;
use vedette_model::{InvitationId, Role, delivery::LETTER, edition::STANDARD, team::Invitation};

use super::*;
use crate::{
    App, Clock, instance,
    work::sample::{at, delivery, queue},
};

#[test]
fn lanes_that_are_due_are_taken_up_however_many_there_are() {
    // What is due at a whole second is found by every look only from the next second on.
    let (clock, hand) = Clock::manual(at(1));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        let owner = instance::owner(&app, &STANDARD).await;
        queue(&app, &owner, &each_of_its_own(LOOK + 44, "webhook")).await;
        let mut outbox = Outbox::new(Arc::clone(&app));
        loop {
            let next = outbox.take_up().await;
            // What ends makes room, and the loop looks again.
            let is_idle = outbox.tasks.is_empty();
            end(&mut outbox).await;
            if is_idle && next > app.clock.now() + LOOK_AGAIN {
                break;
            }
            hand.advance(LOOK_AGAIN);
        }
        let later = app.clock.now() + Duration::from_secs(3_600);
        let left = app.store.look_at_outbox(later, LOOK).await.expect("the store answers");
        assert_eq!((left.waiting.len(), left.batches), (0, false));
    });
}

#[test]
fn batches_that_are_due_are_leased_however_many_there_are() {
    let (clock, _) = Clock::manual(at(0));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        write(&app, 3 * BATCH + 8).await;
        let mut outbox = Outbox::new(Arc::clone(&app));
        outbox.take_up().await;
        let left = app.store.lease_deliveries("another", app.clock.now(), LEASE, 1).await;
        assert!(left.expect("the store answers").is_empty());
        end(&mut outbox).await;
    });
}

/// Waits until all that was begun has ended.
async fn end(outbox: &mut Outbox) {
    while let Some(ended) = outbox.tasks.join_next_with_id().await {
        outbox.ended(ended);
    }
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
