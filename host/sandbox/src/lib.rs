//! Runs plugins: wasmtime, the egress layer and the host's probes; nothing else knows them.
//!
//! ```text
//! install: component → gate → registry
//! run:     job → schema → turn → egress policy → fresh instance ⇄ host functions → observation
//!                                                     grants → budget → probe → egress
//! assess, validate, render, interpret: fresh instance with log and clock only
//! ```
//!
//! *Invariant:* a plugin reaches what its manifest asked for, the operator granted and the egress
//! policy allows, and nothing else; by default only the target of the run.
//! *Invariant:* a fresh store and instance serve one call; whatever goes wrong, they are dropped.
//! *Invariant:* a plugin that breaks is our trouble ([`Stop`]); it says nothing of the target.
//! *Invariant:* guests and probes run on a runtime of their own, never the caller's.
//! *Invariant:* what a plugin answers is bounded, parsed and held against its schema before it
//! leaves this crate.

pub mod egress;
pub mod key_file;
pub mod mistake;
pub mod probes;
pub mod whole_file;

mod accept;
mod bindings;
mod breaker;
mod cache;
mod call;
mod channel;
mod check;
mod convert;
mod cost;
mod engine;
mod error;
mod gate;
mod grants;
mod hidden;
mod host;
mod install;
mod installed;
mod limits;
mod link;
mod manifest;
mod offline;
mod output;
mod prober;
mod pure;
mod registry;
mod run;
mod runtime;
mod sandbox;
mod schema;
mod slots;
mod standstill;
mod state;
mod underway;

pub use channel::{ChannelDescriptor, Notification, Receipt, Verdict};
pub use check::{CheckDescriptor, CheckVersion, Cost, Job, MetricDef, Problem, Ran};
pub use error::{PluginError, RunError, Stop, ValidateError};
pub use gate::{GateError, Read};
pub use grants::{
    Capabilities, Dns, Grant, Host, Http, Names, NoEntry, Origin, Place, Port, State, Tls,
};
pub use install::{examine, read};
pub use limits::{Limits, TARGET_RUNS};
pub use manifest::{Kind, Manifest, ManifestError, SECTION, Settings};
pub use prober::{Probe, Recorded, Recorder, Recording};
pub use sandbox::{Options, Sandbox, SandboxError};
pub use slots::PlannedRoom;
pub use state::{MemoryState, StateError, StateStore};
pub use underway::Question;
