//! The outbox: batches on their way, and what became of all deliveries. They are queued by
//! [`crate::Commit`], and become batches in `lane.rs`.
//!
//! *Invariant:* a batch is settled by its latest owner alone, told by the epoch.
//! *Invariant:* what a letter says stands in its row sealed: it may be for its reader alone, such as
//! the token of an invitation, and the engine's files keep what was overwritten for a while.

use std::collections::HashMap;
use std::time::Duration;

use surrealdb::types::{Array, Object, RecordId, SurrealValue, Value};
use uuid::Uuid;
use vedette_model::delivery::LETTER;
use vedette_model::{AccountId, AlertId, Delivery, DeliveryId, DeliveryState, SiteId, Timestamp};

use crate::error::{Error, Result};
use crate::node::{AT_WORK, OF_THE_GONE};
use crate::seal::{Place, Seal};
use crate::tx::Binds;
use crate::{Store, key, row};

#[derive(SurrealValue)]
pub(crate) struct DeliveryRow {
    id: RecordId,
    epoch: u64,
    doc: String,
    waits: bool,
    finished: bool,
    due_at: Timestamp,
    outcome: String,
    joined: Option<Uuid>,
    sealed: Option<String>,
}

/// A delivery as it stands in its row: what a letter says apart from the rest.
struct Written {
    doc: String,
    sealed: Option<String>,
}

/// Which of the batches that are due a node takes.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Those on which it can send.
    pub channels: &'a [String],
    /// For other channels: only what was due by then and no node with the channel took.
    pub others_first: Timestamp,
    /// Except these: the node still has them, though their leases may have ended meanwhile.
    pub held: &'a [DeliveryId],
}

impl Store {
    /// Takes up to `limit` of the wanted batches that are due, those that have waited longest, for
    /// `lease`. The epoch of what is answered is this owner's. One that cannot be read is not answered,
    /// and keeps no other from being sent.
    pub async fn lease_batches(
        &self,
        wanted: Wanted<'_>,
        node: &str,
        now: Timestamp,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let _turn = self.inner.sending.lock().await;
        let held: Vec<RecordId> = wanted.held.iter().copied().map(key::delivery).collect();
        let binds = Binds::new()
            .with("channels", wanted.channels.to_vec())
            .with("others_first", wanted.others_first)
            .with("held", held);
        let rows: Vec<DeliveryRow> = self.take_due((DUE, binds), node, now, lease, limit).await?;
        let opened = rows.into_iter().filter_map(|row| {
            let id = key::uuid_at(&row.id, 0).unwrap_or_default();
            let opened = row.open(&self.inner.seal).inspect_err(|cause| {
                tracing::error!(delivery_id = %id, "delivery {id} is not sent: {cause}");
            });
            opened.ok()
        });
        let mut deliveries: Vec<Delivery> = opened.collect();
        deliveries.sort_by_key(|delivery| delivery.due_at);
        Ok(deliveries)
    }

