//! Whose credential a request carries, as far as it was seen lately: enough to refuse whose address
//! is over its limit, with the whole wait and the headers, without asking the database.

use std::{collections::HashMap, time::Duration};

use aws_lc_rs::digest::{SHA256, digest};
use parking_lot::Mutex;
use vedette_model::{AccountId, Timestamp, quota::Limit};

/// SHA-256 of a bearer credential: the credential itself is not kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

/// Bounded; forgetting an entry only makes a wait shorter than it is.
///
/// *Invariant:* all credentials of an account tell the same of it, whichever was used last.
#[derive(Default)]
pub struct Recent {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    accounts: HashMap<TokenHash, AccountId>,
    seen: HashMap<AccountId, Seen>,
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
    /// The plan's calls a month.
    pub limit: u64,
    pub used: u64,
    /// The month's end, once its quota is used up.
    pub exhausted: Option<Timestamp>,
}

impl Usage {
    /// How long no call of the month is left; none where there are some.
    pub fn wait(&self, now: Timestamp) -> Option<Duration> {
        let wait = (self.exhausted? - now).to_std().ok();
        wait.filter(|wait| !wait.is_zero())
    }
}

impl TokenHash {
    pub fn of(token: &str) -> Self {
        let hash = digest(&SHA256, token.as_bytes());
        Self(hash.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}

impl Recent {
    /// Remembers a credential that was accepted, and where its account stands.
    pub fn note(&self, token: TokenHash, account: AccountId, limit: Limit, usage: Usage) {
        let mut known = self.known.lock();
        known.make_room(token, account);
        let before = known.seen.get(&account).map(|seen| &seen.usage);
        // Requests of one moment may come here in another order than they were counted in. Under
        // another plan what was noted before says the wrong thing.
        let is_later = |before: &&Usage| {
            let is_alike = before.month == usage.month && before.limit == usage.limit;
            is_alike && before.used > usage.used
        };
        let later = before.filter(is_later);
        let usage = later.cloned().unwrap_or(usage);
        known.accounts.insert(token, account);
        known.seen.insert(account, Seen { account, limit, usage });
    }

    /// A call of the month was taken back, so there is one more, if the plan has that many.
    pub fn take_back(&self, account: AccountId, month: &str) {
        let mut known = self.known.lock();
        if let Some(Seen { usage, .. }) = known.seen.get_mut(&account)
            && usage.month == month
        {
            usage.used = usage.used.saturating_sub(1);
            usage.exhausted = usage.exhausted.filter(|_| usage.used >= usage.limit);
        }
    }

    /// Forgets where an account stands, because its plan is another one now.
    pub fn forget(&self, account: AccountId) {
        self.known.lock().seen.remove(&account);
    }

    /// Forgets the account of a credential that is refused: it is no longer told how that account
    /// stands.
    pub fn disown(&self, token: &TokenHash) {
        self.known.lock().accounts.remove(token);
    }

    /// The same for all credentials of an account, where one has ended and which is not known: those
    /// that have not are noted again with their next call.
    pub fn disown_all(&self, account: AccountId) {
        self.known.lock().accounts.retain(|_, whose| *whose != account);
    }

    pub(super) fn get(&self, token: &TokenHash) -> Option<Seen> {
        let known = self.known.lock();
        known.seen.get(known.accounts.get(token)?).cloned()
    }
}

impl Known {
    fn make_room(&mut self, token: TokenHash, account: AccountId) {
        let is_full = self.accounts.len() >= MOST && !self.accounts.contains_key(&token)
            || self.seen.len() >= MOST && !self.seen.contains_key(&account);
        if is_full {
            self.accounts.clear();
            self.seen.clear();
        }
    }
}

const MOST: usize = 16_384;
