use chrono::DateTime;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::incident::{CriticalAlerts, NewIncident};
use crate::{CheckStatus, Source};

fn site(number: u128) -> SiteId {
    SiteId(Uuid::from_u128(number))
}

fn check(site: SiteId) -> Part {
    let record = CheckRecord {
        id: Uuid::from_u128(1).into(),
        site_id: site,
        check_type: "ssl".parse().expect("a check's name"),
        checked_at: DateTime::from_timestamp(1_790_000_000, 0).expect("within the years"),
        status: CheckStatus::Ok,
        result: json!({}),
        error: None,
        duration_ms: 1,
        source: Source::Api,
        location: "here".to_owned(),
    };
    Part::Check(CheckChange::Same, record)
}

fn incident(sites: &[SiteId]) -> Part {
    let new = NewIncident::parse(&json!({"title": "x", "affected_sites": sites})).expect("good");
    let incident = new.into_incident(
        Uuid::from_u128(2).into(),
        Uuid::from_u128(3).into(),
        Uuid::from_u128(4).into(),
        Uuid::from_u128(4).into(),
        &CriticalAlerts::default(),
        DateTime::from_timestamp(1_790_000_000, 0).expect("within the years"),
    );
    Part::Incident(IncidentChange::Created, incident)
}

#[test]
fn cursor_reads_back_as_it_was_written() {
    for text in ["0", "1", "7", "7.1", "12345678901.40"] {
        assert_eq!(Cursor::parse("after", text).map(|cursor| cursor.to_string()), Ok(text.into()));
    }
    assert_eq!(Cursor::parse("after", "7"), Ok(Cursor { number: 8, parts: 0 }));
    for text in ["", "-1", "+1", "x", "1.", ".1", "1.2.3", " 1", "1e3", "1234567890123456789"] {
        assert_eq!(
            Cursor::parse("after", text).map_err(|bad| bad.field).err(),
            Some("after".into())
        );
    }
}

#[test]
fn only_the_last_part_completes_an_event() {
    let event = Event { number: 7, parts: vec![check(site(1)), Part::Gone] };
    assert_eq!(event.after(0).to_string(), "7.1");
    assert_eq!(event.after(1).to_string(), "7");
    assert!(event.after(0) < event.after(1));
}

#[test]
fn filter_lets_pass_what_was_asked_for() {
    let all = EventFilter::default();
    let checks = EventFilter { kinds: vec![Kind::Check], site: None };
    let of_one = EventFilter { kinds: Vec::new(), site: Some(site(1)) };
    let table = [
        (check(site(1)), [true, true, true]),
        (check(site(2)), [true, true, false]),
        (incident(&[site(1), site(2)]), [true, false, true]),
        (incident(&[site(2)]), [true, false, false]),
        (Part::Gone, [false, false, false]),
    ];
    for (part, expected) in table {
        let passes = [&all, &checks, &of_one].map(|filter| filter.lets_pass(&part));
        assert_eq!(passes, expected, "{part:?}");
    }
}

#[test]
fn kinds_are_a_list_of_known_words() {
    assert_eq!(Kind::parse_list("types", "alert, check"), Ok(vec![Kind::Alert, Kind::Check]));
    for text in ["", "alert,", "alerts", "alert check", "ALERT"] {
        assert!(Kind::parse_list("types", text).is_err(), "{text}");
    }
}

#[test]
fn names_stand_on_one_line() {
    for (was, is, name) in [
        (false, false, AlertChange::Updated),
        (false, true, AlertChange::Resolved),
        (true, false, AlertChange::Reopened),
    ] {
        assert_eq!(AlertChange::of(was, is), name);
    }
    for part in [check(site(1)), incident(&[])] {
        let name = part.name().expect("it is told");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'.'), "{name}");
    }
}
