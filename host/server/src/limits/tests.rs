use std::net::Ipv4Addr;

use chrono::DateTime;

use super::*;
use crate::clock::ManualClock;

#[test]
fn an_address_has_sixty_a_minute_and_all_public_endpoints_share_ten() {
    let (limits, hand) = limits();
    for (class, most) in [(Class::Private, 60), (Class::Public, 10)] {
        for used in 1..=most {
            let admitted = limits.admit_address(class, address(1), hand.now()).unwrap();
            assert_eq!(admitted.remaining, most - used);
        }
        let refused = limits.admit_address(class, address(1), hand.now()).unwrap_err();
        assert!(refused.retry_after > Duration::from_secs(59));
        assert!(limits.admit_address(class, address(2), hand.now()).is_ok());
    }
}

#[test]
fn a_client_that_goes_on_asking_gets_its_sixty_all_the_same() {
    let (limits, hand) = limits();
    let mut admitted = Vec::new();
    // Ten requests a second for five minutes, in bursts and drips.
    for step in 0..3000_u64 {
        hand.advance(Duration::from_millis(if step % 7 == 0 { 640 } else { 10 }));
        if limits.admit_address(Class::Private, address(1), hand.now()).is_ok() {
            admitted.push(hand.now());
        }
    }
    for (index, first) in admitted.iter().enumerate() {
        let within = admitted[index..].iter().take_while(|at| **at - *first <= minute());
        assert!(within.count() <= 60);
    }
    let first = admitted[0];
    let elapsed = (hand.now() - first).num_seconds();
    let least = 60 * (elapsed / 61) as usize;
    assert!(admitted.len() >= least, "{} of at least {least} in {elapsed} s", admitted.len());
}

#[test]
fn waiting_as_long_as_told_is_enough_and_less_is_not() {
    let (limits, hand) = limits();
    for _ in 0..10 {
        limits.admit_address(Class::Public, address(1), hand.now()).unwrap();
        hand.advance(Duration::from_millis(777));
    }
    let refused = limits.admit_address(Class::Public, address(1), hand.now()).unwrap_err();
    hand.advance(refused.retry_after - Duration::from_millis(1));
    assert!(limits.admit_address(Class::Public, address(1), hand.now()).is_err());
    hand.advance(Duration::from_millis(1));
    assert!(limits.admit_address(Class::Public, address(1), hand.now()).is_ok());
}

#[test]
fn a_clock_set_back_neither_admits_more_nor_refuses_what_is_left() {
    let (limits, hand) = limits();
    for _ in 0..4 {
        limits.admit_address(Class::Public, address(1), hand.now()).unwrap();
    }
    hand.set(hand.now() - chrono::TimeDelta::hours(1));
    let left =
        (0..20).filter(|_| limits.admit_address(Class::Public, address(1), hand.now()).is_ok());
    assert_eq!(left.count(), 6);
}

#[test]
fn a_clock_set_back_far_refuses_for_a_minute_and_no_longer() {
    let (limits, hand) = limits();
    let count = |from: u32| {
        let asked = (0..20).map(|_| limits.admit_address(Class::Public, address(from), hand.now()));
        asked.filter(|admitted| admitted.is_ok()).count()
    };
    assert_eq!(count(1), 10);
    hand.set(hand.now() - chrono::TimeDelta::days(365));
    let refused = limits.admit_address(Class::Public, address(1), hand.now()).unwrap_err();
    assert!(refused.retry_after <= Duration::from_secs(61));
    assert!(refused.reset <= hand.now() + minute() + chrono::TimeDelta::seconds(1));
    assert_eq!((count(1), count(2)), (0, 10));
    for _ in 0..3 {
        hand.advance(Duration::from_secs(61));
        assert_eq!((count(1), count(2)), (10, 10));
    }
    hand.advance(Duration::from_secs(61));
    limits.forget_idle(hand.now());
    assert_eq!(limits.public.windows.len(), 0);
}

#[test]
fn a_flood_of_addresses_stays_within_bounds_and_leaves_busy_windows_alone() {
    let (limits, hand) = limits();
    for _ in 0..60 {
        limits.admit_address(Class::Private, address(1), hand.now()).unwrap();
    }
    for other in 2..(2 * MOST_ADDRESSES as u32) {
        limits.admit_address(Class::Private, address(other), hand.now()).unwrap();
    }
    assert!(limits.private.windows.len() <= MOST_ADDRESSES + 64);
    assert!(limits.admit_address(Class::Private, address(1), hand.now()).is_err());
    hand.advance(Duration::from_secs(61));
    limits.forget_idle(hand.now());
    assert_eq!(limits.private.windows.len(), 0);
}

