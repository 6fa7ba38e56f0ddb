//! Lanes: the deliveries that wait for one channel of one account, and how they become batches.
//!
//! *Invariant:* the node that increments a lane's version gathers it, inside the transaction that
//! makes the batches: of several nodes that have read the same lane, one gathers it.
//! *Invariant:* a batch is stored with the bytes that it sends and leased to the node that made it,
//! in that same transaction: there is no moment at which it is sent but not written down.
//! *Invariant:* each delivery that was looked at is still waiting, or nothing is written at all: a
//! site that was deleted meanwhile takes its own deliveries along and no others.
//! *Invariant:* putting lanes aside waits for nobody: it takes only rows nobody else writes to.
//! *Invariant:* nothing is held back by a window that was deleted: a node that holds something back
//! compares how often the account's windows were changed.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::try_join_all;
use surrealdb::types::{RecordId, SurrealValue};
use uuid::Uuid;
use vedette_model::delivery::{Batch, Gathering};
use vedette_model::{
    AccountId, Alert, AlertId, Delivery, DeliveryId, MaintenanceWindow, SiteId, Timestamp,
};

use crate::delivery::{self, DeliveryRow};
use crate::error::{Error, Result};
use crate::order::{self, AHEAD, AheadRow};
use crate::tx::Binds;
use crate::unit::Unit;
use crate::{Store, key, row};

/// What there is to do in the outbox.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Whether a batch is due.
    pub batches: bool,
    /// The lane of each delivery that waits and is due, those that have waited longest first.
    pub waiting: Vec<(AccountId, String)>,
    /// When the next of those that are not due yet is.
    pub next: Option<Timestamp>,
}

/// A lane with all that is needed to decide what becomes of it, as it was at one moment.
#[derive(Clone, Debug)]
pub struct LaneContext {
    pub account_id: AccountId,
    pub channel: String,
    /// 0 = it was never gathered. [`Store::claim`] compares it.
    pub version: i64,
    pub quiet_at: Option<Timestamp>,
    /// What is due.
    pub waiting: Vec<Delivery>,
    /// What maintenance holds back, as far as it can be read; where alerts of the account were asked
    /// for.
    pub held: Vec<Delivery>,
    pub windows: Vec<MaintenanceWindow>,
    /// Grows with every change of the windows. [`Store::claim`] compares it.
    pub windows_version: i64,
    /// Of the alerts that were asked for those that exist.
    pub alerts: Vec<Alert>,
    /// The sites that batches of the lane speak of which are not through, on whichever node.
    pub behind: Vec<SiteId>,
    /// When the first of these batches is tried; none where one is under way, or there are none.
    pub tried_at: Option<Timestamp>,
}

/// A decision about a lane, and the node for which it is made real.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// Owns the first batch for `lease`. Further ones are due at once, and anybody's.
    pub node: &'a str,
    pub account_id: AccountId,
    pub channel: &'a str,
    pub expected_version: i64,
    pub expected_windows: i64,
    pub gathering: &'a Gathering,
    pub now: Timestamp,
    pub lease: Duration,
}

#[derive(SurrealValue)]
struct LookRow {
    batches: Vec<Timestamp>,
    waiting: Vec<WaitingRow>,
    next: Vec<Timestamp>,
}

#[derive(SurrealValue)]
struct WaitingRow {
    account: Uuid,
    channel: String,
}

#[derive(SurrealValue)]
struct LaneRow {
    version: i64,
    quiet_at: Option<Timestamp>,
    waiting: Vec<DeliveryRow>,
    held: Vec<DeliveryRow>,
    windows: Vec<String>,
    windows_version: i64,
    alerts: Vec<String>,
    ahead: Vec<AheadRow>,
}

