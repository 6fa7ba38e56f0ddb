use chrono::{DateTime, TimeDelta};
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::Patch;

fn now() -> Timestamp {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment of 2027")
}

fn later(seconds: i64) -> Timestamp {
    now() + TimeDelta::seconds(seconds)
}

fn site(nth: u128) -> SiteId {
    Uuid::from_u128(nth).into()
}

fn open(body: &Value, critical: &CriticalAlerts) -> Result<Incident, Invalid> {
    let new = NewIncident::parse(body)?;
    let (id, first) = (Uuid::from_u128(1).into(), Uuid::from_u128(2).into());
    let (account, author) = (Uuid::from_u128(7).into(), Uuid::from_u128(3).into());
    Ok(new.into_incident(id, first, account, author, critical, now()))
}

fn incident() -> Incident {
    open(&json!({"title": "Down"}), &CriticalAlerts::default()).unwrap()
}

fn update(status: IncidentStatus, message: &str, at: Timestamp) -> IncidentUpdate {
    IncidentUpdate {
        id: Uuid::from_u128(4).into(),
        status,
        message: message.to_owned(),
        author_id: Uuid::from_u128(3).into(),
        created_at: at,
        quotes_alerts: false,
    }
}

fn patch(incident: &mut Incident, body: &Value, at: Timestamp) -> Result<(), Full> {
    let patch = IncidentPatch::parse(body).expect("a good body");
    patch.apply(incident, Uuid::from_u128(5).into(), Uuid::from_u128(3).into(), at)
}

#[test]
fn a_title_is_all_that_an_incident_needs() {
    let incident =
        open(&json!({"title": " Mail is late ", "status": "resolved"}), &CriticalAlerts::default())
            .unwrap();
    assert_eq!(
        serde_json::to_value(incident.view()).unwrap(),
        json!({
            "id": "00000000-0000-0000-0000-000000000001", "title": "Mail is late",
            "severity": "minor", "affected_sites": null, "auto_create": false,
            "status": "investigating",
            "updates": [{
                "status": "investigating", "message": "We are investigating this incident.",
                "created_at": "2027-01-15T08:00:00Z",
            }],
            "created_at": "2027-01-15T08:00:00Z", "updated_at": "2027-01-15T08:00:00Z",
            "resolved_at": null,
        })
    );
    let records: Vec<_> = incident.records().collect();
    assert_eq!(
        serde_json::to_value(records).unwrap(),
        json!([{
            "id": "00000000-0000-0000-0000-000000000002",
            "incident_id": "00000000-0000-0000-0000-000000000001",
            "status": "investigating", "message": "We are investigating this incident.",
            "author_id": "00000000-0000-0000-0000-000000000003",
            "created_at": "2027-01-15T08:00:00Z",
        }])
    );
}

#[test]
fn what_is_out_of_bounds_names_its_field() {
    let many: Vec<Value> = (0..201).map(|nth| json!(Uuid::from_u128(nth))).collect();
    for (field, values) in [
        (
            "title",
            vec![
                json!(null),
                json!(""),
                json!("  "),
                json!(7),
                json!("a\nb"),
                json!("ä".repeat(201)),
            ],
        ),
        ("severity", vec![json!(null), json!("Minor"), json!("warning"), json!(1)]),
        ("auto_create", vec![json!(null), json!("true"), json!(1)]),
        (
            "affected_sites",
            vec![json!("x"), json!({}), json!(["x"]), json!([1]), json!([null]), json!(many)],
        ),
    ] {
        for value in values {
            let mut body = json!({"title": "Down"});
            body[field] = value;
            let refused = open(&body, &CriticalAlerts::default()).map(drop).unwrap_err();
            assert_eq!(refused.field, field, "{body}");
        }
    }
    assert_eq!(NewIncident::parse(&json!({})).unwrap_err().to_string(), "title is required");
    assert!(NewIncident::parse(&json!({"auto_create": false})).is_err());
    assert!(NewIncident::parse(&json!({"auto_create": true, "title": ""})).is_err());
}

#[test]
fn bounds_are_inclusive() {
    let most: Vec<Value> = (0..200).map(|nth| json!(Uuid::from_u128(nth))).collect();
    for body in [
        json!({"title": "ä".repeat(200), "severity": "critical", "affected_sites": most}),
        json!({"title": "x", "affected_sites": null}),
        json!({"auto_create": true}),
    ] {
        assert!(NewIncident::parse(&body).is_ok(), "{body}");
    }
    let longest = json!({"status": "monitoring", "message": "ä".repeat(10_000)});
    assert!(NewUpdate::parse(&longest).is_ok());
}

#[test]
fn a_site_is_named_once() {
    let body = json!({"title": "x", "affected_sites":
        [Uuid::from_u128(2), Uuid::from_u128(1), Uuid::from_u128(2)]});
    let incident = open(&body, &CriticalAlerts::default()).unwrap();
    assert_eq!(incident.affected_sites, Some(vec![site(2), site(1)]));
    let none = open(&json!({"title": "x", "affected_sites": []}), &CriticalAlerts::default());
    assert_eq!(none.unwrap().affected_sites, Some(vec![]));
}

