//! What a key's text must look like: addresses, spans, URLs, ranges, resolvers.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de};
use url::Url;
use vedette_sandbox::egress::DnsServer;

/// `"90s"`, `"5m"`, `"6h"`, `"1d"`, `"500ms"`: a whole number and its unit.
pub(crate) fn parse_span(text: &str) -> Option<Duration> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let (_, milliseconds) = UNITS.iter().find(|(named, _)| *named == unit)?;
    number.checked_mul(*milliseconds).map(Duration::from_millis)
}

/// The shortest text that [`parse_span`] reads as this, of whole milliseconds.
pub(crate) fn span_text(span: Duration) -> String {
    let milliseconds = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let fits = UNITS.iter().find(|(_, unit)| milliseconds.is_multiple_of(*unit));
    let (named, unit) = fits.expect("every number is one of milliseconds");
    format!("{}{named}", milliseconds / unit)
}

/// How often something is done, as the operator writes it. What is wrong is told so that the key
/// can stand before it.
pub(crate) fn parse_interval(text: &str) -> Result<Duration, String> {
    let span = parse_span(text).ok_or_else(|| no_span(text))?;
    if !(SHORTEST_INTERVAL..=LONGEST_SPAN).contains(&span) {
        return Err(format!("must be between 1s and 366d, and not {text}"));
    }
    Ok(span)
}

pub(super) fn span<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(input)?;
    parse_span(&text)
        .filter(|span| *span <= LONGEST_SPAN)
        .ok_or_else(|| de::Error::custom(no_span(&text)))
}

/// How long something is kept; none = for ever.
pub(super) fn kept<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(input)?;
    parse_kept(&text).map_err(de::Error::custom)
}

fn parse_kept(text: &str) -> Result<Option<Duration>, String> {
    if matches!(text, "forever" | "0") {
        return Ok(None);
    }
    match parse_span(text) {
        None => Err(format!("{text} is neither a span such as 400d nor forever")),
        Some(span) if (SHORTEST_KEPT..=LONGEST_KEPT).contains(&span) => Ok(Some(span)),
        Some(_) => Err(format!("must be between 30d and 36500d, or forever, and not {text}")),
    }
}

fn no_span(text: &str) -> String {
    format!("{text} is not a span such as 60s, 5m or 6h")
}

pub(super) fn address<'de, D: Deserializer<'de>>(input: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(input)?;
    text.parse().map_err(|_| {
        de::Error::custom(format!("{text} is not an address and port such as 127.0.0.1:8080"))
    })
}

/// Of the web: whatever else is a URL would be found out by its first use alone. What stands there
/// instead is not repeated: the path of a URL that others gave out is often its secret.
pub(super) fn url<'de, D: Deserializer<'de>>(input: D) -> Result<Url, D::Error> {
    let text = String::deserialize(input)?;
    let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| {
        de::Error::custom("must be a URL with http:// or https://, such as https://example.com/")
    })
}

/// What may be printed of a text that was to be a URL: a password stands before an `@`, whether or
/// not the rest can be read.
pub(crate) fn without_user(text: &str) -> String {
    text.rsplit_once('@').map_or_else(|| text.to_owned(), |(_, rest)| format!("…@{rest}"))
}

pub(super) fn optional_url<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Url>, D::Error> {
    url(input).map(Some)
}

/// Ranges; a bare address is the range of itself.
pub(super) fn nets<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<IpNet>, D::Error> {
    each(input, |text| {
        let net = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        net.map_err(|_| format!("{text} is not a range such as 10.0.0.0/8"))
    })
}

/// Resolvers; without a port it is the transport's.
pub(super) fn resolvers<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<DnsServer>, D::Error> {
    each(input, |text| text.parse().map_err(|wrong| format!("{text} {wrong}")))
}

fn each<'de, D: Deserializer<'de>, T>(
    input: D,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, D::Error> {
    let texts = Vec::<String>::deserialize(input)?;
    texts.iter().map(|text| read(text).map_err(de::Error::custom)).collect()
}

pub(super) const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_SPAN: Duration = Duration::from_secs(366 * 86_400);
/// As long as deliveries are kept: a reader who finds one finds what it was about.
const SHORTEST_KEPT: Duration = Duration::from_secs(30 * 86_400);
/// A hundred years.
const LONGEST_KEPT: Duration = Duration::from_secs(36_500 * 86_400);
/// In milliseconds, the longest first.
const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown_whatever_stands_around_it() {
        for (text, shown) in [
            ("https://u:hunter2@ x", "…@ x"),
            ("u:hunter2@host:@", "…@"),
            ("ftp://host.example/", "ftp://host.example/"),
        ] {
            assert_eq!(without_user(text), shown);
        }
    }

    #[test]
    fn spans_are_a_number_and_a_unit() {
        let good = [
            ("60s", 60_000),
            ("5m", 300_000),
            ("6h", 21_600_000),
            ("1d", 86_400_000),
            ("250ms", 250),
        ];
        for (text, milliseconds) in good {
            let span = Duration::from_millis(milliseconds);
            assert_eq!(parse_span(text), Some(span), "{text}");
            let written = if text == "60s" { "1m" } else { text };
            assert_eq!(span_text(span), written);
        }
        for text in [
            "",
            "s",
            "60",
            "1.5h",
            "-1s",
            "1w",
            "1 s",
            "99999999999999999999d",
            "9999999999999999d",
        ] {
            assert_eq!(parse_span(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_kept_is_kept_for_a_month_at_least() {
        let days = |days: u64| Ok(Some(Duration::from_secs(days * 86_400)));
        for (text, expected) in [
            ("forever", Ok(None)),
            ("0", Ok(None)),
            ("30d", days(30)),
            ("9600h", days(400)),
            ("36500d", days(36_500)),
            ("29d", Err("must be between 30d and 36500d, or forever, and not 29d")),
            ("0d", Err("must be between 30d and 36500d, or forever, and not 0d")),
            ("36501d", Err("must be between 30d and 36500d, or forever, and not 36501d")),
            ("400", Err("400 is neither a span such as 400d nor forever")),
            ("1y", Err("1y is neither a span such as 400d nor forever")),
        ] {
            assert_eq!(parse_kept(text), expected.map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn intervals_are_spans_within_bounds() {
        for (text, seconds) in [("1s", 1), ("5m", 300), ("366d", 366 * 86_400)] {
            assert_eq!(parse_interval(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for (text, expected) in [
            ("0s", "must be between 1s and 366d, and not 0s"),
            ("999ms", "must be between 1s and 366d, and not 999ms"),
            ("367d", "must be between 1s and 366d, and not 367d"),
            ("5", "5 is not a span such as 60s, 5m or 6h"),
        ] {
            assert_eq!(parse_interval(text), Err(expected.to_owned()));
        }
    }
}
