//! Whose credential a request carries, as far as it was seen lately: enough to refuse who is over
//! a limit, with the whole wait and the headers, without asking the database.

use std::collections::HashMap;

use aws_lc_rs::digest::{SHA256, digest};
use parking_lot::Mutex;
use vedette_model::{AccountId, Timestamp, quota::Limit};

/// SHA-256 of a bearer credential: the credential itself is not kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

/// Bounded; forgetting an entry only makes a wait shorter than it is.
#[derive(Default)]
pub struct Recent {
    seen: Mutex<HashMap<TokenHash, Seen>>,
}

#[derive(Clone)]
pub(super) struct Seen {
    pub(super) account: AccountId,
    pub(super) limit: Limit,
    pub(super) usage: Usage,
}

/// What an account had used when it was counted last.
#[derive(Clone, Debug)]
pub struct Usage {
    /// `2026-11`.
    pub month: String,
    pub used: u64,
    /// The month's end, once its quota was found used up.
    pub exhausted: Option<Timestamp>,
}

impl TokenHash {
    pub fn of(token: &str) -> Self {
        let hash = digest(&SHA256, token.as_bytes());
        Self(hash.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}

impl Recent {
    /// Remembers a credential that was accepted.
    pub fn note(&self, token: TokenHash, account: AccountId, limit: Limit, usage: Usage) {
        let mut seen = self.seen.lock();
        if seen.len() >= MOST && !seen.contains_key(&token) {
            seen.clear();
        }
        seen.insert(token, Seen { account, limit, usage });
    }

    pub(super) fn get(&self, token: &TokenHash) -> Option<Seen> {
        self.seen.lock().get(token).cloned()
    }

    /// The calls of a month at the last count; none when there was none yet.
    pub fn used(&self, token: &TokenHash, month: &str) -> Option<u64> {
        let seen = self.get(token)?;
        (seen.usage.month == month).then_some(seen.usage.used)
    }
}

const MOST: usize = 16_384;
