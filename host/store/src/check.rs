//! Where each check of a site stands: what the next run is judged by, and the latest records.
//!
//! The state of a check is two rows. The small one holds its version and latest record, which is
//! what customers read; the other what only the pipeline needs.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::agent::judged_as;
use vedette_model::{
    Account, AccountId, Alert, CheckRecord, CheckState, CheckType, Glance, NotificationSettings,
    Site, SiteId, status_page::Tally,
};

use crate::account::AccountRow;
use crate::error::{Error, Result};
use crate::tx::Binds;
use crate::{Stamp, Store, key, row};

/// All that a run is judged by, as it was at one moment.
#[derive(Clone, Debug)]
pub struct CheckContext {
    pub account: Account,
    /// Where the account stood.
    pub stamp: Stamp,
    /// Without its secrets: no check needs them.
    pub site: Site,
    /// [`Store::commit`] compares its version.
    pub state: CheckState,
    /// The site's open alerts of this check type, oldest first.
    pub open: Vec<Alert>,
    /// The latest results of the site's other checks, those without a result left out.
    pub siblings: Vec<(CheckType, Value)>,
    pub settings: NotificationSettings,
}

#[derive(SurrealValue)]
struct ContextRow {
    account: Option<AccountRow>,
    stamp: Option<Stamp>,
    site: Option<String>,
    settings: Option<String>,
    version: u64,
    states: Vec<StateRow>,
    memory: Option<String>,
    open: Vec<String>,
}

#[derive(SurrealValue)]
struct StateRow {
    check_type: String,
    /// None where nothing ran since the site moved.
    latest: Option<String>,
}

#[derive(SurrealValue)]
struct LatestRow {
    exists: bool,
    latest: Vec<String>,
}

/// A state as its larger row holds it: without the latest record, and without the settled result
/// where that is the latest record's, as it nearly always is.
#[derive(Serialize, Deserialize)]
struct Remembered {
    state: CheckState,
    settled_is_latest: bool,
    #[serde(default, skip_serializing_if = "Tally::is_empty")]
    tally: Tally,
}

impl Store {
    /// Everything that judging a run of this check needs, in one round trip; none when the
    /// account has no such site.
    pub async fn check_context(
        &self,
        account: AccountId,
        site: SiteId,
        check_type: &CheckType,
    ) -> Result<Option<CheckContext>> {
        self.context(key::site(account, site), account, site, check_type).await
    }

    /// The same for what an agent of the account looks at.
    pub async fn target_context(
        &self,
        account: AccountId,
        target: SiteId,
        check_type: &CheckType,
    ) -> Result<Option<CheckContext>> {
        let watched = key::agent_target(account, target);
        let context = self.context(watched, account, target, check_type).await?;
        Ok(context.map(|context| CheckContext { site: judged_as(context.site), ..context }))
    }

    async fn context(
        &self,
        watched: RecordId,
        account: AccountId,
        site: SiteId,
        check_type: &CheckType,
    ) -> Result<Option<CheckContext>> {
        let statement = format!(
            "RETURN {{
                account: $account.*,
                stamp: $account.stamp,
                site: $site.doc,
                settings: $settings.doc,
                version: {VERSION},
                states: (SELECT check_type, latest FROM $states),
                memory: $memory.doc,
                open: ({OPEN})
            }}"
        );
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("site", watched)
            .with("site_id", site.0)
            .with("check_type", check_type.as_str())
            .with("settings", key::settings(account))
            .with("state", key::check_state(site, check_type))
            .with("states", key::of_site("check_state", site))
            .with("memory", key::check_memory(site, check_type));
        let row: ContextRow = self.read(&statement, binds).await?;
        let (Some(owner), Some(site)) = (row.account, row.site) else { return Ok(None) };
        let mut latest = latest(row.states)?;
        let mut open: Vec<Alert> = row::read_all("alert", &row.open)?;
        open.sort_by_key(|alert| (alert.created_at, alert.id));
        Ok(Some(CheckContext {
            account: owner.into_account()?,
            stamp: row.stamp.unwrap_or(Stamp::GONE),
            site: row::read("site", &site)?,
            state: state(row.version, row.memory.as_deref(), latest.remove(check_type))?,
            open,
            siblings: latest
                .into_iter()
                .filter(|(_, record)| !record.result.is_null())
                .map(|(check_type, record)| (check_type, record.result))
                .collect(),
            settings: self.open_settings(account, row.settings.as_deref())?,
        }))
    }

    /// The latest record of each check that ever ran; none when the account has no such site.
    pub async fn latest_checks(
        &self,
        account: AccountId,
        site: SiteId,
    ) -> Result<Option<BTreeMap<CheckType, CheckRecord>>> {
        let binds = Binds::new()
            .with("site", key::site(account, site))
            .with("states", key::of_site("check_state", site));
        let row: LatestRow = self.read(LATEST, binds).await?;
        if !row.exists {
            return Ok(None);
        }
        let records: Vec<CheckRecord> = row::read_all("check", &row.latest)?;
        Ok(Some(records.into_iter().map(|record| (record.check_type.clone(), record)).collect()))
    }
}

