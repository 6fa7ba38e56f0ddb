use chrono::{DateTime, TimeDelta};
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::alert::{NoticeStatus, Severity};
use crate::check::{CheckRecord, CheckState, CheckStatus, Source};

fn at(millis: i64) -> Timestamp {
    DateTime::from_timestamp_millis(1_800_000_000_000 + millis).expect("a moment of 2027")
}

fn notice() -> Notice {
    Notice {
        alert_id: Uuid::from_u128(5).into(),
        site_id: Uuid::from_u128(6).into(),
        event: "ssl.expiring".into(),
        alert_type: "ssl".into(),
        severity: Severity::Critical,
        domain: "example.com".into(),
        message: "the certificate expires in 3 days".into(),
        suggestion: None,
        status: NoticeStatus::Raised,
        created_at: at(0),
        ends: Vec::new(),
    }
}

fn decision(notices: Vec<Notice>) -> Decision {
    let record = CheckRecord {
        id: Uuid::from_u128(7).into(),
        site_id: Uuid::from_u128(6).into(),
        check_type: "ssl".parse().expect("a well-formed name"),
        checked_at: at(0),
        status: CheckStatus::Degraded,
        result: Value::Null,
        error: None,
        duration_ms: 12,
        source: Source::Scheduler,
        location: "local".into(),
    };
    Decision {
        record,
        turned: true,
        state: CheckState::default(),
        raised: Vec::new(),
        updated: Vec::new(),
        resolved: Vec::new(),
        notices,
        cert_changes: Vec::new(),
        recheck: false,
        at_once: false,
        unconfirmed_runs: 0,
    }
}

fn account(edition: &str, plan: &str) -> Account {
    Account {
        id: Uuid::from_u128(8).into(),
        email: "owner@example.com".into(),
        full_name: None,
        edition: edition.into(),
        plan: plan.into(),
        created_at: at(0),
    }
}

fn everything_on() -> NotificationSettings {
    let mut settings = NotificationSettings::default();
    let body = json!({
        "email": true, "slack_webhook_url": "https://chat.example/a",
        "discord_webhook_url": "https://chat.example/b", "teams_webhook": "https://chat.example/c",
        "custom_webhook_url": "http://hooks.example/d",
    });
    let highest = Edition::by_id("team").unwrap().highest_plan();
    settings.patch(&body, highest).expect("the highest plan includes every channel");
    settings
}

fn pending() -> Delivery {
    let mut queued =
        queue(&decision(vec![notice()]), &account("team", "team"), &everything_on(), at(0));
    queued.pop().expect("one for each channel")
}

fn retry(after: Option<Duration>) -> Outcome {
    Outcome::Retry { reason: "answered 503".into(), after }
}

#[test]
fn a_commit_is_one_delivery_for_each_channel_of_the_plan() {
    for (edition, plan, channels) in [
        ("standard", "free", vec![]),
        ("standard", "starter", vec!["email", "slack", "discord", "teams", "webhook"]),
        ("team", "free", vec![]),
        ("team", "pro", vec!["email"]),
        ("team", "team", vec!["email", "slack", "discord", "teams", "webhook"]),
        ("team", "starter", vec![]),
        ("unknown", "pro", vec![]),
    ] {
        let decision = decision(vec![notice(), notice()]);
        let queued = queue(&decision, &account(edition, plan), &everything_on(), at(5));
        let names: Vec<&str> = queued.iter().map(|delivery| delivery.channel.as_str()).collect();
        assert_eq!(names, channels, "{edition} {plan}");
        for delivery in queued {
            assert_eq!(delivery.notices, decision.notices);
            assert_eq!((delivery.due_at, delivery.attempt), (at(5), 0));
        }
    }
}

#[test]
fn nothing_to_tell_or_nobody_to_tell_queues_nothing() {
    let pro = account("standard", "pro");
    assert_eq!(queue(&decision(vec![]), &pro, &everything_on(), at(0)), []);
    let silent = NotificationSettings::default();
    assert_eq!(queue(&decision(vec![notice()]), &pro, &silent, at(0)), []);
}

#[test]
fn queueing_twice_makes_the_same_ids() {
    let ids = || -> Vec<DeliveryId> {
        queue(&decision(vec![notice()]), &account("team", "team"), &everything_on(), at(0))
            .into_iter()
            .map(|delivery| delivery.id)
            .collect()
    };
    let mut unique = ids();
    assert_eq!(unique, ids());
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), 5);
    let check = Uuid::from_u128(7).into();
    assert_ne!(stable_id(check, "webhook"), stable_id(Uuid::from_u128(8).into(), "webhook"));
}

#[test]
fn attempts_follow_after_one_and_three_seconds_then_it_failed() {
    let first = pending().after(retry(None), at(250));
    assert_eq!((first.state, first.attempt), (DeliveryState::Pending, 1));
    assert_eq!(first.due_at, at(1250), "1 s after the first attempt ended");
    let second = first.after(retry(None), at(11_250));
    assert_eq!((second.state, second.attempt), (DeliveryState::Pending, 2));
    assert_eq!(second.due_at, at(14_250), "3 s after the second attempt ended");
    let third = second.after(retry(None), at(14_300));
    assert_eq!((third.state, third.attempt), (DeliveryState::Failed, 3));
    assert_eq!(third.last_error.as_deref(), Some("answered 503"));
    assert_eq!(third.finished_at, Some(at(14_300)));
}

