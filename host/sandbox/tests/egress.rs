//! The egress layer and the probes against real servers on loopback.

use vedette_sandbox::{egress, probes};

#[path = "egress/aia.rs"]
mod aia;
#[path = "egress/dns.rs"]
mod dns;
#[path = "egress/dnssec.rs"]
mod dnssec;
#[path = "egress/examine.rs"]
mod examine;
#[path = "egress/http.rs"]
mod http;
#[path = "egress/inspect.rs"]
mod inspect;
#[path = "egress/lab.rs"]
mod lab;
#[path = "egress/ocsp.rs"]
mod ocsp;
#[path = "egress/pki.rs"]
mod pki;
#[path = "egress/reach.rs"]
mod reach;
#[path = "egress/redirect.rs"]
mod redirect;
#[path = "egress/smtp.rs"]
mod smtp;
#[path = "egress/starttls.rs"]
mod starttls;
#[path = "egress/tcp.rs"]
mod tcp;
#[path = "egress/vectors.rs"]
mod vectors;
