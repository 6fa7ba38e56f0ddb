//! How ids are put together from parts, and what is read back from them.

use std::ops::Bound;

use surrealdb::types::{
    Array, Range, RecordId, RecordIdKey, RecordIdKeyRange, SurrealValue, Value,
};
use uuid::Uuid;
use vedette_model::Timestamp;

use crate::error::{Error, Result};

/// One of several parts makes an array, a single one stands alone.
pub(crate) fn id<const N: usize>(table: &'static str, parts: [Value; N]) -> RecordId {
    RecordId::new(table, key(parts))
}

/// Everything whose key begins with these parts.
pub(crate) fn under<const N: usize>(table: &'static str, parts: [Value; N]) -> RecordId {
    let first = Vec::from(parts);
    let mut last = first.clone();
    // A range sorts after every other value, so this is the end of what begins so.
    last.push(Value::Range(Box::new(Range::from(..))));
    range(
        table,
        Bound::Included(RecordIdKey::Array(Array::from(first))),
        Bound::Included(RecordIdKey::Array(Array::from(last))),
    )
}

pub(super) fn range(
    table: &'static str,
    start: Bound<RecordIdKey>,
    end: Bound<RecordIdKey>,
) -> RecordId {
    RecordId::new(table, RecordIdKeyRange { start, end })
}

pub(super) fn key<const N: usize>(parts: [Value; N]) -> RecordIdKey {
    if N > 1 {
        return RecordIdKey::Array(Array::from(Vec::from(parts)));
    }
    match parts.into_iter().next() {
        Some(Value::Uuid(uuid)) => RecordIdKey::Uuid(uuid),
        Some(Value::String(text)) => RecordIdKey::String(text),
        _ => unreachable!("keys of one part are UUIDs and texts"),
    }
}

/// Whole numbers of one kind sort as what they are.
pub(super) fn counted(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into_value()
}

/// Milliseconds, negated: newest first is forward, and forward is the only direction in which
/// the engine reads no more than it answers.
pub(crate) fn rev(at: Timestamp) -> i64 {
    -at.timestamp_millis()
}

/// The UTC day of a [`rev`], negated too.
pub(crate) fn rev_day(rev: i64) -> i64 {
    -(-rev).div_euclid(DAY_MS)
}

/// The newest [`rev`] of a negated day.
pub(crate) fn first_rev(day: i64) -> i64 {
    day.saturating_sub(1).saturating_mul(DAY_MS).saturating_add(1)
}

pub(crate) const DAY_MS: i64 = 86_400_000;

/// The UUID that stands at the given place of a row's id.
pub(crate) fn uuid_at(id: &RecordId, place: usize) -> Result<Uuid> {
    let value = match &id.key {
        RecordIdKey::Uuid(uuid) if place == 0 => return Ok(Uuid::from(*uuid)),
        RecordIdKey::Array(parts) => parts.get(place).cloned(),
        _ => None,
    };
    let value = value.ok_or_else(|| Error::corrupt("id", "it is too short"))?;
    Uuid::from_value(value).map_err(|error| Error::corrupt("id", error))
}

/// A text inside an id.
pub(crate) fn text_at(id: &RecordId, place: usize) -> Result<String> {
    let value = match &id.key {
        RecordIdKey::String(text) if place == 0 => return Ok(text.clone()),
        RecordIdKey::Array(parts) => parts.get(place).cloned(),
        _ => None,
    };
    let value = value.ok_or_else(|| Error::corrupt("id", "it is too short"))?;
    String::from_value(value).map_err(|error| Error::corrupt("id", error))
}
