//! When each check of each site is due, and who is at work on it.
//!
//! `planned_at` is when a run was planned for, and `due_at` from when on somebody may take it: later
//! while a node has it, and where it was put off.
//!
//! *Invariant:* time only says when work may be taken; the epoch says whose result counts. It
//! grows with every owner and is compared inside the transaction that writes the result
//! ([`crate::Commit`]), so an owner that comes late writes nothing.

use std::time::Duration;

use surrealdb::types::{Array, RecordId, SurrealValue, Value};
use uuid::Uuid;
use vedette_model::{AccountId, CheckType, SiteId, Timestamp};

use crate::error::{Error, Result};
use crate::node::{AT_WORK, OF_THE_GONE};
use crate::tx::Binds;
use crate::{CLOCKS_DIFFER, Store, key};

/// The right, for a while, to run one check of one site and to commit what came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub account_id: AccountId,
    pub site_id: SiteId,
    pub check_type: CheckType,
    /// The node that holds it.
    pub owner: String,
    pub epoch: u64,
    /// When the run was planned; the lag is what has passed since.
    pub due_at: Timestamp,
    /// From when on somebody might have run it: later than it was planned where it was put off.
    pub ready_at: Timestamp,
    /// The run confirms what the one before found.
    pub recheck: bool,
}

/// Which checks of a site run, and when those run first that were not planned before.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    pub due: Vec<(CheckType, Timestamp)>,
    /// Of these what was planned is forgotten, and what runs now no longer counts: it probes
    /// what the site was before.
    pub anew: Vec<CheckType>,
    /// Of these what was remembered between runs goes: they look at another place now. Of a site
    /// with another domain it goes of all.
    pub moved: Vec<CheckType>,
    /// The plugins of these, by their ids: what they kept for the site goes as well.
    pub plugins: Vec<String>,
    /// The checks that are about the site no longer, and since when: with them goes what they had
    /// raised and their next runs would have ended.
    pub dropped: Vec<(CheckType, Timestamp)>,
}

#[derive(SurrealValue)]
struct LyingRow {
    account: Uuid,
    site: Uuid,
}

impl From<Vec<(CheckType, Timestamp)>> for Runs {
    fn from(due: Vec<(CheckType, Timestamp)>) -> Self {
        Self { due, ..Self::default() }
    }
}

#[derive(SurrealValue)]
struct LeaseRow {
    account: Uuid,
    site: Uuid,
    check_type: String,
    owner: String,
    epoch: u64,
    planned_at: Timestamp,
    put_off_to: Option<Timestamp>,
    recheck: Option<bool>,
}

/// A row as it is made: nobody's, due when planned.
#[derive(Clone, Debug, SurrealValue)]
pub(crate) struct ScheduleRow {
    id: RecordId,
    account: Uuid,
    site: Uuid,
    check_type: String,
    planned_at: Timestamp,
    due_at: Timestamp,
    owner: String,
    epoch: i64,
}

