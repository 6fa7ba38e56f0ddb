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
    pub alerts: Vec<(AlertId, SiteId)>,
}

impl CriticalAlerts {
    /// Those that are not among `known`.
    pub fn without(&self, known: &[AlertId]) -> Self {
        let mut rest = Self::default();
        for (place, (alert, site)) in self.alerts.iter().enumerate() {
            if known.contains(alert) {
                continue;
            }
            rest.total += 1;
            rest.alerts.push((*alert, *site));
            rest.messages.extend(self.messages.get(place).cloned());
            if !rest.sites.contains(site) {
                rest.sites.push(*site);
            }
        }
        rest
    }

    /// `N critical alerts on M sites`, whatever the numbers.
    pub fn title(&self) -> String {
        format!("{} critical alerts on {} sites", self.total, self.sites.len())
    }

    /// The first update: a line for each message, as far as they fit.
    pub fn summary(&self) -> String {
        if self.total == 0 {
            return NONE.to_owned();
        }
        let mut text = format!("{}:", self.title());
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

/// Bytes; well within what a message may have.
const LONGEST: usize = 8_000;
const NONE: &str = "There are no critical alerts at the moment.";
