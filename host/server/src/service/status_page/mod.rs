//! The public status page: found by its name, judged, written once, and shown to everybody who
//! asks until it is a few seconds old.
//!
//! *Invariant:* a crowd costs one look at the store every [`FRESH`], even if there is no page: a
//! request that comes while a page is being written waits for it, and what is compressed for one is
//! compressed for all.
//! *Invariant:* a request after a change is never shown a page that was begun before it, even while
//! that is still being written.
//! *Invariant:* while the store cannot be asked, a page is shown as it was last, for an hour at most
//! and only where nothing that this process knows of has changed since.
//! *Invariant:* a page that an account does not have, or has switched off, or whose account never
//! existed, is not found; the three cannot be told apart.

pub(crate) mod domain;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use moka::future::Cache;
use vedette_model::{
    AccountId, Feature, NotificationSettings,
    site::monitored,
    status_page::{Facts, Latest, Page, Slug},
};

use super::{due, random};
use crate::{
    App, Error, Resource, Result,
    status_page::{Look, Rendered},
};

/// What this process remembers of status pages.
pub struct StatusPages {
    /// Whose page a name is; none for names that are nobody's. Each comes with how often names had
    /// changed hands when it was looked up.
    owners: Cache<(Slug, u64), Option<AccountId>>,
    names: AtomicU64,
    /// None if it is switched off. Each comes with how often its account had changed when it was
    /// begun.
    pages: Cache<(AccountId, u64), Option<Arc<Rendered>>>,
    /// What was shown last under a name.
    last: Cache<Slug, Last>,
    /// Accounts may share a count: then a page is rewritten more often than necessary.
    changes: [AtomicU64; COUNTS],
}

/// A page, and what was so when it was begun.
#[derive(Clone)]
struct Last {
    account: AccountId,
    names: u64,
    changes: u64,
    page: Arc<Rendered>,
}

