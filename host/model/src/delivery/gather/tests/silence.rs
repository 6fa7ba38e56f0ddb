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
fn what_is_resolved_by_a_clock_that_is_ahead_is_told_with_its_end() {
    let over = Alert { resolved_at: Some(at(101)), ..resolved(&down(1, 10)) };
    let alerts = [over.clone()];
    let begins = silenced(raise(1, &over));
    // Of a node that looks at the end of the silence, and of one that looks a moment later.
    let first = [begins.clone()];
    let asked = asks(&first, &[]);
    let lane = Lane { waiting: &first, asked: &asked, alerts: &alerts, ..EMPTY };
    assert_eq!(said(&gathered(&lane, 100)), [[raised_as(1)]]);
    let then = [end(5, 101, &over)];
    assert_eq!(said(&gathered(&Lane { waiting: &then, ..EMPTY }, 102)), [[resolved_as(1)]]);
    let both = [begins, end(5, 101, &over)];
    let lane = Lane { waiting: &both, ..lane };
    assert_eq!(gathered(&lane, 101).dropped.len(), 2);
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

/// A renewal of what was about to expire and nobody had been told of: what changed and that it was
/// renewed are one commit.
#[test]
fn news_of_an_end_is_told_with_what_its_commit_has_to_say_besides() {
    let (expiring, renewed) = (down(1, 10), up(2, 20));
    let changed = Alert { self_resolving: false, ..alert(3, 1, Severity::Info, 20) };
    let over = resolved(&expiring);
    let mut notices = ending(&renewed, &[&expiring]).notices;
    notices.insert(0, over.notice(NoticeStatus::Resolved));
    notices.push(changed.notice(NoticeStatus::Raised));
    let commit = delivery(9, 20, notices);
    let begins = silenced(raise(1, &expiring));
    let alerts = [&over, &renewed, &changed];
    for commit in [silenced(commit.clone()), Delivery { created_at: at(101), ..commit.clone() }] {
        let told = said_late(vec![begins.clone(), commit], &alerts);
        assert_eq!(told, [raised_as(2), raised_as(3)]);
    }
    // While the silence lasts.
    assert_eq!(held_next(&[begins], commit), (vec![1], vec![(9, 2)]));
}

#[test]
fn news_of_several_ends_is_told_when_one_of_the_beginnings_was() {
    let (before, inside, news) = (down(1, -50), down(2, 10), up(3, 20));
    let ending = |alert: &Alert, ends: &[&Alert]| silenced(ending(alert, ends));
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

/// Held back until the end of [`window`].
fn silenced(delivery: Delivery) -> Delivery {
    Delivery { state: DeliveryState::Silenced, due_at: at(100), ..delivery }
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
    if waiting.is_empty() {
        return Vec::new();
    }
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

#[test]
fn what_began_and_ended_inside_goes_while_the_silence_lasts() {
    let (one, two) = (down(1, 10), down(2, 30));
    let begins = [silenced(raise(1, &one))];
    // With its end alone, with what announces it, with the word of what it came to.
    assert_eq!(held_next(&begins, end(5, 20, &one)), (vec![1, 5], vec![]));
    assert_eq!(held_next(&begins, ending(&up(3, 20), &[&one])), (vec![1, 3], vec![]));
    let came_to = ending(&two, &[&one]);
    assert_eq!(held_next(&begins, came_to), (vec![1], vec![(2, 1)]));
    // Nobody knows yet how it ended.
    assert_eq!(held_next(&begins, raise(2, &two)), (vec![], vec![(2, 1)]));
    // What else is said stays, with its own.
    let both = vec![two.notice(NoticeStatus::Raised), one.notice(NoticeStatus::Resolved)];
    assert_eq!(held_next(&begins, delivery(6, 30, both)), (vec![1], vec![(6, 1)]));
    // It was told before.
    assert_eq!(held_next(&[], end(5, 20, &one)), (vec![], vec![(5, 1)]));
    // It got worse again, and is told as bad as it is in the end.
    let rise = |id, queued| delivery(id, queued, vec![down(1, -50).notice(NoticeStatus::Raised)]);
    assert_eq!(held_next(&[silenced(rise(7, 20))], rise(8, 30)), (vec![8], vec![]));
}

/// What goes, and what is held back on, with how many notices, where this is queued beside what is
/// held back.
fn held_next(held: &[Delivery], next: Delivery) -> (Vec<u128>, Vec<(u128, usize)>) {
    let waiting = [next];
    let windows = [window(0, 100)];
    let asked = asks(&waiting, &windows);
    let lane = Lane { waiting: &waiting, held, windows: &windows, asked: &asked, ..EMPTY };
    let gathering = decided(&lane, 50);
    let number = |id: &DeliveryId| id.0.as_u128();
    let left = |id: &DeliveryId| {
        let same = |one: &&Delivery| one.id == *id;
        let shorter = gathering.shortened.iter().find(same);
        let all = held.iter().chain(&waiting).find(same).expect("it was looked at");
        shorter.unwrap_or(all).notices.len()
    };
    let deferred = gathering.deferred.iter().map(|(id, _)| (number(id), left(id))).collect();
    (gathering.dropped.iter().map(number).collect(), deferred)
}

#[test]
fn what_is_told_after_a_silence_is_the_same_however_often_it_was_looked_at_and_stays_little() {
    for told_before in [false, true] {
        for number in 0..MOVES.pow(LONGEST) {
            let moves = (0..LONGEST).map(|place| number / MOVES.pow(place) % MOVES);
            let (story, alerts) = story(told_before, moves);
            let mut held: Vec<Delivery> = Vec::new();
            for next in &story {
                held = held_on(held, next);
            }
            let all: Vec<Delivery> = story.into_iter().map(silenced).collect();
            let known: Vec<&Alert> = alerts.iter().collect();
            // Of what was told before: that it got worse, and that it is over.
            let most = 1 + 2 * usize::from(told_before);
            assert!(held.len() <= most, "{number}: {} of {}", held.len(), all.len());
            assert_eq!(said_late(held, &known), said_late(all, &known), "{number}");
        }
    }
}

const MOVES: u32 = 5;
/// Six take five times as long, and find nothing more.
const LONGEST: u32 = 5;

/// What happens to a site inside a window, one thing after the other, and how its alerts stand then.
fn story(told_before: bool, moves: impl Iterator<Item = u32>) -> (Vec<Delivery>, Vec<Alert>) {
    let (mut alerts, mut story) = (Vec::<Alert>::new(), Vec::new());
    if told_before {
        alerts.push(alert(99, 1, Severity::Warning, -50));
    }
    for (nth, what) in (1_u128..).zip(moves) {
        let queued = 5 + i64::try_from(nth).expect("few");
        let open = alerts.iter().position(|alert| !alert.is_resolved);
        let over = open.map(|open| {
            alerts[open] = resolved(&alerts[open]);
            alerts[open].clone()
        });
        let severity = if what == 0 { Severity::Warning } else { Severity::Critical };
        let (raised, delivery) = match (what, over) {
            (0 | 1, Some(before)) => {
                let now =
                    Alert { is_resolved: false, severity, resolved_at: None, ..before.clone() };
                let worse = severity > before.severity;
                let rise = delivery(nth, queued, vec![now.notice(NoticeStatus::Raised)]);
                (Some(now), worse.then_some(rise))
            }
            (0 | 1, None) => {
                let new = alert(nth, 1, severity, queued);
                let raised = raise(nth, &new);
                (Some(new), Some(raised))
            }
            (2, Some(over)) => (None, Some(end(nth, queued, &over))),
            (3, Some(over)) => {
                let up = up(nth, queued);
                let told = ending(&up, &[&over]);
                (Some(resolved(&up)), Some(told))
            }
            (_, Some(over)) => {
                let worst = down(nth, queued);
                let told = ending(&worst, &[&over]);
                (Some(worst), Some(told))
            }
            (_, None) => (None, None),
        };
        alerts.retain(|alert| raised.as_ref().is_none_or(|raised| raised.id != alert.id));
        alerts.extend(raised);
        story.extend(delivery);
    }
    (story, alerts)
}

/// What is held back once this is queued and looked at, too.
fn held_on(mut held: Vec<Delivery>, next: &Delivery) -> Vec<Delivery> {
    let (waiting, windows) = ([next.clone()], [window(0, 100)]);
    let asked = asks(&waiting, &windows);
    let lane = Lane { waiting: &waiting, held: &held, windows: &windows, asked: &asked, ..EMPTY };
    let gathering = decided(&lane, 50);
    held.extend(waiting);
    held.retain(|one| !gathering.dropped.contains(&one.id));
    for one in &mut held {
        let shorter = gathering.shortened.iter().find(|shorter| shorter.id == one.id);
        *one = silenced(shorter.unwrap_or(one).clone());
    }
    held
}

/// The delivery of a commit that raised an alert, which tells the end of others.
fn ending(alert: &Alert, ends: &[&Alert]) -> Delivery {
    let mut raised = raise(alert.id.0.as_u128(), alert);
    raised.notices[0].ends = ends.iter().map(|end| end.id).collect();
    raised
}
