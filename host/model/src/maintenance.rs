//! Maintenance windows: times in which alerts are expected and silenced.
//!
//! *Invariant:* a window is half open: `starts_at` belongs to it, `ends_at` does not, and it is
//! never empty (decisions: maintenance).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parse::{self, Body};
use crate::{AccountId, Invalid, MaintenanceWindowId, SiteId, Timestamp};

/// A stored window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaintenanceWindow {
    pub id: MaintenanceWindowId,
    pub account_id: AccountId,
    /// None = all sites of the account.
    pub site_id: Option<SiteId>,
    pub starts_at: Timestamp,
    /// After `starts_at`.
    pub ends_at: Timestamp,
    pub description: Option<String>,
    pub created_at: Timestamp,
}

/// A window as the API shows it (spec: Maintenance window).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaintenanceWindowView<'a> {
    pub id: MaintenanceWindowId,
    pub site_id: Option<SiteId>,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub description: Option<&'a str>,
    pub created_at: Timestamp,
}

/// The body of `POST /maintenance-windows`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMaintenanceWindow {
    site_id: Option<SiteId>,
    starts_at: Timestamp,
    ends_at: Timestamp,
    description: Option<String>,
}

/// Whether alerts of a site are silenced at a moment.
pub fn silences(windows: &[MaintenanceWindow], site: SiteId, now: Timestamp) -> bool {
    windows.iter().any(|window| window.covers(site) && window.active(now))
}

/// Until when alerts of a site are silenced, following windows that overlap or touch; none when
/// they are not silenced at all.
pub fn silenced_until(
    windows: &[MaintenanceWindow],
    site: SiteId,
    now: Timestamp,
) -> Option<Timestamp> {
    let is_ahead = |window: &&MaintenanceWindow| window.covers(site) && now < window.ends_at;
    let mut ahead: Vec<_> = windows.iter().filter(is_ahead).collect();
    ahead.sort_unstable_by_key(|window| window.starts_at);
    let mut until = now;
    for window in ahead {
        if until < window.starts_at {
            break;
        }
        until = until.max(window.ends_at);
    }
    (until > now).then_some(until)
}

impl MaintenanceWindow {
    pub fn active(&self, now: Timestamp) -> bool {
        (self.starts_at..self.ends_at).contains(&now)
    }

    /// Whether it is about a site of its account.
    pub fn covers(&self, site: SiteId) -> bool {
        self.site_id.is_none_or(|only| only == site)
    }

    pub fn view(&self) -> MaintenanceWindowView<'_> {
        MaintenanceWindowView {
            id: self.id,
            site_id: self.site_id,
            starts_at: self.starts_at,
            ends_at: self.ends_at,
            description: self.description.as_deref(),
            created_at: self.created_at,
        }
    }
}

impl NewMaintenanceWindow {
    /// A window may lie in the past: it documents what was.
    pub fn parse(body: &Value) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        let mut site_id = None;
        body.patch("site_id", |field, value| {
            parse::uuid(field, parse::text(field, value)?).map(SiteId)
        })?
        .apply_option(&mut site_id);
        let starts_at = body.required("starts_at", moment)?;
        let ends_at = body.required("ends_at", moment)?;
        if ends_at <= starts_at {
            return Err(Invalid::new("ends_at", "must be after starts_at"));
        }
        let mut description = None;
        body.patch("description", |field, value| {
            parse::text_within(field, value, LONGEST_DESCRIPTION).map(str::to_owned)
        })?
        .apply_option(&mut description);
        Ok(Self { site_id, starts_at, ends_at, description })
    }

    pub fn into_window(
        self,
        id: MaintenanceWindowId,
        account_id: AccountId,
        now: Timestamp,
    ) -> MaintenanceWindow {
        MaintenanceWindow {
            id,
            account_id,
            site_id: self.site_id,
            starts_at: self.starts_at,
            ends_at: self.ends_at,
            description: self.description,
            created_at: now,
        }
    }
}

fn moment(field: &'static str, value: &Value) -> Result<Timestamp, Invalid> {
    parse::timestamp(field, parse::text(field, value)?)
}

const LONGEST_DESCRIPTION: usize = 500;

#[cfg(test)]
mod tests;
