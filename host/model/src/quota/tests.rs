use proptest::prelude::*;

use super::*;
use crate::edition::TEAM;

fn at(millis: i64) -> Timestamp {
    DateTime::from_timestamp_millis(1_800_000_000_000 + millis).expect("a moment of 2027")
}

fn limit(max: u32, millis: u64) -> Limit {
    Limit { max, span: Duration::from_millis(millis) }
}

#[test]
fn whoever_took_the_last_place_knows_how_long_the_next_one_waits() {
    let (limit, mut window) = (limit(2, 1000), Window::default());
    assert_eq!(window.admit(limit, at(0)).unwrap().wait(at(0)), Duration::ZERO);
    let last = window.admit(limit, at(400)).unwrap();
    assert_eq!(last.wait(at(400)), Duration::from_millis(601));
    assert_eq!(window.admit(limit, at(400)).unwrap_err().retry_after, last.wait(at(400)));
    assert_eq!(last.wait(at(2000)), Duration::ZERO);
}

#[test]
fn a_window_counts_down_refuses_and_admits_again() {
    let (limit, mut window) = (limit(2, 1000), Window::default());
    assert_eq!(window.look(limit, at(0)).unwrap().remaining, 2);
    assert_eq!(
        window.admit(limit, at(0)),
        Ok(Admitted { remaining: 1, reset: at(1001), at: at(0) })
    );
    assert_eq!(
        window.admit(limit, at(400)),
        Ok(Admitted { remaining: 0, reset: at(1001), at: at(400) })
    );
    let refused = window.admit(limit, at(900)).unwrap_err();
    assert_eq!(refused, Refused { retry_after: Duration::from_millis(101), reset: at(1001) });
    assert!(window.admit(limit, at(1000)).is_err(), "exactly one span apart may be less in truth");
    assert_eq!(
        window.admit(limit, at(1001)),
        Ok(Admitted { remaining: 0, reset: at(1401), at: at(1001) })
    );
}

#[test]
fn a_place_is_given_back_also_where_a_later_request_came_first() {
    let (limit, mut window) = (limit(2, 1000), Window::default());
    window.admit(limit, at(1001)).unwrap();
    let place = window.admit(limit, at(1000)).unwrap().at;
    window.take_back(place);
    assert_eq!(window.look(limit, at(1002)).unwrap().remaining, 1);
}

#[test]
fn looking_counts_nothing() {
    let (limit, mut window) = (limit(1, 1000), Window::default());
    for _ in 0..10 {
        assert!(window.look(limit, at(0)).is_ok());
    }
    assert!(window.admit(limit, at(0)).is_ok());
    assert!(window.look(limit, at(0)).is_err());
}

#[test]
fn a_clock_that_is_set_back_admits_no_more() {
    let (limit, mut window) = (limit(2, 1000), Window::default());
    window.admit(limit, at(5000)).unwrap();
    window.admit(limit, at(4000)).unwrap();
    let refused = window.admit(limit, at(4000)).unwrap_err();
    assert_eq!(refused.retry_after, Duration::from_millis(2001));
    assert!(window.admit(limit, at(6000)).is_err());
    assert!(window.admit(limit, at(6001)).is_ok());
}

#[test]
fn a_clock_that_is_set_back_far_refuses_nobody_until_it_shows_that_again() {
    let year = 365 * 86_400_000;
    for back in [1001, 600_000, year] {
        let (limit, mut window) = (limit(2, 1000), Window::default());
        window.admit(limit, at(year)).unwrap();
        window.admit(limit, at(year + 600)).unwrap();
        let now = year + 600 - back;
        let refused = window.admit(limit, at(now)).unwrap_err();
        assert_eq!(refused.retry_after, Duration::from_millis(401), "{back}");
        assert_eq!(refused.reset, at(now + 401), "{back}");
        assert!(window.admit(limit, at(now + 400)).is_err(), "{back}");
        assert!(window.admit(limit, at(now + 401)).is_ok(), "{back}");
    }
}

#[test]
fn what_was_admitted_counts_under_a_changed_limit() {
    let mut window = Window::default();
    for _ in 0..10 {
        window.admit(limit(10, 1000), at(0)).unwrap();
    }
    assert!(window.admit(limit(5, 1000), at(500)).is_err());
    assert_eq!(window.admit(limit(20, 1000), at(500)).unwrap().remaining, 9);
    assert!(window.admit(limit(0, 1000), at(5000)).is_err());
}

