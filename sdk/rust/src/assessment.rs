//! The verdict: the evidence it may rest on and the findings it makes.

use serde::{Serialize, de::DeserializeOwned};

use crate::{EventType, Severity};

pub use crate::bindings::check::exports::vedette::plugin::checker::{Assessment, Finding, Health};

/// All that a verdict may rest on. Times are Unix seconds, as in certificates.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence<C, F> {
    pub current: F,
    pub current_at: i64,
    /// The last result whose findings were all confirmed or had vanished; none = the first run
    /// (or one that this version can no longer read, which is the same to a baseline).
    pub settled: Option<Settled<F>>,
    /// Latest results of the site's other checks: (check type, JSON). See [`Evidence::sibling`].
    pub siblings: Vec<(String, String)>,
    pub config: C,
    /// The site's threshold for expiry events, in days.
    pub alert_days: u16,
    /// What the last assessment asked to remember. See [`Evidence::remembered`].
    pub memory: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settled<F> {
    pub facts: F,
    pub at: i64,
}

impl<C, F> Evidence<C, F> {
    /// What [`Assessment::remember`] kept last time. None at first, and when another version
    /// remembered something of another shape.
    pub fn remembered<M: DeserializeOwned>(&self) -> Option<M> {
        serde_json::from_str(self.memory.as_deref()?).ok()
    }

    /// The latest result of another check of the same site, for cross-checks. None when there is
    /// none, or none of this shape.
    pub fn sibling<T: DeserializeOwned>(&self, check_type: &str) -> Option<T> {
        let (_, facts) = self.siblings.iter().find(|(name, _)| name == check_type)?;
        serde_json::from_str(facts).ok()
    }
}

impl Assessment {
    /// A verdict without findings that remembers nothing.
    pub fn new(health: Health) -> Self {
        Self { health, findings: Vec::new(), memory: None }
    }

    pub fn with(mut self, finding: Finding) -> Self {
        self.findings.push(finding);
        self
    }

    /// Keeps a value (at most 64 KiB as JSON) for the next assessment of this site.
    ///
    /// # Panics
    /// When JSON cannot hold the value, such as a map whose keys are no strings.
    pub fn remember<M: Serialize>(mut self, value: &M) -> Self {
        self.memory = Some(json(value));
        self
    }
}

impl Finding {
    /// A finding of the event, with the event's own severity and confirmations. Equal keys across
    /// runs are one alert.
    pub fn new(
        event: &EventType,
        dedup_key: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            event: event.name.to_owned(),
            severity: None,
            dedup_key: dedup_key.into(),
            message: message.into(),
            suggestion: None,
            details: None,
            confirmations: None,
        }
    }

    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// What the owner of the site can do about it.
    pub fn suggestion(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Kept with the alert (at most 16 KiB as JSON).
    ///
    /// # Panics
    /// When JSON cannot hold the value.
    pub fn details<D: Serialize>(mut self, details: &D) -> Self {
        self.details = Some(json(details));
        self
    }

    pub fn confirmations(mut self, confirmations: u8) -> Self {
        self.confirmations = Some(confirmations);
        self
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("the value has a form in JSON")
}
