//! Status codes that a site may be expected to answer with: one code or a range.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// A status code (`401`) or a range of them (`"200-299"`), both ends included. In JSON a single
/// code is a number or a text, a range a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    first: u16,
    last: u16,
}

impl Expected {
    /// Whether `status` is among them.
    pub fn contains(self, status: u16) -> bool {
        (self.first..=self.last).contains(&status)
    }

    fn new(first: u16, last: u16) -> Result<Self, &'static str> {
        match (first, last) {
            _ if first > last => Err("the first code of a range must not be above the last"),
            (LOWEST..=HIGHEST, LOWEST..=HIGHEST) => Ok(Self { first, last }),
            _ => Err("a status code is a number from 100 to 999"),
        }
    }
}

impl FromStr for Expected {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WANTED: &str = "expected a status code such as 200, or a range such as 200-299";
        let code = |text: &str| match text.parse() {
            Ok(code) if text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit()) => Ok(code),
            _ => Err(WANTED),
        };
        match text.split_once('-') {
            None => code(text).and_then(|code| Self::new(code, code)),
            Some((first, last)) => Self::new(code(first)?, code(last)?),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        if first == last { write!(f, "{first}") } else { write!(f, "{first}-{last}") }
    }
}

impl Serialize for Expected {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.first == self.last {
            serializer.serialize_u16(self.first)
        } else {
            serializer.collect_str(self)
        }
    }
}

impl<'de> Deserialize<'de> for Expected {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

/// How a site may write them.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "it describes what `one_or_many` reads")]
pub(crate) enum OneOrMany {
    Many(#[schemars(length(max = MAX_EXPECTED))] Vec<Expected>),
    One(Expected),
}

/// Reads one, or a list of them. Not by trying each: what is wrong with one is told as such.
pub(crate) fn one_or_many<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Expected>, D::Error> {
    let written = Value::deserialize(deserializer)?;
    let read = if written.is_array() {
        Vec::deserialize(written)
    } else {
        Expected::deserialize(written).map(|one| vec![one])
    };
    read.map_err(de::Error::custom)
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Expected;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a status code such as 200, or a range such as \"200-299\"")
    }

    fn visit_u64<E: de::Error>(self, code: u64) -> Result<Expected, E> {
        let code = u16::try_from(code).unwrap_or(u16::MAX);
        Expected::new(code, code).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, code: i64) -> Result<Expected, E> {
        self.visit_u64(u64::try_from(code).unwrap_or_default())
    }

    /// JSON Schema calls `200.0` an integer too.
    fn visit_f64<E: de::Error>(self, code: f64) -> Result<Expected, E> {
        if code.fract() == 0.0 {
            self.visit_u64(code as u64)
        } else {
            Err(E::invalid_type(de::Unexpected::Float(code), &self))
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Expected, E> {
        text.parse().map_err(E::custom)
    }
}

impl JsonSchema for Expected {
    fn schema_name() -> Cow<'static, str> {
        "Expected".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A status code, or a range of them such as `200-299`, both ends included.",
            "anyOf": [
                {"type": "integer", "minimum": LOWEST, "maximum": HIGHEST},
                {"type": "string", "pattern": "^[1-9][0-9]{2}(-[1-9][0-9]{2})?$"},
            ],
        })
    }
}

/// Of a site.
pub(crate) const MAX_EXPECTED: usize = 32;
const LOWEST: u16 = 100;
/// What HTTP libraries read; some servers answer with codes of their own above 599.
const HIGHEST: u16 = 999;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<Expected, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn code_and_range_are_read_and_written_as_they_were_meant() {
        for (given, written, inside, outside) in [
            (json!(401), json!(401), 401, 402),
            (json!("401"), json!(401), 401, 400),
            (json!(200.0), json!(200), 200, 201),
            (json!("200-299"), json!("200-299"), 299, 300),
            (json!("204-204"), json!(204), 204, 205),
            (json!("100-999"), json!("100-999"), 999, 0),
        ] {
            let expected = read(given.clone()).expect("a code or a range");
            assert_eq!(json!(expected), written, "{given}");
            assert!(expected.contains(inside) && !expected.contains(outside), "{given}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_a_reason() {
        for (given, reason) in [
            (json!("300-200"), "the first code of a range must not be above the last"),
            (json!(99), "a number from 100 to 999"),
            (json!(1000), "a number from 100 to 999"),
            (json!(-1), "a number from 100 to 999"),
            (json!(u64::MAX), "a number from 100 to 999"),
            (json!(1e300), "a number from 100 to 999"),
            (json!("2xx"), "such as 200-299"),
            (json!("+20"), "such as 200-299"),
            (json!("0200"), "such as 200-299"),
            (json!("200-"), "such as 200-299"),
            (json!("200-250-299"), "such as 200-299"),
            (json!("２００"), "such as 200-299"),
            (json!(""), "such as 200-299"),
            (json!(200.5), "expected a status code such as 200"),
            (json!(null), "expected a status code such as 200"),
            (json!([200]), "expected a status code such as 200"),
        ] {
            let said = read(given.clone()).expect_err("no code and no range");
            assert!(said.contains(reason), "{given}: {said}");
        }
    }
}
