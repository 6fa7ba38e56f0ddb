//! More than one look at the store takes up. The clock stands: nothing is found by itself.

use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;
use vedette_model::{
    CheckRecord, CheckState, Decision, InvitationId, Role, delivery::LETTER, edition::STANDARD,
    team::Invitation,
};
use vedette_store::Commit;

use super::*;
use crate::{
    App, Clock, instance, service,
    work::sample::{at, delivery},
};

#[test]
fn lanes_that_are_due_are_taken_up_however_many_there_are() {
    // What is due at a whole second is found by every look only from the next second on.
    let (clock, hand) = Clock::manual(at(1));
    instance::with_idle_app(instance::config(), clock, |app| async move {
        queue(&app, LOOK + 44).await;
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

/// Has deliveries wait, each in a lane of its own, and tells nobody.
async fn queue(app: &App, count: usize) {
    let owner = instance::owner(app, &STANDARD).await;
    let body = json!({ "domain": "shop.example", "monitoring_enabled": false });
    let site = service::site::create(app, &owner, &body).await.expect("a good body");
    let account = owner.account.id;
    let record = CheckRecord { site_id: site.id, ..service::sample::record() };
    let context = app.store.check_context(account, site.id, &record.check_type).await;
    let before = context.expect("the store answers").expect("its site").state.version;
    let decision = Decision {
        record,
        turned: false,
        state: CheckState { version: before + 1, ..CheckState::default() },
        raised: Vec::new(),
        updated: Vec::new(),
        resolved: Vec::new(),
        notices: Vec::new(),
        cert_changes: Vec::new(),
        recheck: false,
        at_once: false,
        unconfirmed_runs: 0,
    };
    let commit = Commit {
        account_id: account,
        node: &app.node,
        expected_version: before,
        decision: &decision,
        deliveries: &each_of_its_own(count, "webhook"),
        settle: None,
        next_due: None,
    };
    app.store.commit(commit).await.expect("it is committed");
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
