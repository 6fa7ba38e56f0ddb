//! The limits on requests that are counted in memory: per client address and per account. The
//! monthly quota is the store's, since it outlives the process.
//!
//! A request passes, in this order: the window of its address, authentication, the window of its
//! account, the month (spec: Rate limits).
//!
//! *Invariant:* windows are exact: never more than N in any trailing span, while N are to be had.
//! *Invariant:* memory is bounded, however many addresses there are.

mod address;
mod guard;
mod recent;
mod windows;

use std::{net::IpAddr, time::Duration};

use vedette_model::{
    AccountId, Timestamp,
    quota::{self, ACCOUNT_SPAN, Admitted, Limit, PER_ADDRESS, PER_PUBLIC_ADDRESS, Refused},
};

use crate::Clock;
use guard::Guard;
use windows::Windows;

pub use address::client_address;
pub use recent::{Recent, TokenHash, Usage};

/// All windows of a process.
pub struct Limits {
    private: AddressLayer,
    public: AddressLayer,
    accounts: Windows<AccountId>,
    /// Which credentials were used lately, and by which account.
    pub recent: Recent,
}

/// Which of an address's windows a request counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Everything that needs a credential, and every path that does not exist.
    Private,
    /// All public endpoints together.
    Public,
}

struct AddressLayer {
    limit: Limit,
    windows: Windows<IpAddr>,
    guard: Guard,
}

impl Limits {
    pub fn new(clock: &Clock) -> Self {
        Self {
            private: AddressLayer::new(PER_ADDRESS, clock),
            public: AddressLayer::new(PER_PUBLIC_ADDRESS, clock),
            accounts: Windows::new(MOST_ACCOUNTS),
            recent: Recent::default(),
        }
    }

    /// Requests a minute that an address has.
    pub fn per_minute(class: Class) -> u32 {
        match class {
            Class::Private => PER_ADDRESS.max,
            Class::Public => PER_PUBLIC_ADDRESS.max,
        }
    }

    /// Counts a request of an address, as [`client_address`] gives it.
    pub fn admit_address(
        &self,
        class: Class,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Admitted, Refused> {
        self.layer(class).admit(address, now)
    }

    /// What an address has left, without counting.
    pub fn look_at_address(
        &self,
        class: Class,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Admitted, Refused> {
        let layer = self.layer(class);
        layer.windows.look(&address, layer.limit, now)
    }

    /// Counts a request of an account.
    pub fn admit_account(
        &self,
        account: AccountId,
        limit: Limit,
        now: Timestamp,
    ) -> Result<Admitted, Refused> {
        self.accounts.admit(account, limit, now)
    }

    /// Takes back a request of an account that was counted at this moment: it turned out to be bound
    /// by another limit, or to be another account's.
    pub fn take_back(&self, account: AccountId, at: Timestamp) {
        self.accounts.take_back(&account, at);
    }

    /// How long an account whose credential was used lately has to wait for its window: what a
    /// refused address is told too, so that waiting that long is enough.
    pub fn wait_of_window(&self, token: &TokenHash, now: Timestamp) -> Option<Duration> {
        let seen = self.recent.get(token)?;
        let window = self.accounts.look(&seen.account, seen.limit, now).err();
        window.map(|refused| refused.retry_after)
    }

    /// What the credential's account had used this month when last counted, if the credential was
    /// used lately. It may be exhausted, with a wait of its own. If it was last counted in another
    /// month, no call of this one was seen.
    pub fn month_of(&self, token: &TokenHash, now: Timestamp) -> Option<Usage> {
        let usage = self.recent.get(token)?.usage;
        let month = quota::month(now);
        if usage.month == month {
            return Some(usage);
        }
        Some(Usage { month, limit: usage.limit, used: 0, exhausted: None })
    }

    /// Forgets what no longer counts. Called every few seconds.
    pub fn forget_idle(&self, now: Timestamp) {
        for layer in [&self.private, &self.public] {
            layer.windows.forget_idle(layer.limit, now);
            layer.guard.forget_idle();
        }
        self.accounts.forget_idle(ANY_PLAN, now);
    }

    fn layer(&self, class: Class) -> &AddressLayer {
        match class {
            Class::Private => &self.private,
            Class::Public => &self.public,
        }
    }
}

impl AddressLayer {
    fn new(limit: Limit, clock: &Clock) -> Self {
        Self { limit, windows: Windows::new(MOST_ADDRESSES), guard: Guard::new(limit, clock) }
    }

    fn admit(&self, address: IpAddr, now: Timestamp) -> Result<Admitted, Refused> {
        let admitted = self.windows.admit(address, self.limit, now)?;
        // What the exact window admits passes the guard, unless the window had been dropped.
        self.guard.pass(&address, now)?;
        Ok(admitted)
    }
}

/// At about 300 bytes each, 40 MB when every one of them is in use.
const MOST_ADDRESSES: usize = 1 << 17;
const MOST_ACCOUNTS: usize = 1 << 16;
/// Of every plan; the number does not matter for forgetting.
const ANY_PLAN: Limit = Limit { max: 1, span: ACCOUNT_SPAN };

#[cfg(test)]
mod tests;
