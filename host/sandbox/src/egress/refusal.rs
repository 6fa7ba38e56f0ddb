//! Why a connection is not made.

use thiserror::Error;
use vedette_model::Invalid;

/// A refusal by the egress policy. The text says only that it was refused, and whose decision that
/// is: which range an address lies in is for the metric ([`Refusal::reason`]), not for the caller.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// A special-use address that nothing allows; carries the range's name.
    #[error("{}", NOT_REACHED)]
    Address(&'static str),
    /// Inside the operator's `egress.deny`.
    #[error("{}", NOT_REACHED)]
    Denied,
    /// One of our own listeners.
    #[error("{}", NOT_REACHED)]
    OwnListener,
    /// A name of a special-use or undelegated top-level domain.
    #[error("the name is not one of the public DNS")]
    SpecialName,
    /// Not a name at all.
    #[error("{0}")]
    Name(String),
    /// Carries what the URL must or must not be.
    #[error("the URL {0}")]
    Url(&'static str),
    /// A port that HTTP never uses (fetch.spec.whatwg.org, port blocking).
    #[error("port {0} may not be used for HTTP")]
    Port(u16),
}

impl Refusal {
    /// The label of `vedette_egress_refused_total`.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Address(range) => range,
            Self::Denied => "denied",
            Self::OwnListener => "own-listener",
            Self::SpecialName => "special-name",
            Self::Name(_) => "name",
            Self::Url(_) => "url",
            Self::Port(_) => "port",
        }
    }

    /// Whether the address was the trouble, as opposed to how it was written.
    pub fn is_address(&self) -> bool {
        match self {
            Self::Address(_) | Self::Denied | Self::OwnListener | Self::SpecialName => true,
            Self::Name(_) | Self::Url(_) | Self::Port(_) => false,
        }
    }
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        Self::Name(invalid.to_string())
    }
}

/// The same for all addresses, so that nothing can be told apart by it.
const NOT_REACHED: &str = "the address may not be reached: only public ones are, and ranges that \
                           whoever runs this server opens under [egress]";
