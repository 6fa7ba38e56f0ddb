//! Somebody new: whether they may begin, and the letter that welcomes them.

use std::net::IpAddr;

use vedette_model::{Edition, account::counted_since};

use super::{letter::Letter, random};
use crate::{App, Caller, Result};

/// Why somebody is asked not to make an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwelcome {
    /// One word, for programs.
    pub reason: &'static str,
    pub message: String,
}

/// Why an address may not make another free account; none if it has made fewer of late than it may.
/// This keeps nobody from signing up: it is asked before.
pub async fn judge(app: &App, edition: &Edition, address: IpAddr) -> Result<Option<Unwelcome>> {
    let most = app.config.signup.max_free_per_ip;
    let (free, since) = (edition.lowest_plan().id, counted_since(app.clock.now()));
    let made = app.store.free_accounts_of(address, free, since).await?;
    if u32::try_from(made).is_ok_and(|made| made < most) {
        return Ok(None);
    }
    let message = format!(
        "this address has made as many accounts on the {free} plan as it may ({most} in 30 days, \
         including deleted ones); use or upgrade an existing one"
    );
    Ok(Some(Unwelcome { reason: TOO_MANY, message }))
}

/// Sends the welcome letter to the caller, if their account is new; answers whether this call did.
/// It is sent once, and is about the caller's own account, whatever team they are in.
pub async fn send(app: &App, caller: &Caller) -> Result<bool> {
    let (user, now) = (&caller.user, app.clock.now());
    if !user.is_new(now) {
        return Ok(false);
    }
    let letter = Letter::Welcome.to(app, user.id, &user.email, random::id(), now);
    let Some(letter) = letter else { return Ok(false) };
    let sent = app.store.welcome(user.id, &letter, now).await?;
    if sent {
        app.wake.outbox.tell_of_all();
    }
    Ok(sent)
}

const TOO_MANY: &str = "too_many_free_accounts";
