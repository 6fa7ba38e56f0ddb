//! The e-mail side of a channel: a separate message to every recipient, through the relay.
//!
//! Mails follow one another on one connection, as long as the relay is quick. When one takes longer
//! than a second, the next is begun beside it, so that a slow recipient keeps nobody from their
//! mail. A relay that does not accept the second connection takes one at a time: from then on each
//! mail waits for the one before, and the one that was turned away comes last. A relay that accepts
//! nobody is for the operator to see to and does not count as an attempt: the mail waits for it.
//!
//! *Invariant:* a recipient who has the mail, or was refused it for good, is written down with the
//! delivery and gets no further attempt.
//! *Invariant:* after a stop no mail is begun.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::time::timeout;
use uuid::Uuid;
use vedette_model::{
    DeliveryId, NotificationSettings,
    delivery::{ATTEMPT_TIMEOUT, Outcome, Told},
};
use vedette_sandbox::egress::smtp::{Mail, NotSent, Relay};

use super::Errand;
use crate::App;

/// What the channel's plugin wrote.
pub(super) struct Words<'a> {
    pub(super) subject: &'a str,
    pub(super) text: &'a str,
    pub(super) html: Option<&'a str>,
}

/// How a mail ended.
struct Ended {
    sent: Result<(), NotSent>,
    /// How long the relay was asked; none where it was not.
    took: Option<Duration>,
}

/// Sends to everybody who is not in `told` yet; after each mail `tell` is shown who is in it by
/// then. The outcome comes with how long the slowest mail took at the relay; none if it was not
/// asked at all.
pub(super) async fn send(
    app: &App,
    settings: &NotificationSettings,
    errand: &Errand<'_>,
    words: &Words<'_>,
    told: &[Told],
    mut tell: impl FnMut(&[Told]),
) -> (Outcome, Option<Duration>) {
    let Some(relay) = &app.relay else {
        return (no_relay(app.store.embedded()), None);
    };
    let mut recipients = match recipients(app, settings, errand).await {
        Ok(recipients) => recipients,
        Err(failed) => return (failed, None),
    };
    recipients.retain(|address| !told.iter().any(|told| told.address == *address));
    let turn_by = Instant::now() + TURN;
    let mut told = told.to_vec();
    let mut round = Round::of(recipients, &mut told);
    let mut out = FuturesUnordered::new();
    let mut slowest: Option<Duration> = None;
    loop {
        if errand.stop.is_cancelled() {
            round.stop();
        }
        if let Some(address) = round.next(out.len()) {
            out.push(mail(relay, errand, words, address, turn_by));
        }
        let ended = timeout(BESIDE, out.next()).await;
        match ended {
            Ok(Some((address, Some(Ended { sent, took })))) => {
                slowest = slowest.max(took);
                round.take(address, sent, out.len());
                tell(round.told.as_slice());
            }
            Ok(Some((address, None))) => round.put_back(address),
            Ok(None) => return (round.outcome(), slowest),
            Err(_) => {}
        }
    }
}

/// Another node may have a relay.
fn no_relay(is_alone: bool) -> Outcome {
    let reason = NO_RELAY.to_owned();
    if is_alone { Outcome::Rejected(reason) } else { Outcome::Unsent(reason) }
}

/// Sends one mail, which has ten seconds of its own once it is its turn, and no turn once the time
/// for turns is over. Answers how it ended; nothing if it had no turn before a stop.
async fn mail(
    relay: &Relay,
    errand: &Errand<'_>,
    words: &Words<'_>,
    address: String,
    turn_by: Instant,
) -> (String, Option<Ended>) {
    let unasked = |why: NotSent| Some(Ended { sent: Err(why), took: None });
    if Instant::now() >= turn_by {
        let reason = "the mail relay took too long over earlier mails";
        return (address, unasked(NotSent::Later(reason.to_owned())));
    }
    let Some(turn) = errand.stop.run_until_cancelled(relay.turn(turn_by)).await else {
        return (address, None);
    };
    let Some(turn) = turn else {
        let reason = "too many mails are waiting for the relay";
        return (address, unasked(NotSent::Ours(reason.to_owned())));
    };
    let mail = Mail {
        to: &address,
        subject: words.subject,
        text: words.text,
        html: words.html,
        id: message_id(errand.id, &address, words),
        delivery: errand.id,
        thread: errand.thread,
        created_at: errand.created_at,
    };
    let began = Instant::now();
    let sent = relay.send(&turn, &mail, began + ATTEMPT_TIMEOUT).await;
    // Our own trouble says nothing about the relay.
    let took = (!matches!(sent, Err(NotSent::Ours(_)))).then(|| began.elapsed());
    (address, Some(Ended { sent, took }))
}

/// The recipient of a letter; else `alert_emails`, or the account's own address if there are none
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

