//! Keys and limits, and an agent that looks at other places than it did.

use std::{future::ready, ops::Range, sync::Arc};

use vedette_model::{AlertFilter, edition::TEAM};

use super::*;
use crate::{Clock, Config, clock::ManualClock, config::Mounted, instance};

#[test]
fn key_is_not_printed() {
    let created = CreatedAgent {
        agent_id: AgentId(uuid::Uuid::from_u128(1)),
        agent_key: "sp_agent_secret".to_owned(),
        agent_name: "dc1".to_owned(),
    };
    assert!(!format!("{created:?}").contains("secret"));
}

#[test]
fn whoever_has_too_many_or_none_is_told_what_to_do() {
    let said = used_up(&TEAM, TEAM.highest_plan()).to_string();
    assert_eq!(said, "the team plan has 10 agents, and all are in use; delete one first");
}

#[test]
fn an_agent_that_is_full_is_judged_on_and_what_it_left_makes_room() {
    with_agent(|app, owner, agent, hand| async move {
        let (soon, before) = fill_behind_one(&app, &owner, &agent, &hand).await;

        hand.advance(HOUR);
        let refused = saw(&app, &agent, 999..1_002, soon).await.expect_err("two are new");
        assert_eq!(refused.to_string(), no_room(2).to_string());
        assert_eq!(alerted(&app, &owner).await, ["h0", "h999"], "what is known is judged");
        assert_eq!(shown(&app, &owner, "h1000").await, None);

        hand.advance(7 * 24 * HOUR);
        saw(&app, &agent, 999..1_002, soon).await.expect("what it left makes room");
        assert_eq!(alerted(&app, &owner).await, ["h1000", "h1001", "h999"]);
        assert_eq!(shown(&app, &owner, "h0").await, None, "it was left the longest ago");
        assert_eq!(certs(&app, &owner).await.expect("they are read").len(), MOST_PLACES);

        hand.advance(HOUR);
        saw(&app, &agent, 0..1, soon).await.expect("another one makes room");
        assert_eq!(alerted(&app, &owner).await, ["h0", "h1000", "h1001", "h999"]);
        assert_eq!(shown(&app, &owner, "h0").await, before, "it is the same place");
        assert_eq!(certs(&app, &owner).await.expect("they are read").len(), MOST_PLACES);
    });
}

#[test]
fn what_a_report_names_stays_however_old_its_look_is() {
    with_agent(|app, owner, agent, hand| async move {
        let noon = app.clock.now();
        let (soon, before) = fill_behind_one(&app, &owner, &agent, &hand).await;

        hand.advance(8 * 24 * HOUR);
        let mut body = told_of(&agent, 0..1, soon, noon);
        let new = told(&agent, MOST_PLACES..1_001, soon)["results"][0].take();
        body["results"].as_array_mut().expect("a list").push(new);
        report(&app, &agent, &body).await.expect("what it names no more makes room");
        assert_eq!(alerted(&app, &owner).await, ["h0", "h1000"], "nothing has ended");
        assert_eq!(shown(&app, &owner, "h0").await, before);
        assert_eq!(certs(&app, &owner).await.expect("they are read").len(), MOST_PLACES);

        let body = told_of(&agent, 1_001..1_002, soon, noon);
        let refused = report(&app, &agent, &body).await.expect_err("there is no room");
        assert_eq!(refused.to_string(), no_room(1).to_string());
        assert_eq!(left_behind(&app, &agent).await, 1, "an old look makes none go");
    });
}

#[test]
fn what_another_report_named_stays_however_old_its_look_is() {
    with_agent(|app, owner, agent, hand| async move {
        let noon = app.clock.now();
        let (soon, before) = fill_behind_one(&app, &owner, &agent, &hand).await;

        hand.advance(8 * 24 * HOUR);
        let first = told_of(&agent, 0..1, soon, noon);
        report(&app, &agent, &first).await.expect("nothing of it is new");
        saw(&app, &agent, MOST_PLACES..1_001, soon).await.expect("what none names makes room");
        assert_eq!(alerted(&app, &owner).await, ["h0", "h1000"], "nothing has ended");
        assert_eq!(shown(&app, &owner, "h0").await, before);
        assert_eq!(certs(&app, &owner).await.expect("they are read").len(), MOST_PLACES);
        assert_eq!(left_behind(&app, &agent).await, 1);
    });
}

