//! What is asked: a method that there is, with parameters that it can be understood by.

use serde_json::{Map, Value, json};

use super::{era, refusal::Refusal, subscription};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(super) id: Value,
    pub(super) method: Method,
    pub(super) params: Map<String, Value>,
}

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Initialize,
    Ping,
    Discover,
    ListTools,
    CallTool,
    ListResources,
    ListTemplates,
    ReadResource,
    Listen,
}

impl Request {
    /// # Errors
    /// The refusal of parameters that do not fit the method, to the request that has them.
    pub(super) fn new(
        id: Value,
        method: Method,
        params: Map<String, Value>,
    ) -> Result<Self, Refusal> {
        let mut request = Self { id, method, params };
        match request.check() {
            Ok(()) => Ok(request),
            Err(refusal) => Err(refusal.to(request.id)),
        }
    }

    /// Whether its answer is a stream of what changes.
    pub(crate) fn listens(&self) -> bool {
        self.method == Method::Listen
    }

    pub(super) fn param(&self, name: &str) -> Option<&Value> {
        self.params.get(name)
    }

    /// The request as it goes on.
    pub(super) fn whole(self) -> Value {
        let mut whole = json!({ "jsonrpc": "2.0", "id": self.id, "method": self.method.name() });
        if !self.params.is_empty() {
            whole["params"] = Value::Object(self.params);
        }
        whole
    }

    /// What the parameters must hold for the method to be understood at all; what a tool thinks
    /// of its arguments is the tool's.
    fn check(&mut self) -> Result<(), Refusal> {
        match self.method {
            Method::CallTool => {
                if !self.param("name").is_some_and(Value::is_string) {
                    let advice = "tools/call takes params with the name of a tool as a string, and \
                                  an arguments object; tools/list names them";
                    return Err(Refusal::params(advice));
                }
                let arguments = self.params.entry("arguments").or_insert(Value::Null);
                if arguments.is_null() {
                    *arguments = json!({});
                }
                if !arguments.is_object() {
                    return Err(Refusal::params("arguments must be an object"));
                }
            }
            Method::ReadResource => {
                if !self.param("uri").is_some_and(Value::is_string) {
                    let advice =
                        "resources/read takes params with a uri; resources/list names them";
                    return Err(Refusal::params(advice));
                }
            }
            Method::Listen => {
                subscription::resources(self)?;
            }
            Method::Initialize => self.fill_in(),
            Method::Ping
            | Method::Discover
            | Method::ListTools
            | Method::ListResources
            | Method::ListTemplates => {}
        }
        Ok(())
    }

    /// `params` of `initialize` are optional in the contract, and clients leave out parts of them.
    fn fill_in(&mut self) {
        let missing = [
            ("protocolVersion", json!(era::NEWEST_LEGACY)),
            ("capabilities", json!({})),
            ("clientInfo", json!({})),
        ];
        for (name, value) in missing {
            self.params.entry(name).or_insert(value);
        }
        if let Some(client) = self.params.get_mut("clientInfo").and_then(Value::as_object_mut) {
            for name in ["name", "version"] {
                client.entry(name).or_insert(json!("unknown"));
            }
        }
    }
}

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Ping => "ping",
            Self::Discover => "server/discover",
            Self::ListTools => "tools/list",
            Self::CallTool => "tools/call",
            Self::ListResources => "resources/list",
            Self::ListTemplates => "resources/templates/list",
            Self::ReadResource => "resources/read",
            Self::Listen => "subscriptions/listen",
        }
    }

    pub(super) fn is_of_resources(self) -> bool {
        match self {
            Self::ListResources | Self::ListTemplates | Self::ReadResource | Self::Listen => true,
            Self::Initialize | Self::Ping | Self::Discover | Self::ListTools | Self::CallTool => {
                false
            }
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        METHODS.into_iter().find(|method| method.name() == name)
    }
}

pub(super) const METHODS: [Method; 9] = [
    Method::Initialize,
    Method::Ping,
    Method::Discover,
    Method::ListTools,
    Method::CallTool,
    Method::ListResources,
    Method::ListTemplates,
    Method::ReadResource,
    Method::Listen,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::envelope::Asked;

    #[test]
    fn a_handshake_without_parameters_gets_them() {
        let value = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
        let Asked::Request(request) = Asked::of(Some(value)) else { panic!("a request") };
        let whole = request.whole();
        assert_eq!(whole["params"]["protocolVersion"], era::NEWEST_LEGACY);
        assert_eq!(whole["params"]["clientInfo"]["name"], "unknown");
    }
}