/// The same for the same mail at every attempt, but different for each recipient and message.
fn message_id(delivery: DeliveryId, address: &str, words: &Words<'_>) -> Uuid {
    let name = format!("{address}\n{}\n{}", words.subject, words.text);
    Uuid::new_v5(&delivery.0, name.as_bytes())
}

/// How an attempt has ended for each recipient so far.
struct Round<'a> {
    /// Of this attempt and those before.
    told: &'a mut Vec<Told>,
    /// Recipients who are still to come, in this order.
    left: VecDeque<String>,
    /// How many mails may be on their way.
    at_a_time: usize,
    /// Recipients who may still get it, and why they have not yet.
    later: Vec<(String, String)>,
    /// What is wrong on our side, or with the relay for everybody.
    ours: Option<String>,
    /// We are stopping: nobody comes next.
    is_over: bool,
}

impl<'a> Round<'a> {
    fn of(recipients: Vec<String>, told: &'a mut Vec<Told>) -> Self {
        let left = recipients.into();
        let (later, ours) = (Vec::new(), None);
        Self { told, left, at_a_time: MOST_AT_A_TIME, later, ours, is_over: false }
    }

    fn stop(&mut self) {
        self.is_over = true;
    }

    /// The next recipient, if there is room beside the mails that are on their way.
    fn next(&mut self, on_their_way: usize) -> Option<String> {
        let has_room = on_their_way < self.at_a_time && !self.is_over;
        if has_room { self.left.pop_front() } else { None }
    }

    /// Nothing was begun for this recipient.
    fn put_back(&mut self, address: String) {
        self.left.push_front(address);
    }

    /// Notes how a mail ended while so many others were on their way. One that is turned away
    /// beside another is tried once more, alone.
    fn take(&mut self, address: String, sent: Result<(), NotSent>, on_their_way: usize) {
        match sent {
            Ok(()) => self.told.push(Told { address, refused: None }),
            Err(NotSent::Never(reason)) => self.told.push(Told { address, refused: Some(reason) }),
            Err(NotSent::Later(reason)) => self.later.push((address, reason)),
            Err(NotSent::TurnedAway(_) | NotSent::HungUp(_)) if on_their_way > 0 => {
                self.at_a_time = 1;
                self.left.push_back(address);
            }
            Err(NotSent::TurnedAway(reason)) => {
                // It would not let in the next ones either.
                self.left.clear();
                self.ours = Some(reason);
            }
            Err(NotSent::HungUp(reason)) => {
                self.at_a_time = 1;
                self.later.push((address, reason));
            }
            Err(NotSent::Ours(reason)) => self.ours = Some(reason),
        }
    }

    /// Delivered once everybody has it; as long as somebody may still get it, there is a next
    /// attempt. Everybody who does not have it is named, with the reason.
    fn outcome(self) -> Outcome {
        if self.is_over && !self.left.is_empty() {
            return Outcome::Stopped;
        }
        if let Some(reason) = self.ours {
            return Outcome::Unsent(reason);
        }
        let refused = self.told.iter().filter_map(|told| {
            let reason = told.refused.as_deref()?;
            Some((told.address.as_str(), reason))
        });
        let later = self.later.iter().map(|(address, reason)| (address.as_str(), reason.as_str()));
        let reason = named(refused.chain(later));
        if !self.later.is_empty() {
            Outcome::Retry { reason, after: None }
        } else if reason.is_empty() {
            Outcome::Delivered
        } else {
            Outcome::Rejected(reason)
        }
    }
}

/// Each reason once, after the recipients that it is about.
fn named<'a>(failed: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (address, reason) in failed {
        match reasons.iter_mut().find(|(said, _)| *said == reason) {
            Some((_, whom)) => whom.push(address),
            None => reasons.push((reason, vec![address])),
        }
    }
    let parts = reasons.iter().map(|(reason, whom)| format!("{}: {reason}", whom.join(", ")));
    parts.collect::<Vec<_>>().join("; ")
}

/// For all mails of an attempt together: with the ten seconds of the last one it stays well within
/// a lease.
const TURN: Duration = Duration::from_secs(30);

/// How long the next mail waits for one before it.
const BESIDE: Duration = Duration::from_secs(1);

/// A slow one and one beside it: the relay's turns are shared by all accounts.
const MOST_AT_A_TIME: usize = 2;