#[test]
fn bad_updates_name_their_field() {
    for (body, field) in [
        (json!({"message": "x"}), "status"),
        (json!({"status": null, "message": "x"}), "status"),
        (json!({"status": "closed", "message": "x"}), "status"),
        (json!({"status": 1, "message": "x"}), "status"),
        (json!({"status": "resolved"}), "message"),
        (json!({"status": "resolved", "message": null}), "message"),
        (json!({"status": "resolved", "message": " \n"}), "message"),
        (json!({"status": "resolved", "message": ["x"]}), "message"),
        (json!({"status": "resolved", "message": "ä".repeat(10_001)}), "message"),
    ] {
        assert_eq!(NewUpdate::parse(&body).unwrap_err().field, field, "{body}");
    }
    for body in [json!({"status": null}), json!({"status": "open"}), json!({"status": 3})] {
        assert_eq!(IncidentPatch::parse(&body).unwrap_err().field, "status", "{body}");
    }
    let refused = IncidentPatch::parse(&json!({"affected_sites": "x"})).unwrap_err();
    assert_eq!(refused.field, "affected_sites");
}

#[test]
fn any_status_follows_any() {
    use IncidentStatus::{Identified, Investigating, Monitoring, Resolved};
    let all = [Investigating, Identified, Monitoring, Resolved];
    assert_eq!(all.map(IncidentStatus::as_str), IncidentStatus::WORDS);
    assert!(IncidentSeverity::WORDS.iter().all(|word| word.parse::<IncidentSeverity>().is_ok()));
    for from in all {
        for to in all {
            let mut incident = incident();
            incident.append(update(from, "from", later(1))).unwrap();
            incident.append(update(to, "to", later(2))).unwrap();
            assert_eq!((incident.status, incident.updates.len()), (to, 3));
            assert_eq!(incident.updated_at, later(2));
            let since = match (from, to) {
                (Resolved, Resolved) => Some(later(1)),
                (_, Resolved) => Some(later(2)),
                (_, Investigating | Identified | Monitoring) => None,
            };
            assert_eq!(incident.resolved_at, since, "{from:?} {to:?}");
            assert_eq!(to.as_str().parse::<IncidentStatus>(), Ok(to));
        }
    }
}

#[test]
fn the_stream_is_in_order_whatever_the_clocks_say() {
    let mut incident = incident();
    incident.append(update(IncidentStatus::Identified, "late", later(9))).unwrap();
    incident.append(update(IncidentStatus::Monitoring, "early", later(3))).unwrap();
    assert!(incident.updates.is_sorted_by_key(|update| update.created_at));
    assert_eq!(incident.updated_at, later(9));
}

#[test]
fn a_patch_changes_what_it_names_and_nothing_else() {
    let mut incident = incident();
    let before = incident.clone();
    patch(&mut incident, &json!({"title": "other", "severity": "major"}), later(1)).unwrap();
    assert_eq!(incident, before);

    let sites = json!({"affected_sites": [Uuid::from_u128(7)]});
    patch(&mut incident, &sites, later(1)).unwrap();
    assert_eq!(incident.affected_sites, Some(vec![site(7)]));
    assert_eq!((incident.updated_at, incident.updates.len()), (later(1), 1));
    patch(&mut incident, &sites, later(2)).unwrap();
    assert_eq!(incident.updated_at, later(1), "the same again is no change");

    patch(&mut incident, &json!({"status": "identified"}), later(3)).unwrap();
    patch(&mut incident, &json!({"status": "identified"}), later(4)).unwrap();
    let messages: Vec<&str> = incident.updates.iter().map(|update| &*update.message).collect();
    assert_eq!(messages[1..], ["Status changed to identified", "Status is still identified"]);
    assert_eq!(incident.affected_sites, Some(vec![site(7)]));

    patch(&mut incident, &json!({"affected_sites": null}), later(5)).unwrap();
    assert_eq!(incident.affected_sites, None);
    assert_eq!(IncidentPatch::parse(&json!({})).unwrap(), IncidentPatch::default());
    assert_eq!(
        IncidentPatch::parse(&json!({"affected_sites": null})).unwrap().affected_sites,
        Patch::Clear
    );
}

