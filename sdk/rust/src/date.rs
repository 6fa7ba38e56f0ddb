//! Dates of certificates and registrations, from the year 0 to 9999, as text and as distances.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};

/// Last second that X.509 can express (RFC 5280, 4.1.2.5): "no well-defined expiration".
pub const LAST: i64 = 253_402_300_799;
/// First second of the year 0.
pub const FIRST: i64 = -62_167_219_200;
/// Seconds of a day.
pub const DAY: i64 = 86_400;

/// Whole days from `now` until `at`, rounded down: one second past is -1.
pub fn days_until(at: i64, now: i64) -> i64 {
    at.saturating_sub(now).div_euclid(DAY)
}

/// RFC 3339 in UTC, to the second. What lies outside these years is moved to the nearest second
/// inside.
pub fn rfc3339(at: i64) -> String {
    utc(at).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// For people: `2026-11-25`.
pub fn day(at: i64) -> String {
    utc(at).format("%Y-%m-%d").to_string()
}

/// For people, where the hour counts: `2026-11-25 14:05 UTC`.
pub fn minute(at: i64) -> String {
    utc(at).format("%Y-%m-%d %H:%M UTC").to_string()
}

/// For people: `60 days left`, `expired 2 days ago`; of [`days_until`], where -1 is less than a day
/// ago.
pub fn left(days: i64) -> String {
    let of = |days: i64| if days == 1 { "1 day".to_owned() } else { format!("{days} days") };
    match days {
        0.. => format!("{} left", of(days)),
        -1 => "expired less than a day ago".to_owned(),
        _ => format!("expired {} ago", of(-(days + 1))),
    }
}

/// Unix seconds of what a result's `date-time` may hold: a [`moment`], or a day, which is its first
/// second.
pub fn parse(text: &str) -> Option<i64> {
    let day = || Some(text.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN).and_utc());
    moment(text).or_else(|| day().map(|first| first.timestamp()))
}

/// Unix seconds of an RFC 3339 text, of one whose offset has no colon, or of one without an offset,
/// which is UTC.
pub fn moment(text: &str) -> Option<i64> {
    let zoned = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z"))
        .ok()
        .map(|date| date.timestamp());
    let bare = || NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok();
    zoned.or_else(|| bare().map(|date| date.and_utc().timestamp()))
}

fn utc(at: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(at.clamp(FIRST, LAST), 0).expect("years 0 to 9999 are in range")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_767_225_600;

    #[test]
    fn days_are_rounded_down() {
        for (seconds, days) in [
            (0, 0),
            (1, 0),
            (23 * 3_600, 0),
            (DAY - 1, 0),
            (DAY, 1),
            (14 * DAY, 14),
            (-1, -1),
            (-DAY, -1),
            (-DAY - 1, -2),
        ] {
            assert_eq!(days_until(NOW + seconds, NOW), days, "{seconds} s");
        }
        assert_eq!(days_until(i64::MAX, -1), i64::MAX / DAY);
    }

    #[test]
    fn year_9999_and_what_lies_beyond_are_written() {
        assert_eq!(rfc3339(LAST), "9999-12-31T23:59:59Z");
        assert_eq!(rfc3339(i64::MAX), "9999-12-31T23:59:59Z");
        assert_eq!(rfc3339(i64::MIN), "0000-01-01T00:00:00Z");
    }

    #[test]
    fn written_dates_read_back() {
        for at in [0, NOW, LAST, FIRST, -1] {
            assert_eq!(parse(&rfc3339(at)), Some(at));
        }
        assert_eq!(parse("2026-01-01T01:00:00.5+01:00"), Some(NOW));
        assert_eq!(parse("2026-01-01T01:00:00+0100"), Some(NOW));
        assert_eq!(parse("2026-01-01T00:00:00"), Some(NOW));
        assert_eq!(parse("2026-01-01T00:00:00.418139"), Some(NOW));
        assert_eq!(parse("2026-01-01"), Some(NOW));
        for text in ["", "soon", "2026", "2026-13-01", "2026-01-01T", "2026-01-01T25:00:00"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn days_that_are_over_are_not_left() {
        for (days, said) in [
            (2, "2 days left"),
            (1, "1 day left"),
            (0, "0 days left"),
            (-1, "expired less than a day ago"),
            (-2, "expired 1 day ago"),
            (-3, "expired 2 days ago"),
        ] {
            assert_eq!(left(days), said);
        }
    }

    #[test]
    fn people_read_days_and_minutes() {
        assert_eq!(day(NOW), "2026-01-01");
        assert_eq!(minute(NOW + 3_660), "2026-01-01 01:01 UTC");
    }
}
