//! One token for what went wrong, by a fixed order of precedence.

use vedette_sdk::{
    CheckError,
    net::{CERTIFICATE_TOKENS, NetError, connection_token},
    x509::{Certificate, Examination},
};

pub(crate) use vedette_sdk::net::certificate::{
    BAD_SIGNATURE, EXPIRED, HOSTNAME_MISMATCH, INCOMPLETE_CHAIN, INVALID_PURPOSE, MALFORMED,
    NOT_YET_VALID, REVOKED, SELF_SIGNED, UNTRUSTED_ROOT, WEAK_KEY,
};

/// Whether the token says something of a certificate, rather than of a connection.
pub(crate) fn is_about_certificate(token: &str) -> bool {
    CERTIFICATE_TOKENS.contains(&token)
}

/// What a failed handshake says of the server. An error where it says something of us.
pub(crate) fn of_connection(error: &NetError) -> Result<&'static str, CheckError> {
    Ok(match (connection_token(error)?, error) {
        // The certificate is judged for itself; here it is the signature of the handshake.
        (Some(token), _) if is_about_certificate(token) => HANDSHAKE_FAILED,
        (Some(token), _) => token,
        (None, NetError::Protocol(_)) => NOT_SPOKEN,
        (None, _) => HANDSHAKE_FAILED,
    })
}

/// What raw hellos may tell of a server whose handshake could not be finished; none where they
/// would tell nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// There is nothing in common with a modern client, or the server wants to know its client:
    /// what it shows in clear is what it has.
    Chain,
    /// The handshake was signed with another key than the certificate's, as far as the host can
    /// check keys of its kind.
    ChainOfOddKey,
    /// It may not speak TLS at all.
    Hint,
}

pub(crate) fn worth_of_hellos(error: &NetError) -> Option<Worth> {
    match error {
        NetError::Tls(reason) if reason.starts_with(NOT_ACCEPTED) => Some(Worth::ChainOfOddKey),
        NetError::Tls(_) => match of_connection(error).ok()? {
            // It may be TLS all the same, in a form that libraries do not read.
            NOT_SPOKEN => Some(Worth::Hint),
            UNRECOGNIZED_NAME => None,
            _ => Some(Worth::Chain),
        },
        // Some servers hang up on clients that they have nothing in common with.
        NetError::Reset => Some(Worth::Hint),
        _ => None,
    }
}

/// Whether the host checks signatures of such keys: then a signature that it refused is wrong.
pub(crate) fn is_checkable(leaf: &Certificate) -> bool {
    match leaf.key_algorithm.as_str() {
        "RSA" => (2_048..=8_192).contains(&leaf.key_bits),
        "EC" => matches!(leaf.key_bits, 256 | 384 | 521),
        "Ed25519" => true,
        _ => false,
    }
}

/// The server has no certificate for the name.
pub(crate) const UNRECOGNIZED_NAME: &str = "tls_unrecognized_name";
const NOT_SPOKEN: &str = "tls_not_spoken";
const HANDSHAKE_FAILED: &str = "tls_handshake_failed";
/// How the host's text begins when the signature of a handshake was wrong.
const NOT_ACCEPTED: &str = "certificate bad_signature";

/// The first problem of what was served; none exactly when it is valid. The host's own word is one
/// witness among the facts, since it names the first problem of the best path alone.
pub(crate) fn of_certificate(seen: &Examination, now: i64) -> Option<&'static str> {
    let Some(leaf) = seen.chain.first() else {
        return Some(MALFORMED);
    };
    let facts = &seen.verification;
    let told = facts.error.as_deref();
    let undated = told != Some(EXPIRED) && told != Some(NOT_YET_VALID);
    let applies = |token| match token {
        token if told == Some(token) => true,
        EXPIRED if now > leaf.not_after => true,
        NOT_YET_VALID if now < leaf.not_before => true,
        // The dates of an intermediate, behind a problem that the host named instead.
        EXPIRED => !facts.time_valid && undated && now >= leaf.not_before,
        HOSTNAME_MISMATCH => !facts.hostname_matches,
        REVOKED => seen.ocsp_staple.as_deref() == Some("revoked"),
        INCOMPLETE_CHAIN => !facts.chain_complete,
        INVALID_PURPOSE => !facts.purpose_valid,
        _ => false,
    };
    let first = CERTIFICATE_TOKENS.iter().copied().find(|token| applies(token));
    // A path that is not trusted is not valid, also for a reason that has no word here.
    first.or((!facts.trusted).then_some(UNTRUSTED_ROOT))
}

#[cfg(test)]
mod tests {
    use vedette_sdk::net::Phase;

    use super::*;
    use crate::fixture::{self, NOW};

    #[test]
    fn failed_connection_is_told_by_its_token() {
        for (error, token) in [
            (NetError::Refused, "connection_refused"),
            (NetError::Protocol("the server does not offer STARTTLS".to_owned()), "tls_not_spoken"),
            (NetError::Tls("alert 112 UnrecognisedName".to_owned()), "tls_unrecognized_name"),
            (NetError::Tls("no version in common".to_owned()), "tls_handshake_failed"),
            (NetError::Tls("certificate bad_signature".to_owned()), "tls_handshake_failed"),
            (NetError::TooLarge(1), "tls_handshake_failed"),
        ] {
            assert_eq!(of_connection(&error).ok(), Some(token), "{error}");
            assert!(!is_about_certificate(token));
        }
    }

