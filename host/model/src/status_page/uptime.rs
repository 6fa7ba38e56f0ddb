//! What the days of a site were like, from what was counted of them.

use serde::{Deserialize, Serialize, Serializer};

use crate::Timestamp;

/// Days that the page shows, today among them.
pub const DAYS: usize = 90;

/// How the runs of one UTC day ended, as far as they are counted; it is there for every day that
/// had any. Stored as a list: there are ninety of every site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i64, u64, u64, u64, u64)", into = "(i64, u64, u64, u64, u64)")]
pub struct DayCount {
    /// Days since 1970.
    pub day: i64,
    pub ok: u64,
    pub degraded: u64,
    pub down: u64,
    pub unknown: u64,
}

/// What a day is shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DayState {
    Ok,
    Degraded,
    Down,
    /// There were runs, and most of them tell nothing.
    Unknown,
    NoData,
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub up: u64,
    /// At least 1.
    pub known: u64,
}

/// The last [`DAYS`] days of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The first of the days, since 1970.
    pub first: i64,
    /// Oldest first, [`DAYS`] of them.
    pub states: Vec<DayState>,
    /// Over all days together; none when nothing is known of any.
    pub uptime: Option<Share>,
}

impl From<(i64, u64, u64, u64, u64)> for DayCount {
    fn from((day, ok, degraded, down, unknown): (i64, u64, u64, u64, u64)) -> Self {
        Self { day, ok, degraded, down, unknown }
    }
}

impl From<DayCount> for (i64, u64, u64, u64, u64) {
    fn from(DayCount { day, ok, degraded, down, unknown }: DayCount) -> Self {
        (day, ok, degraded, down, unknown)
    }
}

impl DayCount {
    /// Down from one failed run in twenty on (an hour and more of a day), degraded when anything
    /// failed or one run in twenty was slow; unknown where most runs could not tell. A failed run
    /// that is alone was never confirmed, since the next one follows at once: it counts in the
    /// percentage, and tells nothing of the day.
    pub fn state(&self) -> DayState {
        let known = self.known();
        let notable = |runs: u64| runs > 0 && runs.saturating_mul(NOTABLE) >= known;
        let failed = self.down >= CONFIRMED;
        if known == 0 && self.unknown == 0 {
            DayState::Unknown
        } else if failed && notable(self.down) {
            DayState::Down
        } else if failed || notable(self.degraded) {
            DayState::Degraded
        } else if self.unknown.saturating_add(self.down) > known.saturating_sub(self.down) {
            DayState::Unknown
        } else {
            DayState::Ok
        }
    }

    fn known(&self) -> u64 {
        self.ok.saturating_add(self.degraded).saturating_add(self.down)
    }
}

impl History {
    /// `today` in days since 1970; what lies outside of the days shown is passed over.
    pub fn of(counts: &[DayCount], today: i64) -> Self {
        let days = i64::try_from(DAYS).expect("a few days");
        let first = today - days + 1;
        let mut states = vec![DayState::NoData; DAYS];
        let mut share = Share::default();
        for count in counts {
            let place = usize::try_from(count.day.saturating_sub(first)).ok();
            let Some(state) = place.and_then(|place| states.get_mut(place)) else { continue };
            *state = count.state();
            share.up = share.up.saturating_add(count.ok).saturating_add(count.degraded);
            share.known = share.known.saturating_add(count.known());
        }
        Self { first, states, uptime: Some(share).filter(|share| share.known > 0) }
    }

    pub fn last(&self) -> i64 {
        self.first + i64::try_from(self.states.len()).expect("a few days") - 1
    }

    /// The days that were degraded or down, newest first.
    pub fn trouble(&self) -> impl Iterator<Item = (i64, DayState)> {
        let days = (self.first..=self.last()).rev().zip(self.states.iter().rev().copied());
        days.filter(|(_, state)| matches!(state, DayState::Degraded | DayState::Down))
    }

    /// Days of which nothing is known.
    pub fn gaps(&self) -> usize {
        let gap = |state: &&DayState| matches!(state, DayState::Unknown | DayState::NoData);
        self.states.iter().filter(gap).count()
    }
}

