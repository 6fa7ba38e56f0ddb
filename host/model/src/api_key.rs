//! API keys: how they are made, recognised and shown.
//!
//! A key is `prefix + 30 random base62 + 6 base62 of the CRC32` of what stands before.
//!
//! *Invariant:* the key itself is never part of an [`ApiKey`]: only its SHA-256 is stored, and
//! only its first 11 characters are ever shown again (decisions: key format).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parse::{self, Body};
use crate::{AccountId, ApiKeyId, Invalid, Role, Timestamp};

/// A stored key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiKey {
    pub id: ApiKeyId,
    pub account_id: AccountId,
    pub name: String,
    /// See [`shown_prefix`].
    pub prefix: String,
    /// Lower-case hex SHA-256 of the whole key; what a caller is looked up by.
    pub hash: String,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    /// None = never.
    pub expires_at: Option<Timestamp>,
    /// What a request with it may do: the role of its maker, which it follows.
    pub role: Role,
    /// Who in the account's team made it; none = its owner.
    pub made_by: Option<AccountId>,
}

/// A key as listings show it (spec: API key).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApiKeyView<'a> {
    pub id: ApiKeyId,
    pub name: &'a str,
    pub prefix: &'a str,
    /// The contract writes `prefix` both ways.
    pub key_prefix: &'a str,
    pub last_used_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

/// What `POST /api-keys` asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct NewApiKey {
    pub name: String,
    pub expires_at: Option<Timestamp>,
}

impl ApiKey {
    /// A key is expired from the moment `expires_at` on.
    pub fn expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    pub fn view(&self) -> ApiKeyView<'_> {
        ApiKeyView {
            id: self.id,
            name: &self.name,
            prefix: &self.prefix,
            key_prefix: &self.prefix,
            last_used_at: self.last_used_at,
            created_at: self.created_at,
            expires_at: self.expires_at,
        }
    }
}

impl NewApiKey {
    /// `name` (1–100 characters) and, optionally, a future `expiresAt`; null is no expiry.
    pub fn parse(body: &Value, now: Timestamp) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        let name = body.required("name", |field, value| {
            let name = parse::line(field, value, LONGEST_NAME)?.trim();
            if name.is_empty() {
                return Err(Invalid::new(field, "must not be empty"));
            }
            Ok(name.to_owned())
        })?;
        let mut expires_at = None;
        body.patch("expiresAt", |field, value| future(field, value, now))?
            .apply_option(&mut expires_at);
        Ok(Self { name, expires_at })
    }
}

/// The body of `PATCH /api-keys`: `expiresAt` is required there, null clears the expiry.
pub fn parse_expiry(body: &Value, now: Timestamp) -> Result<Option<Timestamp>, Invalid> {
    let mut expires_at = None;
    let patch = Body::of(body)?.patch("expiresAt", |field, value| future(field, value, now))?;
    if patch.is_keep() {
        return Err(Invalid::new("expiresAt", "is required; null clears it"));
    }
    patch.apply_option(&mut expires_at);
    Ok(expires_at)
}

/// Makes a key from random bytes, as many as it takes: bytes that would favour some characters
/// are thrown away, so every key is equally likely.
pub fn mint(key_prefix: &str, mut random: impl FnMut() -> u8) -> String {
    let mut key = String::with_capacity(key_prefix.len() + RANDOM + CHECKSUM);
    key.push_str(key_prefix);
    while key.len() < key_prefix.len() + RANDOM {
        let byte = random();
        // 248 = 4 × 62: below it, each character has exactly four bytes.
        if byte < 248 {
            key.push(char::from(BASE62[usize::from(byte % 62)]));
        }
    }
    let checksum = checksum(&key);
    key.extend(checksum.map(char::from));
    key
}

/// Whether a text has the shape of a key and its checksum holds; what fails here needs no look
/// into the database.
pub fn well_formed(key: &str, key_prefix: &str) -> bool {
    let Some(rest) = key.strip_prefix(key_prefix) else { return false };
    if rest.len() != RANDOM + CHECKSUM || !rest.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return false;
    }
    let (body, end) = key.split_at(key_prefix.len() + RANDOM);
    checksum(body) == end.as_bytes()
}

/// The first 11 characters: enough to recognise a key, useless to guess it.
pub fn shown_prefix(key: &str) -> &str {
    key.char_indices().nth(SHOWN).map_or(key, |(end, _)| &key[..end])
}

fn future(field: &'static str, value: &Value, now: Timestamp) -> Result<Timestamp, Invalid> {
    let at = parse::timestamp(field, parse::text(field, value)?)?;
    if at <= now {
        return Err(Invalid::new(field, "must be in the future"));
    }
    Ok(at)
}

/// CRC32 in base62, most significant digit first, six digits (62⁶ > 2³²).
fn checksum(body: &str) -> [u8; CHECKSUM] {
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut digits = [b'0'; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

const RANDOM: usize = 30;
const CHECKSUM: usize = 6;
const SHOWN: usize = 11;
const LONGEST_NAME: usize = 100;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

#[cfg(test)]
mod tests;
