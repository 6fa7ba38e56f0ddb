//! JSON Schemas that plugins bring: checked once at install, compiled once, asked on every call.

use chrono::{DateTime, NaiveDate, NaiveDateTime};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

use crate::{
    check::Problem,
    output::{self, PROBLEMS, SCHEMA, cut},
};

mod expansion;

/// A compiled schema and its text.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) value: Value,
    validator: Validator,
}

impl Schema {
    /// Reads a schema: JSON Schema 2020-12, at most 64 KiB, referring to nothing outside itself and
    /// never in a circle.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let value = output::json("it", text, SCHEMA).map_err(|error| error.to_string())?;
        if let Some(draft) = value.get("$schema")
            && draft.as_str().map(|uri| uri.trim_end_matches('#')) != Some(DRAFT)
        {
            return Err(format!("its $schema must be {DRAFT}"));
        }
        if let Some(reference) = outside(&value) {
            return Err(format!("its reference {reference:?} leaves the schema; use #/$defs/…"));
        }
        jsonschema::draft202012::meta::validate(&value)
            .map_err(|error| format!("it is not a valid schema: {error}"))?;
        expansion::bounded(&value)?;
        // The linear engine: a pattern with backtracking would be the plugin's way to stall us.
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex())
            .with_format(MOMENT, is_moment)
            .should_validate_formats(true)
            .offline()
            .build(&without_notes(value.clone()))
            .map_err(|error| format!("it cannot be used: {error}"))?;
        Ok(Self { value, validator })
    }

    /// What is wrong with a value, at most 32 problems.
    pub(crate) fn problems(&self, value: &Value) -> Vec<Problem> {
        // Looking for what is wrong takes many times as long as seeing that nothing is.
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        let errors = self.validator.iter_errors(value);
        errors.flat_map(|error| problems(&error)).take(PROBLEMS).collect()
    }

    /// The first problem in one line, for the operator.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        match self.problems(value).first() {
            None => Ok(()),
            Some(Problem { pointer, message }) if pointer.is_empty() => Err(message.clone()),
            Some(Problem { pointer, message }) => Err(format!("{pointer}: {message}")),
        }
    }
}

/// What an error comes to: where one alternative is all that the value can be meant for, what that
/// has against it.
fn problems(error: &ValidationError<'_>) -> Vec<Problem> {
    match alternatives(error).as_slice() {
        [errors] => errors.iter().take(PROBLEMS).flat_map(problems).collect(),
        _ => vec![Problem {
            pointer: error.instance_path().to_string(),
            message: cut(told(error), 512),
        }],
    }
}

/// What is wrong, for the person who wrote the value and does not see the schema. Masked: a value
/// may be long, or a secret.
fn told(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::FalseSchema => "holds what may not be there".to_owned(),
        // All of them: a reader who is told of "other candidates" knows no more than before.
        ValidationErrorKind::Enum { options } => {
            format!("value is not one of {}", listed(options))
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            let mut refusals = refusals(error, &error.instance_path().to_string());
            refusals.dedup();
            match refusals.as_slice() {
                [only] => only.clone(),
                several => format!("value fits no alternative: {}", several.join("; ")),
            }
        }
        _ => error.masked().to_string(),
    }
}

/// What each alternative has against a value that fits none: those of its own type, where there are
/// any. None of an error that is not about alternatives.
fn alternatives<'a>(error: &'a ValidationError<'_>) -> Vec<&'a [ValidationError<'static>]> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return Vec::new();
    };
    let at = error.instance_path().to_string();
    let all = context.iter().take(ALTERNATIVES).map(Vec::as_slice);
    let of_its_type: Vec<_> = all.clone().filter(|errors| !miss_its_type(errors, &at)).collect();
    if of_its_type.is_empty() { all.collect() } else { of_its_type }
}

/// Whether they say that the value at `at` is of another type than they are about.
fn miss_its_type(errors: &[ValidationError<'_>], at: &str) -> bool {
    errors.iter().filter(|error| error.instance_path().to_string() == at).any(|error| {
        match error.kind() {
            ValidationErrorKind::Type { .. } => true,
            ValidationErrorKind::AnyOf { context }
            | ValidationErrorKind::OneOfNotValid { context } => {
                context.iter().all(|errors| miss_its_type(errors, at))
            }
            _ => false,
        }
    })
}

/// Why each of the alternatives does not take the value at `at`; where one is nothing but
/// alternatives again, why each of these does not.
fn refusals(error: &ValidationError<'_>, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for errors in alternatives(error) {
        match errors {
            [error] if error.instance_path().to_string() == at => match error.kind() {
                ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
                    found.extend(refusals(error, at));
                }
                _ => found.push(told(error)),
            },
            errors => {
                let told = errors.iter().take(PROBLEMS).map(|error| told_below(error, at));
                found.push(told.collect::<Vec<_>>().join(" and "));
            }
        }
    }
    found
}

