//! For how long a server wants to be left alone (RFC 9110, 10.2.3).

use std::time::Duration;

use crate::{http::Response, http_date};

impl Response {
    /// The first header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// What `Retry-After` asks for, in seconds or as a date; none where it says nothing that can be
    /// read. `now` is in Unix seconds, as [`Cx::now`](crate::Cx::now) tells it.
    pub fn retry_after(&self, now: i64) -> Option<Duration> {
        seconds(self.header("retry-after")?, || Some(now)).map(Duration::from_secs)
    }
}

/// The seconds from `now` on that the header's value stands for; a date that has passed stands for
/// none of them.
pub(crate) fn seconds(said: &str, now: impl FnOnce() -> Option<i64>) -> Option<u64> {
    let said = said.trim();
    if let Ok(seconds) = said.parse() {
        return Some(seconds);
    }
    let (at, now) = (http_date::parse(said)?, now()?);
    Some(u64::try_from(at.saturating_sub(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_767_225_600;

    #[test]
    fn seconds_and_dates_are_read_and_nothing_else() {
        for (said, expected) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("Thu, 01 Jan 2026 00:01:00 GMT", Some(60)),
            (" Thu, 01 Jan 2026 08:00:00 GMT ", Some(8 * 3_600)),
            ("Wed, 31 Dec 2025 00:00:00 GMT", Some(0)),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(seconds(said, || Some(NOW)), expected, "{said:?}");
        }
        assert_eq!(seconds("Thu, 01 Jan 2026 00:01:00 GMT", || None), None);
        assert_eq!(seconds("120", || None), Some(120));
    }
}
