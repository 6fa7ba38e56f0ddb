//! The built-in certificate check.
//!
//! A run ([`visit`]) makes one TLS handshake with the target (the host does it, parses the chain
//! and verifies it). Where the grade is wanted, raw hellos ([`hello`]) find out what else the server
//! accepts; they also show the chain of servers that no modern library can speak to. One HTTP
//! request brings the HSTS header and the page behind it, and a second handshake follows only
//! where a missing OCSP staple calls for another look. [`facts`] and [`grade`] turn that into the
//! result, [`assess`] turns results into findings. Everything besides the calls to the host is a
//! pure function over facts and bytes.
//!
//! *Invariant:* a server that is away, or whose certificate is bad, is a result with `error`;
//! only our own trouble is a `CheckError`.
//! *Invariant:* once a handshake was finished, every connection of the run goes to the address
//! that was inspected.

use std::time::Duration;

use vedette_sdk::{
    Assessment, Check, CheckError, Cx, Descriptor, Evidence, Job, MetricDef, Observation, date,
};

pub use config::Config;
pub use result::SslResult;
use visit::Seen;

mod assess;
pub mod config;
mod error;
mod events;
mod facts;
#[cfg(test)]
mod fixture;
mod front_page;
#[doc(hidden)]
pub mod fuzz;
mod grade;
mod hello;
mod hsts;
mod mixed_content;
pub mod result;
mod suites;
mod visit;

#[cfg(test)]
mod tests;

/// The check `ssl`.
#[derive(Debug)]
pub struct Ssl;

vedette_sdk::export_check!(Ssl);

const DAYS_REMAINING: &str = "ssl_days_remaining";
const HANDSHAKE: &str = "ssl_handshake_seconds";

impl Check for Ssl {
    type Config = Config;
    type Facts = SslResult;

    fn describe() -> Descriptor {
        Descriptor {
            id: "vedette.check-ssl",
            version: env!("CARGO_PKG_VERSION"),
            title: "TLS certificate",
            description: "Validity, expiry and chain of a server's certificate, protocol and \
                          cipher, OCSP stapling, HSTS and mixed content.",
            summary_fields: &["valid", "days_remaining", "issuer", "error"],
            events: events::ALL,
            metrics: &[
                MetricDef {
                    name: DAYS_REMAINING,
                    unit: "days",
                    help: "Whole days until the certificate expires",
                },
                MetricDef {
                    name: HANDSHAKE,
                    unit: "seconds",
                    help: "Duration of the TLS handshake",
                },
            ],
        }
    }

    fn run(cx: &Cx, job: Job<Config>) -> Result<Observation<SslResult>, CheckError> {
        visit::make(cx, &job).map(observe)
    }

    fn assess(evidence: Evidence<Config, SslResult>) -> Assessment {
        assess::assess(evidence)
    }
}

fn observe(seen: Seen) -> Observation<SslResult> {
    let summary = summary(&seen);
    let days = seen.result.days_remaining;
    let again_in = (!seen.result.valid).then_some(AGAIN);
    let mut observation = Observation::new(seen.result, summary);
    if let Some(days) = days {
        observation = observation.metric(DAYS_REMAINING, days as f64);
    }
    if let Some(micros) = seen.timing.and_then(|timing| timing.tls_us) {
        observation = observation.metric(HANDSHAKE, f64::from(micros) / 1e6);
    }
    observation.next_run_in = again_in;
    observation
}

/// An invalid certificate is told at once, and may be over as soon: the server was caught in a
/// reload, or its owner has fixed it. Six hours would be long to read of what is no longer so. The
/// host waits longer each time, so that what is never valid is not looked at like this for ever.
const AGAIN: Duration = Duration::from_secs(10 * 60);

/// `valid, 60 days left, issued by R11`.
fn summary(seen: &Seen) -> String {
    let result = &seen.result;
    let verdict = result.error.as_deref().unwrap_or("valid");
    let Some(days) = result.days_remaining else {
        return verdict.to_owned();
    };
    // RFC 7633: browsers may refuse the certificate without one.
    let note =
        if seen.lacks_staple { "; it demands a staple that the server does not send" } else { "" };
    let issuer = vedette_sdk::text::cut(&result.issuer, MAX_ISSUER);
    format!("{verdict}, {}, issued by {issuer}{note}", date::left(days))
}

/// Of an issuer in the summary, in characters: the host refuses summaries beyond 1 KiB.
const MAX_ISSUER: usize = 200;