impl Share {
    /// In hundredths of a percent, rounded down: 100 % is said only of what never failed.
    pub fn hundredths(&self) -> u64 {
        let up = u128::from(self.up.min(self.known)) * 10_000;
        u64::try_from(up / u128::from(self.known.max(1))).unwrap_or(10_000)
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.hundredths() {
            10_000 => f.write_str("100%"),
            part => write!(f, "{}.{:02}%", part / 100, part % 100),
        }
    }
}

/// A number of percent, for programs.
impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hundredths = u32::try_from(self.hundredths()).unwrap_or(10_000);
        serializer.serialize_f64(f64::from(hundredths) / 100.0)
    }
}

/// Days since 1970.
pub fn day(at: Timestamp) -> i64 {
    at.timestamp().div_euclid(86_400)
}

/// Failed runs from which on it was more than a slip.
const CONFIRMED: u64 = 2;
/// One run in so many is worth a colour.
const NOTABLE: u64 = 20;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counted(day: i64, ok: u64, degraded: u64, down: u64, unknown: u64) -> DayCount {
        DayCount { day, ok, degraded, down, unknown }
    }

    #[test]
    fn a_day_is_what_most_of_its_runs_say_and_failures_weigh_more() {
        let table = [
            ((0, 0, 0, 0), DayState::Unknown),
            ((1440, 0, 0, 0), DayState::Ok),
            ((1, 0, 0, 0), DayState::Ok),
            ((1439, 1, 0, 0), DayState::Ok),
            ((1368, 72, 0, 0), DayState::Degraded),
            ((1439, 0, 1, 0), DayState::Ok),
            ((1438, 0, 2, 0), DayState::Degraded),
            ((1368, 0, 72, 0), DayState::Down),
            ((0, 0, 1, 0), DayState::Unknown),
            ((1, 0, 1, 0), DayState::Ok),
            ((0, 0, 2, 0), DayState::Down),
            ((0, 1, 0, 0), DayState::Degraded),
            ((0, 0, 0, 9), DayState::Unknown),
            ((4, 0, 0, 5), DayState::Unknown),
            ((5, 0, 0, 5), DayState::Ok),
            ((1, 0, 1, 900), DayState::Unknown),
            ((1, 0, 2, 900), DayState::Down),
            ((u64::MAX, u64::MAX, u64::MAX, 0), DayState::Down),
        ];
        for ((ok, degraded, down, unknown), expected) in table {
            assert_eq!(counted(0, ok, degraded, down, unknown).state(), expected);
        }
    }

    #[test]
    fn gaps_and_unknown_runs_are_neither_up_nor_down() {
        let history = History::of(&[], 20_000);
        assert_eq!((history.uptime, history.gaps()), (None, DAYS));
        let only_unknown = History::of(&[counted(20_000, 0, 0, 0, 50)], 20_000);
        assert_eq!((only_unknown.uptime, only_unknown.states[89]), (None, DayState::Unknown));

        let counts = [
            counted(20_000, 90, 5, 5, 900),
            counted(19_990, 100, 0, 0, 0),
            counted(19_910, 0, 0, 100, 0), // the day before the first
            counted(20_001, 0, 0, 100, 0), // tomorrow
        ];
        let history = History::of(&counts, 20_000);
        assert_eq!((history.first, history.last()), (19_911, 20_000));
        assert_eq!(history.uptime, Some(Share { up: 195, known: 200 }));
        assert_eq!(history.uptime.map(|share| share.to_string()).as_deref(), Some("97.50%"));
        assert_eq!(history.trouble().collect::<Vec<_>>(), [(20_000, DayState::Down)]);
        assert_eq!(history.gaps(), 88);
    }

    #[test]
    fn hundred_percent_is_said_only_of_what_never_failed() {
        for (up, known, said) in [
            (1, 1, "100%"),
            (999_999, 1_000_000, "99.99%"),
            (9_999, 10_000, "99.99%"),
            (1, 3, "33.33%"),
            (0, 7, "0.00%"),
            (u64::MAX, u64::MAX, "100%"),
        ] {
            assert_eq!(Share { up, known }.to_string(), said);
        }
        let shown = serde_json::to_value(Share { up: 9_998, known: 10_000 }).unwrap();
        assert_eq!(shown, json!(99.98));
    }
}