#[test]
fn what_no_report_names_for_a_week_goes_though_there_is_room() {
    with_agent(|app, owner, agent, hand| async move {
        let soon = app.clock.now() + TimeDelta::days(12);
        saw(&app, &agent, 0..2, soon).await.expect("there is room");
        for _ in 0..7 {
            hand.advance(24 * HOUR);
            saw(&app, &agent, 1..2, soon).await.expect("there is room");
        }
        assert_eq!(alerted(&app, &owner).await, ["h0", "h1"], "it was named a week ago");
        // Somebody looked just now.
        hand.advance(HOUR / 2);
        saw(&app, &agent, 1..2, soon).await.expect("there is room");
        assert_eq!(alerted(&app, &owner).await, ["h0", "h1"]);
        hand.advance(HOUR / 2);
        saw(&app, &agent, 1..2, soon).await.expect("there is room");
        assert_eq!(alerted(&app, &owner).await, ["h1"]);
        assert_eq!(shown(&app, &owner, "h0").await, None);
        assert!(shown(&app, &owner, "h1").await.is_some());
    });
}

#[test]
fn an_agent_that_was_silent_loses_nothing() {
    with_agent(|app, owner, agent, hand| async move {
        let soon = app.clock.now() + TimeDelta::days(12);
        saw(&app, &agent, 0..2, soon).await.expect("there is room");
        hand.advance(8 * 24 * HOUR);
        // It comes back with a part of its places.
        for _ in 0..3 {
            saw(&app, &agent, 1..2, soon).await.expect("there is room");
            hand.advance(2 * HOUR);
        }
        assert_eq!(alerted(&app, &owner).await, ["h0", "h1"]);
    });
}

#[test]
fn what_expires_while_its_agent_is_silent_is_told() {
    with_agent(|app, owner, agent, hand| async move {
        let noon = app.clock.now();
        saw(&app, &agent, 0..1, noon + TimeDelta::days(20)).await.expect("there is room");
        saw(&app, &agent, 1..2, noon + TimeDelta::days(90)).await.expect("there is room");
        let before = last_seen(&app, &owner, "h0").await;
        assert!(told_in_silence(&app, &owner).await.is_empty());
        hand.advance(6 * 24 * HOUR);
        for _ in 0..3 {
            assert_eq!(told_in_silence(&app, &owner).await, ["h0 ssl.expiring"]);
            hand.advance(HOUR);
        }
        hand.advance(14 * 24 * HOUR);
        assert_eq!(told_in_silence(&app, &owner).await, ["h0 ssl.expired"]);
        assert_eq!(last_seen(&app, &owner, "h0").await, before, "nobody has looked");

        hand.advance(HOUR);
        saw(&app, &agent, 0..1, noon + TimeDelta::days(110)).await.expect("it is back");
        let told = told_in_silence(&app, &owner).await;
        assert!(!told.contains(&"h0 ssl.expired".to_owned()), "it was renewed: {told:?}");
    });
}

#[test]
fn while_reports_may_be_missing_nothing_is_judged_without_them() {
    with_agent(|app, owner, agent, hand| async move {
        let soon = app.clock.now() + TimeDelta::hours(2);
        saw(&app, &agent, 0..1, soon).await.expect("there is room");
        hand.advance(3 * HOUR);
        assert_eq!(told_in_silence(&app, &owner).await, ["h0 ssl.expiring"]);
        hand.advance(HOUR);
        assert_eq!(told_in_silence(&app, &owner).await, ["h0 ssl.expired"]);
    });
}

