//! What plugins keep between runs.
//!
//! *Invariant:* the rows of a scope never outgrow its quota: every write goes through the row that
//! counts them. What a site's plugins kept goes with the site.
//! *Invariant:* values that expire never keep others out of what runs of all sites share.

use std::time::Duration;

use surrealdb::types::{Bytes, RecordId, SurrealValue, Value};
use uuid::Uuid;
use vedette_model::{SiteId, Timestamp};

use crate::error::{Error, Result};
use crate::tx::Binds;
use crate::{Store, key};

/// Whose state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateScope<'a> {
    /// The plugin's id.
    pub plugin: &'a str,
    /// None = shared by all runs of the plugin, whatever the account.
    pub site: Option<SiteId>,
}

impl Store {
    /// None when it was never set, was deleted or has expired.
    pub async fn plugin_state_get(
        &self,
        scope: StateScope<'_>,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<Vec<u8>>> {
        let value: Option<Bytes> = self
            .read(
                "RETURN (SELECT VALUE value FROM $id WHERE expires_at = NONE OR expires_at > $now)[0]",
                Binds::new().with("id", scope.entry(key)).with("now", now),
            )
            .await?;
        Ok(value.map(|value| value.to_vec()))
    }

    /// Sets a value, for ever or for `ttl`. Where keys and values of the scope would hold more than
    /// `quota` bytes, what has expired goes; of shared ones what expires and was written longest ago,
    /// since anybody can have a plugin keep something there. `StateQuota` when that is not enough;
    /// `Gone` when the site is.
    pub async fn plugin_state_set(
        &self,
        scope: StateScope<'_>,
        key: &str,
        value: &[u8],
        ttl: Option<Duration>,
        now: Timestamp,
        quota: u64,
    ) -> Result<()> {
        let size = key.len() + value.len();
        if size as u64 > quota {
            return Err(Error::StateQuota);
        }
        let shared_for_a_while = scope.site.is_none() && ttl.is_some();
        let binds = Binds::new()
            .with("owner", scope.site.map(key::site_owner))
            .with("total", scope.total())
            .with("entries", scope.entries())
            .with("id", scope.entry(key))
            .with("size", size)
            .with("quota", quota)
            .with("value", Bytes::from(value.to_vec()))
            .with("now", now)
            .with("expires_at", ttl.map(|ttl| now + ttl))
            .with("expiring", shared_for_a_while.then_some(scope.plugin))
            .with("written_at", shared_for_a_while.then_some(now))
            .with("plugin", scope.plugin)
            .with("most", MOST_EVICTED);
        let _turn = self.turn(scope.counted()).await;
        self.write(&SET.replace("#room", &scope.room()), binds).await
    }

    /// Deletes a value; one that does not exist is deleted too.
    pub async fn plugin_state_delete(&self, scope: StateScope<'_>, key: &str) -> Result<()> {
        let unit = "LET $old = $id.size ?? 0;
            DELETE $id RETURN NONE;
            UPDATE $total SET used -= $old RETURN NONE";
        let _turn = self.turn(scope.counted()).await;
        let binds = Binds::new().with("total", scope.total()).with("id", scope.entry(key));
        self.write(unit, binds).await
    }
}

impl StateScope<'_> {
    /// All that is kept in it, and what counts that.
    pub(crate) fn rows(self) -> [RecordId; 2] {
        [self.entries(), self.total()]
    }

    fn total(self) -> RecordId {
        key::id("plugin_state_size", [self.first(), self.plugin.into_value()])
    }

    fn entry(self, key: &str) -> RecordId {
        key::id("plugin_state", [self.first(), self.plugin.into_value(), key.into_value()])
    }

    fn entries(self) -> RecordId {
        key::under("plugin_state", [self.first(), self.plugin.into_value()])
    }

    /// What the turns of those who write the total go by.
    fn counted(self) -> Uuid {
        let shared = || Uuid::new_v5(&Uuid::NAMESPACE_OID, self.plugin.as_bytes());
        self.site.map_or_else(shared, |site| site.0)
    }

    /// How room is made where the total is more than the quota. A site's own is small enough to be
    /// looked through.
    fn room(self) -> String {
        match self.site {
            Some(_) => FORGET.to_owned(),
            None => EVICT.replace("#oldest", OLDEST),
        }
    }

    /// A site's state is keyed by the site, so that it can be found when the site goes.
    fn first(self) -> Value {
        self.site.map_or_else(|| "shared".into_value(), |site| site.0.into_value())
    }
}

/// What lies above a quota that was lowered is taken away bit by bit, with what is set meanwhile.
const SET: &str = "IF $owner != NONE {
        IF (SELECT VALUE id FROM ONLY $owner FOR UPDATE) = NONE { THROW 'gone' }
    };
    LET $was = $total.used ?? 0;
    LET $next = $was - ($id.size ?? 0) + $size;
    UPSERT $total SET used = $next RETURN NONE;
    IF $next > $quota {
        #room;
        IF $total.used > $quota AND $total.used >= $was { THROW 'state_quota' }
    };
    UPSERT $id SET value = $value, size = $size, expires_at = $expires_at,
        expiring = $expiring, written_at = $written_at RETURN NONE";

const FORGET: &str = "LET $expired = (SELECT id, size FROM $entries
            WHERE expires_at != NONE AND expires_at <= $now AND id != $id);
        DELETE $expired.id RETURN NONE;
        UPDATE $total SET used -= math::sum($expired.size) RETURN NONE";

/// Not by soonest expiry: many values that are kept for long would leave none of those that are
/// kept for hours, such as which sources to leave alone. What never expires stays.
const EVICT: &str = "FOR $row IN (#oldest) {
            IF $total.used <= $quota { BREAK };
            IF $row.id != $id {
                DELETE $row.id RETURN NONE;
                UPDATE $total SET used -= $row.size RETURN NONE
            }
        }";

pub(crate) const OLDEST: &str = "SELECT id, size, written_at FROM plugin_state
    WHERE expiring = $plugin ORDER BY written_at LIMIT $most";

/// Keeps a transaction short. A value is 16 KiB at most, and rows smaller than 33 bytes are rare.
const MOST_EVICTED: usize = 500;
