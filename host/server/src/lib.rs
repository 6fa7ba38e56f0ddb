//! The Vedette service: API, services, background work and the command line.
//!
//! A request goes limits → caller → parse → service → {store, sandbox, model} → JSON; a due check
//! goes lease → sandbox → pipeline → store → outbox. [`serve`] starts all of it in one process.
//!
//! *Invariant:* inside the crate dependencies go one way: `api → mcp → service` and
//! `work → service`; only `api` and `listen` name salvo.
//! *Invariant:* what time it is is asked of [`Clock`] alone, so that a test can move it. How long
//! something has taken is the runtime's to say.

pub mod cli;
pub mod clock;
pub mod config;
pub mod limits;
pub mod service;

mod api;
mod app;
mod database;
mod default_folder;
mod document;
mod error;
#[cfg(test)]
mod instance;
mod listen;
mod mcp;
mod metric_help;
mod oidc;
mod plugin_state;
mod plugins;
mod pulse;
mod schema;
mod seal_key;
mod server_clock;
mod shortage;
mod start;
mod status_page;
mod streams;
mod tls;
mod trouble;
mod wake;
mod work;

pub use app::{Agent, App, Caller};
pub use clock::Clock;
pub use config::Config;
pub use error::{Error, Resource, Result};
pub use start::{Running, Stopped, serve};
