//! What a site may set for this check.
//!
//! *Invariant:* the bounds in the schema and those of [`Config::checked`] are the same numbers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vedette_sdk::Problem;

use crate::expected::{self, Expected, MAX_EXPECTED, OneOrMany};

/// How the site is asked, and what counts as up. Everything has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Path and query to ask for, e.g. `/health?full=1`.
    #[schemars(length(min = 1, max = MAX_PATH), extend("pattern" = "^/"))]
    pub path: String,
    /// `auto` asks over https; over http only where port 443 refuses the connection or, on a
    /// site's own port, where the port does not speak TLS, or says nothing to it. What answers over
    /// http alone is down where https was seen before. `https` and `http` ask in that way alone.
    pub scheme: Scheme,
    /// Status codes that count as up: codes (`401`) and ranges (`"200-299"`), one or a list. Empty:
    /// every code below 400. With redirects followed it is the last answer's code that counts.
    #[serde(deserialize_with = "expected::one_or_many")]
    #[schemars(with = "OneOrMany")]
    pub expected_status: Vec<Expected>,
    /// A text that the page must contain: case-sensitive, looked for in the first megabyte of the
    /// page's source, at most 1000 bytes of UTF-8. Absent: the page is not looked at.
    #[schemars(length(min = 1, max = MAX_KEYWORD))]
    pub keyword: Option<String>,
    /// Milliseconds above which the site counts as degraded; 0: never.
    #[schemars(range(max = MAX_DEGRADED_MS))]
    pub degraded_ms: u32,
    /// Whether a certificate that browsers would not accept counts as down.
    pub verify_tls: bool,
    /// Whether redirects are followed, at most ten; otherwise a redirect is an answer like any
    /// other.
    pub follow_redirects: bool,
    /// Milliseconds after which an attempt is given up, all redirects and the page included.
    #[schemars(range(min = MIN_TIMEOUT_MS, max = MAX_TIMEOUT_MS))]
    pub timeout_ms: u32,
}

/// The protocol that the site is asked in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    #[default]
    Auto,
    Https,
    Http,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            path: "/".to_owned(),
            scheme: Scheme::Auto,
            expected_status: Vec::new(),
            keyword: None,
            degraded_ms: 5_000,
            verify_tls: true,
            follow_redirects: true,
            timeout_ms: 10_000,
        }
    }
}

impl Config {
    /// The configuration, if it is within its bounds; else everything that has to be changed.
    pub(crate) fn checked(self) -> Result<Self, Vec<Problem>> {
        let keyword = self.keyword.as_deref();
        let wrong = [
            ("/path", path_problem(&self.path)),
            (
                "/expected_status",
                (self.expected_status.len() > MAX_EXPECTED)
                    .then(|| format!("must have at most {MAX_EXPECTED} entries")),
            ),
            ("/keyword", keyword.and_then(keyword_problem)),
            (
                "/degraded_ms",
                (self.degraded_ms > MAX_DEGRADED_MS)
                    .then(|| format!("must be between 0 (off) and {MAX_DEGRADED_MS}")),
            ),
            (
                "/timeout_ms",
                (!(MIN_TIMEOUT_MS..=MAX_TIMEOUT_MS).contains(&self.timeout_ms))
                    .then(|| format!("must be between {MIN_TIMEOUT_MS} and {MAX_TIMEOUT_MS}")),
            ),
        ];
        let problems: Vec<Problem> = wrong
            .into_iter()
            .filter_map(|(pointer, message)| {
                Some(Problem { pointer: pointer.to_owned(), message: message? })
            })
            .collect();
        if problems.is_empty() { Ok(self) } else { Err(problems) }
    }

    /// Whether the status code counts as up.
    pub(crate) fn expects(&self, status: u16) -> bool {
        match self.expected_status.as_slice() {
            [] => status < 400,
            expected => expected.iter().any(|expected| expected.contains(status)),
        }
    }

    /// For one attempt.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.into())
    }
}

/// What could be read in two ways is refused before a URL is made of it.
fn path_problem(path: &str) -> Option<String> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    let message = match path {
        path if !path.starts_with('/') => "must start with /".to_owned(),
        path if path.len() > MAX_PATH => format!("must have at most {MAX_PATH} bytes"),
        path if path.contains('#') => {
            "must not contain #: what follows it is never sent".to_owned()
        }
        path if path.contains(odd) => {
            "must not contain blanks, control characters or backslashes; write them as %20 and \
             the like"
                .to_owned()
        }
        _ => return None,
    };
    Some(message)
}

