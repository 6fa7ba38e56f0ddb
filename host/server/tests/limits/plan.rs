//! Another plan: its limits hold at once, and what was used before counts.

use std::time::Duration;

use vedette_server::service::account;

use crate::lab::with_service;

#[test]
fn who_is_over_the_window_of_a_plan_is_held_against_the_next_one_at_once() {
    with_service(|service| async move {
        let account = service.account("free").await;
        let key = Some(account.key.as_str());
        let answers = service.burst(&account, 11).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 1);
        let moved = account::change_plan(&service.app, account.account.id, "starter").await;
        moved.expect("a plan of the edition");
        let then = service.get("/v1/alerts", key, None).await;
        assert_eq!((then.status, then.used), (200, 11), "{}", then.text);

        // A change on another node is not told here.
        let answers = service.burst(&account, 40).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 1);
        service.elsewhere(&account, "pro").await;
        let then = service.get("/v1/alerts", key, None).await;
        assert_eq!((then.status, then.used), (200, 51), "{}", then.text);
    });
}

#[test]
fn a_burst_right_after_a_downgrade_is_held_against_the_lower_plan() {
    with_service(|service| async move {
        for is_told in [true, false] {
            let account = service.account("pro").await;
            let first = service.get("/v1/alerts", Some(&account.key), None).await;
            assert_eq!((first.status, first.used), (200, 1), "{}", first.text);
            if is_told {
                let moved = account::change_plan(&service.app, account.account.id, "free").await;
                moved.expect("a plan of the edition");
            } else {
                service.elsewhere(&account, "free").await;
            }
            for (most, used) in [(9, 10), (10, 20)] {
                let answers = service.burst(&account, 60).await;
                let (admitted, refused): (Vec<_>, Vec<_>) =
                    answers.iter().partition(|answer| answer.status == 200);
                assert_eq!(admitted.len(), most, "told: {is_told}");
                for answer in refused {
                    assert_eq!((answer.status, answer.retry_after), (429, Some(11)));
                    assert!(answer.text.contains("10 requests"), "{}", answer.text);
                }
                assert_eq!(service.used(&account).await, used, "what was refused is no call");
                service.hand.advance(Duration::from_secs(11));
            }
        }
    });
}

#[test]
fn a_burst_right_after_a_downgrade_here_has_the_calls_that_are_left() {
    with_service(|service| async move {
        let account = service.account("pro").await;
        let first = service.get("/v1/alerts", Some(&account.key), None).await;
        assert_eq!((first.status, first.used), (200, 1), "{}", first.text);
        service.use_up(&account, 95).await;
        service.hand.advance(Duration::from_secs(11));
        let moved = account::change_plan(&service.app, account.account.id, "free").await;
        moved.expect("a plan of the edition");
        let answers = service.burst(&account, 60).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 4);
        assert_eq!(service.used(&account).await, 100);
    });
}

#[test]
fn who_was_refused_by_the_month_of_a_lower_plan_takes_one_place_in_the_window() {
    with_service(|service| async move {
        let account = service.account("free").await;
        service.use_up(&account, 100).await;
        let answers = service.burst(&account, 5).await;
        assert!(answers.iter().all(|answer| answer.status == 429));
        service.elsewhere(&account, "starter").await;
        // Five of its fifty places are taken.
        let answers = service.burst(&account, 60).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 45);
        assert_eq!(service.used(&account).await, 145);
    });
}
