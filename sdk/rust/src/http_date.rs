//! Dates in headers of HTTP (RFC 9110, 5.6.7), in the one form that is sent today.

/// Unix seconds of `Sun, 06 Nov 1994 08:49:37 GMT`. The name of the day is not looked at.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let rest = text.split_once(", ")?.1.strip_suffix(" GMT")?;
    let mut parts = rest.split(' ');
    let day = within(parts.next()?, 1, 31)?;
    let named = parts.next()?;
    let month = MONTHS.iter().position(|month| *month == named)?;
    let year = within(parts.next()?, 1970, 9999)?;
    let mut clock = parts.next()?.split(':');
    let hour = within(clock.next()?, 0, 23)?;
    let minute = within(clock.next()?, 0, 59)?;
    let second = within(clock.next()?, 0, 60)?;
    if parts.next().is_some() || clock.next().is_some() {
        return None;
    }
    Some(((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Days since 1970 began.
fn days(year: i64, month: usize, day: i64) -> i64 {
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let is_leap = leaps(year) > leaps(year - 1);
    let before = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    before + BEFORE[month] + i64::from(is_leap && month > 1) + day - 1
}

fn within(text: &str, least: i64, most: i64) -> Option<i64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let number: i64 = text.parse().ok().filter(|_| digits)?;
    (least..=most).contains(&number).then_some(number)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Days before each month of a common year.
const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_headers_are_read_and_nothing_else() {
        for (text, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200)),
            ("Sun, 22 Nov 2026 01:58:29 GMT", Some(1_795_312_709)),
            ("Sun, 06 Nov 1994 08:49:37 UTC", None),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun, 32 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("Sun, 06 Nov 1994 +8:49:37 GMT", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
