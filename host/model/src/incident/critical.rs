//! What `auto_create` makes an incident of (decisions: incidents).

use crate::{AlertId, SiteId};

/// An account's unresolved critical alerts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriticalAlerts {
    pub total: u64,
    /// The sites that have them, each once.
    pub sites: Vec<SiteId>,
    /// What some of them say, newest first.
    pub messages: Vec<String>,
    /// Which they are, in the same order, and as far as they were read.
    pub alerts: Vec<AlertId>,
}

impl CriticalAlerts {
    /// `N critical alerts on M sites`, whatever the numbers.
    pub fn title(&self) -> String {
        format!("{}{ALERTS}{}{SITES}", self.total, self.sites.len())
    }

    /// The first update: a line for each message, as far as they fit.
    pub fn summary(&self) -> String {
        if self.total == 0 {
            return NONE.to_owned();
        }
        let mut text = format!("{}{COLON}", self.title());
        let mut told = 0;
        for message in &self.messages {
            if text.len() + message.len() <= LONGEST {
                text.push_str("\n- ");
                text.push_str(message);
                told += 1;
            }
        }
        let more = self.total.saturating_sub(told);
        if more > 0 {
            text.push_str(&format!("\nand {more} more"));
        }
        text
    }
}

/// Whether a text is a [`CriticalAlerts::title`].
pub(super) fn is_title(text: &str) -> bool {
    after_title(text) == Some("")
}

/// Whether a text is a [`CriticalAlerts::summary`] that tells of alerts.
pub(super) fn is_summary(text: &str) -> bool {
    let list = after_title(text).and_then(|rest| rest.strip_prefix(COLON));
    list.is_some_and(|list| list.starts_with('\n'))
}

/// What follows the title that a text begins with; none where it does not.
fn after_title(text: &str) -> Option<&str> {
    let sites = after_number(text)?.strip_prefix(ALERTS)?;
    after_number(sites)?.strip_prefix(SITES)
}

fn after_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

/// The words of titles and summaries. Stored ones are recognised by them: they stay as they are.
const ALERTS: &str = " critical alerts on ";
const SITES: &str = " sites";
const COLON: &str = ":";
/// Bytes; well within what a message may have.
const LONGEST: usize = 8_000;
const NONE: &str = "There are no critical alerts at the moment.";
