//! The page as data: what HTML, JSON and RSS tell. Its serialised form is the JSON answer.

use std::cmp::Reverse;

use serde::{Serialize, Serializer};

use super::latest::Latest;
use super::response;
use super::tally::Tally;
use super::text::{clean, is_blank};
use super::uptime::{self, History, Share};
use super::verdict::{SiteState, Verdict};
use crate::incident::IncidentSeverity;
use crate::{
    DomainName, Incident, IncidentId, IncidentStatus, IncidentUpdateId, MaintenanceWindow, SiteId,
    Timestamp,
};

/// All that a page is made from.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Of the monitored sites, in the order of their making.
    pub sites: Vec<Watched>,
    /// Those that are open, and those that were resolved lately; one may be there twice.
    pub incidents: Vec<Incident>,
    pub windows: Vec<MaintenanceWindow>,
}

/// A site and what was counted of it.
#[derive(Clone, Debug)]
pub struct Watched {
    pub site: SiteId,
    pub domain: DomainName,
    /// Fresh records only.
    pub latest: Vec<Latest>,
    pub tally: Tally,
}

/// The public status page as data: what HTML, JSON and RSS are written from.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    pub title: String,
    pub url: String,
    pub updated_at: Timestamp,
    pub status: Verdict,
    /// Those in trouble first, else in the order of their making.
    pub sites: Vec<PageSite>,
    /// Not resolved; the gravest first, and of these the newest.
    pub incidents: Vec<PageIncident>,
    /// Resolved within the last [`PAST_DAYS`] days; newest first.
    pub past_incidents: Vec<PageIncident>,
    /// Under way or planned, the earliest first.
    pub maintenance: Vec<PageWindow>,
}

/// A site on the page.
#[derive(Clone, Debug, Serialize)]
pub struct PageSite {
    pub domain: DomainName,
    pub state: SiteState,
    /// When its uptime was last looked at; none where that says nothing of now.
    pub checked_at: Option<Timestamp>,
    #[serde(rename = "uptime_percent")]
    pub uptime: Option<Share>,
    #[serde(rename = "days", serialize_with = "days")]
    pub history: History,
    /// Means of the last 24 hours, together and each, oldest first.
    pub response_time_ms: Option<u64>,
    pub response_times_ms: Vec<Option<u64>>,
}

/// An incident on the page, with its last updates.
#[derive(Clone, Debug, Serialize)]
pub struct PageIncident {
    pub id: IncidentId,
    pub title: String,
    pub severity: IncidentSeverity,
    pub status: IncidentStatus,
    /// The domains of the sites that it affects, as far as they are on the page.
    pub affected: Vec<DomainName>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub resolved_at: Option<Timestamp>,
    /// Newest first, the latest [`MOST_UPDATES`] of them.
    pub updates: Vec<PageUpdate>,
}

/// One step of an incident on the page.
#[derive(Clone, Debug, Serialize)]
pub struct PageUpdate {
    pub id: IncidentUpdateId,
    pub status: IncidentStatus,
    pub message: String,
    pub created_at: Timestamp,
}

/// A maintenance window on the page.
#[derive(Clone, Debug, Serialize)]
pub struct PageWindow {
    /// None = all of them.
    pub domain: Option<DomainName>,
    pub active: bool,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub description: Option<String>,
}

impl Page {
    /// `title` as the owner wrote it, perhaps with nothing to see; `url` is where the page is.
    pub fn of(title: &str, url: &str, facts: &Facts, now: Timestamp) -> Self {
        let mut sites: Vec<PageSite> =
            facts.sites.iter().map(|site| site.shown(&facts.windows, now)).collect();
        let states: Vec<SiteState> = sites.iter().map(|site| site.state).collect();
        sites.sort_by_key(|site| site.state);
        let (open, past) = incidents(facts, now);
        let severities: Vec<_> = open.iter().map(|incident| incident.severity).collect();
        let first = facts.sites.first().map(|site| site.domain.as_str());
        Self {
            title: visible(title).unwrap_or_else(|| first.unwrap_or("Status").to_owned()),
            url: url.to_owned(),
            updated_at: whole_second(now),
            status: Verdict::of(&states, &severities),
            sites,
            incidents: open,
            past_incidents: past,
            maintenance: windows(facts, now),
        }
    }
}

impl Watched {
    fn shown(&self, windows: &[MaintenanceWindow], now: Timestamp) -> PageSite {
        let resting = crate::maintenance::silences(windows, self.site, now);
        let looked = self.latest.iter().find(|latest| latest.check_type.is_uptime());
        let history = History::of(&self.tally.days, uptime::day(now));
        PageSite {
            domain: self.domain.clone(),
            state: SiteState::of(&self.latest, resting),
            checked_at: looked.map(|latest| whole_second(latest.checked_at)),
            uptime: history.uptime,
            history,
            response_time_ms: response::mean(&self.tally.hours, now),
            response_times_ms: response::times(&self.tally.hours, now),
        }
    }
}