    /// Writes a batch after an attempt and gives it back: due again at its `due_at`, or finished.
    /// False, and nothing written, if it has another owner by now or its site was deleted. A caller
    /// that got no answer may call again: writing the same twice succeeds.
    pub async fn settle_delivery(&self, delivery: &Delivery) -> Result<bool> {
        // `gathered_at` moves on too: somebody is at work on the batch, so that it holds back what is
        // about its sites for another day (`order.rs`).
        let unit = "RETURN array::len(UPDATE $id SET finished = $finished, due_at = $due_at,
            gathered_at = $due_at, owner = '', doc = $doc, sealed = $sealed
            WHERE epoch = $epoch AND (owner != '' OR doc = $doc) RETURN AFTER)";
        let Written { doc, sealed } = Written::of(delivery, &self.inner.seal)?;
        let binds = Binds::new()
            .with("id", key::delivery(delivery.id))
            .with("finished", finished(delivery))
            .with("due_at", due_at(delivery))
            .with("doc", doc)
            .with("sealed", sealed)
            .with("epoch", delivery.epoch);
        let settled: u64 = self.tx(unit, binds).await?;
        Ok(settled == 1)
    }

    /// Writes down what a batch has still to send, and leases it to its owner until then. False,
    /// and nothing written, when it has got another owner meanwhile or its site was deleted.
    pub async fn keep_delivery(&self, delivery: &Delivery, until: Timestamp) -> Result<bool> {
        let unit = "RETURN array::len(UPDATE $id SET due_at = $until, doc = $doc, sealed = $sealed
            WHERE epoch = $epoch AND owner != '' RETURN AFTER)";
        let Written { doc, sealed } = Written::of(delivery, &self.inner.seal)?;
        let binds = Binds::new()
            .with("id", key::delivery(delivery.id))
            .with("until", until)
            .with("doc", doc)
            .with("sealed", sealed)
            .with("epoch", delivery.epoch);
        let kept: u64 = self.tx(unit, binds).await?;
        Ok(kept == 1)
    }

    /// Extends the leases of batches that their owners still hold, in one go, and leaves what they
    /// still have to send as it is: they may be writing that down. One that has another owner stays
    /// as it is.
    pub async fn keep_leases(&self, batches: &[(DeliveryId, u64)], until: Timestamp) -> Result<()> {
        let unit = "FOR $batch IN $batches {
            UPDATE $batch.id SET due_at = $until
                WHERE epoch = $batch.epoch AND owner != '' RETURN NONE
        }";
        let batches = batches.iter().map(|(id, epoch)| {
            let mut batch = Object::new();
            batch.insert("id", key::delivery(*id));
            batch.insert("epoch", *epoch);
            Value::Object(batch)
        });
        let batches: Array = batches.collect();
        self.write(unit, Binds::new().with("batches", batches).with("until", until)).await
    }

    /// Makes deliveries that are due later than `horizon` due `now`, except those that maintenance
    /// holds back or somebody is sending; answers how many there were.
    pub async fn hasten_deliveries(&self, horizon: Timestamp, now: Timestamp) -> Result<u64> {
        let unit = format!(
            "LET $waiting = ({LATER});
            LET $sent = ({});
            UPDATE $waiting SET due_at = $now RETURN NONE;
            UPDATE $sent SET due_at = $now RETURN NONE;
            RETURN array::len($waiting) + array::len($sent)",
            LATER.replace("$waits", "$batches")
        );
        let binds = Binds::new()
            .with("waits", true)
            .with("batches", false)
            .with("horizon", horizon)
            .with("silenced", SILENCED)
            .with("now", now);
        self.tx(&unit, binds).await
    }

    /// Ends the leases on deliveries that end later than `horizon`, of nodes that are no longer at
    /// work (but not of this one): their clocks were ahead. Answers how many there were.
    pub async fn end_delivery_leases(
        &self,
        node: &str,
        horizon: Timestamp,
        now: Timestamp,
    ) -> Result<u64> {
        let unit = format!(
            "{AT_WORK}
            LET $held = ({HELD_AFTER} AND {OF_THE_GONE});
            UPDATE $held SET due_at = $now, owner = '' RETURN NONE;
            RETURN array::len($held)"
        );
        let binds = Binds::new().with("node", node).with("horizon", horizon).with("now", now);
        self.tx(&unit, binds).await
    }

    /// When the next delivery is due, waiting or on its way; none when the outbox is empty.
    pub async fn next_delivery_due(&self) -> Result<Option<Timestamp>> {
        let statement = format!(
            "RETURN array::flatten([({NEXT_DUE}), ({})])",
            NEXT_DUE.replace("$waits", "$sent")
        );
        let binds = Binds::new().with("waits", true).with("sent", false);
        let due: Vec<Timestamp> = self.read(&statement, binds).await?;
        Ok(due.into_iter().min())
    }

    /// How many deliveries are not finished, except those that maintenance holds back.
    pub async fn outbox_depth(&self, now: Timestamp) -> Result<u64> {
        let binds = Binds::new().with("soon", now + SOON);
        let counts: Vec<u64> = self.read(DEPTH, binds).await?;
        Ok(counts.into_iter().sum())
    }

    /// What was and is to be sent about an alert, oldest first, up to `limit` of the latest; none when
    /// the account has no such alert. What went into a batch shows how the batch is doing.
    pub async fn deliveries_of(
        &self,
        account: AccountId,
        alert: AlertId,
        limit: usize,
    ) -> Result<Option<Vec<Delivery>>> {
        let Some(alert) = self.alert(account, alert).await? else { return Ok(None) };
        let binds = Binds::new().with("alert", alert.id.0).with("limit", limit);
        let rows: Vec<DeliveryRow> = self.read(&format!("{COLUMNS}{OF_ALERT}"), binds).await?;
        let mut deliveries = read_all(rows)?;
        deliveries.sort_by_key(|delivery| (delivery.created_at, delivery.id));
        self.show_batches(&mut deliveries).await?;
        Ok(Some(deliveries))
    }

    async fn show_batches(&self, deliveries: &mut [Delivery]) -> Result<()> {
        let ids: Vec<_> = deliveries.iter().filter_map(joined).map(key::delivery).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let rows: Vec<DeliveryRow> = self
            .read(&format!("{COLUMNS} FROM $ids WHERE doc != NONE"), Binds::new().with("ids", ids))
            .await?;
        let batches: HashMap<DeliveryId, Delivery> =
            read_all(rows)?.into_iter().map(|batch| (batch.id, batch)).collect();
        for delivery in deliveries {
            let Some(batch) = joined(delivery).and_then(|id| batches.get(&id)) else { continue };
            delivery.attempt = batch.attempt;
            delivery.due_at = batch.due_at;
            delivery.finished_at = batch.finished_at;
            delivery.last_error.clone_from(&batch.last_error);
        }
        Ok(())
    }

    /// Forgets up to `batch` deliveries that were finished before a moment; false when there are
    /// none left.
    pub async fn forget_deliveries(&self, before: Timestamp, batch: usize) -> Result<bool> {
        let unit = "LET $old = (SELECT id, due_at FROM delivery
                WHERE waits = false AND finished = true AND due_at < $before
                ORDER BY due_at LIMIT $batch);
            DELETE $old.id RETURN NONE;
            RETURN array::len($old)";
        let forgotten: u64 =
            self.tx(unit, Binds::new().with("before", before).with("batch", batch)).await?;
        Ok(forgotten > 0)
    }
}

