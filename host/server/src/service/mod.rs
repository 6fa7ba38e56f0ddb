//! What the service does, one file per resource: the API and the work loops call it, and it calls
//! the store, the sandbox and the model.
//!
//! A request comes in as a [`Caller`](crate::Caller) and a JSON body; a result of a check, from
//! wherever it comes, goes through [`pipeline`] and no other way; what is to be sent goes through
//! [`channel`], for alerts as for tests.
//!
//! *Invariant:* nothing here knows HTTP or salvo; what went wrong is a [`crate::Error`].
//! *Invariant:* the account comes first: what belongs to somebody else is not found.
//! *Invariant:* "now" is the clock's of the [`App`](crate::App), asked once for a decision, and
//! anew after a wait.

pub mod account;
pub mod agent;
pub mod alert;
pub mod api_key;
pub mod billing;
pub mod check;
pub mod credential;
pub mod cron;
pub mod event;
pub mod incident;
pub mod maintenance;
pub mod overview;
pub mod owner;
pub mod plugin;
pub mod profile;
pub mod renewal;
pub mod settings;
pub mod site;
pub mod status_page;
pub mod team;
pub mod welcome;

pub(crate) mod channel;
pub(crate) mod doubt;
pub(crate) mod due;
pub(crate) mod letter;
pub(crate) mod pipeline;
pub(crate) mod plan;
pub(crate) mod planned;
pub(crate) mod result_schema;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod unanswered;

mod plugin_channel;
mod random;
mod session;
mod signature;
mod veil;
