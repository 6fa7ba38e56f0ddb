//! Renewals of certificates: for whom they are switched on, those under way, what became of them.
//!
//! *Invariant:* of a site one renewal at most is under way; only its latest owner ends it, told
//! by the epoch, and its last line in the log, its certificate and its end are one transaction.

use std::time::Duration;

use surrealdb::types::SurrealValue;
use uuid::Uuid;
use vedette_model::{AccountId, RenewalEntry, RenewedCertificate, Secret, SiteId, Timestamp};

use crate::error::{Result, gone_is_none};
use crate::seal::Place;
use crate::tx::Binds;
use crate::{Store, key, row};

/// The right, for a while, to carry a renewal out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenewalLease {
    pub account_id: AccountId,
    pub site_id: SiteId,
    /// The node that holds it.
    pub owner: String,
    /// How many owners the renewal has had, this one included.
    pub epoch: u64,
}

#[derive(SurrealValue)]
struct JobRow {
    account: Uuid,
    site: Uuid,
    owner: String,
    epoch: u64,
}

#[derive(SurrealValue)]
struct LogRow {
    exists: bool,
    docs: Vec<String>,
}

impl Store {
    /// Switches renewal on or off for an account; false when there is no such account.
    pub async fn switch_renewal(
        &self,
        account: AccountId,
        on: bool,
        now: Timestamp,
    ) -> Result<bool> {
        let unit = "IF (SELECT VALUE id FROM ONLY $account FOR UPDATE) = NONE { THROW 'gone' };
            IF $on { UPSERT $switch SET since = $now RETURN NONE }
            ELSE { DELETE $switch RETURN NONE }";
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("switch", key::renewal_switch(account))
            .with("on", on)
            .with("now", now);
        Ok(gone_is_none(self.write(unit, binds).await)?.is_some())
    }

    pub async fn renewal_is_on(&self, account: AccountId) -> Result<bool> {
        let binds = Binds::new().with("switch", key::renewal_switch(account));
        self.read("RETURN record::exists($switch)", binds).await
    }

    /// Begins a renewal, due at once, and notes it in the log. `Gone` when the account has no such
    /// site; `Duplicate` while one is under way.
    pub async fn begin_renewal(
        &self,
        account: AccountId,
        site: SiteId,
        entry: &RenewalEntry,
    ) -> Result<()> {
        let unit = format!(
            "IF (SELECT VALUE id FROM ONLY $site FOR UPDATE) = NONE {{ THROW 'gone' }};
            IF record::exists($job) {{ THROW 'duplicate' }};
            CREATE $job SET account = $account_id, site = $site_id, due_at = $now, owner = '',
                epoch = 0 RETURN NONE;
            {NOTE}"
        );
        let binds = noted(site, entry)?
            .with("site", key::site(account, site))
            .with("job", key::renewal_job(site))
            .with("account_id", account.0)
            .with("site_id", site.0)
            .with("now", entry.created_at);
        self.write(&unit, binds).await
    }

    /// Takes up to `limit` renewals that have no owner, those that have waited longest, for
    /// `lease`.
    pub async fn lease_renewals(
        &self,
        node: &str,
        now: Timestamp,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<RenewalLease>> {
        let rows: Vec<JobRow> = self.take_due((DUE, Binds::new()), node, now, lease, limit).await?;
        Ok(rows.into_iter().map(JobRow::into_lease).collect())
    }

    /// Gives a renewal back, due at once. Nothing happens when it has got another owner already.
    pub async fn release_renewal(&self, lease: &RenewalLease, now: Timestamp) -> Result<()> {
        let unit = "UPDATE $job SET due_at = $now, owner = ''
            WHERE owner = $owner AND epoch = $epoch RETURN NONE";
        let binds = Binds::new()
            .with("job", key::renewal_job(lease.site_id))
            .with("now", now)
            .with("owner", lease.owner.as_str())
            .with("epoch", lease.epoch);
        self.write(unit, binds).await
    }

    /// Ends a renewal: notes how, and keeps what it brought in place of what the one before did.
    /// `Gone` when the site is, `Fenced` when the renewal has got another owner.
    pub async fn end_renewal(
        &self,
        lease: &RenewalLease,
        entry: &RenewalEntry,
        renewed: Option<&RenewedCertificate>,
    ) -> Result<()> {
        let unit = format!(
            "IF (SELECT VALUE id FROM ONLY $site FOR UPDATE) = NONE {{ THROW 'gone' }};
            LET $held = (SELECT VALUE id FROM $job WHERE owner = $owner AND epoch = $epoch);
            IF array::len($held) != 1 {{ THROW 'fenced' }};
            DELETE $job RETURN NONE;
            IF $renewed != NONE {{ UPSERT $certificate SET doc = $renewed RETURN NONE }};
            {NOTE}"
        );
        let place = certificate_place(lease.site_id);
        let renewed = renewed
            .map(|renewed| row::seal(CERTIFICATE, renewed, &self.inner.seal, &place))
            .transpose()?;
        let binds = noted(lease.site_id, entry)?
            .with("site", key::site(lease.account_id, lease.site_id))
            .with("job", key::renewal_job(lease.site_id))
            .with("certificate", key::renewal_certificate(lease.site_id))
            .with("owner", lease.owner.as_str())
            .with("epoch", lease.epoch)
            .with("renewed", renewed);
        self.write(&unit, binds).await
    }

    /// Takes away what is left of the renewals of a site that is gone.
    pub async fn forget_renewal(&self, site: SiteId) -> Result<()> {
        let left = vec![key::renewal_job(site), key::renewal_certificate(site)];
        self.write("DELETE $left RETURN NONE", Binds::new().with("left", left)).await
    }

    /// The last hundred lines of a site's log, newest first; none when the account has no such
    /// site.
    pub async fn renewal_log(
        &self,
        account: AccountId,
        site: SiteId,
    ) -> Result<Option<Vec<RenewalEntry>>> {
        let statement = "RETURN {
                exists: record::exists($site),
                docs: (SELECT VALUE doc FROM $log LIMIT 100)
            }";
        let binds = Binds::new()
            .with("site", key::site(account, site))
            .with("log", key::of_site("renewal_log", site));
        let row: LogRow = self.read(statement, binds).await?;
        if !row.exists {
            return Ok(None);
        }
        row::read_all("renewal entry", &row.docs).map(Some)
    }

