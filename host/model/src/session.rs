//! Session tokens: what an identity provider must say about somebody to be believed.
//!
//! The signature is the server's matter; everything here is judged after it was found good.
//!
//! *Invariant:* a token without issuer, audience, subject or expiry does not hold.

use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::Value;

use crate::{Timestamp, email};

/// Of a credential, in bytes: longer ones are nobody's.
pub const LONGEST: usize = 8 << 10;

/// The claims of a token (RFC 7519, 4.1; OpenID Connect Core 1.0, 2 and 5.1).
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Claims {
    iss: String,
    /// The person that the token is about; the issuer never gives it to anybody else.
    pub sub: String,
    aud: Audience,
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
    email: Option<String>,
    email_verified: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// Whether a credential has the shape of a signed token: three parts of base64url. API keys have
/// no dots, so it is one or the other.
pub fn looks_like_one(bearer: &str) -> bool {
    let is_part = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    bearer.split('.').count() == 3 && bearer.split('.').all(is_part)
}

impl Claims {
    /// Whether the token is of this issuer, for this audience, about somebody, and of now.
    ///
    /// The expiry is exact: a clock that is off only ends a session that much sooner or later.
    /// The beginning is not, or a token that was just issued would be refused.
    pub fn hold(&self, issuer: &str, audience: &str, now: Timestamp) -> bool {
        let has_begun = |at: f64| at <= seconds(now + SKEW);
        self.iss == issuer
            && self.aud.names(audience)
            && (1..=LONGEST_SUBJECT).contains(&self.sub.len())
            && seconds(now) < self.exp
            && [self.nbf, self.iat].into_iter().flatten().all(has_begun)
    }

    /// The address that a new account gets: none when there is none that can be written to, or
    /// when the issuer says that it is not the subject's.
    pub fn verified_email(&self) -> Option<String> {
        let is_denied = match &self.email_verified {
            Some(Value::Bool(verified)) => !verified,
            // Some issuers write every claim as a string.
            Some(Value::String(verified)) => verified != "true",
            Some(_) => true,
            None => false,
        };
        let address = self.email.as_deref().filter(|_| !is_denied)?;
        email::parse("email", address).ok()
    }
}

impl Audience {
    fn names(&self, audience: &str) -> bool {
        match self {
            Self::One(only) => only == audience,
            Self::Several(all) => all.iter().any(|one| one == audience),
        }
    }
}

/// As tokens write moments: seconds, with a fraction where the issuer likes.
fn seconds(at: Timestamp) -> f64 {
    at.timestamp_millis() as f64 / 1000.0
}

/// OpenID Connect Core 1.0, 2: `sub`.
const LONGEST_SUBJECT: usize = 255;
/// By how much the issuer's clock may be ahead of ours.
const SKEW: TimeDelta = TimeDelta::seconds(60);

#[cfg(test)]
mod tests;
