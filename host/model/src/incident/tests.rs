mod critical;

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
fn its_size_is_about_what_it_takes_to_show_it() {
    let mut incident = incident();
    let close = |incident: &Incident| {
        let shown = serde_json::to_string(&incident.view()).unwrap().len();
        let size = incident.size();
        assert!(shown <= size && size <= shown + shown / 2, "{shown} bytes, and {size} thought");
    };
    close(&incident);
    incident.affected_sites = Some((0..200).map(site).collect());
    close(&incident);
    for message in ["x", "ä", "\"", "\n", "\u{1}"] {
        let message = message.repeat(10_000);
        for _ in 0..4 {
            incident.append(update(IncidentStatus::Monitoring, &message, now())).unwrap();
        }
        close(&incident);
    }
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
fn sites_that_are_gone_are_forgotten() {
    let body = json!({"title": "x", "affected_sites": [Uuid::from_u128(1), Uuid::from_u128(2)]});
    let mut incident = open(&body, &CriticalAlerts::default()).unwrap();
    incident.retain_sites(|kept| *kept == site(2));
    assert_eq!(incident.affected_sites, Some(vec![site(2)]));
    incident.retain_sites(|_| false);
    assert_eq!(incident.affected_sites, Some(vec![]));
}
