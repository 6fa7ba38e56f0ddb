//! The Vedette service: API, services, background work and the command line.
//!
//! A request goes limits → caller → parse → service → {store, sandbox, model} → JSON; a due check
//! goes lease → sandbox → pipeline → store → outbox. [`serve`] starts all of it in one process.
//!
//! *Invariant:* inside the crate dependencies go one way: `api → service` and `work → service`;
//! `service` never names salvo.
//! *Invariant:* the time is asked of [`Clock`] alone, so that a test can move it.

pub mod app;
pub mod cli;
pub mod clock;
pub mod config;
pub mod error;
pub mod limits;
pub mod oidc;
pub mod pulse;
pub mod service;
pub mod streams;
pub mod wake;
pub mod work;

mod api;
mod default_folder;
mod document;
mod listen;
mod mcp;
mod metric_help;
mod plugin_state;
mod plugins;
mod schema;
mod seal_key;
mod start;
mod status_page;
mod tls;
mod trouble;

pub use app::{Agent, App, Caller};
pub use clock::Clock;
pub use config::Config;
pub use error::{Error, Result};
pub use start::{Running, Stopped, serve};
pub use wake::Wake;
