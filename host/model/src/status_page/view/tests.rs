use chrono::TimeDelta;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::{response::HourCount, uptime::DayCount};
use super::*;
use crate::status_page::Overall;
use crate::{AccountId, CheckStatus, IncidentUpdate};

fn now() -> Timestamp {
    Timestamp::from_timestamp(1_790_000_000, 123_456_789).unwrap()
}

fn site(number: u128, domain: &str, status: CheckStatus) -> Watched {
    let check_type = "uptime".parse().unwrap();
    let latest = Latest { check_type, status, checked_at: now() };
    Watched {
        site: SiteId(Uuid::from_u128(number)),
        domain: domain.parse().unwrap(),
        latest: vec![latest],
        tally: Tally {
            days: vec![DayCount {
                day: uptime::day(now()),
                ok: 18,
                down: 2,
                ..DayCount::default()
            }],
            hours: vec![HourCount { hour: response::hour(now()), answers: 2, total_ms: 300 }],
        },
    }
}

fn incident(number: u128, days_ago: i64, resolved: Option<i64>) -> Incident {
    let at = |days: i64| now() - TimeDelta::days(days);
    let status =
        if resolved.is_some() { IncidentStatus::Resolved } else { IncidentStatus::Identified };
    let update = |number: u128, message: &str, created_at| IncidentUpdate {
        id: IncidentUpdateId(Uuid::from_u128(number)),
        status,
        message: message.to_owned(),
        author_id: AccountId(Uuid::from_u128(0xacc0)),
        created_at,
        quotes_alerts: false,
    };
    let last = resolved.map_or(at(days_ago), at);
    Incident {
        id: IncidentId(Uuid::from_u128(number)),
        account_id: AccountId(Uuid::from_u128(0xacc0)),
        title: format!("incident {number}"),
        severity: IncidentSeverity::Minor,
        affected_sites: Some(vec![SiteId(Uuid::from_u128(1)), SiteId(Uuid::from_u128(77))]),
        auto_create: false,
        alerts: Vec::new(),
        status,
        updates: vec![update(1, "first", at(days_ago)), update(2, "last", last)],
        created_at: at(days_ago),
        updated_at: last,
        resolved_at: resolved.map(at),
    }
}

fn window(number: u128, site: Option<u128>, from: i64, to: i64) -> MaintenanceWindow {
    MaintenanceWindow {
        id: Uuid::from_u128(number).into(),
        account_id: AccountId(Uuid::from_u128(0xacc0)),
        site_id: site.map(|site| SiteId(Uuid::from_u128(site))),
        starts_at: now() + TimeDelta::hours(from),
        ends_at: now() + TimeDelta::hours(to),
        description: Some("new disks".to_owned()),
        created_at: now(),
    }
}

fn page(facts: &Facts) -> Page {
    Page::of(" Acme ", "https://watch.example.com/status/acme", facts, now())
}

#[test]
fn sites_in_trouble_come_first_and_the_others_stay_in_order() {
    let facts = Facts {
        sites: vec![
            site(1, "a.example.com", CheckStatus::Ok),
            site(2, "b.example.com", CheckStatus::Degraded),
            site(3, "c.example.com", CheckStatus::Ok),
            site(4, "d.example.com", CheckStatus::Down),
        ],
        ..Facts::default()
    };
    let page = page(&facts);
    let order: Vec<_> = page.sites.iter().map(|site| &site.domain.as_str()[..1]).collect();
    assert_eq!(order, ["d", "b", "a", "c"]);
    assert_eq!((page.title.as_str(), page.status.state), ("Acme", Overall::Outage));
}

#[test]
fn a_page_without_title_has_the_name_of_its_first_site() {
    let mut facts =
        Facts { sites: vec![site(1, "a.example.com", CheckStatus::Ok)], ..Facts::default() };
    for title in ["", "\u{202e}\u{200b}", "\u{0}"] {
        assert_eq!(Page::of(title, "", &facts, now()).title, "a.example.com", "{title:?}");
    }
    facts.sites.clear();
    assert_eq!(Page::of("  ", "", &facts, now()).title, "Status");
}

#[test]
fn incidents_are_open_or_of_the_last_two_weeks() {
    let facts = Facts {
        sites: vec![site(1, "a.example.com", CheckStatus::Ok)],
        incidents: vec![
            incident(1, 40, None),
            incident(2, 1, None),
            incident(3, 20, Some(13)),
            incident(4, 20, Some(15)),
            incident(5, 2, Some(1)),
        ],
        ..Facts::default()
    };
    let page = page(&facts);
    let titles = |incidents: &[PageIncident]| {
        incidents.iter().map(|incident| incident.title.clone()).collect::<Vec<_>>()
    };
    assert_eq!(titles(&page.incidents), ["incident 2", "incident 1"]);
    assert_eq!(titles(&page.past_incidents), ["incident 5", "incident 3"]);
    let shown = &page.incidents[0];
    let domains: Vec<_> = shown.affected.iter().map(DomainName::as_str).collect();
    assert_eq!(domains, ["a.example.com"], "what is not on the page is not named");
    let messages: Vec<_> = shown.updates.iter().map(|update| update.message.as_str()).collect();
    assert_eq!(messages, ["last", "first"]);
    assert_eq!(page.status.description, "Incident in progress");
}

