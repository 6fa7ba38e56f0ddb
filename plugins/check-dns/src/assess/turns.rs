//! Record sets that a name goes back to again and again, such as an alias that alternates between
//! two providers.
//!
//! *Invariant:* a set is treated as rotation only after its return was told twice; a set that was
//! never there is always told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::difference::Kept;
use crate::record_type::RecordType;

/// How long a set counts as one that was there.
const SPAN: i64 = 7 * 86_400;
/// Returns within [`SPAN`] that make a set one of the turns. One is a change that was taken back.
const RETURNS: usize = 2;
/// Sets of one type that are remembered; of more, the latest.
const MAX_SETS: usize = 6;

/// The sets of the last days, by type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Turns {
    sets: BTreeMap<String, Vec<Past>>,
}

/// A set that was the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Past {
    digest: String,
    /// When it last came or went, in Unix seconds.
    at: i64,
    /// When it came back; at most [`RETURNS`].
    returns: Vec<i64>,
}

impl Turns {
    /// Drops what is too long ago.
    pub(super) fn forget(&mut self, now: i64) {
        let recent = |at: i64| now.saturating_sub(at) <= SPAN;
        for past in self.sets.values_mut().flatten() {
            past.returns.retain(|at| recent(*at));
        }
        self.sets.retain(|_, sets| {
            sets.retain(|past| recent(past.at));
            !sets.is_empty()
        });
    }

    /// Whether the name returns to this set so often that it is no news.
    pub(super) fn is_turn(&self, rtype: RecordType, before: &Kept, after: &Kept) -> bool {
        let sets = self.sets.get(rtype.name()).into_iter().flatten();
        let mut same = sets.filter(|past| past.digest == after.digest);
        is_exchange(before, after) && same.any(|past| past.returns.len() >= RETURNS)
    }

    /// Notes that one set took the place of another.
    pub(super) fn replaced(&mut self, rtype: RecordType, before: &Kept, after: &Kept, now: i64) {
        if !is_exchange(before, after) {
            return;
        }
        let sets = self.sets.entry(rtype.name().to_owned()).or_default();
        for (kept, came) in [(before, false), (after, true)] {
            let known = sets.iter().position(|past| past.digest == kept.digest);
            let mut returns = known.map(|at| sets.remove(at).returns);
            if let Some(returns) = returns.as_mut().filter(|_| came) {
                returns.push(now);
                let surplus = returns.len().saturating_sub(RETURNS);
                returns.drain(..surplus);
            }
            let returns = returns.unwrap_or_default();
            sets.push(Past { digest: kept.digest.clone(), at: now, returns });
        }
        let surplus = sets.len().saturating_sub(MAX_SETS);
        sets.drain(..surplus);
    }
}

/// Records that vanish, or come back from nothing, are always told.
fn is_exchange(before: &Kept, after: &Kept) -> bool {
    before.count > 0 && after.count > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = crate::fixture::NOW;

    fn kept(values: &[&str]) -> Kept {
        Kept::of(&values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn set_that_came_back_twice_is_a_turn_for_a_week() {
        let (x, y, other) = (kept(&["x"]), kept(&["y"]), kept(&["z"]));
        let mut turns = Turns::default();
        let mut so_far = Vec::new();
        for (before, after) in [(&x, &y), (&y, &x), (&x, &y), (&y, &x), (&x, &y)] {
            so_far.push(turns.is_turn(RecordType::Cname, before, after));
            turns.replaced(RecordType::Cname, before, after, NOW);
        }
        assert_eq!(so_far, [false; 5]);
        assert!(turns.is_turn(RecordType::Cname, &y, &x));
        assert!(turns.is_turn(RecordType::Cname, &other, &x));
        assert!(!turns.is_turn(RecordType::Cname, &x, &other));
        assert!(!turns.is_turn(RecordType::Mx, &y, &x), "each type by itself");
        turns.forget(NOW + SPAN);
        assert!(turns.is_turn(RecordType::Cname, &y, &x));
        turns.forget(NOW + SPAN + 1);
        assert_eq!(turns, Turns::default());
    }

    #[test]
    fn nothing_is_no_turn() {
        let (x, none) = (kept(&["x"]), kept(&[]));
        let mut turns = Turns::default();
        for _ in 0..5 {
            turns.replaced(RecordType::Mx, &x, &none, NOW);
            turns.replaced(RecordType::Mx, &none, &x, NOW);
        }
        assert!(!turns.is_turn(RecordType::Mx, &x, &none));
        assert!(!turns.is_turn(RecordType::Mx, &none, &x));
    }

    #[test]
    fn latest_sets_are_kept_and_take_little_room() {
        let mut turns = Turns::default();
        for rtype in RecordType::ALL {
            for n in 0..100 {
                let (before, after) = (kept(&[&format!("{n}")]), kept(&[&format!("{}", n + 1)]));
                for _ in 0..3 {
                    turns.replaced(rtype, &before, &after, NOW + n);
                    turns.replaced(rtype, &after, &before, NOW + n);
                }
            }
        }
        assert!(turns.is_turn(RecordType::Txt, &kept(&["other"]), &kept(&["99"])));
        let written = serde_json::to_string(&turns).expect("it has a form in JSON");
        assert!(written.len() < 6 << 10, "{}", written.len());
    }
}
