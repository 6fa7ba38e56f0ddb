//! Verdicts over signs that are told by hand.

use uuid::Uuid;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + seconds, 0).expect("a moment of 2027")
}

fn site(n: u128) -> SiteId {
    Uuid::from_u128(n).into()
}

fn check(name: &str) -> CheckType {
    name.parse().expect("a check's name")
}

/// A run of the uptime check told something.
fn tell(guard: &mut Guard, n: u128, fell: bool, is_down: bool, now: Timestamp) {
    guard.told(site(n), &check("uptime"), fell, is_down, now);
}

fn guard() -> Guard {
    Guard::new(Duration::from_secs(20), Duration::from_secs(1))
}

/// Tells of `well` sites that stay well and `down` sites that fall at `second`.
fn fall(guard: &mut Guard, well: u128, down: u128, second: i64) {
    for n in 0..well {
        tell(guard, n, false, false, at(second));
    }
    for n in well..well + down {
        tell(guard, n, true, true, at(second));
    }
}

#[test]
fn a_site_that_fails_alone_is_believed() {
    let mut guard = guard();
    fall(&mut guard, 50, 1, 0);
    assert_eq!(guard.verdict(at(0)), Verdict::Fit);
    fall(&mut guard, 0, 18, 1);
    assert_eq!(guard.counts(), (19, 40));
    assert_eq!(guard.verdict(at(1)), Verdict::Fit, "a small account may have one server");
}

#[test]
fn a_jump_is_held_back_and_then_believed() {
    let mut guard = guard();
    fall(&mut guard, 20, 20, 0);
    assert_eq!(guard.verdict(at(0)), Verdict::HeldBack);
    assert_eq!(guard.verdict(at(19)), Verdict::HeldBack);
    assert_eq!(guard.verdict(at(20)), Verdict::Fit, "it stays");
    fall(&mut guard, 0, 5, 21);
    assert_eq!(guard.verdict(at(21)), Verdict::Fit, "the same jump is not held back twice");
}

#[test]
fn a_jump_that_goes_back_is_over() {
    let mut guard = guard();
    fall(&mut guard, 10, 30, 0);
    assert_eq!(guard.verdict(at(1)), Verdict::HeldBack);
    for n in 10..40 {
        tell(&mut guard, n, false, false, at(5));
    }
    assert_eq!(guard.verdict(at(5)), Verdict::Fit);
    fall(&mut guard, 10, 30, 30);
    assert_eq!(guard.verdict(at(30)), Verdict::HeldBack, "another jump is another");
}

#[test]
fn what_another_check_finds_well_takes_back_no_fall() {
    let mut guard = guard();
    for n in 0..20 {
        tell(&mut guard, n, true, true, at(0));
        guard.told(site(n), &check("dns"), false, false, at(0));
    }
    assert_eq!(guard.counts(), (20, 20));
    assert_eq!(guard.verdict(at(1)), Verdict::HeldBack);
    for n in 0..20 {
        guard.told(site(n), &check("ssl"), true, true, at(2));
        tell(&mut guard, n, false, false, at(3));
    }
    assert_eq!(guard.counts(), (20, 20), "each is counted once, for as long as a check is down");
    for n in 0..20 {
        guard.told(site(n), &check("ssl"), false, false, at(4));
    }
    assert_eq!(guard.counts(), (0, 20));
    assert_eq!(guard.verdict(at(4)), Verdict::Fit);
}

#[test]
fn a_few_of_many_are_no_jump() {
    let mut guard = guard();
    for n in 0..1_000 {
        let is_down = n % 10 == 0;
        tell(&mut guard, n, is_down, is_down, at(0));
        assert_eq!(guard.verdict(at(0)), Verdict::Fit, "site {n}");
    }
}

/// A site as its runs find it once the network of this machine is gone.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Well,
    /// Once: the next look follows at once.
    Down,
    HeldBack,
    Alerted,
}

