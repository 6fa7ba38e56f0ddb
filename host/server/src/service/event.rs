//! The events of an account, followed as they are committed (`GET /events`, and what assistants
//! subscribe to).
//!
//! One task per stream reads the store page by page and hands each event on to a short queue; who
//! reads more slowly than that for too long is let go, and goes on later from the last id. The
//! task also looks whether the credential still holds.
//!
//! *Invariant:* nothing is told that the caller could not read by asking: other accounts' events
//! are never read, those of deleted sites never told.
//! *Invariant:* an id is told after what it stands for, so that going on from it misses nothing.

mod sites;

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use tokio::{sync::mpsc, time::Instant};
use vedette_model::{
    Edition, EventFilter,
    event::{Cursor, Part},
};

use self::sites::Sites;
use super::{account, check};
use crate::{
    App, Caller, Error, Result,
    streams::{Full, MOST_OF_ACCOUNT, Seat},
};

/// What a stream says.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// Nothing new; how far has been read.
    Quiet(Cursor),
    /// Something happened. The cursor is after it.
    Event(Cursor, Box<Part>),
    /// Sites were added, changed or removed.
    Sites(SitesChange),
    /// Events between the last one told and the next are no longer kept, or never were.
    Lost,
}

/// What became of the account's sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitesChange {
    /// Some were added or changed, all of them are still there.
    Changed,
    /// Some are gone, and their alerts with them.
    Removed,
}

/// What a stream is to tell.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub filter: EventFilter,
    pub after: Option<After>,
    /// Also what becomes of the sites themselves, from now on.
    pub sites: bool,
}

/// Where to begin: after what an id stands for, which the request names in this field.
#[derive(Clone, Copy, Debug)]
pub struct After {
    pub field: &'static str,
    pub cursor: Cursor,
}

/// Begins a stream: with what happens next, or after what was read already. It ends when the
/// receiver is dropped, the credential no longer holds, or the service stops.
///
/// # Errors
/// `NotFound` for a site that is not the caller's, `Invalid` for an id that was never given,
/// `Forbidden` when the account has as many streams as it may, `Limited` when the process has.
pub async fn follow(
    app: Arc<App>,
    caller: &Caller,
    bearer: String,
    Wanted { filter, after, sites }: Wanted,
) -> Result<mpsc::Receiver<Told>> {
    let account = caller.account.id;
    if let Some(site) = filter.site
        && !app.store.site_ids(account).await?.contains(&site)
    {
        return Err(Error::NotFound("site"));
    }
    let seat = app.streams.sit(account).map_err(no_place)?;
    let now = app.clock.now();
    app.store.open_events(account, now + KEEP).await?;
    let last = app.store.number_events(account, now).await?;
    let cursor = match after {
        None => Cursor::after(last),
        Some(After { field, cursor }) if cursor > Cursor::after(last) => {
            let reason =
                "is of an event that has not happened; leave it out to begin with the next";
            return Err(Error::invalid(field, reason));
        }
        Some(After { cursor, .. }) => cursor,
    };
    let sites = if sites { Some(Sites::read(&app, caller).await?) } else { None };
    let (told, receiver) = mpsc::channel(QUEUE);
    let follower = Follower {
        app,
        seat,
        caller: caller.clone(),
        bearer,
        filter,
        sites,
        cursor,
        told,
        spoke: Instant::now(),
        recognised: Instant::now(),
        opened: Instant::now(),
    };
    tokio::spawn(follower.run());
    Ok(receiver)
}

