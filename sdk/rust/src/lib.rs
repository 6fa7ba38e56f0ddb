//! The Rust SDK for Vedette plugins.
//!
//! A check is a type with four functions: it describes itself, validates a configuration, probes
//! a target and judges what was seen. A channel renders messages and interprets replies; of a chat
//! it says only the words, the limits and what a refusal means ([`Chat`]). The host does
//! everything else: it resolves, connects, times, stores, compares, sends and retries.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use vedette_sdk::{
//!     Assessment, Check, CheckError, Cx, Descriptor, EventType, Evidence, Finding, Health, Job,
//!     Observation, Severity, net, tcp::ExchangeRequest,
//! };
//!
//! struct Banner;
//!
//! #[derive(Default, Serialize, Deserialize, JsonSchema)]
//! #[serde(default)]
//! struct Settings {
//!     /// What the banner must contain.
//!     expect: String,
//! }
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Facts {
//!     banner: Option<String>,
//!     error: Option<String>,
//! }
//!
//! const WRONG: EventType = EventType {
//!     name: "banner.wrong",
//!     alert_type: "banner",
//!     severity: Severity::Warning,
//!     title: "Unexpected banner",
//!     self_resolving: true,
//!     confirmations: 2,
//!     clears: 1,
//! };
//!
//! impl Check for Banner {
//!     type Config = Settings;
//!     type Facts = Facts;
//!
//!     fn describe() -> Descriptor {
//!         Descriptor {
//!             id: "acme.banner",
//!             version: env!("CARGO_PKG_VERSION"),
//!             title: "Banner",
//!             description: "Reads what a server says first.",
//!             summary_fields: &["banner"],
//!             events: &[WRONG],
//!             metrics: &[],
//!         }
//!     }
//!
//!     fn run(cx: &Cx, job: Job<Settings>) -> Result<Observation<Facts>, CheckError> {
//!         let request = ExchangeRequest {
//!             endpoint: job.endpoint(25),
//!             // An exchange ends when the server closes: it is asked to.
//!             send: b"QUIT\r\n".to_vec(),
//!             max: 512,
//!             timeout_ms: 5_000,
//!         };
//!         let facts = match cx.exchange(&request) {
//!             Ok(bytes) => {
//!                 let banner = String::from_utf8_lossy(&bytes).trim_end().to_owned();
//!                 Facts { banner: Some(banner), error: None }
//!             }
//!             Err(error) => Facts { banner: None, error: Some(net::reason(&error)) },
//!         };
//!         Ok(Observation::new(facts, "read the banner"))
//!     }
//!
//!     fn assess(evidence: Evidence<Settings, Facts>) -> Assessment {
//!         match &evidence.current.banner {
//!             None => Assessment::new(Health::Unknown),
//!             Some(banner) if banner.contains(&evidence.config.expect) => {
//!                 Assessment::new(Health::Ok)
//!             }
//!             Some(banner) => Assessment::new(Health::Degraded)
//!                 .with(Finding::new(&WRONG, "banner", format!("the banner is {banner:?}"))),
//!         }
//!     }
//! }
//!
//! vedette_sdk::export_check!(Banner);
//!
//! // With the feature `testing`, a native double stands in for the host.
//! let host = vedette_sdk::testing::Host::new();
//! host.tcp(|_| Ok(b"220 mx.example ESMTP\r\n".to_vec()));
//! let job = Job::new("mx.example", Settings { expect: "ESMTP".to_owned() });
//! let seen = Banner::run(&host.cx(), job).expect("the plugin can check");
//! assert_eq!(seen.facts.banner.as_deref(), Some("220 mx.example ESMTP"));
//! ```
//!
//! *Invariant:* [`Cx`] is the only door to the host; nothing else in this crate calls an import.
//! *Invariant:* a component imports exactly the interfaces that its plugin's code reaches.
//! *Invariant:* natively nothing is exported, so a plugin is an ordinary crate to its tests.

#[cfg(all(target_arch = "wasm32", feature = "allocator"))]
#[allow(unsafe_code, reason = "an allocator hands out raw memory")]
mod allocator;
mod assessment;
#[cfg(feature = "charset")]
pub mod charset;
mod chat;
mod check;
pub mod client_hello;
mod config;
mod cx;
#[cfg(feature = "date")]
pub mod date;
pub mod dn;
mod http_date;
pub mod media_type;
pub mod message;
mod net_token;
mod notify;
mod request;
mod retry_after;
#[cfg(feature = "suffix")]
pub mod suffix;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;

#[doc(hidden)]
#[allow(unsafe_code, unreachable_pub, reason = "generated: the canonical ABI is raw pointers")]
pub mod bindings;
#[doc(hidden)]
pub mod export;

pub use assessment::{Assessment, Evidence, Finding, Health, Settled};
pub use chat::Chat;
pub use check::{Check, Descriptor, EventType, Job, MetricDef, Observation};
pub use config::{Config, Facts, NoConfig};
pub use cx::{Connection, Cx};
pub use notify::{
    Alert, ChannelDescriptor, Delivery, EmailDelivery, HttpDelivery, Notification, Notify, Receipt,
    Verdict,
};

pub use bindings::check::exports::vedette::plugin::checker::{CheckError, Metric};
pub use bindings::check::vedette::plugin::types::{Problem, Severity};

// What plugins derive with, in the version that the SDK speaks.
pub use {schemars, serde, serde_json};

/// What all probes share.
pub mod net {
    pub use crate::bindings::check::vedette::net::types::{Endpoint, NetError, Phase, Timing};
    pub use crate::net_token::{CERTIFICATE_TOKENS, certificate, connection_token, reason};
}

/// Name lookups: [`Cx::lookup`](crate::Cx::lookup).
pub mod dns {
    pub use crate::bindings::check::vedette::net::dns::{Answer, Dnssec, Question, Rr};
}

/// Certificates read and judged by the host: [`Cx::examine`](crate::Cx::examine).
pub mod x509 {
    pub use crate::bindings::check::vedette::net::x509::{Certificate, Examination, Verification};
}

/// TLS handshakes: [`Cx::inspect`](crate::Cx::inspect).
pub mod tls {
    pub use crate::bindings::check::vedette::net::tls::{InspectRequest, Report, Starttls};
}

/// HTTP requests: [`Cx::fetch`](crate::Cx::fetch).
pub mod http {
    pub use crate::bindings::check::vedette::net::http::{Arrival, Hop, Request, Response};
}

/// Byte exchanges and dialogues: [`Cx::exchange`](crate::Cx::exchange).
pub mod tcp {
    pub use crate::Connection;
    pub use crate::bindings::check::vedette::net::tcp::ExchangeRequest;
}

/// Log levels: [`Cx::log`](crate::Cx::log).
pub mod log {
    pub use crate::bindings::check::vedette::env::log::Level;
}

/// What a plugin keeps between runs: [`Cx::state`](crate::Cx::state).
pub mod state {
    pub use crate::bindings::check::vedette::env::state::{Scope, StateError};
}

/// Values that the operator set for the plugin: [`Cx::secret`](crate::Cx::secret).
pub mod secrets {
    pub use crate::bindings::check::vedette::env::secrets::SecretError;
}