impl Store {
    /// Says what there is to do, in one round trip.
    pub async fn look_at_outbox(&self, now: Timestamp, limit: usize) -> Result<Look> {
        let statement = format!(
            "RETURN {{
                batches: ({BATCH_DUE}),
                waiting: ({WAITING}),
                next: array::flatten([({NEXT}), ({})])
            }}",
            NEXT.replace("$waits", "$sent")
        );
        let binds = Binds::new()
            .with("now", now)
            .with("limit", limit)
            .with("waits", true)
            .with("sent", false);
        let row: LookRow = self.read(&statement, binds).await?;
        let lane = |row: WaitingRow| (AccountId(row.account), row.channel);
        Ok(Look {
            batches: !row.batches.is_empty(),
            waiting: row.waiting.into_iter().map(lane).collect(),
            next: row.next.into_iter().min(),
        })
    }

    /// Reads lanes, and what has become of some alerts of their accounts, in one round trip; in
    /// the order in which they are asked for. One that cannot be read keeps no other from being
    /// gathered.
    pub async fn lanes(
        &self,
        lanes: &[(AccountId, String)],
        asked: &[(AccountId, AlertId)],
        now: Timestamp,
    ) -> Result<Vec<Result<LaneContext>>> {
        if lanes.is_empty() {
            return Ok(Vec::new());
        }
        let binds = Binds::new()
            .with("now", now)
            .with("limit", MOST_GATHERED)
            .with("silenced", delivery::SILENCED);
        let mut binds = order::awaited(binds, now);
        let mut texts = Vec::with_capacity(lanes.len());
        for (nth, (account, channel)) in lanes.iter().enumerate() {
            let of_account = asked.iter().filter(|(owner, _)| owner == account);
            let alerts: Vec<RecordId> =
                of_account.map(|(owner, alert)| key::alert(*owner, *alert)).collect();
            binds.bind(format!("lane{nth}"), key::channel_lane(*account, channel));
            binds.bind(format!("account{nth}"), account.0);
            binds.bind(format!("channel{nth}"), channel.as_str());
            binds.bind(format!("windows{nth}"), key::maintenance_windows(*account));
            binds.bind(format!("maintenance{nth}"), key::maintenance(*account));
            texts.push(lane_text(nth, !alerts.is_empty()));
            binds.bind(format!("alerts{nth}"), alerts);
        }
        let rows: Vec<LaneRow> = self.read(&format!("RETURN [{}]", texts.join(",")), binds).await?;
        let named = lanes.iter().zip(rows);
        Ok(named.map(|((account, channel), row)| row.into_lane(*account, channel)).collect())
    }

    /// Makes a decision about a lane real, all of it. False, and nothing written, when the lane
    /// is not as it was read: somebody else gathered it, a site of it is gone, or the windows that
    /// hold something back were changed.
    pub async fn claim(&self, claim: Claim<'_>) -> Result<bool> {
        let unit = Unit::of(&claim)?;
        match self.write(&unit.text, unit.binds).await {
            Ok(()) => Ok(true),
            Err(Error::Stale) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether a claim whose outcome was never reported was written: then its first batch, and the
    /// epoch that this gave it, belong to the node.
    pub async fn is_claimed(&self, node: &str, batch: DeliveryId, epoch: u64) -> Result<bool> {
        let binds =
            Binds::new().with("id", key::delivery(batch)).with("node", node).with("epoch", epoch);
        self.read("RETURN $id.owner = $node AND $id.epoch = $epoch", binds).await
    }

    /// Makes what is due in these lanes due later, so that it blocks nobody; a part of it, if much
    /// is due in a lane. A lane that somebody else is writing to stays as it is, and holds up no
    /// other; answers how many those are.
    pub async fn postpone_lanes(
        &self,
        lanes: &[((AccountId, String), Timestamp)],
        now: Timestamp,
    ) -> Result<usize> {
        let sweeps: Vec<_> =
            lanes.chunks(POSTPONED_TOGETHER).map(|some| self.sweep(some, now)).collect();
        Ok(try_join_all(sweeps).await?.into_iter().sum())
    }

    /// Puts some aside together, or else those that can be.
    async fn sweep(
        &self,
        lanes: &[((AccountId, String), Timestamp)],
        now: Timestamp,
    ) -> Result<usize> {
        if self.postpone(lanes, now).await? {
            return Ok(0);
        }
        let mut left = 0;
        for lane in lanes.chunks(1) {
            left += usize::from(!self.postpone(lane, now).await?);
        }
        Ok(left)
    }

    /// False, and nothing written, when somebody else wrote to one of them meanwhile.
    async fn postpone(
        &self,
        lanes: &[((AccountId, String), Timestamp)],
        now: Timestamp,
    ) -> Result<bool> {
        let limit = MOST_GATHERED / lanes.len().max(1);
        let binds = Binds::new().with("now", now).with("limit", limit);
        let mut unit = Unit { binds, ..Unit::default() };
        for ((account, channel), until) in lanes {
            unit.say(
                POSTPONE,
                [
                    ("account", account.0.into_value()),
                    ("channel", channel.as_str().into_value()),
                    ("until", until.into_value()),
                ],
            );
        }
        self.write_once(&unit.text, unit.binds).await
    }
}

impl LaneRow {
    fn into_lane(self, account_id: AccountId, channel: &str) -> Result<LaneContext> {
        let tried: Option<Vec<Timestamp>> = self.ahead.iter().map(AheadRow::tried_at).collect();
        Ok(LaneContext {
            account_id,
            channel: channel.to_owned(),
            version: self.version,
            quiet_at: self.quiet_at,
            waiting: delivery::read_all(self.waiting)?,
            held: delivery::read_good(self.held),
            windows: row::read_all("maintenance window", &self.windows)?,
            windows_version: self.windows_version,
            alerts: row::read_all("alert", &self.alerts)?,
            behind: self.ahead.into_iter().flat_map(AheadRow::sites).collect(),
            tried_at: tried.and_then(|moments| moments.into_iter().min()),
        })
    }
}

/// What a claim says.
impl Unit {
    fn of(claim: &Claim<'_>) -> Result<Self> {
        let Gathering { batches, deferred, shortened, dropped, quiet_at } = claim.gathering;
        let all = claim.gathering.deliveries();
        let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let binds = Binds::new()
            .with("lane", key::channel_lane(claim.account_id, claim.channel))
            .with("expected", claim.expected_version)
            .with("quiet_at", *quiet_at)
            .with("now", claim.now)
            .with("until", claim.now + claim.lease)
            .with("node", claim.node)
            .with("rows", ids(all))
            .with("count", count);
        let mut unit = Self { text: CLAIM.to_owned(), binds, groups: 0 };
        for (nth, batch) in batches.iter().enumerate() {
            unit.batch(batch, claim.gathering.before(nth), nth == 0)?;
        }
        let mut until: BTreeMap<Timestamp, Vec<DeliveryId>> = BTreeMap::new();
        for (id, at) in deferred {
            until.entry(*at).or_default().push(*id);
        }
        if !until.is_empty() {
            unit.say(
                WINDOWS,
                [
                    ("maintenance", key::maintenance(claim.account_id).into_value()),
                    ("windows", claim.expected_windows.into_value()),
                ],
            );
        }
        for (at, held) in until {
            unit.say(
                "UPDATE $held# SET due_at = $at#, outcome = $silenced# RETURN NONE;",
                [
                    ("held", ids(held).into_value()),
                    ("at", at.into_value()),
                    ("silenced", delivery::SILENCED.into_value()),
                ],
            );
        }
        for held in shortened {
            unit.say(
                "UPDATE $shorter# SET doc = $doc# RETURN NONE;",
                [
                    ("shorter", key::delivery(held.id).into_value()),
                    ("doc", row::write("delivery", held)?.into_value()),
                ],
            );
        }
        unit.finish(dropped, delivery::SILENCED, None);
        Ok(unit)
    }

    fn batch(&mut self, batch: &Batch, before: Vec<DeliveryId>, leased: bool) -> Result<()> {
        let statement = if leased { LEASED } else { BATCH };
        let sites: Vec<Uuid> = batch.head.sites().into_iter().map(|site| site.0).collect();
        self.say(
            statement,
            [
                ("head", key::delivery(batch.head.id).into_value()),
                ("shared", batch.shared.into_value()),
                ("sites", sites.into_value()),
                ("after", ids(before).into_value()),
                ("doc", row::write("delivery", &batch.head)?.into_value()),
            ],
        );
        self.finish(&batch.merged, delivery::MERGED, Some(batch.head.id));
        self.finish(&batch.summarised, delivery::SUMMARISED, Some(batch.head.id));
        Ok(())
    }

    fn finish(&mut self, deliveries: &[DeliveryId], outcome: &str, joined: Option<DeliveryId>) {
        if deliveries.is_empty() {
            return;
        }
        self.say(
            "UPDATE $over# SET waits = false, finished = true, due_at = $now,
                outcome = $outcome#, joined = $joined# RETURN NONE;",
            [
                ("over", ids(deliveries.to_vec()).into_value()),
                ("outcome", outcome.into_value()),
                ("joined", joined.map(|id| id.0).into_value()),
            ],
        );
    }
}

fn ids(deliveries: Vec<DeliveryId>) -> Vec<RecordId> {
    deliveries.into_iter().map(key::delivery).collect()
}

fn lane_text(nth: usize, is_judged: bool) -> String {
    let columns = delivery::COLUMNS;
    let held = if is_judged { format!("({columns}{HELD})") } else { "[]".to_owned() };
    let text = format!(
        "{{
            version: $lane#.version ?? 0,
            quiet_at: $lane#.quiet_at,
            waiting: ({columns}{IN_LANE}),
            held: {held},
            windows: (SELECT VALUE doc FROM $windows#),
            windows_version: $maintenance#.made ?? 0,
            alerts: (SELECT VALUE doc FROM $alerts# WHERE doc != NONE),
            ahead: ({AHEAD})
        }}"
    );
    text.replace('#', &nth.to_string())
}

/// So many deliveries of a lane are gathered at once; the transaction takes some 50 ms.
const MOST_GATHERED: usize = 2_000;
/// So many lanes are put aside at once: a conflict is about few.
const POSTPONED_TOGETHER: usize = 16;

const IN_LANE: &str = " FROM delivery
    WHERE account = $account# AND waits = true AND finished = false AND due_at <= $now
    AND channel = $channel# ORDER BY due_at LIMIT $limit";

/// Few: of a site, what there is to tell of it.
pub(crate) const HELD: &str = " FROM delivery
    WHERE account = $account# AND waits = true AND finished = false AND due_at > $now
    AND channel = $channel# AND outcome = $silenced ORDER BY due_at LIMIT $limit";

const BATCH_DUE: &str = "SELECT VALUE due_at FROM delivery
    WHERE waits = false AND finished = false AND due_at <= $now ORDER BY due_at LIMIT 1";

pub(crate) const WAITING: &str = "SELECT account, channel, due_at FROM delivery
    WHERE waits = true AND finished = false AND due_at <= $now ORDER BY due_at LIMIT $limit";

pub(crate) const NEXT: &str = "SELECT VALUE due_at FROM delivery
    WHERE waits = $waits AND finished = false AND due_at > $now ORDER BY due_at LIMIT 1";

const POSTPONE: &str = "LET $late# = (SELECT id, due_at FROM delivery
    WHERE account = $account# AND waits = true AND finished = false AND due_at <= $now
    AND channel = $channel# ORDER BY due_at LIMIT $limit);
UPDATE $late#.id SET due_at = $until# RETURN NONE;";

const CLAIM: &str = "LET $was = $lane.version ?? 0;
IF $was != $expected { THROW 'stale' };
UPSERT $lane SET version = $expected + 1, quiet_at = $quiet_at RETURN NONE;
LET $waiting = (SELECT VALUE id FROM $rows WHERE waits = true);
IF array::len($waiting) != $count { THROW 'stale' };";

/// Read for update: in conflict with a change of the windows.
const WINDOWS: &str = "LET $changed# = (SELECT VALUE made FROM ONLY $maintenance# FOR UPDATE) ?? 0;
IF $changed# != $windows# { THROW 'stale' };";

const LEASED: &str =
    "UPDATE $head# SET waits = false, outcome = '', shared = $shared#, gathered_at = $now,
    sites = $sites#, doc = $doc#, owner = $node, epoch += 1, due_at = $until RETURN NONE;";

const BATCH: &str =
    "UPDATE $head# SET waits = false, outcome = '', shared = $shared#, gathered_at = $now,
    sites = $sites#, after = $after#, doc = $doc#, due_at = $now RETURN NONE;";
