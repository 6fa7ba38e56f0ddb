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

fn up(nth: u128, raised: i64) -> Alert {
    Alert { event: "site.up".into(), ..alert(nth, 1, Severity::Info, raised) }
}

fn resolved(alert: &Alert) -> Alert {
    Alert { is_resolved: true, ..alert.clone() }
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

fn silenced(delivery: Delivery) -> Delivery {
    Delivery { state: DeliveryState::Silenced, ..delivery }
}

fn window(starts: i64, ends: i64) -> MaintenanceWindow {
    MaintenanceWindow {
        id: Uuid::from_u128(10).into(),
        account_id: Uuid::from_u128(8).into(),
        site_id: Some(Uuid::from_u128(1).into()),
        starts_at: at(starts),
        ends_at: at(ends),
        description: None,
        created_at: at(0),
    }
}

const EMPTY: Lane<'_> = Lane {
    quiet_at: None,
    waiting: &[],
    windows: &[],
    asked: &[],
    alerts: &[],
    batch_max: LISTED,
    behind: &[],
    tried_at: None,
};
const LISTED: usize = many::LISTED;

fn gathered(lane: &Lane<'_>, now: i64) -> Gathering {
    match plan(lane, at(now)) {
        Plan::Gather(gathering) => {
            let mut decided = gathering.deliveries();
            decided.sort();
            decided.dedup();
            assert_eq!(decided.len(), lane.waiting.len(), "each is decided about once");
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

/// What is said of deliveries that were silenced, when the silence is over: the same, whether they
/// were looked at while it lasted or not.
fn said_late(waiting: Vec<Delivery>, alerts: &[&Alert]) -> Vec<(String, NoticeStatus)> {
    let alerts: Vec<Alert> = alerts.iter().copied().cloned().collect();
    let told = |waiting: &[Delivery], windows: &[MaintenanceWindow]| {
        let asked = asks(waiting, windows);
        let lane = Lane { waiting, windows, asked: &asked, alerts: &alerts, ..EMPTY };
        said(&gathered(&lane, 100)).concat()
    };
    let seen = told(&waiting, &[]);
    let unseen = |one: &Delivery| Delivery { state: DeliveryState::Pending, ..one.clone() };
    let unseen: Vec<Delivery> = waiting.iter().map(unseen).collect();
    assert_eq!(told(&unseen, &[window(5, 100)]), seen);
    seen
}

fn raised_as(nth: u128) -> (String, NoticeStatus) {
    (nth.to_string(), NoticeStatus::Raised)
}

fn resolved_as(nth: u128) -> (String, NoticeStatus) {
    (nth.to_string(), NoticeStatus::Resolved)
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
fn flood_is_told_by_its_worst_and_a_sentence_about_the_others() {
    let severity = |nth: u128| match nth {
        0..1290 => Severity::Warning,
        _ => Severity::Critical,
    };
    let all: Vec<Delivery> =
        (0..1333_u128).map(|nth| raise(nth, &alert(nth, nth % 987, severity(nth), 0))).collect();
    let gathering = gathered(&Lane { waiting: &all, ..EMPTY }, 9);
    assert_eq!((gathering.batches.len(), gathering.quiet_at), (1, at(19)));
    let batch = &gathering.batches[0];
    assert_eq!((batch.head.notices.len(), batch.summarised.len()), (100, 1234));
    assert!(batch.shared);
    let summary = batch.head.notices.last().expect("100 of them");
    assert!(summary.message.starts_with("1 234 more alerts on 987 sites; "), "{}", summary.message);
    assert_eq!((summary.severity, summary.site_id.0), (Severity::Warning, Uuid::nil()));
    let critical =
        batch.head.notices.iter().filter(|one| one.severity == Severity::Critical).count();
    assert_eq!(critical, 43, "the worst are listed");
}

#[test]
fn flood_on_a_channel_that_carries_one_ends_with_a_notification_of_its_own() {
    let all: Vec<Delivery> =
        (0..130_u128).map(|nth| raise(nth, &alert(nth, nth, Severity::Warning, 0))).collect();
    for (batch_max, notifications) in [(1, 100), (2, 99)] {
        let gathering = gathered(&Lane { waiting: &all, batch_max, ..EMPTY }, 9);
        assert_eq!((gathering.batches.len(), gathering.quiet_at), (notifications, at(19)));
        let sizes = gathering.batches.iter().map(|batch| batch.head.notices.len());
        assert!(sizes.max().is_some_and(|most| most <= batch_max), "{batch_max}");
        let last = gathering.batches.last().expect("they were counted");
        let summary = last.head.notices.last().expect("no notification says nothing");
        assert!(summary.message.starts_with("31 more alerts on 31 sites; "), "{}", summary.message);
        assert_eq!(last.summarised.len(), 31 - usize::from(batch_max == 1));
        assert!(last.shared);
    }
}

#[test]
fn what_is_raised_after_a_flood_waits_no_longer_than_ever() {
    let after = Lane { quiet_at: Some(at(19)), ..EMPTY };
    for (raised, goes, quiet_at) in [(9, 11, 19), (12, 14, 19), (16, 18, 20), (18, 19, 21)] {
        let one = [raise(1, &down(1, raised))];
        let lane = Lane { waiting: &one, ..after };
        assert_eq!(plan(&lane, at(raised)), Plan::Rest(at(goes)), "{raised}");
        let gathering = gathered(&lane, goes);
        let said = (gathering.batches.len(), gathering.quiet_at);
        assert_eq!(said, (1, at(quiet_at)), "{raised}: the flood's own window stays open");
    }
    // Left over when the flood was told.
    let left = [raise(1, &down(1, 0))];
    assert_eq!(plan(&Lane { waiting: &left, ..after }, at(10)), Plan::Rest(at(11)));
}

#[test]
fn what_is_more_than_can_be_listed_after_a_flood_waits_for_the_end_of_its_window() {
    let all: Vec<Delivery> = (0..101).map(|nth| raise(nth, &down(nth, 12))).collect();
    let after = Lane { waiting: &all, quiet_at: Some(at(19)), ..EMPTY };
    for now in [12, 14, 18] {
        assert_eq!(plan(&after, at(now)), Plan::Rest(at(19)), "{now}");
    }
    assert_eq!(gathered(&after, 19).quiet_at, at(29));
    let listed = Lane { waiting: &all[..100], ..after };
    assert_eq!(said(&gathered(&listed, 14))[0].len(), 100);
}

#[test]
fn flood_that_goes_on_is_told_six_times_a_minute() {
    let (mut waiting, mut quiet_at, mut told) = (Vec::new(), None, Vec::new());
    for second in 0..60_u32 {
        let alerts = (0..60_u32).map(|nth| down(u128::from(second * 60 + nth), second.into()));
        waiting.extend(alerts.map(|alert| raise(alert.id.0.as_u128(), &alert)));
        let lane = Lane { waiting: &waiting, quiet_at, ..EMPTY };
        if let Plan::Gather(gathering) = plan(&lane, at(second.into())) {
            quiet_at = Some(gathering.quiet_at);
            waiting.clear();
            told.push(second);
        }
    }
    assert_eq!(told, [0, 2, 12, 22, 32, 42, 52]);
}

#[test]
fn a_hundred_are_listed_without_a_summary() {
    let all: Vec<Delivery> = (0..100).map(|nth| raise(nth, &down(nth, 0))).collect();
    let gathering = gathered(&Lane { waiting: &all, ..EMPTY }, 9);
    assert_eq!(gathering.batches[0].head.notices.len(), 100);
    assert_eq!((gathering.batches[0].merged.len(), gathering.quiet_at), (99, at(11)));
}

#[test]
fn batch_of_several_sites_is_shared() {
    let same = [raise(1, &down(1, 0)), raise(2, &down(2, 0))];
    assert!(!gathered(&Lane { waiting: &same, ..EMPTY }, 0).batches[0].shared);
    let other = [raise(1, &down(1, 0)), raise(2, &alert(2, 2, Severity::Info, 0))];
    assert!(gathered(&Lane { waiting: &other, ..EMPTY }, 0).batches[0].shared);
}

#[test]
fn silence_defers_its_sites_to_the_end_of_the_last_window_and_no_other() {
    let all = [raise(1, &down(1, 0)), raise(2, &alert(2, 2, Severity::Critical, 0))];
    let windows = [window(0, 10), window(10, 20)];
    let alerts = [down(1, 0), alert(2, 2, Severity::Critical, 0)];
    let asked = asks(&all, &windows);
    let lane = Lane { waiting: &all, windows: &windows, asked: &asked, alerts: &alerts, ..EMPTY };
    for (now, until) in [(-1, None), (0, Some(20)), (9, Some(20)), (19, Some(20)), (20, None)] {
        let gathering = gathered(&lane, now);
        let deferred: Vec<_> = until.map(|until| (all[0].id, at(until))).into_iter().collect();
        assert_eq!(gathering.deferred, deferred, "{now}");
        assert_eq!(gathering.batches.len(), 1, "{now}");
    }
    let alone = Lane { waiting: &all[..1], ..lane };
    let gathering = gathered(&alone, 5);
    assert_eq!((gathering.batches.len(), gathering.quiet_at), (0, at(5)), "it opens no window");
}

#[test]
fn what_was_silenced_is_not_judged_before_its_alerts_were_read() {
    let all = [silenced(raise(1, &down(1, 0)))];
    assert_eq!(plan(&Lane { waiting: &all, ..EMPTY }, at(50)), Plan::Nothing);
    assert_eq!(asks(&all, &[]), [down(1, 0).id]);
    assert_eq!(asks(&[raise(1, &down(1, 0))], &[]), []);
}

#[test]
fn whoever_was_queued_inside_a_window_is_judged_by_his_alerts_and_nobody_else() {
    let all = [raise(1, &down(1, 10))];
    for (window, inside) in [
        (window(0, 10), false),
        (window(10, 11), true),
        (window(0, 60), true),
        (window(11, 60), false),
        (MaintenanceWindow { site_id: Some(Uuid::from_u128(2).into()), ..window(0, 60) }, false),
        (MaintenanceWindow { site_id: None, ..window(0, 60) }, true),
    ] {
        let windows = [window];
        assert_eq!(asks(&all, &windows).len(), usize::from(inside), "{windows:?}");
        // Over since: told by whoever was never silenced, and by nobody else.
        let (asked, over) = (asks(&all, &windows), [resolved(&down(1, 10))]);
        let lane = Lane { waiting: &all, windows: &windows, asked: &asked, alerts: &over, ..EMPTY };
        let gathering = gathered(&lane, 100);
        assert_eq!(gathering.batches.len(), usize::from(!inside), "{windows:?}");
        assert_eq!(gathering.dropped.len(), usize::from(inside), "{windows:?}");
    }
}

#[test]
fn after_a_silence_only_what_still_holds_is_told_and_once() {
    let (one, two) = (down(1, 10), down(2, 20));
    let raised = |alert: &Alert| silenced(raise(alert.id.0.as_u128(), alert));
    // Still down.
    assert_eq!(said_late(vec![raised(&one)], &[&one]), [raised_as(1)]);
    // Over, with and without a word about its end; gone with its site.
    let over = resolved(&one);
    assert_eq!(said_late(vec![raised(&one)], &[&over]), []);
    assert_eq!(said_late(vec![raised(&one), silenced(end(5, 30, &over))], &[&over]), []);
    assert_eq!(said_late(vec![raised(&one), end(5, 101, &over)], &[&over]), []);
    assert_eq!(said_late(vec![raised(&one)], &[]), []);
    // Over, and down again under another alert.
    let all = vec![raised(&one), silenced(end(5, 15, &over)), raised(&two)];
    assert_eq!(said_late(all, &[&over, &two]), [raised_as(2)]);
    // Raised as a warning and worse since: as it is now, once.
    let now = Alert { severity: Severity::Critical, ..alert(3, 1, Severity::Warning, 10) };
    let rise = delivery(6, 20, vec![now.notice(NoticeStatus::Raised)]);
    let all = [silenced(raise(3, &alert(3, 1, Severity::Warning, 10))), silenced(rise)];
    let asked = asks(&all, &[]);
    let alerts = [now];
    let lane = Lane { waiting: &all, asked: &asked, alerts: &alerts, ..EMPTY };
    let gathering = gathered(&lane, 100);
    assert_eq!(gathering.batches[0].head.notices, [alerts[0].notice(NoticeStatus::Raised)]);
}

#[test]
fn what_was_told_before_a_silence_ends_or_gets_worse_after_it() {
    let before = down(1, -50);
    let over = resolved(&before);
    assert_eq!(said_late(vec![silenced(end(5, 15, &over))], &[&over]), [resolved_as(1)]);
    // Its owner has opened it again.
    assert_eq!(said_late(vec![silenced(end(5, 15, &over))], &[&before]), []);
    let rise = silenced(delivery(6, 20, vec![before.notice(NoticeStatus::Raised)]));
    assert_eq!(said_late(vec![rise.clone()], &[&before]), [raised_as(1)]);
    // No worse any more than what was told.
    let milder = Alert { severity: Severity::Warning, ..before };
    assert_eq!(said_late(vec![rise.clone()], &[&milder]), []);
    assert_eq!(said_late(vec![rise, silenced(end(7, 30, &over))], &[&over]), [resolved_as(1)]);
}

#[test]
fn news_of_an_end_is_told_when_the_beginning_was() {
    let (one, back, two, again) = (down(1, 10), up(2, 20), down(3, 30), up(4, 40));
    let raised = |alert: &Alert| silenced(raise(alert.id.0.as_u128(), alert));
    // `site.up` resolves itself with the next run, and says what nothing else does.
    assert_eq!(said_late(vec![raised(&back)], &[&resolved(&back)]), [raised_as(2)]);
    // Down and up inside: nothing happened.
    let all = vec![raised(&one), raised(&back)];
    assert_eq!(said_late(all, &[&resolved(&one), &resolved(&back)]), []);
    // Down before; inside up, down and up again.
    let all = vec![raised(&back), raised(&two), raised(&again)];
    let over = [&resolved(&back), &resolved(&two), &again];
    assert_eq!(said_late(all, &over), [raised_as(2)]);
}

#[test]
fn news_of_several_ends_is_told_when_one_of_the_beginnings_was() {
    let (before, inside, news) = (down(1, -50), down(2, 10), up(3, 20));
    let ending = |alert: &Alert, ends: &[&Alert]| {
        let mut raised = silenced(raise(alert.id.0.as_u128(), alert));
        raised.notices[0].ends = ends.iter().map(|end| end.id).collect();
        raised
    };
    let over = [&resolved(&inside), &resolved(&news)];
    let all = vec![ending(&inside, &[]), ending(&news, &[&before, &inside])];
    assert_eq!(said_late(all, &over), [raised_as(3)]);
    // What began inside was itself how the other ended.
    let all = vec![ending(&inside, &[&before]), ending(&news, &[&inside])];
    assert_eq!(said_late(all, &over), [raised_as(3)]);
    let all = vec![ending(&inside, &[]), ending(&news, &[&inside])];
    assert_eq!(said_late(all, &over), []);
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
