//! Moments of registrations, from the year 0 to 9999, as text and as distances.

pub(crate) use vedette_sdk::date::{DAY, day, days_until, minute, rfc3339};

/// Unix seconds of a moment, as [`vedette_sdk::date::parse`] reads it.
pub(crate) fn parse(text: &str) -> Option<i64> {
    vedette_sdk::date::parse(text.trim())
}

#[cfg(test)]
mod tests {
    use vedette_sdk::date::{FIRST, LAST};

    use super::*;

    const NOW: i64 = 1_767_225_600;

    #[test]
    fn written_dates_read_back() {
        for at in [0, NOW, LAST, FIRST, -1] {
            assert_eq!(parse(&rfc3339(at)), Some(at));
        }
        assert_eq!(parse("2026-01-01T01:00:00.5+01:00"), Some(NOW));
    }
}
