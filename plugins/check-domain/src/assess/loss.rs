//! A registration that no longer exists.

use serde::{Deserialize, Serialize};

use crate::result::Source;

/// Results in a row that say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Loss {
    /// As the latest of them says it.
    pub(super) source: Option<Source>,
    /// The registry keeps the name from being registered.
    pub(super) is_reserved: bool,
    /// How many there were, counted only as far as needed.
    results: u8,
    /// Both sources said so, at least once.
    by_both: bool,
}

impl Loss {
    /// Of one source, until it is believed: a registry may have forgotten everybody for a moment.
    pub(super) const CONFIRMATIONS: u8 = 2;

    pub(super) fn new(source: Option<Source>, is_reserved: bool) -> Self {
        let by_both = source == Some(Source::RdapAndWhois);
        Self { source, is_reserved, results: 1, by_both }
    }

    /// The same, as the next after those before.
    pub(super) fn after(self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self };
        let results = before.results.saturating_add(1).min(Self::CONFIRMATIONS);
        Self { results, by_both: self.by_both || before.by_both, ..self }
    }

    pub(super) fn is_certain(&self) -> bool {
        self.by_both || self.results >= Self::CONFIRMATIONS
    }
}