/// Letters as rows of `INSERT INTO delivery $letters`: batches from the beginning, due at once. For
/// units of work that have something to write to somebody.
pub(crate) fn letters(letters: &[Delivery], seal: &Seal) -> Result<Array> {
    letters
        .iter()
        .map(|letter| {
            let Written { doc, sealed } = Written::of(letter, seal)?;
            let mut row = columns(SiteId(Uuid::nil()), letter, doc, false);
            row.insert("id", key::delivery(letter.id));
            row.insert("sealed", sealed);
            Ok(Value::Object(row))
        })
        .collect()
}

/// A row as it is queued: it waits to be gathered.
pub(crate) fn content(site: SiteId, delivery: &Delivery) -> Result<Value> {
    let doc = row::write("delivery", delivery)?;
    Ok(Value::Object(columns(site, delivery, doc, true)))
}

fn columns(site: SiteId, delivery: &Delivery, doc: String, waits: bool) -> Object {
    let alerts: Vec<Uuid> = delivery.own.iter().map(|alert| alert.0).collect();
    let mut content = Object::new();
    content.insert("account", delivery.account_id.0);
    content.insert("channel", delivery.channel.as_str());
    content.insert("site", site.0);
    content.insert("alerts", alerts);
    content.insert("rev", key::rev(delivery.created_at));
    content.insert("waits", waits);
    content.insert("finished", finished(delivery));
    content.insert("due_at", due_at(delivery));
    content.insert("owner", "");
    content.insert("epoch", delivery.epoch);
    content.insert("doc", doc);
    content
}

impl Written {
    fn of(delivery: &Delivery, seal: &Seal) -> Result<Self> {
        let words = delivery.rendered.as_ref().filter(|_| delivery.channel == LETTER);
        let Some(words) = words else {
            return Ok(Self { doc: row::write("delivery", delivery)?, sealed: None });
        };
        let bare = Delivery { rendered: None, ..delivery.clone() };
        let sealed = row::seal(LETTER, words, seal, &letter_place(delivery.id))?;
        Ok(Self { doc: row::write("delivery", &bare)?, sealed: Some(sealed) })
    }
}

/// Where what a letter says is sealed for.
pub(crate) fn letter_place(letter: DeliveryId) -> Place {
    Place::new("delivery", &[letter.0])
}

pub(crate) fn read_all(rows: Vec<DeliveryRow>) -> Result<Vec<Delivery>> {
    rows.into_iter().map(DeliveryRow::into_delivery).collect()
}