#[test]
fn a_2xx_ends_it_at_any_attempt() {
    let delivered = pending().after(retry(None), at(0)).after(Outcome::Delivered, at(1000));
    assert_eq!((delivered.state, delivered.attempt), (DeliveryState::Delivered, 2));
    assert_eq!((delivered.last_error, delivered.finished_at), (None, Some(at(1000))));
}

#[test]
fn a_rejected_delivery_is_not_tried_again() {
    let rejected = pending().after(Outcome::Rejected("no such channel".into()), at(10));
    assert_eq!((rejected.state, rejected.attempt), (DeliveryState::Failed, 1));
    assert_eq!(rejected.last_error.as_deref(), Some("no such channel"));
}

#[test]
fn trouble_of_our_own_costs_no_attempt_for_a_day() {
    let unsent = || Outcome::Unsent("no DNS server answers".into());
    let waits = pending().after(retry(None), at(0)).after(unsent(), at(1_000));
    assert_eq!((waits.state, waits.attempt), (DeliveryState::Pending, 1));
    assert_eq!(waits.last_error.as_deref(), Some("no DNS server answers"));
    let day = 24 * 3_600_000;
    let waits = tried_until(waits, at(day), unsent);
    assert_eq!(waits.attempt, 1);
    let over = waits.due_at;
    let tried = waits.after(unsent(), over);
    let again = over + TimeDelta::seconds(3);
    assert_eq!((tried.attempt, tried.due_at), (2, again), "but not for ever");
    assert_eq!(tried.after(unsent(), again).state, DeliveryState::Failed);
    let held = Delivery { gathered_at: Some(at(day)), due_at: at(day), ..pending() };
    assert_eq!(held.after(unsent(), at(day + 1)).attempt, 0, "maintenance held it back");
}

#[test]
fn attempt_that_a_stop_ended_counts_for_nothing_and_is_due_at_once() {
    let begun = pending().after(retry(None), at(0));
    for before in [pending(), begun] {
        let stopped = before.clone().after(Outcome::Stopped, at(5_000));
        assert_eq!(stopped, Delivery { due_at: at(5_000), ..before });
    }
}

#[test]
fn what_could_not_leave_is_tried_when_attempts_are_and_then_ever_more_seldom() {
    // A relay that is silent takes ten seconds for each.
    for takes in [0, 10] {
        let mut waits = pending();
        for pause in [1, 3, 6, 12, 24, 30, 30] {
            let ended = waits.due_at + TimeDelta::seconds(takes);
            waits = waits.after(Outcome::Unsent("the relay is away".into()), ended);
            assert_eq!(waits.due_at, ended + TimeDelta::seconds(pause));
        }
        assert_eq!((waits.state, waits.attempt), (DeliveryState::Pending, 0));
    }
}

#[test]
fn time_in_which_nobody_ran_is_no_part_of_the_day_that_our_own_trouble_may_last() {
    let unsent = || Outcome::Unsent("no DNS server answers".into());
    let (hour, day) = (3_600_000, 24 * 3_600_000);
    // The machine is off from Friday to Monday, from just after the batch was made.
    let monday = 3 * day;
    for first in [retry(None), unsent()] {
        let attempts = u32::from(first != unsent());
        let woken = pending().after(first, at(monday)).after(unsent(), at(monday + 1_000));
        assert_eq!((woken.state, woken.attempt), (DeliveryState::Pending, attempts));
        // The evening of the same day it sleeps for another night.
        let evening = tried_until(woken, at(monday + 9 * hour), unsent);
        let waits =
            tried_until(evening.after(unsent(), at(monday + day)), at(monday + 38 * hour), unsent);
        assert_eq!((waits.state, waits.attempt), (DeliveryState::Pending, attempts));
        let ended = tried_until(waits, at(monday + 40 * hour), unsent);
        assert_eq!(ended.state, DeliveryState::Failed, "9 hours and 15 are a day");
    }
}

#[test]
fn time_in_which_nobody_ran_is_known_of_what_was_given_back_after_it() {
    let monday = 3 * 24 * 3_600_000;
    let back = pending().given_back(at(monday + 2_000), at(monday));
    assert_eq!((back.due_at, back.attempt), (at(monday + 2_000), 0));
    let unsent = Outcome::Unsent("no DNS server answers".into());
    let waits = back.after(unsent, at(monday + 2_000));
    assert_eq!((waits.state, waits.attempt), (DeliveryState::Pending, 0));
}

/// It is tried whenever it is due before a moment, and ends so each time.
fn tried_until(mut waits: Delivery, until: Timestamp, ends: impl Fn() -> Outcome) -> Delivery {
    while waits.state == DeliveryState::Pending && waits.due_at < until {
        let due = waits.due_at;
        waits = waits.after(ends(), due);
    }
    waits
}

