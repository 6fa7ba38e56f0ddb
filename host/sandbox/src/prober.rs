//! What answers a plugin's probes: the network through the egress layer, or a recording of an
//! earlier run.
//!
//! A recording is the `[[probe]]` part of a case file:
//! ```toml
//! [[probe]]
//! call = "tcp.exchange"
//! request = { endpoint = { host = "example.com", port = 25 }, send = "", max = 512, timeout_ms = 0 }
//! response = { Ok = "220 mail.example.com ESMTP\r\n" }
//! ```
//! Requests and answers have the shape of the contract's records, with `_` for `-`; what is absent
//! is none. Bytes are text, or `hex:…` where they are no UTF-8.
//!
//! *Invariant:* what a [`Recorder`] wrote down, a [`Recording`] of it answers: a run sees the same
//! again, its time and its random bytes included.

mod bytes;
mod recorder;
mod recording;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::{
    recorder::{Recorded, Recorder},
    recording::Recording,
};
use crate::egress::Egress;

/// What answers.
#[derive(Clone)]
pub(crate) enum Prober {
    Live {
        egress: Egress,
        /// Writes down what is asked and answered.
        recorder: Option<Arc<Recorder>>,
    },
    Recorded(Arc<Recording>),
}

/// One probe of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Interface and function, e.g. `tls.inspect`.
    pub call: String,
    pub request: Value,
    pub response: Value,
}

impl Prober {
    /// Whether the run is one that can be had again, to the last byte.
    pub(crate) fn repeats(&self) -> bool {
        !matches!(self, Self::Live { recorder: None, .. })
    }
}
