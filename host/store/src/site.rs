//! Sites. Beside its row a site has the key that makes it unique, its owner for callers that know
//! only the site, and its schedule; all of them come and go in one transaction. Its provider and
//! deployment settings are sealed in a column of their own; the rest is plain.

mod dropped;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::{AccountId, CheckType, Secret, Site, SiteId, Timestamp};

use crate::error::{Error, Result, gone_is_none};
use crate::seal::Place;
use crate::tx::Binds;
use crate::unit::Unit;
use crate::{Runs, StateScope, Store, key, row, schedule};

#[derive(SurrealValue)]
struct SiteRow {
    version: i64,
    doc: String,
    sealed: Option<String>,
}

/// A site as its row holds it: `doc` without secrets, and these.
#[derive(SurrealValue)]
pub(crate) struct SiteDoc {
    pub(crate) doc: String,
    pub(crate) sealed: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct SiteSecrets {
    dns_provider_config: Option<Secret<Value>>,
    deploy_config: Option<Secret<Value>>,
}

impl Store {
    /// The ids by which an account's alerts name what they are about: its sites, and what its
    /// agents look at.
    pub async fn site_ids(&self, account: AccountId) -> Result<BTreeSet<SiteId>> {
        let binds = Binds::new()
            .with("sites", key::sites(account))
            .with("targets", key::agent_targets(account));
        let rows: Vec<RecordId> = self.read(&format!("RETURN {WATCHED}"), binds).await?;
        ids(&rows)
    }

    pub async fn site(&self, account: AccountId, site: SiteId) -> Result<Option<Site>> {
        Ok(self.versioned_site(account, site).await?.map(|(site, _)| site))
    }

    /// Adds a site while the account has fewer than `limit` (else `SiteLimit`) and none equal to
    /// it (else `Duplicate`), and plans the first run of its checks.
    pub async fn create_site(
        &self,
        site: &Site,
        limit: u32,
        due: &[(CheckType, Timestamp)],
    ) -> Result<()> {
        let SiteDoc { doc, sealed } = self.seal_site(site.account_id, site)?;
        let _turn = self.turn(site.account_id.0).await;
        let unit = "IF record::exists($key) OR record::exists($older_key) { THROW 'duplicate' };
            LET $room = (UPDATE $account SET sites += 1, stamp += 1 WHERE sites < $limit RETURN AFTER);
            IF array::is_empty($room) {
                IF record::exists($account) { THROW 'site_limit' } ELSE { THROW 'gone' }
            };
            CREATE $key RETURN NONE;
            CREATE $site SET version = 1, key = $key, doc = $doc, sealed = $sealed RETURN NONE;
            CREATE $owner SET account = $account RETURN NONE;
            INSERT INTO schedule $schedule RETURN NONE";
        let binds = Binds::new()
            .with("account", key::account(site.account_id))
            .with("limit", limit)
            .with("key", key::site_key(site))
            .with("older_key", key::older_site_key(site))
            .with("site", key::site(site.account_id, site.id))
            .with("doc", doc)
            .with("sealed", sealed)
            .with("owner", key::site_owner(site.id))
            .with("schedule", schedule::rows(site.account_id, site.id, due));
        self.write(unit, binds).await
    }

    /// Changes a site and answers it. `change` also says when each check of the site would first
    /// be due: checks that are planned keep their turn, new ones are added, those it leaves out
    /// are taken off the schedule. Of those that are about the site no longer, what resolves by
    /// itself is resolved. It may be called again when somebody else changes the site at the same
    /// time. A site that moves to another domain begins anew, and so do the checks for which it has
    /// moved: what was remembered between runs goes, by us and by their plugins, the history stays.
    /// `Duplicate` when the account has an equal site.
    pub async fn update_site<R: Into<Runs>>(
        &self,
        account: AccountId,
        site: SiteId,
        change: impl Fn(&mut Site) -> R,
    ) -> Result<Option<Site>> {
        let _turn = self.turn(account.0).await;
        for _ in 0..ATTEMPTS {
            let Some((before, version)) = self.versioned_site(account, site).await? else {
                return Ok(None);
            };
            let mut after = before.clone();
            let runs: Runs = change(&mut after).into();
            match self.write_site(&before, &after, version, &runs).await {
                Ok(()) => return Ok(Some(after)),
                Err(Error::Gone) => return Ok(None),
                Err(Error::Stale) => continue,
                Err(error) => return Err(error),
            }
        }
        Err(Error::Conflict)
    }

    async fn write_site(&self, before: &Site, after: &Site, was: i64, runs: &Runs) -> Result<()> {
        let (account, site) = (after.account_id, after.id);
        let planned = schedule::rows(account, site, &runs.due);
        let SiteDoc { doc, sealed } = self.seal_site(account, after)?;
        let key = key::site_key(after);
        // Of another domain the past says nothing: its checks begin anew.
        let is_another = after.domain != before.domain;
        let states = if is_another {
            key::of_site("check_state", site).into_value()
        } else {
            let states = runs.moved.iter().map(|check_type| key::check_state(site, check_type));
            states.collect::<Vec<RecordId>>().into_value()
        };
        let kept = if is_another {
            vec![key::of_site("plugin_state", site), key::of_site("plugin_state_size", site)]
        } else {
            let scope = |plugin| StateScope { plugin, site: Some(site) };
            runs.plugins.iter().flat_map(|plugin| scope(plugin.as_str()).rows()).collect()
        };
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("site", key::site(account, site))
            .with("was", was)
            .with("rekeyed", key != key::site_key(before))
            .with("key", key)
            .with("older_key", key::older_site_key(after))
            .with("doc", doc)
            .with("sealed", sealed)
            .with("is_another", is_another)
            .with("states", states)
            .with("memories", key::of_site("check_memory", site))
            .with("kept", kept)
            .with("schedules", key::of_site("schedule", site))
            .with("anew", schedule::ids_of(site, &runs.anew))
            .with("wanted", schedule::ids(&planned))
            .with("schedule", planned);
        let mut unit = Unit { binds, ..Unit::default() };
        let resolved = self.drop_checks(&mut unit, site, &runs.dropped).await?;
        unit.text.push_str(CHANGE);
        unit.note_resolved(account, &resolved)?;
        self.revise(account, unit.text, unit.binds).await
    }

