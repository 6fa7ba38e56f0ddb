//! What the tests of the outbox send.

use uuid::Uuid;
use vedette_model::{AccountId, Delivery, DeliveryId, DeliveryState, Timestamp};

/// So many seconds after a moment that is always the same.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_790_000_000 + seconds, 0).expect("within the years")
}

/// A batch that nobody has tried to send yet.
pub(super) fn delivery(account: u128, channel: &str, id: u128) -> Delivery {
    Delivery {
        id: DeliveryId(Uuid::from_u128(id)),
        account_id: AccountId(Uuid::from_u128(account)),
        channel: channel.to_owned(),
        to: None,
        notices: Vec::new(),
        own: Vec::new(),
        batch_id: None,
        created_at: at(0),
        gathered_at: None,
        due_at: at(0),
        attempt: 0,
        epoch: 1,
        state: DeliveryState::Pending,
        rendered: None,
        last_error: None,
        finished_at: None,
    }
}
