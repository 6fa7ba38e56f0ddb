//! What went wrong, as the protocol says it: an error of the protocol, or a result of a tool that
//! its caller can act on. The one place that decides which.

use std::borrow::Cow;

use bytes::Bytes;
use rmcp::model::ErrorData;
use serde_json::{Value, json};

use super::{era, request::Method};
use crate::{Error, Resource};

/// An error of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(super) id: Value,
    pub(super) code: i32,
    message: Cow<'static, str>,
    data: Option<Value>,
}

impl Refusal {
    pub(super) fn no_json() -> Self {
        Self::new(-32700, "the body is not valid JSON; send one JSON-RPC request as UTF-8")
    }

    pub(super) fn envelope(message: &'static str) -> Self {
        Self::new(-32600, message)
    }

    pub(super) fn no_method(name: &str) -> Self {
        let name: String = name.chars().take(LONGEST_NAME).collect();
        let advice = "there is initialize, ping, server/discover, tools/list and tools/call, and \
                      with a key resources/list, resources/read and subscriptions/listen";
        Self::new(-32601, format!("there is no method {name} here; {advice}"))
    }

    pub(super) fn no_method_of_version(method: Method) -> Self {
        let name = method.name();
        Self::new(-32601, format!("{name} is no method of this version of the protocol"))
    }

    pub(super) fn params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(-32602, message)
    }

    /// Parameters that do not fit the method.
    pub(super) fn bad_params(method: Method) -> Self {
        Self::params(format!("the params of {} are malformed", method.name()))
    }

    pub(super) fn unsupported(version: &str) -> Self {
        let version: String = version.chars().take(LONGEST_NAME).collect();
        let data = json!({ "supported": era::supported(), "requested": version });
        let refusal =
            Self::new(-32022, "this protocol version is not supported; data lists those that are");
        Self { data: Some(data), ..refusal }
    }

    pub(super) fn mismatch(header: &str) -> Self {
        Self::new(-32020, format!("the header {header} does not say what the body says"))
    }

    pub(super) fn internal() -> Self {
        Self::new(-32603, "something went wrong on our side; the request can be tried again")
    }

    /// What rmcp says where it refuses by itself; its message may be a bare name.
    pub(super) fn of_protocol(method: Method, error: ErrorData) -> Self {
        match error.code.0 {
            -32601 => Self::no_method_of_version(method),
            code => Self { data: error.data, ..Self::new(code, error.message) },
        }
    }

    /// The same, as the answer to a request.
    pub(super) fn to(self, id: Value) -> Self {
        Self { id, ..self }
    }

    pub(super) fn written(&self) -> Bytes {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string().into()
    }

    fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { id: Value::Null, code, message: message.into(), data: None }
    }
}

/// What a tool could not do, as a sentence with what to do next; or that it was our fault, which
/// no argument mends.
pub(super) fn told(error: &Error) -> Result<String, ErrorData> {
    let next = match error {
        Error::Invalid(_) | Error::Malformed(_) => "Correct the argument and call the tool again.",
        Error::NotFound(resource) => listing_of(*resource),
        Error::Forbidden { .. } => "Tell the user; another attempt will not change it.",
        Error::NotConfigured(_) => "Tell the user: the operator of the service has to set it up.",
        Error::Limited { .. } | Error::Throttled { .. } => {
            "Wait that long, then call the tool again."
        }
        Error::Unauthenticated(_) | Error::Unsigned(_) => {
            "Tell the user that the API key has to be renewed."
        }
        Error::TooLarge => "Send less.",
        Error::Internal(cause) | Error::Offline(cause) => {
            tracing::error!(error = format!("{cause:#}"), "tool failed: {cause:#}");
            return Err(ErrorData::internal_error(error.to_string(), None));
        }
        Error::NoSessionKeys | Error::Paused => {
            return Err(ErrorData::internal_error(error.to_string(), None));
        }
    };
    Ok(format!("{error}. {next}"))
}

/// Where a tool has the ids of what was not found.
fn listing_of(resource: Resource) -> &'static str {
    match resource {
        Resource::Site => "list_sites lists the sites with their ids.",
        Resource::Alert => "list_alerts lists the alerts with their ids.",
        Resource::Incident => "list_incidents lists the incidents with their ids.",
        Resource::MaintenanceWindow => "list_maintenance_windows lists the windows with their ids.",
        Resource::Account
        | Resource::Agent
        | Resource::ApiKey
        | Resource::Check
        | Resource::Invitation
        | Resource::ProvedDomain
        | Resource::RenewedCertificate
        | Resource::StatusPage
        | Resource::TeamMember
        | Resource::Tool => "List what there is first, and use one of its ids.",
    }
}

/// What the caller is told of a panic.
pub(super) fn panicked() -> ErrorData {
    let error = Error::Internal(anyhow::anyhow!("a tool panicked"));
    ErrorData::internal_error(error.to_string(), None)
}

/// A client's own word in a sentence of ours.
const LONGEST_NAME: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_trouble_is_an_error_of_the_protocol() {
        let cases = [
            (Error::invalid("domain", "is required"), true),
            (Error::NotFound(Resource::Site), true),
            (Error::forbidden("the free plan has 2 sites"), true),
            (Error::NotConfigured("set smtp.url".to_owned()), true),
            (Error::Throttled { retry_after: 30 }, true),
            (Error::Internal(anyhow::anyhow!("the secret cause")), false),
            (Error::Offline(anyhow::anyhow!("the secret cause")), false),
            (Error::NoSessionKeys, false),
        ];
        for (error, is_result) in cases {
            match told(&error) {
                Ok(said) => assert!(is_result && said.starts_with(&error.to_string()), "{said}"),
                Err(data) => {
                    assert!(!is_result, "{error}");
                    assert_eq!(data.code.0, -32603);
                    assert!(!data.message.contains("secret"), "{}", data.message);
                }
            }
        }
    }
}
