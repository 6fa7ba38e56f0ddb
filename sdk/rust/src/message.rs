//! What channels that people read have in common: an alert in clean words, marked by a word and a
//! colour, and texts that keep to a length.
//!
//! notification → [`Entry`] per alert → the channel's own escapes through [`fit`] → as many
//! messages as the service's limits ask for ([`parted`]).
//!
//! *Invariant:* the texts of an entry are single lines without control, direction or invisible
//! characters: what a stranger put into a certificate cannot rearrange a message. They are not
//! escaped: each chat has characters of its own.
//! *Invariant:* pure, so that the same notification is the same bytes.

use crate::{Alert, Notification, Severity};

/// How an alert is marked, the worst first. Each has a word and a colour: nobody has to see colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    Critical,
    Warning,
    Info,
    Resolved,
    /// Sent by hand to try the channel.
    Test,
}

/// One alert in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub mark: Mark,
    pub domain: String,
    pub message: String,
    /// None once there is nothing left to do.
    pub suggestion: Option<String>,
}

/// What a test says in place of the alert's message (spec: Delivery 7).
pub const TEST: &str = "This is a test notification. No certificate is about to expire.";

/// A severity as the interface spells it.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

/// The alerts of a notification, in their order.
pub fn entries(notification: &Notification) -> Vec<Entry> {
    notification.alerts.iter().map(|alert| Entry::of(alert, notification.test)).collect()
}

/// A few words for all that a message carries: what phones show of it.
pub fn headline<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> String {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    if let [entry] = entries.as_slice() {
        return entry.title();
    }
    counted(entries.iter().map(|entry| entry.mark))
}

/// `3 alerts: 2 critical, 1 resolved`: each kind by its word, so that the numbers add up and what is
/// no trouble does not read like it.
pub fn counted(marks: impl IntoIterator<Item = Mark>) -> String {
    let marks: Vec<Mark> = marks.into_iter().collect();
    let counts = Mark::ALL.iter().filter_map(|mark| {
        let count = marks.iter().filter(|one| *one == mark).count();
        (count > 0).then(|| format!("{count} {}", mark.word().to_lowercase()))
    });
    format!("{} alerts: {}", marks.len(), counts.collect::<Vec<_>>().join(", "))
}

/// One line without control, direction or invisible characters; blanks in a row are one blank.
pub fn plain(text: &str) -> String {
    let visible: String = text
        .chars()
        .filter(|&c| !is_invisible(c))
        .map(|c| if is_break(c) { ' ' } else { c })
        .collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As much of `text` as fits into `max` UTF-16 units once `escape` wrote each character, with an
/// ellipsis where something was left out. It never ends within an escape. UTF-16 is what the most
/// careful of the services counts in; nobody counts more.
pub fn fit(text: &str, max: usize, escape: impl Fn(char, &mut String)) -> String {
    let mut fitted = String::new();
    let mut used = 0;
    // Where the text may end so that the ellipsis still fits.
    let mut end = 0;
    for c in text.chars() {
        let start = fitted.len();
        escape(c, &mut fitted);
        used += units(&fitted[start..]);
        if used > max {
            fitted.truncate(end);
            fitted.push('…');
            return fitted;
        }
        if used < max {
            end = fitted.len();
        }
    }
    fitted
}

/// For [`fit`], where a service takes text as it is.
pub fn verbatim(c: char, out: &mut String) {
    out.push(c);
}

/// Length in UTF-16 units.
pub fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Items in their order, in groups of at most `most` whose weights add up to at most `room`. What
/// is heavier than that is a group of its own.
pub fn parted<T>(
    items: Vec<T>,
    most: usize,
    room: usize,
    weight: impl Fn(&T) -> usize,
) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut left = 0;
    for item in items {
        let heavy = weight(&item);
        match groups.last_mut() {
            Some(group) if group.len() < most && heavy <= left => {
                left -= heavy;
                group.push(item);
            }
            _ => {
                left = room.saturating_sub(heavy);
                groups.push(vec![item]);
            }
        }
    }
    groups
}

impl Mark {
    const ALL: [Self; 5] = [Self::Critical, Self::Warning, Self::Info, Self::Resolved, Self::Test];

    /// A test is none of the others, and what is over is no longer as bad as it was.
    pub fn of(alert: &Alert, test: bool) -> Self {
        match alert.severity {
            _ if test => Self::Test,
            _ if alert.resolved => Self::Resolved,
            Severity::Critical => Self::Critical,
            Severity::Warning => Self::Warning,
            Severity::Info => Self::Info,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Critical => "Critical",
            Self::Warning => "Warning",
            Self::Info => "Info",
            Self::Resolved => "Resolved",
            Self::Test => "Test",
        }
    }

    /// `0xRRGGBB`; can be told apart on light and dark backgrounds, and by most people with a
    /// colour vision deficiency.
    pub fn rgb(self) -> u32 {
        match self {
            Self::Critical => 0x00d1_242f,
            Self::Warning => 0x00e3_a008,
            Self::Info => 0x002f_6feb,
            Self::Resolved => 0x001a_7f37,
            Self::Test => 0x006e_7781,
        }
    }
}

impl Entry {
    fn of(alert: &Alert, test: bool) -> Self {
        let (mark, domain) = (Mark::of(alert, test), plain(&alert.domain));
        if test {
            return Self { mark, domain, message: TEST.to_owned(), suggestion: None };
        }
        let suggestion = alert.suggestion.as_deref().filter(|_| !alert.resolved).map(plain);
        Self {
            mark,
            domain,
            message: plain(&alert.message),
            suggestion: suggestion.filter(|text| !text.is_empty()),
        }
    }

    /// `Critical: example.com`.
    pub fn title(&self) -> String {
        format!("{}: {}", self.mark.word(), self.domain)
    }

    /// `Critical: example.com: the certificate expires in 5 days`. Most messages begin with the
    /// domain: it is there once all the same.
    pub fn line(&self) -> String {
        let unnamed = self.message.strip_prefix(&self.domain);
        let unnamed = unnamed.and_then(|rest| rest.strip_prefix(": "));
        format!("{}: {}", self.title(), unnamed.unwrap_or(&self.message))
    }
}

/// Ends a line, or acts on a terminal.
fn is_break(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Takes no room, or turns what follows around. The joiners U+200C and U+200D stay: scripts and
/// emoji need them.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests;
