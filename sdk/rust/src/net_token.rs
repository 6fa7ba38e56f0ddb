//! Why a connection brought nothing: as one token, the same word in every check, and as words for
//! a log.
//!
//! *Invariant:* what says nothing of the target is never a token but a [`CheckError`].

use crate::{
    CheckError,
    net::{NetError, Phase},
};

/// What is wrong with a certificate, by precedence: the first that applies is its token. Dates come
/// first, so that an expired one is called expired whatever else it is.
pub const CERTIFICATE_TOKENS: &[&str] = &[
    certificate::MALFORMED,
    certificate::EXPIRED,
    certificate::NOT_YET_VALID,
    certificate::HOSTNAME_MISMATCH,
    certificate::REVOKED,
    certificate::SELF_SIGNED,
    certificate::UNTRUSTED_ROOT,
    certificate::INCOMPLETE_CHAIN,
    certificate::BAD_SIGNATURE,
    certificate::INVALID_PURPOSE,
    certificate::WEAK_KEY,
];

/// The tokens of [`CERTIFICATE_TOKENS`], each by its name.
pub mod certificate {
    pub const MALFORMED: &str = "malformed_certificate";
    pub const EXPIRED: &str = "certificate_expired";
    pub const NOT_YET_VALID: &str = "certificate_not_yet_valid";
    pub const HOSTNAME_MISMATCH: &str = "hostname_mismatch";
    pub const REVOKED: &str = "certificate_revoked";
    pub const SELF_SIGNED: &str = "self_signed_certificate";
    pub const UNTRUSTED_ROOT: &str = "untrusted_root";
    pub const INCOMPLETE_CHAIN: &str = "incomplete_chain";
    pub const BAD_SIGNATURE: &str = "bad_signature";
    pub const INVALID_PURPOSE: &str = "invalid_purpose";
    pub const WEAK_KEY: &str = "weak_key";
}

/// The token of a failed connection, or of a certificate that was not accepted. None where the
/// two sides did talk ([`NetError::Protocol`], [`NetError::TooLarge`]): only the caller knows
/// which protocol was spoken.
///
/// An error says that the probe itself could not work; end the run with it.
pub fn connection_token(error: &NetError) -> Result<Option<&'static str>, CheckError> {
    Ok(Some(match error {
        // What the plugin was not granted, or asked for in a form that nobody can be asked in: the
        // operator's trouble and the author's, and none of the target.
        NetError::NotPermitted(what) => {
            return Err(CheckError::Failed(format!("it is not permitted: {what}")));
        }
        NetError::AddressBlocked(_) => "blocked_address",
        NetError::NameNotFound => "dns_not_found",
        NetError::Timeout(Phase::Resolve) => "dns_failed",
        NetError::Refused => "connection_refused",
        NetError::Reset => "connection_reset",
        NetError::Timeout(_) => "connection_timeout",
        NetError::Tls(reason) => handshake_token(reason),
        NetError::Protocol(_) | NetError::TooLarge(_) => return Ok(None),
        NetError::BudgetExhausted => {
            return Err(CheckError::Failed("the run's budget is used up".to_owned()));
        }
        NetError::Other((code, message)) => match code.as_str() {
            "dns-failed" => "dns_failed",
            // No router knows the way: to a client the same as silence.
            "unreachable" => "connection_timeout",
            _ => return Err(CheckError::Failed(format!("{code}: {message}"))),
        },
    }))
}

/// Why a connection brought nothing, in words for a log.
pub fn reason(error: &NetError) -> String {
    match error {
        NetError::NotPermitted(why) => format!("it is not permitted: {why}"),
        NetError::AddressBlocked(why) => format!("the address is blocked: {why}"),
        NetError::NameNotFound => "the name does not exist, or has no address".to_owned(),
        NetError::Refused => "the connection was refused".to_owned(),
        NetError::Reset => "the connection was reset".to_owned(),
        NetError::Timeout(phase) => format!("time ran out {}", during(*phase)),
        NetError::Tls(why) => format!("TLS failed: {why}"),
        NetError::Protocol(why) => format!("the protocol was broken: {why}"),
        NetError::TooLarge(most) => format!("the answer is larger than {most} bytes"),
        NetError::BudgetExhausted => "the run's budget is used up".to_owned(),
        NetError::Other((code, message)) => format!("{code}: {message}"),
    }
}

