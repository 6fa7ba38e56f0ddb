//! What is told over whole histories, run by run.

use std::time::Duration;

use check_uptime::{Status, UptimeResult};
use vedette_model::{Severity, alert::NoticeStatus};

use crate::watched::{Watched, at};

/// Notices in order: the run (counted from 1) that told, and what. `u` up, `s` slow, `d` down,
/// `?` a run that could not check.
fn told(history: &str) -> Vec<String> {
    let mut site = Watched::new(1);
    let mut told = Vec::new();
    for (run, letter) in (1..).zip(history.chars()) {
        let decision = site.judge(seen(letter), at(60 * run));
        for notice in &decision.notices {
            let status = match notice.status {
                NoticeStatus::Raised => "",
                NoticeStatus::Resolved => "over: ",
            };
            told.push(format!("{run} {status}{}", notice.event));
        }
    }
    told
}

fn seen(letter: char) -> Option<UptimeResult> {
    let (status, error) = match letter {
        'u' => (Status::Up, None),
        's' => (Status::Degraded, None),
        'd' => (Status::Down, Some("connection_timeout".to_owned())),
        _ => return None,
    };
    let result = serde_json::json!({ "status": status, "error": error });
    Some(serde_json::from_value(result).expect("status is enough"))
}

#[test]
fn history_is_told_once_and_in_order() {
    for (history, expected) in [
        // Good from the start, and for good.
        ("uuuu", vec![]),
        // A single failure is none, however often.
        ("udu", vec![]),
        ("ududududu", vec![]),
        // But not many times within few looks.
        ("ududududududududu", vec!["13 site.degraded"]),
        ("ududududududuuuuuuuuuuuuuuuuuuu", vec!["13 site.degraded", "29 over: site.degraded"]),
        // An outage besides is told like any, and its end once it is confirmed.
        ("ududududududuudduuuu", vec!["13 site.degraded", "16 site.down", "18 site.up"]),
        ("ududududududuuddududuu", vec!["13 site.degraded", "16 site.down", "22 site.up"]),
        ("usu", vec![]),
        // Down from the start, too.
        ("dd", vec!["2 site.down"]),
        ("uudd", vec!["4 site.down"]),
        ("uudddddd", vec!["4 site.down"]),
        // A recovery counts when it is confirmed, and is told once, as a recovery.
        ("uddu", vec!["3 site.down"]),
        ("udduu", vec!["3 site.down", "5 site.up"]),
        ("udduuuuuu", vec!["3 site.down", "5 site.up"]),
        ("uddudduu", vec!["3 site.down", "8 site.up"]),
        ("udduuudduu", vec!["3 site.down", "5 site.up", "8 site.down", "10 site.up"]),
        // Our own trouble neither confirms nor forgets, raises nor resolves.
        ("ud?d", vec!["4 site.down"]),
        ("ud?u", vec![]),
        ("udd??u?u", vec!["3 site.down", "8 site.up"]),
        ("?dd?", vec!["3 site.down"]),
        // Slow, and fast again.
        ("uss", vec!["3 site.degraded"]),
        ("ussuu", vec!["3 site.degraded", "5 site.up"]),
        // Slow, then down: one alert that rises once the worse is confirmed.
        ("ussd", vec!["3 site.degraded"]),
        ("ussds", vec!["3 site.degraded"]),
        ("ussdd", vec!["3 site.degraded", "5 site.down"]),
        ("ussdduu", vec!["3 site.degraded", "5 site.down", "7 site.up"]),
        // Two bad runs in a row, of which the milder is sure; swinging on adds nothing.
        ("uds", vec!["3 site.degraded"]),
        ("usdsdsds", vec!["4 site.degraded"]),
        ("usdsdd", vec!["4 site.degraded", "6 site.down"]),
        ("udsuu", vec!["3 site.degraded", "5 site.up"]),
        // Down, then slow: the same alert, less severe, and no recovery yet.
        ("uddss", vec!["3 site.down"]),
        ("uddssuu", vec!["3 site.down", "7 site.up"]),
        ("uddsuu", vec!["3 site.down", "6 site.up"]),
        ("uddssdd", vec!["3 site.down", "7 site.down"]),
    ] {
        assert_eq!(told(history), expected, "{history}");
    }
}

#[test]
fn site_that_goes_from_slow_to_down_has_one_alert() {
    let mut site = Watched::new(1);
    let mut raised = Vec::new();
    let mut severities = Vec::new();
    for (run, letter) in (1..).zip("usssddd".chars()) {
        let decision = site.judge(seen(letter), at(60 * run));
        raised.extend(decision.raised.iter().map(|alert| alert.id));
        let changed = decision.raised.iter().chain(&decision.updated);
        severities.extend(changed.map(|alert| alert.severity));
    }
    assert_eq!(raised.len(), 1);
    severities.dedup();
    assert_eq!(severities, [Severity::Warning, Severity::Critical]);
    assert!(site.is_called_down());
}

#[test]
fn nothing_is_left_open_after_a_recovery() {
    let mut site = Watched::new(1);
    let mut open = 0_i32;
    for (run, letter) in (1..).zip("uudduuu".chars()) {
        let decision = site.judge(seen(letter), at(60 * run));
        let opened = decision.raised.iter().filter(|alert| !alert.is_resolved);
        open += i32::try_from(opened.count()).expect("few");
        open -= i32::try_from(decision.resolved.len()).expect("few");
    }
    assert_eq!(open, 0);
}

#[test]
fn doubt_is_cleared_up_within_seconds() {
    let mut site = Watched::new(1);
    let history = [
        ('u', None),
        ('d', Some(0)),
        ('d', None),
        ('u', Some(0)),
        ('u', None),
        ('u', None),
        // Slowness has to last.
        ('s', Some(10)),
    ];
    for (run, (letter, wait)) in (1..).zip(history) {
        let now = at(60 * run);
        let decision = site.judge(seen(letter), now);
        let regular = site.first_run(now);
        let expected =
            wait.map_or(regular, |seconds| regular.min(now + Duration::from_secs(seconds)));
        assert_eq!(site.next_run(&decision, now), expected, "run {run}");
    }
}
