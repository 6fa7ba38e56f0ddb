//! What a line of the client asks, as far as carrying it needs to know.
//!
//! *Invariant:* pure. What a message means is the service's to say: here it is only told apart
//! whether it is JSON, whether it is answered, and what HTTP wants mirrored in headers.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::answer;

#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Blank,
    /// Cannot be carried; this line is the answer.
    Refused(String),
    /// The client no longer waits for this id, written as JSON.
    Cancel(String),
    Post(Message),
}

#[derive(Debug, PartialEq)]
pub(super) struct Message {
    pub(super) body: String,
    /// `null` where it has none that an answer could repeat.
    pub(super) id: Value,
    /// Whether the client waits for an answer.
    pub(super) awaits: bool,
    method: String,
    /// The version that the message itself names: it has no session.
    version: Option<String>,
    /// What it is about, by its name or address.
    name: Option<String>,
}

impl Incoming {
    pub(super) fn read(line: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(line) else {
            let reason = "the line is not UTF-8";
            return Self::Refused(answer::error(&Value::Null, answer::PARSE, reason, None));
        };
        let text = text.trim();
        if text.is_empty() {
            return Self::Blank;
        }
        match serde_json::from_str(text) {
            Ok(value) => Self::understand(&value, text),
            Err(cause) => {
                let reason = format!("the line is not JSON: {cause}");
                Self::Refused(answer::error(&Value::Null, answer::PARSE, &reason, None))
            }
        }
    }

    fn understand(value: &Value, text: &str) -> Self {
        let method = value["method"].as_str().unwrap_or_default();
        let id = value.get("id");
        let params = &value["params"];
        if method == "notifications/cancelled" && id.is_none() {
            return Self::Cancel(params["requestId"].to_string());
        }
        let named = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            _ => None,
        };
        // A response of the client's own is answered as little as a notification.
        let is_response = value.get("result").is_some() || value.get("error").is_some();
        let awaits = if method.is_empty() { !is_response } else { id.is_some() };
        Self::Post(Message {
            body: text.to_owned(),
            id: id.filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default(),
            awaits,
            method: method.to_owned(),
            version: params["_meta"][VERSION].as_str().map(str::to_owned),
            name: named.map(str::to_owned),
        })
    }
}

impl Message {
    pub(super) fn is_initialize(&self) -> bool {
        self.method == "initialize"
    }

    /// Whether its answer ends only when one side wants it to.
    pub(super) fn is_subscription(&self) -> bool {
        self.method == "subscriptions/listen"
    }

    /// What HTTP wants to see without reading the body. `session` is the version that `initialize`
    /// agreed on.
    pub(super) fn headers(&self, session: Option<&str>) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some(version) = &self.version {
            headers.push((PROTOCOL_VERSION, header_value(version)));
            headers.push(("mcp-method", header_value(&self.method)));
            headers.extend(self.name.as_deref().map(|name| ("mcp-name", header_value(name))));
        } else if let Some(version) = session
            && !self.is_initialize()
        {
            headers.push((PROTOCOL_VERSION, header_value(version)));
        }
        headers
    }
}

/// As it is where a header can say it, else in base64 between the marks of the protocol.
fn header_value(value: &str) -> String {
    let printable = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let is_marked = value.starts_with("=?base64?") && value.ends_with("?=");
    if printable && value.trim() == value && !is_marked {
        return value.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(value))
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const PROTOCOL_VERSION: &str = "mcp-protocol-version";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn posted(value: &Value) -> Message {
        match Incoming::read(value.to_string().as_bytes()) {
            Incoming::Post(message) => message,
            other => panic!("{value}: {other:?}"),
        }
    }

    #[test]
    fn who_waits_for_an_answer() {
        for (message, id, awaits) in [
            (json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}), json!(1), true),
            (json!({"jsonrpc": "2.0", "id": "a", "method": "ping"}), json!("a"), true),
            (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), json!(null), true),
            (json!({"jsonrpc": "2.0", "id": [1], "method": "ping"}), json!(null), true),
            (json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), json!(null), false),
            (json!({"jsonrpc": "2.0", "id": 7, "result": {}}), json!(7), false),
            (json!({}), json!(null), true),
            (json!([]), json!(null), true),
            (json!(5), json!(null), true),
        ] {
            let read = posted(&message);
            assert_eq!((&read.id, read.awaits), (&id, awaits), "{message}");
            assert_eq!(read.body, message.to_string());
        }
    }

    #[test]
    fn what_cannot_be_carried_is_answered_here() {
        for line in [&b"{"[..], b"{} {}", b"no", b"\"\xff\""] {
            let Incoming::Refused(answer) = Incoming::read(line) else { panic!("{line:?}") };
            let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)));
        }
        for line in ["", "  ", "\r"] {
            assert_eq!(Incoming::read(line.as_bytes()), Incoming::Blank, "{line:?}");
        }
    }

    #[test]
    fn a_cancellation_names_the_id_with_its_type() {
        for (id, expected) in [(json!(3), "3"), (json!("3"), "\"3\"")] {
            let line = json!({"method": "notifications/cancelled", "params": {"requestId": id}});
            let read = Incoming::read(line.to_string().as_bytes());
            assert_eq!(read, Incoming::Cancel(expected.into()));
        }
    }

    #[test]
    fn headers_mirror_the_session_or_the_message() {
        let call = |params: Value| json!({"id": 1, "method": "tools/call", "params": params});
        let modern = json!({VERSION: "2026-07-28"});
        let version = |version: &str| (PROTOCOL_VERSION, version.to_owned());
        let method = ("mcp-method", "tools/call".to_owned());
        for (message, session, expected) in [
            (call(json!({"name": "check_ssl"})), None, vec![]),
            (call(json!({"name": "check_ssl"})), Some("2025-06-18"), vec![version("2025-06-18")]),
            (json!({"id": 1, "method": "initialize"}), Some("2025-06-18"), vec![]),
            (
                call(json!({"name": "check_ssl", "_meta": modern})),
                Some("2025-06-18"),
                vec![version("2026-07-28"), method.clone(), ("mcp-name", "check_ssl".into())],
            ),
            (call(json!({"_meta": modern})), None, vec![version("2026-07-28"), method]),
            (
                json!({"id": 1, "method": "tools/list", "params": {"name": "x", "_meta": modern}}),
                None,
                vec![version("2026-07-28"), ("mcp-method", "tools/list".into())],
            ),
        ] {
            assert_eq!(posted(&message).headers(session), expected, "{message}");
        }
    }

    #[test]
    fn what_a_header_cannot_say_is_wrapped() {
        for (value, expected) in [
            ("check_ssl", "check_ssl"),
            ("a b", "a b"),
            (" a", "=?base64?IGE=?="),
            ("é", "=?base64?w6k=?="),
            ("a\r\nb", "=?base64?YQ0KYg==?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(header_value(value), expected);
        }
    }
}