#[test]
fn no_number_of_newer_incidents_hides_a_graver_one() {
    let critical = Incident { severity: IncidentSeverity::Critical, ..incident(1, 9, None) };
    let mut incidents: Vec<Incident> =
        (0..30).map(|number| incident(100 + number, 1, None)).collect();
    incidents.extend([critical.clone(), critical]);
    let page = page(&Facts { incidents, ..Facts::default() });
    let titles: Vec<_> = page.incidents.iter().map(|shown| shown.title.as_str()).collect();
    assert_eq!(titles.len(), MOST_INCIDENTS);
    assert_eq!(titles[..2], ["incident 1", "incident 129"]);
    assert_eq!(page.status.state, Overall::Outage);
}

#[test]
fn what_alerts_say_is_not_told() {
    let secret = "1 critical alerts on 1 sites:\n- db01.corp.internal:8443: certificate expired";
    let mut made = incident(1, 1, None);
    made.auto_create = true;
    made.updates[0].message = secret.to_owned();
    made.title = "3 critical alerts on 3 sites".to_owned();
    let from_before = made.updates[0].clone();
    let marked = IncidentUpdate { quotes_alerts: true, ..from_before.clone() };
    made.updates.extend([from_before, marked]);
    let mut facts = Facts { incidents: vec![made], ..Facts::default() };
    let told = |facts: &Facts| {
        let incident = page(facts).incidents.remove(0);
        let messages: Vec<_> = incident.updates.into_iter().map(|update| update.message).collect();
        (incident.title, messages)
    };
    let expected = |place: &str| {
        let problem = format!("We are looking into a problem{place}.");
        let messages = vec![problem.clone(), problem.clone(), "last".to_owned(), problem];
        (format!("Problem{place}"), messages)
    };
    assert_eq!(told(&facts), expected(""), "nothing that it affects is shown");
    facts.sites.push(site(1, "a.example.com", CheckStatus::Ok));
    assert_eq!(told(&facts), expected(" with 1 system"));
    facts.sites.push(site(77, "b.example.com", CheckStatus::Ok));
    assert_eq!(told(&facts), expected(" with 2 systems"));
    facts.incidents[0].title = "Mail is late".to_owned();
    assert_eq!(told(&facts).0, "Mail is late", "the owner's own words");
}

#[test]
fn windows_are_under_way_or_ahead_and_of_sites_that_are_shown() {
    let facts = Facts {
        sites: vec![
            site(1, "a.example.com", CheckStatus::Down),
            site(2, "b.example.com", CheckStatus::Ok),
        ],
        windows: vec![
            window(1, None, 48, 49),
            window(2, Some(1), -1, 1),
            window(3, Some(1), -5, 0),
            window(4, Some(77), 1, 2),
        ],
        ..Facts::default()
    };
    let page = page(&facts);
    let shown: Vec<_> = page
        .maintenance
        .iter()
        .map(|window| (window.domain.as_ref().map(DomainName::as_str), window.active))
        .collect();
    assert_eq!(shown, [(Some("a.example.com"), true), (None, false)]);
    assert_eq!(page.sites[0].state, SiteState::Maintenance);
    assert_eq!(page.status.description, "Maintenance in progress");
}

#[test]
fn json_tells_the_same_and_nothing_of_the_account() {
    let facts = Facts {
        sites: vec![site(1, "a.example.com", CheckStatus::Ok)],
        incidents: vec![incident(5, 2, Some(1))],
        windows: vec![window(2, Some(1), 1, 2)],
    };
    let json = serde_json::to_value(page(&facts)).unwrap();
    let site = &json["sites"][0];
    assert_eq!(site["domain"], "a.example.com");
    assert_eq!(site["uptime_percent"], json!(90.0));
    assert_eq!(site["response_time_ms"], 150);
    assert_eq!(site["response_times_ms"].as_array().map(Vec::len), Some(24));
    assert_eq!(site["days"]["states"].as_array().map(Vec::len), Some(90));
    assert_eq!(site["days"]["states"][89], "down");
    assert_eq!(site["days"]["to"], "2026-09-21");
    assert_eq!(json["status"]["state"], "operational");
    assert_eq!(json["updated_at"], "2026-09-21T14:13:20Z");
    let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        fields(site),
        [
            "checked_at",
            "days",
            "domain",
            "response_time_ms",
            "response_times_ms",
            "state",
            "uptime_percent"
        ]
    );
    assert!(!json.to_string().contains("acc0"), "no id of the account");
}

#[test]
fn long_updates_are_cut_between_characters() {
    assert_eq!(cut("short"), "short");
    let long = "ä".repeat(LONGEST_MESSAGE + 1);
    assert_eq!(cut(&long).chars().count(), LONGEST_MESSAGE + 1);
    assert!(cut(&long).ends_with('…'));
}
