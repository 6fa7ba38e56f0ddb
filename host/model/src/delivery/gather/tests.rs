mod flood;
mod silence;

use chrono::DateTime;
use uuid::Uuid;

use super::*;
use crate::Severity;
use crate::alert::NoticeStatus;

fn at(seconds: i64) -> Timestamp {
    DateTime::from_timestamp(1_800_000_000 + seconds, 0).expect("a moment of 2027")
}

fn alert(nth: u128, site: u128, severity: Severity, raised: i64) -> Alert {
    Alert {
        id: Uuid::from_u128(nth).into(),
        account_id: Uuid::from_u128(8).into(),
        site_id: Uuid::from_u128(site).into(),
        domain: format!("s{site}.example"),
        check_type: "uptime".parse().expect("a well-formed name"),
        event: "site.down".into(),
        alert_type: "uptime".into(),
        key: nth.to_string(),
        severity,
        message: format!("{nth}"),
        suggestion: None,
        details: None,
        self_resolving: true,
        is_resolved: false,
        created_at: at(raised),
        updated_at: at(raised),
        resolved_at: None,
    }
}

fn down(nth: u128, raised: i64) -> Alert {
    alert(nth, 1, Severity::Critical, raised)
}

fn delivery(id: u128, queued: i64, notices: Vec<Notice>) -> Delivery {
    Delivery {
        id: DeliveryId(Uuid::from_u128(id)),
        account_id: Uuid::from_u128(8).into(),
        channel: "webhook".into(),
        to: None,
        own: notices.iter().map(|notice| notice.alert_id).collect(),
        notices,
        batch_id: None,
        created_at: at(queued),
        gathered_at: None,
        patient_since: None,
        due_at: at(queued),
        attempt: 0,
        unsent: 0,
        epoch: 0,
        state: DeliveryState::Pending,
        rendered: None,
        last_error: None,
        finished_at: None,
    }
}

/// The delivery of a commit that raised an alert.
fn raise(id: u128, alert: &Alert) -> Delivery {
    let mut raised = delivery(id, 0, vec![alert.notice(NoticeStatus::Raised)]);
    raised.created_at = alert.created_at;
    raised
}

fn end(id: u128, queued: i64, alert: &Alert) -> Delivery {
    delivery(id, queued, vec![alert.notice(NoticeStatus::Resolved)])
}

const EMPTY: Lane<'_> = Lane {
    quiet_at: None,
    waiting: &[],
    held: &[],
    windows: &[],
    asked: &[],
    alerts: &[],
    batch_max: LISTED,
    behind: &[],
    tried_at: None,
};
const LISTED: usize = many::LISTED;

/// Of a lane in which nothing is held back.
fn gathered(lane: &Lane<'_>, now: i64) -> Gathering {
    let gathering = decided(lane, now);
    assert_eq!(gathering.deliveries().len(), lane.waiting.len(), "each is decided about");
    gathering
}

fn decided(lane: &Lane<'_>, now: i64) -> Gathering {
    match plan(lane, at(now)) {
        Plan::Gather(gathering) => {
            let mut decided = gathering.deliveries();
            let all = decided.len();
            decided.sort();
            decided.dedup();
            assert_eq!(decided.len(), all, "each is decided about once");
            gathering
        }
        other => panic!("{other:?}"),
    }
}

/// The messages of each notification.
fn said(gathering: &Gathering) -> Vec<Vec<(String, NoticeStatus)>> {
    let said = |one: &Notice| (one.message.clone(), one.status);
    gathering.batches.iter().map(|batch| batch.head.notices.iter().map(said).collect()).collect()
}

fn raised_as(nth: u128) -> (String, NoticeStatus) {
    (nth.to_string(), NoticeStatus::Raised)
}

#[test]
fn quiet_lane_sends_at_once_and_what_follows_waits_for_the_end_of_the_window() {
    let one = [raise(1, &down(1, 0))];
    let first = gathered(&Lane { waiting: &one, ..EMPTY }, 0);
    assert_eq!((first.batches.len(), first.quiet_at), (1, at(2)));
    assert_eq!(first.batches[0].head.batch_id, Some(one[0].id));

    let two = [raise(3, &down(3, 1)), raise(2, &down(2, 0))];
    let open = Lane { waiting: &two, quiet_at: Some(at(2)), ..EMPTY };
    for now in [0, 1] {
        assert_eq!(plan(&open, at(now)), Plan::Rest(at(2)), "{now}");
    }
    let second = gathered(&open, 2);
    assert_eq!(said(&second), [[raised_as(2), raised_as(3)]]);
    assert_eq!(second.batches[0].head.id, two[1].id, "the oldest is the head");
    assert_eq!(second.batches[0].merged, [two[0].id]);
    assert_eq!(second.quiet_at, at(4));
    assert_eq!(plan(&EMPTY, at(0)), Plan::Nothing);
}

