//! Maintenance: what waits for its end, and what is left to say then.

use super::*;

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

fn up(nth: u128, raised: i64) -> Alert {
    Alert { event: "site.up".into(), ..alert(nth, 1, Severity::Info, raised) }
}

fn resolved(alert: &Alert) -> Alert {
    Alert { is_resolved: true, ..alert.clone() }
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

fn resolved_as(nth: u128) -> (String, NoticeStatus) {
    (nth.to_string(), NoticeStatus::Resolved)
}
