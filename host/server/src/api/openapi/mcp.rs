//! `/mcp` and `/public/mcp`.

use serde_json::{Value, json};

use super::{
    operation::Operation,
    schema::{object, one_of, reference, said, text},
};

pub(super) const TAG: &str = "Assistants";

pub(super) fn operations() -> Vec<Operation> {
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "list_alerts", "arguments": {} },
    });
    let called = json!({
        "jsonrpc": "2.0", "id": 1,
        "result": { "content": [{ "type": "text", "text": "{…}" }], "structuredContent": {} },
    });
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let listed = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [] } });
    let streamed = json!({ "schema": text(), "example": STREAM });
    let answer = "The result, or an error in `error`.";
    let notified = "The message was a notification, which has no `id` and gets no answer.";
    let too_large = "The body is larger than 64 KiB.";
    vec![
        Operation::post("/mcp", TAG, "callMcp", "Call a tool")
            .says(
                "JSON-RPC 2.0, one request at a time. `tools/list` lists the tools. `tools/call`, \
                 `resources/read` and `subscriptions/listen` count as calls of the month; the \
                 others do not. `subscriptions/listen` is answered as `text/event-stream`: first \
                 the accepted subscriptions, then `notifications/resources/updated` whenever a \
                 resource changes.",
            )
            .any_role()
            .takes(reference("JsonRpcRequest"), call)
            .answers(answer, reference("JsonRpcResponse"), called)
            .or_answers("text/event-stream", streamed)
            .answers_nothing(202, notified)
            .fails(400, "The body could not be read at all.")
            .fails(413, too_large),
        Operation::post("/public/mcp", TAG, "callMcpPublic", "Call a tool, no key needed")
            .says("The tools `check_ssl`, `check_dns` and `check_domain`, for public hosts.")
            .public()
            .takes(reference("JsonRpcRequest"), list)
            .answers(answer, reference("JsonRpcResponse"), listed)
            .answers_nothing(202, notified)
            .fails(400, "The body could not be read at all.")
            .fails(413, too_large),
    ]
}

pub(super) fn schemas() -> Vec<(String, Value)> {
    let version = || one_of(&["2.0"]);
    let id = json!({ "type": ["integer", "string"] });
    let request = object(
        &["jsonrpc", "method"],
        json!({
            "jsonrpc": version(),
            "id": id,
            "method": said(text(), "For example `initialize`, `ping`, `tools/list`, `tools/call`."),
            "params": { "type": ["object", "null"] },
        }),
    );
    let error = object(
        &["code", "message"],
        json!({ "code": { "type": "integer" }, "message": text(), "data": {} }),
    );
    let mut response = object(
        &["jsonrpc", "id"],
        json!({
            "jsonrpc": version(),
            "id": { "type": ["integer", "string", "null"] },
            "result": { "type": "object" },
            "error": error,
        }),
    );
    response["anyOf"] = json!([{ "required": ["result"] }, { "required": ["error"] }]);
    vec![
        ("JsonRpcRequest".to_owned(), said(request, "One request.")),
        ("JsonRpcResponse".to_owned(), said(response, "Its answer: `result` or `error`.")),
    ]
}

/// What `subscriptions/listen` with the id 1 is answered, up to the first change.
const STREAM: &str = "data: {\"jsonrpc\":\"2.0\",\
     \"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\
     \"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1},\
     \"notifications\":{\"resourceSubscriptions\":[\"vedette://alerts\"]}}}\n\n\
     data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\
     \"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1},\"uri\":\"vedette://alerts\"}}\n\n";
