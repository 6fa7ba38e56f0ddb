//! Who follows the events of which account in this process: how many they are, and how they hear
//! that something was committed.
//!
//! *Invariant:* what is told here is a hint. A stream reads the store, and looks there by itself.
//! *Invariant:* memory is bounded by the two limits, and an account without streams has no entry.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use vedette_model::AccountId;

/// One per process.
pub(crate) struct Streams {
    shutdown: CancellationToken,
    rooms: Mutex<Rooms>,
}

#[derive(Default)]
struct Rooms {
    of: HashMap<AccountId, Room>,
    taken: usize,
}

struct Room {
    taken: usize,
    news: watch::Sender<()>,
}

/// A place among the streams, given back when it is dropped.
pub(crate) struct Seat {
    streams: Arc<Streams>,
    account: AccountId,
    news: watch::Receiver<()>,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    Account,
    Process,
}

impl Streams {
    /// `shutdown` ends all streams.
    pub(crate) fn new(shutdown: CancellationToken) -> Arc<Self> {
        Arc::new(Self { shutdown, rooms: Mutex::default() })
    }

    pub(crate) fn sit(self: &Arc<Self>, account: AccountId) -> Result<Seat, Full> {
        let mut rooms = self.rooms.lock();
        if rooms.taken >= MOST {
            return Err(Full::Process);
        }
        let room = rooms
            .of
            .entry(account)
            .or_insert_with(|| Room { taken: 0, news: watch::Sender::new(()) });
        if room.taken >= MOST_OF_ACCOUNT {
            return Err(Full::Account);
        }
        room.taken += 1;
        let news = room.news.subscribe();
        rooms.taken += 1;
        metrics::gauge!("vedette_event_streams").set(rooms.taken as f64);
        Ok(Seat { streams: Arc::clone(self), account, news })
    }

    /// Something of the account was committed.
    pub(crate) fn announce(&self, account: AccountId) {
        if let Some(room) = self.rooms.lock().of.get(&account) {
            room.news.send_replace(());
        }
    }

    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }
}

impl Seat {
    /// Waits until something was announced that was not heard yet.
    pub(crate) async fn news(&mut self) {
        if self.news.changed().await.is_err() {
            // The room lives as long as this seat.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut rooms = self.streams.rooms.lock();
        rooms.taken = rooms.taken.saturating_sub(1);
        if let Some(room) = rooms.of.get_mut(&self.account) {
            room.taken = room.taken.saturating_sub(1);
            if room.taken == 0 {
                rooms.of.remove(&self.account);
            }
        }
        metrics::gauge!("vedette_event_streams").set(rooms.taken as f64);
    }
}

pub(crate) const MOST_OF_ACCOUNT: usize = 10;
/// Each costs a task, a page of events and a look at the store every second.
const MOST: usize = 1_000;

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_account_has_ten_places_and_gets_them_back() {
        let streams = Streams::new(CancellationToken::new());
        let account = AccountId(Uuid::from_u128(1));
        let mut seats: Vec<Seat> =
            (0..MOST_OF_ACCOUNT).map(|_| streams.sit(account).expect("a place")).collect();
        assert_eq!(streams.sit(account).err(), Some(Full::Account));
        assert!(streams.sit(AccountId(Uuid::from_u128(2))).is_ok(), "others have their own");
        seats.pop();
        assert!(streams.sit(account).is_ok());
        seats.clear();
        assert!(streams.rooms.lock().of.is_empty());
        assert_eq!(streams.rooms.lock().taken, 0);
    }

    #[test]
    fn news_are_heard_by_the_account_alone_and_kept_until_then() {
        let streams = Streams::new(CancellationToken::new());
        let (mine, other) = (AccountId(Uuid::from_u128(1)), AccountId(Uuid::from_u128(2)));
        let mut seat = streams.sit(mine).expect("a place");
        streams.announce(other);
        assert_eq!(seat.news().now_or_never(), None);
        streams.announce(mine);
        streams.announce(mine);
        assert_eq!(seat.news().now_or_never(), Some(()));
        assert_eq!(seat.news().now_or_never(), None);
    }
}
