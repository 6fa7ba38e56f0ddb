//! The e-mail side of a channel: a message of his own to every recipient, through the relay.
//!
//! *Invariant:* who has a mail, or was refused it for good, is written down with the delivery and
//! gets no further attempt.

use std::time::{Duration, Instant};

use uuid::Uuid;
use vedette_model::{
    DeliveryId, NotificationSettings,
    delivery::{ATTEMPT_TIMEOUT, Outcome, Told},
};
use vedette_sandbox::egress::smtp::{Mail, NotSent};

use super::Errand;
use crate::App;

/// What the channel's plugin wrote.
pub(super) struct Words<'a> {
    pub(super) subject: &'a str,
    pub(super) text: &'a str,
    pub(super) html: Option<&'a str>,
}

/// Sends to everybody who is not in `told` yet, and adds whom that settled.
pub(super) async fn send(
    app: &App,
    settings: &NotificationSettings,
    errand: &Errand<'_>,
    words: &Words<'_>,
    told: &mut Vec<Told>,
) -> Outcome {
    let Some(relay) = &app.relay else {
        return Outcome::Rejected(NO_RELAY.to_owned());
    };
    let recipients = match recipients(app, settings, errand).await {
        Ok(recipients) => recipients,
        Err(failed) => return failed,
    };
    let Some(turn) = relay.turn(Instant::now() + TURN).await else {
        return Outcome::Unsent("too much mail waits for the relay".to_owned());
    };
    let deadline = Instant::now() + ATTEMPT_TIMEOUT;
    let mut later = None;
    for address in recipients {
        if told.iter().any(|told| told.address == address) {
            continue;
        }
        let mail = Mail {
            to: &address,
            subject: words.subject,
            text: words.text,
            html: words.html,
            id: message_id(errand.id, &address, words),
            delivery: errand.id,
            created_at: errand.created_at,
        };
        let sent = relay.send(&turn, &mail, deadline).await;
        match sent {
            Ok(()) => told.push(Told { address, refused: None }),
            Err(NotSent::Never(reason)) => told.push(Told { address, refused: Some(reason) }),
            Err(NotSent::Later(reason)) => later = later.or(Some(reason)),
            Err(NotSent::Ours(reason)) => return Outcome::Unsent(reason),
        }
    }
    outcome(told, later)
}

/// Whom a letter names; else `alert_emails`, or the account's own address where there are none
/// (spec: Notification settings).
async fn recipients(
    app: &App,
    settings: &NotificationSettings,
    errand: &Errand<'_>,
) -> Result<Vec<String>, Outcome> {
    if let Some(to) = errand.to {
        return Ok(vec![to.to_owned()]);
    }
    if !settings.alert_emails.is_empty() {
        return Ok(settings.alert_emails.clone());
    }
    match app.store.account(errand.account).await {
        Ok(Some(account)) => Ok(vec![account.email]),
        Ok(None) => Err(Outcome::Rejected("the account is gone".to_owned())),
        Err(cause) => {
            tracing::error!(
                delivery_id = %errand.id,
                error = format!("{cause:#?}"),
                "the recipients of {} cannot be read: {cause}",
                errand.id
            );
            Err(Outcome::Unsent("the account could not be read".to_owned()))
        }
    }
}

/// The same for the same mail at every attempt, another for each recipient and message.
fn message_id(delivery: DeliveryId, address: &str, words: &Words<'_>) -> Uuid {
    let name = format!("{address}\n{}\n{}", words.subject, words.text);
    Uuid::new_v5(&delivery.0, name.as_bytes())
}

/// Delivered once everybody has it; as long as somebody may still get it, there is a next attempt.
fn outcome(told: &[Told], later: Option<String>) -> Outcome {
    if let Some(reason) = later {
        return Outcome::Retry { reason, after: None };
    }
    let refused =
        |told: &Told| told.refused.as_ref().map(|reason| format!("{}: {reason}", told.address));
    let refused: Vec<String> = told.iter().filter_map(refused).collect();
    if refused.is_empty() { Outcome::Delivered } else { Outcome::Rejected(refused.join("; ")) }
}

/// With the attempt itself it stays well within a lease.
const TURN: Duration = Duration::from_secs(30);

pub(crate) const NO_RELAY: &str = "no mail relay is configured";

#[cfg(test)]
mod tests {
    use super::*;

    fn told(address: &str, refused: Option<&str>) -> Told {
        Told { address: address.to_owned(), refused: refused.map(str::to_owned) }
    }

    #[test]
    fn attempt_succeeded_when_everybody_has_it() {
        let (has_it, refused) = (told("a@x.example", None), told("b@x.example", Some("550 no")));
        let rejected = Outcome::Rejected("b@x.example: 550 no".to_owned());
        let retry = Outcome::Retry { reason: "451 later".to_owned(), after: None };
        let later = || Some("451 later".to_owned());
        for (told, later, expected) in [
            (vec![has_it.clone()], None, Outcome::Delivered),
            (vec![has_it.clone(), refused.clone()], None, rejected),
            (vec![has_it, refused], later(), retry.clone()),
            (vec![], later(), retry),
        ] {
            assert_eq!(outcome(&told, later), expected, "{told:?}");
        }
    }

    #[test]
    fn message_keeps_its_id_and_every_recipient_has_another() {
        let id = |delivery, address, subject| {
            let words = Words { subject, text: "t", html: None };
            message_id(DeliveryId(Uuid::from_u128(delivery)), address, &words)
        };
        assert_eq!(id(1, "a@x.example", "s"), id(1, "a@x.example", "s"));
        assert_ne!(id(1, "a@x.example", "s"), id(1, "b@x.example", "s"));
        assert_ne!(id(1, "a@x.example", "s"), id(2, "a@x.example", "s"));
        assert_ne!(id(1, "a@x.example", "s"), id(1, "a@x.example", "second part"));
    }
}
