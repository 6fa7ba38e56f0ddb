//! Whether a site keeps failing, each time for a moment.
//!
//! A failure that the next look does not find does not count (decisions: confirmation), and behind
//! a balancer with one bad server of two each failure looks like that.
//!
//! *Invariant:* a failure counts that neither the look before nor the next one found. What was
//! confirmed never does, however long it lasts and however it ends.

use serde::{Deserialize, Serialize};

/// The last looks at a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Recent {
    /// A bit for each look, the latest the lowest: 1 where the site was down.
    down: u32,
    /// It failed often enough to be told, and since then not seldom enough.
    unsteady: bool,
}

/// Among so many looks failures are counted: a third of an hour.
const LOOKS: u32 = 20;
/// So many failures among them are told.
const MANY: u32 = 6;
/// And with so few it is over.
const FEW: u32 = 2;

impl Recent {
    /// With one look more.
    pub(super) fn after(self, down: bool) -> Self {
        // With the one before them, which tells whether the first of them is alone.
        let down = ((self.down << 1) | u32::from(down)) & ((1 << (LOOKS + 1)) - 1);
        let alone = down & !(down >> 1) & !(down << 1);
        // Of the latest the next look will tell.
        let told = ((1 << LOOKS) - 1) & !1;
        let failures = (alone & told).count_ones();
        let unsteady = if self.unsteady { failures > FEW } else { failures >= MANY };
        Self { down, unsteady }
    }

    pub(super) fn is_unsteady(self) -> bool {
        self.unsteady
    }

    /// Nothing worth remembering.
    pub(super) fn is_good(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsteady(looks: &str) -> bool {
        let recent =
            looks.chars().fold(Recent::default(), |recent, look| recent.after(look == 'd'));
        recent.is_unsteady()
    }

    #[test]
    fn failures_that_come_one_by_one_make_a_site_unsteady_and_outages_do_not() {
        for (looks, expected) in [
            ("u".repeat(40), false),
            ("d".repeat(40), false),
            ("du".repeat(5), false),
            ("du".repeat(6), true),
            // The last of them may go on.
            ("du".repeat(5) + "d", false),
            ("du".repeat(5) + "ddu", false),
            ("udu".repeat(6), true),
            ("uddduddddddddddddddd".to_owned(), false),
            // Confirmed each time; and over each time, or believed to be at once.
            ("dduu".repeat(10), false),
            ("ddu".repeat(10), false),
            ("uuuud".repeat(10), false),
        ] {
            assert_eq!(unsteady(&looks), expected, "{looks}");
        }
    }

    #[test]
    fn unsteady_site_is_steady_again_once_it_has_failed_seldom() {
        let often = "ud".repeat(6) + "u";
        for (then, expected) in [
            ("u".repeat(14), true),
            ("u".repeat(15), false),
            ("d".repeat(14), true),
            ("d".repeat(15), false),
            ("uuuuud".repeat(9), true),
            ("uuuuuuuuud".repeat(9), false),
        ] {
            assert_eq!(unsteady(&format!("{often}{then}")), expected, "{then}");
        }
    }
}
