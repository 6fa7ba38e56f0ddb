//! Times of day and time zones.

use chrono::NaiveTime;

use super::names;
use super::reader::{Reader, Token};

/// A time of day with what must be added to it.
pub(super) struct Moment {
    pub(super) time: NaiveTime,
    /// `24:00` is the next day.
    pub(super) days: i64,
    /// Minutes east of Greenwich.
    pub(super) offset: i64,
}

impl Reader {
    /// A time of day and its zone. Without one the reader stays where it is.
    pub(super) fn time(&mut self) -> Option<Moment> {
        let start = self.at;
        let moment = self.time_here();
        if moment.is_none() {
            self.at = start;
        }
        moment
    }

    fn time_here(&mut self) -> Option<Moment> {
        self.space();
        self.mark_of(",-:");
        self.word_of(&["t", "at", "um", "as", "kl", "om", "a"]);
        self.space();
        let (hour, minute, second) = match self.tokens.get(self.at)? {
            Token::Number { value, digits: 6 } => {
                let packed = *value;
                self.at += 1;
                (packed / 10_000, packed / 100 % 100, packed % 100)
            }
            _ => self.spaced_clock()?,
        };
        let hour = self.half_of_day(hour)?;
        let (days, time) = clock(hour, minute, second)?;
        let offset = self.zone();
        Some(Moment { time, days, offset })
    }

    fn spaced_clock(&mut self) -> Option<(u64, u64, u64)> {
        let hour = self.number(1..=2)?;
        let mark = self.mark_of(":.")?;
        let again = if mark == ':' { ":" } else { "." };
        let minute = self.number(2..=2)?;
        let second = match self.mark_of(again) {
            Some(_) => self.number(2..=2)?,
            None if mark == '.' => return None,
            None => 0,
        };
        let fraction = self.at;
        if self.mark_of(".,").is_none() || self.number(1..=20).is_none() {
            self.at = fraction;
        }
        Some((hour.into(), minute.into(), second.into()))
    }

    fn half_of_day(&mut self, hour: u64) -> Option<u64> {
        let start = self.at;
        self.space();
        let half = self.word_of(&["am", "pm"]);
        match half {
            None => {
                self.at = start;
                Some(hour)
            }
            Some(_) if !(1..=12).contains(&hour) => None,
            Some("am") => Some(hour % 12),
            Some(_) => Some(hour % 12 + 12),
        }
    }

    /// Minutes east of Greenwich; 0 where no zone is known.
    pub(super) fn zone(&mut self) -> i64 {
        let start = self.at;
        self.space();
        self.mark_of("([");
        let named = match self.tokens.get(self.at) {
            Some(Token::Word(word)) => names::zone(word),
            _ => None,
        };
        if named.is_some() {
            self.at += 1;
        }
        let found = match (self.offset(), named) {
            (Some(offset), Some(_)) => Some(offset),
            (Some(offset), None) => {
                self.word_of(&["z"]);
                Some(offset)
            }
            (None, named) => named,
        };
        if found.is_none() {
            self.at = start;
        }
        found.unwrap_or(0)
    }

    /// `+01`, `-0300`, `+05:30`.
    fn offset(&mut self) -> Option<i64> {
        let start = self.at;
        let read = self.offset_here();
        if read.is_none() {
            self.at = start;
        }
        read
    }

    fn offset_here(&mut self) -> Option<i64> {
        let sign = if self.mark_of("+-−")? == '+' { 1 } else { -1 };
        let Some(Token::Number { value, digits }) = self.tokens.get(self.at) else { return None };
        let (value, digits) = (i64::try_from(*value).ok()?, *digits);
        self.at += 1;
        let (hours, minutes) = match digits {
            1 | 2 if self.mark_of(":").is_some() => (value, i64::from(self.number(2..=2)?)),
            1 | 2 => (value, 0),
            4 => (value / 100, value % 100),
            _ => return None,
        };
        (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes))
    }
}

/// A time of day, and the days that `24:00` adds. A leap second is the one before it.
pub(super) fn clock(hour: u64, minute: u64, second: u64) -> Option<(i64, NaiveTime)> {
    if (hour, minute, second) == (24, 0, 0) {
        return Some((1, NaiveTime::MIN));
    }
    let second = if second == 60 { 59 } else { second };
    let part = |part: u64| u32::try_from(part).ok();
    Some((0, NaiveTime::from_hms_opt(part(hour)?, part(minute)?, part(second)?)?))
}
