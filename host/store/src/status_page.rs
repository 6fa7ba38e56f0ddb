//! What the public status page is made from: whose it is, and two reads that are about all sites of
//! an account at once.
//!
//! *Invariant:* a page costs the same number of round trips however many sites there are, and a
//! few rows of each: latest records and what their checks remember, never the history.

use std::collections::HashMap;

use serde::Deserialize;
use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::{
    Account, AccountId, CheckType, Incident, IncidentStatus, MaintenanceWindow,
    NotificationSettings, Site, SiteId,
    status_page::{Latest, Slug, Standing, Tally, Watched, view::MOST_INCIDENTS},
};

use crate::account::AccountRow;
use crate::error::{Error, Result};
use crate::incident::{CountRow, DocRow, ORDER, PAGE, total};
use crate::tx::Binds;
use crate::{Store, key, row};

/// Whose page it is, and what its parts are.
#[derive(Clone, Debug)]
pub struct PageOwner {
    pub account: Account,
    pub settings: NotificationSettings,
    /// Oldest first, without their secrets.
    pub sites: Vec<Site>,
    pub windows: Vec<MaintenanceWindow>,
    /// How many incidents there are, by status.
    counts: Vec<(IncidentStatus, u64)>,
}

#[derive(SurrealValue)]
struct OwnerRow {
    account: Option<AccountRow>,
    settings: Option<String>,
    sites: Vec<String>,
    windows: Vec<String>,
    counts: Vec<CountRow>,
}

#[derive(SurrealValue)]
struct FactsRow {
    latest: Vec<TextRow>,
    memories: Vec<TextRow>,
    incidents: Vec<DocRow>,
}

/// Of one check of one site.
#[derive(SurrealValue)]
struct TextRow {
    id: RecordId,
    doc: String,
}

/// As far as the page reads what a check remembers.
#[derive(Deserialize)]
struct Remembered {
    state: Standing,
    #[serde(default)]
    tally: Tally,
}

impl Store {
    /// Whose page has this name.
    pub async fn status_page_account(&self, slug: &Slug) -> Result<Option<AccountId>> {
        let owner: Option<RecordId> = self
            .read("RETURN $slug.account", Binds::new().with("slug", key::status_page_slug(slug)))
            .await?;
        owner.map(|owner| key::uuid_at(&owner, 0).map(AccountId)).transpose()
    }

    /// An account as its page needs it; none when there is no such account.
    pub async fn status_page_owner(&self, account: AccountId) -> Result<Option<PageOwner>> {
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("settings", key::settings(account))
            .with("sites", key::sites(account))
            .with("windows", key::maintenance_windows(account))
            .with("counts", key::of_account("incident_count", account));
        let row: OwnerRow = self.read(OWNER, binds).await?;
        let Some(owner) = row.account else { return Ok(None) };
        let mut sites: Vec<Site> = row::read_all("site", &row.sites)?;
        sites.sort_by_key(|site| (site.created_at, site.id));
        let counts = STATUSES.map(|status| (status, total(&row.counts, Some(status))));
        Ok(Some(PageOwner {
            account: owner.into_account()?,
            settings: self.open_settings(account, row.settings.as_deref())?,
            sites,
            windows: row::read_all("maintenance window", &row.windows)?,
            counts: counts.into(),
        }))
    }