    /// Removes a site: from here on nothing finds it, and what it leaves behind goes bit by bit
    /// ([`Store::purge_next`]). False when the account has no such site.
    pub async fn delete_site(&self, account: AccountId, site: SiteId) -> Result<bool> {
        let _turn = self.turn(account.0).await;
        let unit = "LET $key = $site.key;
            IF $key = NONE { THROW 'gone' };
            DELETE $key RETURN NONE;
            DELETE $site RETURN NONE;
            DELETE $owner RETURN NONE;
            DELETE $schedules RETURN NONE;
            DELETE $counts RETURN NONE;
            LET $windows = (SELECT VALUE id FROM maintenance_window WHERE site = $site_id);
            DELETE $windows RETURN NONE;
            DELETE $renewals RETURN NONE;
            UPDATE $account SET sites -= 1, stamp += 1 RETURN NONE;
            CREATE $purge RETURN NONE";
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("site", key::site(account, site))
            .with("site_id", site.0)
            .with("owner", key::site_owner(site))
            .with("schedules", key::of_site("schedule", site))
            .with("counts", key::of_account_site("alert_count", account, site))
            .with("renewals", vec![key::renewal_job(site), key::renewal_certificate(site)])
            .with("purge", key::purge(account, site));
        Ok(gone_is_none(self.write(unit, binds).await)?.is_some())
    }

    async fn versioned_site(
        &self,
        account: AccountId,
        site: SiteId,
    ) -> Result<Option<(Site, i64)>> {
        let row: Option<SiteRow> =
            self.read("RETURN $id.*", Binds::new().with("id", key::site(account, site))).await?;
        row.map(|SiteRow { version, doc, sealed }| {
            Ok((self.open_site(account, &SiteDoc { doc, sealed })?, version))
        })
        .transpose()
    }

    pub(crate) fn seal_site(&self, account: AccountId, site: &Site) -> Result<SiteDoc> {
        let mut bare = site.clone();
        let secrets = SiteSecrets {
            dns_provider_config: bare.dns_provider_config.take(),
            deploy_config: bare.deploy_config.take(),
        };
        let sealed = if secrets.dns_provider_config.is_none() && secrets.deploy_config.is_none() {
            String::new()
        } else {
            row::seal(SECRETS, &secrets, &self.inner.seal, &place(account, site.id))?
        };
        Ok(SiteDoc { doc: row::write("site", &bare)?, sealed: Some(sealed) })
    }

    pub(crate) fn open_site(&self, account: AccountId, row: &SiteDoc) -> Result<Site> {
        let mut site: Site = row::read("site", &row.doc)?;
        if let Some(sealed) = row.sealed.as_deref().filter(|sealed| !sealed.is_empty()) {
            let place = place(account, site.id);
            let secrets: SiteSecrets = row::open(SECRETS, sealed, &self.inner.seal, &place)?;
            site.dns_provider_config = secrets.dns_provider_config;
            site.deploy_config = secrets.deploy_config;
        }
        Ok(site)
    }
}

/// The ids of sites and of what agents look at, from their rows or from those of their purges.
pub(crate) fn ids(rows: &[RecordId]) -> Result<BTreeSet<SiteId>> {
    rows.iter().map(|row| key::uuid_at(row, 1).map(SiteId)).collect()
}

fn place(account: AccountId, site: SiteId) -> Place {
    Place::new("site", &[account.0, site.0])
}

/// All that an account watches, as ids of rows.
pub(crate) const WATCHED: &str =
    "array::concat((SELECT VALUE id FROM $sites), (SELECT VALUE id FROM $targets))";

/// The site as it is now, the key that makes it unique, and what of its checks is planned. Without a
/// latest record nothing that a check remembers counts but how it went day by day, which is the
/// domain's. Its version counts on, so that what was decided of the place before is not committed.
const CHANGE: &str = "
LET $stored = $site.version;
LET $held = $site.key;
IF $stored = NONE { THROW 'gone' };
IF $stored != $was { THROW 'stale' };
IF $rekeyed {
    IF record::exists($key) OR record::exists($older_key) { THROW 'duplicate' };
    DELETE $held RETURN NONE;
    CREATE $key RETURN NONE;
    UPDATE $site SET key = $key RETURN NONE;
};
UPDATE $site SET version = $was + 1, doc = $doc, sealed = $sealed RETURN NONE;
UPDATE $account SET stamp += 1 RETURN NONE;
DELETE $anew RETURN NONE;
UPDATE $states SET version += 1, latest = NONE RETURN NONE;
IF $is_another { DELETE $memories RETURN NONE };
FOR $rows IN $kept { DELETE $rows RETURN NONE };
LET $planned = (SELECT VALUE id FROM $schedules);
DELETE array::complement($planned, $wanted) RETURN NONE;
INSERT INTO schedule $schedule.filter(|$row| $row.id NOT IN $planned) RETURN NONE;";

const SECRETS: &str = "secret of a site";
const ATTEMPTS: usize = 16;
