//! JSON of which only the parts that are asked for are read, one at a time: a document made to
//! fill the memory fills none, and a value of the wrong kind is a value that is not there.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// A value, still as text; none where the member is missing or null.
pub(super) type Raw<'a> = Option<&'a RawValue>;

/// The members of these names of the object that the value is; none where it is no object. Of
/// several with one name the last counts, as with most readers of JSON.
pub(super) fn members<'a, const N: usize>(raw: Raw<'a>, names: [&str; N]) -> [Raw<'a>; N] {
    let read = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let mut all: BTreeMap<String, Raw<'a>> = read.unwrap_or_default();
    names.map(|name| all.remove(name).flatten())
}

/// The elements of an array; a value where an array should be stands for itself.
pub(super) fn items<'a>(raw: Raw<'a>) -> Vec<Raw<'a>> {
    let Some(value) = raw else { return Vec::new() };
    match serde_json::from_str::<Vec<Raw<'a>>>(value.get()) {
        Ok(items) => items,
        Err(_) => vec![raw],
    }
}

/// A string, or a number as text; none if it is only space.
pub(super) fn text(raw: Raw<'_>) -> Option<String> {
    let raw = raw?.get();
    let text = match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str::<String>(raw).ok()?,
        Some(b'0'..=b'9' | b'-') => raw.to_owned(),
        _ => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The strings of an array.
pub(super) fn texts(raw: Raw<'_>) -> Vec<String> {
    items(raw).into_iter().filter_map(text).take(MAX_TEXTS).collect()
}

/// The first string in a value, however deep arrays hold it.
pub(super) fn first_text(raw: Raw<'_>) -> Option<String> {
    let mut level = vec![raw];
    for _ in 0..MAX_DEPTH {
        if let Some(found) = level.iter().find_map(|&raw| text(raw)) {
            return Some(found);
        }
        let arrays = level.into_iter().filter(|raw| raw.is_some_and(is_array));
        level = arrays.flat_map(items).collect();
    }
    None
}

fn is_array(raw: &RawValue) -> bool {
    raw.get().starts_with('[')
}

const MAX_TEXTS: usize = 64;
const MAX_DEPTH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        serde_json::from_str(text).expect("it is JSON")
    }

    #[test]
    fn values_of_the_wrong_kind_are_not_there() {
        for (value, expected) in [
            (r#"" a ""#, Some("a")),
            ("7", Some("7")),
            ("-1.5", Some("-1.5")),
            (r#""""#, None),
            (r#"" ""#, None),
            ("null", None),
            ("true", None),
            ("[]", None),
            (r#"{"a":"b"}"#, None),
            (r#""\ud800""#, None),
        ] {
            assert_eq!(text(raw(value)).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn last_member_of_a_name_counts() {
        let said = |object: &str| members(raw(object), ["a", "b"]).map(text);
        let told = |text: &str| Some(text.to_owned());
        for (object, expected) in [
            (r#"{"b": "1", "a": "2", "c": {"a": "3"}}"#, [told("2"), told("1")]),
            (r#"{"a": "1", "b": "2", "a": "3", "c": 0, "c": 0}"#, [told("3"), told("2")]),
            (r#"{"a": "1", "a": null}"#, [None, None]),
            ("{}", [None, None]),
            (r#"["a", "b"]"#, [None, None]),
            ("null", [None, None]),
        ] {
            assert_eq!(said(object), expected, "{object}");
        }
    }

    #[test]
    fn lists_are_read_from_arrays_and_from_single_values() {
        assert_eq!(texts(raw(r#"["a", null, 1, [], "b"]"#)), ["a", "1", "b"]);
        assert_eq!(texts(raw(r#""a""#)), ["a"]);
        assert_eq!(texts(raw("null")), [""; 0]);
        assert_eq!(texts(None), [""; 0]);
    }

    #[test]
    fn first_text_is_the_outermost() {
        assert_eq!(first_text(raw(r#"[["", ["c"]], "b"]"#)).as_deref(), Some("b"));
        assert_eq!(first_text(raw(r#"[["", ["c"]], ""]"#)).as_deref(), Some("c"));
        assert_eq!(first_text(raw(r#"[[[[["deep"]]]]]"#)), None);
        assert_eq!(first_text(raw("{}")), None);
    }
}