    /// What is known of some of the owner's sites, in their order, and the newest incidents of
    /// each status, with the newest critical ones: one may be there twice.
    pub async fn status_page_facts(
        &self,
        owner: &PageOwner,
        sites: &[&Site],
    ) -> Result<(Vec<Watched>, Vec<Incident>)> {
        let (states, memories) = rows_of(sites)?;
        let mut binds = Binds::new()
            .with("account", owner.account.id.0)
            .with("start", 0_i64)
            .with("states", states)
            .with("memories", memories);
        let mut incidents = Vec::new();
        for (nth, (status, count)) in owner.counts.iter().enumerate() {
            let limit = (MOST_INCIDENTS as u64).min(*count);
            if limit == 0 {
                continue;
            }
            binds.bind(format!("status{nth}"), status.as_str());
            binds.bind(format!("limit{nth}"), limit);
            let mut pages = vec![format!("({PAGE}{ORDER})")];
            if *count > limit {
                pages.push(format!("({PAGE}{CRITICAL}{ORDER})"));
            }
            incidents.extend(pages.iter().map(|page| {
                let page = page.replace("$status", &format!("$status{nth}"));
                page.replace("$limit", &format!("$limit{nth}"))
            }));
        }
        let statement = format!(
            "RETURN {{ latest: ({LATEST}), memories: ({MEMORIES}), incidents: array::flatten([{}]) }}",
            incidents.join(",")
        );
        let row: FactsRow = self.read(&statement, binds).await?;
        let docs: Vec<String> = row.incidents.into_iter().map(|row| row.doc).collect();
        Ok((watched(sites, &row.latest, &row.memories)?, row::read_all("incident", &docs)?))
    }
}

/// As the document has it: within its texts the marks are escaped.
const CRITICAL: &str = r#" AND string::contains(doc, '"severity":"critical"')"#;

/// The rows of all checks that are shown, of all these sites.
fn rows_of(sites: &[&Site]) -> Result<(Vec<RecordId>, Vec<RecordId>)> {
    let (mut states, mut memories) = (Vec::new(), Vec::new());
    for name in SHOWN {
        let check_type = check_type(name)?;
        states.extend(sites.iter().map(|site| key::check_state(site.id, &check_type)));
        memories.extend(sites.iter().map(|site| key::check_memory(site.id, &check_type)));
    }
    Ok((states, memories))
}

fn check_type(name: &str) -> Result<CheckType> {
    name.parse().map_err(|error| Error::corrupt("check type", error))
}

/// The sites, each with its records beside what their checks remember; there is no record without.
fn watched(sites: &[&Site], latest: &[TextRow], memories: &[TextRow]) -> Result<Vec<Watched>> {
    let mut standings = HashMap::new();
    let mut tallies = HashMap::new();
    for row in memories {
        let remembered: Remembered = row::read("check state", &row.doc)?;
        let site = SiteId(key::uuid_at(&row.id, 0)?);
        standings.insert((site, key::text_at(&row.id, 1)?), remembered.state);
        if !remembered.tally.is_empty() {
            tallies.insert(site, remembered.tally);
        }
    }
    let mut records: HashMap<SiteId, Vec<Latest>> = HashMap::new();
    for row in latest {
        let latest: Latest = row::read("check", &row.doc)?;
        let site = SiteId(key::uuid_at(&row.id, 0)?);
        let standing = standings.get(&(site, latest.check_type.to_string())).copied();
        records.entry(site).or_default().push(latest.confirmed(standing.unwrap_or_default()));
    }
    let watched = sites.iter().map(|site| Watched {
        site: site.id,
        domain: site.domain.clone(),
        latest: records.remove(&site.id).unwrap_or_default(),
        tally: tallies.remove(&site.id).unwrap_or_default(),
    });
    Ok(watched.collect())
}

const OWNER: &str = "RETURN {
    account: $account.*,
    settings: $settings.doc,
    sites: (SELECT VALUE doc FROM $sites),
    windows: (SELECT VALUE doc FROM $windows),
    counts: (SELECT * FROM $counts)
}";

const LATEST: &str = "SELECT id, latest AS doc FROM $states WHERE latest != NONE";
const MEMORIES: &str = "SELECT id, doc FROM $memories WHERE doc != NONE";

/// The checks that a site's state is told from.
const SHOWN: [&str; 3] = ["uptime", "ssl", "dns"];
const STATUSES: [IncidentStatus; 4] = [
    IncidentStatus::Investigating,
    IncidentStatus::Identified,
    IncidentStatus::Monitoring,
    IncidentStatus::Resolved,
];
