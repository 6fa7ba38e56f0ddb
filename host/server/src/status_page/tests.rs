use chrono::TimeDelta;
use uuid::Uuid;
use vedette_model::{
    AccountId, CheckStatus, Incident, IncidentStatus, IncidentUpdate, MaintenanceWindow, SiteId,
    Timestamp,
    incident::IncidentSeverity,
    status_page::{DayCount, Facts, HourCount, Latest, Tally, Watched, response, uptime},
};

use super::*;

fn now() -> Timestamp {
    Timestamp::from_timestamp(1_790_000_000, 0).expect("within the years")
}

/// Sites like those that there are: most days are good, every fifth site has a bad week.
fn sites(count: u128) -> Vec<Watched> {
    let today = uptime::day(now());
    let this = response::hour(now());
    let day = |number: u128, back: i64| {
        let bad = number % 5 == 3 && back % 13 == 4;
        let down = if bad { 200 } else { 0 };
        DayCount { day: today - back, ok: 1_440 - down, down, ..DayCount::default() }
    };
    let mean = |number: u128, back: i64| {
        let wave = u64::try_from(back * 37).unwrap_or_default() % 90;
        let level = 120 + u64::try_from(number).unwrap_or_default() % 60;
        HourCount { hour: this - back, answers: 60, total_ms: 60 * (level + wave) }
    };
    let site = |number: u128| Watched {
        site: SiteId(Uuid::from_u128(number)),
        domain: format!("service-{number}.eu-central.example.com").parse().expect("a name"),
        latest: vec![Latest {
            check_type: "uptime".parse().expect("a check"),
            status: if number % 17 == 3 { CheckStatus::Down } else { CheckStatus::Ok },
            checked_at: now(),
        }],
        tally: Tally {
            days: (0..90).rev().map(|back| day(number, back)).collect(),
            hours: (0..24).rev().map(|back| mean(number, back)).collect(),
        },
    };
    (0..count).map(site).collect()
}

fn incident(title: &str, message: &str) -> Incident {
    let id = Uuid::from_u128(7);
    Incident {
        id: id.into(),
        account_id: AccountId(Uuid::nil()),
        title: title.to_owned(),
        severity: IncidentSeverity::Major,
        affected_sites: Some(vec![SiteId(Uuid::from_u128(0))]),
        auto_create: false,
        alerts: Vec::new(),
        status: IncidentStatus::Identified,
        updates: vec![IncidentUpdate {
            id: id.into(),
            status: IncidentStatus::Identified,
            message: message.to_owned(),
            author_id: AccountId(Uuid::nil()),
            created_at: now(),
            quotes_alerts: false,
        }],
        created_at: now() - TimeDelta::hours(1),
        updated_at: now(),
        resolved_at: None,
    }
}

fn rendered(title: &str, look: &Look, facts: &Facts) -> Rendered {
    let page = Page::of(title, "https://watch.example.com/status/acme", facts, now());
    Rendered::of(&page, look, "/status/acme").expect("a page can be written")
}

fn text(document: &Document) -> &str {
    std::str::from_utf8(&document.plain).expect("pages are text")
}

#[test]
fn a_hundred_sites_of_ninety_days_stay_below_60_kilobytes() {
    let facts = Facts { sites: sites(100), ..Facts::default() };
    let page = rendered("Acme", &Look::default(), &facts);
    assert!(page.html.plain.len() < 60_000, "{} bytes", page.html.plain.len());
    assert!(page.json.plain.len() < 120_000, "{} bytes", page.json.plain.len());
    let html = text(&page.html);
    assert_eq!(html.matches("<li><h3>").count(), 100);
    assert!(html.contains("Trouble on 7 days: "));
}

#[test]
fn whatever_the_owner_writes_stays_text() {
    let evil = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}";
    let look = Look {
        logo: Some("https://e.example/\"onerror=\"alert(1)".to_owned()),
        favicon: Some("https://e.example/'>\"<script>".to_owned()),
        ..Look::default()
    };
    let facts = Facts {
        sites: sites(1),
        incidents: vec![incident(evil, &format!("{evil}\n]]>\u{1}\u{b}"))],
        ..Facts::default()
    };
    let page = rendered(evil, &look, &facts);
    let html = text(&page.html);
    assert!(!html.contains("<script") && !html.contains("<img src=x"), "{html}");
    assert!(!html.contains("<style") && !html.contains(" style="));
    assert_eq!(html.matches("<title>").count(), 1);
    assert!(!html.contains("\"onerror"), "a quote stays within its attribute");
    assert!(!html.contains(['\u{1}', '\u{b}']), "{html}");
    let rss = text(&page.rss);
    assert!(!rss.contains("<script") && !rss.contains('\u{1}'), "{rss}");
    let json: serde_json::Value = serde_json::from_str(text(&page.json)).expect("JSON");
    assert_eq!(json["incidents"][0]["title"], evil);
}