/// The open ones and the past ones.
fn incidents(facts: &Facts, now: Timestamp) -> (Vec<PageIncident>, Vec<PageIncident>) {
    let oldest = now - chrono::TimeDelta::days(PAST_DAYS);
    let mut newest_first: Vec<&Incident> = facts.incidents.iter().collect();
    newest_first.sort_by_key(|incident| Reverse((incident.created_at, incident.id)));
    newest_first.dedup_by_key(|incident| incident.id);
    let (mut open, resolved): (Vec<&Incident>, Vec<&Incident>) =
        newest_first.into_iter().partition(|incident| incident.status != IncidentStatus::Resolved);
    // However many there are, none hides a graver one.
    open.sort_by_key(|incident| Reverse(incident.severity));
    let is_recent =
        |incident: &&Incident| incident.resolved_at.unwrap_or(incident.updated_at) >= oldest;
    let shown = |incident: &Incident| PageIncident::of(incident, &facts.sites);
    let open = open.into_iter().take(MOST_INCIDENTS).map(shown).collect();
    let past = resolved.into_iter().filter(is_recent).take(MOST_INCIDENTS).map(shown).collect();
    (open, past)
}

impl PageIncident {
    fn of(incident: &Incident, sites: &[Watched]) -> Self {
        let affected = incident.affected_sites.as_deref().unwrap_or_default();
        let mut domains: Vec<DomainName> = Vec::new();
        for site in sites.iter().filter(|site| affected.contains(&site.site)) {
            if !domains.contains(&site.domain) {
                domains.push(site.domain.clone());
            }
        }
        let problem = Problem { systems: domains.len() };
        let stream = incident.updates.iter().rev().take(MOST_UPDATES);
        let updates = stream.map(|update| PageUpdate {
            id: update.id,
            status: update.status,
            message: if incident.quotes_alerts(update) {
                problem.message()
            } else {
                cut(&update.message)
            },
            created_at: whole_second(update.created_at),
        });
        Self {
            id: incident.id,
            title: if incident.counts_alerts() { problem.title() } else { clean(&incident.title) },
            severity: incident.severity,
            status: incident.status,
            affected: domains,
            created_at: whole_second(incident.created_at),
            updated_at: whole_second(incident.updated_at),
            resolved_at: incident.resolved_at.map(whole_second),
            updates: updates.collect(),
        }
    }
}

/// What is told in place of alerts, which may be of hosts and sites that are not shown.
struct Problem {
    /// Of those that are shown.
    systems: usize,
}

impl Problem {
    fn title(&self) -> String {
        format!("Problem{}", self.place())
    }

    fn message(&self) -> String {
        format!("We are looking into a problem{}.", self.place())
    }

    fn place(&self) -> String {
        match self.systems {
            0 => String::new(),
            1 => " with 1 system".to_owned(),
            many => format!(" with {many} systems"),
        }
    }
}

/// Windows that are not over, of what is on the page.
fn windows(facts: &Facts, now: Timestamp) -> Vec<PageWindow> {
    let mut ahead: Vec<&MaintenanceWindow> =
        facts.windows.iter().filter(|window| window.ends_at > now).collect();
    ahead.sort_by_key(|window| (window.starts_at, window.ends_at, window.id));
    let shown = ahead.into_iter().filter_map(|window| {
        let domain = match window.site_id {
            None => None,
            Some(id) => Some(facts.sites.iter().find(|site| site.site == id)?.domain.clone()),
        };
        Some(PageWindow {
            domain,
            active: window.active(now),
            starts_at: whole_second(window.starts_at),
            ends_at: whole_second(window.ends_at),
            description: window.description.as_deref().and_then(visible),
        })
    });
    shown.take(MOST_WINDOWS).collect()
}

/// What a page shows of a text; none where nobody would see anything of it.
fn visible(text: &str) -> Option<String> {
    let text = clean(text);
    (!is_blank(&text)).then(|| text.trim().to_owned())
}

/// What a page shows of a message.
fn cut(message: &str) -> String {
    let message = clean(message);
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", message[..end].trim_end()),
        None => message,
    }
}

fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_timestamp(at.timestamp(), 0).unwrap_or(at)
}

/// `{from, to, states}`: a member for every day would be most of the answer.
fn days<S: Serializer>(history: &History, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Days<'a> {
        from: String,
        to: String,
        states: &'a [super::DayState],
    }
    let date = |day: i64| {
        let at = Timestamp::from_timestamp(day.saturating_mul(86_400), 0).unwrap_or_default();
        at.format("%Y-%m-%d").to_string()
    };
    let days =
        Days { from: date(history.first), to: date(history.last()), states: &history.states };
    days.serialize(serializer)
}

pub const PAST_DAYS: i64 = 14;
/// Of the open ones and of the past ones each.
pub const MOST_INCIDENTS: usize = 20;
pub const MOST_UPDATES: usize = 20;
const MOST_WINDOWS: usize = 20;
/// Characters of an update; the rest of a longer one can be read in the API.
const LONGEST_MESSAGE: usize = 2_000;

#[cfg(test)]
mod tests;
