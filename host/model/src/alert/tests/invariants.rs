//! What holds after any sequence of runs and of hands on alerts.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    /// A run, and what it reports.
    Run(Vec<Finding>),
    Unknown,
    /// The owner resolves the n-th open alert.
    Resolve(prop::sample::Index),
    /// The owner reopens the n-th resolved alert, unless its like is open.
    Reopen(prop::sample::Index),
}

fn any_finding() -> impl Strategy<Value = Finding> {
    let severity = prop::option::of(prop_oneof![
        Just(Severity::Info),
        Just(Severity::Warning),
        Just(Severity::Critical)
    ]);
    let event = prop::sample::select(events());
    (event, 0..2_u8, severity, prop::option::of(0..4_u32), 0..2_u8).prop_map(
        |(event, key, severity, confirmations, words)| Finding {
            severity,
            confirmations,
            message: format!("words {words}"),
            ..finding(&event.name, &format!("key {key}"))
        },
    )
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(any_finding(), 0..4).prop_map(Step::Run),
        1 => Just(Step::Unknown),
        1 => any::<prop::sample::Index>().prop_map(Step::Resolve),
        1 => any::<prop::sample::Index>().prop_map(Step::Reopen),
    ]
}

fn identity(alert: &Alert) -> String {
    tracking_key(&alert.alert_type, &alert.key)
}

fn identity_of(found: &Finding) -> String {
    let events = events();
    let event = events.iter().find(|event| event.name == found.event).expect("a listed event");
    tracking_key(&event.alert_type, &found.dedup_key)
}

fn nth(alerts: Vec<Alert>, index: prop::sample::Index) -> Option<Alert> {
    (!alerts.is_empty()).then(|| index.get(&alerts).clone())
}

fn assert_one_open_per_identity(past: &Past) {
    let open = past.open();
    let identities: BTreeSet<String> = open.iter().map(identity).collect();
    assert_eq!(identities.len(), open.len(), "two open alerts for one trouble: {open:#?}");
}

/// The reports in a row of each identity, counted here on its own.
fn count(reports: &mut BTreeMap<String, u32>, findings: &[Finding]) {
    let reported: BTreeSet<String> = findings.iter().map(identity_of).collect();
    reports.retain(|identity, _| reported.contains(identity));
    for identity in reported {
        *reports.entry(identity).or_default() += 1;
    }
}

/// The fewest reports in a row with which a finding of this run may have been raised.
fn fewest(findings: &[Finding], identity: &str) -> u32 {
    let needed = |found: &Finding| {
        let events = events();
        let event = events.iter().find(|event| event.name == found.event).expect("a listed event");
        found.confirmations.unwrap_or(event.confirmations).max(1)
    };
    findings
        .iter()
        .filter(|found| identity_of(found) == identity)
        .map(needed)
        .min()
        .expect("only what is reported is raised")
}

fn check_run(
    before: &[Alert],
    findings: &[Finding],
    decision: &Decision,
    counts: &BTreeMap<String, u32>,
) {
    for alert in &decision.raised {
        assert!(counts[&identity(alert)] >= fewest(findings, &identity(alert)), "raised too early");
        assert!(before.iter().all(|open| identity(open) != identity(alert)), "raised twice");
    }
    let reported: BTreeSet<String> = counts.keys().cloned().collect();
    for alert in &decision.resolved {
        assert!(alert.self_resolving && alert.is_resolved && alert.resolved_at.is_some());
        assert!(!reported.contains(&identity(alert)), "resolved while it lasts");
    }
    // Everything told was changed by this very decision, and told at most once.
    let changed: BTreeSet<AlertId> = decision
        .raised
        .iter()
        .chain(&decision.updated)
        .chain(&decision.resolved)
        .map(|alert| alert.id)
        .collect();
    let told: BTreeSet<AlertId> = decision.notices.iter().map(|notice| notice.alert_id).collect();
    assert!(told.is_subset(&changed) && told.len() == decision.notices.len());
    assert!(decision.raised.iter().all(|alert| told.contains(&alert.id)));
    assert_eq!(
        changed.len(),
        decision.raised.len() + decision.updated.len() + decision.resolved.len(),
        "an alert is raised, updated or resolved, not two of them"
    );
    assert_eq!(decision.recheck, decision.unconfirmed_runs > 0);
}

/// The same run once more, when nothing is in doubt: no alert, no word, no change.
fn check_repeat(past: &mut Past, findings: &[Finding]) {
    let again = Assessment {
        health: Health::Degraded,
        findings: findings.to_vec(),
        memory: past.state.memory.clone(),
    };
    let repeat = past.decide(Some(again));
    assert!(repeat.raised.is_empty() && repeat.notices.is_empty() && repeat.updated.is_empty());
    assert!(repeat.resolved.is_empty() && repeat.cert_changes.is_empty());
    past.commit(&repeat);
}

proptest! {
    #[test]
    fn hold_after_every_step(steps in prop::collection::vec(any_step(), 1..40)) {
        let mut past = Past::new();
        let mut counts = BTreeMap::new();
        for step in steps {
            let (before, version) = (past.open(), past.state.version);
            match step {
                Step::Run(findings) => {
                    count(&mut counts, &findings);
                    let decision = past.run(&findings);
                    prop_assert_eq!(decision.state.version, version + 1);
                    check_run(&before, &findings, &decision, &counts);
                    if !decision.recheck {
                        count(&mut counts, &findings);
                        check_repeat(&mut past, &findings);
                    }
                }
                Step::Unknown => {
                    let decision = past.decide(None);
                    past.commit(&decision);
                    prop_assert_eq!(past.open(), before);
                    prop_assert!(decision.notices.is_empty());
                }
                Step::Resolve(index) => {
                    if let Some(alert) = nth(before, index) {
                        past.by_hand(alert.id, true);
                    }
                }
                Step::Reopen(index) => {
                    let resolved = past.alerts.values().filter(|alert| alert.is_resolved);
                    if let Some(alert) = nth(resolved.cloned().collect(), index)
                        && before.iter().all(|open| identity(open) != identity(&alert))
                    {
                        past.by_hand(alert.id, false);
                    }
                }
            }
            assert_one_open_per_identity(&past);
        }
    }
}
