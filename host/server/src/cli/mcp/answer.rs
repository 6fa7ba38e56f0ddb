//! What goes back to the client: the service's answers, each on one line, and errors that say what
//! to do where there is none.
//!
//! *Invariant:* pure, and no line has an end inside it.

use reqwest::Url;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::cli::client::{said, shown};

/// JSON-RPC: what was sent is not JSON.
pub(super) const PARSE: i64 = -32700;
/// JSON-RPC: what was sent is no request.
pub(super) const ENVELOPE: i64 = -32600;
/// JSON-RPC: it could not be carried out.
const INTERNAL: i64 = -32603;

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// A status that is no success.
    Refused {
        status: u16,
        retry_after: Option<u64>,
        body: String,
    },
    /// With the cause.
    Unreachable(String),
    Late,
    /// Something came that is no JSON.
    Garbled,
    TooLarge,
    /// A stream broke off before the answer.
    Ended,
}

/// The line of an answer over HTTP; None = nothing was answered.
pub(super) fn read(
    status: u16,
    retry_after: Option<u64>,
    body: String,
) -> Result<Option<String>, Failure> {
    if !(200..300).contains(&status) {
        return Err(Failure::Refused { status, retry_after, body });
    }
    if body.trim().is_empty() {
        return Ok(None);
    }
    one_line(&body).map(Some).ok_or(Failure::Garbled)
}

/// The same JSON without ends of lines, which only ever stand between its tokens.
pub(super) fn one_line(json: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(json).ok()?;
    Some(json.trim().replace(['\r', '\n'], " "))
}

/// Whether the line answers the request with this id.
pub(super) fn answers(line: &str, id: &Value) -> bool {
    let Ok(message) = serde_json::from_str::<Value>(line) else { return false };
    message.get("method").is_none() && message.get("id") == Some(id)
}

/// The version that an answer to `initialize` settles on.
pub(super) fn version(line: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(line).ok()?;
    answer["result"]["protocolVersion"].as_str().map(str::to_owned)
}

