//! From text and JSON to values: what a request brings is read here once and trusted after.
//!
//! *Invariant:* whatever cannot be read is an [`Invalid`] that names the field and tells the
//! bound; nothing is ignored and nothing is guessed (decisions: unknown body fields, `from`/`to`).

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, Days, NaiveDate, TimeDelta};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{Patch, Timestamp, text::ends_line};

/// A value outside its bounds: the field's wire name, and what it must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {reason}")]
pub struct Invalid {
    pub field: Cow<'static, str>,
    pub reason: Cow<'static, str>,
}

impl Invalid {
    /// `reason` goes on where the field's name ends: `must be between 1 and 365`.
    pub fn new(field: impl Into<Cow<'static, str>>, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

/// An RFC 3339 date-time, cut to whole milliseconds: what is stored and what is compared are
/// then the same value. A leap second is the second that follows it. Without an offset, as ISO 8601
/// has it and many languages write it, it is UTC like every time that the service tells. An offset
/// may come without its colon, as `strftime` writes it, and the time without its seconds, as a
/// browser's field for it does.
pub fn timestamp(field: &'static str, text: &str) -> Result<Timestamp, Invalid> {
    let text = &with_seconds(text);
    let read = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_rfc3339(&format!("{text}Z")))
        .or_else(|cause| match text.split_at_checked(text.len().saturating_sub(2)) {
            Some((start, minutes)) => DateTime::parse_from_rfc3339(&format!("{start}:{minutes}")),
            None => Err(cause),
        })
        .map_err(|_| Invalid::new(field, "must be a date-time such as 2026-11-20T15:04:05Z"))?;
    let millis = read.timestamp() * 1000 + i64::from(read.timestamp_subsec_millis());
    DateTime::from_timestamp_millis(millis)
        // An offset may lead out of the years that four digits can show.
        .filter(|at| (0..=9999).contains(&at.year()))
        .ok_or_else(|| Invalid::new(field, "must be within the years 0 to 9999 in UTC"))
}

/// `2026-11-20T15:04`, and what may follow, with the seconds that are left out.
fn with_seconds(text: &str) -> Cow<'_, str> {
    match text.split_at_checked(MINUTE.len()) {
        Some((minute, rest))
            if minute.as_bytes()[MINUTE.len() - 3] == b':'
                && (rest.is_empty() || rest.starts_with(['Z', 'z', '+', '-'])) =>
        {
            format!("{minute}:00{rest}").into()
        }
        _ => text.into(),
    }
}

/// What `from` and `to` take: a moment, or a whole UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    Instant(Timestamp),
    Day(NaiveDate),
}

impl Day {
    /// The first moment that belongs to it.
    pub fn start(self) -> Timestamp {
        match self {
            Self::Instant(at) => at,
            Self::Day(day) => midnight(day),
        }
    }

    /// The first moment after it: of a day the next midnight, of a moment the next millisecond.
    pub fn end(self) -> Timestamp {
        match self {
            Self::Instant(at) => at + TimeDelta::milliseconds(1),
            Self::Day(day) => midnight(day.checked_add_days(Days::new(1)).unwrap_or(day)),
        }
    }
}

/// A date (`2026-11-20`) or a date-time.
pub fn date_or_time(field: &'static str, text: &str) -> Result<Day, Invalid> {
    if let Some(day) = date(text) {
        return Ok(Day::Day(day));
    }
    timestamp(field, text).map(Day::Instant).map_err(|_| {
        Invalid::new(
            field,
            "must be a date such as 2026-11-20 or a date-time such as 2026-11-20T15:04:05Z",
        )
    })
}

/// A stretch of time, half open: `from` belongs to it, `until` does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

/// The query parameters `from` and `to`; a date-only `to` includes its whole UTC day, and
/// `from` after `to` is refused (decisions: Checks).
pub fn period(from: Option<&str>, to: Option<&str>) -> Result<Period, Invalid> {
    let from = from.map(|text| date_or_time("from", text)).transpose()?.map(Day::start);
    let until = to.map(|text| date_or_time("to", text)).transpose()?.map(Day::end);
    match (from, until) {
        (Some(from), Some(until)) if from >= until => {
            Err(Invalid::new("from", "must not be after to"))
        }
        _ => Ok(Period { from, until }),
    }
}

/// The query parameters `limit` (1–200, default 50) and `offset` (0 or more, default 0) of a
/// listing (spec: Field and pagination bounds).
pub fn page(limit: Option<&str>, offset: Option<&str>) -> Result<(u32, u32), Invalid> {
    let limit = match limit {
        None => DEFAULT_PAGE,
        Some(text) => number(text)
            .filter(|limit| (1..=LARGEST_PAGE).contains(limit))
            .ok_or_else(|| Invalid::new("limit", "must be between 1 and 200"))?,
    };
    let offset = match offset {
        None => 0,
        Some(text) => number(text)
            .ok_or_else(|| Invalid::new("offset", "must be between 0 and 4294967295"))?,
    };
    Ok((limit, offset))
}

/// A UUID in its hyphenated form, and no other.
pub fn uuid(field: &'static str, text: &str) -> Result<Uuid, Invalid> {
    // Of the forms that the parser takes only the hyphenated one has 36 characters.
    if text.len() != 36 {
        return Err(Invalid::new(field, "must be a UUID"));
    }
    Uuid::try_parse(text).map_err(|_| Invalid::new(field, "must be a UUID"))
}

