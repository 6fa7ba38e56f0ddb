//! The plugin's own world: jobs, evidence and notifications in, what it says of itself out.

use vedette_model::{
    Evidence, Health, Severity,
    alert::{Notice, NoticeStatus},
    assessment::EventType,
};

use crate::{
    bindings::{
        check::{exports::vedette::plugin::checker, vedette::plugin::types as plugin},
        notifier::exports::vedette::plugin::notifier,
    },
    channel::{Notification, Receipt},
    check::Job,
};

impl From<plugin::Severity> for Severity {
    fn from(severity: plugin::Severity) -> Self {
        match severity {
            plugin::Severity::Info => Self::Info,
            plugin::Severity::Warning => Self::Warning,
            plugin::Severity::Critical => Self::Critical,
        }
    }
}

impl From<Severity> for plugin::Severity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Info,
            Severity::Warning => Self::Warning,
            Severity::Critical => Self::Critical,
        }
    }
}

impl From<plugin::EventType> for EventType {
    fn from(event: plugin::EventType) -> Self {
        Self {
            name: event.name,
            alert_type: event.alert_type,
            severity: event.severity.into(),
            title: event.title,
            self_resolving: event.self_resolving,
            confirmations: event.confirmations.into(),
            clears: event.clears.into(),
        }
    }
}

impl From<checker::Health> for Health {
    fn from(health: checker::Health) -> Self {
        match health {
            checker::Health::Ok => Self::Ok,
            checker::Health::Degraded => Self::Degraded,
            checker::Health::Down => Self::Down,
            checker::Health::Unknown => Self::Unknown,
        }
    }
}

impl checker::Job {
    /// `settings`: the operator's, as JSON.
    pub(crate) fn of(job: Job, settings: &str) -> Self {
        Self {
            run_id: job.run_id,
            target: job.target.to_string(),
            port: job.port,
            connect_to: job.connect_to.map(|address| address.to_string()),
            config: job.config.to_string(),
            settings: settings.to_owned(),
            omit: job.omit,
        }
    }
}

impl From<Evidence> for checker::Evidence {
    fn from(evidence: Evidence) -> Self {
        let settled =
            evidence.settled.map(|(result, at)| (result.to_string(), at.timestamp_millis()));
        let siblings = evidence.siblings.into_iter();
        Self {
            current: evidence.current.to_string(),
            current_at: evidence.current_at.timestamp_millis(),
            settled,
            siblings: siblings.map(|(check, result)| (check, result.to_string())).collect(),
            config: evidence.config.to_string(),
            alert_days: evidence.alert_days,
            memory: evidence.memory,
        }
    }
}

impl From<Notification> for notifier::Notification {
    fn from(notification: Notification) -> Self {
        Self {
            id: notification.id.to_string(),
            source: notification.source,
            timestamp: notification.timestamp.timestamp_millis(),
            test: notification.test,
            alerts: notification.alerts.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Notice> for notifier::Alert {
    fn from(notice: Notice) -> Self {
        Self {
            id: notice.alert_id.to_string(),
            // The notice of a test is about no site.
            site_id: (!notice.site_id.0.is_nil()).then(|| notice.site_id.to_string()),
            event: notice.event,
            alert_type: notice.alert_type,
            severity: notice.severity.into(),
            domain: notice.domain,
            message: notice.message,
            suggestion: notice.suggestion,
            resolved: notice.status == NoticeStatus::Resolved,
            created_at: notice.created_at.timestamp_millis(),
            url: None,
        }
    }
}

impl From<Receipt> for notifier::Receipt {
    fn from(receipt: Receipt) -> Self {
        Self {
            status: receipt.status,
            headers: receipt.headers,
            body: receipt.body,
            error: receipt.error,
        }
    }
}