impl Store {
    /// Takes up to `limit` due checks of the given types for `lease`: first those that confirm what
    /// an earlier run found, then those that have waited longest. A caller that does not settle or
    /// release them by then loses them to the next one. While other nodes share the database,
    /// checks that confirm what this node found go to the others first, for as long as clocks may
    /// differ: no other node confirms what is wrong with this one's network.
    pub async fn lease_due(
        &self,
        node: &str,
        types: &[CheckType],
        now: Timestamp,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<Lease>> {
        if types.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let _turn = self.inner.scheduling.lock().await;
        let has_peers = self.has_peers();
        let mut binds = Binds::new()
            .with("node", node)
            .with("now", now)
            .with("until", now + lease)
            .with("is_alone", !has_peers)
            .with("own", now - CLOCKS_DIFFER)
            .with("room", limit)
            .with("limit", if has_peers { limit + OTHERS_FIRST } else { limit });
        let rechecks = per_type(DUE_RECHECKS, types, &mut binds);
        let candidates = per_type(DUE, types, &mut binds);
        let unit = format!(
            "LET $due = array::distinct(array::flatten([{rechecks}, {candidates}]));
            LET $first = (SELECT id, recheck, due_at FROM $due
                WHERE $is_alone OR recheck = false OR seen_by != $node OR due_at <= $own
                ORDER BY recheck DESC, due_at LIMIT $room);
            RETURN (UPDATE $first.id SET due_at = $until, owner = $node, epoch += 1 RETURN AFTER)"
        );
        let rows: Vec<LeaseRow> = self.tx(&unit, binds).await?;
        let mut leases: Vec<Lease> =
            rows.into_iter().map(LeaseRow::into_lease).collect::<Result<_>>()?;
        leases.sort_by_key(|lease| lease.due_at);
        Ok(leases)
    }

    /// Makes `node` the owner, for `lease`, of the rows that a statement finds due; the statement
    /// has `$now` and `$limit` besides its own `binds`, and answers ids. The epoch grows with every
    /// owner.
    pub(crate) async fn take_due<T: SurrealValue>(
        &self,
        (due, binds): (&str, Binds),
        node: &str,
        now: Timestamp,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<T>> {
        let unit = format!(
            "LET $due = ({due});
            RETURN (UPDATE $due.id SET due_at = $until, owner = $node, epoch += 1 RETURN AFTER)"
        );
        let binds = binds
            .with("node", node)
            .with("now", now)
            .with("until", now + lease)
            .with("limit", limit);
        self.tx(&unit, binds).await
    }

    /// When the next check of the given types may be taken; none when nothing is planned.
    pub async fn next_due(&self, types: &[CheckType]) -> Result<Option<Timestamp>> {
        let mut binds = Binds::new();
        let texts = per_type(NEXT_DUE, types, &mut binds);
        let due: Vec<Timestamp> =
            self.read(&format!("RETURN array::flatten([{texts}])"), binds).await?;
        Ok(due.into_iter().min())
    }

    /// Of the check types that are planned for and not among `taken`, the sites whose check was due
    /// before `since` and is nobody's: none, where another node takes them. Up to `limit` of each, those
    /// that have waited longest.
    pub async fn left_lying(
        &self,
        taken: &[CheckType],
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<(CheckType, Vec<(AccountId, SiteId)>)>> {
        let mut lying = Vec::new();
        let mut after = String::new();
        while let Some(next) = self.type_after(&after).await? {
            let check_type = CheckType::try_from(next.clone())
                .map_err(|error| Error::corrupt("check type", error))?;
            if !taken.contains(&check_type) {
                let binds = Binds::new()
                    .with("type", check_type.as_str())
                    .with("since", since)
                    .with("limit", limit);
                let rows: Vec<LyingRow> = self.read(LYING, binds).await?;
                let sites = rows.into_iter().map(|row| (AccountId(row.account), row.site.into()));
                lying.push((check_type, sites.collect()));
            }
            after = next;
        }
        Ok(lying)
    }

    /// Whether any check of any site is planned, whichever node runs it.
    pub async fn is_any_check_planned(&self) -> Result<bool> {
        Ok(self.type_after("").await?.is_some())
    }

    /// The next of the check types that are planned for, in their order.
    async fn type_after(&self, past: &str) -> Result<Option<String>> {
        let next: Vec<String> = self.read(NEXT_TYPE, Binds::new().with("past", past)).await?;
        Ok(next.into_iter().next())
    }

    /// Gives a check back unrun, and plans its run anew, for `due_at`. Nothing happens when the lease
    /// has gone to somebody else already.
    pub async fn release_lease(&self, lease: &Lease, due_at: Timestamp) -> Result<()> {
        let unit = "UPDATE $schedule SET due_at = $due_at, planned_at = $due_at, put_off_to = NONE,
            asked_at = NONE, owner = ''
            WHERE owner = $owner AND epoch = $epoch RETURN NONE";
        self.give_back(unit, lease, due_at).await
    }

    /// Gives a check back unrun, to be taken from `due_at` on: its run stays planned for when it was.
    /// Nothing happens when the lease has gone to somebody else already.
    pub async fn put_off_lease(&self, lease: &Lease, due_at: Timestamp) -> Result<()> {
        let unit = "UPDATE $schedule SET due_at = $due_at, put_off_to = $due_at, owner = ''
            WHERE owner = $owner AND epoch = $epoch RETURN NONE";
        self.give_back(unit, lease, due_at).await
    }

    async fn give_back(&self, unit: &str, lease: &Lease, due_at: Timestamp) -> Result<()> {
        let binds = Binds::new()
            .with("schedule", key::schedule(lease.site_id, &lease.check_type))
            .with("due_at", due_at)
            .with("owner", lease.owner.as_str())
            .with("epoch", lease.epoch);
        self.write(unit, binds).await
    }

    /// Makes checks that were planned for later run now, except those that somebody is working on.
    pub async fn run_at_once(&self, checks: &[(SiteId, CheckType)], now: Timestamp) -> Result<()> {
        if checks.is_empty() {
            return Ok(());
        }
        let unit = "UPDATE $checks SET due_at = $now, planned_at = $now, put_off_to = NONE,
            asked_at = NONE
            WHERE owner = '' AND due_at > $now RETURN NONE";
        let checks = checks.iter().map(|(site, check_type)| key::schedule(*site, check_type));
        let checks: Vec<RecordId> = checks.collect();
        self.write(unit, Binds::new().with("checks", checks).with("now", now)).await
    }

    /// Sites whose check of a type is planned for later than `horizon`, with nobody at work on it; up
    /// to `limit` of them. Not those whose check has asked for that, unless it did so after `now`: by a
    /// clock that was ahead.
    pub async fn planned_after(
        &self,
        check_type: &CheckType,
        horizon: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<SiteId>> {
        let binds = Binds::new()
            .with("type", check_type.as_str())
            .with("horizon", horizon)
            .with("now", now)
            .with("limit", limit);
        let sites: Vec<Uuid> = self.read(PLANNED_AFTER, binds).await?;
        Ok(sites.into_iter().map(SiteId::from).collect())
    }

    /// Plans the check of each site for another moment, except those that somebody is working on.
    pub async fn plan_anew(
        &self,
        check_type: &CheckType,
        planned: &[(SiteId, Timestamp)],
    ) -> Result<()> {
        if planned.is_empty() {
            return Ok(());
        }
        let _turn = self.inner.scheduling.lock().await;
        let mut binds = Binds::new();
        let mut unit = String::new();
        for (nth, (site, at)) in planned.iter().enumerate() {
            unit.push_str(&PLAN_ANEW.replace('#', &nth.to_string()));
            binds.bind(format!("row{nth}"), key::schedule(*site, check_type));
            binds.bind(format!("at{nth}"), *at);
        }
        self.write(&unit, binds).await
    }

    /// Ends the leases on checks of a type that end later than `horizon`, of nodes that are no
    /// longer at work (but not of this one): their clocks were ahead. Up to `limit` of them; the
    /// checks are due at once. Answers how many there were.
    pub async fn end_leases(
        &self,
        node: &str,
        check_type: &CheckType,
        horizon: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<u64> {
        let _turn = self.inner.scheduling.lock().await;
        let unit = format!(
            "{AT_WORK}
            LET $held = ({HELD_AFTER} AND {OF_THE_GONE} LIMIT $limit);
            UPDATE $held SET due_at = $now, owner = '' RETURN NONE;
            RETURN array::len($held)"
        );
        let binds = Binds::new()
            .with("node", node)
            .with("type", check_type.as_str())
            .with("horizon", horizon)
            .with("now", now)
            .with("limit", limit);
        self.tx(&unit, binds).await
    }

    /// Ends every lease on checks, deliveries and renewals at once, for the start of a process that
    /// has the engine to itself: the process that held them is dead. If other nodes share the
    /// database nothing happens; there leases run out. Answers how many there were.
    pub async fn recover_leases(&self, now: Timestamp) -> Result<u64> {
        if !self.embedded() {
            return Ok(0);
        }
        let unit = "LET $checks = (SELECT VALUE id FROM schedule WHERE owner != '');
            LET $deliveries = (SELECT VALUE id FROM delivery WHERE finished = false AND owner != '');
            LET $renewals = (SELECT VALUE id FROM renewal_job WHERE owner != '');
            UPDATE $checks SET due_at = planned_at, owner = '' RETURN NONE;
            UPDATE $deliveries SET due_at = $now, owner = '' RETURN NONE;
            UPDATE $renewals SET due_at = $now, owner = '' RETURN NONE;
            RETURN array::len($checks) + array::len($deliveries) + array::len($renewals)";
        self.tx(unit, Binds::new().with("now", now)).await
    }
}

impl LeaseRow {
    fn into_lease(self) -> Result<Lease> {
        let check_type = CheckType::try_from(self.check_type)
            .map_err(|error| Error::corrupt("check type", error))?;
        Ok(Lease {
            account_id: self.account.into(),
            site_id: self.site.into(),
            check_type,
            owner: self.owner,
            epoch: self.epoch,
            due_at: self.planned_at,
            // A version before planned anew without a word of it.
            ready_at: self.put_off_to.map_or(self.planned_at, |at| at.max(self.planned_at)),
            recheck: self.recheck.unwrap_or_default(),
        })
    }
}

/// The rows of a site's schedule. The epoch starts where no earlier row of the same id can have
/// got to, so that a lease on a row that was removed never fits the one made in its place.
pub(crate) fn rows(
    account: AccountId,
    site: SiteId,
    due: &[(CheckType, Timestamp)],
) -> Vec<ScheduleRow> {
    due.iter()
        .map(|(check_type, at)| ScheduleRow {
            id: key::schedule(site, check_type),
            account: account.0,
            site: site.0,
            check_type: check_type.as_str().to_owned(),
            planned_at: *at,
            due_at: *at,
            owner: String::new(),
            epoch: at.timestamp_millis(),
        })
        .collect()
}

pub(crate) fn ids(rows: &[ScheduleRow]) -> Value {
    Value::Array(Array::from(
        rows.iter().map(|row| row.id.clone().into_value()).collect::<Vec<_>>(),
    ))
}

pub(crate) fn ids_of(site: SiteId, check_types: &[CheckType]) -> Value {
    let ids = check_types.iter().map(|check_type| key::schedule(site, check_type).into_value());
    Value::Array(Array::from(ids.collect::<Vec<_>>()))
}

/// One look-up per type, each a short walk along its own index, so that the due rows of a type
/// that nobody here runs are never in the way.
fn per_type(statement: &str, types: &[CheckType], binds: &mut Binds) -> String {
    let mut texts = Vec::with_capacity(types.len());
    for (nth, check_type) in types.iter().enumerate() {
        binds.bind(format!("type{nth}"), check_type.as_str());
        texts.push(format!("({})", statement.replace("$type", &format!("$type{nth}"))));
    }
    texts.join(", ")
}

pub(crate) const DUE: &str = "SELECT id, recheck ?? false AS recheck, seen_by, due_at FROM schedule
    WHERE check_type = $type AND due_at <= $now ORDER BY due_at LIMIT $limit";

/// Behind a backlog those would not be among the first.
pub(crate) const DUE_RECHECKS: &str = "SELECT id, recheck, seen_by, due_at FROM schedule
    WHERE check_type = $type AND recheck = true AND due_at <= $now ORDER BY due_at LIMIT $limit";

pub(crate) const NEXT_DUE: &str =
    "SELECT VALUE due_at FROM schedule WHERE check_type = $type ORDER BY due_at LIMIT 1";

/// A step from one type to the next, along their index: there are few, and each may have many rows.
pub(crate) const NEXT_TYPE: &str = "SELECT VALUE check_type FROM schedule
    WHERE check_type > $past ORDER BY check_type LIMIT 1";

pub(crate) const LYING: &str = "SELECT account, site, due_at FROM schedule
    WHERE check_type = $type AND due_at <= $since ORDER BY due_at LIMIT $limit";

/// Behind so many that are left to other nodes one's own work is found.
const OTHERS_FIRST: usize = 64;

const PLANNED_AFTER: &str = "SELECT VALUE site FROM schedule
    WHERE check_type = $type AND due_at > $horizon AND owner = ''
        AND (asked_at = NONE OR asked_at > $now) LIMIT $limit";

pub(crate) const HELD_AFTER: &str = "SELECT VALUE id FROM schedule
    WHERE check_type = $type AND due_at > $horizon";

const PLAN_ANEW: &str = "UPDATE $row# SET due_at = $at#, planned_at = $at#, put_off_to = NONE,
        asked_at = NONE
    WHERE owner = '' RETURN NONE;
";
