//! What the payment provider tells: vouched for by its signature, read and judged by the model,
//! taken once.
//!
//! *Invariant:* nothing in a body is looked at before its signature was found good.
//! *Invariant:* an event counts for the account that its metadata names, else for the one whose
//! subscription it is about, else for the one whose customer it names; an e-mail address, which
//! anybody can type, leads to no account.

use aws_lc_rs::hmac;
use backon::BackoffBuilder;
use serde_json::Value;
use vedette_model::{
    Account, AccountId, Delivery, Edition,
    billing::{Effect, Mail, PaymentEvent, Told, judge},
};
use vedette_store::Error as StoreError;

use super::offer;
use crate::{
    App, Error, Result,
    service::{account, letter::Letter, pipeline::TRIES},
};

/// What the provider signs its events with.
pub struct EventKey(hmac::Key);

impl EventKey {
    /// # Errors
    /// `NotConfigured`; names the key of the configuration.
    pub fn of(app: &App) -> Result<Self> {
        let secret = app.config.payments.secret.as_ref();
        let secret = secret.ok_or_else(|| Error::NotConfigured(NOT_CONFIGURED.to_owned()))?;
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes())))
    }

    /// Compares a body with its signature, the hex of its HMAC-SHA256, in time that does not depend
    /// on how much of it fits.
    ///
    /// # Errors
    /// `Unsigned`, whatever it is that does not fit.
    pub fn verify(&self, body: &[u8], signature: Option<&str>) -> Result<()> {
        let tag = signature.and_then(|text| hex::decode(text).ok());
        let fits = tag.is_some_and(|tag| hmac::verify(&self.0, body, &tag).is_ok());
        if fits { Ok(()) } else { Err(Error::Unsigned(UNSIGNED)) }
    }
}

/// Takes an event of the provider. An event that was taken before, that means nothing to us, or
/// that is about nobody we know does nothing; the last of these is not remembered either, so that
/// it can be sent again.
///
/// # Errors
/// `Invalid` for an event that cannot be read, and for one that pays for a product which the
/// operator has not named.
pub async fn receive(app: &App, edition: &'static Edition, body: &Value) -> Result<()> {
    let event = match Told::parse(body, app.clock.now())? {
        Told::Event(event) => event,
        Told::Other { id, kind } => {
            tracing::warn!(event_id = id, kind, "payment event {id} is of an unknown type: {kind}");
            return Ok(());
        }
    };
    let mut waits = TRIES.build();
    loop {
        let Some(account) = find(app, edition, &event).await? else {
            let id = &event.id;
            tracing::warn!(event_id = id, "payment event {id} is about no account of ours");
            return Ok(());
        };
        match take(app, edition, &account, &event).await? {
            Ok(()) => return Ok(()),
            // Another event about the account came first, or the account is gone.
            Err(StoreError::Stale | StoreError::Gone) => match waits.next() {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(StoreError::Conflict.into()),
            },
            Err(StoreError::Duplicate) => return Ok(()),
            Err(cause) => return Err(cause.into()),
        }
    }
}

/// Whom an event is about; nobody of another edition.
async fn find(app: &App, edition: &Edition, event: &PaymentEvent) -> Result<Option<Account>> {
    if let Some(id) = event.user_id
        && let Some(account) = app.store.account(id).await?
        && account.edition == edition.id
    {
        return Ok(Some(account));
    }
    let Some(id) = payer(app, event).await? else { return Ok(None) };
    let account = app.store.account(id).await?;
    Ok(account.filter(|account| account.edition == edition.id))
}

/// Who pays for what an event is about. A customer may have bought for another account since: the
/// subscriptions of before are still those of the first.
async fn payer(app: &App, event: &PaymentEvent) -> Result<Option<AccountId>> {
    if let Some(subscription) = &event.subscription_id
        && let Some(id) = app.store.account_of_subscription(subscription).await?
    {
        return Ok(Some(id));
    }
    let Some(customer) = &event.customer_id else { return Ok(None) };
    Ok(app.store.account_of_customer(customer).await?)
}

/// Judges an event from what is known now, and makes that real; the inner error is what the store
/// says to it.
async fn take(
    app: &App,
    edition: &'static Edition,
    account: &Account,
    event: &PaymentEvent,
) -> Result<Result<(), StoreError>> {
    let context = app.store.billing_context(account.id, &event.id).await?;
    if context.is_taken {
        return Ok(Err(StoreError::Duplicate));
    }
    let Some(on) = context.plan else { return Ok(Err(StoreError::Gone)) };
    let effect = judge(&context.billing, &on, event, &offer(app, edition));
    let effect = effect.inspect_err(|refused| {
        let id = &event.id;
        tracing::warn!(event_id = id, "payment event {id} was refused: {refused}");
    })?;
    let letters: Vec<Delivery> =
        effect.iter().filter_map(|it| mail(app, account, event, it)).collect();
    let version = context.billing.version;
    let taken = app.store.take_payment_event(account.id, event, version, effect.as_ref(), &letters);
    if let Err(cause) = taken.await {
        return Ok(Err(cause));
    }
    tell(app, account, event, effect.as_ref()).await;
    Ok(Ok(()))
}

/// What the owner is told of it, at the account's own address, where there is a relay.
fn mail(app: &App, account: &Account, event: &PaymentEvent, effect: &Effect) -> Option<Delivery> {
    let letter = match effect.mail? {
        Mail::Purchased(plan) => Letter::Purchased { plan: plan.id },
        Mail::Activated(plan) => Letter::Activated { plan: plan.id },
        Mail::Canceled => Letter::Canceled,
        Mail::Paused => Letter::Paused,
        Mail::Expired => Letter::Expired,
        Mail::Revoked => Letter::Revoked,
    };
    letter.to(app, account.id, &account.email, event.letter_id(), event.arrived_at)
}

/// What follows once it is stored.
async fn tell(app: &App, account: &Account, event: &PaymentEvent, effect: Option<&Effect>) {
    let (event_id, kind, id) = (event.id.as_str(), event.kind.as_str(), account.id);
    let Some(effect) = effect else {
        tracing::info!(event_id, kind, account_id = %id, "{kind} changes nothing for account {id}");
        return;
    };
    tracing::info!(event_id, kind, account_id = %id, "{kind} was taken for account {id}");
    if let Some(plan) = effect.plan {
        account::moved(app, account, plan).await;
    }
    app.wake.outbox.tell_of_all();
}

const NOT_CONFIGURED: &str =
    "events of a payment provider are not configured; the operator sets payments.secret";
const UNSIGNED: &str =
    "send the hex HMAC-SHA256 of the body with payments.secret as payments-signature";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_is_held_against_the_hex_of_its_signature() {
        // RFC 4231, 4.3: test case 2.
        let key = EventKey(hmac::Key::new(hmac::HMAC_SHA256, b"Jefe"));
        let body = b"what do ya want for nothing?";
        let good = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        for fits in [good.to_owned(), good.to_uppercase()] {
            assert!(key.verify(body, Some(&fits)).is_ok(), "{fits}");
        }
        let (short, long) = (&good[..62], format!("{good}00"));
        let other = good.replacen('5', "6", 1);
        let marked = format!("sha256={good}");
        for bad in ["", "x", short, &long, &other, &marked, "zz"] {
            let refused = key.verify(body, Some(bad));
            assert!(matches!(refused, Err(Error::Unsigned(_))), "{bad}");
        }
        assert!(key.verify(body, None).is_err());
        assert!(key.verify(b"what do ya want for something?", Some(good)).is_err());
    }
}
