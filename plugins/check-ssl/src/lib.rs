//! The built-in certificate check.
//!
//! A run makes one TLS handshake with the target (the host does it, parses the chain and verifies
//! it), one HTTP request for the HSTS header and the page behind it, and a second handshake only
//! where a missing OCSP staple calls for another look. [`facts`] turns that into the result,
//! [`assess`] turns results into findings. Everything besides the calls to the host is a pure
//! function over facts and bytes.
//!
//! *Invariant:* a server that is away, or whose certificate is bad, is a result with `error`;
//! only our own trouble is a `CheckError`.
//! *Invariant:* every connection of a run after the first goes to the address that was inspected.

use std::time::Duration;

use vedette_sdk::{
    Assessment, Check, CheckError, Cx, Descriptor, Evidence, Job, MetricDef, Observation,
    net::Endpoint,
    tls::{InspectRequest, Report},
};

pub use config::Config;
use front_page::FrontPage;
pub use result::SslResult;

mod assess;
pub mod config;
mod date;
mod dn;
mod error;
mod events;
mod facts;
#[cfg(test)]
mod fixture;
mod front_page;
mod hsts;
mod mixed_content;
pub mod result;
mod suites;
mod text;

#[cfg(test)]
mod tests;

/// The check `ssl`.
#[derive(Debug)]
pub struct Ssl;

vedette_sdk::export_check!(Ssl);

const DEFAULT_PORT: u16 = 443;
/// For the handshake, and for what the host fetches to judge the chain.
const INSPECT: Duration = Duration::from_secs(8);
/// For the second look at the staple.
const SECOND_LOOK: Duration = Duration::from_secs(3);
/// What a run needs after its last probe.
const RESERVE: Duration = Duration::from_millis(500);

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
        let now = cx.now();
        let endpoint = job.endpoint(DEFAULT_PORT);
        let starttls = job.config.starttls(endpoint.port);
        let request = InspectRequest {
            endpoint,
            // The endpoint's host: `connect_to` replaces the address alone.
            server_name: None,
            // Offering none keeps servers of any protocol talking.
            alpn: Vec::new(),
            starttls,
            complete: true,
            timeout_ms: timeout_ms(cx, INSPECT),
        };
        let report = match cx.inspect(&request) {
            Ok(report) => report,
            Err(error) => {
                let token = error::of_connection(error)?;
                let result = facts::of_failure(&job.target, token);
                let summary = summary(&result);
                return Ok(Observation::new(result, summary));
            }
        };
        let connect_to = Some(report.peer_address.clone());
        let pinned = Endpoint { connect_to, ..request.endpoint };
        let page = match starttls {
            None => FrontPage::visit(cx, &pinned),
            Some(_) => FrontPage::default(),
        };
        let again = InspectRequest { endpoint: pinned, complete: false, ..request };
        let report = with_second_staple(cx, report, again);
        let mut result = facts::of_report(&job.target, &report, now);
        result.hsts = page.hsts;
        result.mixed_content = page.mixed_content;
        Ok(observe(result, &report))
    }

    fn assess(evidence: Evidence<Config, SslResult>) -> Assessment {
        assess::assess(evidence)
    }
}

/// A server may fetch its staple only when asked for the first time (nginx does, after each
/// reload), so a missing one is looked for once more, last of all.
fn with_second_staple(cx: &Cx, mut first: Report, again: InspectRequest) -> Report {
    let missing = facts::stapling(&first.examination) == Some(false);
    if !missing || cx.remaining() < SECOND_LOOK {
        return first;
    }
    let request = InspectRequest { timeout_ms: timeout_ms(cx, SECOND_LOOK), ..again };
    if let Ok(second) = cx.inspect(&request)
        && second.chain.first() == first.chain.first()
        && facts::stapling(&second.examination) == Some(true)
    {
        first.examination.ocsp_staple = second.examination.ocsp_staple;
    }
    first
}

/// Never 0, which would stand for all the time that is left.
fn timeout_ms(cx: &Cx, at_most: Duration) -> u32 {
    let time = cx.remaining().saturating_sub(RESERVE).min(at_most);
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1)
}

fn observe(result: SslResult, report: &Report) -> Observation<SslResult> {
    let summary = summary(&result);
    let days = result.days_remaining;
    let mut observation = Observation::new(result, summary);
    if let Some(days) = days {
        observation = observation.metric(DAYS_REMAINING, days as f64);
    }
    if let Some(micros) = report.timing.tls_us {
        observation = observation.metric(HANDSHAKE, f64::from(micros) / 1e6);
    }
    observation
}

/// `valid, 60 days left, issued by R11`.
fn summary(result: &SslResult) -> String {
    let verdict = result.error.as_deref().unwrap_or("valid");
    let Some(days) = result.days_remaining else {
        return verdict.to_owned();
    };
    let days = if days == 1 { "1 day".to_owned() } else { format!("{days} days") };
    format!("{verdict}, {days} left, issued by {}", result.issuer)
}
