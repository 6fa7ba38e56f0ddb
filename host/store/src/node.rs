//! Which nodes are at work on the database.
//!
//! A node says again and again that it is. Who has not for a while is gone, and whoever comes next
//! takes its row away. What the gone had leased ends by itself, unless by a clock that was ahead:
//! [`OF_THE_GONE`] finds that.

use std::sync::atomic::Ordering;
use std::time::Duration;

use vedette_model::Timestamp;

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key};

impl Store {
    /// Says that `node` is at work `now`, and learns whether others are: who said so within `lasts`.
    /// The moments of all nodes are of one clock.
    pub async fn sign_on(&self, node: &str, now: Timestamp, lasts: Duration) -> Result<()> {
        let binds = Binds::new()
            .with("row", key::live_node(node))
            .with("node", node)
            .with("now", now)
            .with("since", now - lasts);
        let peers: u64 = self.tx(SIGN_ON, binds).await?;
        self.inner.has_peers.store(peers > 0, Ordering::Relaxed);
        Ok(())
    }

    /// Says that `node` takes up no work any more.
    pub async fn sign_off(&self, node: &str) -> Result<()> {
        self.write("DELETE $row RETURN NONE", Binds::new().with("row", key::live_node(node))).await
    }
}

/// Whether a row is leased by a node that is not at work, and is not this one (`$node`). Within a unit
/// that begins with [`AT_WORK`].
pub(crate) const OF_THE_GONE: &str = "owner NOT IN $at_work";

pub(crate) const AT_WORK: &str =
    "LET $at_work = array::concat(['', $node], (SELECT VALUE name FROM live_node));";

const SIGN_ON: &str = "LET $peers = (SELECT VALUE id FROM live_node
    WHERE id != $row AND seen_at >= $since);
LET $gone = (SELECT VALUE id FROM live_node WHERE seen_at < $since);
DELETE $gone RETURN NONE;
UPSERT $row SET name = $node, seen_at = $now RETURN NONE;
RETURN array::len($peers)";