pub(super) fn error(id: &Value, code: i64, message: &str, data: Option<Value>) -> String {
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

impl Failure {
    pub(super) fn line(&self, id: &Value, url: &Url) -> String {
        error(id, INTERNAL, &self.message(url), self.data())
    }

    /// For the person who set the bridge up.
    pub(super) fn message(&self, url: &Url) -> String {
        let url = shown(url);
        match self {
            Self::Refused { status: 401, .. } => format!(
                "the service refused the API key: set VEDETTE_KEY (or --key) to a key of {url} \
                 that is neither expired, rolled nor deleted"
            ),
            Self::Refused { status: 404, .. } => {
                format!("there is no MCP endpoint at {url}: --url is wrong")
            }
            Self::Refused { status: 429, retry_after, body } => {
                let said = said(body).unwrap_or_else(|| "too many requests".to_owned());
                let wait = retry_after.map(|seconds| format!("; try again in {seconds} s"));
                // The service mostly says it itself.
                let wait = wait.filter(|wait| !said.ends_with(wait.as_str()));
                said + &wait.unwrap_or_default()
            }
            Self::Refused { status, body, .. } => match said(body) {
                Some(said) => format!("the service answered {status}: {said}"),
                None => format!("{url} answered {status}"),
            },
            Self::Unreachable(cause) => {
                format!("cannot reach {url}: {cause}; is the service running, and --url right?")
            }
            Self::Late => format!("{url} took too long to answer"),
            Self::Garbled => format!("{url} answered with something other than JSON"),
            Self::TooLarge => format!("{url} answered with more than can be passed on"),
            Self::Ended => format!("{url} broke off before it had answered; ask again"),
        }
    }

    fn data(&self) -> Option<Value> {
        let Self::Refused { status, retry_after, .. } = self else { return None };
        let mut data = Map::new();
        data.insert("status".to_owned(), json!(status));
        if let Some(seconds) = retry_after {
            data.insert("retry_after".to_owned(), json!(seconds));
        }
        Some(Value::Object(data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, retry_after: Option<u64>, body: &str) -> Failure {
        Failure::Refused { status, retry_after, body: body.to_owned() }
    }

    #[test]
    fn an_answer_is_one_line_or_none_or_a_failure() {
        let line = |text: &str| Ok(Some(text.to_owned()));
        for (status, body, expected) in [
            (200, "{\"id\":1}\n", line("{\"id\":1}")),
            (200, "{\r\n  \"id\": 1\n}", line("{    \"id\": 1 }")),
            (202, "", Ok(None)),
            (200, " \n", Ok(None)),
            (200, "<html>", Err(Failure::Garbled)),
            (500, "{}", Err(refused(500, None, "{}"))),
            (301, "", Err(refused(301, None, ""))),
        ] {
            assert_eq!(read(status, None, body.to_owned()), expected, "{status} {body:?}");
        }
        let large = "{\"n\":12345678901234567890123,\"s\":\"a\\nb\"}";
        assert_eq!(one_line(large).as_deref(), Some(large), "nothing inside it changes");
    }

    #[test]
    fn every_failure_is_told_with_the_id_and_what_to_do() {
        let url: Url = "https://v.example/v1/mcp".parse().expect("a URL");
        let limited = "{\"error\":\"rate_limited\",\"message\":\"10 requests a minute\"}";
        for (failure, words, data) in [
            (refused(401, None, "{}"), vec!["VEDETTE_KEY", "--key"], json!({"status": 401})),
            (refused(404, None, "{}"), vec!["--url"], json!({"status": 404})),
            (
                refused(429, Some(7), limited),
                vec!["10 requests a minute", "7 s"],
                json!({"status": 429, "retry_after": 7}),
            ),
            (refused(429, None, "slow"), vec!["too many requests"], json!({"status": 429})),
            (
                refused(413, None, "{\"error\":\"large\"}"),
                vec!["413", "large"],
                json!({"status": 413}),
            ),
            (refused(502, None, "<html>"), vec!["502", "v.example"], json!({"status": 502})),
            (Failure::Unreachable("refused".into()), vec!["v.example", "refused"], Value::Null),
            (Failure::Ended, vec!["ask again"], Value::Null),
        ] {
            let line = failure.line(&json!("a"), &url);
            assert!(!line.contains('\n'), "{line}");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            assert_eq!((&answer["id"], &answer["jsonrpc"]), (&json!("a"), &json!("2.0")));
            assert_eq!(answer["error"]["code"], INTERNAL);
            assert_eq!(answer["error"]["data"], data, "{failure:?}");
            let message = answer["error"]["message"].as_str().expect("a sentence");
            for word in words {
                assert!(message.contains(word), "{message:?} lacks {word:?}");
            }
        }
    }

    #[test]
    fn no_failure_tells_what_stands_in_the_address_beside_the_place() {
        let url: Url = "https://u:hunter2@v.example/v1/mcp?token=hunter2".parse().expect("a URL");
        for failure in [
            refused(401, None, "{}"),
            refused(404, None, "{}"),
            refused(502, None, "<html>"),
            Failure::Unreachable("refused".into()),
            Failure::Late,
            Failure::Garbled,
            Failure::TooLarge,
            Failure::Ended,
        ] {
            let line = failure.line(&json!(1), &url);
            assert!(line.contains("https://v.example/v1/mcp"), "{line}");
            assert!(!line.contains("hunter2"), "{line}");
        }
    }

    #[test]
    fn how_long_to_wait_is_told_once() {
        let url: Url = "https://v.example/v1/mcp".parse().expect("a URL");
        for said in ["too many requests", "too many requests; try again in 7 s"] {
            let body = json!({"error": "rate_limited", "message": said}).to_string();
            let message = refused(429, Some(7), &body).message(&url);
            assert_eq!(message, "too many requests; try again in 7 s");
        }
    }

    #[test]
    fn a_request_of_the_service_is_no_answer() {
        for (line, answered) in [
            (json!({"id": 1, "result": {}}), true),
            (json!({"id": 1, "error": {}}), true),
            (json!({"id": "1", "result": {}}), false),
            (json!({"id": 1, "method": "ping"}), false),
            (json!({"method": "notifications/tools/list_changed"}), false),
        ] {
            assert_eq!(answers(&line.to_string(), &json!(1)), answered, "{line}");
        }
    }
}