#[test]
fn an_idle_window_can_be_forgotten() {
    let (limit, mut window) = (limit(3, 1000), Window::default());
    assert!(window.idle(limit, at(0)));
    window.admit(limit, at(0)).unwrap();
    assert!(!window.idle(limit, at(1000)));
    assert!(window.idle(limit, at(1001)));
    assert!(!window.idle(limit, at(-600_000)), "it counts from here on");
    assert!(window.idle(limit, at(-598_999)));
}

#[test]
fn limits_are_those_of_the_contract() {
    assert_eq!(PER_ADDRESS, limit(60, 60_000));
    assert_eq!(PER_PUBLIC_ADDRESS, limit(10, 60_000));
    assert_eq!(Limit::of_plan(TEAM.highest_plan()), limit(300, 10_000));
}

#[test]
fn months_turn_at_midnight_utc() {
    for (text, name, next) in [
        ("2026-11-20T15:04:05Z", "2026-11", "2026-12-01T00:00:00Z"),
        ("2026-12-31T23:59:59.999Z", "2026-12", "2027-01-01T00:00:00Z"),
        ("2027-01-01T00:00:00Z", "2027-01", "2027-02-01T00:00:00Z"),
        ("2028-02-29T12:00:00Z", "2028-02", "2028-03-01T00:00:00Z"),
        ("2027-01-01T00:30:00+01:00", "2026-12", "2027-01-01T00:00:00Z"),
    ] {
        let now = crate::parse::timestamp("now", text).unwrap();
        assert_eq!(month(now), name, "{text}");
        assert_eq!(next_month(now), crate::parse::timestamp("next", next).unwrap(), "{text}");
        assert_eq!(now + until_next_month(now), next_month(now));
    }
}

#[test]
fn days_turn_at_midnight_utc() {
    for (text, name, seconds) in [
        ("2026-11-20T00:00:00Z", "2026-11-20", 86_400),
        ("2026-12-31T23:59:59.999Z", "2026-12-31", 1),
        ("2027-01-01T00:30:00+01:00", "2026-12-31", 1_800),
    ] {
        let now = crate::parse::timestamp("now", text).unwrap();
        assert_eq!((day(now).as_str(), until_next_day(now).as_secs()), (name, seconds), "{text}");
    }
}

#[test]
fn waits_are_whole_seconds_and_never_zero() {
    for (millis, seconds) in [(0, 1), (1, 1), (999, 1), (1000, 1), (1001, 2), (59_999, 60)] {
        assert_eq!(whole_seconds(Duration::from_millis(millis)), seconds, "{millis} ms");
    }
}

proptest! {
    #[test]
    fn never_more_than_the_limit_in_any_trailing_span(
        max in 1..12_u32,
        span in 1..500_u64,
        steps in prop::collection::vec(0..60_i64, 1..300),
    ) {
        let (limit, mut window, mut now) = (limit(max, span), Window::default(), 0);
        let mut admitted: Vec<i64> = Vec::new();
        for step in steps {
            now += step;
            match window.admit(limit, at(now)) {
                Ok(standing) => {
                    admitted.push(now);
                    prop_assert!(standing.remaining < max);
                }
                Err(refused) => {
                    // It refuses only when it must, and the wait is neither too short nor too long.
                    let wait = i64::try_from(refused.retry_after.as_millis()).unwrap();
                    prop_assert!(wait >= 1 && wait <= i64::try_from(span).unwrap() + 1);
                    prop_assert_eq!(trailing(&admitted, now, span), max);
                    prop_assert!(window.clone().look(limit, at(now + wait)).is_ok());
                    prop_assert!(window.clone().look(limit, at(now + wait - 1)).is_err());
                }
            }
        }
        for end in &admitted {
            prop_assert!(trailing(&admitted, *end, span) <= max);
        }
    }

    #[test]
    fn a_jumping_clock_never_admits_more(
        max in 1..6_u32,
        jumps in prop::collection::vec(-300..300_i64, 1..200),
    ) {
        let (limit, mut window, mut shown, mut real) = (limit(max, 100), Window::default(), 0, 0);
        let mut admitted: Vec<i64> = Vec::new();
        // The truth never runs faster than the clock shows when it goes forward.
        for jump in jumps {
            shown += jump;
            real += jump.max(0);
            if window.admit(limit, at(shown)).is_ok() {
                admitted.push(real);
            }
        }
        for end in &admitted {
            prop_assert!(trailing(&admitted, *end, 100) <= max);
        }
    }
}

/// How many lie within the span that ends at `end`, both ends included.
fn trailing(admitted: &[i64], end: i64, span: u64) -> u32 {
    let start = end - i64::try_from(span).expect("short spans");
    let within = admitted.iter().filter(|moment| (start..=end).contains(*moment));
    u32::try_from(within.count()).expect("few requests")
}
