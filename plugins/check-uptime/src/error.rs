//! One token for why a site is down: the tokens of connections, and those of an answer.

use vedette_sdk::{
    CheckError,
    net::{NetError, Phase, connection_token},
};

/// It answered with a status that is not expected.
pub(crate) const UNEXPECTED_STATUS: &str = "unexpected_status";
/// The page lacks the keyword.
pub(crate) const KEYWORD_MISSING: &str = "keyword_missing";
/// Connected, and then no complete answer in time.
pub(crate) const RESPONSE_TIMEOUT: &str = "response_timeout";
/// No HTTP, a body that cannot be decompressed, or a redirect that cannot be followed: one of too many,
/// or to a URL that cannot be read or is not followed as it is written.
pub(crate) const INVALID_RESPONSE: &str = "invalid_response";
pub(crate) const BLOCKED_ADDRESS: &str = "blocked_address";
/// More headers, or more around its page, than anybody reads.
pub(crate) const RESPONSE_TOO_LARGE: &str = "response_too_large";

/// What a request that brought no answer, or no whole one, says of the site. An error where it
/// says something of us.
pub(crate) fn of_request(error: &NetError) -> Result<&'static str, CheckError> {
    match error {
        NetError::Timeout(Phase::Send | Phase::Receive) => return Ok(RESPONSE_TIMEOUT),
        // Where a redirect led: the check itself asks for nothing that it was not granted.
        NetError::NotPermitted(_) => return Ok(BLOCKED_ADDRESS),
        _ => {}
    }
    Ok(connection_token(error)?.unwrap_or(match error {
        NetError::TooLarge(_) => RESPONSE_TOO_LARGE,
        _ => INVALID_RESPONSE,
    }))
}

/// Whether the server's certificates have more than the host reads of them, and others do.
pub(crate) fn is_too_large_handshake(error: &NetError) -> bool {
    matches!(error, NetError::Tls(reason) if reason.starts_with("too large"))
}

/// Why such a site is not checked.
pub(crate) const TOO_LARGE_HANDSHAKE: &str = "its certificates take more than the 64 KiB that this \
                                              check reads, though others may still connect to it: \
                                              let it serve one with fewer names";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_of_a_request_has_its_token() {
        let other = |code: &str| NetError::Other((code.to_owned(), String::new()));
        let tls = |reason: &str| NetError::Tls(reason.to_owned());
        for (error, token) in [
            (NetError::Refused, "connection_refused"),
            (NetError::AddressBlocked("private".to_owned()), BLOCKED_ADDRESS),
            (NetError::NotPermitted("port".to_owned()), BLOCKED_ADDRESS),
            (NetError::Timeout(Phase::Resolve), "dns_failed"),
            (NetError::Timeout(Phase::Connect), "connection_timeout"),
            (NetError::Timeout(Phase::Handshake), "connection_timeout"),
            // A server that sends its headers or its body too slowly.
            (NetError::Timeout(Phase::Send), RESPONSE_TIMEOUT),
            (NetError::Timeout(Phase::Receive), RESPONSE_TIMEOUT),
            (tls("not-tls"), "tls_not_spoken"),
            (tls("certificate hostname_mismatch other.example"), "hostname_mismatch"),
            // Two megabytes of headers; a bomb of a body is cut, and no error.
            (NetError::TooLarge(65_536), RESPONSE_TOO_LARGE),
            (NetError::Protocol("the answer is not HTTP".to_owned()), INVALID_RESPONSE),
            (NetError::Protocol("too many redirects".to_owned()), INVALID_RESPONSE),
        ] {
            assert_eq!(of_request(&error).ok(), Some(token), "{error}");
        }
        for error in [NetError::BudgetExhausted, other("resolver-down"), other("exhausted")] {
            assert!(matches!(of_request(&error), Err(CheckError::Failed(_))), "{error}");
        }
    }
}
