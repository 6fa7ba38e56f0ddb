//! `tools/call`: its parameters as rmcp reads them, then the tool itself. It is answered here and
//! not by way of a session, which a single call has no use for.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use rmcp::{
    ErrorData,
    model::{CallToolRequestParams, ProtocolVersion, RequestMetaObject},
};
use serde_json::{Map, Value};

use super::{
    Who,
    args::Args,
    catalogue::Catalogue,
    era::Era,
    refusal::{self, Refusal},
    reply::Reply,
    request::{Method, Request},
    result,
    tools::{self, Act},
};
use crate::{App, document::Opening};

/// What a tool had to say.
enum Said {
    /// A result, as JSON.
    Result(String),
    /// What others were told already.
    Kept(Arc<Opening>),
}

pub(super) async fn answer(
    app: &App,
    catalogue: &Catalogue,
    who: &Who,
    request: Request,
    era: Era,
) -> Result<Reply, Refusal> {
    let Request { id, method, params } = request;
    let call = read(params, era)?;
    // Some tools are large. A panic would leave its caller without an answer.
    let run = Box::pin(run(app, catalogue, who, call, era));
    let said = AssertUnwindSafe(run).catch_unwind().await;
    match said.unwrap_or_else(|_| Err(refusal::panicked())) {
        Ok(Said::Result(result)) => Ok(Reply::of(&id, &result)),
        Ok(Said::Kept(opening)) => Ok(Reply::completed(&opening, &id)),
        Err(error) => Err(Refusal::of_protocol(method, error)),
    }
}

/// The parameters, and what the newer protocol wants beside them.
fn read(mut params: Map<String, Value>, era: Era) -> Result<CallToolRequestParams, Refusal> {
    let malformed = || Refusal::bad_params(Method::CallTool);
    let meta = match params.remove("_meta") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(meta)) => meta,
        Some(_) => return Err(malformed()),
    };
    let call = serde_json::from_value(Value::Object(params)).map_err(|_| malformed())?;
    if era == Era::Modern {
        let meta = RequestMetaObject::from(meta);
        let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
        if !missing.is_empty() {
            return Err(Refusal::params(format!(
                "request _meta is missing or has malformed required fields: {}",
                missing.join(", ")
            )));
        }
    }
    Ok(call)
}

async fn run(
    app: &App,
    catalogue: &Catalogue,
    who: &Who,
    call: CallToolRequestParams,
    era: Era,
) -> Result<Said, ErrorData> {
    let Some(tool) = catalogue.tool(&call.name) else {
        let advice = "there is no such tool; tools/list names those that exist";
        return Err(ErrorData::invalid_params(advice, None));
    };
    let args = Args::new(call.arguments.unwrap_or_default());
    let done = match (&tool.act, who) {
        (Act::ListSites, Who::Caller(caller)) if !args.asks_for_page() => {
            tools::site::told(app, caller, era).await.map(Said::Kept)
        }
        (_, who) => {
            let done = tool.run(app, who, catalogue.edition, &args).await;
            done.map(|answer| Said::Result(result::complete(&answer.json(), era)))
        }
    };
    done.or_else(|error| Ok(Said::Result(result::failed(refusal::told(&error)?, era))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_read_as_the_library_of_the_protocol_reads_them() {
        let meta = |capabilities: Value| {
            json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            })
        };
        for (more, legacy, modern) in [
            (json!({}), true, false),
            (json!({ "_meta": null }), true, false),
            (json!({ "_meta": meta(json!({})) }), true, true),
            (json!({ "_meta": meta(json!({ "sampling": 5 })) }), true, false),
            (json!({ "_meta": 5 }), false, false),
            (json!({ "_meta": meta(json!({})), "requestState": 5 }), false, false),
            (json!({ "_meta": meta(json!({})), "other": 5 }), true, true),
        ] {
            let mut params = json!({ "name": "x", "arguments": { "a": 1 } });
            let members = params.as_object_mut().expect("an object");
            members.extend(more.as_object().expect("an object").clone());
            let is_read = |era| {
                let read = read(members.clone(), era);
                let call = read.as_ref().ok();
                let arguments = call.and_then(|call| call.arguments.clone());
                assert_eq!(arguments, call.and(json!({ "a": 1 }).as_object().cloned()), "{more}");
                read.map_err(|refusal| assert_eq!(refusal.code, -32602)).is_ok()
            };
            assert_eq!((is_read(Era::Legacy), is_read(Era::Modern)), (legacy, modern), "{more}");
        }
    }
}