    #[test]
    fn hellos_are_sent_where_they_may_tell_more() {
        let tls = |reason: &str| NetError::Tls(reason.to_owned());
        for (error, expected) in [
            (tls("alert 40 HandshakeFailure"), Some(Worth::Chain)),
            (tls("alert 70 ProtocolVersion"), Some(Worth::Chain)),
            (tls("alert 71 InsufficientSecurity"), Some(Worth::Chain)),
            (tls("alert 86 InappropriateFallback"), Some(Worth::Chain)),
            (tls("alert 42 BadCertificate"), Some(Worth::Chain)),
            (tls("alert 116 CertificateRequired"), Some(Worth::Chain)),
            (tls("nothing in common: neither version nor cipher suite"), Some(Worth::Chain)),
            (tls("closed during the handshake"), Some(Worth::Chain)),
            (
                tls("certificate bad_signature was not accepted: BadSignature"),
                Some(Worth::ChainOfOddKey),
            ),
            (tls("alert 112 UnrecognisedName"), None),
            (tls("not-tls"), Some(Worth::Hint)),
            (tls("too large: a message of the handshake has more than 64 KiB"), Some(Worth::Chain)),
            (NetError::Reset, Some(Worth::Hint)),
            (NetError::Refused, None),
            (NetError::Timeout(Phase::Handshake), None),
            (NetError::Protocol("the server did not agree to STARTTLS".to_owned()), None),
        ] {
            assert_eq!(worth_of_hellos(&error), expected, "{error}");
        }
    }

    #[test]
    fn small_and_odd_keys_cannot_be_checked() {
        for (algorithm, bits, expected) in [
            ("RSA", 1024, false),
            ("RSA", 2048, true),
            ("RSA", 16_384, false),
            ("EC", 256, true),
            ("EC", 224, false),
            ("Ed25519", 256, true),
            ("Ed448", 456, false),
            ("DSA", 2048, false),
        ] {
            let mut leaf = fixture::leaf();
            (leaf.key_algorithm, leaf.key_bits) = (algorithm.to_owned(), bits);
            assert_eq!(is_checkable(&leaf), expected, "{algorithm} {bits}");
        }
    }

    #[test]
    fn our_own_trouble_is_no_result() {
        for error in [NetError::BudgetExhausted, other("resolver-down"), other("exhausted")] {
            assert!(matches!(of_connection(&error), Err(CheckError::Failed(_))));
        }
    }

    #[test]
    fn valid_chain_has_no_error() {
        assert_eq!(of_certificate(&fixture::examination(), NOW), None);
    }

    #[test]
    fn each_fact_has_its_token() {
        type Change = fn(&mut Examination);
        let table: &[(Change, &str)] = &[
            (|seen| seen.chain.clear(), MALFORMED),
            (|seen| seen.chain[0].not_after = NOW - 1, EXPIRED),
            (|seen| seen.verification.time_valid = false, EXPIRED),
            (|seen| seen.chain[0].not_before = NOW + 1, NOT_YET_VALID),
            (|seen| seen.verification.hostname_matches = false, HOSTNAME_MISMATCH),
            (|seen| seen.ocsp_staple = Some("revoked".to_owned()), REVOKED),
            (|seen| seen.verification.chain_complete = false, INCOMPLETE_CHAIN),
            (|seen| seen.verification.purpose_valid = false, INVALID_PURPOSE),
            (|seen| seen.verification.trusted = false, UNTRUSTED_ROOT),
            (|seen| seen.verification.error = Some("news".to_owned()), UNTRUSTED_ROOT),
        ];
        for (change, token) in table {
            let mut seen = fixture::examination();
            change(&mut seen);
            seen.verification.trusted &= seen.verification.error.is_none();
            assert_eq!(of_certificate(&seen, NOW), Some(*token));
        }
        for token in CERTIFICATE_TOKENS {
            let mut seen = fixture::examination();
            seen.verification.error = Some((*token).to_owned());
            assert_eq!(of_certificate(&seen, NOW), Some(*token));
            assert!(is_about_certificate(token));
        }
    }

    #[test]
    fn staple_of_the_past_revokes_by_the_hosts_word_alone() {
        let mut seen = fixture::examination();
        seen.ocsp_staple = Some("stale".to_owned());
        assert_eq!(of_certificate(&seen, NOW), None);
        seen.verification.error = Some(REVOKED.to_owned());
        assert_eq!(of_certificate(&seen, NOW), Some(REVOKED));
    }

    #[test]
    fn dates_are_inclusive() {
        let mut seen = fixture::examination();
        (seen.chain[0].not_before, seen.chain[0].not_after) = (NOW, NOW);
        assert_eq!(of_certificate(&seen, NOW), None);
    }

    #[test]
    fn earlier_problem_hides_the_later() {
        let mut seen = fixture::examination();
        seen.verification.error = Some(WEAK_KEY.to_owned());
        seen.verification.chain_complete = false;
        assert_eq!(of_certificate(&seen, NOW), Some(INCOMPLETE_CHAIN));
        seen.verification.error = Some(SELF_SIGNED.to_owned());
        assert_eq!(of_certificate(&seen, NOW), Some(SELF_SIGNED));
        seen.verification.hostname_matches = false;
        assert_eq!(of_certificate(&seen, NOW), Some(HOSTNAME_MISMATCH));
        seen.chain[0].not_before = NOW + 5;
        seen.verification.time_valid = false;
        assert_eq!(of_certificate(&seen, NOW), Some(NOT_YET_VALID));
        seen.chain[0].not_after = NOW - 5;
        assert_eq!(of_certificate(&seen, NOW), Some(EXPIRED));
    }

    fn other(code: &str) -> NetError {
        NetError::Other((code.to_owned(), String::new()))
    }
}
