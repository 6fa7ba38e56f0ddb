//! The limits over HTTP, with a clock that the test moves: exact among many at once, and true in
//! what they tell to wait.

mod lab;
mod plan;

use std::{net::IpAddr, time::Duration};

use reqwest::Method;
use vedette_model::quota;

use crate::lab::with_service;

#[test]
fn with_seven_calls_left_a_thousand_at_once_admit_exactly_seven() {
    with_service(|service| async move {
        let account = service.account("pro").await;
        service.use_up(&account, 10_000 - 7).await;
        let answers = service.burst(&account, 1_000).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 7);
        let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
        assert_eq!(refused.len(), 993);
        // A hundred passed the account's window; the month refused all of them but seven. Who met
        // the window afterwards hears of the month, too.
        let by_month = refused.iter().filter(|answer| answer.text.contains("upgrade")).count();
        assert!(by_month >= 93, "{by_month}");
        let mut told: Vec<u64> = answers
            .iter()
            .filter(|answer| answer.status == 200)
            .map(|answer| answer.used)
            .collect();
        told.sort_unstable();
        assert_eq!(
            told,
            (9_994..=10_000).collect::<Vec<u64>>(),
            "each call was told its own count"
        );

        for _ in 0..2 {
            service.hand.advance(Duration::from_secs(11));
            let more = service.burst(&account, 150).await;
            assert!(more.iter().all(|answer| answer.status == 429 && answer.used == 10_000));
        }
        assert_eq!(service.used(&account).await, 10_000, "what was refused is no call");

        let left = quota::until_next_month(service.hand.now());
        service.hand.advance(left);
        let first = service.get("/v1/alerts", Some(&account.key), None).await;
        assert_eq!((first.status, first.used), (200, 1), "{}", first.text);
    });
}

#[test]
fn waiting_as_long_as_retry_after_says_is_enough_and_a_second_less_is_not() {
    with_service(|service| async move {
        let one = Some(IpAddr::from([192, 0, 2, 1]));
        // The window of an address, for requests with and without a credential.
        for (path, most) in [("/v1/alerts", 60), ("/v1/public/check-ssl?domain=localhost", 10)] {
            for number in 0..most {
                if number == most / 2 {
                    service.hand.advance(Duration::from_millis(7_300));
                }
                assert_ne!(service.get(path, None, one).await.status, 429, "{path} {number}");
            }
            service.wait_is_true(path, None, one, 53).await;
        }

        // The window of an account.
        let free = service.account("free").await;
        let key = Some(free.key.as_str());
        for _ in 0..10 {
            assert_eq!(service.get("/v1/alerts", key, None).await.status, 200);
        }
        service.wait_is_true("/v1/alerts", key, None, 11).await;

        // The month.
        let free = service.account("free").await;
        let key = Some(free.key.as_str());
        service.use_up(&free, 100).await;
        let left = quota::until_next_month(service.hand.now());
        service.wait_is_true("/v1/alerts", key, None, quota::whole_seconds(left)).await;
    });
}

#[test]
fn retry_after_is_the_longest_wait_of_all_limits_that_are_used_up() {
    with_service(|service| async move {
        let one = Some(IpAddr::from([192, 0, 2, 2]));
        let free = service.account("free").await;
        let key = Some(free.key.as_str());
        for number in 1..=61 {
            let answer = service.get("/v1/alerts", key, one).await;
            let expected = match number {
                ..=10 => None,
                // The account's ten seconds, as long as its address has requests left.
                11..60 => Some(11),
                _ => Some(61),
            };
            assert_eq!(answer.retry_after, expected, "request {number}: {}", answer.text);
        }
        service.wait_is_true("/v1/alerts", key, one, 61).await;

        service.use_up(&free, 100).await;
        let month = quota::whole_seconds(quota::until_next_month(service.hand.now()));
        // Whichever limit is met first, what helps is told.
        for number in 1..=70 {
            let answer = service.get("/v1/alerts", key, one).await;
            assert_eq!(answer.retry_after, Some(month), "request {number}: {}", answer.text);
            assert!(answer.text.contains("upgrade"), "request {number}: {}", answer.text);
        }
        service.wait_is_true("/v1/alerts", key, one, month).await;
    });
}

#[test]
fn what_costs_no_call_does_not_wait_for_the_next_month() {
    with_service(|service| async move {
        let free = service.account("free").await;
        service.use_up(&free, 100).await;
        for number in 1..=10 {
            let answer = service.ping(&free.key).await;
            assert_eq!((answer.status, answer.used), (200, 100), "ping {number}: {}", answer.text);
        }
        let ping = service.ping(&free.key).await;
        assert_eq!((ping.status, ping.retry_after), (429, Some(11)), "{}", ping.text);
        assert!(!ping.text.contains("upgrade"), "{}", ping.text);
        let month = quota::whole_seconds(quota::until_next_month(service.hand.now()));
        let call = service.get("/v1/alerts", Some(&free.key), None).await;
        assert_eq!((call.status, call.retry_after), (429, Some(month)), "{}", call.text);
        service.hand.advance(Duration::from_secs(11));
        assert_eq!(service.ping(&free.key).await.status, 200);
    });
}

#[test]
fn a_full_address_has_nobody_wait_for_the_next_month_to_buy_more_or_to_leave() {
    with_service(|service| async move {
        let free = service.account_of("team", "free").await;
        let (key, one) = (Some(free.key.as_str()), Some(IpAddr::from([192, 0, 2, 3])));
        service.use_up(&free, 100).await;
        for _ in 0..60 {
            assert_eq!(service.get("/api/alerts", key, one).await.status, 429);
        }
        let month = quota::whole_seconds(quota::until_next_month(service.hand.now()));
        let call = service.get("/api/alerts", key, one).await;
        assert_eq!((call.status, call.retry_after), (429, Some(month)), "{}", call.text);
        for (method, path) in [
            (Method::POST, "/api/checkout"),
            (Method::GET, "/api/billing/status"),
            (Method::DELETE, "/api/account"),
        ] {
            let told = service.send(method, path, key, one, "").await;
            assert_eq!((told.status, told.retry_after), (429, Some(61)), "{path}: {}", told.text);
            assert!(!told.text.contains("month"), "{path}: {}", told.text);
        }
        service.wait_is_true("/api/account", key, one, 61).await;
        let call = service.get("/api/alerts", key, one).await;
        assert_eq!((call.status, call.used), (429, 100), "{}", call.text);
    });
}
