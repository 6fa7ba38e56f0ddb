//! Alerts, and the one rule that raises, updates and resolves them: [`reconcile`].
//!
//! Finding (reported by a run) → counted until confirmed → [`Alert`] (open) → resolved by itself,
//! when its event is of that kind and the finding is gone, or by its owner.
//!
//! *Invariant:* one open alert per site, alert type and key; a repeat changes its words, severity and
//! event at most.

mod reconcile;
mod reported;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::reconcile::{CERT_CHANGE, Context, Decision, reconcile, tracking_key};
use crate::{AccountId, AlertId, CheckType, Invalid, SiteId, Timestamp};

/// How bad it is; ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    Warning,
    Critical,
}

/// A stored alert. One is open per (site, alert type, key) at most: events of one alert type that
/// report equal keys are one trouble, which changes its form (a slow site that goes down).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    pub id: AlertId,
    pub account_id: AccountId,
    pub site_id: SiteId,
    /// What the site was called when the alert was raised: what a notification names.
    pub domain: String,
    /// The check that raised it.
    pub check_type: CheckType,
    /// E.g. `ssl.expiring`.
    pub event: String,
    /// The documented `type`: `ssl`, `dns`, `domain`, `ct`, `cert_change`, …
    #[serde(rename = "type")]
    pub alert_type: String,
    /// The finding's `dedup_key`, unique within the alert type; see [`tracking_key`].
    pub key: String,
    pub severity: Severity,
    pub message: String,
    pub suggestion: Option<String>,
    pub details: Option<Value>,
    pub self_resolving: bool,
    pub is_resolved: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub resolved_at: Option<Timestamp>,
}

/// An alert as it is shown: the documented fields (spec: Alert), and with them the domain, the
/// event and the times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlertView<'a> {
    pub id: AlertId,
    #[serde(rename = "type")]
    pub alert_type: &'a str,
    pub event: &'a str,
    pub severity: Severity,
    pub message: &'a str,
    pub suggestion: Option<&'a str>,
    pub is_resolved: bool,
    pub site_id: SiteId,
    pub domain: &'a str,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub resolved_at: Option<Timestamp>,
}

/// What happened to an alert that is worth telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeStatus {
    /// Raised, reported worse than before, or (silenced so far) told late.
    Raised,
    Resolved,
}

/// One entry of a notification's `alerts[]`. Message and severity are the alert's, also when it
/// is resolved: the words of a resolution are the channel's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    pub alert_id: AlertId,
    pub site_id: SiteId,
    /// E.g. `ssl.expiring`: the payload's `type`.
    pub event: String,
    pub alert_type: String,
    pub severity: Severity,
    pub domain: String,
    pub message: String,
    pub suggestion: Option<String>,
    pub status: NoticeStatus,
    /// When the alert was raised.
    pub created_at: Timestamp,
    /// Alerts whose end nothing else tells, since this was raised in the same run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<AlertId>,
}

/// What `GET /alerts` asks for. `resolved`: none = both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlertFilter {
    pub alert_type: Option<String>,
    pub severity: Option<Severity>,
    pub resolved: Option<bool>,
    pub limit: u32,
    pub offset: u32,
}

impl Alert {
    /// What callers, followers and assistants are shown of it.
    pub fn view(&self) -> AlertView<'_> {
        AlertView {
            id: self.id,
            alert_type: &self.alert_type,
            event: &self.event,
            severity: self.severity,
            message: &self.message,
            suggestion: self.suggestion.as_deref(),
            is_resolved: self.is_resolved,
            site_id: self.site_id,
            domain: &self.domain,
            created_at: self.created_at,
            updated_at: self.updated_at,
            resolved_at: self.resolved_at,
        }
    }

    /// Resolves or reopens it, by hand or by rule. Saying what already holds changes nothing.
    pub fn set_resolved(&mut self, resolved: bool, now: Timestamp) {
        if self.is_resolved == resolved {
            return;
        }
        self.is_resolved = resolved;
        self.resolved_at = resolved.then_some(now);
        self.updated_at = now;
    }

    /// The entry that tells of it.
    pub fn notice(&self, status: NoticeStatus) -> Notice {
        Notice {
            alert_id: self.id,
            site_id: self.site_id,
            event: self.event.clone(),
            alert_type: self.alert_type.clone(),
            severity: self.severity,
            domain: self.domain.clone(),
            message: self.message.clone(),
            suggestion: self.suggestion.clone(),
            status,
            created_at: self.created_at,
            ends: Vec::new(),
        }
    }
}

impl Severity {
    /// As they are written, in their order.
    pub const WORDS: [&'static str; 3] = ["info", "warning", "critical"];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

impl std::str::FromStr for Severity {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "info" => Ok(Self::Info),
            "warning" => Ok(Self::Warning),
            "critical" => Ok(Self::Critical),
            _ => Err(Invalid::new("severity", "must be one of info, warning, critical")),
        }
    }
}

/// The query parameter `resolved`: absent = open alerts only, `all` = both (spec: Alerts).
pub fn resolved_filter(text: Option<&str>) -> Result<Option<bool>, Invalid> {
    match text {
        None | Some("false") => Ok(Some(false)),
        Some("true") => Ok(Some(true)),
        Some("all") => Ok(None),
        Some(_) => Err(Invalid::new("resolved", "must be true, false or all")),
    }
}

#[cfg(test)]
mod tests;
