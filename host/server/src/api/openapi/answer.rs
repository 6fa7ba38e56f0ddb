//! What the answers of all operations have in common: the headers, and the errors.

use serde_json::{Map, Value, json};

use super::schema::{reference, text};

/// The headers of every response.
pub(super) fn common_headers() -> Value {
    LIMIT_HEADERS
        .iter()
        .map(|(name, ..)| *name)
        .chain([REQUEST_ID])
        .map(|name| (name.to_owned(), header(name)))
        .collect::<Map<String, Value>>()
        .into()
}

/// A header of [`headers`].
pub(super) fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

/// `components/headers`.
pub(super) fn headers() -> Value {
    let integer = |description: &str, minimum: u32, example: u32| {
        json!({
            "description": description,
            "required": true,
            "schema": { "type": "integer", "minimum": minimum },
            "example": example,
        })
    };
    let mut headers: Map<String, Value> = LIMIT_HEADERS
        .iter()
        .map(|(name, description, example)| ((*name).to_owned(), integer(description, 0, *example)))
        .collect();
    let wait = "Seconds to wait until all limits admit a request again.";
    headers.insert(RETRY_AFTER.to_owned(), integer(wait, 1, 42));
    for (name, description, example) in TEXT_HEADERS {
        let header = json!({
            "description": description,
            "required": true,
            "schema": text(),
            "example": example,
        });
        headers.insert(name.to_owned(), header);
    }
    headers.into()
}

/// `components/responses`: the errors, each with the body that it has.
pub(super) fn responses() -> Value {
    let described = FAILURES.iter().map(|failure| {
        let mut headers = common_headers();
        let mut example = json!({ "error": failure.error, "message": failure.message });
        let mut schema = "Error";
        if failure.status == 401 {
            headers[CHALLENGE] = header(CHALLENGE);
        }
        if failure.status == 429 {
            headers[RETRY_AFTER] = header(RETRY_AFTER);
            example["retry_after"] = json!(42);
            schema = "RateLimitError";
        }
        let response = json!({
            "description": failure.meaning,
            "headers": headers,
            "content": {
                "application/json": { "schema": reference(schema), "example": example },
            },
        });
        (failure.name.to_owned(), response)
    });
    described.collect::<Map<String, Value>>().into()
}

/// `Error` and `RateLimitError`.
pub(super) fn schemas() -> Vec<(String, Value)> {
    let words: Vec<&str> = FAILURES.iter().map(|failure| failure.error).collect();
    let error = json!({
        "type": "string",
        "description": format!(
            "One word for programs: {}; method_not_allowed if the path has only other methods.",
            words.join(", ")
        ),
    });
    let message = json!({
        "type": "string",
        "description": "What to change, for people. Names the field that is wrong.",
    });
    let wait = json!({
        "type": ["integer", "null"],
        "minimum": 1,
        "description": "Seconds until a request is admitted again; equal to `Retry-After`.",
    });
    vec![
        (
            "Error".to_owned(),
            json!({
                "type": "object",
                "description": "The body of every error.",
                "required": ["error"],
                "properties": { "error": error, "message": message },
            }),
        ),
        (
            "RateLimitError".to_owned(),
            json!({
                "type": "object",
                "description": "The body of a 429.",
                "required": ["error", "message", "retry_after"],
                "properties": { "error": error, "message": message, "retry_after": wait },
            }),
        ),
    ]
}

/// The component that describes an error.
pub(super) fn failure_name(status: u16) -> &'static str {
    let found = FAILURES.iter().find(|failure| failure.status == status);
    found.expect("operations name errors of the table").name
}

/// An error as `api::reply` writes it.
struct Failure {
    status: u16,
    name: &'static str,
    meaning: &'static str,
    error: &'static str,
    message: &'static str,
}

/// On what is read, for `If-None-Match`.
pub(super) const ETAG: &str = "ETag";
/// On what is on its way out (RFC 9745).
pub(super) const DEPRECATION: &str = "Deprecation";
const REQUEST_ID: &str = "X-Request-Id";
const CHALLENGE: &str = "WWW-Authenticate";
const RETRY_AFTER: &str = "Retry-After";

const TEXT_HEADERS: [(&str, &str, &str); 4] = [
    (
        REQUEST_ID,
        "The request's own id, or one made for it. It is in the operator's log.",
        "0b6d7c1e-5f3a-4a58-9d27-1c0e8f4b2a96",
    ),
    (
        ETAG,
        "Identifies the content. Sent as `If-None-Match`, it is answered with 304 until the \
         content changes.",
        "W/\"5f1c3a0e9b7d42c8\"",
    ),
    (CHALLENGE, "The kind of credential that is wanted.", "Bearer"),
    (DEPRECATION, "Since when the operation is deprecated, as a Unix time.", "@1767225600"),
];
const LIMIT_HEADERS: [(&str, &str, u32); 6] = [
    ("X-RateLimit-Limit", "Requests that this address may make in a minute.", 60),
    ("X-RateLimit-Remaining", "Requests that are left to it now.", 59),
    ("X-RateLimit-Reset", "Unix time at which one more request is admitted.", 1_795_356_060),
    ("X-MonthlyLimit-Limit", "Calls per month of the plan; 0 without a credential.", 10_000),
    ("X-MonthlyLimit-Used", "Calls of this UTC month so far.", 128),
    ("X-MonthlyLimit-Remaining", "Calls that are left.", 9_872),
];

static FAILURES: [Failure; 8] = [
    Failure {
        status: 400,
        name: "BadRequest",
        meaning: "A parameter or a field is missing or outside its bounds. Nothing was changed.",
        error: "bad_request",
        message: "domain is required",
    },
    Failure {
        status: 401,
        name: "Unauthorized",
        meaning: "The credential is missing, wrong, expired or deleted.",
        error: "unauthorized",
        message: "send Authorization: Bearer and an API key",
    },
    Failure {
        status: 403,
        name: "Forbidden",
        meaning: "The plan does not include this, or all that it includes is in use.",
        error: "forbidden",
        message: "the free plan has 2 sites, and all are in use",
    },
    Failure {
        status: 404,
        name: "NotFound",
        meaning: "It does not exist, or is somebody else's. The answer is the same.",
        error: "not_found",
        message: "site not found",
    },
    Failure {
        status: 413,
        name: "PayloadTooLarge",
        meaning: "The body is larger than this operation accepts.",
        error: "payload_too_large",
        message: "the body is larger than this endpoint takes",
    },
    Failure {
        status: 429,
        name: "RateLimited",
        meaning: "A limit is used up: the address's, the account's, or the month's.",
        error: "rate_limited",
        message: "too many requests from this address; try again in 42 s",
    },
    Failure {
        status: 500,
        name: "ServerError",
        meaning: "Something went wrong on the service's side; the request can be tried again.",
        error: "server_error",
        message: "something went wrong on our side; the request can be tried again",
    },
    Failure {
        status: 503,
        name: "Unavailable",
        meaning: "The operator has not configured what the request needs.",
        error: "unavailable",
        message: "no mail relay is configured; set smtp.url and smtp.from",
    },
];