impl Default for StatusPages {
    fn default() -> Self {
        let weight = |_: &(AccountId, u64), page: &Option<Arc<Rendered>>| {
            let bytes = page.as_ref().map_or(NO_PAGE, |page| page.weight());
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        Self {
            owners: Cache::builder().max_capacity(MOST_OWNERS).time_to_live(FRESH).build(),
            names: AtomicU64::new(0),
            pages: Cache::builder()
                .max_capacity(MOST_BYTES)
                .weigher(weight)
                .time_to_live(FRESH)
                .build(),
            last: Cache::builder()
                .max_capacity(MOST_BYTES)
                .weigher(|_, last: &Last| u32::try_from(last.page.weight()).unwrap_or(u32::MAX))
                .time_to_live(LASTS)
                .build(),
            changes: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl StatusPages {
    /// Whose page a name is, as it is remembered, else as it is looked up now.
    async fn owner(
        &self,
        slug: &Slug,
        look: impl Future<Output = Result<Option<AccountId>>>,
    ) -> Result<Option<AccountId>, Arc<Error>> {
        let names = self.names.load(Ordering::Acquire);
        self.owners.try_get_with((slug.clone(), names), look).await
    }

    /// The page as it is remembered, else as it is written now, for all requests in the meantime.
    async fn page(
        &self,
        slug: &Slug,
        account: AccountId,
        write: impl Future<Output = Result<Option<Arc<Rendered>>>>,
    ) -> Result<Option<Arc<Rendered>>, Arc<Error>> {
        let names = self.names.load(Ordering::Acquire);
        let changes = self.changes(account).load(Ordering::Acquire);
        let written = async {
            let page = write.await?;
            if let Some(page) = &page {
                let last = Last { account, names, changes, page: Arc::clone(page) };
                self.last.insert(slug.clone(), last).await;
            }
            Ok(page)
        };
        self.pages.try_get_with((account, changes), written).await
    }

    /// The page as it was shown last, if nothing has changed since.
    async fn last(&self, slug: &Slug) -> Option<Arc<Rendered>> {
        let last = self.last.get(slug).await?;
        let is_unchanged = last.names == self.names.load(Ordering::Acquire)
            && last.changes == self.changes(last.account).load(Ordering::Acquire);
        is_unchanged.then_some(last.page)
    }

    /// There is no such page any more.
    async fn forget_last(&self, slug: &Slug) {
        if self.last.contains_key(slug) {
            self.last.invalidate(slug).await;
        }
    }

    fn forget_names(&self) {
        self.names.fetch_add(1, Ordering::AcqRel);
    }

    fn forget(&self, account: AccountId) {
        self.changes(account).fetch_add(1, Ordering::AcqRel);
    }

    fn changes(&self, account: AccountId) -> &AtomicU64 {
        let bytes = account.0.as_bytes();
        &self.changes[usize::from(u16::from_be_bytes([bytes[14], bytes[15]])) % COUNTS]
    }
}

/// The page of this name, at most [`FRESH`] old; while the store cannot be asked, as it was last.
///
/// # Errors
/// `NotFound` where there is no page, or it is switched off.
pub(crate) async fn by_slug(app: &App, slug: &Slug) -> Result<Arc<Rendered>> {
    match current(app, slug).await {
        Err(Error::Internal(cause)) => {
            let last = app.status_pages.last(slug).await;
            last.inspect(|_| {
                tracing::debug!("the status page {slug} is shown as it was: {cause:#}")
            })
            .ok_or(Error::Internal(cause))
        }
        Err(unknown @ Error::NotFound(_)) => {
            app.status_pages.forget_last(slug).await;
            Err(unknown)
        }
        found => found,
    }
}

async fn current(app: &App, slug: &Slug) -> Result<Arc<Rendered>> {
    let look = async { app.store.status_page_account(slug).await.map_err(Error::from) };
    let account = app.status_pages.owner(slug, look).await.map_err(shared)?.ok_or(UNKNOWN)?;
    let page = app.status_pages.page(slug, account, write(app, account)).await.map_err(shared)?;
    page.ok_or(UNKNOWN)
}

/// The one error goes to all that waited for the page.
fn shared(cause: Arc<Error>) -> Error {
    Error::Internal(anyhow::anyhow!("a status page was not written: {}", chain(&cause)))
}

/// Something that an account's page shows has changed: the next request on this node sees it.
pub(crate) fn forget(app: &App, account: AccountId) {
    app.status_pages.forget(account);
}

/// An account is on another plan, which says what its page may look like and whether it has a domain.
pub(super) async fn moved(app: &App, account: AccountId) {
    forget(app, account);
    domain::moved(app, account).await;
}

/// A page was given its name: the next request for it on this node finds it.
pub(super) fn named(app: &App) {
    app.status_pages.forget_names();
}

/// An account was deleted: its page is gone, its name and its domain are free.
pub(super) async fn closed(app: &App, account: AccountId, settings: &NotificationSettings) {
    forget(app, account);
    if settings.status_page_slug.is_some() {
        app.status_pages.forget_names();
    }
    domain::closed(app, account, settings).await;
}

/// The address of the page; none before it is first enabled.
pub fn url(app: &App, settings: &NotificationSettings) -> Option<String> {
    let slug = settings.status_page_slug.as_ref()?;
    Some(format!("{}{}", app.origin, path(slug)))
}

/// Gives settings whose page is enabled for the first time a name for it: the first attempt is the
/// plain name, and each further one is made because another account has the name before it.
pub(super) fn name(settings: &mut NotificationSettings, first_domain: Option<&str>, attempt: u32) {
    if !settings.status_page_enabled || settings.status_page_slug.is_some() {
        return;
    }
    let plain = Slug::of(&settings.status_page_title, first_domain);
    settings.status_page_slug = Some(match attempt {
        0 => plain,
        1..NUMBERED => plain.with(attempt + 1),
        // A name that so many have is not worth a search for the next free number.
        _ => plain.with(suffix()),
    });
}

/// The page as it is now; none where it is switched off, or the account is gone.
async fn write(app: &App, account: AccountId) -> Result<Option<Arc<Rendered>>> {
    let Some(owner) = app.store.status_page_owner(account).await? else { return Ok(None) };
    let settings = &owner.settings;
    let slug = settings.status_page_slug.as_ref().filter(|_| settings.status_page_enabled);
    let Some(slug) = slug else { return Ok(None) };
    let plan = super::plan::of(&owner.account)?;
    let now = app.clock.now();
    let shown = monitored(&owner.sites, plan).filter(|(_, watched)| *watched);
    let shown: Vec<_> = shown.map(|(site, _)| site).collect();
    let (mut sites, incidents) = app.store.status_page_facts(&owner, &shown).await?;
    for site in &mut sites {
        let interval = |latest: &Latest| due::interval(app, &latest.check_type, plan);
        site.latest.retain(|latest| latest.is_fresh(interval(latest), now));
    }
    let facts = Facts { sites, incidents, windows: owner.windows.clone() };
    let url = url(app, settings).unwrap_or_default();
    let page = Page::of(&settings.status_page_title, &url, &facts, now);
    let look = Look::of(settings, plan.includes(Feature::StatusPageStyle));
    let base = format!("{}{}", below(&app.origin), path(slug));
    Ok(Some(Arc::new(Rendered::of(&page, &look, &base)?)))
}

/// The path that clients reach the service below, where a proxy in front takes it off; most have none.
/// What a page links to begins with it, also on owners' own domains.
pub(crate) fn below(origin: &str) -> &str {
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    host.find('/').map_or("", |at| &host[at..])
}

/// On every host that the service answers on, including owners' own.
fn path(slug: &Slug) -> String {
    format!("/status/{slug}")
}

fn suffix() -> String {
    let mut next = random::bytes();
    (0..6).map(|_| char::from(b'a' + next() % 26)).collect()
}

fn chain(error: &Error) -> String {
    match error {
        Error::Internal(cause) => format!("{cause:#}"),
        other => other.to_string(),
    }
}

const UNKNOWN: Error = Error::NotFound(Resource::StatusPage);
/// With what a browser may keep (`api::status_page`), half a minute altogether.
pub(crate) const FRESH: Duration = Duration::from_secs(10);
/// How long a page is shown while the store cannot be asked.
const LASTS: Duration = Duration::from_secs(60 * 60);
const MOST_OWNERS: u64 = 1 << 16;
const COUNTS: usize = 1024;
const MOST_BYTES: u64 = 64 << 20;
/// Bytes to remember that there is no page.
const NO_PAGE: usize = 256;
/// Names that are told apart by a number.
const NUMBERED: u32 = 16;
/// Attempts at a name before it counts as our own trouble.
pub(super) const ATTEMPTS: u32 = NUMBERED + 4;

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use uuid::Uuid;

    use super::*;
    use crate::document::Document;

    #[test]
    fn links_begin_with_the_path_that_the_service_is_below() {
        for (origin, path) in [
            ("https://vedette.example", ""),
            ("http://127.0.0.1:8080", ""),
            ("https://example.com/vedette", "/vedette"),
            ("https://example.com:8443/a/b", "/a/b"),
        ] {
            assert_eq!(below(origin), path, "{origin}");
        }
    }

    fn page(text: &str) -> Arc<Rendered> {
        let document = || Document::new(text.to_owned());
        Arc::new(Rendered {
            html: document(),
            json: document(),
            rss: document(),
            style: document(),
            custom_css: document(),
            icon: document(),
        })
    }

    #[tokio::test]
    async fn a_page_that_was_begun_before_a_change_is_not_shown_after_it() {
        let (pages, account) = (StatusPages::default(), AccountId(Uuid::from_u128(1)));
        let slug: Slug = "acme".parse().expect("a name");
        let (end, ended) = oneshot::channel();
        let mut before = Box::pin(pages.page(&slug, account, async {
            let _ = ended.await;
            Ok(Some(page("old")))
        }));
        assert!(futures::poll!(&mut before).is_pending());
        pages.forget(account);
        let after =
            pages.page(&slug, account, async { Ok(Some(page("new"))) }).await.expect("written");
        end.send(()).expect("it is being written");
        let before = before.await.expect("written");
        let again = pages
            .page(&slug, account, async { Ok(Some(page("newer"))) })
            .await
            .expect("remembered");
        let texts = [before, after, again].map(|page| page.expect("on").html.plain.clone());
        assert_eq!(texts, ["old", "new", "new"]);
    }

    #[tokio::test]
    async fn what_is_not_there_is_looked_for_once_until_it_is_named_or_changed() {
        let (pages, account) = (StatusPages::default(), AccountId(Uuid::from_u128(1)));
        let slug: Slug = "acme".parse().expect("a name");
        for expected in [None, Some(account)] {
            for found in [expected, Some(account)] {
                let owner = pages.owner(&slug, async { Ok(found) }).await.expect("looked up");
                assert_eq!(owner, expected);
            }
            pages.forget_names();
        }
        for is_on in [false, true] {
            for found in [is_on.then(|| page("on")), Some(page("on"))] {
                let shown = pages.page(&slug, account, async { Ok(found) }).await.expect("written");
                assert_eq!(shown.is_some(), is_on);
            }
            pages.forget(account);
        }
    }

    #[tokio::test]
    async fn a_page_is_shown_as_it_was_last_until_something_changes() {
        let (pages, account) = (StatusPages::default(), AccountId(Uuid::from_u128(1)));
        let slug: Slug = "acme".parse().expect("a name");
        let last = async || pages.last(&slug).await.map(|page| page.html.plain.clone());
        let show = async |text| {
            let shown = pages.page(&slug, account, async { Ok(Some(page(text))) }).await;
            shown.expect("written");
        };
        assert_eq!(last().await, None);
        show("one").await;
        assert_eq!(last().await, Some("one".into()));
        pages.forget(account);
        assert_eq!(last().await, None, "it may be switched off");
        show("two").await;
        assert_eq!(last().await, Some("two".into()));
        pages.forget_names();
        assert_eq!(last().await, None, "it may be another's");
        pages.forget(account);
        show("three").await;
        pages.forget_last(&slug).await;
        assert_eq!(last().await, None, "there is no such page any more");
    }

    fn enabled(title: &str) -> NotificationSettings {
        NotificationSettings {
            status_page_enabled: true,
            status_page_title: title.to_owned(),
            ..NotificationSettings::default()
        }
    }

    #[test]
    fn a_page_is_named_once_and_numbered_where_the_name_is_taken() {
        for (attempt, expected) in [(0, "acme"), (1, "acme-2"), (2, "acme-3"), (15, "acme-16")] {
            let mut settings = enabled("Acme");
            name(&mut settings, None, attempt);
            let slug = settings.status_page_slug.as_ref().map(Slug::as_str);
            assert_eq!(slug, Some(expected));
            settings.status_page_title = "Other".to_owned();
            let before = settings.clone();
            name(&mut settings, Some("shop.example.com"), 0);
            assert_eq!(settings, before);
        }
        let mut settings = enabled("Acme");
        name(&mut settings, None, 16);
        let slug = settings.status_page_slug.expect("a name");
        assert_eq!(slug.as_str().len(), "acme-".len() + 6);
    }

    #[test]
    fn a_page_that_is_off_needs_no_name() {
        let mut settings = NotificationSettings::default();
        name(&mut settings, Some("shop.example.com"), 0);
        assert_eq!(settings.status_page_slug, None);
        settings.status_page_enabled = true;
        name(&mut settings, Some("shop.example.com"), 0);
        assert_eq!(settings.status_page_slug.as_ref().map(Slug::as_str), Some("shop-example-com"));
    }
}
