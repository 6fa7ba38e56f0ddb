//! JSON of which only the parts that are asked for are read, one at a time: a document made to
//! fill the memory fills none, and a value of the wrong kind is a value that is not there.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A value, still as text; none where the member is missing or null.
pub(super) type Raw<'a> = Option<&'a RawValue>;

/// The object that the value is; the empty one where it is none.
pub(super) fn object<'a, T: Deserialize<'a> + Default>(raw: Raw<'a>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// The elements of an array; a value where an array should be stands for itself.
pub(super) fn items<'a>(raw: Raw<'a>) -> Vec<Raw<'a>> {
    let Some(value) = raw else { return Vec::new() };
    match serde_json::from_str::<Vec<Raw<'a>>>(value.get()) {
        Ok(items) => items,
        Err(_) => vec![raw],
    }
}

/// A string, or a number as text; none where nothing but space is in it.
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
