//! What Vedette remembers: SurrealDB, and nothing else knows it.
//!
//! One [`Store`] stands before an engine inside the process (`mem://`, `surrealkv://path`) or a
//! server that many nodes share (`ws://`, `wss://`). There is one file per resource, named as in
//! the model; [`commit`] is the one transaction that makes a decision real.
//!
//! *Invariant:* SurrealQL stays in this crate; only `tx.rs` sends it, but for the question whether a
//! server is there (`remote.rs`), and input is always bound.
//! *Invariant:* every call that a customer can cause names the account first; what belongs to
//! somebody else does not exist.
//! *Invariant:* no clock: `now` is a parameter. (Events that nobody has numbered yet are put in
//! order by a UUID v7, from which no time is read.)
//! *Invariant:* a limit holds exactly, because each transaction under it writes the same row.
//! *Invariant:* rows are read forward and bounded (of alerts by how long they are kept); totals of
//! what grows with time (checks, alerts, incidents) come from counters.
//! *Invariant:* secrets are sealed before they are bound ([`Seal`]); the model refuses to write one
//! anywhere else.

mod account;
mod agent;
mod alert;
mod api_key;
mod background;
mod billing;
mod cert_history;
mod check;
mod commit;
mod delivery;
mod discard;
mod engine;
mod error;
mod event;
mod identity;
mod incident;
mod key;
mod known;
mod lane;
mod letter;
mod maintenance;
mod migrate;
mod node;
mod open;
mod order;
mod page;
mod plugin_state;
mod purge;
mod record;
mod remote;
mod renewal;
mod reseal;
mod retention;
mod row;
mod schedule;
mod seal;
mod server;
mod settings;
mod site;
mod status_page;
mod status_page_domain;
mod team;
mod tx;
mod unit;
mod usage;
mod used;
mod welcome;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::Mutex;

use engine::Engine;

pub use agent::{FoundAgent, SilentAgent};
pub use api_key::Rolled;
pub use billing::BillingContext;
pub use check::CheckContext;
pub use commit::{Commit, Settle};
pub use delivery::Wanted;
pub use discard::Discarded;
pub use error::{Error, Result};
pub use event::EventPage;
pub use known::{Found, Person, Stamp, Team};
pub use lane::{Claim, LaneContext, Look};
pub use open::{Options, folder};
pub use page::{CheckFilter, Page};
pub use plugin_state::StateScope;
pub use renewal::RenewalLease;
pub use retention::Forgotten;
pub use schedule::{Lease, Runs};
pub use seal::{KeyError, Seal};
pub use status_page::PageOwner;
pub use status_page_domain::Holding;
pub use usage::Counted;

/// What the clocks of two nodes may differ by. A moment that is further ahead was told by a clock
/// that has been set back since.
pub const CLOCKS_DIFFER: std::time::Duration = std::time::Duration::from_secs(5);

/// A handle on what is remembered; clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Arc<dyn Engine>,
    seal: Seal,
    /// Writers of this process to one and the same row take turns: the engine would let one of
    /// them through and send all others back.
    turns: [Mutex<()>; 64],
    /// Apart from those, for leasing checks and deliveries: a change of a site that its checks are in
    /// conflict with may keep its turn for seconds.
    scheduling: Mutex<()>,
    sending: Mutex<()>,
    /// Whether other nodes were at work on the database when that was asked last.
    has_peers: AtomicBool,
    /// Whether the database itself failed at the last unit of work, as where its disk is full.
    refuses_writes: AtomicBool,
    calls: usage::Turnstile,
    readings: usage::Readings,
    known: known::Known,
    revisions: check::Revisions,
}

impl Store {
    fn new(engine: Arc<dyn Engine>, seal: Seal) -> Self {
        let turns = std::array::from_fn(|_| Mutex::new(()));
        let inner = Inner {
            engine,
            seal,
            turns,
            scheduling: Mutex::default(),
            sending: Mutex::default(),
            has_peers: AtomicBool::new(false),
            refuses_writes: AtomicBool::new(false),
            calls: usage::Turnstile::default(),
            readings: usage::Readings::default(),
            known: known::Known::default(),
            revisions: check::Revisions::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Another node on the same database: it shares the rows and nothing else.
    #[cfg(test)]
    fn without_memory(&self) -> Self {
        Self::new(Arc::clone(&self.inner.engine), self.inner.seal.clone())
    }

    /// Waits until no other task of this process writes a row that many writers want.
    async fn turn(&self, row: uuid::Uuid) -> tokio::sync::MutexGuard<'_, ()> {
        self.inner.turns[self.place(row)].lock().await
    }

    /// The same for several rows. The places are taken in one order, whoever asks, so that no two
    /// wait for each other; two rows may have one place.
    async fn turns<const N: usize>(
        &self,
        rows: [uuid::Uuid; N],
    ) -> Vec<tokio::sync::MutexGuard<'_, ()>> {
        let places: BTreeSet<usize> = rows.into_iter().map(|row| self.place(row)).collect();
        let mut turns = Vec::with_capacity(N);
        for place in places {
            turns.push(self.inner.turns[place].lock().await);
        }
        turns
    }

    fn place(&self, row: uuid::Uuid) -> usize {
        usize::from(row.as_bytes()[15]) % self.inner.turns.len()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("embedded", &self.embedded()).finish()
    }
}

#[cfg(test)]
mod tests;
