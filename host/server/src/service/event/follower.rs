//! One stream's task: reads the account's events as they are numbered, and looks whether the
//! credential still holds.
//!
//! *Invariant:* a reader that is behind costs one page and one queue of events, and only its own
//! task waits for it, holding nothing of the store. It is dropped after [`SLOWEST`] and can go on
//! later from the last id.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::Instant};
use vedette_model::{
    Edition, Event, EventFilter,
    event::{Cursor, Part},
};

use super::{HEARTBEAT, KEEP, Told, sites::Sites};
use crate::{
    App, Caller, Error, Result,
    service::{
        check,
        credential::{self, Credential},
    },
    streams::Seat,
};

/// Reads for one stream.
pub(super) struct Follower {
    pub(super) app: Arc<App>,
    pub(super) seat: Seat,
    pub(super) caller: Caller,
    pub(super) bearer: String,
    pub(super) filter: EventFilter,
    /// The sites as they were last told; none where nobody wants to know.
    pub(super) sites: Option<Sites>,
    pub(super) cursor: Cursor,
    pub(super) told: mpsc::Sender<Told>,
    pub(super) since: Since,
}

/// When the things that are due again after a while were last done.
pub(super) struct Since {
    /// Something was said.
    spoke: Instant,
    /// The credential was looked at.
    recognised: Instant,
    /// The feed was told to stay open.
    opened: Instant,
}

/// Why a stream goes on or ends.
#[derive(PartialEq)]
enum Turn {
    /// There is more to read at once.
    More,
    Wait,
    End,
}

impl Since {
    pub(super) fn now() -> Self {
        let now = Instant::now();
        Self { spoke: now, recognised: now, opened: now }
    }
}

impl Follower {
    pub(super) async fn run(mut self) {
        // The first word tells where the stream begins: a reader that loses it at once can go on
        // there.
        if !self.tell(Told::Quiet(self.cursor)).await {
            return;
        }
        loop {
            let turn = self.turn().await.unwrap_or_else(|cause| {
                tracing::warn!(error = ?cause, "an event stream was ended: {cause}");
                Turn::End
            });
            match turn {
                Turn::End => return self.leave().await,
                Turn::More => {}
                Turn::Wait => {
                    let shutdown = self.app.streams.shutdown().clone();
                    tokio::select! {
                        () = shutdown.cancelled() => return,
                        () = self.told.closed() => return,
                        () = self.seat.news() => {}
                        () = tokio::time::sleep(LOOK_AGAIN) => {}
                    }
                }
            }
        }
    }

    /// One look at the store, and what it brought.
    async fn turn(&mut self) -> Result<Turn> {
        if self.since.recognised.elapsed() >= RECOGNISE && !self.recognise().await? {
            return Ok(Turn::End);
        }
        let account = self.caller.account.id;
        let now = self.app.clock.now();
        if self.since.opened.elapsed() >= STAY_OPEN {
            self.app.store.open_events(account, now + KEEP).await?;
            self.since.opened = Instant::now();
        }
        self.app.store.number_events(account, now).await?;
        let from = self.cursor.number;
        let page = self.app.store.events(account, from, PAGE).await?;
        if page.stamp != self.caller.stamp {
            // Keys, plan or sites were changed, here or on another node.
            credential::forget(&self.app, &self.bearer);
            if !self.recognise().await? {
                return Ok(Turn::End);
            }
        }
        let moved = self.sites.as_ref().is_some_and(|sites| sites.stamp != page.stamp);
        if moved && !self.look_at_sites().await? {
            return Ok(Turn::End);
        }
        if !self.tell_all(page.events).await {
            return Ok(Turn::End);
        }
        let end = from.saturating_add(PAGE).min(page.last.saturating_add(1)).max(page.oldest);
        if self.cursor.number < end && page.last >= self.cursor.number && !self.lose(end).await {
            return Ok(Turn::End);
        }
        if self.cursor.number <= page.last {
            return Ok(Turn::More);
        }
        if self.since.spoke.elapsed() >= HEARTBEAT && !self.tell(Told::Quiet(self.cursor)).await {
            return Ok(Turn::End);
        }
        Ok(Turn::Wait)
    }

    /// Hands on what the filter lets pass. False when nobody listens any more, or too slowly.
    async fn tell_all(&mut self, events: Vec<Event>) -> bool {
        for event in events {
            if event.number != self.cursor.number && !self.lose(event.number).await {
                return false;
            }
            let seen = self.cursor.parts;
            let places: Vec<Cursor> = (0..event.parts.len()).map(|at| event.after(at)).collect();
            for (part, after) in event.parts.into_iter().zip(places).skip(seen) {
                if self.filter.lets_pass(&part) {
                    let part = Box::new(shown(self.caller.edition, part));
                    if !self.tell(Told::Event(after, part)).await {
                        return false;
                    }
                }
                self.cursor = after;
            }
            // Also where every part had been seen, or there was none.
            self.cursor = self.cursor.max(Cursor::after(event.number));
        }
        true
    }

    /// Whether the credential still leads to the same account.
    async fn recognise(&mut self) -> Result<bool> {
        let account = Some(self.caller.account.id);
        let credential = Credential { bearer: &self.bearer, account, address: None };
        match credential::authenticate(&self.app, self.caller.edition, credential).await {
            Ok(caller) => {
                self.caller = caller;
                self.since.recognised = Instant::now();
                Ok(true)
            }
            Err(Error::Unauthenticated(_) | Error::NotFound(_)) => Ok(false),
            Err(cause) => Err(cause),
        }
    }

    /// Tells what became of the sites. False when nobody listens any more.
    async fn look_at_sites(&mut self) -> Result<bool> {
        let found = Sites::read(&self.app, &self.caller).await?;
        let change = self.sites.as_ref().and_then(|before| before.change_to(&found));
        self.sites = Some(found);
        match change {
            Some(change) => Ok(self.tell(Told::Sites(change)).await),
            None => Ok(true),
        }
    }

    /// Goes on with a number before which some are missing.
    async fn lose(&mut self, number: u64) -> bool {
        self.cursor = Cursor { number, parts: 0 };
        self.tell(Told::Lost).await
    }

    /// A reader that was dropped for reading too slowly still holds what was told but not read, and
    /// keeps its seat for that, so that one that never reads cannot come back again and again.
    async fn leave(self) {
        let shutdown = self.app.streams.shutdown().clone();
        tokio::select! {
            () = shutdown.cancelled() => {}
            // There is room at once if nothing was left unread, and an error if nobody listens.
            _ = self.told.reserve() => {}
        }
    }

    /// False when nobody listens any more, or too slowly.
    async fn tell(&mut self, told: Told) -> bool {
        let shutdown = self.app.streams.shutdown().clone();
        let told = tokio::select! {
            biased;
            () = shutdown.cancelled() => return false,
            sent = self.told.send_timeout(told, SLOWEST) => sent.is_ok(),
        };
        self.since.spoke = Instant::now();
        told
    }
}

/// As the edition shows it in every other answer.
fn shown(edition: &Edition, part: Part) -> Part {
    match part {
        Part::Check(change, record) => Part::Check(change, check::shown_record(edition, record)),
        other => other,
    }
}

/// How often a feed that is read is told to stay open.
const STAY_OPEN: Duration = Duration::from_secs(3600);
/// Other nodes give no hints.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
const RECOGNISE: Duration = Duration::from_secs(2);
/// How long one event may wait for a reader that is behind.
const SLOWEST: Duration = Duration::from_secs(30);
/// Events at a time: records can be large.
const PAGE: u64 = 16;
