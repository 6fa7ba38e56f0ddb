//! The stretch of time that a page is cut from, in the order of the keys: newest first.

use super::CheckFilter;
use crate::key;

/// [`key::rev`]s from `near`, the newest, up to but without `far`.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) near: i64,
    pub(super) far: i64,
}

impl Span {
    pub(super) fn of(filter: &CheckFilter) -> Self {
        let near = filter.until.map_or(-FAREST, |until| {
            let cuts_a_millisecond = until.timestamp_subsec_nanos() % 1_000_000 > 0;
            key::rev(until) + i64::from(!cuts_a_millisecond)
        });
        let far = filter.from.map_or(FAREST, |from| key::rev(from) + 1);
        Self { near, far }
    }

    pub(super) fn near_day(self) -> i64 {
        key::rev_day(self.near)
    }

    pub(super) fn far_day(self) -> i64 {
        key::rev_day(self.far - 1)
    }

    /// The part of the span in its newest day.
    pub(super) fn near_cut(self) -> Self {
        Self { near: self.near, far: self.far.min(last_rev(self.near_day()) + 1) }
    }

    /// The part of the span in its oldest day.
    pub(super) fn far_cut(self) -> Self {
        Self { near: self.near.max(key::first_rev(self.far_day())), far: self.far }
    }
}

/// The oldest millisecond of a negated day.
fn last_rev(day: i64) -> i64 {
    day.saturating_mul(key::DAY_MS)
}

/// Beyond any moment, and far enough from the edge of what can be counted with.
pub(super) const FAREST: i64 = 1 << 60;
