//! The doors of the fuzz targets (`tests/fuzz`): parsers that bytes alone should reach.
//!
//! They are compiled with everything else, so that they cannot go stale unnoticed; no code of the
//! plugin calls them, and a component exports nothing of them.

use std::hint::black_box;

use crate::{
    date::{self, Order},
    whois,
};

/// Reads a WHOIS answer about a name.
pub fn whois(answer: &[u8], name: &str, tld: &str) {
    black_box(whois::read(answer, name, tld));
}

/// Reads the answer of the WHOIS root.
pub fn root(answer: &str) {
    black_box(whois::server_of_tld(answer));
}

/// Reads a date in every order.
pub fn date(text: &str) {
    for order in [Order::DayFirst, Order::MonthFirst, Order::Unknown] {
        black_box(date::parse_date(text, order));
    }
    black_box((Order::of_hint(text), Order::of_example(text)));
}