/// How many sites are alerted before a jump is seen, where `count` sites that are looked at once
/// a minute, one after the other, fail from one moment on.
fn alerted_before_a_jump_is_seen(count: u128) -> usize {
    let mut guard = guard();
    let millis = |n: u128| TimeDelta::milliseconds((60_000 * n / count) as i64);
    for n in 0..count {
        tell(&mut guard, n, false, false, at(-60) + millis(n));
    }
    let mut seen = vec![Seen::Well; count as usize];
    for n in 0..count {
        // The run, and the second look at what it found, before the next site is looked at.
        for _ in 0..2 {
            let (found, now) = (&mut seen[n as usize], at(0) + millis(n));
            tell(&mut guard, n, *found != Seen::Down, true, now);
            *found = match (guard.verdict(now), *found) {
                (Verdict::HeldBack, _) => Seen::HeldBack,
                (_, Seen::Down) => Seen::Alerted,
                (_, Seen::Well | Seen::HeldBack | Seen::Alerted) => Seen::Down,
            };
            if *found == Seen::HeldBack {
                return seen.iter().filter(|seen| **seen == Seen::Alerted).count();
            }
        }
    }
    panic!("no jump was seen among {count} sites");
}

#[test]
fn of_a_thousand_sites_nineteen_are_alerted_before_a_jump_is_seen() {
    for count in [20, 40, 100, 1_000, 10_000] {
        assert_eq!(alerted_before_a_jump_is_seen(count), 19, "{count} sites");
    }
}

#[test]
fn a_jump_whose_share_goes_up_and_down_is_held_back_once() {
    let mut guard = guard();
    fall(&mut guard, 20, 20, 0);
    // Of the last forty now thirty are down, now ten.
    let mut next = 100;
    for second in 1..=60 {
        let down = if second / 10 % 2 == 0 { 15 } else { 5 };
        for nth in 0..20 {
            tell(&mut guard, next, nth < down, nth < down, at(second));
            next += 1;
        }
        let held = if second < 20 { Verdict::HeldBack } else { Verdict::Fit };
        assert_eq!(guard.verdict(at(second)), held, "second {second}");
    }
    assert_eq!(guard.verdict(at(200)), Verdict::Fit);
    fall(&mut guard, 0, 20, 200);
    assert_eq!(guard.verdict(at(200)), Verdict::HeldBack, "another jump is another");
}

#[test]
fn a_jump_is_held_back_from_when_we_are_not_offline_any_more() {
    let mut guard = guard();
    guard.resolved(false);
    for second in [0, 30, 60] {
        fall(&mut guard, 0, 24, second);
        assert_eq!(guard.verdict(at(second)), Verdict::Offline);
    }
    guard.resolved(true);
    fall(&mut guard, 0, 24, 65);
    for (second, verdict) in [(65, Verdict::HeldBack), (79, Verdict::HeldBack), (80, Verdict::Fit)]
    {
        assert_eq!(guard.verdict(at(second)), verdict, "second {second}");
    }
}

#[test]
fn what_is_looked_at_again_after_minutes_is_held_back_once_too() {
    let mut guard = Guard::new(Duration::from_secs(240), Duration::from_secs(1));
    for (second, verdict) in
        [(0, Verdict::HeldBack), (120, Verdict::HeldBack), (240, Verdict::Fit), (360, Verdict::Fit)]
    {
        // Nothing that is held back counts as seen: they fall again.
        fall(&mut guard, 0, 24, second);
        assert_eq!(guard.verdict(at(second)), verdict, "second {second}");
    }
}

#[test]
fn what_is_doubted_for_minutes_is_told_until_it_was_believed_for_a_while() {
    let mut guard = guard();
    let minutes = |minutes: u64| Some((Verdict::Overloaded, Duration::from_secs(60 * minutes)));
    for second in 0..=360 {
        // Late now and then: between, what is found is believed.
        if second % 20 == 0 {
            guard.lagged(Duration::from_secs(1), at(second));
        }
        guard.verdict(at(second));
        if second == 299 {
            assert_eq!(guard.doubted_for_long(at(second)), None);
        }
        if second % 60 == 0 && second >= 300 {
            assert_eq!(guard.doubted_for_long(at(second)), minutes(second as u64 / 60));
        }
    }
    // In second 364 it was doubted last.
    for second in 361..=393 {
        guard.verdict(at(second));
    }
    assert!(guard.doubted_for_long(at(393)).is_some());
    guard.verdict(at(394));
    assert_eq!(guard.doubted_for_long(at(394)), None);
    guard.resolved(false);
    guard.verdict(at(400));
    guard.verdict(at(1_000));
    assert_eq!(guard.doubted_for_long(at(1_000)), None, "nobody looked between");
}

