//! One token for why there are no facts.

use serde::{Deserialize, Serialize};
use vedette_sdk::{CheckError, net::NetError};

/// Why a result has no facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Token {
    /// Neither RDAP nor WHOIS exists for the top-level domain.
    TldNotSupported,
    DomainNotFound,
    DomainReserved,
    RateLimited,
    RegistryUnavailable,
    Timeout,
    UnparsableResponse,
}

impl Token {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::TldNotSupported => "tld_not_supported",
            Self::DomainNotFound => "domain_not_found",
            Self::DomainReserved => "domain_reserved",
            Self::RateLimited => "rate_limited",
            Self::RegistryUnavailable => "registry_unavailable",
            Self::Timeout => "timeout",
            Self::UnparsableResponse => "unparsable_response",
        }
    }
}

/// What a failed exchange says of the registry. An error where it says something of us.
pub(crate) fn of_exchange(error: NetError) -> Result<Token, CheckError> {
    Ok(match error {
        NetError::Timeout(_) => Token::Timeout,
        NetError::TooLarge(_) => Token::UnparsableResponse,
        NetError::BudgetExhausted => {
            return Err(CheckError::Failed("the run's budget is used up".to_owned()));
        }
        NetError::Other((code, message))
            if matches!(code.as_str(), "resolver-down" | "no-route" | "exhausted") =>
        {
            return Err(CheckError::Failed(format!("{code}: {message}")));
        }
        NetError::NotPermitted(_)
        | NetError::AddressBlocked(_)
        | NetError::NameNotFound
        | NetError::Refused
        | NetError::Reset
        | NetError::Tls(_)
        | NetError::Protocol(_)
        | NetError::Other(_) => Token::RegistryUnavailable,
    })
}

#[cfg(test)]
mod tests {
    use vedette_sdk::net::Phase;

    use super::*;

    fn other(code: &str) -> NetError {
        NetError::Other((code.to_owned(), String::new()))
    }

    #[test]
    fn registry_that_is_away_is_told_by_its_token() {
        for (error, token) in [
            (NetError::Timeout(Phase::Receive), Token::Timeout),
            (NetError::Timeout(Phase::Resolve), Token::Timeout),
            (NetError::TooLarge(1), Token::UnparsableResponse),
            (NetError::Refused, Token::RegistryUnavailable),
            (NetError::Reset, Token::RegistryUnavailable),
            (NetError::NameNotFound, Token::RegistryUnavailable),
            (NetError::AddressBlocked(String::new()), Token::RegistryUnavailable),
            (NetError::NotPermitted(String::new()), Token::RegistryUnavailable),
            (NetError::Tls("alert 40".to_owned()), Token::RegistryUnavailable),
            (NetError::Protocol(String::new()), Token::RegistryUnavailable),
            (other("dns-failed"), Token::RegistryUnavailable),
            (other("unreachable"), Token::RegistryUnavailable),
        ] {
            assert_eq!(of_exchange(error.clone()).ok(), Some(token), "{error}");
        }
    }

    #[test]
    fn our_own_trouble_is_no_result() {
        let codes = ["resolver-down", "no-route", "exhausted"].map(other);
        for error in [NetError::BudgetExhausted].into_iter().chain(codes) {
            assert!(matches!(of_exchange(error), Err(CheckError::Failed(_))));
        }
    }

    #[test]
    fn tokens_are_kept_under_the_names_they_are_told_by() {
        for token in [
            Token::TldNotSupported,
            Token::DomainNotFound,
            Token::DomainReserved,
            Token::RateLimited,
            Token::RegistryUnavailable,
            Token::Timeout,
            Token::UnparsableResponse,
        ] {
            let kept = serde_json::to_value(token).expect("it has a form in JSON");
            assert_eq!(kept, token.as_str());
        }
    }
}
