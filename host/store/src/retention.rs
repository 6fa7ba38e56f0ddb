//! History that is older than it is to be kept, removed bit by bit: records of checks, a day of one
//! check after the other, and alerts that are resolved.
//!
//! *Invariant:* counters change in the transaction that removes what they count: the runs of a
//! check and of its day, the counters of alerts. So what is read at one moment fits together, and
//! several nodes may do this at once: the second finds less, or nothing.
//! *Invariant:* a check's oldest day goes first, so that a reader who pages on from the newest
//! record misses nothing that is still there.
//! *Invariant:* the latest record of a check stays, however old it is: it is what is known of a check
//! that nobody runs any more.

use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::{CheckRecord, CheckType, SiteId, Timestamp};

use crate::error::{Error, Result};
use crate::tx::Binds;
use crate::{Store, key, row};

/// What became of one batch of old history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgotten {
    /// So much was removed, and there may be more.
    Removed(u64),
    /// All that was found was the latest record of a check, which stays: from now on it is to be
    /// passed over.
    Latest,
    /// There is nothing else that is so old.
    Nothing,
}

#[derive(SurrealValue)]
struct StandRow {
    /// None where the site was deleted.
    version: Option<u64>,
    latest: Option<String>,
    days: Vec<DayRow>,
}

#[derive(SurrealValue)]
struct DayRow {
    day: i64,
    runs: u64,
}

/// One check of one site.
struct Check {
    site: SiteId,
    check_type: CheckType,
}

/// Some of the records of a check, by what was read of it.
struct Batch {
    /// The negated day that they are of.
    day: i64,
    /// The oldest day, which is another where the latest record stands there alone: a clock was set
    /// back.
    oldest: i64,
    latest: Option<RecordId>,
    /// Whether the latest record is of that day.
    keeps_latest: bool,
    /// The version of the state that this was read from.
    version: Option<u64>,
    most: usize,
}

impl Store {
    /// Removes up to `batch` records of one check that are from before the UTC day of a moment.
    /// `passed` is how many of these calls have found a latest record alone.
    pub async fn forget_checks(
        &self,
        before: Timestamp,
        passed: usize,
        batch: usize,
    ) -> Result<Forgotten> {
        let old = key::rev_day(key::rev(before)) + 1;
        let binds = Binds::new().with("old", old).with("passed", passed);
        let found: Vec<RecordId> = self.read(OLD_DAY, binds).await?;
        let Some(found) = found.first() else { return Ok(Forgotten::Nothing) };
        let check = Check::of(found)?;
        for _ in 0..ATTEMPTS {
            match self.forget_oldest(&check, old, batch).await {
                Err(Error::Stale) => continue,
                ended => return ended,
            }
        }
        Err(Error::Conflict)
    }

    /// `Stale` where the check has moved on since it was read.
    async fn forget_oldest(&self, check: &Check, old: i64, most: usize) -> Result<Forgotten> {
        let days = key::check_days(check.site, &check.check_type, old, FAREST_DAY);
        let binds = Binds::new().with("state", check.state()).with("days", days.clone());
        let stand: StandRow = self.read(STAND, binds).await?;
        let latest: Option<CheckRecord> =
            stand.latest.map(|doc| row::read("check", &doc)).transpose()?;
        let latest_day = latest.as_ref().map(|record| key::rev_day(key::rev(record.checked_at)));
        let Some(oldest) = stand.days.iter().map(|row| row.day).max() else {
            // Somebody else was faster.
            return Ok(Forgotten::Removed(0));
        };
        let goes = |row: &&DayRow| row.runs > 1 || latest_day != Some(row.day);
        let Some(day) = stand.days.iter().filter(goes).map(|row| row.day).max() else {
            return Ok(Forgotten::Latest);
        };
        let batch = Batch {
            day,
            oldest,
            latest: latest.map(|record| check.record(&record)),
            keeps_latest: latest_day == Some(day),
            version: stand.version,
            most,
        };
        let binds = check.binds(batch).with("days", days);
        self.tx(&forget_checks(), binds).await.map(Forgotten::Removed)
    }