    /// What the last renewal of a site brought; none before there was one, and for a site that is
    /// not the account's.
    pub async fn renewed_certificate(
        &self,
        account: AccountId,
        site: SiteId,
    ) -> Result<Option<RenewedCertificate>> {
        let statement = "RETURN IF record::exists($site) {
                $certificate.doc
            } ELSE { NONE }";
        let binds = Binds::new()
            .with("site", key::site(account, site))
            .with("certificate", key::renewal_certificate(site));
        let doc: Option<String> = self.read(statement, binds).await?;
        let place = certificate_place(site);
        doc.map(|doc| row::open(CERTIFICATE, &doc, &self.inner.seal, &place)).transpose()
    }

    /// What an account has with the authority of this directory. Each has one of its own: an
    /// authority believes a proof for days, and would believe it of all who share one.
    pub async fn acme_credentials(
        &self,
        account: AccountId,
        directory: &str,
    ) -> Result<Option<Secret<String>>> {
        let binds = Binds::new().with("id", key::acme_account(account, directory));
        let doc: Option<String> = self.read("RETURN $id.doc", binds).await?;
        let place = account_place(account);
        doc.map(|doc| row::open(ACCOUNT, &doc, &self.inner.seal, &place)).transpose()
    }

    /// Of an account that is gone nothing is kept.
    pub async fn keep_acme_credentials(
        &self,
        account: AccountId,
        directory: &str,
        credentials: &Secret<String>,
    ) -> Result<()> {
        let doc = row::seal(ACCOUNT, credentials, &self.inner.seal, &account_place(account))?;
        let binds = Binds::new()
            .with("id", key::acme_account(account, directory))
            .with("account", key::account(account))
            .with("doc", doc);
        let unit = "IF record::exists($account) { UPSERT $id SET doc = $doc RETURN NONE }";
        self.write(unit, binds).await
    }
}

impl JobRow {
    fn into_lease(self) -> RenewalLease {
        RenewalLease {
            account_id: self.account.into(),
            site_id: self.site.into(),
            owner: self.owner,
            epoch: self.epoch,
        }
    }
}

pub(crate) fn certificate_place(site: SiteId) -> Place {
    Place::new("renewal_certificate", &[site.0])
}

pub(crate) fn account_place(account: AccountId) -> Place {
    Place::new("acme_account", &[account.0])
}

const CERTIFICATE: &str = "renewed certificate";
const ACCOUNT: &str = "account with a certificate authority";

/// What [`NOTE`] needs.
fn noted(site: SiteId, entry: &RenewalEntry) -> Result<Binds> {
    Ok(Binds::new()
        .with("entry", key::renewal_log(site, entry))
        .with("doc", row::write("renewal entry", entry)?)
        .with("log", key::of_site("renewal_log", site)))
}

const DUE: &str = "SELECT id, due_at FROM renewal_job
    WHERE due_at <= $now ORDER BY due_at LIMIT $limit";

/// Adds a line to the log, and forgets those beyond the hundredth.
const NOTE: &str = "UPSERT $entry SET doc = $doc RETURN NONE;
    LET $old = (SELECT VALUE id FROM $log LIMIT 100 START 100);
    DELETE $old RETURN NONE";
