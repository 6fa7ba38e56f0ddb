//! Dates as the registries of the world write them.
//!
//! A text is cut into numbers, words and marks, and those are read by a small grammar: a date in
//! one of its orders, a time, a zone, and a rest that must not hold another date.
//!
//! *Invariant:* a text that could mean two days is no date.
//! *Invariant:* nothing overflows: years run from 1 to 9999, and only the first 160 characters
//! of a text are looked at.

mod clock;
mod grammar;
mod names;
mod reader;

#[cfg(test)]
mod tests;

pub(crate) use names::{is_month, is_weekday};

/// Which comes first where both the day and the month are digits and the year is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    DayFirst,
    MonthFirst,
    /// Nobody knows: `03/04/2025` is no date, `23/04/2025` is one.
    Unknown,
}

impl Order {
    /// The custom of a top level domain (the last label counts). Generic ones, those sold to
    /// everybody, and countries that write the year first or both ways have none.
    pub(crate) fn of_tld(tld: &str) -> Order {
        let tld = tld.trim_end_matches('.');
        let label = tld.rsplit('.').next().unwrap_or(tld).to_ascii_lowercase();
        if label.len() != 2 || NO_CUSTOM.contains(&label.as_str()) {
            Order::Unknown
        } else if MONTH_FIRST.contains(&label.as_str()) {
            Order::MonthFirst
        } else {
            Order::DayFirst
        }
    }

    /// What a hint such as `(dd/mm/yyyy)` beside a date says.
    pub(crate) fn of_hint(hint: &str) -> Option<Order> {
        let letters: String = hint
            .chars()
            .take(160)
            .filter(char::is_ascii_alphabetic)
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        if letters.contains("ddmmyy") {
            Some(Order::DayFirst)
        } else if letters.contains("mmddyy") {
            Some(Order::MonthFirst)
        } else {
            None
        }
    }

    /// What this date gives away about the others of the same answer: `09/17/2014` puts the
    /// month first.
    pub(crate) fn of_example(text: &str) -> Option<Order> {
        let (first, second) = grammar::open_numbers(text)?;
        match (first > 12, second > 12) {
            (true, false) => Some(Order::DayFirst),
            (false, true) => Some(Order::MonthFirst),
            _ => None,
        }
    }
}

/// Reads a date, with or without a time, as seconds since 1970. A date alone is its midnight in
/// UTC, and a time without a known zone is UTC. `None`: no date, or one that could mean two days.
pub(crate) fn parse_date(text: &str, order: Order) -> Option<i64> {
    grammar::read(text, order)
}

/// A registration date before the first domain names, or in the calendar of another era, means
/// something else: the zero of some computer's clock, or nothing.
pub(crate) fn is_plausible(at: i64, tld: &str) -> bool {
    let is_thai = tld.rsplit('.').next().is_some_and(|label| label.eq_ignore_ascii_case("th"));
    at >= YEAR_1985 && !(is_thai && at >= YEAR_2400)
}

pub(crate) const YEAR_1985: i64 = 473_385_600;
const YEAR_2400: i64 = 13_569_465_600;

/// They write the month first.
const MONTH_FIRST: &[&str] =
    &["as", "cf", "fm", "ga", "gq", "gu", "mh", "ml", "mp", "pr", "pw", "tk", "us", "vi"];

/// Sold to everybody, or written both ways, or with the year first.
const NO_CUSTOM: &[&str] = &[
    "ac", "ag", "ai", "bz", "ca", "cc", "cm", "cn", "co", "cx", "dj", "gg", "gl", "gs", "gy", "hn",
    "ht", "hu", "io", "ir", "je", "jp", "ke", "ki", "kp", "kr", "la", "lc", "lk", "lt", "me", "mn",
    "ms", "mu", "nf", "np", "nu", "pa", "ph", "pm", "re", "sc", "sh", "so", "st", "su", "sx", "tc",
    "tf", "tl", "to", "tv", "tw", "vc", "vg", "wf", "ws", "yt", "za",
];