#[test]
fn offline_lasts_until_somebody_answers() {
    let mut guard = guard();
    guard.resolved(false);
    assert_eq!(guard.verdict(at(3_600)), Verdict::Offline);
    guard.resolved(true);
    assert_eq!(guard.verdict(at(3_600)), Verdict::Fit);
}

#[test]
fn clock_that_may_be_wrong_comes_before_all_else_and_is_told_after_minutes() {
    let mut guard = guard();
    let up = |second: u64| Duration::from_secs(86_400 + second);
    guard.shown(up(0), at(0));
    assert_eq!(guard.verdict(at(0)), Verdict::Fit);
    guard.resolved(false);
    fall(&mut guard, 0, 24, 86_400);
    for second in 0..=300 {
        let now = at(86_400 + second);
        guard.shown(up(1 + second as u64), now);
        assert_eq!(guard.verdict(now), Verdict::ClockDoubted);
    }
    let told = guard.doubted_for_long(at(86_700));
    assert_eq!(told, Some((Verdict::ClockDoubted, Duration::from_secs(300))));
    guard.resolved(true);
    guard.shown(up(302), at(302));
    assert!(!guard.is_clock_doubted());
    assert_eq!(guard.verdict(at(302)), Verdict::Fit, "what fell by another time is forgotten");
}

#[test]
fn a_late_thread_throws_a_shadow() {
    let mut guard = guard();
    guard.lagged(Duration::from_millis(999), at(0));
    assert_eq!(guard.verdict(at(0)), Verdict::Fit);
    guard.lagged(Duration::from_secs(1), at(0));
    assert_eq!(guard.verdict(at(4)), Verdict::Overloaded);
    assert_eq!(guard.verdict(at(5)), Verdict::Fit);
}

#[test]
fn how_late_is_too_late_is_the_operators() {
    let mut guard = Guard::new(Duration::from_secs(20), Duration::from_secs(3));
    guard.lagged(Duration::from_millis(2_999), at(0));
    assert_eq!(guard.verdict(at(0)), Verdict::Fit);
    guard.lagged(Duration::from_secs(3), at(0));
    assert_eq!(guard.verdict(at(0)), Verdict::Overloaded);
}

#[test]
fn a_clock_that_is_set_back_ends_what_was_doubted() {
    let mut guard = guard();
    fall(&mut guard, 20, 20, 3_600);
    assert_eq!(guard.verdict(at(3_600)), Verdict::HeldBack);
    assert_eq!(guard.verdict(at(0)), Verdict::Fit);
    assert_eq!(guard.counts(), (0, 0));
    guard.lagged(Duration::from_secs(2), at(3_600));
    assert_eq!(guard.verdict(at(3_600)), Verdict::Overloaded);
    assert_eq!(guard.verdict(at(0)), Verdict::Fit);
}

#[test]
fn who_asks_a_moment_before_the_last_who_told_forgets_nothing() {
    let mut guard = guard();
    fall(&mut guard, 20, 20, 1);
    assert_eq!(guard.verdict(at(0)), Verdict::HeldBack);
    assert_eq!(guard.counts(), (20, 40));
}

#[test]
fn what_is_old_is_forgotten() {
    let mut guard = guard();
    fall(&mut guard, 100, 30, 0);
    assert_eq!(guard.counts(), (30, 40));
    assert_eq!(guard.verdict(at(60)), Verdict::Fit);
    assert_eq!(guard.counts(), (0, 0));
}