#[test]
fn what_one_form_cannot_hold_is_in_none() {
    let odd = ['\u{0}', '\u{1b}', '\u{85}', '\u{fffe}', '\u{ffff}'];
    let written: String = odd.iter().copied().chain("said".chars()).collect();
    let window = MaintenanceWindow {
        id: Uuid::from_u128(9).into(),
        account_id: AccountId(Uuid::nil()),
        site_id: None,
        starts_at: now() - TimeDelta::hours(1),
        ends_at: now() + TimeDelta::hours(1),
        description: Some(written.clone()),
        created_at: now(),
    };
    let facts = Facts {
        incidents: vec![incident(&written, &written)],
        windows: vec![window],
        ..Facts::default()
    };
    let page = rendered(&written, &Look::default(), &facts);
    for form in [text(&page.html), text(&page.rss)] {
        assert!(!form.contains(odd) && form.contains("said"), "{form:?}");
    }
    let json: serde_json::Value = serde_json::from_str(text(&page.json)).expect("JSON");
    let incident = &json["incidents"][0];
    assert_eq!(json["title"], "said");
    assert_eq!(incident["title"], "said");
    assert_eq!(incident["updates"][0]["message"], "said");
    assert_eq!(json["maintenance"][0]["description"], "said");
}

#[test]
fn a_feed_has_one_item_for_each_update_and_names_it_for_good() {
    let mut told = incident("Late", "first");
    let mut second = told.updates[0].clone();
    second.id = Uuid::from_u128(8).into();
    second.message = "second\nline".to_owned();
    told.updates.push(second);
    let facts = Facts { incidents: vec![told], ..Facts::default() };
    let rss = rendered("Acme", &Look::default(), &facts).rss;
    let channel = rss::Channel::read_from(&rss.plain[..]).expect("a feed");
    let guids: Vec<_> = channel.items().iter().filter_map(|item| item.guid()).collect();
    let guids: Vec<_> = guids.iter().map(|guid| guid.value()).collect();
    assert_eq!(
        guids,
        [
            "urn:uuid:00000000-0000-0000-0000-000000000008",
            "urn:uuid:00000000-0000-0000-0000-000000000007"
        ]
    );
    assert_eq!(channel.items()[0].title(), Some("Identified: Late"));
    assert_eq!(channel.items()[0].description(), Some("second<br/>line"));
}

#[test]
fn a_feed_can_be_followed_wherever_it_is_read() {
    let url = "https://watch.example.com/status/acme";
    let read = |facts: &Facts| {
        let rss = rendered("Acme & sons <1>", &Look::default(), facts).rss;
        rss::Channel::read_from(&rss.plain[..]).expect("a feed")
    };
    let facts = Facts { incidents: vec![incident("Late", "first")], ..Facts::default() };
    let channel = read(&facts);
    assert_eq!((channel.title(), channel.link()), ("Acme & sons <1>", url));
    assert_eq!(channel.description(), "Incidents of Acme & sons <1>");
    assert_eq!(channel.language(), Some("en"));
    let of_link = channel.extensions()["atom"]["link"][0].attrs();
    assert_eq!(of_link["href"], format!("{url}.rss"));
    assert_eq!(of_link["rel"], "self");
    let item = &channel.items()[0];
    assert_eq!(item.link(), Some(format!("{url}#i-{}", facts.incidents[0].id).as_str()));
    assert!(!item.guid().expect("a name").is_permalink());
    for date in [channel.pub_date(), item.pub_date()] {
        let date = chrono::DateTime::parse_from_rfc2822(date.expect("a date"));
        assert_eq!(date.expect("as RSS writes dates"), now());
    }
    let quiet = read(&Facts::default());
    assert_eq!((quiet.link(), quiet.pub_date(), quiet.items().len()), (url, None, 0));
}

#[test]
fn style_of_the_owner_is_used_as_far_as_the_plan_goes() {
    let settings = NotificationSettings {
        status_page_logo_url: Some("HTTPS://e.example/logo.svg".to_owned()),
        status_page_favicon_url: Some("http://e.example/icon.png".to_owned()),
        status_page_hide_powered_by: true,
        status_page_custom_css: Some("h1 { color: teal }".to_owned()),
        ..NotificationSettings::default()
    };
    let styled = rendered("Acme", &Look::of(&settings, true), &Facts::default());
    let html = text(&styled.html);
    assert!(html.contains("src=\"HTTPS://e.example/logo.svg\""));
    assert!(html.contains("href=\"/status/acme/icon.svg\""), "no image over plain HTTP");
    assert!(html.contains("/status/acme/custom.css") && !html.contains("Powered by"));
    let plain = rendered("Acme", &Look::of(&settings, false), &Facts::default());
    let html = text(&plain.html);
    assert!(!html.contains("logo.svg") && !html.contains("custom.css"));
    assert!(html.contains("Powered by"));
    assert_eq!(text(&plain.custom_css), "");
    assert_eq!(text(&plain.style), plain_style());
}