fn keyword_problem(keyword: &str) -> Option<String> {
    match keyword.len() {
        0 => Some("must not be empty; leave it out to look for nothing".to_owned()),
        length if length > MAX_KEYWORD => {
            Some(format!("must have at most {MAX_KEYWORD} bytes, not {length}"))
        }
        _ => None,
    }
}

const MAX_PATH: usize = 2_048;
const MAX_KEYWORD: usize = 1_000;
const MAX_DEGRADED_MS: u32 = 60_000;
const MIN_TIMEOUT_MS: u32 = 1_000;
/// Leaves some of a run's 30 seconds to a second attempt over http.
const MAX_TIMEOUT_MS: u32 = 25_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(config: Config) -> Vec<(String, String)> {
        let problems = config.checked().expect_err("something is wrong");
        problems.into_iter().map(|problem| (problem.pointer, problem.message)).collect()
    }

    #[test]
    fn empty_configuration_is_the_documented_defaults() {
        let config: Config = serde_json::from_value(json!({})).expect("everything has a default");
        assert_eq!(config, Config::default());
        assert_eq!(
            json!(config.checked().expect("the defaults keep their bounds")),
            json!({
                "path": "/", "scheme": "auto", "expected_status": [], "keyword": null,
                "degraded_ms": 5000, "verify_tls": true, "follow_redirects": true,
                "timeout_ms": 10000,
            }),
        );
        assert!(serde_json::from_value::<Config>(json!({"pth": "/"})).is_err());
    }

    #[test]
    fn status_below_400_is_expected_unless_configured() {
        let unset = Config::default();
        for (status, up) in [(200, true), (301, true), (399, true), (400, false), (503, false)] {
            assert_eq!(unset.expects(status), up, "{status}");
        }
        let config: Config = serde_json::from_value(json!({"expected_status": [401, "200-204"]}))
            .expect("codes and ranges");
        for (status, up) in [(401, true), (200, true), (204, true), (205, false), (301, false)] {
            assert_eq!(config.expects(status), up, "{status}");
        }
        for one in [json!(401), json!("401")] {
            let config: Config =
                serde_json::from_value(json!({"expected_status": one})).expect("a code by itself");
            assert!(config.expects(401) && !config.expects(200), "{one}");
            assert_eq!(json!(config)["expected_status"], json!([401]));
        }
        for wrong in [json!("300-200"), json!([200, "300-200"])] {
            let refused = serde_json::from_value::<Config>(json!({"expected_status": wrong}));
            let said = refused.expect_err("no range").to_string();
            assert!(said.contains("must not be above the last"), "{said}");
        }
    }

    #[test]
    fn every_problem_is_named_at_once_and_by_its_place() {
        let wrong = Config {
            path: "health".to_owned(),
            keyword: Some(String::new()),
            degraded_ms: 60_001,
            timeout_ms: 999,
            expected_status: vec!["200".parse().expect("a code"); 33],
            ..Config::default()
        };
        assert_eq!(
            problems(wrong),
            [
                ("/path", "must start with /"),
                ("/expected_status", "must have at most 32 entries"),
                ("/keyword", "must not be empty; leave it out to look for nothing"),
                ("/degraded_ms", "must be between 0 (off) and 60000"),
                ("/timeout_ms", "must be between 1000 and 25000"),
            ]
            .map(|(pointer, message)| (pointer.to_owned(), message.to_owned())),
        );
    }

    #[test]
    fn path_is_one_that_every_parser_reads_alike() {
        for path in ["/", "/a/b?c=d&e", "//x", "/@evil.example", "/ü", "/%20", "/a:80"] {
            let config = Config { path: path.to_owned(), ..Config::default() };
            assert!(config.checked().is_ok(), "{path}");
        }
        let long = format!("/{}", "x".repeat(2_048));
        for path in ["", "x", "?q", "/a b", "/a\r\nX: y", "/a\\b", "/a#b", "/\u{a0}", &long] {
            let config = Config { path: path.to_owned(), ..Config::default() };
            assert_eq!(problems(config)[0].0, "/path", "{path:?}");
        }
    }

    #[test]
    fn keyword_is_bounded_in_bytes() {
        let keyword = |keyword: String| Config { keyword: Some(keyword), ..Config::default() };
        assert!(keyword("é".repeat(500)).checked().is_ok());
        assert_eq!(
            problems(keyword("é".repeat(501))),
            [("/keyword".to_owned(), "must have at most 1000 bytes, not 1002".to_owned())],
        );
    }
}