#[test]
fn a_full_incident_takes_one_resolution_and_no_more() {
    let mut many = incident();
    for nth in 1..MOST_UPDATES {
        many.append(update(IncidentStatus::Monitoring, &nth.to_string(), now())).unwrap();
    }
    let mut long = incident();
    let text = "x".repeat(MOST_TEXT - long.updates[0].message.len());
    long.append(update(IncidentStatus::Monitoring, &text, now())).unwrap();
    for mut full in [many, long] {
        let more = update(IncidentStatus::Identified, "y", now());
        assert_eq!(full.append(more.clone()), Err(Full));
        let before = full.clone();
        let both = json!({"status": "identified", "affected_sites": [Uuid::from_u128(7)]});
        assert_eq!(patch(&mut full, &both, later(1)), Err(Full));
        assert_eq!(full, before);
        patch(&mut full, &json!({"status": "resolved"}), later(1)).unwrap();
        assert_eq!(full.status, IncidentStatus::Resolved);
        assert_eq!(patch(&mut full, &json!({"status": "resolved"}), later(1)), Err(Full));
        assert_eq!(full.append(more), Err(Full));
    }
    assert_eq!(
        Full.to_string(),
        "the incident is full: it takes at most 500 updates and 256 KiB of messages; \
         resolve it and open another"
    );
}

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
        alerts: (0..count).map(|nth| (Uuid::from_u128(nth).into(), site(nth))).collect(),
        ..CriticalAlerts::default()
    };
    let named = json!({"auto_create": true, "affected_sites": [Uuid::from_u128(1_000)]});
    let made = open(&named, &critical(300)).unwrap();
    let held = made.affected_sites.expect("they are listed");
    assert_eq!((held.len(), held.last()), (200, Some(&site(1_000))));
    assert_eq!(made.title, "300 critical alerts on 300 sites");

    let mut made = open(&json!({"auto_create": true}), &critical(199)).unwrap();
    let (id, author) = (Uuid::from_u128(6).into(), Uuid::from_u128(3).into());
    made.take_in(&critical(250), id, author, later(5)).unwrap();
    assert_eq!(made.affected_sites.as_ref().map(Vec::len), Some(200));
    assert_eq!((made.alerts.len(), &*made.title), (250, "250 critical alerts on 250 sites"));
}

#[test]
fn sites_that_are_gone_are_forgotten() {
    let body = json!({"title": "x", "affected_sites": [Uuid::from_u128(1), Uuid::from_u128(2)]});
    let mut incident = open(&body, &CriticalAlerts::default()).unwrap();
    incident.retain_sites(|kept| *kept == site(2));
    assert_eq!(incident.affected_sites, Some(vec![site(2)]));
    incident.retain_sites(|_| false);
    assert_eq!(incident.affected_sites, Some(vec![]));
}

#[test]
fn the_incident_of_the_moment_is_made_once_and_told_what_is_new() {
    let alert = |nth| (Uuid::from_u128(nth).into(), site(nth));
    let critical = |numbers: &[u128]| CriticalAlerts {
        total: numbers.len() as u64,
        sites: numbers.iter().map(|nth| site(*nth)).collect(),
        messages: numbers.iter().map(|nth| format!("alert {nth}")).collect(),
        alerts: numbers.iter().map(|nth| alert(*nth)).collect(),
    };
    let there = |numbers: &[u128]| -> BTreeSet<AlertId> {
        numbers.iter().map(|nth| Uuid::from_u128(*nth).into()).collect()
    };
    let plain = json!({"auto_create": true});
    let mut made = open(&plain, &critical(&[1, 2])).unwrap();
    let cases: [(&[u128], bool); 5] =
        [(&[1, 2], true), (&[3, 2, 1], true), (&[2], false), (&[3], false), (&[], false)];
    for (numbers, same) in cases {
        assert_eq!(made.is_of(&there(numbers)), same, "{numbers:?}");
    }
    let (id, author) = (Uuid::from_u128(6).into(), Uuid::from_u128(3).into());
    made.take_in(&critical(&[2, 1]), id, author, later(5)).unwrap();
    assert_eq!(made, open(&plain, &critical(&[1, 2])).unwrap(), "nothing is new");
    made.take_in(&critical(&[3, 2, 1]), id, author, later(5)).unwrap();
    assert_eq!(made.updates.len(), 2);
    assert_eq!(made.updates[1].message, "1 critical alerts on 1 sites:\n- alert 3");
    assert!(made.updates.iter().all(|update| update.quotes_alerts));
    assert_eq!(made.title, "3 critical alerts on 3 sites");
    assert_eq!(made.affected_sites, Some(vec![site(1), site(2), site(3)]));
    assert!(made.is_of(&there(&[1, 2, 3])) && !made.is_of(&there(&[1, 2])));

    patch(&mut made, &json!({"status": "resolved"}), later(9)).unwrap();
    assert!(made.updates.last().is_some_and(|update| !update.quotes_alerts));
    assert!(!made.is_of(&there(&[1, 2, 3])), "it is over");
    let over = made.clone();
    let told = made.take_in(&critical(&[4]), id, author, later(10));
    assert_eq!((told, made), (Err(Untold::IsOver), over));
    for body in [
        json!({"auto_create": true, "title": "x"}),
        json!({"auto_create": true, "severity": "minor"}),
        json!({"auto_create": true, "affected_sites": []}),
        json!({"title": "x"}),
    ] {
        assert!(!NewIncident::parse(&body).unwrap().plain(), "{body}");
        assert!(!open(&body, &critical(&[1])).unwrap().is_of(&there(&[1])), "{body}");
    }
    let quiet = open(&plain, &critical(&[])).unwrap();
    assert!(!quiet.is_of(&there(&[])), "made of nothing, it is no other's equal");
}