#[test]
fn a_million_addresses_cost_no_more_memory_than_the_bounds() {
    let (limits, hand) = limits();
    for number in 0..1_000_000 {
        limits.admit_address(Class::Private, address(number), hand.now()).unwrap();
    }
    let AddressLayer { windows, guard, .. } = &limits.private;
    assert!(windows.len() <= MOST_ADDRESSES + 64, "{} windows", windows.len());
    assert!(guard.len() <= guard::MOST + guard::LOOK_EVERY as usize, "{} cells", guard.len());
    hand.advance(Duration::from_secs(61));
    limits.forget_idle(hand.now());
    assert_eq!((windows.len(), guard.len()), (0, 0));
}

#[test]
fn guard_and_window_together_admit_what_a_plain_log_would() {
    for seed in 1..=50 {
        let (limits, hand) = limits();
        let mut dice = seed;
        let mut admitted: Vec<Timestamp> = Vec::new();
        for _ in 0..1_000 {
            // Bursts, drips, and waits of up to a window and a half.
            let most = [1, 50, 6_100, 90_000][throw(&mut dice, 4) as usize];
            hand.advance(Duration::from_millis(throw(&mut dice, most)));
            let now = hand.now();
            let counts = admitted.iter().rev().take_while(|at| now - **at <= minute()).count();
            let passed = limits.admit_address(Class::Public, address(1), now).is_ok();
            assert_eq!(passed, counts < 10, "seed {seed}, {counts} within the minute before {now}");
            if passed {
                admitted.push(now);
            }
        }
    }
}

#[test]
fn a_dropped_window_does_not_double_what_the_guard_admits() {
    let (limits, hand) = limits();
    for _ in 0..60 {
        limits.admit_address(Class::Private, address(1), hand.now()).unwrap();
    }
    let emptied =
        Limits { private: AddressLayer { windows: Windows::new(10), ..limits.private }, ..limits };
    assert!(emptied.admit_address(Class::Private, address(1), hand.now()).is_err());
}

#[test]
fn a_refused_address_is_told_the_wait_of_its_account() {
    let (limits, hand) = limits();
    let account = AccountId(uuid::Uuid::nil());
    let limit = Limit { max: 2, span: Duration::from_secs(10) };
    let token = TokenHash::of("ct_token");
    assert_eq!(limits.wait_of_window(&token, hand.now()), None);
    limits.recent.note(token, account, limit, usage(None));
    assert_eq!(limits.wait_of_window(&token, hand.now()), None);
    for _ in 0..2 {
        limits.admit_account(account, limit, hand.now()).unwrap();
    }
    let wait = limits.wait_of_window(&token, hand.now()).unwrap();
    assert!(wait > Duration::from_secs(9) && wait < Duration::from_secs(11));
    assert_eq!(wait_of_month(&limits, &token, hand.now()), None);
    let day = Duration::from_secs(86_400);
    let until = hand.now() + day;
    limits.recent.note(token, account, limit, usage(Some(until)));
    assert_eq!(limits.wait_of_window(&token, hand.now()), Some(wait), "each has its own");
    assert_eq!(wait_of_month(&limits, &token, hand.now()), Some(day));
    assert_eq!(wait_of_month(&limits, &token, until), None);
}

#[test]
fn a_new_month_begins_with_nothing_used_of_what_the_plan_has() {
    let (limits, hand) = limits();
    let account = AccountId(uuid::Uuid::nil());
    let token = TokenHash::of("ct_token");
    let told = |now| limits.month_of(&token, now).map(|usage| (usage.used, usage.limit));
    assert_eq!(told(hand.now()), None);
    let limit = Limit { max: 2, span: Duration::from_secs(10) };
    let until = quota::next_month(hand.now());
    limits.recent.note(token, account, limit, usage(Some(until)));
    assert_eq!(told(hand.now()), Some((7, 100)));
    assert_eq!(told(until), Some((0, 100)));
    assert!(!month_is_over(&limits, &token, until));
}

#[test]
fn a_request_that_is_taken_back_leaves_its_place_to_another() {
    let (limits, hand) = limits();
    let (account, other) = (AccountId(uuid::Uuid::nil()), AccountId(uuid::Uuid::from_u128(1)));
    let limit = Limit { max: 2, span: Duration::from_secs(10) };
    let first = hand.now();
    limits.admit_account(account, limit, first).unwrap();
    hand.advance(Duration::from_secs(4));
    limits.admit_account(account, limit, hand.now()).unwrap();
    limits.take_back(other, first);
    assert!(limits.admit_account(account, limit, hand.now()).is_err());
    limits.take_back(account, first);
    let last = limits.admit_account(account, limit, hand.now()).unwrap();
    assert_eq!(last.remaining, 0);
    let refused = limits.admit_account(account, limit, hand.now()).unwrap_err();
    assert_eq!(refused.retry_after, Duration::from_millis(10_001), "both are of this moment");
}

