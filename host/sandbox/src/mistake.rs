//! What is wrong in a TOML text, and where: of manifests, the operator's lock, the configuration.

use toml::de::Error;

/// A place in a text; both count from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub line: usize,
    pub column: usize,
}

/// Where in `text` the mistake is; none where the error tells of no place.
pub fn spot(text: &str, error: &Error) -> Option<Spot> {
    let before = text.get(..error.span()?.start)?;
    let beside = before.rsplit('\n').next().unwrap_or_default();
    Some(Spot { line: before.matches('\n').count() + 1, column: beside.chars().count() + 1 })
}

/// What is wrong, in one line. That of the text is told too: a wrong type comes without the key that
/// has it.
pub fn told(text: &str, error: &Error) -> String {
    let message = error.message().trim().replace('\n', " ");
    match spot(text, error) {
        Some(Spot { line, .. }) => format!("{message} (line {line})"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Timed {
        #[serde(rename = "wait")]
        _wait: String,
    }

    fn error(text: &str) -> Error {
        toml::from_str::<Timed>(text).expect_err("a mistake")
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        for (text, line, column) in
            [("wait = 8", 1, 8), ("# é\nwait = 8", 2, 8), ("# one\n\n\t wait = [1]", 3, 10)]
        {
            let error = error(text);
            assert_eq!(spot(text, &error), Some(Spot { line, column }), "{text}");
            let told = told(text, &error);
            assert!(told.ends_with(&format!(" (line {line})")), "{told}");
            assert!(!told.contains('\n'), "{told}");
        }
    }

    #[test]
    fn of_another_text_no_place_is_told() {
        let error = error("# a comment\nwait = 8");
        assert_eq!(spot("", &error), None);
        assert_eq!(told("", &error), "invalid type: integer `8`, expected a string");
    }
}
