//! Incidents that are made of critical alerts.

use super::*;

#[test]
fn auto_create_tells_the_critical_alerts() {
    let critical = CriticalAlerts {
        total: 3,
        sites: vec![site(1), site(2)],
        messages: vec!["a.example expired".to_owned(), "b.example is down".to_owned()],
        ..CriticalAlerts::default()
    };
    let body =
        json!({"auto_create": true, "affected_sites": [Uuid::from_u128(9), Uuid::from_u128(2)]});
    let made = open(&body, &critical).unwrap();
    assert_eq!(made.title, "3 critical alerts on 2 sites");
    assert_eq!(made.affected_sites, Some(vec![site(1), site(2), site(9)]));
    assert_eq!((made.auto_create, made.severity), (true, IncidentSeverity::Minor));
    assert_eq!(
        made.updates[0].message,
        "3 critical alerts on 2 sites:\n- a.example expired\n- b.example is down\nand 1 more"
    );
    assert!(made.updates[0].quotes_alerts && made.counts_alerts());
    let named = json!({"auto_create": true, "title": "Outage", "severity": "major"});
    let named = open(&named, &critical).unwrap();
    assert!(named.quotes_alerts(&named.updates[0]) && !named.counts_alerts());
    assert_eq!((&*named.title, named.severity), ("Outage", IncidentSeverity::Major));

    let quiet = open(&json!({"auto_create": true}), &CriticalAlerts::default()).unwrap();
    assert_eq!(quiet.title, "0 critical alerts on 0 sites");
    assert_eq!(quiet.affected_sites, Some(vec![]));
    assert_eq!(quiet.updates[0].message, "There are no critical alerts at the moment.");
    assert!(!quiet.quotes_alerts(&quiet.updates[0]));

    let by_hand = open(&json!({"title": "x"}), &critical).unwrap();
    assert!(!by_hand.updates[0].quotes_alerts);
    assert_eq!((by_hand.affected_sites, by_hand.auto_create), (None, false));
}

#[test]
fn what_was_made_of_alerts_before_that_was_kept_is_known_by_its_words() {
    let many = CriticalAlerts { total: 12, sites: vec![site(1), site(2)], ..Default::default() };
    let one = CriticalAlerts { total: 1, messages: vec!["a is down".to_owned()], ..many.clone() };
    let mut made = incident();
    made.auto_create = true;
    for critical in [&many, &one] {
        made.title = critical.title();
        let told = update(IncidentStatus::Identified, &critical.summary(), now());
        assert!(made.counts_alerts() && made.quotes_alerts(&told), "{}", told.message);
        let by_hand = Incident { auto_create: false, ..made.clone() };
        assert!(!by_hand.counts_alerts() && !by_hand.quotes_alerts(&told), "{}", told.message);
    }
    for own in [
        "",
        "12 critical alerts on 2 sites are a mistake",
        "12 critical alerts on 2 sites: a mistake",
        " critical alerts on  sites",
        "No critical alerts on 2 sites:\n- any more",
        "Of 12 critical alerts on 2 sites:\n- most are over",
    ] {
        made.title = own.to_owned();
        let told = update(IncidentStatus::Identified, own, now());
        assert!(!made.counts_alerts() && !made.quotes_alerts(&told), "{own}");
    }
}

#[test]
fn a_summary_is_never_longer_than_a_message_may_be() {
    let critical = CriticalAlerts {
        total: 60,
        sites: vec![site(1)],
        messages: (0..50).map(|_| "m".repeat(1_000)).chain(["x".repeat(20_000)]).collect(),
        ..CriticalAlerts::default()
    };
    let summary = critical.summary();
    assert!(summary.len() < 10_000, "{}", summary.len());
    assert!(summary.ends_with("more"), "{summary}");
}

#[test]
fn however_many_sites_have_alerts_an_incident_holds_two_hundred() {
    let critical = |count: u128| CriticalAlerts {
        total: count as u64,
        sites: (0..count).map(site).collect(),
        alerts: (0..count).map(|nth| Uuid::from_u128(nth).into()).collect(),
        ..CriticalAlerts::default()
    };
    let named = json!({"auto_create": true, "affected_sites": [Uuid::from_u128(1_000)]});
    let made = open(&named, &critical(300)).unwrap();
    let held = made.affected_sites.expect("they are listed");
    assert_eq!((held.len(), held.last()), (200, Some(&site(1_000))));
    assert_eq!(made.title, "300 critical alerts on 300 sites");

    let made = open(&json!({"auto_create": true}), &critical(250)).unwrap();
    assert_eq!(made.affected_sites.as_ref().map(Vec::len), Some(200));
    assert_eq!((made.alerts.len(), &*made.title), (250, "250 critical alerts on 250 sites"));
}

#[test]
fn an_incident_stands_for_what_would_be_made_now_while_it_says_that_and_no_more() {
    let critical = |numbers: &[u128]| CriticalAlerts {
        total: numbers.len() as u64,
        sites: numbers.iter().map(|nth| site(*nth)).collect(),
        messages: numbers.iter().map(|nth| format!("alert {nth}")).collect(),
        alerts: numbers.iter().map(|nth| Uuid::from_u128(*nth).into()).collect(),
    };
    let plain = json!({"auto_create": true});
    let made = open(&plain, &critical(&[2, 1])).unwrap();
    let again = NewIncident::parse(&plain).unwrap().into_incident(
        Uuid::from_u128(8).into(),
        Uuid::from_u128(9).into(),
        made.account_id,
        Uuid::from_u128(10).into(),
        &critical(&[2, 1]),
        later(5),
    );
    assert!(made.says_the_same_as(&again), "another asked, a little later");
    for numbers in [&[3, 2, 1][..], &[2], &[3, 1], &[]] {
        let now = open(&plain, &critical(numbers)).unwrap();
        assert!(!made.says_the_same_as(&now), "{numbers:?}");
    }
    for body in [
        json!({"status": "monitoring"}),
        json!({"status": "investigating"}),
        json!({"affected_sites": null}),
    ] {
        let mut moved_on = made.clone();
        patch(&mut moved_on, &body, later(9)).unwrap();
        assert!(!moved_on.says_the_same_as(&again), "{body}");
    }
}

#[test]
fn what_asks_for_something_of_its_own_remembers_no_alerts() {
    let alert: AlertId = Uuid::from_u128(1).into();
    let critical = CriticalAlerts { total: 1, alerts: vec![alert], ..Default::default() };
    let alerts = |body: &Value| open(body, &critical).unwrap().alerts;
    assert_eq!(alerts(&json!({"auto_create": true})), [alert]);
    for body in [
        json!({"auto_create": true, "title": "x"}),
        json!({"auto_create": true, "severity": "minor"}),
        json!({"auto_create": true, "affected_sites": []}),
        json!({"title": "x"}),
    ] {
        assert!(alerts(&body).is_empty(), "{body}");
    }
}
