//! The outbox. Deliveries are queued by [`crate::Commit`], under ids that make queueing one twice
//! the same as once.
//!
//! *Invariant:* a delivery is settled by its latest owner alone, told by the epoch.

use std::time::Duration;

use surrealdb::types::{Object, SurrealValue, Value};
use uuid::Uuid;
use vedette_model::{AccountId, AlertId, Delivery, DeliveryState, SiteId, Timestamp};

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key, row};

#[derive(SurrealValue)]
struct DeliveryRow {
    epoch: u64,
    doc: String,
}

impl Store {
    /// Takes up to `limit` due deliveries, those that have waited longest, for `lease`. The epoch
    /// of what is answered is this owner's.
    pub async fn lease_deliveries(
        &self,
        node: &str,
        now: Timestamp,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let _turn = self.turn(Uuid::max()).await;
        let rows: Vec<DeliveryRow> = self.take_due(DUE, node, now, lease, limit).await?;
        let mut deliveries = read_all(rows)?;
        deliveries.sort_by_key(|delivery| delivery.due_at);
        Ok(deliveries)
    }

    /// Writes a delivery after an attempt and gives it back: due again at its `due_at`, or
    /// finished. False, and nothing written, when it has got another owner meanwhile or its site
    /// was deleted.
    pub async fn settle_delivery(&self, delivery: &Delivery) -> Result<bool> {
        let unit = "RETURN array::len(UPDATE $id SET finished = $finished, due_at = $due_at,
            owner = '', doc = $doc WHERE epoch = $epoch AND owner != '' RETURN AFTER)";
        let binds = Binds::new()
            .with("id", key::delivery(delivery.id))
            .with("finished", finished(delivery))
            .with("due_at", due_at(delivery))
            .with("doc", row::write("delivery", delivery)?)
            .with("epoch", delivery.epoch);
        let settled: u64 = self.tx(unit, binds).await?;
        Ok(settled == 1)
    }

    /// When the next delivery may be taken; none when the outbox is empty.
    pub async fn next_delivery_due(&self) -> Result<Option<Timestamp>> {
        let due: Vec<Timestamp> = self.read(NEXT_DUE, Binds::new()).await?;
        Ok(due.into_iter().next())
    }

    /// What was and is to be sent about an alert, oldest first; none when the account has no such
    /// alert.
    pub async fn deliveries_of(
        &self,
        account: AccountId,
        alert: AlertId,
    ) -> Result<Option<Vec<Delivery>>> {
        let Some(alert) = self.alert(account, alert).await? else { return Ok(None) };
        let rows: Vec<DeliveryRow> = self
            .read(
                "SELECT epoch, doc FROM delivery WHERE site = $site",
                Binds::new().with("site", alert.site_id.0),
            )
            .await?;
        let mut deliveries = read_all(rows)?;
        deliveries
            .retain(|delivery| delivery.notices.iter().any(|notice| notice.alert_id == alert.id));
        deliveries.sort_by_key(|delivery| (delivery.created_at, delivery.id));
        Ok(Some(deliveries))
    }

    /// Forgets up to `batch` deliveries that were finished before a moment; false when there are
    /// none left.
    pub async fn forget_deliveries(&self, before: Timestamp, batch: usize) -> Result<bool> {
        let unit = "LET $old = (SELECT id, due_at FROM delivery
                WHERE finished = true AND due_at < $before ORDER BY due_at LIMIT $batch);
            DELETE $old.id RETURN NONE;
            RETURN array::len($old)";
        let forgotten: u64 =
            self.tx(unit, Binds::new().with("before", before).with("batch", batch)).await?;
        Ok(forgotten > 0)
    }
}

/// A row as it is queued.
pub(crate) fn content(site: SiteId, delivery: &Delivery) -> Result<Value> {
    let mut content = Object::new();
    content.insert("account", delivery.account_id.0);
    content.insert("site", site.0);
    content.insert("finished", finished(delivery));
    content.insert("due_at", due_at(delivery));
    content.insert("owner", "");
    content.insert("epoch", delivery.epoch);
    content.insert("doc", row::write("delivery", delivery)?);
    Ok(Value::Object(content))
}

fn finished(delivery: &Delivery) -> bool {
    match delivery.state {
        DeliveryState::Pending => false,
        DeliveryState::Delivered | DeliveryState::Failed => true,
    }
}

fn due_at(delivery: &Delivery) -> Timestamp {
    delivery.finished_at.filter(|_| finished(delivery)).unwrap_or(delivery.due_at)
}

fn read_all(rows: Vec<DeliveryRow>) -> Result<Vec<Delivery>> {
    rows.into_iter()
        .map(|row| {
            let delivery: Delivery = row::read("delivery", &row.doc)?;
            Ok(Delivery { epoch: row.epoch, ..delivery })
        })
        .collect()
}

pub(crate) const DUE: &str = "SELECT id, due_at FROM delivery
    WHERE finished = false AND due_at <= $now ORDER BY due_at LIMIT $limit";

pub(crate) const NEXT_DUE: &str =
    "SELECT VALUE due_at FROM delivery WHERE finished = false ORDER BY due_at LIMIT 1";
