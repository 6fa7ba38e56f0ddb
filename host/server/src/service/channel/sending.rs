//! An attempt, part by part, so that the sender can look around between two of them.
//!
//! *Invariant:* a part that was delivered is not sent again, and what is left keeps its order.
//! *Invariant:* after a stop no part is begun.

use std::time::{Duration, Instant};

use vedette_model::{
    NotificationSettings,
    delivery::{Outcome, Rendered, Told},
};

use super::{
    Errand,
    email::{self, Words},
};
use crate::App;

/// A notification that is being sent.
pub(crate) struct Sending {
    parts: Vec<Rendered>,
    /// Those before it are mails that some of their recipients were refused.
    next: usize,
    refused: Option<String>,
    took: Option<Duration>,
    understood_in: Duration,
}

impl Sending {
    pub(crate) fn of(parts: Vec<Rendered>) -> Self {
        Self { parts, next: 0, refused: None, took: None, understood_in: Duration::ZERO }
    }

    /// How long it took us to find out what the last reply means, or that none came, in whole
    /// milliseconds as all moments are: the next attempt is due a while after the reply, and not after
    /// that.
    pub(crate) fn understood_in(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.understood_in.as_millis()).unwrap_or(u64::MAX))
    }

    /// How long the receiver has taken for all of it, or the slowest recipient of a mail that has
    /// many; none while nothing was asked of it.
    pub(crate) fn took(&self) -> Option<Duration> {
        self.took
    }

    /// What a further attempt sends.
    pub(crate) fn left(&self) -> &[Rendered] {
        &self.parts
    }

    /// Sends the next part; answers how the attempt ended, or nothing while there is more to send.
    /// A mail that some of its recipients are refused stays, but does not hold up the next one.
    /// `left` is shown what a further attempt would send whenever that becomes less, so also after
    /// each recipient of a mail.
    pub(crate) async fn part(
        &mut self,
        app: &App,
        settings: &NotificationSettings,
        errand: &Errand<'_>,
        mut left: impl FnMut(&[Rendered]),
    ) -> Option<Outcome> {
        let Some(part) = self.parts.get(self.next).cloned() else { return Some(self.ended()) };
        if errand.stop.is_cancelled() {
            return Some(Outcome::Stopped);
        }
        let (outcome, is_mail) = match &part {
            Rendered::Email { subject, text, html, told } => {
                let words = Words { subject, text, html: html.as_deref() };
                let tell = |told: &[Told]| {
                    self.tell(told);
                    left(&self.parts);
                };
                let (outcome, took) = email::send(app, settings, errand, &words, told, tell).await;
                if let Some(took) = took {
                    self.took = Some(self.took.unwrap_or_default() + took);
                }
                (outcome, true)
            }
            Rendered::Http { .. } => {
                let (id, channel) = (errand.id, errand.channel);
                let (began, before) = (Instant::now(), self.took.unwrap_or_default());
                let outcome = super::send(app, settings, id, channel, &part, &mut self.took).await;
                let took = self.took.unwrap_or_default().saturating_sub(before);
                self.understood_in = began.elapsed().saturating_sub(took);
                (outcome, false)
            }
        };
        match outcome {
            Outcome::Delivered => {
                self.parts.remove(self.next);
                left(&self.parts);
            }
            Outcome::Rejected(reason) if is_mail => {
                self.refused.get_or_insert(reason);
                self.next += 1;
            }
            ended @ (Outcome::Retry { .. }
            | Outcome::Rejected(_)
            | Outcome::Unsent(_)
            | Outcome::Stopped) => return Some(ended),
        }
        (self.next == self.parts.len()).then(|| self.ended())
    }

    /// How many recipients of the mail that is being sent need no further attempt by now.
    fn tell(&mut self, settled: &[Told]) {
        if let Some(Rendered::Email { told, .. }) = self.parts.get_mut(self.next) {
            *told = settled.to_vec();
        }
    }

    /// How it ended, after the last part.
    fn ended(&mut self) -> Outcome {
        self.refused.take().map_or(Outcome::Delivered, Outcome::Rejected)
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;
    use uuid::Uuid;
    use vedette_model::{AccountId, DeliveryId, Secret};

    use super::*;
    use crate::{Clock, instance};

    #[test]
    fn wait_for_our_own_turn_at_the_relay_is_no_time_that_the_receiver_took() {
        let mut config = instance::config();
        config.smtp.url = Some(Secret::new("smtp://127.0.0.1:1".to_owned()));
        config.smtp.from = Some("alerts@watch.example".to_owned());
        instance::with_idle_app(config, Clock::System, |app| async move {
            let relay = app.relay.as_ref().expect("one is configured");
            let mut others = Vec::new();
            while let Some(turn) = relay.turn(Instant::now()).await {
                others.push(turn);
            }
            let stop = CancellationToken::new();
            let errand = Errand {
                id: DeliveryId(Uuid::from_u128(1)),
                account: AccountId(Uuid::from_u128(1)),
                channel: "email",
                to: Some("ops@shop.example"),
                thread: None,
                created_at: app.clock.now(),
                stop: &stop,
            };
            let mut sending = Sending::of(vec![Rendered::Email {
                subject: "s".to_owned(),
                text: "t".to_owned(),
                html: None,
                told: Vec::new(),
            }]);
            let settings = NotificationSettings::default();
            let part = sending.part(&app, &settings, &errand, |_| {});
            let (outcome, ()) = tokio::join!(part, async { stop.cancel() });
            assert_eq!(outcome, Some(Outcome::Stopped));
            assert_eq!(sending.took(), None);
            drop(others);
        });
    }
}
