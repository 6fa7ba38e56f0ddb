//! The three things a PATCH can say of a field.
//!
//! *Invariant:* absent = keep, null = clear, value = set (decisions: PATCH); `{}` changes nothing.

use serde::{Deserialize, Deserializer};

use crate::Invalid;

/// Serde: mark the field `#[serde(default)]`, so that an absent one is `Keep`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> Patch<T> {
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// The value it sets, if it sets one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Keep | Self::Clear => None,
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Self::Keep => Patch::Keep,
            Self::Clear => Patch::Clear,
            Self::Set(value) => Patch::Set(f(value)),
        }
    }

    /// Changes a nullable field.
    pub fn apply_option(self, target: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *target = None,
            Self::Set(value) => *target = Some(value),
        }
    }

    /// Changes a field that cannot be null: clearing it is [`Invalid`] and changes nothing.
    pub fn apply(self, field: &'static str, target: &mut T) -> Result<(), Invalid> {
        match self {
            Self::Keep => {}
            Self::Clear => return Err(Invalid::new(field, "must not be null")),
            Self::Set(value) => *target = value,
        }
        Ok(())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(|value| value.map_or(Self::Clear, Self::Set))
    }
}

#[cfg(test)]
mod tests;