    /// Removes up to `batch` alerts that were resolved before a moment, whenever they were raised.
    pub async fn forget_alerts(&self, before: Timestamp, batch: usize) -> Result<Forgotten> {
        let unit = format!(
            "LET $old = ({OLD_ALERTS});
            LET $counts = (SELECT account, site, alert_type, severity, count() AS n FROM $old
                GROUP BY account, site, alert_type, severity);
            DELETE $old.id RETURN NONE;
            FOR $count IN $counts {{
                UPDATE type::record('alert_count',
                    [$count.account, $count.site, $count.alert_type, $count.severity, true])
                    SET n -= $count.n RETURN NONE;
            }};
            RETURN array::len($old)"
        );
        let binds = Binds::new().with("old_end", key::rev(before) + 1).with("batch", batch);
        let removed: u64 = self.tx(&unit, binds).await?;
        Ok(if removed > 0 { Forgotten::Removed(removed) } else { Forgotten::Nothing })
    }
}

impl Check {
    /// Whose roll-up of a day this is.
    fn of(day: &RecordId) -> Result<Self> {
        let check_type = CheckType::try_from(key::text_at(day, 1)?)
            .map_err(|error| Error::corrupt("check type", error))?;
        Ok(Self { site: SiteId(key::uuid_at(day, 0)?), check_type })
    }

    fn state(&self) -> RecordId {
        key::check_state(self.site, &self.check_type)
    }

    fn record(&self, record: &CheckRecord) -> RecordId {
        key::check(self.site, &self.check_type, record.checked_at, record.id)
    }

    fn binds(&self, batch: Batch) -> Binds {
        Binds::new()
            .with("site", self.site.0)
            .with("check_type", self.check_type.as_str())
            .with("state", self.state())
            .with("expected", batch.version)
            .with("day_row", key::check_day(self.site, &self.check_type, batch.day))
            .with("near", key::first_rev(batch.day))
            .with("oldest", batch.oldest)
            .with("latest", batch.latest)
            .with("keeps_latest", batch.keeps_latest)
            // One more than go: it tells that the day has more.
            .with("limit", batch.most + 1)
    }
}

/// Every commit of the check writes its state too: it is in conflict with this, and one of the two
/// runs again. What the walk meets is of that day, since no older one is there but for the latest
/// record's. That one is made whole, since what it leans on goes. The rest of a roll-up tells how the
/// whole day went, and stays as it is until it goes.
fn forget_checks() -> String {
    format!(
        "LET $version = $state.version;
        IF $version != $expected {{ THROW 'stale' }};
        LET $there = (SELECT VALUE day FROM $days);
        IF array::max($there) != $oldest {{ THROW 'stale' }};
        LET $found = ({OLD_CHECKS});
        LET $old = array::complement($found, [$latest]);
        IF $keeps_latest {{
            UPDATE $latest SET doc = $state.latest, result_in = NONE WHERE result_in != NONE RETURN NONE
        }};
        LET $removed = array::len($old);
        DELETE $old RETURN NONE;
        UPDATE $state SET runs -= $removed RETURN NONE;
        IF array::len($found) = $limit {{
            UPDATE $day_row SET runs -= $removed RETURN NONE
        }} ELSE IF $keeps_latest AND $latest IN $found {{
            UPDATE $day_row SET runs = 1 RETURN NONE
        }} ELSE {{
            DELETE $day_row RETURN NONE
        }};
        RETURN $removed"
    )
}

/// The first roll-up of a day that is old enough. Of equal days and of those that follow, any may
/// come first: it only leads to its check.
pub(crate) const OLD_DAY: &str =
    "SELECT VALUE id FROM check_day WHERE day >= $old LIMIT 1 START $passed";

const STAND: &str = "RETURN {
    version: $state.version,
    latest: $state.latest,
    days: (SELECT day, runs FROM $days)
}";

/// From the newest record of the day on. A limit ends a walk along the index, and not one along a
/// range of ids, which a check that runs every second fills with many.
pub(crate) const OLD_CHECKS: &str = "SELECT VALUE id FROM check
    WHERE site = $site AND check_type = $check_type AND rev >= $near LIMIT $limit";

pub(crate) const OLD_ALERTS: &str = "SELECT id, account, site, alert_type, severity FROM alert
    WHERE is_resolved = true AND ended >= $old_end LIMIT $batch";

/// Later than any negated day.
const FAREST_DAY: i64 = 1 << 40;
const ATTEMPTS: usize = 16;
