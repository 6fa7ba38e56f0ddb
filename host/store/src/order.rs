//! In what order a receiver hears of a site: as things happened, whichever node tells.
//!
//! *Invariant:* a delivery that waits is gathered only when no unfinished batch of its lane speaks of
//! its site. No such batch is overlooked: only a claim makes batches, and each claim raises the version
//! of the lane, which the next claim compares.
//! *Invariant:* within one gathering, too, a batch is sent after earlier batches that speak of one of
//! its sites. The transaction that makes the batches writes down which those are.
//! *Invariant:* no delivery waits for ever. A batch that nobody could give back for a day holds nothing
//! back, nor does one that was put off by a clock which has been corrected since; a batch that is given
//! back is finished in the end.

use std::time::Duration;

use surrealdb::types::SurrealValue;
use uuid::Uuid;
use vedette_model::{DeliveryId, SiteId, Timestamp};

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key};

/// A batch that is not finished.
#[derive(SurrealValue)]
pub(crate) struct AheadRow {
    sites: Option<Vec<Uuid>>,
    owner: String,
    due_at: Timestamp,
}

impl Store {
    /// When the first chance is that a batch can go which goes after others of its gathering; none
    /// when it can go now.
    pub async fn goes_after(&self, batch: DeliveryId, now: Timestamp) -> Result<Option<Timestamp>> {
        let binds = awaited(Binds::new(), now).with("now", now).with("id", key::delivery(batch));
        let before: Vec<Timestamp> = self.read(BEFORE, binds).await?;
        Ok(before.into_iter().max())
    }
}

impl AheadRow {
    /// When it is tried; of one that is under way nobody knows its end.
    pub(crate) fn tried_at(&self) -> Option<Timestamp> {
        self.owner.is_empty().then_some(self.due_at)
    }

    pub(crate) fn sites(self) -> impl Iterator<Item = SiteId> {
        self.sites.into_iter().flatten().map(SiteId)
    }
}

/// With what [`AHEAD`] and [`BEFORE`] go by.
pub(crate) fn awaited(binds: Binds, now: Timestamp) -> Binds {
    binds.with("forgotten", now - LONGEST_AWAITED).with("furthest", now + FURTHEST)
}

/// Of the lane of a group, whose number is to stand for `#`.
pub(crate) const AHEAD: &str = "SELECT sites, owner, due_at FROM delivery
    WHERE account = $account# AND waits = false AND finished = false AND due_at <= $furthest
    AND gathered_at > $forgotten AND channel = $channel#";

/// When those are due that a batch goes after; of one that is under way nobody knows its end.
const BEFORE: &str = "SELECT VALUE IF owner = '' { due_at } ELSE { $now } FROM ($id.after ?? [])
    WHERE finished = false AND due_at <= $furthest AND gathered_at > $forgotten";

/// By `gathered_at`, which is when it became a batch, or when it was to be tried again when last
/// given back. A node that can read it gives it back within minutes.
const LONGEST_AWAITED: Duration = Duration::from_secs(24 * 3_600);
/// A receiver may ask for a minute, and a lease is as long; clocks differ.
const FURTHEST: Duration = Duration::from_secs(75);
