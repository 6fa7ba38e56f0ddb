//! Opens a database whose key is lost: what no key opens is discarded, and everything else stays.
//!
//! *Invariant:* what one of the keys opens is kept. The word that tells whose the database is changes
//! last, so that a run that was cut short does it all again.

use std::collections::HashMap;

use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::{AccountId, NotificationSettings, status_page::Slug};

use crate::error::{Error, Result};
use crate::seal::{Seal, key_id};
use crate::tx::Binds;
use crate::used::Mark;
use crate::{Options, Store, key};

/// What was discarded because no key opens it.
#[derive(Debug, Default)]
pub struct Discarded {
    /// Accounts whose notification settings are now the defaults, except the status page's address.
    pub settings: Vec<AccountId>,
    /// The domains of sites that have no `dns_provider_config` and `deploy_config` any more.
    pub sites: Vec<(AccountId, String)>,
    /// Renewed certificates, with their private keys.
    pub certificates: usize,
    /// Accounts with certificate authorities: the next renewal makes another.
    pub acme_accounts: usize,
    /// Mails to somebody that were on their way, such as invitations, or are over.
    pub letters: usize,
    pages: Pages,
}

/// What becomes of a secret that none of the keys opens.
pub(crate) enum Lost<'a> {
    /// It stays, and is an error.
    Refused,
    Discarded(&'a mut Discarded),
}

/// What becomes of a secret.
pub(crate) enum Fate<'a, T> {
    Kept(T),
    /// It is noted here.
    Discarded(&'a mut Discarded),
    /// It is damaged, and stays so.
    PassedOver(Error),
}

/// The addresses of status pages, which stand outside of what is sealed too.
#[derive(Debug, Default)]
struct Pages {
    slugs: HashMap<AccountId, Slug>,
    domains: HashMap<AccountId, String>,
}

#[derive(SurrealValue)]
struct PagesRow {
    slugs: Vec<SlugRow>,
    claims: Vec<RecordId>,
}

#[derive(SurrealValue)]
struct SlugRow {
    id: RecordId,
    account: RecordId,
}

impl Store {
    /// Like [`Store::open`] for a database whose key is lost: it belongs to the first of the keys from
    /// then on. What one of them opens is kept. No other node may have it open.
    pub async fn open_discarding(url: &str, options: Options) -> Result<(Self, Discarded)> {
        let store = Self::reach(url, options).await?;
        let settled = store.settle_discarding(&Mark::of(url)).await;
        store.unless_refused(settled).await
    }

    async fn settle_discarding(&self, mark: &Mark) -> Result<Discarded> {
        if self.reached().await?.is_none() {
            let empty = || Error::Address("it holds no database, so no secret is lost".to_owned());
            return Err(if mark.is_there() { mark.lost() } else { empty() });
        }
        self.migrate().await?;
        // Made where there is none yet. What it tells is not asked: a row that another node wrote may be
        // of another key than the word.
        self.seal_row().await?;
        let pages = self.pages().await?;
        let mut discarded = Discarded { pages, ..Discarded::default() };
        self.seal_anew(&mut Lost::Discarded(&mut discarded)).await?;
        mark.make();
        Ok(discarded)
    }

    async fn pages(&self) -> Result<Pages> {
        let row: PagesRow = self
            .read(
                "RETURN {
                    slugs: (SELECT id, account FROM status_page_slug),
                    claims: (SELECT VALUE id FROM status_page_claim)
                }",
                Binds::new(),
            )
            .await?;
        let mut pages = Pages::default();
        for SlugRow { id, account } in row.slugs {
            let slug = Slug::try_from(key::text_at(&id, 0)?);
            let slug = slug.map_err(|cause| Error::corrupt("status page", cause))?;
            pages.slugs.insert(AccountId(key::uuid_at(&account, 0)?), slug);
        }
        for claim in row.claims {
            pages.domains.insert(AccountId(key::uuid_at(&claim, 1)?), key::text_at(&claim, 0)?);
        }
        Ok(pages)
    }
}

impl Discarded {
    /// What stands in the place of an account's settings.
    pub(crate) fn settings_of(&mut self, account: AccountId) -> NotificationSettings {
        self.settings.push(account);
        NotificationSettings {
            status_page_slug: self.pages.slugs.remove(&account),
            status_page_custom_domain: self.pages.domains.remove(&account),
            ..NotificationSettings::default()
        }
    }
}

impl Lost<'_> {
    /// What becomes of what is `sealed`, by what came of opening it; `WrongKey` where it has to stay,
    /// and its key is not here.
    pub(crate) fn judge<T>(
        &mut self,
        seal: &Seal,
        sealed: &str,
        opened: Result<T>,
    ) -> Result<Fate<'_, T>> {
        let cause = match opened {
            Ok(plain) => return Ok(Fate::Kept(plain)),
            Err(cause) => cause,
        };
        match self {
            Self::Discarded(discarded) => Ok(Fate::Discarded(discarded)),
            Self::Refused if seal.has_key_of(sealed) => Ok(Fate::PassedOver(cause)),
            Self::Refused => Err(Error::WrongKey(key_id(sealed).to_owned())),
        }
    }
}