/// Without those that cannot be read.
pub(crate) fn read_good(rows: Vec<DeliveryRow>) -> Vec<Delivery> {
    rows.into_iter().filter_map(|row| row.into_delivery().ok()).collect()
}

impl DeliveryRow {
    /// With what a letter says; one from before letters were sealed has it in its text.
    fn open(mut self, seal: &Seal) -> Result<Delivery> {
        let sealed = self.sealed.take();
        let mut delivery = self.into_delivery()?;
        if let Some(sealed) = sealed {
            let place = letter_place(delivery.id);
            delivery.rendered = Some(row::open(LETTER, &sealed, seal, &place)?);
        }
        Ok(delivery)
    }

    /// The columns know what has happened since the text was written.
    fn into_delivery(self) -> Result<Delivery> {
        let mut delivery: Delivery = row::read("delivery", &self.doc)?;
        delivery.epoch = self.epoch;
        if let Some(joined) = self.joined {
            delivery.batch_id = Some(DeliveryId(joined));
        }
        if self.waits {
            delivery.due_at = self.due_at;
        }
        let state = match self.outcome.as_str() {
            "" => return Ok(delivery),
            SILENCED => DeliveryState::Silenced,
            MERGED => DeliveryState::Merged,
            SUMMARISED => DeliveryState::Summarised,
            other => return Err(Error::corrupt("delivery", format!("outcome {other}"))),
        };
        delivery.state = state;
        delivery.finished_at = self.finished.then_some(self.due_at);
        Ok(delivery)
    }
}

/// The other delivery that it went into.
fn joined(delivery: &Delivery) -> Option<DeliveryId> {
    delivery.batch_id.filter(|batch| *batch != delivery.id)
}

fn finished(delivery: &Delivery) -> bool {
    delivery.state != DeliveryState::Pending
}

fn due_at(delivery: &Delivery) -> Timestamp {
    delivery.finished_at.filter(|_| finished(delivery)).unwrap_or(delivery.due_at)
}

pub(crate) const SILENCED: &str = "silenced";
pub(crate) const MERGED: &str = "merged";
pub(crate) const SUMMARISED: &str = "summarised";

/// What a [`DeliveryRow`] is made of.
pub(crate) const COLUMNS: &str = "SELECT id, epoch, doc, waits, finished, due_at, outcome, joined";

/// What is left to others is passed over, for the seconds that it is; and what the node has still: up to
/// a thousand that each row is compared with. Of those themselves none is due, as their leases go on, but
/// just after the database was away.
pub(crate) const DUE: &str = "SELECT id, due_at FROM delivery
    WHERE waits = false AND finished = false AND due_at <= $now
    AND (due_at <= $others_first OR channel IN $channels) AND id NOT IN $held
    ORDER BY due_at LIMIT $limit";

/// With [`letters`] as `$letters`.
pub(crate) const QUEUE_LETTERS: &str = "INSERT IGNORE INTO delivery $letters RETURN NONE;";

pub(crate) const NEXT_DUE: &str = "SELECT VALUE due_at FROM delivery
    WHERE waits = $waits AND finished = false ORDER BY due_at LIMIT 1";

/// A site that goes up and down leaves many in a month: only those that tell of the alert are met.
pub(crate) const OF_ALERT: &str =
    ", rev FROM delivery WHERE alerts CONTAINS $alert ORDER BY rev LIMIT $limit";

const LATER: &str = "SELECT VALUE id FROM delivery
    WHERE waits = $waits AND finished = false AND due_at > $horizon AND outcome != $silenced
    AND owner = ''";

pub(crate) const HELD_AFTER: &str = "SELECT VALUE id FROM delivery
    WHERE waits = false AND finished = false AND due_at > $horizon";

/// Deliveries held back by maintenance are not counted: they are due later and block nobody.
const DEPTH: &str = "RETURN [
    (SELECT count() FROM delivery WHERE waits = true AND finished = false AND due_at <= $soon
        GROUP ALL)[0].count ?? 0,
    (SELECT count() FROM delivery WHERE waits = false AND finished = false GROUP ALL)[0].count ?? 0
]";

/// Nothing else that waits is put off for longer: a lane of which something cannot be read is for
/// half a minute.
const SOON: Duration = Duration::from_secs(60);