#[test]
fn window_that_a_wrong_clock_opened_holds_nothing_up() {
    let one = [raise(1, &down(1, 0))];
    let lane = Lane { waiting: &one, quiet_at: Some(at(11)), ..EMPTY };
    let gathering = gathered(&lane, 0);
    assert_eq!((gathering.batches.len(), gathering.quiet_at), (1, at(2)));
    assert_eq!(plan(&lane, at(1)), Plan::Rest(at(3)));
}

#[test]
fn alert_that_got_worse_is_told_once_and_its_end_after_it() {
    let warning = alert(1, 1, Severity::Warning, 0);
    let worse = Alert { severity: Severity::Critical, message: "worse".into(), ..warning.clone() };
    let rise = delivery(2, 1, vec![worse.notice(NoticeStatus::Raised)]);
    let all = [raise(1, &warning), rise, end(3, 2, &worse)];
    let gathering = gathered(&Lane { waiting: &all, ..EMPTY }, 2);
    let worse = |status| ("worse".to_owned(), status);
    assert_eq!(said(&gathering), [[worse(NoticeStatus::Raised), worse(NoticeStatus::Resolved)]]);
    assert_eq!(gathering.batches[0].merged.len(), 2);
}

#[test]
fn notification_carries_no_more_than_its_channel_and_never_divides_a_commit() {
    let commit = |id: u128, alerts: std::ops::Range<u128>| {
        let notices = alerts.map(|nth| down(nth, 0).notice(NoticeStatus::Raised)).collect();
        delivery(id, i64::try_from(id).expect("small"), notices)
    };
    let all =
        [commit(1, 0..3), commit(2, 3..5), commit(3, 5..9), commit(4, 9..16), commit(5, 16..17)];
    let gathering = gathered(&Lane { waiting: &all, batch_max: 5, ..EMPTY }, 9);
    let sizes: Vec<usize> =
        gathering.batches.iter().map(|batch| batch.head.notices.len()).collect();
    assert_eq!(sizes, [5, 4, 7, 1]);
}

#[test]
fn batch_of_several_sites_is_shared() {
    let same = [raise(1, &down(1, 0)), raise(2, &down(2, 0))];
    assert!(!gathered(&Lane { waiting: &same, ..EMPTY }, 0).batches[0].shared);
    let other = [raise(1, &down(1, 0)), raise(2, &alert(2, 2, Severity::Info, 0))];
    assert!(gathered(&Lane { waiting: &other, ..EMPTY }, 0).batches[0].shared);
}

#[test]
fn what_is_about_a_site_goes_after_a_batch_of_that_site_that_is_not_through() {
    let (own, other) = (end(1, 0, &down(1, 0)), raise(2, &alert(2, 2, Severity::Critical, 0)));
    let behind = [down(1, 0).site_id];
    let alone = [own.clone()];
    let lane = Lane { waiting: &alone, behind: &behind, ..EMPTY };
    assert_eq!(plan(&lane, at(1)), Plan::Rest(at(3)), "others may come in meanwhile");
    // As long as a receiver is given it may be through at any moment.
    for (tried_at, looked_at) in [(0, 3), (2, 3), (4, 3), (7, 7), (61, 11)] {
        let lane = Lane { tried_at: Some(at(tried_at)), ..lane };
        assert_eq!(plan(&lane, at(1)), Plan::Rest(at(looked_at)), "{tried_at}");
    }
    let both = [own, other];
    let Plan::Gather(gathering) = plan(&Lane { waiting: &both, ..lane }, at(1)) else {
        panic!("the other site waits for nobody");
    };
    assert_eq!(gathering.deliveries(), [both[1].id]);
    assert_eq!(gathered(&Lane { waiting: &both, ..EMPTY }, 16).batches.len(), 1);
}

#[test]
fn batch_goes_after_those_of_its_gathering_that_speak_of_a_site_of_it() {
    let of = |id, site| raise(id, &alert(id, site, Severity::Critical, 0));
    let all = [of(1, 1), of(2, 2), of(3, 1), of(4, 1)];
    for (batch_max, expected) in [
        (1, vec![vec![], vec![], vec![1_u128], vec![1, 3]]),
        (2, vec![vec![], vec![1]]),
        (100, vec![vec![]]),
    ] {
        let gathering = gathered(&Lane { waiting: &all, batch_max, ..EMPTY }, 9);
        let mut before: Vec<Vec<u128>> = Vec::new();
        for nth in 0..gathering.batches.len() {
            before.push(gathering.before(nth).into_iter().map(|id| id.0.as_u128()).collect());
        }
        assert_eq!(before, expected, "{batch_max}");
    }
}