#[test]
fn what_was_let_go_is_judged_by_every_look_that_brings_it_back() {
    with_agent(|app, owner, agent, hand| async move {
        let noon = app.clock.now();
        let (soon, before) = fill_behind_one(&app, &owner, &agent, &hand).await;

        hand.advance(8 * 24 * HOUR);
        saw(&app, &agent, MOST_PLACES..1_001, soon).await.expect("h0 makes room");
        assert_eq!(alerted(&app, &owner).await, ["h1000"]);

        // Room for it, without anything that its report would have to let go.
        let all = app.store.sightings_of(owner.account.id, agent.id).await.expect("they are read");
        let h1 = all.iter().find(|one| one.place.host == "h1").expect("it is there");
        let gone = app.store.let_go(owner.account.id, agent.id, &[h1.id], app.clock.now()).await;
        assert_eq!(gone.expect("it goes"), 1);

        let late = told_of(&agent, 0..1, soon, noon + TimeDelta::minutes(1));
        let taken_in = report(&app, &agent, &late).await.expect("there is room");
        assert_eq!(taken_in.alerts_created, 1);
        assert_eq!(alerted(&app, &owner).await, ["h0", "h1000"]);
        assert_eq!(shown(&app, &owner, "h0").await, before, "it is the same place");
    });
}

#[test]
fn an_agent_leaves_so_many_places_behind_and_no_more() {
    with_agent(|app, owner, agent, hand| async move {
        let noon = app.clock.now();
        let until = noon + TimeDelta::days(90);
        fill(&app, &agent, 0..MOST_PLACES, until).await;
        let all = app.store.sightings_of(owner.account.id, agent.id).await.expect("they are read");
        let all_but_one: Vec<_> = all[1..].iter().map(|one| one.id).collect();
        let before = noon + TimeDelta::seconds(1);
        let gone = app.store.let_go(owner.account.id, agent.id, &all_but_one, before).await;
        assert_eq!(gone.expect("they go"), 999);
        hand.advance(HOUR);
        fill(&app, &agent, 1_000..1_999, until).await;

        hand.advance(8 * 24 * HOUR);
        let refused = saw(&app, &agent, 1_999..2_001, until).await.expect_err("one goes");
        assert_eq!(refused.to_string(), no_room(1).to_string());
        assert_eq!(left_behind(&app, &agent).await, 1_000);
        let refused = saw(&app, &agent, 2_001..2_002, until).await.expect_err("none goes");
        assert_eq!(refused.to_string(), no_room(1).to_string());
        assert_eq!(left_behind(&app, &agent).await, 1_000);
        assert_eq!(certs(&app, &owner).await.expect("they are read").len(), MOST_PLACES);
    });
}

#[test]
fn a_certificate_that_lives_for_a_day_is_told_once_its_renewal_is_overdue() {
    with_agent(|app, owner, agent, hand| async move {
        let noon = app.clock.now();
        let mut body = told(&agent, 0..1, noon + TimeDelta::hours(24));
        body["results"][0]["certificates"][0]["not_before"] = json!(noon);
        for (hours, expected) in [(1_u32, 0), (16, 0), (2, 1), (1, 0)] {
            hand.advance(hours * HOUR);
            let taken_in = report(&app, &agent, &body).await.expect("there is room");
            assert_eq!(taken_in.alerts_created, expected, "{hours} hours later");
        }
        let open = AlertFilter { resolved: Some(false), limit: 50, ..AlertFilter::default() };
        let page = app.store.alerts(owner.account.id, &open).await.expect("the store answers");
        let alert = page.items.first().expect("an alert");
        let suggestion = alert.suggestion.as_deref().expect("a suggestion");
        assert!(!suggestion.contains("alert_days"), "nobody can set them: {suggestion}");
    });
}

/// Runs a test of an agent of the team edition, by a clock that stands at noon.
fn with_agent<F: Future<Output = ()> + Send + 'static>(
    test: impl FnOnce(Arc<App>, Caller, Agent, ManualClock) -> F + Send + 'static,
) {
    let (clock, hand) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    let config = Config { edition: Mounted::Team, ..instance::config() };
    instance::with_app(ready(config), clock, move |app| async move {
        let owner = instance::owner(&app, &TEAM).await;
        let made = create(&app, &owner, &json!({})).await.expect("a good body");
        let agent = authenticate(&app, &TEAM, &made.agent_key).await.expect("its key");
        test(app, owner, agent, hand).await;
    });
}