#[test]
fn a_receivers_own_wait_moves_an_attempt_and_adds_none() {
    let asked = pending().after(retry(Some(Duration::from_secs(30))), at(0));
    assert_eq!(asked.due_at, at(30_000));
    let hasty = pending().after(retry(Some(Duration::ZERO)), at(0));
    assert_eq!(hasty.due_at, pending().after(retry(None), at(0)).due_at, "never sooner than ours");
    let capped = asked.after(retry(Some(Duration::from_secs(3600))), at(30_000));
    assert_eq!(capped.due_at, at(90_000));
    let last = capped.after(retry(Some(Duration::from_secs(1))), at(90_000));
    assert_eq!(last.state, DeliveryState::Failed);
}

#[test]
fn a_letter_keeps_its_words_as_long_as_they_may_be_sent_again() {
    let words = Rendered::Email {
        subject: "You are invited".into(),
        text: "t0ken".into(),
        html: None,
        told: Vec::new(),
    };
    let (id, account) = (Uuid::from_u128(9).into(), Uuid::from_u128(8).into());
    let first = letter(id, account, "anna@example.com", words, at(0));
    let again = first.clone().after(retry(None), at(0));
    assert_eq!((again.state, &again.rendered), (DeliveryState::Pending, &first.rendered));
    for outcome in [Outcome::Delivered, Outcome::Rejected("550 no".into())] {
        let ended = again.clone().after(outcome, at(1_000));
        assert_eq!(ended.rendered, None, "{:?}", ended.state);
    }
    let given_up = again.after(retry(None), at(1_000)).after(retry(None), at(4_000));
    assert_eq!((given_up.state, given_up.rendered), (DeliveryState::Failed, None));
}

#[test]
fn an_outbox_row_is_read_back_as_it_was() {
    let mut delivery = pending();
    delivery.rendered = Some(vec![
        Rendered::Http {
            url: "ref:custom_webhook_url".into(),
            method: "POST".into(),
            headers: vec![("content-type".into(), "application/json".into())],
            body: "{}".into(),
        },
        Rendered::Email {
            subject: "s".into(),
            text: "t".into(),
            html: None,
            told: vec![Told { address: "a@example.com".into(), refused: Some("550".into()) }],
        },
    ]);
    let row = serde_json::to_value(&delivery).unwrap();
    assert_eq!(row["created_at"], json!("2027-01-15T08:00:00Z"));
    assert_eq!(row["notices"][0]["status"], json!("raised"));
    assert_eq!(serde_json::from_value::<Delivery>(row).unwrap(), delivery);
}

proptest! {
    #[test]
    fn never_more_than_three_attempts_and_finished_stays_finished(
        outcomes in prop::collection::vec(
            (0..3_u8, prop::option::of(0..200_u64), 0..10_000_i64), 1..8,
        ),
    ) {
        let (mut delivery, mut now) = (pending(), at(0));
        for (kind, after, took) in outcomes {
            let before = delivery.clone();
            now += TimeDelta::milliseconds(took);
            let outcome = match kind {
                0 => Outcome::Delivered,
                1 => Outcome::Rejected("gone".into()),
                _ => retry(after.map(Duration::from_secs)),
            };
            delivery = delivery.after(outcome, now);
            prop_assert!(delivery.attempt <= 3);
            if before.state == DeliveryState::Pending {
                prop_assert_eq!(delivery.attempt, before.attempt + 1);
            } else {
                prop_assert_eq!(&delivery, &before);
            }
            let pending = delivery.state == DeliveryState::Pending;
            prop_assert_eq!(delivery.finished_at.is_none(), pending);
            prop_assert!(!pending || (delivery.attempt < 3 && delivery.due_at >= now));
            prop_assert!(delivery.due_at <= now + LONGEST_WAIT);
        }
    }
}

#[test]
fn what_is_about_one_site_belongs_to_the_alert_that_ended_or_came_first() {
    let alert = |id: u128| crate::AlertId(Uuid::from_u128(id));
    let raised = |id| Notice { alert_id: alert(id), ..notice() };
    let resolved = |id| Notice { status: NoticeStatus::Resolved, ..raised(id) };
    let renewed = Notice { ends: vec![alert(3)], ..raised(4) };
    let elsewhere = Notice { site_id: Uuid::from_u128(60).into(), ..raised(5) };
    for (notices, thread) in [
        (vec![], None),
        (vec![raised(1), raised(2)], Some(alert(1))),
        (vec![raised(2), resolved(1)], Some(alert(1))),
        (vec![raised(2), renewed], Some(alert(3))),
        (vec![raised(1), elsewhere], None),
    ] {
        let mut delivery =
            queue(&decision(vec![notice()]), &account("standard", "pro"), &everything_on(), at(0))
                .remove(0);
        delivery.notices = notices;
        assert_eq!(delivery.thread(), thread);
    }
}
