//! The grammar of dates: numbers, words and marks in one of the orders that are in use.

use chrono::{NaiveDate, NaiveTime};

use super::Order;
use super::clock::{Moment, clock};
use super::names;
use super::reader::{Reader, Separator, Token};

/// Seconds since 1970, if all of the text is one date.
pub(super) fn read(text: &str, order: Order) -> Option<i64> {
    let order = Order::of_hint(text).unwrap_or(order);
    let mut reader = Reader::new(text);
    reader.lead();
    let before = reader.time();
    reader.lead();
    let (date, inner) = reader.date(order)?;
    let moment = match inner.or_else(|| reader.time()).or(before) {
        Some(moment) => moment,
        None => Moment { days: 0, time: NaiveTime::MIN, offset: 0 },
    };
    if !reader.is_rest_harmless() {
        return None;
    }
    let local = date.and_time(moment.time).and_utc().timestamp();
    Some(local + moment.days * 86_400 - moment.offset * 60)
}

/// The two numbers of a date whose order is open: `03/04/2025`.
pub(super) fn open_numbers(text: &str) -> Option<(u32, u32)> {
    let mut reader = Reader::new(text);
    reader.lead();
    let first = reader.number(1..=2)?;
    let mark = reader.mark_of("/-")?;
    let second = reader.number(1..=2)?;
    reader.mark_of(if mark == '/' { "/" } else { "-" })?;
    reader.number(4..=4)?;
    Some((first, second))
}

impl Reader {
    /// What may stand before a date: quotes, brackets, small words, a weekday.
    fn lead(&mut self) {
        loop {
            match self.tokens.get(self.at) {
                Some(Token::Space | Token::Mark('"' | '\'' | '(' | '[' | ',' | ':')) => {}
                Some(Token::Word(word)) if is_small(word) || names::is_weekday(word) => {
                    self.at += 1;
                    self.mark_of(".");
                    continue;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    /// A date, and the time where it stands inside the date (`Jun 21 23:59:59 GMT 2011`).
    fn date(&mut self, order: Order) -> Option<(NaiveDate, Option<Moment>)> {
        match self.tokens.get(self.at)? {
            Token::Number { digits: 8 | 12 | 14, .. } => self.packed(),
            Token::Number { digits: 4, .. } => Some((self.year_first()?, None)),
            Token::Number { digits: 1 | 2, .. } => Some((self.year_last(order)?, None)),
            Token::Word(_) => self.month_first(),
            _ => None,
        }
    }

    /// `20170209`, also with the time behind it.
    fn packed(&mut self) -> Option<(NaiveDate, Option<Moment>)> {
        let Some(Token::Number { value, digits }) = self.tokens.get(self.at) else { return None };
        let (value, digits) = (*value, *digits);
        self.at += 1;
        let (day, time) = match digits {
            8 => (value, None),
            12 => (value / 10_000, Some(value % 10_000 * 100)),
            _ => (value / 1_000_000, Some(value % 1_000_000)),
        };
        let date = ymd(day / 10_000, day / 100 % 100, day % 100)?;
        let Some(time) = time else { return Some((date, None)) };
        let (days, time) = clock(time / 10_000, time / 100 % 100, time % 100)?;
        let offset = self.zone();
        Some((date, Some(Moment { time, days, offset })))
    }

    /// `2024-04-02`, `2024. 4. 2.`, `2024-Apr-02`, `2024年4月2日`.
    fn year_first(&mut self) -> Option<NaiveDate> {
        let year = self.number(4..=4)?;
        let between = self.separator()?;
        let month = match self.month() {
            Some(month) => month,
            None if between == Separator::Space => return None,
            None => self.number(1..=2)?,
        };
        if self.separator()? != between {
            return None;
        }
        let day = self.number(1..=2)?;
        if between == Separator::Ideograph {
            self.word_of(&["日", "일", "号"]);
        }
        ymd(year.into(), month.into(), day.into())
    }

    /// `02.04.2024`, `2/4/2024`, `2-Apr-2024`, `30th April 2003`, `2 de abril de 2024`.
    fn year_last(&mut self, order: Order) -> Option<NaiveDate> {
        let first = self.number(1..=2)?;
        self.word_of(&["st", "nd", "rd", "th", "er", "o"]);
        let between = self.separator()?;
        self.link();
        if let Some(month) = self.month() {
            self.separator()?;
            self.link();
            let year = self.number(4..=4)?;
            return ymd(year.into(), month.into(), first.into());
        }
        let second = self.number(1..=2)?;
        if self.separator()? != between {
            return None;
        }
        let year = self.number(4..=4)?;
        let (day, month) = match between {
            Separator::Mark('.') => (first, second),
            Separator::Mark('/' | '-') => sort(first, second, order)?,
            _ => return None,
        };
        ymd(year.into(), month.into(), day.into())
    }

    /// `April 2, 2024`, `Apr 02 2024`, `Apr 2 10:00:00 UTC 2024`.
    fn month_first(&mut self) -> Option<(NaiveDate, Option<Moment>)> {
        let month = self.month()?;
        self.separator()?;
        let day = self.number(1..=2)?;
        self.word_of(&["st", "nd", "rd", "th"]);
        let after = self.at;
        self.separator();
        if let Some(year) = self.number(4..=4) {
            return Some((ymd(year.into(), month.into(), day.into())?, None));
        }
        self.at = after;
        let time = self.time()?;
        self.separator();
        let year = self.number(4..=4)?;
        Some((ymd(year.into(), month.into(), day.into())?, Some(time)))
    }

    /// Remarks may follow a date; another date, an impossible time, or more of the same word,
    /// may not.
    fn is_rest_harmless(&self) -> bool {
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        if let [Token::Word(_) | Token::Number { .. }, ..]
        | [Token::Mark('-' | '/' | '.'), Token::Number { .. } | Token::Word(_), ..]
        | [Token::Space, Token::Number { .. }, Token::Mark(':'), ..] = rest
        {
            return false;
        }
        let mut is_noted = false;
        rest.iter().all(|token| match token {
            Token::Mark(mark) => {
                is_noted |= *mark == '#';
                true
            }
            Token::Number { digits, .. } => is_noted || *digits < 4,
            Token::Word(_) | Token::Space => true,
        })
    }
}

/// Day and month, where the digits or the custom decide which is which.
fn sort(first: u32, second: u32, order: Order) -> Option<(u32, u32)> {
    match (first > 12, second > 12, order) {
        (true, true, _) => None,
        (true, false, _) => Some((first, second)),
        (false, true, _) => Some((second, first)),
        _ if first == second => Some((first, second)),
        (_, _, Order::DayFirst) => Some((first, second)),
        (_, _, Order::MonthFirst) => Some((second, first)),
        (_, _, Order::Unknown) => None,
    }
}

fn ymd(year: u64, month: u64, day: u64) -> Option<NaiveDate> {
    let year = i32::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
    NaiveDate::from_ymd_opt(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?)
}

fn is_small(word: &str) -> bool {
    matches!(word, "on" | "at" | "le" | "el" | "am" | "em" | "il" | "den" | "the")
}
