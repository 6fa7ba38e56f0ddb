//! Which of the two protocols a request speaks: the one that opens with `initialize` (2024-11-05
//! to 2025-11-25), or the stateless one (2026-07-28), in which every request says its version.
//!
//! *Invariant:* the value of a version decides, not that there is one: clients of the older
//! protocol send the header too.

use std::borrow::Cow;

use base64::Engine;
use serde_json::{Value, json};

use super::{
    refusal::Refusal,
    request::{Method, Request},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// What the headers `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name` said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told<'a> {
    pub(crate) version: Option<&'a str>,
    pub(crate) method: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
}

/// Decides, and fills in what a client may leave out that only looks what is here.
pub(super) fn settle(request: &mut Request, told: &Told<'_>) -> Result<Era, Refusal> {
    if request.method == Method::Initialize {
        return Ok(Era::Legacy);
    }
    let said = match request.param("_meta").and_then(|meta| meta.get(VERSION)) {
        None => None,
        Some(Value::String(version)) => Some(version.clone()),
        Some(_) => return Err(Refusal::params(format!("_meta {VERSION} must be a string"))),
    };
    for version in said.as_deref().into_iter().chain(told.version) {
        if version != MODERN && !LEGACY.contains(&version) {
            return Err(Refusal::unsupported(version));
        }
    }
    let modern = match (said.as_deref(), told.version) {
        (Some(said), Some(told)) if said != told && [said, told].contains(&MODERN) => {
            return Err(Refusal::mismatch("MCP-Protocol-Version"));
        }
        (Some(said), _) => said == MODERN,
        (None, Some(told)) => told == MODERN,
        (None, None) => false,
    };
    if request.method == Method::Discover {
        introduce(request);
    } else if !modern {
        return Ok(Era::Legacy);
    }
    let capabilities = request.param("_meta").and_then(|meta| meta.get(CAPABILITIES));
    if said.is_none() && request.method != Method::Discover
        || !capabilities.is_some_and(Value::is_object)
    {
        return Err(Refusal::params(format!(
            "since {MODERN} every request says {VERSION} and {CAPABILITIES} in params._meta"
        )));
    }
    mirrored(request, told)?;
    Ok(Era::Modern)
}

/// With `server/discover` clients find out what they talk to, before they know how.
fn introduce(request: &mut Request) {
    let meta = request.params.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.entry(VERSION).or_insert_with(|| json!(MODERN));
        meta.entry(CAPABILITIES).or_insert_with(|| json!({}));
    }
}

/// What the headers repeat must be what the body says.
fn mirrored(request: &Request, told: &Told<'_>) -> Result<(), Refusal> {
    if told.method.is_some_and(|method| method != request.method.name()) {
        return Err(Refusal::mismatch("Mcp-Method"));
    }
    let name = request.param("name").or_else(|| request.param("uri")).and_then(Value::as_str);
    match (told.name, name) {
        (Some(told), Some(name)) if decoded(told) != name => Err(Refusal::mismatch("Mcp-Name")),
        _ => Ok(()),
    }
}

/// A header's value; what headers cannot hold comes as `=?base64?…?=`.
fn decoded(told: &str) -> Cow<'_, str> {
    let packed = told.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes =
        packed.and_then(|packed| base64::engine::general_purpose::STANDARD.decode(packed).ok());
    match bytes.map(String::from_utf8) {
        Some(Ok(text)) => Cow::Owned(text),
        _ => Cow::Borrowed(told),
    }
}

pub(super) const MODERN: &str = "2026-07-28";
pub(super) const NEWEST_LEGACY: &str = "2025-11-25";
const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST_LEGACY];
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Every version, oldest first.
pub(super) fn supported() -> Vec<&'static str> {
    LEGACY.into_iter().chain([MODERN]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::envelope::Asked;

    fn request(method: &str, params: Value) -> Request {
        let value = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        match Asked::of(Some(value)) {
            Asked::Request(request) => request,
            other => panic!("{other:?}"),
        }
    }

    fn meta(version: &str) -> Value {
        json!({"name": "x", "_meta": {VERSION: version, CAPABILITIES: {}}})
    }

    #[test]
    fn the_value_of_the_version_decides() {
        let none = json!({"name": "x"});
        let cases = [
            ("tools/call", none.clone(), None, Ok(Era::Legacy)),
            ("tools/call", none.clone(), Some("2025-06-18"), Ok(Era::Legacy)),
            ("tools/call", meta("2025-11-25"), None, Ok(Era::Legacy)),
            ("tools/call", meta(MODERN), None, Ok(Era::Modern)),
            ("tools/call", meta(MODERN), Some(MODERN), Ok(Era::Modern)),
            ("tools/call", meta(MODERN), Some("2025-06-18"), Err(-32020)),
            ("tools/call", meta("2030-01-01"), None, Err(-32022)),
            ("tools/call", none.clone(), Some("2030-01-01"), Err(-32022)),
            ("tools/call", none.clone(), Some(MODERN), Err(-32602)),
            ("tools/call", json!({"name": "x", "_meta": {VERSION: MODERN}}), None, Err(-32602)),
            ("tools/call", json!({"name": "x", "_meta": {VERSION: 5}}), None, Err(-32602)),
            (
                "tools/call",
                json!({"name": "x", "_meta": {"progressToken": 1}}),
                None,
                Ok(Era::Legacy),
            ),
            ("server/discover", json!({}), None, Ok(Era::Modern)),
            ("server/discover", json!({}), Some(MODERN), Ok(Era::Modern)),
            ("server/discover", json!({}), Some("2025-06-18"), Ok(Era::Modern)),
            ("server/discover", meta("2030-01-01"), None, Err(-32022)),
            ("initialize", json!({}), Some(MODERN), Ok(Era::Legacy)),
            ("initialize", json!({}), Some("1999-01-01"), Ok(Era::Legacy)),
        ];
        for (method, params, version, expected) in cases {
            let mut asked = request(method, params.clone());
            let told = Told { version, ..Told::default() };
            let era = settle(&mut asked, &told).map_err(|refusal| refusal.code);
            assert_eq!(era, expected, "{method} {params} {version:?}");
        }
    }

    #[test]
    fn headers_say_what_the_body_says() {
        let cases = [
            (Some("tools/call"), Some("x"), Ok(Era::Modern)),
            (Some("tools/call"), Some("=?base64?eA==?="), Ok(Era::Modern)),
            (Some("tools/list"), None, Err(-32020)),
            (None, Some("y"), Err(-32020)),
        ];
        for (method, name, expected) in cases {
            let told = Told { version: Some(MODERN), method, name };
            let era = settle(&mut request("tools/call", meta(MODERN)), &told);
            assert_eq!(era.map_err(|refusal| refusal.code), expected, "{told:?}");
        }
    }
}
