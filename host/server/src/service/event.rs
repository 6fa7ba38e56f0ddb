//! The events of an account, followed as they are committed (`GET /events`, and what assistants
//! subscribe to).
//!
//! One task per stream reads the store page by page and hands each event on to a short queue.
//!
//! *Invariant:* nothing is told that the caller could not also read by asking: other accounts'
//! events are never read, those of deleted sites never told.
//! *Invariant:* an id is told after what it stands for, so that going on from it misses nothing.
//! *Invariant:* what is committed after a stream's first word is told, even on the account's first
//! stream: first the feed is opened, and from then on everything is kept; then the id that the
//! stream begins with is read; then it is told.

mod follower;
mod sites;

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use tokio::sync::mpsc;
use vedette_model::{
    EventFilter,
    event::{Cursor, Part},
};

use self::{
    follower::{Follower, Since},
    sites::Sites,
};
use crate::{
    App, Caller, Error, Resource, Result,
    streams::{Full, MOST_OF_ACCOUNT},
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

/// Where to begin: after what an id stands for; the name is the request's field that holds it.
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
        return Err(Error::NotFound(Resource::Site));
    }
    let seat = app.streams.sit(account).map_err(no_place)?;
    let now = app.clock.now();
    // In this order: what is committed between the two happened before the stream's first word.
    app.store.open_events(account, now + KEEP).await?;
    let last = app.store.number_events(account, now).await?;
    let cursor = match after {
        None => Cursor::after(last),
        Some(After { field, cursor }) if cursor > Cursor::after(last) => {
            let reason =
                "names an event that has not happened; leave it out to begin with the next";
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
        since: Since::now(),
    };
    tokio::spawn(follower.run());
    Ok(receiver)
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

/// How long events are kept for readers who were away, and a feed for those who might come back.
pub(crate) const KEEP: TimeDelta = TimeDelta::hours(24);
/// Well below the silence after which a connection, or a proxy on the way, gives up.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);
/// Events told but not yet sent: few, because they are kept for as long as a reader leaves them
/// unread.
const QUEUE: usize = 4;
