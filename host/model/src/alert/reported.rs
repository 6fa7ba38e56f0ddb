//! The findings of a run, each with the event that it is of and what the two ask for.

use super::Severity;
use crate::assessment::{EventType, Finding};

/// A finding and the event that it is of.
pub(super) struct Reported<'a> {
    pub(super) event: &'a EventType,
    pub(super) finding: Finding,
}

/// The findings of listed events in the plugin's order, one for each identity: of doubles the
/// worst. The host refuses unlisted events before; here they are nothing.
pub(super) fn reported(events: &[EventType], findings: Vec<Finding>) -> Vec<Reported<'_>> {
    let mut reported: Vec<Reported<'_>> = Vec::with_capacity(findings.len());
    for finding in findings {
        let Some(event) = events.iter().find(|event| event.name == finding.event) else {
            continue;
        };
        let double = reported.iter_mut().find(|known| {
            known.event.alert_type == event.alert_type
                && known.finding.dedup_key == finding.dedup_key
        });
        match double {
            None => reported.push(Reported { event, finding }),
            Some(known) if severity(event, &finding) > severity(known.event, &known.finding) => {
                *known = Reported { event, finding };
            }
            Some(_) => {}
        }
    }
    reported
}

pub(super) fn severity(event: &EventType, finding: &Finding) -> Severity {
    finding.severity.unwrap_or(event.severity)
}

/// Equal findings in a row before an alert; never fewer than one.
pub(super) fn needed(event: &EventType, finding: &Finding) -> u32 {
    finding.confirmations.unwrap_or(event.confirmations).max(1)
}
