//! What happened in an account, kept for a while for the readers of its streams.
//!
//! A commit leaves an unnumbered row in its own transaction, and only while the account's feed is
//! open ([`note`]). Rows get their numbers afterwards, from whoever reads or purges first: those
//! that are committed, in one transaction that writes the feed's row ([`number`]). So commits of
//! one account never wait for each other, and yet a number is visible only when all smaller ones
//! are.
//!
//! *Invariant:* what is committed after a feed was opened is kept, however long before that its
//! transaction began. The engine lets a transaction commit although a row that it only read has
//! changed since; so each reads the gate for update, a row that openings alone write, also where
//! there is none yet. Either it is committed before the feed is open, or it is in conflict with the
//! opening, runs again and finds it open. Openings are never sent back by those who read it.
//! *Invariant:* a reader that has seen a number misses nothing by never asking for a smaller one.
//! *Invariant:* reads are ranges of numbers, so they cost what they answer.

mod feed;
mod note;
mod number;
mod page;

use serde::{Deserialize, Serialize};
use vedette_model::event::{AlertEvent, CheckChange, IncidentChange};

pub(crate) use note::{NOTE, of_alerts, of_check, of_incident};
pub use page::EventPage;

/// What a row keeps of an event, beside where its record and its incident are.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    check: CheckChange,
    alerts: Vec<AlertEvent>,
    incident: Option<IncidentChange>,
}
