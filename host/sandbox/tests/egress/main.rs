//! The egress layer and the probes against real servers on loopback.

mod aia;
mod dns;
mod dnssec;
#[path = "../encoding/mod.rs"]
mod encoding;
mod examine;
mod http;
mod inspect;
mod lab;
mod ocsp;
mod pki;
mod reach;
mod redirect;
mod smtp;
mod starttls;
mod tcp;
mod uplink;
mod vectors;

use vedette_sandbox::{egress, probes};