struct Follower {
    app: Arc<App>,
    seat: Seat,
    caller: Caller,
    bearer: String,
    filter: EventFilter,
    /// The sites as they were last told; none where nobody wants to know.
    sites: Option<Sites>,
    cursor: Cursor,
    told: mpsc::Sender<Told>,
    /// When something was last said.
    spoke: Instant,
    /// When the credential was last looked at.
    recognised: Instant,
    /// When the feed was last told to stay open.
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

impl Follower {
    async fn run(mut self) {
        // The first word tells where the stream begins: who loses it at once can go on from there.
        if !self.tell(Told::Quiet(self.cursor)).await {
            return;
        }
        loop {
            let turn = self.turn().await.unwrap_or_else(|cause| {
                tracing::warn!(error = ?cause, "an event stream was ended: {cause}");
                Turn::End
            });
            match turn {
                Turn::End => return,
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
        if self.recognised.elapsed() >= RECOGNISE && !self.recognise().await? {
            return Ok(Turn::End);
        }
        let account = self.caller.account.id;
        let now = self.app.clock.now();
        if self.opened.elapsed() >= STAY_OPEN {
            self.app.store.open_events(account, now + KEEP).await?;
            self.opened = Instant::now();
        }
        self.app.store.number_events(account, now).await?;
        let from = self.cursor.number;
        let page = self.app.store.events(account, from, PAGE).await?;
        if page.stamp != self.caller.stamp {
            // Keys, plan or sites were changed, here or on another node.
            account::forget(&self.app, &self.bearer);
            if !self.recognise().await? {
                return Ok(Turn::End);
            }
        }
        let moved = self.sites.as_ref().is_some_and(|sites| sites.stamp != page.stamp);
        if moved && !self.look_at_sites().await? {
            return Ok(Turn::End);
        }
        for event in page.events {
            if event.number != self.cursor.number && !self.lose(event.number).await {
                return Ok(Turn::End);
            }
            let seen = self.cursor.parts;
            let places: Vec<Cursor> = (0..event.parts.len()).map(|at| event.after(at)).collect();
            for (part, after) in event.parts.into_iter().zip(places).skip(seen) {
                if self.filter.lets_pass(&part) {
                    let part = Box::new(shown(self.caller.edition, part));
                    if !self.tell(Told::Event(after, part)).await {
                        return Ok(Turn::End);
                    }
                }
                self.cursor = after;
            }
            // Also where every part had been seen, or there was none.
            self.cursor = self.cursor.max(Cursor::after(event.number));
        }
        let end = from.saturating_add(PAGE).min(page.last.saturating_add(1)).max(page.oldest);
        if self.cursor.number < end && page.last >= self.cursor.number && !self.lose(end).await {
            return Ok(Turn::End);
        }
        if self.cursor.number <= page.last {
            return Ok(Turn::More);
        }
        if self.spoke.elapsed() >= HEARTBEAT && !self.tell(Told::Quiet(self.cursor)).await {
            return Ok(Turn::End);
        }
        Ok(Turn::Wait)
    }

    /// Whether the credential still leads to the same account.
    async fn recognise(&mut self) -> Result<bool> {
        match account::authenticate(&self.app, self.caller.edition, &self.bearer).await {
            Ok(caller) if caller.account.id == self.caller.account.id => {
                self.caller = caller;
                self.recognised = Instant::now();
                Ok(true)
            }
            Ok(_) | Err(Error::Unauthenticated(_)) => Ok(false),
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

    /// False when nobody listens any more, or too slowly.
    async fn tell(&mut self, told: Told) -> bool {
        let shutdown = self.app.streams.shutdown().clone();
        let told = tokio::select! {
            biased;
            () = shutdown.cancelled() => return false,
            sent = self.told.send_timeout(told, SLOWEST) => sent.is_ok(),
        };
        self.spoke = Instant::now();
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

fn no_place(full: Full) -> Error {
    match full {
        Full::Account => Error::forbidden(format!(
            "an account has at most {MOST_OF_ACCOUNT} event streams at once; close one of them"
        )),
        Full::Process => Error::Limited {
            retry_after: HEARTBEAT.as_secs(),
            message: "too many event streams are open; try again later".to_owned(),
        },
    }
}

/// How long events are kept for who was away, and a feed for who might come back.
pub(crate) const KEEP: TimeDelta = TimeDelta::hours(24);
/// How often a feed that is read is told to stay open.
const STAY_OPEN: Duration = Duration::from_secs(3600);
/// Other nodes give no hints.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
const RECOGNISE: Duration = Duration::from_secs(2);
/// Well below the silence after which a connection, or a proxy on the way, gives up.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long one event may wait for a reader that is behind.
const SLOWEST: Duration = Duration::from_secs(30);
/// Events at a time: records can be large.
const PAGE: u64 = 32;
/// Told and not yet sent.
const QUEUE: usize = 16;
