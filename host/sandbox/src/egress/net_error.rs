//! How an exchange with the network ends when it does not end well.

use thiserror::Error;

use super::Refusal;

/// Where in an exchange the time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Resolve,
    Connect,
    Handshake,
    Send,
    Receive,
}

/// The error of every probe, case by case that of the plugin contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetError {
    /// Outside the grant, or written in a form that is refused.
    #[error("not permitted: {0}")]
    NotPermitted(String),
    /// The egress policy refuses the address; no packet has left.
    #[error("address blocked: {0}")]
    AddressBlocked(String),
    /// NXDOMAIN, or a name without addresses.
    #[error("name not found")]
    NameNotFound,
    #[error("connection refused")]
    Refused,
    /// Reset, or ended in the middle of an answer.
    #[error("connection reset")]
    Reset,
    #[error("timed out ({0:?})")]
    Timeout(Phase),
    /// The handshake failed. `alert <number> <name>` where the peer said why, as in
    /// `alert 112 UnrecognisedName`; else a sentence.
    #[error("tls: {0}")]
    Tls(String),
    /// The peer does not speak the protocol. Never quotes what it sent. [`NOT_TLS`] where a
    /// handshake was answered by something else.
    #[error("protocol: {0}")]
    Protocol(String),
    /// More than this many bytes.
    #[error("larger than {0} bytes")]
    TooLarge(u32),
    /// The run has used up its calls, sockets or bytes.
    #[error("budget exhausted")]
    BudgetExhausted,
    /// A code of [`code`] and a sentence.
    #[error("{0}: {1}")]
    Other(String, String),
}

/// The codes that [`NetError::Other`] carries.
pub mod code {
    /// The name's servers failed (SERVFAIL, REFUSED, a loop of aliases): the target's trouble.
    pub const DNS_FAILED: &str = "dns-failed";
    /// Our resolver answers nobody, or only what it has kept: our trouble, a run that says nothing
    /// about the target.
    pub const RESOLVER_DOWN: &str = "resolver-down";
    /// Somebody on the way has no route to the address.
    pub const UNREACHABLE: &str = "unreachable";
    /// This machine has none, as to an address of IPv6 where it has no IPv6: our trouble.
    pub const NO_ROUTE: &str = "no-route";
    /// Out of descriptors, ports or memory: our trouble.
    pub const EXHAUSTED: &str = "exhausted";
}

/// The text of [`NetError::Protocol`] for a port that does not speak TLS.
pub const NOT_TLS: &str = "the answer is not TLS";

impl NetError {
    pub fn other(code: &str, message: impl Into<String>) -> Self {
        Self::Other(code.to_owned(), message.into())
    }

    /// What keeps us from reaching them, where that is our own trouble: no DNS server answers, there
    /// is no way out, or we are out of descriptors, ports or memory.
    pub fn own_trouble(&self) -> Option<&str> {
        match self {
            Self::Other(kind, message)
                if [code::RESOLVER_DOWN, code::NO_ROUTE, code::EXHAUSTED]
                    .contains(&kind.as_str()) =>
            {
                Some(message)
            }
            _ => None,
        }
    }

    /// What a socket error means for the peer. `phase` names the timeout.
    pub fn from_io(error: &std::io::Error, phase: Phase) -> Self {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::ConnectionRefused => Self::Refused,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::UnexpectedEof => Self::Reset,
            ErrorKind::TimedOut => Self::Timeout(phase),
            ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::PermissionDenied => {
                Self::other(code::UNREACHABLE, "there is no route to the address")
            }
            _ => Self::other(code::EXHAUSTED, format!("the socket failed: {}", error.kind())),
        }
    }
}

impl From<Refusal> for NetError {
    fn from(refusal: Refusal) -> Self {
        if refusal.is_address() {
            Self::AddressBlocked(refusal.to_string())
        } else {
            Self::NotPermitted(refusal.to_string())
        }
    }
}
