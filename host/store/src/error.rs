//! What can go wrong in the store: what a caller decides upon has a name, the rest is the engine's.

use crate::Stamp;

/// Why a call did not do what it was made for.
///
/// *Invariant:* after any of these but [`Error::Unavailable`] each transaction of the call is there
/// wholly or not at all, and the one that failed is not. Most calls are one transaction, and have
/// changed nothing then. Those that are several keep what was done before, and go on from there when
/// they are made again: [`Store::open`](crate::Store::open),
/// [`number_events`](crate::Store::number_events), [`forget_events`](crate::Store::forget_events) and
/// [`postpone_lanes`](crate::Store::postpone_lanes).
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Other writers won every retry; the same call may be made again.
    #[error("too many writers at once, try again")]
    Conflict,
    /// The state was read before somebody else changed it: read again, decide again.
    #[error("the state has moved on since it was read")]
    Stale,
    /// The lease has gone to another owner, so this one's result counts for nothing.
    #[error("the lease is held by another owner")]
    Fenced,
    /// The account, site or agent does not exist, or no longer does.
    #[error("the account, site or agent is gone")]
    Gone,
    #[error("the account has as many sites as its plan allows")]
    SiteLimit,
    #[error("the account has as many API keys as its plan allows")]
    KeyLimit,
    #[error("the account has as many agents as its plan allows")]
    AgentLimit,
    #[error("the agent looks at as many places as it may")]
    TargetLimit,
    #[error("the account has as many open incidents as it may")]
    IncidentLimit,
    #[error("the account has as many maintenance windows as it may")]
    WindowLimit,
    /// Members and open invitations together.
    #[error("the team has as many people as its plan allows")]
    TeamLimit,
    #[error("the account has sent as many mails as it may in a day")]
    LetterLimit,
    #[error("the account is in a team already")]
    InTeam,
    #[error("the account has members of its own")]
    HasTeam,
    /// Somebody else has proved that the domain is theirs.
    #[error("the domain is another account's")]
    DomainTaken,
    /// What was to be created exists, or what was to be reopened has an open equal.
    #[error("the same thing exists already")]
    Duplicate,
    /// The month's calls are used up; `used` is what was counted, and `stamp` says whether the
    /// limit was that of the account as it is.
    #[error("all calls of the month are used: {used}")]
    Exhausted { used: u64, stamp: Stamp },
    /// A plugin's state would outgrow its quota.
    #[error("the state would be larger than its quota")]
    StateQuota,
    /// The address of the store cannot be used; says what to change.
    #[error("{0}")]
    Address(String),
    /// A newer version of the program has been here.
    #[error("the store was written by a newer version (migration {0}), use that or later")]
    Newer(i64),
    /// A migration that ran once is no longer what it was.
    #[error("migration {0} differs from the one that was run, restore its text")]
    Rewritten(i64),
    /// The secrets in the store were sealed with a key that was not given; names it.
    #[error("the database was sealed with another key, whose id is {0}")]
    WrongKey(String),
    /// The folder held a database and holds none now; names the file that says so.
    #[error(
        "its files are lost or cut short: {0} says that there was a database, and there is none. \
         Put the folder back from a backup; or, to begin with an empty database, remove that file"
    )]
    Lost(String),
    /// A row does not read back as what was written.
    #[error("cannot read a stored {what}: {reason}")]
    Corrupt { what: &'static str, reason: String },
    /// The connection broke. A write may have happened: read by its id before trying again.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    #[error("the database refused: {0}")]
    Engine(String),
}

/// What the store answers.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn corrupt(what: &'static str, reason: impl std::fmt::Display) -> Self {
        Self::Corrupt { what, reason: reason.to_string() }
    }
}

/// For calls that answer none instead of [`Error::Gone`].
pub(crate) fn gone_is_none<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Gone) => Ok(None),
        Err(error) => Err(error),
    }
}
