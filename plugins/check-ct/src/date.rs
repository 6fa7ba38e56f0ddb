//! Dates of certificates and logs, from the year 0 to 9999, as text and as Unix seconds.

use vedette_sdk::date::{FIRST, LAST, moment};

pub(crate) use vedette_sdk::date::{DAY, day, rfc3339};

/// Unix seconds of an RFC 3339 text; one without a zone is UTC, as crt.sh means it. None for
/// anything else, and for years that no certificate can express.
pub(crate) fn parse(text: &str) -> Option<i64> {
    if text.len() > LONGEST {
        return None;
    }
    moment(text).filter(|at| (FIRST..=LAST).contains(at))
}

/// Of a text, in bytes.
const LONGEST: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_source_are_read() {
        for (text, expected) in [
            ("2026-01-01T00:00:00Z", Some(1_767_225_600)),
            ("2026-01-01T00:00:00-00:00", Some(1_767_225_600)),
            ("2026-01-01T01:00:00.5+01:00", Some(1_767_225_600)),
            ("2026-01-01T00:00:00", Some(1_767_225_600)),
            ("2026-01-01T00:00:00.123", Some(1_767_225_600)),
            ("9999-12-31T23:59:59", Some(LAST)),
            ("+99999-01-01T00:00:00", None),
            ("2026-02-30T00:00:00", None),
            ("2026-01-01", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        assert_eq!(parse(&"2".repeat(1_000)), None);
    }

    #[test]
    fn written_dates_read_back() {
        for at in [0, 1_767_225_600, LAST, FIRST, -1] {
            assert_eq!(parse(&rfc3339(at)), Some(at));
        }
        assert_eq!(rfc3339(i64::MAX), "9999-12-31T23:59:59Z");
        assert_eq!(rfc3339(i64::MIN), "0000-01-01T00:00:00Z");
        assert_eq!(day(1_767_225_600), "2026-01-01");
    }
}
