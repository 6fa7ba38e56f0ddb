//! The subject: what is wrong, where, and how bad, in as many words as a phone shows.

use vedette_sdk::message::{Mark, counted};

use crate::{entry::Entry, line};

/// One line of at most 120 characters.
pub(crate) fn of(entries: &[Entry]) -> String {
    let subject = match entries {
        [] => "no alerts".to_owned(),
        [entry] if entry.mark == Mark::Test => "[test] this is a test notification".to_owned(),
        [entry] => {
            let domain = line::name(&entry.domain, LONGEST_DOMAIN);
            format!("[{}] {domain}: {}", entry.mark.word().to_lowercase(), entry.message)
        }
        entries => several(entries),
    };
    line::header(&subject, LONGEST)
}

/// `3 alerts: 2 critical, 1 info on example.com and 1 more site`: the site of the worst is named.
fn several(entries: &[Entry]) -> String {
    let worst = entries.iter().min_by_key(|entry| entry.mark);
    let domain = worst.map_or("", |entry| entry.domain.as_str());
    let more = domains(entries).saturating_sub(1);
    let elsewhere = match more {
        0 => String::new(),
        1 => " and 1 more site".to_owned(),
        more => format!(" and {more} more sites"),
    };
    let counts = counted(entries.iter().map(|entry| entry.mark));
    format!("{counts} on {}{elsewhere}", line::name(domain, LONGEST_DOMAIN))
}

fn domains(entries: &[Entry]) -> usize {
    let mut domains: Vec<&str> = entries.iter().map(|entry| entry.domain.as_str()).collect();
    domains.sort_unstable();
    domains.dedup();
    domains.len()
}

const LONGEST: usize = 120;
const LONGEST_DOMAIN: usize = 60;