/// Fills an agent, an hour after it saw `h0`: answers until when the certificates there are valid, and
/// how that one is shown.
async fn fill_behind_one(
    app: &App,
    owner: &Caller,
    agent: &Agent,
    hand: &ManualClock,
) -> (Timestamp, Option<Value>) {
    let noon = app.clock.now();
    let soon = noon + TimeDelta::days(10);
    saw(app, agent, 0..1, soon).await.expect("there is room");
    let before = shown(app, owner, "h0").await;
    hand.advance(HOUR);
    fill(app, agent, 1..MOST_PLACES, noon + TimeDelta::days(90)).await;
    (soon, before)
}

/// How many places make room and did not come back.
async fn left_behind(app: &App, agent: &Agent) -> u64 {
    app.store.count_let_go(agent.account.id, agent.id).await.expect("they are counted")
}

/// Brings a report.
async fn saw(app: &App, agent: &Agent, hosts: Range<usize>, until: Timestamp) -> Result<Reported> {
    report(app, agent, &told(agent, hosts, until)).await
}

/// Notes what reports tell, without the time that it takes to judge all of it.
async fn fill(app: &App, agent: &Agent, hosts: Range<usize>, until: Timestamp) {
    let now = app.clock.now();
    for first in hosts.clone().step_by(OF_A_REPORT) {
        let some = first..hosts.end.min(first + OF_A_REPORT);
        let report = Report::parse(&told(agent, some, until)).expect("it fits");
        let looks: Vec<_> = report.looks.into_iter().map(|look| (now, look)).collect();
        let left_out = note(app, agent, &looks.iter().collect::<Vec<_>>(), now).await;
        assert!(left_out.expect("it is noted").is_empty());
    }
}

/// A report of a certificate at each of these hosts, all of them valid until the same moment.
fn told(agent: &Agent, hosts: Range<usize>, until: Timestamp) -> Value {
    let seen = |nth: usize| {
        let certificate = json!({
            "subject": format!("CN=h{nth}"), "issuer": "CN=Corp CA", "not_after": until,
        });
        json!({ "host": format!("h{nth}"), "port": 443, "certificates": [certificate] })
    };
    json!({ "agent_id": agent.id, "results": hosts.map(seen).collect::<Vec<_>>() })
}

/// The same of looks that were made then.
fn told_of(agent: &Agent, hosts: Range<usize>, until: Timestamp, at: Timestamp) -> Value {
    let mut body = told(agent, hosts, until);
    for result in body["results"].as_array_mut().expect("a list") {
        result["checked_at"] = json!(at);
    }
    body
}

/// The id by which a host's certificate is listed.
async fn shown(app: &App, owner: &Caller, host: &str) -> Option<Value> {
    let listed = certs(app, owner).await.expect("they are read");
    listed.into_iter().find(|one| one["host"] == host).map(|one| one["id"].clone())
}

/// When an agent looked at a host last.
async fn last_seen(app: &App, owner: &Caller, host: &str) -> Option<Value> {
    let listed = certs(app, owner).await.expect("they are read");
    listed.into_iter().find(|one| one["host"] == host).map(|one| one["last_seen_at"].clone())
}

/// What is open once what silent agents saw was judged.
async fn told_in_silence(app: &App, owner: &Caller) -> Vec<String> {
    judge_silent(app, &CancellationToken::new()).await.expect("the store answers");
    let open = AlertFilter { resolved: Some(false), limit: 50, ..AlertFilter::default() };
    let page = app.store.alerts(owner.account.id, &open).await.expect("the store answers");
    page.items.into_iter().map(|alert| format!("{} {}", alert.domain, alert.event)).collect()
}

/// What has an open alert, by its name.
async fn alerted(app: &App, owner: &Caller) -> Vec<String> {
    let open = AlertFilter { resolved: Some(false), limit: 50, ..AlertFilter::default() };
    let page = app.store.alerts(owner.account.id, &open).await.expect("the store answers");
    let mut names: Vec<String> = page.items.into_iter().map(|alert| alert.domain).collect();
    names.sort_unstable();
    names
}

const HOUR: Duration = Duration::from_secs(3_600);
/// Results of one report at most.
const OF_A_REPORT: usize = 500;