/// An address as `IpAddr::from_str` reads it and nothing laxer: no octal, hexadecimal or short
/// forms, no zones.
pub fn address(field: &'static str, text: &str) -> Result<IpAddr, Invalid> {
    text.parse().map_err(|_| Invalid::new(field, "must be an IP address"))
}

/// The members of a JSON body, read one by one; members that nobody reads are ignored.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a>(&'a Map<String, Value>);

impl<'a> Body<'a> {
    pub fn of(value: &'a Value) -> Result<Self, Invalid> {
        value.as_object().map(Self).ok_or_else(|| Invalid::new("body", "must be a JSON object"))
    }

    /// A member that must be there and not null.
    pub fn required<T>(
        &self,
        field: &'static str,
        read: impl FnOnce(&'static str, &'a Value) -> Result<T, Invalid>,
    ) -> Result<T, Invalid> {
        match self.0.get(field) {
            None | Some(Value::Null) => Err(Invalid::new(field, "is required")),
            Some(value) => read(field, value),
        }
    }

    /// A member that may be absent, but not null.
    pub fn optional<T>(
        &self,
        field: &'static str,
        read: impl FnOnce(&'static str, &'a Value) -> Result<T, Invalid>,
    ) -> Result<Option<T>, Invalid> {
        match self.0.get(field) {
            None => Ok(None),
            Some(Value::Null) => Err(Invalid::new(field, "must not be null")),
            Some(value) => read(field, value).map(Some),
        }
    }

    /// A nullable member: absent = keep, null = clear, value = set.
    pub fn patch<T>(
        &self,
        field: &'static str,
        read: impl FnOnce(&'static str, &'a Value) -> Result<T, Invalid>,
    ) -> Result<Patch<T>, Invalid> {
        match self.0.get(field) {
            None => Ok(Patch::Keep),
            Some(Value::Null) => Ok(Patch::Clear),
            Some(value) => read(field, value).map(Patch::Set),
        }
    }
}

pub fn text<'a>(field: &'static str, value: &'a Value) -> Result<&'a str, Invalid> {
    value.as_str().ok_or_else(|| Invalid::new(field, "must be a string"))
}

/// A string of at most `max` characters (not bytes).
pub fn text_within<'a>(
    field: &'static str,
    value: &'a Value,
    max: usize,
) -> Result<&'a str, Invalid> {
    let text = text(field, value)?;
    // Never more characters than bytes: most texts need no counting.
    if text.len() > max && text.chars().count() > max {
        return Err(Invalid::new(field, format!("must have at most {max} characters")));
    }
    Ok(text)
}

/// Text of one line: no control characters, so that it can stand in a header, a subject or a
/// terminal.
pub fn line<'a>(field: &'static str, value: &'a Value, max: usize) -> Result<&'a str, Invalid> {
    let text = text_within(field, value, max)?;
    if text.contains(ends_line) {
        return Err(Invalid::new(field, "must not contain control characters"));
    }
    Ok(text)
}

pub fn boolean(field: &'static str, value: &Value) -> Result<bool, Invalid> {
    value.as_bool().ok_or_else(|| Invalid::new(field, "must be true or false"))
}

/// A whole number within bounds, both inclusive; `14.0` is one too, as JSON Schema has it.
pub fn integer(
    field: &'static str,
    value: &Value,
    bounds: RangeInclusive<u16>,
) -> Result<u16, Invalid> {
    let number = value.as_i64().or_else(|| whole(value.as_f64()?));
    number.and_then(|n| u16::try_from(n).ok()).filter(|n| bounds.contains(n)).ok_or_else(|| {
        let (least, most) = (bounds.start(), bounds.end());
        Invalid::new(field, format!("must be a whole number between {least} and {most}"))
    })
}

/// None of a number with a fraction, or one so large that it may have lost one.
pub fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() <= EXACT;
    is_whole.then_some(number as i64)
}

pub fn list<'a>(field: &'static str, value: &'a Value) -> Result<&'a [Value], Invalid> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| Invalid::new(field, "must be a list"))
}

/// A free object, bounded in depth: it is stored and walked as it came.
pub fn object<'a>(
    field: &'static str,
    value: &'a Value,
) -> Result<&'a Map<String, Value>, Invalid> {
    let members = value.as_object().ok_or_else(|| Invalid::new(field, "must be an object"))?;
    if deeper_than(value, DEEPEST_OBJECT) {
        let reason = format!("must not be nested deeper than {DEEPEST_OBJECT} levels");
        return Err(Invalid::new(field, reason));
    }
    Ok(members)
}

/// `YYYY-MM-DD` to the letter: chrono alone would also take signs and missing zeros.
fn date(text: &str) -> Option<NaiveDate> {
    let shape = text.bytes().enumerate().all(|(position, byte)| match position {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    (shape && text.len() == 10).then(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()).flatten()
}

fn midnight(day: NaiveDate) -> Timestamp {
    day.and_time(chrono::NaiveTime::MIN).and_utc()
}

/// Digits only: `+5`, ` 5` and `5.0` are no whole numbers here.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => {
            levels == 0 || items.iter().any(|item| deeper_than(item, levels - 1))
        }
        Value::Object(members) => {
            levels == 0 || members.values().any(|member| deeper_than(member, levels - 1))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

const DEFAULT_PAGE: u32 = 50;
const LARGEST_PAGE: u32 = 200;
const DEEPEST_OBJECT: usize = 16;

const MINUTE: &str = "2026-11-20T15:04";

/// Beyond it numbers have no fraction to lose: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests;
