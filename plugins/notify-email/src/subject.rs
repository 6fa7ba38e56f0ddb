//! The subject: what is wrong, where, and how bad, in as many words as a phone shows.

use crate::{
    entry::{Entry, Tone},
    line,
};

/// One line of at most 120 characters.
pub(crate) fn of(entries: &[Entry]) -> String {
    let subject = match entries {
        [] => "no alerts".to_owned(),
        [entry] if entry.tone == Tone::Test => "[test] this is a test notification".to_owned(),
        [entry] => {
            let domain = line::name(&entry.domain, LONGEST_DOMAIN);
            format!("[{}] {domain}: {}", entry.tone.word(), entry.message)
        }
        entries => several(entries),
    };
    line::header(&subject, LONGEST)
}

/// `3 alerts: 2 critical on example.com and 1 more site`: the worst are counted, and the first of
/// them is named.
fn several(entries: &[Entry]) -> String {
    let (mut worst, mut resolved) = (entries[0].tone, 0);
    for entry in entries {
        worst = worst.max(entry.tone);
        resolved += usize::from(entry.tone == Tone::Resolved);
    }
    let mut those = entries.iter().filter(|entry| entry.tone == worst);
    let first = those.next().map_or("", |entry| entry.domain.as_str());
    let count = 1 + those.count();
    let more = domains(entries) - 1;
    let also = match resolved {
        0 => String::new(),
        _ if worst == Tone::Resolved => String::new(),
        resolved => format!(", {resolved} resolved"),
    };
    let elsewhere = match more {
        0 => String::new(),
        1 => " and 1 more site".to_owned(),
        more => format!(" and {more} more sites"),
    };
    let domain = line::name(first, LONGEST_DOMAIN);
    let all = entries.len();
    format!("{all} alerts: {count} {}{also} on {domain}{elsewhere}", worst.word())
}

fn domains(entries: &[Entry]) -> usize {
    let mut domains: Vec<&str> = entries.iter().map(|entry| entry.domain.as_str()).collect();
    domains.sort_unstable();
    domains.dedup();
    domains.len()
}

const LONGEST: usize = 120;
const LONGEST_DOMAIN: usize = 60;
