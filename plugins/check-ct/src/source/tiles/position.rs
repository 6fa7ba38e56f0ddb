//! Up to where a log was read for a site.

use super::{TILES, WIDTH};

/// The next entry to read, and how large the log was when the one before was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) next: u64,
    /// Size of the log, and when it was that, in Unix seconds. None where that was not noted.
    pub(super) seen: Option<(u64, i64)>,
}

impl Position {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ');
        let next = numbers.next()?.parse().ok()?;
        let size = numbers.next().and_then(|size| size.parse().ok());
        let at = numbers.next().and_then(|at| at.parse().ok());
        Some(Self { next, seen: size.zip(at) })
    }

    pub(super) fn to_text(self) -> String {
        match self.seen {
            Some((size, at)) => format!("{} {size} {at}", self.next),
            None => self.next.to_string(),
        }
    }

    /// Whether the log grew too fast since then to be caught up with. One that did not, and is far
    /// ahead all the same, was not read for a while.
    pub(super) fn is_outrun(&self, size: u64, now: i64) -> bool {
        let Some((before, at)) = self.seen else { return false };
        let seconds = u64::try_from(now.saturating_sub(at)).unwrap_or_default();
        size.saturating_sub(before) > seconds.saturating_mul(A_MINUTE) / 60
    }
}

/// Entries by which a log may grow in a minute: half of what is read in one, so that what is unread
/// becomes less.
const A_MINUTE: u64 = TILES * WIDTH / 2;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{date::DAY, fixture::NOW};

    #[test]
    fn positions_are_read_as_they_were_written() {
        for (text, next, seen) in [
            ("12", 12, None),
            ("12 30 1767225600", 12, Some((30, NOW))),
            ("0 0 0", 0, Some((0, 0))),
        ] {
            let position = Position { next, seen };
            assert_eq!(Position::parse(text), Some(position));
            assert_eq!(position.to_text(), text);
        }
        assert_eq!(Position::parse("12 30"), Some(Position { next: 12, seen: None }));
        for text in ["", "x", "-1", "alone", " 1"] {
            assert_eq!(Position::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn log_outruns_its_readers_by_growth_and_not_by_distance() {
        let position = Position { next: 0, seen: Some((1_000_000, NOW)) };
        for (size, after, expected) in [
            (1_000_000, 0, false),
            (1_000_001, 0, true),
            (1_000_512, 60, false),
            (1_000_513, 60, true),
            (1_000_256, 30, false),
            // An entry a second, in five days; and a hundred of them, as public logs have.
            (1_432_000, 5 * DAY, false),
            (44_200_000, 5 * DAY, true),
            // A clock that was set back says nothing for the log.
            (1_000_001, -DAY, true),
        ] {
            assert_eq!(position.is_outrun(size, NOW + after), expected, "{size} after {after} s");
        }
        assert!(!Position { next: 0, seen: None }.is_outrun(u64::MAX, NOW), "nobody knows");
    }

    proptest! {
        #[test]
        fn any_text_is_a_position_or_none(text in "[0-9 -]{0,60}|.{0,20}") {
            if let Some(position) = Position::parse(&text) {
                prop_assert_eq!(Position::parse(&position.to_text()), Some(position));
                let _ = position.is_outrun(u64::MAX, i64::MAX);
            }
        }
    }
}