fn during(phase: Phase) -> &'static str {
    match phase {
        Phase::Resolve => "while the name was resolved",
        Phase::Connect => "while it connected",
        Phase::Handshake => "in the TLS handshake",
        Phase::Send => "while it sent",
        Phase::Receive => "before the whole answer was there",
    }
}

/// The host's text begins with a stable token where there is one.
fn handshake_token(reason: &str) -> &'static str {
    let mut words = reason.split_ascii_whitespace();
    let (kind, what) = (words.next(), words.next().unwrap_or_default());
    match kind {
        Some("not-tls") => "tls_not_spoken",
        // RFC 6066, 3: the server serves other names.
        Some("alert") if what == "112" => "tls_unrecognized_name",
        Some("certificate") => {
            let known = CERTIFICATE_TOKENS.iter().find(|token| **token == what);
            known.copied().unwrap_or("tls_handshake_failed")
        }
        _ => "tls_handshake_failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_connection_has_its_token() {
        for (error, token) in [
            (NetError::AddressBlocked("private".to_owned()), "blocked_address"),
            (NetError::NameNotFound, "dns_not_found"),
            (NetError::Timeout(Phase::Resolve), "dns_failed"),
            (other("dns-failed"), "dns_failed"),
            (NetError::Refused, "connection_refused"),
            (NetError::Reset, "connection_reset"),
            (NetError::Timeout(Phase::Connect), "connection_timeout"),
            (NetError::Timeout(Phase::Handshake), "connection_timeout"),
            (NetError::Timeout(Phase::Receive), "connection_timeout"),
            (other("unreachable"), "connection_timeout"),
            (tls("not-tls"), "tls_not_spoken"),
            (tls("alert 112 UnrecognisedName"), "tls_unrecognized_name"),
            (tls("alert 40 HandshakeFailure"), "tls_handshake_failed"),
            (tls("nothing in common"), "tls_handshake_failed"),
            (tls("certificate of an unheard-of kind"), "tls_handshake_failed"),
            (tls(""), "tls_handshake_failed"),
        ] {
            assert_eq!(connection_token(&error).ok().flatten(), Some(token), "{error}");
        }
    }

    #[test]
    fn reason_is_told_in_words() {
        for (error, words) in [
            (NetError::NameNotFound, "the name does not exist, or has no address"),
            (NetError::Timeout(Phase::Resolve), "time ran out while the name was resolved"),
            (tls("not-tls"), "TLS failed: not-tls"),
            (NetError::TooLarge(512), "the answer is larger than 512 bytes"),
        ] {
            assert_eq!(reason(&error), words);
        }
    }

    #[test]
    fn refused_certificate_is_told_by_its_own_token() {
        for token in CERTIFICATE_TOKENS {
            for reason in
                [format!("certificate {token}"), format!("certificate {token} since 1970")]
            {
                assert_eq!(connection_token(&tls(&reason)).ok().flatten(), Some(*token));
            }
        }
    }

    #[test]
    fn tokens_of_certificates_are_those_of_the_contract_in_its_order() {
        let contract = include_str!("../../../wit/deps/net/net.wit");
        let at =
            |token: &&str| contract.find(&format!("`{token}`")).expect("a token of the contract");
        assert!(CERTIFICATE_TOKENS.iter().map(at).is_sorted());
    }

    #[test]
    fn what_was_said_over_the_connection_is_the_callers_to_name() {
        for error in [NetError::Protocol("not HTTP".to_owned()), NetError::TooLarge(65_536)] {
            assert_eq!(connection_token(&error).ok(), Some(None));
        }
    }

    #[test]
    fn our_own_trouble_has_no_token() {
        let codes = ["resolver-down", "no-route", "exhausted"].map(other);
        let not_granted = NetError::NotPermitted("tcp to shop.example:2525".to_owned());
        for error in [NetError::BudgetExhausted, not_granted].into_iter().chain(codes) {
            assert!(matches!(connection_token(&error), Err(CheckError::Failed(_))), "{error}");
        }
    }

    fn tls(reason: &str) -> NetError {
        NetError::Tls(reason.to_owned())
    }

    fn other(code: &str) -> NetError {
        NetError::Other((code.to_owned(), String::new()))
    }
}