#[test]
fn all_credentials_of_an_account_know_what_the_last_one_used() {
    let (limits, hand) = limits();
    let (account, now) = (AccountId(uuid::Uuid::nil()), hand.now());
    let limit = Limit { max: 2, span: Duration::from_secs(10) };
    let (one, other) = (TokenHash::of("ct_one"), TokenHash::of("ct_other"));
    limits.recent.note(other, account, limit, usage(None));
    let until = now + Duration::from_secs(86_400);
    let last = Usage { used: 100, ..usage(Some(until)) };
    limits.recent.note(one, account, limit, last);
    // Counted before the last, and here after it.
    limits.recent.note(one, account, limit, Usage { used: 99, ..usage(None) });
    assert_eq!(limits.month_of(&other, now).map(|usage| usage.used), Some(100));
    assert_eq!(wait_of_month(&limits, &other, now), Some(Duration::from_secs(86_400)));
    limits.recent.note(one, account, limit, Usage { limit: 2_000, used: 99, ..usage(None) });
    assert!(!month_is_over(&limits, &other, now), "the plan is another one");
    limits.recent.note(one, account, limit, Usage { used: 100, ..usage(Some(until)) });
    limits.recent.forget(account);
    assert!(!month_is_over(&limits, &other, now), "another plan has other limits");
}

#[test]
fn a_credential_that_is_refused_is_told_nothing_of_the_account_it_led_to() {
    let (limits, hand) = limits();
    let (account, now) = (AccountId(uuid::Uuid::nil()), hand.now());
    let limit = Limit { max: 2, span: Duration::from_secs(10) };
    let (former, owners) = (TokenHash::of("ct_former"), TokenHash::of("ct_owners"));
    let until = now + Duration::from_secs(86_400);
    for token in [former, owners] {
        limits.recent.note(token, account, limit, usage(Some(until)));
    }
    limits.recent.disown(&former);
    assert!(!month_is_over(&limits, &former, now));
    assert_eq!(limits.wait_of_window(&former, now), None);
    assert!(month_is_over(&limits, &owners, now));
    // One of them was deleted: which that was is not known until the others make a call again.
    let other = AccountId(uuid::Uuid::max());
    limits.recent.note(former, other, limit, usage(Some(until)));
    limits.recent.disown_all(account);
    assert!(!month_is_over(&limits, &owners, now));
    assert!(month_is_over(&limits, &former, now));
    limits.recent.note(owners, account, limit, usage(Some(until)));
    assert!(month_is_over(&limits, &owners, now));
}

#[test]
fn a_last_call_that_is_taken_back_leaves_one() {
    let (limits, hand) = limits();
    let (account, now) = (AccountId(uuid::Uuid::nil()), hand.now());
    let limit = Limit { max: 2, span: Duration::from_secs(10) };
    let token = TokenHash::of("ct_token");
    let until = now + Duration::from_secs(86_400);
    limits.recent.note(token, account, limit, usage(Some(until)));
    limits.recent.take_back(account, "2026-12");
    assert!(month_is_over(&limits, &token, now), "it was one of another month");
    limits.recent.take_back(account, "2027-01");
    assert!(!month_is_over(&limits, &token, now));
    assert_eq!(limits.month_of(&token, now).map(|usage| usage.used), Some(6));
}

#[test]
fn a_call_that_is_taken_back_leaves_none_to_a_plan_that_has_fewer() {
    let (limits, hand) = limits();
    let (account, now) = (AccountId(uuid::Uuid::nil()), hand.now());
    let limit = Limit { max: 2, span: Duration::from_secs(10) };
    let token = TokenHash::of("ct_token");
    let until = now + Duration::from_secs(86_400);
    limits.recent.note(token, account, limit, Usage { used: 101, ..usage(Some(until)) });
    limits.recent.take_back(account, "2027-01");
    assert!(month_is_over(&limits, &token, now), "all 100 are used");
}

fn month_is_over(limits: &Limits, token: &TokenHash, now: Timestamp) -> bool {
    wait_of_month(limits, token, now).is_some()
}

fn wait_of_month(limits: &Limits, token: &TokenHash, now: Timestamp) -> Option<Duration> {
    limits.month_of(token, now)?.wait(now)
}

fn usage(exhausted: Option<Timestamp>) -> Usage {
    Usage { month: "2027-01".to_owned(), limit: 100, used: 7, exhausted }
}

fn limits() -> (Limits, ManualClock) {
    let (clock, hand) = Clock::manual(DateTime::from_timestamp(1_800_000_000, 0).unwrap());
    (Limits::new(&clock), hand)
}

fn address(number: u32) -> IpAddr {
    Ipv4Addr::from(0x0b00_0000 + number).into()
}

fn minute() -> chrono::TimeDelta {
    chrono::TimeDelta::minutes(1)
}

/// A number below `most`, by a linear congruence: the same for the same seed.
fn throw(dice: &mut u64, most: u64) -> u64 {
    *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*dice >> 33) % most
}
