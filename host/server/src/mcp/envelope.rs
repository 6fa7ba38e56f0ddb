//! From bytes to one JSON-RPC request, or to the reason why they are not one.
//!
//! *Invariant:* an id comes back exactly as it came: a string as that string, an integer as that
//! integer; whatever else stands in its place is refused and answered with null.

use serde_json::{Map, Value};

use super::{
    refusal::Refusal,
    request::{Method, Request},
};

/// What a body turned out to be.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    Request(Request),
    /// Something that wants no answer.
    Notification,
    Refused(Refusal),
}

impl Asked {
    /// `value` is the body; none where it is no JSON.
    pub(crate) fn of(value: Option<Value>) -> Self {
        let Some(value) = value else { return Self::Refused(Refusal::no_json()) };
        match read(value) {
            Ok(asked) => asked,
            Err(refusal) => Self::Refused(refusal),
        }
    }

    /// Whether it costs one of the month's calls: whatever looks into the account or at a host
    /// does, once or for as long as a stream lasts; the handshake and the listings do not
    /// (decisions: monthly calls).
    pub(crate) fn is_call(&self) -> bool {
        match self {
            Self::Request(request) => match request.method {
                Method::CallTool | Method::ReadResource | Method::Listen => true,
                Method::Initialize
                | Method::Ping
                | Method::Discover
                | Method::ListTools
                | Method::ListResources
                | Method::ListTemplates => false,
            },
            Self::Notification | Self::Refused(_) => false,
        }
    }
}

fn read(value: Value) -> Result<Asked, Refusal> {
    let mut members = match value {
        Value::Object(members) => members,
        Value::Array(_) => {
            return Err(Refusal::envelope("batches are not supported; send one request at a time"));
        }
        _ => return Err(Refusal::envelope("send a JSON-RPC request, which is an object")),
    };
    let id = match members.remove("id") {
        None => None,
        Some(id) if id.is_string() || id.is_i64() => Some(id),
        Some(_) => return Err(Refusal::envelope("id must be a string or an integer")),
    };
    let to = id.clone().unwrap_or(Value::Null);
    if members.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Refusal::envelope("jsonrpc must be \"2.0\"").to(to));
    }
    let Some(Value::String(name)) = members.remove("method") else {
        return Err(Refusal::envelope("method is required and must be a string").to(to));
    };
    let Some(id) = id else { return Ok(Asked::Notification) };
    let Some(method) = Method::named(&name) else {
        return Err(Refusal::no_method(&name).to(id));
    };
    let params = match members.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(Refusal::params("params must be an object").to(id)),
    };
    Request::new(id, method, params).map(Asked::Request)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::request::METHODS;

    fn code(value: Value) -> (i32, Value) {
        match Asked::of(Some(value.clone())) {
            Asked::Refused(refusal) => (refusal.code, refusal.id),
            other => panic!("{value}: {other:?}"),
        }
    }

    #[test]
    fn what_is_no_request_is_told_apart() {
        let call = |params: Value| json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let null = Value::Null;
        let cases = [
            (json!([]), -32600, null.clone()),
            (json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]), -32600, null.clone()),
            (json!("ping"), -32600, null.clone()),
            (json!(null), -32600, null.clone()),
            (json!({}), -32600, null.clone()),
            (json!({"id": 1, "method": "ping"}), -32600, json!(1)),
            (json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}), -32600, json!(1)),
            (json!({"jsonrpc": 2.0, "id": 1, "method": "ping"}), -32600, json!(1)),
            (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), -32600, null.clone()),
            (json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}), -32600, null.clone()),
            (json!({"jsonrpc": "2.0", "id": 1.0, "method": "ping"}), -32600, null.clone()),
            (json!({"jsonrpc": "2.0", "id": true, "method": "ping"}), -32600, null.clone()),
            (json!({"jsonrpc": "2.0", "id": u64::MAX, "method": "ping"}), -32600, null.clone()),
            (json!({"jsonrpc": "2.0", "id": {}, "method": "ping"}), -32600, null),
            (json!({"jsonrpc": "2.0", "id": "a"}), -32600, json!("a")),
            (json!({"jsonrpc": "2.0", "id": "a", "method": 5}), -32600, json!("a")),
            (json!({"jsonrpc": "2.0", "id": "a", "result": {}}), -32600, json!("a")),
            (json!({"jsonrpc": "2.0", "id": "", "method": "nope"}), -32601, json!("")),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "Ping"}), -32601, json!(1)),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}), -32601, json!(1)),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}), -32602, json!(1)),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}), -32602, json!(1)),
            (call(json!({})), -32602, json!(7)),
            (call(json!({"name": 5})), -32602, json!(7)),
            (call(json!({"name": "x", "arguments": []})), -32602, json!(7)),
            (call(json!({"name": "x", "arguments": "{}"})), -32602, json!(7)),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read"}), -32602, json!(1)),
            (
                json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}),
                -32602,
                json!(1),
            ),
        ];
        for (value, expected, id) in cases {
            assert_eq!(code(value.clone()), (expected, id), "{value}");
        }
        let Asked::Refused(refusal) = Asked::of(None) else { panic!("it is no JSON") };
        assert_eq!((refusal.code, refusal.id), (-32700, Value::Null));
    }

    #[test]
    fn requests_are_read_with_the_id_that_they_have() {
        for id in [json!(0), json!(-3), json!(i64::MAX), json!(""), json!("7"), json!("ü")] {
            let value = json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": null});
            let Asked::Request(request) = Asked::of(Some(value)) else { panic!("{id}") };
            assert_eq!((request.id, request.method), (id, Method::Ping));
        }
    }

    #[test]
    fn what_has_no_id_wants_no_answer() {
        for method in ["notifications/initialized", "tools/call", "nonsense"] {
            let value = json!({"jsonrpc": "2.0", "method": method, "params": 5});
            assert_eq!(Asked::of(Some(value)), Asked::Notification, "{method}");
        }
    }

    #[test]
    fn only_calls_reads_and_streams_cost_a_call() {
        for method in METHODS {
            let params = json!({"name": "x", "uri": "x", "notifications": {}});
            let value =
                json!({"jsonrpc": "2.0", "id": 1, "method": method.name(), "params": params});
            let costs = matches!(method, Method::CallTool | Method::ReadResource | Method::Listen);
            assert_eq!(Asked::of(Some(value)).is_call(), costs, "{}", method.name());
        }
    }
}
