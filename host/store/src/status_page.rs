//! What the public status page is made from: whose it is, and two reads that are about all sites of
//! an account at once.
//!
//! *Invariant:* a page costs the same number of round trips however many sites there are, and
//! reads roll-ups and latest records, never the history.

use serde::Deserialize;
use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::{
    Account, AccountId, CheckType, Incident, IncidentStatus, MaintenanceWindow,
    NotificationSettings, Site, SiteId, Timestamp,
    status_page::{
        DayCount, HourCount, Latest, Slug, Standing, Watched,
        uptime::{DAYS, day},
        view::MOST_INCIDENTS,
    },
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
    watched: Vec<WatchedRow>,
    incidents: Vec<DocRow>,
}

/// Rows as lists of numbers: there are ninety days of every site.
#[derive(SurrealValue)]
struct WatchedRow {
    latest: Vec<String>,
    memories: Vec<MemoryRow>,
    days: Vec<Vec<i64>>,
    hours: Vec<Vec<i64>>,
}

#[derive(SurrealValue)]
struct MemoryRow {
    id: RecordId,
    doc: String,
}

/// As far as the page reads what a check remembers.
#[derive(Deserialize)]
struct Remembered {
    state: Standing,
}

impl Store {
    /// Whose page has this name.
    pub async fn status_page_account(&self, slug: &Slug) -> Result<Option<AccountId>> {
        let owner: Option<RecordId> = self
            .read(
                "SELECT VALUE account FROM ONLY $slug",
                Binds::new().with("slug", key::status_page_slug(slug)),
            )
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
    /// each status.
    pub async fn status_page_facts(
        &self,
        owner: &PageOwner,
        sites: &[&Site],
        now: Timestamp,
    ) -> Result<(Vec<Watched>, Vec<Incident>)> {
        let mut binds = Binds::new().with("account", owner.account.id.0).with("start", 0_i64);
        let mut watched = Vec::with_capacity(sites.len());
        for (nth, site) in sites.iter().enumerate() {
            bind_site(&mut binds, nth, site.id, now)?;
            watched.push(WATCHED.replace('#', &nth.to_string()));
        }
        let mut incidents = Vec::new();
        for (nth, (status, count)) in owner.counts.iter().enumerate() {
            let limit = (MOST_INCIDENTS as u64).min(*count);
            if limit == 0 {
                continue;
            }
            binds.bind(format!("status{nth}"), status.as_str());
            binds.bind(format!("limit{nth}"), limit);
            let page = format!("({PAGE}{ORDER})");
            let page = page.replace("$status", &format!("$status{nth}"));
            incidents.push(page.replace("$limit", &format!("$limit{nth}")));
        }
        let statement = format!(
            "RETURN {{ watched: [{}], incidents: array::flatten([{}]) }}",
            watched.join(","),
            incidents.join(",")
        );
        let row: FactsRow = self.read(&statement, binds).await?;
        let watched = sites.iter().zip(row.watched).map(|(site, row)| row.of(site));
        let docs: Vec<String> = row.incidents.into_iter().map(|row| row.doc).collect();
        Ok((watched.collect::<Result<_>>()?, row::read_all("incident", &docs)?))
    }
}

fn bind_site(binds: &mut Binds, nth: usize, site: SiteId, now: Timestamp) -> Result<()> {
    let uptime = check_type(UPTIME)?;
    let mut states = Vec::with_capacity(SHOWN.len());
    let mut memories = Vec::with_capacity(SHOWN.len());
    for name in SHOWN {
        let check_type = check_type(name)?;
        states.push(key::check_state(site, &check_type));
        memories.push(key::check_memory(site, &check_type));
    }
    // Days are negated, so today is the near end.
    let today = day(now);
    let oldest = today - i64::try_from(DAYS).expect("a few days") + 1;
    binds.bind(format!("states{nth}"), states);
    binds.bind(format!("memories{nth}"), memories);
    binds.bind(format!("days{nth}"), key::check_days(site, &uptime, -today, -oldest));
    binds.bind(format!("hours{nth}"), key::of_site("response_hour", site));
    Ok(())
}

fn check_type(name: &str) -> Result<CheckType> {
    name.parse().map_err(|error| Error::corrupt("check type", error))
}

impl WatchedRow {
    fn of(self, site: &Site) -> Result<Watched> {
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let days = self.days.iter().filter_map(|row| match row[..] {
            [day, ok, degraded, down, unknown] => Some(DayCount {
                day: -day,
                ok: count(ok),
                degraded: count(degraded),
                down: count(down),
                unknown: count(unknown),
            }),
            _ => None,
        });
        let hours = self.hours.iter().filter_map(|row| match row[..] {
            [hour, answers, total_ms] => {
                Some(HourCount { hour, answers: count(answers), total_ms: count(total_ms) })
            }
            _ => None,
        });
        let latest: Vec<Latest> = row::read_all("check", &self.latest)?;
        let latest = latest.into_iter().map(|latest| confirmed(latest, &self.memories));
        Ok(Watched {
            site: site.id,
            domain: site.domain.clone(),
            latest: latest.collect::<Result<_>>()?,
            days: days.collect(),
            hours: hours.collect(),
        })
    }
}

/// A record beside what its check remembers; there is no record without.
fn confirmed(latest: Latest, memories: &[MemoryRow]) -> Result<Latest> {
    for memory in memories {
        if key::text_at(&memory.id, 1)? == latest.check_type.as_str() {
            let remembered: Remembered = row::read("check state", &memory.doc)?;
            return Ok(latest.confirmed(remembered.state));
        }
    }
    Ok(latest)
}

const OWNER: &str = "RETURN {
    account: (SELECT * FROM ONLY $account),
    settings: (SELECT VALUE doc FROM ONLY $settings),
    sites: (SELECT VALUE doc FROM $sites),
    windows: (SELECT VALUE doc FROM $windows),
    counts: (SELECT * FROM $counts)
}";

const WATCHED: &str = "{
    latest: (SELECT VALUE latest FROM $states# WHERE latest != NONE),
    memories: (SELECT id, doc FROM $memories# WHERE doc != NONE),
    days: (SELECT VALUE [day, ok, degraded, down, unknown] FROM $days#),
    hours: (SELECT VALUE [hour, answers, total_ms] FROM $hours#)
}";

const UPTIME: &str = "uptime";
/// The checks that a site's state is told from.
const SHOWN: [&str; 3] = [UPTIME, "ssl", "dns"];
const STATUSES: [IncidentStatus; 4] = [
    IncidentStatus::Investigating,
    IncidentStatus::Identified,
    IncidentStatus::Monitoring,
    IncidentStatus::Resolved,
];
