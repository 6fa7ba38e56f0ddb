//! How a call into a plugin can end without an answer.

use std::time::Duration;

use crate::check::Problem;

/// Why a guest was stopped, or its answer refused. Each has its own code in
/// `vedette_plugin_stops_total{plugin,version,why}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Stop {
    #[error("it used up its CPU time")]
    Cpu,
    #[error("it ran into its wall clock limit")]
    Wall,
    #[error("it recursed too deeply")]
    Stack,
    #[error("it passed more data or handles to the host than allowed")]
    HostCall,
    #[error("it asked for more memory or tables than allowed")]
    Memory,
    #[error("it trapped")]
    Trap,
    #[error("it answered something that its contract forbids")]
    Output,
    #[error("it reported that it failed")]
    Failed,
    #[error("it failed too often and is paused")]
    Paused,
}

/// How a run ended without an observation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The egress policy forbids the target; nothing was sent. The caller's mistake (400).
    #[error("{0}")]
    Blocked(String),
    /// The plugin cannot check this kind of target (400).
    #[error("{0}")]
    UnsupportedTarget(String),
    /// The configuration does not fit the plugin (400).
    #[error("the configuration does not fit this check")]
    InvalidConfig(Vec<Problem>),
    /// A source is throttling: due again in so long (5 s to a day).
    #[error("try again in {} seconds", .0.as_secs())]
    RetryIn(Duration),
    /// No slot came free in time, or the machine stood still meanwhile. Our own trouble: `unknown`.
    #[error("too many checks are running, or this machine has no time for them")]
    Overloaded,
    /// The plugin broke or was stopped: `unknown`, and the operator hears of it.
    #[error("the plugin broke: {why} ({message})")]
    Broken { why: Stop, message: String },
    #[error(
        "no plugin for this check is installed; `vedette plugin list` shows those that are, \
         `vedette plugin install` adds one"
    )]
    NotInstalled,
}

/// How a pure call ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginError {
    #[error("no such plugin is installed; `vedette plugin list` shows those that are")]
    NotInstalled,
    #[error("too many plugin calls are running, or this machine has no time for them")]
    Overloaded,
    /// What was handed in is not what the plugin's schema describes; it was not called.
    #[error("the result does not fit the check's schema: {0}")]
    InvalidInput(String),
    #[error("the plugin broke: {why} ({message})")]
    Broken { why: Stop, message: String },
}

/// Why a configuration was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValidateError {
    #[error("the configuration does not fit this check")]
    Problems(Vec<Problem>),
    /// The plugin gave no answer: our own trouble.
    #[error(transparent)]
    Unavailable(#[from] PluginError),
}

impl Stop {
    /// All but `Paused`: a paused plugin is not called.
    pub(crate) const COUNTED: [Self; 8] = [
        Self::Cpu,
        Self::Wall,
        Self::Stack,
        Self::HostCall,
        Self::Memory,
        Self::Trap,
        Self::Output,
        Self::Failed,
    ];

    /// The code in metrics and logs.
    pub fn code(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Wall => "wall",
            Self::Stack => "stack",
            Self::HostCall => "host_call",
            Self::Memory => "memory",
            Self::Trap => "trap",
            Self::Output => "output",
            Self::Failed => "failed",
            Self::Paused => "paused",
        }
    }
}
