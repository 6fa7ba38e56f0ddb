//! Whose credential a request carries, as far as it was seen lately: enough to tell a refused
//! address the whole wait without asking the database.

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

#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) account: AccountId,
    pub(super) limit: Limit,
    /// The month's end, once its quota was found used up.
    pub(super) exhausted_until: Option<Timestamp>,
}

impl TokenHash {
    pub fn of(token: &str) -> Self {
        let hash = digest(&SHA256, token.as_bytes());
        Self(hash.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}

impl Recent {
    /// Remembers a credential that was accepted.
    pub fn note(
        &self,
        token: TokenHash,
        account: AccountId,
        limit: Limit,
        exhausted_until: Option<Timestamp>,
    ) {
        let mut seen = self.seen.lock();
        if seen.len() >= MOST && !seen.contains_key(&token) {
            seen.clear();
        }
        seen.insert(token, Seen { account, limit, exhausted_until });
    }

    pub(super) fn get(&self, token: &TokenHash) -> Option<Seen> {
        self.seen.lock().get(token).copied()
    }
}

const MOST: usize = 16_384;
