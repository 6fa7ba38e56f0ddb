//! What the answer of a DNS server means: records, that there are none, or whose trouble it is.
//!
//! A server that answers SERVFAIL knows no more than one that is silent: neither says anything
//! about the name. The other failures are certain, and the name's own; but REFUSED may be about who
//! asks ([`is_refusal`]).
//!
//! *Invariant:* pure: nothing is asked here.

use std::net::SocketAddr;

use hickory_resolver::{
    lookup::Lookup as Records,
    net::{self, DnsError},
    proto::{op::ResponseCode, rr::RData},
};

use super::{NetError, code, validating};

/// An answer and the server it came from.
pub(crate) struct Answered {
    pub(crate) server: SocketAddr,
    pub(crate) outcome: Result<Records, net::NetError>,
}

impl Answered {
    pub(crate) fn is_silence(&self) -> bool {
        self.outcome.as_ref().err().is_some_and(is_silence)
    }
}

/// Why a lookup found nothing.
pub(super) enum Failure {
    /// Nobody answered: whose fault is still open.
    Silent,
    /// Nobody could find out, which is as open.
    Unfound(NetError),
    /// Nobody would say, which may be about us.
    Refused(NetError),
    Certain(NetError),
}

impl Failure {
    /// What was said outweighs what was not.
    pub(super) fn or(self, other: Self) -> Self {
        match self {
            Self::Silent => other,
            Self::Unfound(_) if matches!(other, Self::Refused(_) | Self::Certain(_)) => other,
            Self::Refused(_) if matches!(other, Self::Certain(_)) => other,
            Self::Unfound(_) | Self::Refused(_) | Self::Certain(_) => self,
        }
    }
}

/// Tells "there are no such records" from a failure.
pub(super) fn negative(error: net::NetError) -> Result<(), Failure> {
    let failed = |message: &str| Err(Failure::Certain(NetError::other(code::DNS_FAILED, message)));
    match error {
        error if is_silence(&error) => Err(Failure::Silent),
        error if is_useless(&error) => {
            let message = "the name's servers failed";
            Err(Failure::Unfound(NetError::other(code::DNS_FAILED, message)))
        }
        error if is_refusal(&error) => {
            let message = "the DNS servers refuse the question";
            Err(Failure::Refused(NetError::other(code::DNS_FAILED, message)))
        }
        net::NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NoError | ResponseCode::NXDomain => Ok(()),
            _ => failed("the name's servers failed"),
        },
        net::NetError::Dns(_) => failed("the name's servers failed"),
        _ => failed("the answer cannot be used"),
    }
}

/// No server said anything in DNS, as opposed to an answer that is an error: its transport failed,
/// by HTTP's 429 and 503 too.
pub(crate) fn is_silence(error: &net::NetError) -> bool {
    let is_said = matches!(error, net::NetError::Dns(_) | net::NetError::Proto(_));
    !is_said && !validating::gave_up(error)
}

/// An answer that only a server which reaches others can give.
pub(super) fn is_knowledge(error: &net::NetError) -> bool {
    !is_silence(error) && !is_useless(error)
}

/// The server said that it could not find out, or something that cannot be read.
pub(super) fn is_useless(error: &net::NetError) -> bool {
    matches!(error, net::NetError::Proto(_)) || says(error, ResponseCode::ServFail)
}

/// Whether the server stumbled over what EDNS adds to a question (RFC 6891 section 7), or its answer
/// does: there are those that write back, as the question, all that came behind its header.
pub(super) fn is_confused(error: &net::NetError) -> bool {
    match error {
        net::NetError::Dns(DnsError::ResponseCode(code)) => {
            matches!(code, ResponseCode::FormErr | ResponseCode::NotImp)
        }
        net::NetError::Proto(_) => true,
        _ => false,
    }
}

/// The server would not answer this question, or none of ours.
pub(super) fn is_refusal(error: &net::NetError) -> bool {
    says(error, ResponseCode::Refused)
}

fn says(error: &net::NetError, code: ResponseCode) -> bool {
    let net::NetError::Dns(error) = error else { return false };
    match error {
        DnsError::ResponseCode(said) => *said == code,
        DnsError::NoRecordsFound(none) => none.response_code == code,
        _ => false,
    }
}

/// A server that only names those of another zone does not ask them for us. That says nothing of
/// what the name has (RFC 2308 section 2.2: a denial comes with the zone's SOA, or with nothing).
pub(super) fn referral_is_refusal(error: net::NetError) -> net::NetError {
    let is_referral = match &error {
        net::NetError::Dns(DnsError::NoRecordsFound(none)) => {
            none.response_code == ResponseCode::NoError && none.soa.is_none() && none.ns.is_some()
        }
        _ => false,
    };
    if is_referral { DnsError::ResponseCode(ResponseCode::Refused).into() } else { error }
}

/// The strings of a TXT record, put together.
pub(super) fn text(data: &RData) -> Option<String> {
    let RData::TXT(txt) = data else { return None };
    let bytes: Vec<u8> = txt.txt_data.iter().flat_map(|part| part.iter().copied()).collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
