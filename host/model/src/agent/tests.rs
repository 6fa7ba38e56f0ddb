mod reports;

use chrono::DateTime;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::api_key::{mint, well_formed};
use crate::edition::TEAM;

fn at(minutes: i64) -> Timestamp {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment of 2027")
        + TimeDelta::minutes(minutes)
}

fn account() -> AccountId {
    AccountId(Uuid::from_u128(1))
}

fn agent_id() -> AgentId {
    AgentId(Uuid::from_u128(2))
}

fn agent() -> Agent {
    Agent {
        id: agent_id(),
        account_id: account(),
        name: "agent-1".to_owned(),
        created_at: at(0),
        last_seen_at: None,
        interval_seconds: DEFAULT_INTERVAL,
        hostname: None,
        version: None,
        os: None,
    }
}

#[test]
fn keys_of_agents_and_api_keys_are_never_confused() {
    let mut byte = 0_u8;
    let mut random = || {
        byte = byte.wrapping_add(37);
        byte
    };
    let prefix = key_prefix(&TEAM);
    assert_eq!(prefix, "sp_agent_");
    for _ in 0..100 {
        let (key, of_agent) = (mint(TEAM.key_prefix, &mut random), mint(&prefix, &mut random));
        assert!(well_formed(&key, TEAM.key_prefix) && !well_formed(&key, &prefix), "{key}");
        assert!(well_formed(&of_agent, &prefix), "{of_agent}");
        assert!(!well_formed(&of_agent, TEAM.key_prefix), "{of_agent}");
    }
}

#[test]
fn an_agent_is_offline_after_three_missed_reports() {
    let seen =
        |interval_seconds: u32| Agent { last_seen_at: Some(at(0)), interval_seconds, ..agent() };
    assert_eq!(agent().status(at(100_000)), AgentStatus::Pending);
    for (interval, last, status) in [
        (3_600, 0, AgentStatus::Online),
        (3_600, 180, AgentStatus::Online),
        (3_600, 181, AgentStatus::Offline),
        (60, 3, AgentStatus::Online),
        (60, 4, AgentStatus::Offline),
        // Seen by a node whose clock is ahead.
        (60, -5, AgentStatus::Online),
    ] {
        assert_eq!(seen(interval).status(at(last)), status, "{interval} s, {last} min");
    }
}

#[test]
fn a_listing_shows_how_an_agent_stands() {
    assert_eq!(
        serde_json::to_value(agent().view(at(1))).unwrap(),
        json!({
            "id": agent_id(), "agent_name": "agent-1", "last_seen_at": null,
            "created_at": "2027-01-15T08:00:00Z", "status": "pending", "hostname": null,
            "version": null, "os": null,
        })
    );
}

#[test]
fn a_name_is_one_line_or_left_out() {
    let names =
        |body: Value| NewAgent::parse(&body, agent_id(), account(), 3, at(0)).map(|new| new.names);
    assert_eq!(names(json!({})).unwrap(), ["agent-1", "agent-2", "agent-3"]);
    assert_eq!(names(json!({"name": " dc 1 "})).unwrap(), ["dc 1"]);
    let longest = "\u{fc}".repeat(100);
    assert_eq!(names(json!({"name": longest})).unwrap(), [longest]);
    for bad in [json!(null), json!(1), json!(""), json!(" "), json!("a\nb"), json!("a".repeat(101))]
    {
        assert_eq!(names(json!({"name": bad})).unwrap_err().field, "name", "{bad}");
    }
    assert_eq!(names(json!([])).unwrap_err().field, "body");
}

#[test]
fn a_registration_says_what_it_says() {
    assert_eq!(Registration::parse(&json!({})), Ok(Registration::default()));
    let nothing = json!({
        "agent_name": null, "hostname": null, "version": null, "os": null, "interval_seconds": null,
        "other": 5,
    });
    assert_eq!(Registration::parse(&nothing), Ok(Registration::default()));
    let all = json!({
        "agent_name": "dc1", "hostname": "db01", "version": "0.1.0", "os": "linux",
        "interval_seconds": 60,
    });
    let said = Registration::parse(&all).unwrap();
    assert_eq!((said.name.as_deref(), said.interval_seconds), (Some("dc1"), Some(60)));
    assert_eq!(
        (said.hostname.as_deref(), said.version.as_deref(), said.os.as_deref()),
        (Some("db01"), Some("0.1.0"), Some("linux"))
    );
    assert!(Registration::parse(&json!([])).is_err());
    for (field, bad) in [
        ("agent_name", json!("")),
        ("agent_name", json!(5)),
        ("hostname", json!(["db01"])),
        ("version", json!(1)),
        ("os", json!("a".repeat(201))),
        ("interval_seconds", json!(59)),
        ("interval_seconds", json!(86_401)),
        ("interval_seconds", json!("60")),
        ("interval_seconds", json!(60.5)),
    ] {
        let refused = Registration::parse(&json!({ (field): bad })).unwrap_err();
        assert_eq!(refused.field, field, "{bad}");
    }
}

