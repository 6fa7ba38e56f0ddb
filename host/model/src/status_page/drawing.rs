//! The two drawings of a site, as short as they can be: a page may hold a hundred of each.
//!
//! Equal days in a row are one stroke with dashes, a dash for a day; dashes start over with each
//! stroke. The height of a day's bar tells its state as well as the colour does.

use std::fmt::Write;

use super::DayState;

/// The box that [`bars`] fills, in units: 90 days of 3 and the gaps of 1 between them.
pub const BARS: (usize, usize) = (359, 32);
/// The box that [`sparkline`] fills.
pub const SPARK: (usize, usize) = (92, 24);

/// The strokes of each state that occurs, in the order of the states.
pub fn bars(states: &[DayState]) -> Vec<(DayState, String)> {
    let all =
        [DayState::Ok, DayState::Degraded, DayState::Down, DayState::Unknown, DayState::NoData];
    let strokes = all.map(|state| (state, strokes(states, state)));
    strokes.into_iter().filter(|(_, path)| !path.is_empty()).collect()
}

fn strokes(states: &[DayState], wanted: DayState) -> String {
    let mut path = String::new();
    let mut day = 0;
    for run in states.chunk_by(|one, next| one == next) {
        if run.first() == Some(&wanted) {
            let (x, y, length) = (day * 4, middle(wanted), run.len() * 4 - 1);
            write!(path, "M{x} {y}h{length}").expect("a string takes all");
        }
        day += run.len();
    }
    path
}

/// Where the stroke of a state runs; its width is in the style sheet, from there to the bottom
/// and as far up. Days without data are a line at the bottom: a row is as long with little history
/// as with much.
fn middle(state: DayState) -> usize {
    match state {
        DayState::Ok => 16,
        DayState::Degraded => 20,
        DayState::Down => 24,
        DayState::Unknown => 28,
        DayState::NoData => 31,
    }
}

/// A line through the means, interrupted where there are none; empty without any. The highest
/// touches the top, and the ground is zero, so that small changes look small. A mean between two
/// gaps is a dot: ends are to be drawn round.
pub fn sparkline(means: &[Option<u64>]) -> String {
    let Some(highest) = means.iter().flatten().max() else { return String::new() };
    let last = means.len().max(2) - 1;
    let mut path = String::new();
    let mut pen: Option<(usize, usize)> = None;
    for (nth, mean) in means.iter().enumerate() {
        let to = mean.map(|mean| (nth * SPARK.0 / last, level(mean, *highest)));
        match (pen, to) {
            (None, Some((x, y))) => write!(path, "M{x} {y}h0"),
            // A minus parts two numbers as well as a blank does.
            (Some((from, above)), Some((x, y))) if y < above => {
                write!(path, "l{}-{}", x - from, above - y)
            }
            (Some((from, above)), Some((x, y))) => write!(path, "l{} {}", x - from, y - above),
            (_, None) => Ok(()),
        }
        .expect("a string takes all");
        pen = to;
    }
    path
}

fn level(mean: u64, highest: u64) -> usize {
    let height = SPARK.1 - 2;
    let share = u128::from(mean) * (height as u128) / u128::from(highest.max(1));
    1 + height - usize::try_from(share).unwrap_or(height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_days_in_a_row_are_one_stroke() {
        use DayState::{Degraded, Down, NoData, Ok};
        let mut states = vec![NoData; 30];
        states.extend([Ok; 28]);
        states.extend([Down, Ok, Degraded]);
        states.extend([Ok; 29]);
        assert_eq!(
            bars(&states),
            [
                (Ok, "M120 16h111M236 16h3M244 16h115".to_owned()),
                (Degraded, "M240 20h3".to_owned()),
                (Down, "M232 24h3".to_owned()),
                (NoData, "M0 31h119".to_owned()),
            ]
        );
        assert_eq!(bars(&[Ok; 90]), [(Ok, format!("M0 16h{}", BARS.0))]);
        assert_eq!(bars(&[]), []);
    }

    #[test]
    fn a_line_is_interrupted_where_nothing_answered() {
        let table: &[(&[Option<u64>], &str)] = &[
            (&[], ""),
            (&[None, None], ""),
            (&[Some(0), Some(0)], "M0 23h0l92 0"),
            (&[Some(100), Some(100)], "M0 1h0l92 0"),
            (&[Some(50), None, Some(100)], "M0 12h0M92 1h0"),
            (&[Some(u64::MAX), Some(0)], "M0 1h0l92 22"),
            (&[Some(7)], "M0 1h0"),
            (&[Some(50), Some(100), Some(0)], "M0 12h0l46-11l46 22"),
        ];
        for (means, expected) in table {
            assert_eq!(sparkline(means), *expected, "{means:?}");
        }
        let day: Vec<_> = (0..24).map(|hour| Some(100 + hour * 7 % 40)).collect();
        assert!(sparkline(&day).len() < 130);
    }
}
