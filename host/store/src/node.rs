//! Which nodes are at work on the database.
//!
//! A node says so again and again. One that has not for a while is gone, and the next one to look
//! removes its row. Its leases end by themselves, unless its clock was ahead: [`OF_THE_GONE`] finds
//! those. An embedded database always has one node, whose row says what its clock showed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use vedette_model::Timestamp;

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key};

impl Store {
    /// Says that `node` is at work `now`, and learns whether others are, which said so within
    /// `lasts`. The moments of all nodes are of one clock.
    pub async fn sign_on(&self, node: &str, now: Timestamp, lasts: Duration) -> Result<()> {
        self.look_at_peers(SIGN_ON, node, now, lasts).await
    }

    /// Only learns that: of a node that leaves work to others, and so is none of them.
    pub async fn stand_by(&self, node: &str, now: Timestamp, lasts: Duration) -> Result<()> {
        self.look_at_peers(STAND_BY, node, now, lasts).await
    }

    async fn look_at_peers(
        &self,
        unit: &str,
        node: &str,
        now: Timestamp,
        lasts: Duration,
    ) -> Result<()> {
        let binds = Binds::new()
            .with("row", key::live_node(node))
            .with("node", node)
            .with("now", now)
            .with("since", now - lasts);
        let peers: u64 = self.tx(&format!("{unit}\n{PEERS}"), binds).await?;
        self.inner.has_peers.store(peers > 0, Ordering::Relaxed);
        Ok(())
    }

    /// Whether other nodes were at work when this one last asked.
    pub fn has_peers(&self) -> bool {
        self.inner.has_peers.load(Ordering::Relaxed)
    }

    /// Says that `node` takes up no work any more.
    pub async fn sign_off(&self, node: &str) -> Result<()> {
        self.write("DELETE $row RETURN NONE", Binds::new().with("row", key::live_node(node))).await
    }

    /// Says that the one node of an embedded database is at work, and that its clock shows `now`.
    pub async fn sign_on_alone(&self, now: Timestamp) -> Result<()> {
        let binds = Binds::new().with("row", key::live_node(ALONE)).with("name", ALONE);
        let unit = "UPSERT $row SET name = $name, seen_at = $now RETURN NONE";
        self.write(unit, binds.with("now", now)).await
    }

    /// What its clock showed when it said so last, in this process or in one before; none = it never
    /// has.
    pub async fn signed_on_alone_at(&self) -> Result<Option<Timestamp>> {
        let binds = Binds::new().with("row", key::live_node(ALONE));
        self.read("RETURN $row.seen_at", binds).await
    }
}

/// The node of an embedded database has no others to be told apart from.
const ALONE: &str = "";

/// Whether a row is leased by a node that is not at work, and is not this one (`$node`). Within a unit
/// that begins with [`AT_WORK`].
pub(crate) const OF_THE_GONE: &str = "owner NOT IN $at_work";

pub(crate) const AT_WORK: &str =
    "LET $at_work = array::concat(['', $node], (SELECT VALUE name FROM live_node));";

const STAND_BY: &str = "DELETE $row RETURN NONE;";

const SIGN_ON: &str = "LET $gone = (SELECT VALUE id FROM live_node WHERE seen_at < $since);
DELETE $gone RETURN NONE;
UPSERT $row SET name = $node, seen_at = $now RETURN NONE;";

/// How many others there are.
const PEERS: &str = "RETURN array::len(SELECT VALUE id FROM live_node
    WHERE id != $row AND seen_at >= $since)";
