//! What every refusal has in common.

use serde_json::Value;
use vedette_tests::Answer;

/// Spec: Rate limits; on every answer, whatever it is.
pub(crate) const LIMIT_HEADERS: [&str; 6] = [
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-monthlylimit-limit",
    "x-monthlylimit-used",
    "x-monthlylimit-remaining",
];

/// The answer is an error of this status, in JSON, with the six headers; `what` says of which
/// request. Returns the sentence that it tells the client.
#[track_caller]
pub(crate) fn refused(answer: &Answer, status: u16, what: &str) -> String {
    assert_eq!(answer.status, status, "{what}: {}", answer.text);
    limit_headers(answer, what);
    let kind = answer.header("content-type").unwrap_or_default();
    assert!(kind.starts_with("application/json"), "{what}: {kind}: {}", answer.text);
    let body = answer.json();
    assert!(body["error"].is_string(), "{what}: {body}");
    match &body["message"] {
        Value::String(message) => message.clone(),
        other => panic!("{what}: a message that is no text: {other}"),
    }
}

/// The six headers are integers that fit each other.
#[track_caller]
pub(crate) fn limit_headers(answer: &Answer, what: &str) {
    let [limit, remaining, reset, month, used, left] =
        LIMIT_HEADERS.map(|name| answer.number(name));
    assert!((0..=limit).contains(&remaining), "{what}: {remaining} of {limit}");
    assert!(reset > 1_700_000_000, "{what}: {reset}");
    assert_eq!(used + left, month, "{what}");
}
