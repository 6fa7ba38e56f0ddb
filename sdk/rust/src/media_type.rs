//! Media types, as the header `Content-Type` names them.

/// A parameter of a media type: `utf-8` for `charset` of `text/html; charset="utf-8"`.
pub fn parameter<'a>(media_type: &'a str, name: &str) -> Option<&'a str> {
    let mut parameters = media_type.split(';').skip(1).filter_map(|pair| pair.split_once('='));
    let (_, value) = parameters.find(|(key, _)| key.trim().eq_ignore_ascii_case(name))?;
    Some(value.trim().trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameter_is_found_however_it_is_written() {
        for (media_type, expected) in [
            ("text/html;charset=utf-8", Some("utf-8")),
            ("text/html; Charset = \"windows-1251\"", Some("windows-1251")),
            ("text/html; charset='latin1' ; x=y", Some("latin1")),
            ("text/html; x=y; charset=ISO-2022-JP", Some("ISO-2022-JP")),
            ("text/html; charset=", Some("")),
            ("charset=utf-8", None),
            ("text/html; charset", None),
            (";;=;charset", None),
            ("", None),
        ] {
            assert_eq!(parameter(media_type, "charset"), expected, "{media_type}");
        }
    }
}
