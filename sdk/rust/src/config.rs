//! Configurations and facts: Rust types on the plugin's side, JSON and JSON Schema on the wire.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};
use serde_path_to_error::Segment;

use crate::Problem;

/// What a site or an account may set for a plugin. Any type with serde's and schemars' derives
/// is one; `#[serde(default)]` on the type lets an empty configuration stand for the defaults.
pub trait Config: Serialize + DeserializeOwned + JsonSchema {}

impl<T: Serialize + DeserializeOwned + JsonSchema> Config for T {}

/// What a check saw: the `result` that is stored, answered and judged. Later versions of a
/// plugin read what earlier ones stored, so fields that are added need `#[serde(default)]`.
pub trait Facts: Serialize + DeserializeOwned + JsonSchema {}

impl<T: Serialize + DeserializeOwned + JsonSchema> Facts for T {}

/// A configuration that consists of nothing; any object is accepted.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema,
)]
pub struct NoConfig {}

/// Reads a configuration; blank text is the empty object. The problem's pointer (RFC 6901) leads
/// to the offending value.
pub(crate) fn read<C: Config>(text: &str) -> Result<C, Vec<Problem>> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let pointer = error.path().iter().map(token).collect();
        vec![Problem { pointer, message: plain(error.inner()) }]
    })
}

/// JSON of a configuration or of facts. Fails only on types that JSON cannot hold, such as maps
/// with keys that are no strings.
pub(crate) fn write<T: Serialize>(value: &T) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

/// JSON Schema 2020-12 of what a site may send.
pub(crate) fn accepted<C: Config>() -> String {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.into_generator().into_root_schema_for::<C>().to_value().to_string()
}

/// JSON Schema 2020-12 of what the plugin answers.
pub(crate) fn answered<F: Facts>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<F>().to_value().to_string()
}

fn token(segment: &Segment) -> String {
    match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    }
}

/// Without the position that serde_json appends: it points into text which the author of the
/// configuration never saw.
fn plain(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
    #[serde(default)]
    struct Sample {
        port: u16,
        hosts: Vec<Host>,
    }

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Host {
        #[serde(rename = "a/b")]
        name: String,
    }

    #[test]
    fn blank_and_empty_configurations_are_the_defaults() {
        for text in ["", "  ", "{}"] {
            assert_eq!(read::<Sample>(text), Ok(Sample::default()));
        }
    }

    #[test]
    fn problem_points_at_the_offending_value() {
        let problems = read::<Sample>(r#"{"hosts": [{"a/b": "x"}, {"a/b": 7}]}"#).unwrap_err();
        assert_eq!(problems[0].pointer, "/hosts/1/a~1b");
        assert_eq!(problems[0].message, "invalid type: integer `7`, expected a string");
    }

    #[test]
    fn text_that_is_no_json_is_a_problem() {
        assert_eq!(read::<Sample>("{").unwrap_err()[0].pointer, "");
    }

    #[test]
    fn schemas_are_of_2020_12_and_refer_only_to_themselves() {
        for schema in [accepted::<Sample>(), answered::<Sample>()] {
            assert!(schema.contains(r#""$schema":"https://json-schema.org/draft/2020-12/schema""#));
            assert!(schema.contains(r##""$ref":"#/$defs/Host""##));
        }
    }

    #[test]
    fn fields_with_a_default_are_optional_in_but_certain_out() {
        assert!(!accepted::<Sample>().contains(r#""required":["port"#));
        assert!(answered::<Sample>().contains(r#""required":["port","hosts"]"#));
    }
}
