//! How a command of `vedette plugin` ends.

use serde_json::Value;
use vedette_sandbox::GateError;

pub(super) type Done = Result<Said, Failure>;

/// What was done, for programs and for people.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) json: Value,
    /// Whole lines.
    pub(super) text: String,
}

/// What is at fault; each says what to do.
#[derive(Debug)]
pub(super) enum Failure {
    Plugin(anyhow::Error),
    /// A plugin of which something can be shown all the same.
    Refused(Said, anyhow::Error),
    Environment(anyhow::Error),
}

impl Failure {
    pub(super) fn plugin(reason: String) -> Self {
        Self::Plugin(anyhow::Error::msg(reason))
    }
}

impl From<anyhow::Error> for Failure {
    fn from(cause: anyhow::Error) -> Self {
        Self::Environment(cause)
    }
}

impl From<GateError> for Failure {
    fn from(wrong: GateError) -> Self {
        Self::Plugin(anyhow::Error::new(wrong))
    }
}
