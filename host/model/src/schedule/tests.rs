use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::edition::STANDARD;

fn check(name: &str) -> CheckType {
    name.parse().expect("a well-formed name")
}

fn at(millis: i64) -> Timestamp {
    DateTime::from_timestamp_millis(millis).expect("a moment within range")
}

#[test]
fn intervals_are_the_operators_within_the_plans_bounds() {
    let intervals = Intervals::default();
    let (free, pro) = (STANDARD.lowest_plan(), STANDARD.highest_plan());
    for (name, plan, seconds) in [
        ("uptime", pro, 60),
        ("uptime", free, 300),
        ("dns", free, 3600),
        ("ssl", free, 6 * 3600),
        ("ct", pro, 3600),
        ("domain", pro, 24 * 3600),
        ("smtp_banner", pro, 300),
    ] {
        let interval = intervals.interval(&check(name), plan);
        assert_eq!(interval, Duration::from_secs(seconds), "{name} on {}", plan.id);
    }
    let slow = Intervals { uptime: Duration::from_secs(900), ..intervals };
    assert_eq!(slow.interval(&check("uptime"), free), Duration::from_secs(900));
}

#[test]
fn the_grid_of_a_site_never_moves() {
    let site = Uuid::from_u128(0x0193_f5c2_7b1e_7c3a_9d41_2f6a_8c5b_1e07).into();
    let due = next_due(site, &check("ssl"), Duration::from_secs(60), at(1_800_000_000_000));
    assert_eq!(due, at(1_800_000_045_458), "a changed hash would move every site's runs");
}

#[test]
fn plugin_that_could_tell_asks_for_sooner_and_one_that_could_not_for_later_too() {
    let (now, regular) = (at(0), at(3_600_000));
    for (minutes, status, due) in [
        (10, CheckStatus::Ok, at(600_000)),
        (10, CheckStatus::Degraded, at(600_000)),
        (10, CheckStatus::Down, at(600_000)),
        (10, CheckStatus::Unknown, at(600_000)),
        (120, CheckStatus::Ok, regular),
        (120, CheckStatus::Down, regular),
        (120, CheckStatus::Unknown, at(7_200_000)),
    ] {
        let wait = Duration::from_secs(60 * minutes);
        assert_eq!(asked_for(wait, status, None, regular, now), due, "{minutes} {status:?}");
    }
}

#[test]
fn target_that_stays_down_is_looked_at_less_and_less_often_until_it_is_regular() {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let (wait, now, regular) = (minutes(10), at(0), at(0) + minutes(360));
    for (since, expected) in
        [(0, 10), (5, 10), (10, 20), (20, 40), (160, 320), (320, 360), (9_999_999, 360)]
    {
        let due = |status| asked_for(wait, status, Some(minutes(since)), regular, now);
        assert_eq!(due(CheckStatus::Down), now + minutes(expected), "{since}");
        // A check that reads a log to its end goes on at its own pace.
        assert_eq!(due(CheckStatus::Degraded), now + wait, "{since}");
        assert_eq!(due(CheckStatus::Ok), now + wait, "{since}");
        assert_eq!(due(CheckStatus::Unknown), now + wait, "{since}");
    }
    let overdue = asked_for(wait, CheckStatus::Down, Some(Duration::MAX), now, at(1));
    assert_eq!(overdue, at(1));
}

#[test]
fn sites_made_in_one_moment_are_spread_over_the_interval() {
    let interval = Duration::from_secs(60);
    let mut tenths = [0; 10];
    for n in 0..1000_u128 {
        let site = Uuid::from_u128((0x0193_f5c2_7b1e_7000_8000 << 48) | n).into();
        let due = next_due(site, &check("uptime"), interval, at(0));
        tenths[usize::try_from((due.timestamp_millis() - 1) / 6000).unwrap()] += 1;
    }
    assert!(tenths.iter().all(|count| (60..=140).contains(count)), "{tenths:?}");
}

#[test]
fn checks_that_are_put_off_together_come_back_spread_and_each_as_always() {
    let least = Duration::from_secs(1);
    let mut tenths = [0; 10];
    for n in 0..200_u128 {
        let site = Uuid::from_u128((0x0193_f5c2_7b1e_7000_8000 << 48) | n).into();
        for name in ["ssl", "dns", "domain", "ct", "uptime"] {
            let wait = put_off(site, &check(name), least);
            assert_eq!(wait, put_off(site, &check(name), least));
            assert!((least..2 * least).contains(&wait), "{wait:?}");
            tenths[usize::try_from((wait - least).as_millis() / 100).unwrap()] += 1;
        }
    }
    assert!(tenths.iter().all(|count| (60..=140).contains(count)), "{tenths:?}");
}

#[test]
fn rechecks_follow_at_once_or_after_the_wait_and_not_for_ever() {
    let wait = Duration::from_secs(10);
    for (at_once, soon) in [(true, Duration::ZERO), (false, wait)] {
        assert_eq!(recheck_after(0, at_once, wait), None);
        for runs in 1..=MOST_RECHECKS {
            assert_eq!(recheck_after(runs, at_once, wait), Some(soon));
        }
        assert_eq!(recheck_after(MOST_RECHECKS + 1, at_once, wait), None);
    }
}

#[test]
fn a_plugins_wait_is_clamped() {
    let minute = Duration::from_secs(60);
    for (asked, interval, granted) in
        [(0, minute, 5), (30, minute, 30), (600, minute, 60), (600, Duration::from_secs(1), 5)]
    {
        assert_eq!(wait_of(asked, interval), Duration::from_secs(granted), "{asked} s");
    }
}

proptest! {
    #[test]
    fn the_next_run_is_within_one_interval_and_on_the_grid(
        site: u128,
        seconds in 1..100_000_u64,
        millis in 0_i64..4_000_000_000_000,
        nanos in 0..1_000_000_u32,
    ) {
        let (site, ssl) = (Uuid::from_u128(site).into(), check("ssl"));
        let interval = Duration::from_secs(seconds);
        let after = at(millis) + TimeDelta::nanoseconds(i64::from(nanos));
        let due = next_due(site, &ssl, interval, after);
        prop_assert!(due > after && due <= after + interval);
        prop_assert_eq!(next_due(site, &ssl, interval, due), due + interval);
        // Whoever asks between two runs is given the same one.
        prop_assert_eq!(next_due(site, &ssl, interval, due - TimeDelta::milliseconds(1)), due);
    }
}

#[test]
fn check_that_broke_is_tried_again_soon_and_then_less_and_less_often() {
    let (second, recheck) = (Duration::from_secs, Duration::from_secs(10));
    for (since, wait) in [
        (None, second(10)),
        (Some(Duration::ZERO), second(10)),
        (Some(second(4)), second(10)),
        (Some(second(12)), second(24)),
        (Some(second(3600)), second(7200)),
        (Some(Duration::MAX), Duration::MAX),
    ] {
        assert_eq!(retry_after(since, recheck), wait, "{since:?}");
    }
}