/// With the place, where that is not `at` itself.
fn told_below(error: &ValidationError<'_>, at: &str) -> String {
    let place = error.instance_path().to_string();
    match place.strip_prefix(at) {
        None | Some("") => told(error),
        Some(below) => format!("{below}: {}", told(error)),
    }
}

/// `"a", "b" or "c"`.
fn listed(options: &Value) -> String {
    let options: Vec<String> =
        options.as_array().into_iter().flatten().map(Value::to_string).collect();
    match options.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}

/// The schema without its formats but that of moments. The others are notes for readers, as the
/// standard has all of them unless somebody asks for more (JSON Schema Validation 2020-12, 7.2.1);
/// a date that is none would be judged as if it had not been sent.
fn without_notes(mut schema: Value) -> Value {
    match &mut schema {
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_notes(item.take())),
        Value::Object(fields) => {
            fields.retain(|name, value| name != "format" || !value.is_string() || value == MOMENT);
            fields.values_mut().for_each(|value| *value = without_notes(value.take()));
        }
        _ => {}
    }
    schema
}

/// Whether a text is a moment (RFC 3339), or one whose offset has no colon or is left out, or a day:
/// what programs write for one.
fn is_moment(text: &str) -> bool {
    DateTime::parse_from_rfc3339(text).is_ok()
        || DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z").is_ok()
        || NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").is_ok()
        || NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

/// The first reference to another document.
fn outside(value: &Value) -> Option<&str> {
    match value {
        Value::Array(items) => items.iter().find_map(outside),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| match value {
            Value::String(to) if name == "$ref" || name == "$dynamicRef" => {
                (!to.starts_with('#')).then_some(to.as_str())
            }
            value => outside(value),
        }),
        _ => None,
    }
}

