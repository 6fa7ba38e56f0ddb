//! One operation of the document, built step by step; what all have in common, such as the errors
//! that anybody may be answered, is added here.

use serde_json::{Map, Value, json};

use super::{
    answer::{DEPRECATION, ETAG, common_headers, failure_name, header},
    schema::uuid,
};

/// A method of a path, with its Operation Object.
pub(super) struct Operation {
    pub(super) path: String,
    /// As the document writes it: lower case.
    pub(super) method: &'static str,
    public: bool,
    /// The security scheme, where it is not the one of most operations.
    scheme: Option<&'static str>,
    any_role: bool,
    value: Map<String, Value>,
    parameters: Vec<Value>,
    responses: Map<String, Value>,
}

impl Operation {
    pub(super) fn get(path: &str, tag: &str, id: &str, summary: &str) -> Self {
        Self::new("get", path, tag, id, summary)
    }

    pub(super) fn post(path: &str, tag: &str, id: &str, summary: &str) -> Self {
        Self::new("post", path, tag, id, summary)
    }

    pub(super) fn patch(path: &str, tag: &str, id: &str, summary: &str) -> Self {
        Self::new("patch", path, tag, id, summary)
    }

    pub(super) fn delete(path: &str, tag: &str, id: &str, summary: &str) -> Self {
        Self::new("delete", path, tag, id, summary)
    }

    fn new(method: &'static str, path: &str, tag: &str, id: &str, summary: &str) -> Self {
        let mut value = Map::new();
        value.insert("operationId".to_owned(), json!(id));
        value.insert("summary".to_owned(), json!(summary));
        value.insert("tags".to_owned(), json!([tag]));
        Self {
            path: path.to_owned(),
            method,
            public: false,
            scheme: None,
            any_role: false,
            value,
            parameters: Vec::new(),
            responses: Map::new(),
        }
    }

    pub(super) fn says(mut self, description: &str) -> Self {
        self.value.insert("description".to_owned(), json!(description));
        self
    }

    /// Needs no credential.
    pub(super) fn public(mut self) -> Self {
        self.public = true;
        self
    }

    /// Takes a credential of another kind, which `about::security` describes.
    pub(super) fn credential(mut self, scheme: &'static str) -> Self {
        self.scheme = Some(scheme);
        self
    }

    /// Answers all in a team alike, though it is no mere reading.
    pub(super) fn any_role(mut self) -> Self {
        self.any_role = true;
        self
    }

    pub(super) fn deprecated(mut self) -> Self {
        self.value.insert("deprecated".to_owned(), json!(true));
        self
    }

    /// A parameter, as [`query`] or [`path_id`] makes it.
    pub(super) fn with(mut self, parameter: Value) -> Self {
        self.parameters.push(parameter);
        self.fails(400, "A parameter is missing, given twice or outside its bounds.")
    }

    /// A JSON body that must be there.
    pub(super) fn takes(mut self, schema: Value, example: Value) -> Self {
        let content = json!({ "application/json": { "schema": schema, "example": example } });
        let body = json!({ "required": true, "content": content });
        self.value.insert("requestBody".to_owned(), body);
        self.fails(400, BAD).fails(413, "The body is larger than 64 KiB.")
    }

    /// A JSON body that may be left out.
    pub(super) fn may_take(self, schema: Value, example: Value) -> Self {
        let mut operation = self.takes(schema, example);
        operation.value["requestBody"]["required"] = json!(false);
        operation
    }

    pub(super) fn answers(self, description: &str, schema: Value, example: Value) -> Self {
        let content = json!({ "schema": schema, "example": example });
        self.answers_with(description, "application/json", content)
    }

    /// The same with a Media Type Object of its own.
    pub(super) fn answers_with(mut self, description: &str, kind: &str, content: Value) -> Self {
        let response = json!({
            "description": description,
            "headers": common_headers(),
            "content": { kind: content },
        });
        self.responses.insert("200".to_owned(), response);
        self
    }

    /// The same success in another form, for requests that are answered so.
    pub(super) fn or_answers(mut self, kind: &str, content: Value) -> Self {
        self.responses["200"]["content"][kind] = content;
        self
    }

    /// An answer without a body, and when it is given.
    pub(super) fn answers_nothing(mut self, status: u16, when: &str) -> Self {
        let response = json!({ "description": when, "headers": common_headers() });
        self.responses.insert(status.to_string(), response);
        self
    }

    /// An error, and when it is answered. What is said later counts.
    pub(super) fn fails(mut self, status: u16, when: &str) -> Self {
        let name = failure_name(status);
        let response = json!({
            "$ref": format!("#/components/responses/{name}"),
            "description": when,
        });
        self.responses.insert(status.to_string(), response);
        self
    }

