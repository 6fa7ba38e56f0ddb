//! What plugins keep between runs.
//!
//! *Invariant:* the rows of a scope never hold more than its quota: every write goes through the
//! row that counts them. What a site's plugins kept goes with the site.

use std::time::Duration;

use surrealdb::types::{Bytes, RecordId, SurrealValue, Value};
use vedette_model::{SiteId, Timestamp};

use crate::error::Result;
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

    /// Sets a value, for ever or for `ttl`. `StateQuota` when keys and values of the scope would
    /// hold more than `quota` bytes, what has expired not counted; `Gone` when the site is.
    pub async fn plugin_state_set(
        &self,
        scope: StateScope<'_>,
        key: &str,
        value: &[u8],
        ttl: Option<Duration>,
        now: Timestamp,
        quota: u64,
    ) -> Result<()> {
        let unit = "IF $owner != NONE {
                IF (SELECT VALUE id FROM ONLY $owner FOR UPDATE) = NONE { THROW 'gone' }
            };
            LET $used = $total.used ?? 0;
            LET $old = $id.size ?? 0;
            LET $expired = IF $used - $old + $size > $quota {
                (SELECT id, size FROM $entries
                    WHERE expires_at != NONE AND expires_at <= $now AND id != $id)
            } ELSE { [] };
            LET $next = $used - $old + $size - math::sum($expired.size);
            IF $next > $quota { THROW 'state_quota' };
            DELETE $expired.id RETURN NONE;
            UPSERT $total SET used = $next RETURN NONE;
            UPSERT $id SET value = $value, size = $size, expires_at = $expires_at RETURN NONE";
        let binds = Binds::new()
            .with("owner", scope.site.map(key::site_owner))
            .with("total", scope.total())
            .with("entries", scope.entries())
            .with("id", scope.entry(key))
            .with("size", key.len() + value.len())
            .with("quota", quota)
            .with("value", Bytes::from(value.to_vec()))
            .with("now", now)
            .with("expires_at", ttl.map(|ttl| now + ttl));
        self.write(unit, binds).await
    }

    /// Deletes a value; one that does not exist is deleted too.
    pub async fn plugin_state_delete(&self, scope: StateScope<'_>, key: &str) -> Result<()> {
        let unit = "LET $old = $id.size ?? 0;
            DELETE $id RETURN NONE;
            UPDATE $total SET used -= $old RETURN NONE";
        let binds = Binds::new().with("total", scope.total()).with("id", scope.entry(key));
        self.write(unit, binds).await
    }
}

impl StateScope<'_> {
    fn total(self) -> RecordId {
        key::id("plugin_state_size", [self.first(), self.plugin.into_value()])
    }

    fn entry(self, key: &str) -> RecordId {
        key::id("plugin_state", [self.first(), self.plugin.into_value(), key.into_value()])
    }

    fn entries(self) -> RecordId {
        key::under("plugin_state", [self.first(), self.plugin.into_value()])
    }

    /// A site's state is keyed by the site, so that it can be found when the site goes.
    fn first(self) -> Value {
        self.site.map_or_else(|| "shared".into_value(), |site| site.0.into_value())
    }
}
