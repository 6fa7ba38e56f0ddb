//! Maintenance windows. The windows of a site go with the site; what an agent looks at stands where a
//! site stands, here too.

use vedette_model::{AccountId, MaintenanceWindow, MaintenanceWindowId, SiteId, Timestamp};

use crate::error::{Result, gone_is_none};
use crate::tx::Binds;
use crate::{Store, key, row};

impl Store {
    /// All windows of an account, past ones too, the earliest first. One range of ids, and no
    /// more rows than the limit that they were made under: what
    /// [`vedette_model::maintenance::silences`] is asked with.
    pub async fn maintenance_windows(&self, account: AccountId) -> Result<Vec<MaintenanceWindow>> {
        let docs: Vec<String> = self
            .read(
                "SELECT VALUE doc FROM $windows",
                Binds::new().with("windows", key::maintenance_windows(account)),
            )
            .await?;
        let mut windows: Vec<MaintenanceWindow> = row::read_all("maintenance window", &docs)?;
        windows.sort_by_key(|window| (window.starts_at, window.ends_at, window.id));
        Ok(windows)
    }

    /// The windows of an account that are about a site, past ones too, in no order.
    pub async fn maintenance_windows_of(
        &self,
        account: AccountId,
        site: SiteId,
    ) -> Result<Vec<MaintenanceWindow>> {
        let binds =
            Binds::new().with("windows", key::maintenance_windows(account)).with("site", site.0);
        let docs: Vec<String> = self
            .read("SELECT VALUE doc FROM $windows WHERE site = NONE OR site = $site", binds)
            .await?;
        row::read_all("maintenance window", &docs)
    }

    /// Adds a window while the account has fewer than `limit`, else `WindowLimit`; `Gone` when
    /// the account has no such site.
    pub async fn create_maintenance_window(
        &self,
        window: &MaintenanceWindow,
        limit: u32,
    ) -> Result<()> {
        let account = window.account_id;
        let _turn = self.turn(account.0).await;
        // Account and site are read for update: in conflict with their deletion.
        let unit = "IF (SELECT VALUE id FROM ONLY $account FOR UPDATE) = NONE { THROW 'gone' };
            IF $site != NONE {
                LET $site_read = (SELECT VALUE id FROM ONLY $site FOR UPDATE);
                LET $target_read = (SELECT VALUE id FROM ONLY $target FOR UPDATE);
                IF $site_read = NONE AND $target_read = NONE { THROW 'gone' }
            };
            UPSERT $maintenance SET made += 1 RETURN NONE;
            LET $have = (SELECT count() FROM $windows GROUP ALL)[0].count ?? 0;
            IF $have >= $limit { THROW 'window_limit' };
            CREATE $window SET site = $site_id, doc = $doc RETURN NONE";
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("site", window.site_id.map(|site| key::site(account, site)))
            .with("target", window.site_id.map(|site| key::agent_target(account, site)))
            .with("site_id", window.site_id.map(|site| site.0))
            .with("maintenance", key::maintenance(account))
            .with("windows", key::maintenance_windows(account))
            .with("limit", limit)
            .with("window", key::maintenance_window(account, window.id))
            .with("doc", row::write("maintenance window", window)?);
        self.write(unit, binds).await
    }

    /// Removes a window; what it silences is due from `now` on, to be judged again. False when the
    /// account has no such window.
    pub async fn delete_maintenance_window(
        &self,
        account: AccountId,
        window: MaintenanceWindowId,
        now: Timestamp,
    ) -> Result<bool> {
        // Counted like the making of one: a lane that was read before is read again.
        let unit = format!(
            "IF !record::exists($window) {{ THROW 'gone' }};
            DELETE $window RETURN NONE;
            UPSERT $maintenance SET made += 1 RETURN NONE;
            {RELEASE}"
        );
        let held = Binds::new().with("account", account.0).with("now", now);
        let binds = held
            .clone()
            .with("window", key::maintenance_window(account, window))
            .with("maintenance", key::maintenance(account));
        let is_deleted = gone_is_none(self.write(&unit, binds).await)?.is_some();
        if is_deleted {
            // A node that gathered a lane at the same moment may have committed before, unseen;
            // from here on every node reads it again. The window is gone, whatever becomes of this.
            if let Err(cause) = self.write(RELEASE, held).await {
                tracing::warn!(%cause, "what a deleted window silenced may wait for its end: {cause}");
            }
        }
        Ok(is_deleted)
    }
}

const RELEASE: &str = "LET $held = (SELECT VALUE id FROM delivery
        WHERE account = $account AND waits = true AND finished = false AND due_at > $now);
    UPDATE $held SET due_at = $now RETURN NONE";
