//! Notification settings, one row per account, sealed as a whole.

use surrealdb::types::SurrealValue;
use vedette_model::{AccountId, NotificationSettings};

use crate::error::{Error, Result};
use crate::seal::Place;
use crate::tx::Binds;
use crate::{Store, key, row};

#[derive(SurrealValue)]
struct SettingsRow {
    version: i64,
    doc: String,
}

impl Store {
    /// The defaults where nothing was ever set.
    pub async fn settings(&self, account: AccountId) -> Result<NotificationSettings> {
        Ok(self.versioned_settings(account).await?.0)
    }

    /// Changes the settings and answers them, or what `change` refused with. Two changes at once
    /// are made one after the other, so `change` may be called again on newer settings.
    ///
    /// The name of a status page that they have for the first time becomes the account's, or the
    /// answer is `Duplicate`: it is somebody else's. A custom domain of the page is claimed and
    /// freed with the settings that name it; `DomainTaken` when somebody else has proved that the
    /// new one is theirs.
    pub async fn update_settings<E>(
        &self,
        account: AccountId,
        change: impl Fn(&mut NotificationSettings) -> std::result::Result<(), E>,
    ) -> Result<std::result::Result<NotificationSettings, E>> {
        let _turn = self.turn(account.0).await;
        for _ in 0..ATTEMPTS {
            let (mut settings, version) = self.versioned_settings(account).await?;
            let before = settings.clone();
            if let Err(refused) = change(&mut settings) {
                return Ok(Err(refused));
            }
            match self.write_settings(account, &before, &settings, version).await {
                Err(Error::Stale) => continue,
                Err(error) => return Err(error),
                Ok(()) => return Ok(Ok(settings)),
            }
        }
        Err(Error::Conflict)
    }

    /// The settings, and how often they were changed.
    pub(crate) async fn versioned_settings(
        &self,
        account: AccountId,
    ) -> Result<(NotificationSettings, i64)> {
        let row: Option<SettingsRow> =
            self.read("RETURN $id.*", Binds::new().with("id", key::settings(account))).await?;
        match row {
            Some(row) => Ok((self.open_settings(account, Some(&row.doc))?, row.version)),
            None => Ok((NotificationSettings::default(), 0)),
        }
    }

    async fn write_settings(
        &self,
        account: AccountId,
        before: &NotificationSettings,
        settings: &NotificationSettings,
        version: i64,
    ) -> Result<()> {
        let unnamed = before.status_page_slug.is_none();
        let named = settings.status_page_slug.as_ref().filter(|_| unnamed);
        let was = before.status_page_custom_domain.as_deref();
        let domain = settings.status_page_custom_domain.as_deref();
        let left = was.filter(|was| domain != Some(*was));
        let taken = domain.filter(|domain| was != Some(*domain));
        // The account is read for update: in conflict with its deletion. A claim is made with
        // whatever change finds none: settings from before claims get one too.
        let unit = "IF (SELECT VALUE id FROM ONLY $account FOR UPDATE) = NONE { THROW 'gone' };
            LET $was = $id.version ?? 0;
            IF $was != $version { THROW 'stale' };
            IF $taken != NONE {
                IF ((SELECT VALUE account FROM ONLY $taken FOR UPDATE) ?? $owner) != $owner {
                    THROW 'domain_taken'
                }
            };
            IF $left != NONE {
                DELETE $left_claim RETURN NONE;
                DELETE $left WHERE account = $owner RETURN NONE
            };
            IF $claim != NONE AND !record::exists($claim) {
                LET $last = array::max(SELECT VALUE nth ?? 0 FROM $claims) ?? 0;
                CREATE $claim SET account = $owner, nth = $last + 1 RETURN NONE
            };
            IF $slug != NONE {
                IF record::exists($slug) { THROW 'duplicate' };
                CREATE $slug SET account = $account RETURN NONE
            };
            UPSERT $id SET version = $version + 1, doc = $doc RETURN NONE";
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("id", key::settings(account))
            .with("owner", account.0)
            .with("taken", taken.map(key::status_page_domain))
            .with("left", left.map(key::status_page_domain))
            .with("left_claim", left.map(|left| key::status_page_claim(left, account)))
            .with("claim", domain.map(|domain| key::status_page_claim(domain, account)))
            .with("claims", domain.map(key::status_page_claims))
            .with("version", version)
            .with("slug", named.map(key::status_page_slug))
            .with("doc", self.seal_settings(account, settings)?);
        self.write(unit, binds).await
    }

    pub(crate) fn seal_settings(
        &self,
        account: AccountId,
        settings: &NotificationSettings,
    ) -> Result<String> {
        row::seal("settings", settings, &self.inner.seal, &place(account))
    }

    /// A row that does not exist holds the defaults.
    pub(crate) fn open_settings(
        &self,
        account: AccountId,
        doc: Option<&str>,
    ) -> Result<NotificationSettings> {
        match doc {
            Some(doc) => row::open("settings", doc, &self.inner.seal, &place(account)),
            None => Ok(NotificationSettings::default()),
        }
    }
}

fn place(account: AccountId) -> Place {
    Place::new("settings", &[account.0])
}

const ATTEMPTS: usize = 16;
