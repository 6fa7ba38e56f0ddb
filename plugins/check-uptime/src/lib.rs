//! The built-in uptime check.
//!
//! A run asks for one page as a visitor would: over https, over http only where that is all the
//! site serves ([`config`]). What it brought becomes the result, with the time of each phase; a
//! site is up, degraded or down by its status code, its time and, if configured, a keyword. The
//! verdict turns results into findings: down and degraded are one alert, and a recovery is told
//! once. Everything besides the calls to the host is a pure function over facts and bytes.
//!
//! *Invariant:* a site that is away is a result with `error`; only our own trouble is a
//! `CheckError`, and says nothing of the site.
//! *Invariant:* nothing is retried inside a run: failures are confirmed by runs of their own, on
//! fresh connections.

use vedette_sdk::{
    Assessment, Check, CheckError, Cx, Descriptor, Evidence, Job, MetricDef, Observation, Problem,
    http::Arrival,
};

pub use config::Config;
pub use result::{Phases, Status, UptimeResult};
use visit::Visit;

mod assess;
pub mod config;
mod error;
mod events;
pub mod expected;
mod facts;
mod old_tls;
mod redirect;
pub mod result;
mod visit;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

/// The check `uptime`.
#[derive(Debug)]
pub struct Uptime;

vedette_sdk::export_check!(Uptime);

const UP: &str = "uptime_up";
const RESPONSE: &str = "uptime_response_seconds";
const FIRST_BYTE: &str = "uptime_ttfb_seconds";

impl Check for Uptime {
    type Config = Config;
    type Facts = UptimeResult;

    fn describe() -> Descriptor {
        Descriptor {
            id: "vedette.check-uptime",
            version: env!("CARGO_PKG_VERSION"),
            title: "Uptime",
            description: "Whether a site answers as expected, how fast, and where the time went: \
                          name resolution, connection, TLS, first byte, transfer.",
            summary_fields: &["status", "status_code", "response_time_ms", "error"],
            events: events::ALL,
            metrics: &[
                MetricDef { name: UP, unit: "1", help: "1 unless the site is down, then 0" },
                MetricDef {
                    name: RESPONSE,
                    unit: "seconds",
                    help: "From the first request to the end of the last answer, or of the wait for \
                           one that a redirect leads to",
                },
                MetricDef {
                    name: FIRST_BYTE,
                    unit: "seconds",
                    help: "From the first request to the first byte of the last answer",
                },
            ],
        }
    }

    fn validate(_target: &str, config: Config) -> Result<Config, Vec<Problem>> {
        config.checked()
    }

    fn run(cx: &Cx, job: Job<Config>) -> Result<Observation<UptimeResult>, CheckError> {
        if let Some(port) = job.port.filter(|port| OTHER_PROTOCOLS.contains(port)) {
            let reason = format!("port {port} is not a web server's: it has no page to ask for");
            return Err(CheckError::UnsupportedTarget(reason));
        }
        let visit = Visit::make(cx, &job);
        if let Some((url, error)) = visit.unanswered()
            && old_tls::is_in_the_way(cx, &job, url, error)
        {
            return Err(CheckError::UnsupportedTarget(old_tls::REASON.to_owned()));
        }
        if let Some((_, error)) = visit.unanswered()
            && error::is_too_large_handshake(error)
        {
            return Err(CheckError::UnsupportedTarget(error::TOO_LARGE_HANDSHAKE.to_owned()));
        }
        let Visit { url, outcome, failed_url } = visit;
        let result = match outcome {
            Ok(Arrival { response, failure: None }) => {
                facts::of_answer(url, &response, &job.config)
            }
            Ok(Arrival { response, failure: Some(error) }) => {
                let token = error::of_request(&error)?;
                facts::of_head(url, &response, failed_url.as_deref(), token)
            }
            Err(error) => facts::of_failure(url, error::of_request(&error)?),
        };
        Ok(observe(result))
    }

    fn assess(evidence: Evidence<Config, UptimeResult>) -> Assessment {
        assess::assess(evidence)
    }
}

/// Ports of mail, news, chat, telephony, directories, files, shells and databases. Sites on them are
/// there for their certificates; asking them for a page would find every one of them down. All are
/// here that no request may go to, for whatever listens there is not asked.
const OTHER_PROTOCOLS: [u16; 85] = [
    7, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512,
    513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 853, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3306, 3659, 4045, 4190, 5060, 5061, 5222, 5269, 5432, 6000, 6566,
    6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

fn observe(result: UptimeResult) -> Observation<UptimeResult> {
    let summary = summary(&result);
    let up = if result.status == Status::Down { 0.0 } else { 1.0 };
    let times = (result.status_code > 0).then_some((result.response_time_ms, result.ttfb_ms));
    let observation = Observation::new(result, summary).metric(UP, up);
    match times {
        None => observation,
        Some((response, first_byte)) => observation
            .metric(RESPONSE, response / 1_000.0)
            .metric(FIRST_BYTE, first_byte / 1_000.0),
    }
}

/// `up, HTTP 200 in 123 ms`; `down, unexpected_status, HTTP 503 in 80 ms`.
fn summary(result: &UptimeResult) -> String {
    let status = match result.status {
        Status::Up => "up",
        Status::Degraded => "degraded",
        Status::Down => "down",
    };
    let error = result.error.as_ref().map(|error| format!(", {error}")).unwrap_or_default();
    if result.status_code == 0 {
        return format!("{status}{error}");
    }
    format!("{status}{error}, HTTP {} in {:.0} ms", result.status_code, result.response_time_ms)
}
