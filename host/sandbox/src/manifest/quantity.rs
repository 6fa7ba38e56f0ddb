//! Sizes and durations as people write them.

use std::{str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, de};

/// Bytes, written `64KiB`, `8MiB` or a plain number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

/// A duration, written `20ms`, `8s`, `5m`, `1h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span(pub(super) Duration);

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, unit) = split(text);
        let scale = match unit {
            "" | "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            _ => return Err("a size such as 64KiB or 8MiB"),
        };
        let number: u64 = number.parse().map_err(|_| "a size such as 64KiB or 8MiB")?;
        number.checked_mul(scale).map(Self).ok_or("a smaller size")
    }
}

impl FromStr for Span {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, unit) = split(text);
        let number: u32 = number.parse().map_err(|_| "a duration such as 20ms or 8s")?;
        let unit = match unit {
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            "m" => Duration::from_secs(60),
            "h" => Duration::from_secs(3600),
            _ => return Err("a duration such as 20ms or 8s"),
        };
        Ok(Self(number * unit))
    }
}

fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(|want| de::Error::custom(format_args!("expected {want}")))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(|want| de::Error::custom(format_args!("expected {want}")))
    }
}