/// The channel that needs a relay; letters go by it too.
pub(crate) const EMAIL: &str = "email";
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
        let retry = |reason: &str| Outcome::Retry { reason: reason.to_owned(), after: None };
        let (c, d) = (("c@x.example", "451 later"), ("d@x.example", "451 later"));
        for (mut told, later, expected) in [
            (vec![has_it.clone()], vec![], Outcome::Delivered),
            (vec![has_it.clone(), refused.clone()], vec![], rejected),
            (vec![has_it, refused], vec![c], retry("b@x.example: 550 no; c@x.example: 451 later")),
            (vec![], vec![c, d], retry("c@x.example, d@x.example: 451 later")),
        ] {
            let mut round = Round::of(Vec::new(), &mut told);
            for (address, reason) in later {
                round.take(address.to_owned(), Err(NotSent::Later(reason.to_owned())), 0);
            }
            assert_eq!(round.outcome(), expected, "{told:?}");
        }
    }

    #[test]
    fn trouble_of_our_own_is_no_attempt_and_takes_the_mail_from_nobody() {
        let mut told = Vec::new();
        let mut round = Round::of(Vec::new(), &mut told);
        round.take("a@x.example".to_owned(), Err(NotSent::Ours("no DNS".to_owned())), 1);
        round.take("b@x.example".to_owned(), Ok(()), 0);
        assert_eq!(round.outcome(), Outcome::Unsent("no DNS".to_owned()));
        assert_eq!(told, [self::told("b@x.example", None)]);
    }

    #[test]
    fn once_a_mail_is_turned_away_mails_go_one_after_the_other_and_that_one_goes_last() {
        let (a, b, c) = ("a@x.example", "b@x.example", "c@x.example");
        let away = || Err(NotSent::TurnedAway("421 one at a time".to_owned()));
        let mut told = Vec::new();
        let mut round = Round::of([a, b, c].map(str::to_owned).to_vec(), &mut told);
        assert_eq!(round.next(0).as_deref(), Some(a));
        assert_eq!(round.next(1).as_deref(), Some(b));
        assert_eq!(round.next(2), None, "one beside another, and no more");
        round.take(b.to_owned(), away(), 1);
        assert_eq!(round.next(1), None, "the other one is still on its way");
        round.take(a.to_owned(), Ok(()), 0);
        assert_eq!(round.next(0).as_deref(), Some(c));
        assert_eq!(round.next(1), None);
        round.take(c.to_owned(), Ok(()), 0);
        assert_eq!(round.next(0).as_deref(), Some(b));
        round.take(b.to_owned(), away(), 0);
        assert_eq!(round.next(0), None, "not a third time");
        assert_eq!(round.outcome(), Outcome::Unsent("421 one at a time".to_owned()));
        assert_eq!(told, [self::told(a, None), self::told(c, None)]);
    }

    #[test]
    fn relay_that_lets_in_nobody_is_no_attempt_and_one_that_hangs_up_on_the_sender_is() {
        let (a, b, c) = ("a@x.example", "b@x.example", "c@x.example");
        let mut told = Vec::new();
        let mut round = Round::of([a, b, c].map(str::to_owned).to_vec(), &mut told);
        let hung_up = || Err(NotSent::HungUp("421 too many".to_owned()));
        assert_eq!((round.next(0).as_deref(), round.next(1).as_deref()), (Some(a), Some(b)));
        round.take(a.to_owned(), hung_up(), 1);
        round.take(b.to_owned(), hung_up(), 0);
        assert_eq!(round.next(0).as_deref(), Some(c));
        round.take(c.to_owned(), Ok(()), 0);
        assert_eq!(round.next(0).as_deref(), Some(a), "once more, alone");
        round.take(a.to_owned(), hung_up(), 0);
        let reason = format!("{b}, {a}: 421 too many");
        assert_eq!(round.outcome(), Outcome::Retry { reason, after: None });

        let mut round = Round::of([a, b].map(str::to_owned).to_vec(), &mut told);
        assert_eq!(round.next(0).as_deref(), Some(a));
        let away = "the mail relay refused the connection".to_owned();
        round.take(a.to_owned(), Err(NotSent::TurnedAway(away.clone())), 0);
        assert_eq!(round.next(0), None, "the others would not be let in either");
        assert_eq!(round.outcome(), Outcome::Unsent(away));
    }

    #[test]
    fn after_a_stop_nobody_comes_next_and_it_is_an_attempt_only_where_nobody_is_left() {
        let [a, b, c] = ["a@x.example", "b@x.example", "c@x.example"];
        let ended = |recipients: &[&str], waits: Option<&str>| {
            let mut told = Vec::new();
            let recipients = recipients.iter().map(|address| (*address).to_owned());
            let mut round = Round::of(recipients.collect(), &mut told);
            assert_eq!(round.next(0).as_deref(), Some(a));
            let waiting = waits.map(|address| {
                assert_eq!(round.next(1).as_deref(), Some(address));
                address.to_owned()
            });
            round.stop();
            assert_eq!(round.next(0), None);
            round.take(a.to_owned(), Ok(()), 0);
            if let Some(address) = waiting {
                round.put_back(address);
            }
            let outcome = round.outcome();
            assert_eq!(told, [self::told(a, None)]);
            outcome
        };
        assert_eq!(ended(&[a, b, c], None), Outcome::Stopped);
        assert_eq!(ended(&[a, b], Some(b)), Outcome::Stopped, "it had no turn");
        assert_eq!(ended(&[a], None), Outcome::Delivered);
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