impl Store {
    /// The latest records of these checks of these sites, in one round trip: what a summary needs
    /// of each. `sites` are the caller's own; what never ran is absent.
    pub async fn glances(&self, sites: &[SiteId], checks: &[CheckType]) -> Result<Vec<Glance>> {
        let of = |site: SiteId| checks.iter().map(move |check| key::check_state(site, check));
        let states: Vec<RecordId> = sites.iter().flat_map(|site| of(*site)).collect();
        if states.is_empty() {
            return Ok(Vec::new());
        }
        let latest: Vec<Option<String>> = self
            .read("SELECT VALUE latest FROM $states", Binds::new().with("states", states))
            .await?;
        latest.iter().flatten().map(|text| row::read("check", text)).collect()
    }

    /// Another number after every commit of this process to the account, as long as nobody else
    /// writes to the database; none where many nodes do, and nothing that was read may be kept.
    pub fn revision(&self, account: AccountId) -> Option<u64> {
        self.embedded().then(|| self.inner.revisions.of(account))
    }

    /// Like [`Store::write`], and gives the account another revision when that is done. In a task of
    /// its own: where the caller goes away meanwhile, the engine may commit all the same, and does it
    /// after that.
    pub(crate) async fn revise(
        &self,
        account: AccountId,
        unit: impl Into<String>,
        binds: Binds,
    ) -> Result<()> {
        let (store, unit) = (self.clone(), unit.into());
        let writing = tokio::spawn(async move {
            let written = store.write(&unit, binds).await;
            // Also after an error: of some it is not known whether the commit happened.
            store.inner.revisions.raise(account);
            written
        });
        writing.await.unwrap_or_else(|failure| match failure.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(Error::Unavailable("the store is closing".to_owned())),
        })
    }
}

/// Counts commits by account. Accounts may share a counter: then what one keeps is read anew more
/// often than it had to be.
pub(crate) struct Revisions([AtomicU64; 1024]);

impl Default for Revisions {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Revisions {
    fn of(&self, account: AccountId) -> u64 {
        self.counter(account).load(Ordering::Acquire)
    }

    /// After the commit is durable: a reader from before it finds the number changed.
    fn raise(&self, account: AccountId) {
        self.counter(account).fetch_add(1, Ordering::AcqRel);
    }

    fn counter(&self, account: AccountId) -> &AtomicU64 {
        let bytes = account.0.as_bytes();
        let place = usize::from(u16::from_be_bytes([bytes[14], bytes[15]])) % self.0.len();
        &self.0[place]
    }
}

/// The text of the larger row.
pub(crate) fn memory(state: &CheckState) -> Result<String> {
    let mut state = state.clone();
    let latest = state.latest.take();
    let settled_is_latest = match (&mut state.settled, &latest) {
        (Some(settled), Some(latest)) if settled.result == latest.result => {
            settled.result = Value::Null;
            true
        }
        _ => false,
    };
    let tally = std::mem::take(&mut state.tally);
    row::write("check state", &Remembered { state, settled_is_latest, tally })
}

/// The text of the larger row after runs that counted and told nothing; what they saw stays. So
/// does a doubt in it, which status pages do not show, but as the doubt of one run: the next look,
/// one day, gets the rechecks that a first finding gets.
pub(crate) fn untold(memory: &str) -> Result<String> {
    let mut remembered: Remembered = row::read("check state", memory)?;
    remembered.state.tracked.clear();
    remembered.state.unconfirmed_runs = remembered.state.unconfirmed_runs.min(1);
    row::write("check state", &remembered)
}

fn state(version: u64, memory: Option<&str>, latest: Option<CheckRecord>) -> Result<CheckState> {
    let anew = CheckState { version, ..CheckState::default() };
    let Some(memory) = memory else { return Ok(anew) };
    let Remembered { mut state, settled_is_latest, tally } = row::read("check state", memory)?;
    let Some(latest) = latest else { return Ok(CheckState { tally, ..anew }) };
    state.version = version;
    state.tally = tally;
    if let Some(settled) = state.settled.as_mut().filter(|_| settled_is_latest) {
        settled.result = latest.result.clone();
    }
    state.latest = Some(latest);
    Ok(state)
}

fn latest(rows: Vec<StateRow>) -> Result<BTreeMap<CheckType, CheckRecord>> {
    rows.into_iter()
        .filter_map(|row| Some((row.check_type, row.latest?)))
        .map(|(check_type, latest)| {
            let check_type = CheckType::try_from(check_type)
                .map_err(|error| Error::corrupt("check type", error))?;
            Ok((check_type, row::read("check", &latest)?))
        })
        .collect()
}

/// What a decision about the check `$state` of `$site` is compared by. It only ever grows: by every
/// commit, by every move of the site, and where the check is taken off it; while the check never ran,
/// by every change of the site. So what was decided of one place is never taken for a decision about
/// the next, nor what was decided from what is forgotten since.
pub(crate) const VERSION: &str = "$state.version ?? (($site.version ?? 1) - 1)";

pub(crate) const OPEN: &str = "SELECT VALUE doc FROM alert
    WHERE site = $site_id AND check_type = $check_type AND is_resolved = false";

const LATEST: &str = "RETURN {
    exists: $site.version != NONE,
    latest: (SELECT VALUE latest FROM $states WHERE latest != NONE)
}";
