//! An attempt, part by part: whoever sends may look around between two of them.
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
    /// Those before it are mails that some of their recipients are refused.
    next: usize,
    refused: Option<String>,
    took: Option<Duration>,
}

impl Sending {
    pub(crate) fn of(parts: Vec<Rendered>) -> Self {
        Self { parts, next: 0, refused: None, took: None }
    }

    /// How long the receiver has taken for all of it; none while nothing was asked of him.
    pub(crate) fn took(&self) -> Option<Duration> {
        self.took
    }

    /// What a further attempt sends.
    pub(crate) fn left(&self) -> &[Rendered] {
        &self.parts
    }

    /// Sends the next part; answers how the attempt ended, and nothing while there is more to
    /// send. A mail that some of its recipients are refused stays, and keeps the next one from
    /// nobody. `left` is shown what a further attempt sends, whenever that is less: also after each
    /// recipient of a mail.
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
                let began = Instant::now();
                let tell = |told: &[Told]| {
                    self.tell(told);
                    left(&self.parts);
                };
                let outcome = email::send(app, settings, errand, &words, told, tell).await;
                self.took = Some(self.took.unwrap_or_default() + began.elapsed());
                (outcome, true)
            }
            Rendered::Http { .. } => {
                let (id, channel) = (errand.id, errand.channel);
                (super::send(app, settings, id, channel, &part, &mut self.took).await, false)
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

    /// So many recipients of the mail that is being sent need no further attempt by now.
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
