//! The check `{{type}}`: what a TCP server says first, and whether that is what it should say.
//!
//! `run` meets the world through [`Cx`], and only there. `validate` and `assess` are pure: the
//! host gives them no network, and the same arguments must give the same answer.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vedette_sdk::{
    Assessment, Check, CheckError, Cx, Descriptor, EventType, Evidence, Finding, Health, Job,
    MetricDef, Observation, Problem, Severity, message,
    net::{NetError, Phase, connection_token},
    text,
};

/// The check `{{type}}`.
#[derive(Debug)]
pub struct Banner;

vedette_sdk::export_check!(Banner);

/// What a site may set for this check. Everything has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The server's port. Absent: the site's own, or 22.
    pub port: Option<u16>,
    /// A text that the banner must contain. Empty: any banner will do.
    pub expected: String,
    /// Milliseconds after which the server is given up.
    pub timeout_ms: u32,
}

/// What a run saw: stored, answered by the API, and judged by `assess`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// The first line that the server sent.
    pub banner: Option<String>,
    /// Whether the banner contains the expected text; none without a banner.
    pub matched: Option<bool>,
    /// Why there is no banner: `connection_refused`, `connection_timeout`, `no_banner`, …
    pub error: Option<String>,
}

/// The server says something different.
const UNEXPECTED: EventType = EventType {
    name: "{{type}}.unexpected",
    alert_type: "{{type}}",
    severity: Severity::Warning,
    title: "Unexpected banner",
    self_resolving: true,
    confirmations: 2,
    clears: 1,
};

/// The server says nothing, or is not there.
const SILENT: EventType = EventType {
    name: "{{type}}.silent",
    alert_type: "{{type}}",
    severity: Severity::Critical,
    title: "No banner",
    self_resolving: true,
    confirmations: 2,
    clears: 1,
};

const RESPONSE: &str = "{{type}}_response_seconds";

impl Check for Banner {
    type Config = Config;
    type Facts = Facts;

    fn describe() -> Descriptor {
        Descriptor {
            id: "{{id}}",
            version: env!("CARGO_PKG_VERSION"),
            title: "{{title}}",
            description: "Reads what a TCP server says first and compares it with what is expected.",
            summary_fields: &["banner", "matched", "error"],
            events: &[UNEXPECTED, SILENT],
            metrics: &[MetricDef {
                name: RESPONSE,
                unit: "seconds",
                help: "From the start of the connection to the banner",
            }],
        }
    }

    fn validate(_target: &str, config: Config) -> Result<Config, Vec<Problem>> {
        let problems = config.problems();
        if problems.is_empty() {
            Ok(config)
        } else {
            Err(problems)
        }
    }

    fn run(cx: &Cx, job: Job<Config>) -> Result<Observation<Facts>, CheckError> {
        let started = cx.now_ms();
        match read_banner(cx, &job) {
            Ok(banner) if !banner.is_empty() => {
                let seconds = (cx.now_ms() - started) as f64 / 1_000.0;
                let summary = format!("says {banner:?}");
                let matched = banner.contains(&job.config.expected);
                let facts = Facts {
                    banner: Some(banner),
                    matched: Some(matched),
                    error: None,
                };
                Ok(Observation::new(facts, summary).metric(RESPONSE, seconds))
            }
            Ok(_) => Ok(nothing("no_banner")),
            Err(error) => Ok(nothing(token(&error)?)),
        }
    }

    fn assess(evidence: Evidence<Config, Facts>) -> Assessment {
        let Facts {
            banner,
            matched,
            error,
        } = evidence.current;
        match (banner, error) {
            (Some(_), _) if matched == Some(true) => Assessment::new(Health::Ok),
            (Some(banner), _) => {
                let said = format!("the server says {:?}", text::cut(&banner, 120));
                let finding = Finding::new(&UNEXPECTED, "banner", said)
                    .suggestion("look at what listens there, or correct `expected` of the check");
                Assessment::new(Health::Degraded).with(finding)
            }
            (None, Some(error)) => {
                let said = format!("the server sends no banner: {}", text::cut(&error, 120));
                let finding = Finding::new(&SILENT, "banner", said)
                    .suggestion("see whether the server runs and its port is open");
                Assessment::new(Health::Down).with(finding)
            }
            // A result that a client sent in, and that says nothing.
            (None, None) => Assessment::new(Health::Unknown),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: None,
            expected: String::new(),
            timeout_ms: 5_000,
        }
    }
}

impl Config {
    /// All that has to be changed, each by its place (a JSON pointer).
    fn problems(&self) -> Vec<Problem> {
        let wrong = [
            ("/port", self.port == Some(0), "must be between 1 and 65535"),
            (
                "/expected",
                self.expected.len() > 200,
                "must have at most 200 bytes",
            ),
            (
                "/timeout_ms",
                !(100..=10_000).contains(&self.timeout_ms),
                "must be between 100 and 10000",
            ),
        ];
        let wrong = wrong.into_iter().filter(|(_, is_wrong, _)| *is_wrong);
        let problem = |(pointer, _, message): (&str, bool, &str)| Problem {
            pointer: pointer.to_owned(),
            message: message.to_owned(),
        };
        wrong.map(problem).collect()
    }
}

/// The first line. Servers that speak first keep the connection open, so its end is not waited
/// for; what came before a silence or a reset is a banner too. All reads have one end: a server that
/// sends a byte now and then would hold the run until the host stops it, and then nothing is known.
fn read_banner(cx: &Cx, job: &Job<Config>) -> Result<String, NetError> {
    let mut endpoint = job.endpoint(DEFAULT_PORT);
    if let Some(port) = job.config.port {
        endpoint.port = port;
    }
    let timeout = Duration::from_millis(job.config.timeout_ms.into());
    let connection = cx.connect(&endpoint, job.config.timeout_ms)?;
    let reserve = cx.remaining().saturating_sub(timeout);
    let mut read: Vec<u8> = Vec::new();
    while read.len() < MOST && !read.contains(&b'\n') && cx.remaining() > reserve {
        let room = u32::try_from(MOST - read.len()).unwrap_or(u32::MAX);
        match connection.read(room, cx.timeout_ms(timeout, reserve)) {
            Ok(bytes) if bytes.is_empty() => break,
            Ok(bytes) => read.extend(bytes),
            Err(_) if !read.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    let line = read.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(message::plain(&String::from_utf8_lossy(line)))
}

/// What went wrong, in the words of the other checks. An error that says nothing of the server
/// ends the run.
fn token(error: &NetError) -> Result<&'static str, CheckError> {
    match error {
        NetError::Timeout(Phase::Receive) => Ok("no_banner"),
        error => Ok(connection_token(error)?.unwrap_or("protocol_error")),
    }
}

fn nothing(error: &str) -> Observation<Facts> {
    let facts = Facts {
        banner: None,
        matched: None,
        error: Some(error.to_owned()),
    };
    Observation::new(facts, format!("no banner, {error}"))
}

const DEFAULT_PORT: u16 = 22;
/// Bytes of a banner (RFC 4253, 4.2: SSH's has at most 255).
const MOST: usize = 255;

#[cfg(test)]
mod tests;
