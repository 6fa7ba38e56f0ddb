//! Byte lists as a case file writes them: text, or `hex:…` where they are none that people read.

use serde_json::{Map, Value};

/// Reads the byte lists of a call, which a case file writes as text.
pub(super) fn read(call: &str, mut value: Value) -> Value {
    each(&mut value, lists(call), &from_text);
    value
}

/// Writes the byte lists of a call as text.
pub(super) fn write(call: &str, mut value: Value) -> Value {
    each(&mut value, lists(call), &to_text);
    value
}

/// The fields that hold bytes.
fn lists(call: &str) -> &'static [&'static str] {
    match call.split_once('.') {
        Some(("tls", _)) => &["chain"],
        Some(("x509", _)) => &["chain", "staple"],
        Some(("http", _)) => &["body"],
        Some(("tcp", _)) => &["send", "data", "Ok"],
        _ => &[],
    }
}

/// Puts what `turn` makes of it in the place of each byte list. `examination.chain` holds records,
/// not bytes: there is nothing for `turn` in them.
fn each(value: &mut Value, lists: &[&str], turn: &impl Fn(&Value) -> Option<Value>) {
    match value {
        Value::Object(fields) => each_field(fields, lists, turn),
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, lists, turn)),
        _ => {}
    }
}

fn each_field(
    fields: &mut Map<String, Value>,
    lists: &[&str],
    turn: &impl Fn(&Value) -> Option<Value>,
) {
    for (name, value) in fields {
        if !lists.contains(&name.as_str()) {
            each(value, lists, turn);
        } else if let Some(turned) = turn(value) {
            *value = turned;
        } else if let Value::Array(items) = value {
            for item in items {
                match turn(item) {
                    Some(turned) => *item = turned,
                    None => each(item, lists, turn),
                }
            }
        } else {
            each(value, lists, turn);
        }
    }
}

fn from_text(value: &Value) -> Option<Value> {
    let text = value.as_str()?;
    let bytes = text.strip_prefix(HEX).and_then(|digits| hex::decode(digits).ok());
    Some(bytes.unwrap_or_else(|| text.as_bytes().to_vec()).into())
}

/// None for what is no list of bytes, and for an empty one: that could be of anything.
fn to_text(value: &Value) -> Option<Value> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    let byte = |item: &Value| item.as_u64().and_then(|number| u8::try_from(number).ok());
    let bytes: Vec<u8> = items.iter().map(byte).collect::<Option<_>>()?;
    let text = std::str::from_utf8(&bytes).ok().filter(|text| is_readable(text));
    Some(text.map_or_else(|| format!("{HEX}{}", hex::encode(&bytes)), str::to_owned).into())
}

fn is_readable(text: &str) -> bool {
    let is_plain = |char: char| !char.is_control() || matches!(char, '\t' | '\r' | '\n');
    !text.starts_with(HEX) && text.chars().all(is_plain)
}

const HEX: &str = "hex:";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn body_of_a_partial_answer_is_read() {
        let answer = json!({"Ok": {"response": {"status": 200, "body": "ok"}, "failure": "Reset"}});
        let read = read("http.fetch_partial", answer);
        assert_eq!(read["Ok"]["response"]["body"], json!([111, 107]));
        assert_eq!(read["Ok"]["failure"], "Reset");
    }

    #[test]
    fn byte_lists_inside_answers_are_read_and_records_left_alone() {
        let answer =
            json!({"Ok": {"chain": ["hex:3082"], "examination": {"chain": [{"subject": "x"}]}}});
        let read = read("tls.inspect", answer);
        assert_eq!(read["Ok"]["chain"], json!([[0x30, 0x82]]));
        assert_eq!(read["Ok"]["examination"]["chain"][0]["subject"], "x");
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (call, value, written) in [
            ("tcp.exchange", json!({"Ok": [111, 107, 13, 10]}), json!({"Ok": "ok\r\n"})),
            ("tcp.exchange", json!({"Ok": [0, 255]}), json!({"Ok": "hex:00ff"})),
            ("tcp.exchange", json!({"Ok": b"hex:00"}), json!({"Ok": "hex:6865783a3030"})),
            ("tcp.exchange", json!({"Ok": []}), json!({"Ok": []})),
            ("tcp.exchange", json!({"Err": "Reset"}), json!({"Err": "Reset"})),
            ("tls.inspect", json!({"chain": [[48, 0], [49]]}), json!({"chain": ["hex:3000", "1"]})),
            (
                "tls.inspect",
                json!({"examination": {"chain": [{"key_bits": 256}]}}),
                json!({"examination": {"chain": [{"key_bits": 256}]}}),
            ),
            ("dns.lookup", json!({"Ok": [1, 2]}), json!({"Ok": [1, 2]})),
        ] {
            assert_eq!(write(call, value.clone()), written, "{call}");
            assert_eq!(read(call, written), value, "{call}");
        }
    }
}
