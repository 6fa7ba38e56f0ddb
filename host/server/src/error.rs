//! The one error of this crate. It knows no HTTP: `api::reply` maps it to a status, and that is
//! the only place that does.
//!
//! *Invariant:* what `Display` says is for the client and tells what to change; the chain of an
//! internal error is for the log alone.

use std::borrow::Cow;

use vedette_model::Invalid;

/// What this crate's functions answer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request was not done (spec: Errors).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value outside its bounds; names the field.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A body or a query that could not be read at all.
    #[error("{0}")]
    Malformed(String),
    /// No credential, or one that does not hold (any longer).
    #[error("{0}")]
    Unauthenticated(Cow<'static, str>),
    /// A message without its alleged sender's signature.
    #[error("{0}")]
    Unsigned(&'static str),
    /// The plan lacks the feature or its count is used up, or the role is too low; names the plan
    /// or the role that has it.
    #[error("{message}")]
    Forbidden { message: String },
    /// Unknown, or someone else's: the two are never told apart.
    #[error("{0} not found")]
    NotFound(Resource),
    /// One of the limits is exhausted for `retry_after` seconds, at least 1.
    #[error("{message}")]
    Limited { retry_after: u64, message: String },
    #[error("the body is larger than this endpoint takes")]
    TooLarge,
    /// The operator has not configured what the request needs; names the key.
    #[error("{0}")]
    NotConfigured(String),
    /// Our own trouble. The client learns only that it was ours.
    #[error("something went wrong on our side; the request can be tried again")]
    Internal(#[source] anyhow::Error),
    /// Our own trouble too, of the one kind that a client is told: no DNS server answers us, or only
    /// from its cache.
    #[error("this service's DNS servers are not answering; try again")]
    Offline(#[source] anyhow::Error),
    /// Our own trouble too: the plugin failed too often, so that nothing asks it for a while. The
    /// operator has been told.
    #[error(
        "a plugin that this needs failed too often on our side and is paused, for 15 minutes at most; \
         try again then"
    )]
    Paused,
    /// Our own trouble as well: nobody can say whether a session token holds. Why there are no keys
    /// is logged where they are asked for, not here: anybody can write a token.
    #[error("the identity provider's keys cannot be fetched; try again")]
    NoSessionKeys,
    /// A source that a check asks is throttling, for so many seconds.
    #[error("a source of this check is rate-limiting us; try again in {retry_after} s")]
    Throttled { retry_after: u64 },
}

/// What a request names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Account,
    Agent,
    Alert,
    ApiKey,
    Check,
    Incident,
    Invitation,
    MaintenanceWindow,
    ProvedDomain,
    RenewedCertificate,
    Site,
    StatusPage,
    TeamMember,
    Tool,
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Account => "account",
            Self::Agent => "agent",
            Self::Alert => "alert",
            Self::ApiKey => "API key",
            Self::Check => "check",
            Self::Incident => "incident",
            Self::Invitation => "invitation",
            Self::MaintenanceWindow => "maintenance window",
            Self::ProvedDomain => "proved domain",
            Self::RenewedCertificate => "renewed certificate",
            Self::Site => "site",
            Self::StatusPage => "status page",
            Self::TeamMember => "team member",
            Self::Tool => "tool",
        })
    }
}

impl Error {
    /// `Forbidden` with what the client should do about it.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::Forbidden { message: message.into() }
    }

    /// `Invalid` for one field, from this crate's own rules.
    pub fn invalid(
        field: impl Into<Cow<'static, str>>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Invalid(Invalid::new(field, reason))
    }
}

impl From<anyhow::Error> for Error {
    fn from(cause: anyhow::Error) -> Self {
        Self::Internal(cause)
    }
}

/// An account that vanished under a running request is not found; services that ask for a site or an
/// agent name those. All that is left is our own trouble. The limits (sites, keys, duplicates) are
/// turned into sentences by the services that know the plan.
impl From<vedette_store::Error> for Error {
    fn from(cause: vedette_store::Error) -> Self {
        match cause {
            vedette_store::Error::Gone => Self::NotFound(Resource::Account),
            other => Self::Internal(anyhow::Error::new(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_vanished_under_a_request_is_the_account_where_nobody_says_otherwise() {
        let error = Error::from(vedette_store::Error::Gone);
        assert_eq!(error.to_string(), "account not found");
    }
}