/// How many of one value's alternatives are told.
const ALTERNATIVES: usize = 16;
const MOMENT: &str = "date-time";
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn problems_point_into_the_value() {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string", "pattern": "^/"}, "status": {"$ref": "#/$defs/code"}},
            "additionalProperties": false,
            "$defs": {"code": {"type": "integer", "minimum": 100}},
        });
        let schema = Schema::new(&schema.to_string()).expect("a schema");
        assert_eq!(schema.check(&json!({"path": "/", "status": 200})), Ok(()));
        let problems = schema.problems(&json!({"path": "x", "status": 9}));
        let pointers: Vec<_> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(pointers, ["/path", "/status"]);
        assert!(schema.check(&json!({"secret": 1})).is_err());
    }

    #[test]
    fn what_may_not_be_there_is_told_without_the_schema() {
        let told = |schema: Value, value: Value| {
            Schema::new(&schema.to_string()).expect("a schema").check(&value)
        };
        let empty = json!({"type": "object", "additionalProperties": false});
        assert_eq!(told(empty.clone(), json!({})), Ok(()));
        let refused = told(empty, json!({"path": "/"})).expect_err("nothing may be there");
        assert_eq!(refused, "holds what may not be there");
        let none = json!({"properties": {"path": false}});
        let refused = told(none, json!({"path": "/"})).expect_err("no path may be there");
        assert_eq!(refused, "/path: holds what may not be there");
    }

    #[test]
    fn what_fits_no_alternative_is_told_what_each_would_have_taken() {
        let schema = json!({
            "properties": {
                "starttls": {"anyOf": [{"$ref": "#/$defs/protocol"}, {"type": "null"}]},
                "status": {"anyOf": [
                    {"type": "integer", "minimum": 100},
                    {"type": "string", "pattern": "^[0-9]+$"},
                ]},
                "proxy": {"oneOf": [
                    {
                        "required": ["host"],
                        "properties": {"port": {"type": "integer"}},
                        "type": "object",
                    },
                    {"const": "none"},
                ]},
                "long": {"anyOf": (0..99).map(|n| json!({"minimum": n})).collect::<Vec<_>>()},
            },
            "$defs": {
                "protocol": {"oneOf": [
                    {"enum": ["smtp", "imap", "pop3", "ftp"]},
                    {"const": "none", "description": "TLS from the first byte."},
                ]},
            },
        });
        let schema = Schema::new(&schema.to_string()).expect("a schema");
        let told = |value: Value| schema.check(&value).expect_err("it does not fit");
        assert_eq!(
            told(json!({"starttls": "a secret"})),
            "/starttls: value fits no alternative: value is not one of \"smtp\", \"imap\", \
             \"pop3\" or \"ftp\"; \"none\" was expected",
        );
        assert_eq!(
            told(json!({"status": true})),
            "/status: value fits no alternative: value is not of type \"integer\"; value is not of \
             type \"string\"",
        );
        let proxy = told(json!({"proxy": {"port": "a secret"}}));
        assert!(proxy.contains("/port: value is not of type \"integer\""), "{proxy}");
        assert!(proxy.contains(" and ") && proxy.contains("\"host\" is a required"), "{proxy}");
        assert!(!proxy.contains("secret"), "{proxy}");
        assert!(told(json!({"long": -1})).len() <= 512 + "/long: ".len());
    }

    #[test]
    fn of_alternatives_those_of_the_values_type_tell_what_is_wrong() {
        let schema = json!({
            "properties": {"status": {"anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/code"}},
                {"$ref": "#/$defs/code"},
            ]}},
            "$defs": {"code": {"anyOf": [
                {"type": "integer", "maximum": 599},
                {"type": "string", "pattern": "^[1-5][0-9]{2}$"},
            ]}},
        });
        let schema = Schema::new(&schema.to_string()).expect("a schema");
        let told = |status: Value| {
            let problems = schema.problems(&json!({ "status": status })).into_iter();
            let problems = problems.map(|Problem { pointer, message }| (pointer, message));
            problems.collect::<Vec<_>>()
        };
        let too_high = "value is greater than the maximum of 599".to_owned();
        let no_code = "value does not match \"^[1-5][0-9]{2}$\"".to_owned();
        assert_eq!(told(json!(700)), [("/status".to_owned(), too_high.clone())]);
        assert_eq!(told(json!("ok")), [("/status".to_owned(), no_code.clone())]);
        assert_eq!(
            told(json!([200, 700, "ok"])),
            [("/status/1".to_owned(), too_high), ("/status/2".to_owned(), no_code)],
        );
    }

    #[test]
    fn of_all_formats_that_of_moments_binds() {
        let schema = json!({
            "properties": {
                "at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
                "format": {"type": "string", "format": "ipv4"},
            },
        });
        let schema = Schema::new(&schema.to_string()).expect("a schema");
        for good in [
            json!({"at": "2027-01-01T00:00:00Z", "format": "no address"}),
            json!({"at": "2027-01-01T00:00:00.5+02:00"}),
            json!({"at": "2027-01-01T00:00:00.5+0200"}),
            json!({"at": "2027-01-01T00:00:00"}),
            json!({"at": "2027-01-01"}),
            json!({"at": null}),
        ] {
            assert_eq!(schema.check(&good), Ok(()), "{good}");
        }
        for bad in ["soon", "", "2027-02-30T00:00:00Z", "2027-02-30", "01/02/2027"] {
            let said = schema.check(&json!({ "at": bad })).expect_err(bad);
            assert!(said.starts_with("/at: "), "{said}");
        }
    }

    #[test]
    fn schemas_that_reach_outside_or_make_no_sense_are_refused() {
        let refused = [
            ("{\"$ref\": \"https://evil.example/schema.json\"}", "leaves the schema"),
            ("{\"items\": {\"$ref\": \"file:///etc/passwd\"}}", "leaves the schema"),
            ("{\"items\": {\"$dynamicRef\": \"other.json#x\"}}", "leaves the schema"),
            ("{\"$schema\": \"http://json-schema.org/draft-07/schema#\"}", "must be https"),
            ("{\"type\": \"strnig\"}", "not a valid schema"),
            ("{\"$ref\": \"#/$defs/missing\"}", "names nothing in it"),
            ("{\"items\": {\"$ref\": \"#\"}}", "leads back to itself"),
            ("{\"pattern\": \"(?=x)\"}", "cannot be used"),
            ("not json", "not JSON"),
        ];
        for (text, reason) in refused {
            let error = Schema::new(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