#[test]
fn a_place_is_called_as_people_write_it_and_is_always_the_same() {
    let place = |host: &str, port| Place { host: host.to_owned(), port, beside: None };
    for (place, name) in [
        (place("db01", 443), "db01"),
        (place("db01", 8443), "db01:8443"),
        (place("10.0.0.5", 636), "10.0.0.5:636"),
        (place("fd00::1", 443), "fd00::1"),
        (place("fd00::1", 8443), "[fd00::1]:8443"),
    ] {
        let site = place.site(account(), agent_id(), at(0));
        assert_eq!((site.name(), site.id), (name, place.id(account(), agent_id())));
        assert_eq!((site.alert_days, site.custom_port), (14, Some(place.port)));
        let row = serde_json::to_string(&site).unwrap();
        assert_eq!(serde_json::from_str::<crate::Site>(&row).unwrap(), site);
    }
    let one = place("db01", 443);
    let id = one.id(account(), agent_id());
    assert_eq!(id, one.id(account(), agent_id()));
    assert_ne!(id, place("db01", 444).id(account(), agent_id()));
    assert_ne!(id, place("db02", 443).id(account(), agent_id()));
    assert_ne!(id, one.id(account(), AgentId(Uuid::from_u128(3))));
}

#[test]
fn a_place_is_called_by_what_misleads_nobody() {
    let place = |subject: &str| Place {
        host: "db01".to_owned(),
        port: 443,
        beside: Some(subject.to_owned()),
    };
    let (told, plain) = (place("CN=a\u{202e}b\nc\u{7}"), place("CN=a b c "));
    let name = "db01 (CN=a b c )";
    assert_eq!((told.to_string().as_str(), plain.to_string().as_str()), (name, name));
    let site = told.site(account(), agent_id(), at(0));
    assert_eq!(site.name(), name);
    assert_ne!(site.id, plain.id(account(), agent_id()), "they are two certificates");
    let before = crate::Site { label: Some("db01 (CN=a\u{202e}b\nc\u{7})".to_owned()), ..site };
    assert_eq!(judged_as(before).name(), name);
}

#[test]
fn what_no_report_names_any_more_goes_and_what_only_cannot_be_seen_stays() {
    let leaf = Certificate {
        subject: "CN=db01".to_owned(),
        issuer: "CN=Corp CA".to_owned(),
        serial_number: None,
        not_before: None,
        not_after: at(0),
        fingerprint_sha256: None,
        san: Vec::new(),
        is_valid: None,
        error: None,
    };
    let served = |host: &str, beside: Option<&str>, minutes| {
        let place = Place { host: host.to_owned(), port: 443, beside: beside.map(str::to_owned) };
        Sighting {
            id: place.id(account(), agent_id()),
            agent_id: agent_id(),
            place,
            leaf: Some(leaf.clone()),
            is_valid: true,
            error: None,
            // It does not matter how old the looks are.
            at: at(0),
            named_at: at(minutes),
        }
    };
    let gone = |host, beside, minutes| Sighting { leaf: None, ..served(host, beside, minutes) };
    let refused = |host, minutes| Sighting { is_valid: false, ..gone(host, None, minutes) };
    let all = vec![
        served("moved", None, 3),
        served("moved", Some("mail"), 1),
        refused("refuses", 9),
        served("refuses", Some("mail"), 1),
        gone("refuses", Some("old"), 2),
        served("here", None, 5),
        refused("off", 0),
        served("told", None, 1),
        gone("told", Some("old"), 3),
    ];
    let told = Place { host: "told".to_owned(), port: 443, beside: None };
    let going = unnamed(all, [&told], at(5));
    let mut names: Vec<String> = going.iter().map(|one| one.place.to_string()).collect();
    names[2..].sort_unstable();
    assert_eq!(names, ["off", "refuses (old)", "moved", "moved (mail)", "told (old)"]);
}

#[test]
fn what_is_said_of_a_certificate_turns_when_it_is_about_to_expire_and_when_it_has() {
    let hours = |hours: i64| at(hours * 60);
    let turned = |lifetime: Option<i64>, left: i64, judged_to: Option<i64>, now: i64| {
        let place = Place { host: "db01".to_owned(), port: 443, beside: None };
        let leaf = Certificate {
            subject: "CN=db01".to_owned(),
            issuer: "CN=Corp CA".to_owned(),
            serial_number: None,
            not_before: lifetime.map(|lifetime| hours(left - lifetime)),
            not_after: hours(left),
            fingerprint_sha256: None,
            san: Vec::new(),
            is_valid: None,
            error: None,
        };
        let sighting = Sighting {
            id: place.id(account(), agent_id()),
            agent_id: agent_id(),
            place,
            leaf: Some(leaf),
            is_valid: true,
            error: None,
            at: at(0),
            named_at: at(0),
        };
        sighting.has_turned(judged_to.map(hours), hours(now))
    };
    // Its lifetime and what was left of it when it was seen, in hours.
    for (lifetime, left, judged_to, now, expected) in [
        // The check finds it a second after the sixth hour before its end.
        (Some(24), 20, None, 14, false),
        (Some(24), 20, None, 15, true),
        (Some(24), 20, Some(15), 20, false),
        (Some(24), 20, Some(15), 21, true),
        (Some(24), 20, Some(21), 900, false),
        // It was told when it was seen.
        (Some(24), 5, None, 4, false),
        (Some(24), 5, None, 6, true),
        (Some(24), -1, None, 900, false),
        (None, 400, None, 39, false),
        (None, 400, None, 41, true),
        (Some(200), 400, None, 39, false),
        (Some(200), 400, None, 41, true),
        (Some(9_000), 400, None, 39, false),
        (Some(9_000), 400, None, 41, true),
    ] {
        let told = turned(lifetime, left, judged_to, now);
        assert_eq!(told, expected, "{lifetime:?} {left} {judged_to:?} {now}");
    }
}
