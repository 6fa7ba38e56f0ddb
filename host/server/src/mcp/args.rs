//! The arguments of a tool, read strictly: what is missing or does not fit is an error that names
//! the argument. Arguments that nobody asks for are ignored by tools that only look.

use serde_json::{Map, Value};
use uuid::Uuid;
use vedette_model::{
    Invalid,
    parse::{self, Body},
};

pub(super) struct Args(Value);

impl Args {
    pub(super) fn new(arguments: Map<String, Value>) -> Self {
        Self(Value::Object(arguments))
    }

    /// All of them, as the body of a request to the service.
    pub(super) fn body(&self) -> &Value {
        &self.0
    }

    /// Some of them.
    pub(super) fn only(&self, names: &[&str]) -> Value {
        let given = |name: &&str| Some(((*name).to_owned(), self.0.get(*name)?.clone()));
        Value::Object(names.iter().filter_map(given).collect())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.as_object().into_iter().flat_map(|members| members.keys().map(String::as_str))
    }

    pub(super) fn id<T: From<Uuid>>(&self, name: &'static str) -> Result<T, Invalid> {
        let members = self.members()?;
        let uuid = |name, value: &Value| match value.as_str() {
            Some(text) => parse::uuid(name, text).map_err(|_| Invalid::new(name, NO_ID)),
            None => Err(Invalid::new(name, NO_ID)),
        };
        members.required(name, uuid).map(T::from)
    }

    pub(super) fn required(&self, name: &'static str) -> Result<&str, Invalid> {
        self.members()?.required(name, parse::text)
    }

    pub(super) fn text(&self, name: &'static str) -> Result<Option<&str>, Invalid> {
        self.members()?.optional(name, parse::text)
    }

    /// False where it is left out.
    pub(super) fn boolean(&self, name: &'static str) -> Result<bool, Invalid> {
        Ok(self.members()?.optional(name, parse::boolean)?.unwrap_or_default())
    }

    fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some()
    }

    /// Whether a part of a listing is asked for, whatever of it that is.
    pub(super) fn asks_for_page(&self) -> bool {
        self.has("limit") || self.has("offset")
    }

    /// `limit` and `offset`, with the bounds that they have everywhere.
    pub(super) fn page(&self) -> Result<(u32, u32), Invalid> {
        let (limit, offset) = (self.number("limit")?, self.number("offset")?);
        parse::page(limit.as_deref(), offset.as_deref())
    }

    /// The same of what is asked for as a whole; no limit where none is given.
    pub(super) fn page_of_all(&self) -> Result<(Option<u32>, u32), Invalid> {
        let (limit, offset) = self.page()?;
        Ok((self.has("limit").then_some(limit), offset))
    }

    fn number(&self, name: &'static str) -> Result<Option<String>, Invalid> {
        self.members()?.optional(name, |name, value| match value.as_f64().and_then(parse::whole) {
            Some(number @ 0..) => Ok(number.to_string()),
            Some(_) | None => {
                Err(Invalid::new(name, "must be a whole number that is not negative"))
            }
        })
    }

    fn members(&self) -> Result<Body<'_>, Invalid> {
        Body::of(&self.0)
    }
}

const NO_ID: &str = "must be an id (a UUID), as the tools that list have it";

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vedette_model::SiteId;

    use super::*;

    fn args(value: Value) -> Args {
        Args::new(value.as_object().expect("an object").clone())
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let bad = args(json!({"site_id": 7, "domain": null, "limit": "5", "offset": -1}));
        assert_eq!(bad.id::<SiteId>("site_id").unwrap_err().field, "site_id");
        assert_eq!(bad.required("domain").unwrap_err().field, "domain");
        assert_eq!(bad.required("name").unwrap_err().field, "name");
        assert_eq!(bad.text("domain").unwrap_err().field, "domain");
        assert_eq!(bad.page().unwrap_err().field, "limit");
        assert_eq!(args(json!({"offset": -1})).page().unwrap_err().field, "offset");
        assert_eq!(args(json!({"limit": 201})).page().unwrap_err().field, "limit");
        assert_eq!(args(json!({"limit": 5, "other": []})).page(), Ok((5, 0)));
    }

    #[test]
    fn some_arguments_are_no_others() {
        let given = args(json!({"domain": "a.example", "site_id": "x"}));
        assert_eq!(given.only(&["domain", "port"]), json!({"domain": "a.example"}));
    }
}