    /// An error that says more than others do, in a body of its own.
    pub(super) fn refuses(
        mut self,
        status: u16,
        when: &str,
        schema: Value,
        example: Value,
    ) -> Self {
        let response = json!({
            "description": when,
            "headers": common_headers(),
            "content": { "application/json": { "schema": schema, "example": example } },
        });
        self.responses.insert(status.to_string(), response);
        self
    }

    /// The Operation Object, where there are `teams` or where there are none.
    pub(super) fn finish(mut self, teams: bool) -> Value {
        if self.public {
            self.value.insert("security".to_owned(), json!([]));
        } else {
            match self.scheme {
                Some(scheme) => {
                    self.value.insert("security".to_owned(), json!([{ scheme: [] }]));
                }
                None if teams => self = self.names_account(),
                None => {}
            }
            if teams && self.goes_by_role() && !self.responses.contains_key("403") {
                self = self.fails(403, "The caller's role in the team does not allow it.");
            }
            self = self.fails(401, "The credential is missing, wrong, expired or deleted.");
        }
        if self.method == "get" && !self.is_stream() {
            self = self
                .answers_nothing(304, "`If-None-Match` names the `ETag` of the present content.");
            for status in ["200", "304"] {
                self.responses[status]["headers"][ETAG] = header(ETAG);
            }
        }
        if self.value.contains_key("deprecated") {
            self.responses["200"]["headers"][DEPRECATION] = header(DEPRECATION);
        }
        self = self
            .fails(429, "A limit is used up. `Retry-After` says how long to wait.")
            .fails(500, "Something went wrong on the service's side.");
        if !self.parameters.is_empty() {
            self.value.insert("parameters".to_owned(), Value::Array(self.parameters));
        }
        self.value.insert("responses".to_owned(), Value::Object(self.responses));
        Value::Object(self.value)
    }

    /// A caller who has an account of their own and is in a team may say which of them is meant.
    fn names_account(mut self) -> Self {
        self.parameters.push(json!({ "$ref": format!("#/components/parameters/{ACCOUNT}") }));
        for (status, when) in [
            (400, "`X-Vedette-Account` is not a UUID, or is sent more than once."),
            (404, "`X-Vedette-Account` names no account that the caller may act for."),
        ] {
            if !self.responses.contains_key(&status.to_string()) {
                self = self.fails(status, when);
            }
        }
        self
    }

    /// What goes on and on has no tag, and so no 304.
    fn is_stream(&self) -> bool {
        let content = self.responses.get("200").map(|answer| &answer["content"]);
        content.is_some_and(|content| content.get("text/event-stream").is_some())
    }

    /// Everybody in a team reads; credentials of other kinds have no role (decisions: roles).
    fn goes_by_role(&self) -> bool {
        self.method != "get" && self.scheme.is_none() && !self.any_role
    }
}

/// `components/parameters`: what operations of callers take where there are `teams`.
pub(super) fn parameters(teams: bool) -> Value {
    if !teams {
        return json!({});
    }
    let described = json!({
        "name": "X-Vedette-Account",
        "in": "header",
        "schema": uuid(),
        "description": "For members of a team: the account that the request is about, their own \
             or the team's. Default: the team's.",
    });
    json!({ (ACCOUNT): described })
}

/// An optional query parameter.
pub(super) fn query(name: &str, schema: Value, description: &str) -> Value {
    json!({ "name": name, "in": "query", "schema": schema, "description": description })
}

/// A query parameter that must be there, with a value for the example.
pub(super) fn required(name: &str, schema: Value, description: &str, example: &str) -> Value {
    let mut parameter = query(name, schema, description);
    parameter["required"] = json!(true);
    parameter["example"] = json!(example);
    parameter
}

/// The `{id}` of a path.
pub(super) fn path_id(description: &str, example: &str) -> Value {
    let mut parameter = required("id", uuid(), description, example);
    parameter["in"] = json!("path");
    parameter
}

/// `limit` and `offset` of a listing.
pub(super) fn page() -> [Value; 2] {
    let limit = json!({ "type": "integer", "minimum": 1, "maximum": 200, "default": 50 });
    let offset = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX, "default": 0 });
    [
        query("limit", limit, "How many entries to answer."),
        query("offset", offset, "How many entries to skip, counted from the newest."),
    ]
}

const BAD: &str = "The body is not a JSON object, or a parameter or field is missing or outside \
     its bounds. The message names it.";
const ACCOUNT: &str = "Account";
