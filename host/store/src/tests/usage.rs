//! The month's calls.

use super::*;
use crate::error::Error;

#[test]
fn with_150_calls_left_200_at_once_admit_exactly_150() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        let call = {
            let store = store.clone();
            move |_| {
                let store = store.clone();
                async move { store.count_call(account.id, "2026-11", 150).await }
            }
        };
        let answers = at_once(200, call).await;
        let mut admitted: Vec<u64> =
            answers.iter().filter_map(|a| a.as_ref().ok().map(|counted| counted.used)).collect();
        admitted.sort_unstable();
        // Each number once: nobody is told the same count as somebody else.
        assert_eq!(admitted, (1..=150).collect::<Vec<u64>>());
        let refused = answers
            .iter()
            .filter(|answer| matches!(answer, Err(Error::Exhausted { used: 150, .. })))
            .count();
        assert_eq!(refused, 50);
        assert_eq!(store.calls_so_far(account.id, "2026-11").await.unwrap().used, 150);
    });
}

#[test]
fn a_call_that_is_taken_back_can_be_made_again() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        store.take_back_call(account.id, "2026-11").await.unwrap();
        assert_eq!(store.calls_so_far(account.id, "2026-11").await.unwrap().used, 0);
        store.count_call(account.id, "2026-11", 1).await.unwrap();
        assert!(store.count_call(account.id, "2026-11", 1).await.is_err());
        store.take_back_call(account.id, "2026-11").await.unwrap();
        assert_eq!(store.count_call(account.id, "2026-11", 1).await.unwrap().used, 1);
    });
}

#[test]
fn months_and_accounts_are_counted_apart() {
    on_both(|store| async move {
        let (one, other) = (signed_up(&store).await, signed_up(&store).await);
        assert_eq!(store.count_call(one.id, "2026-11", 1).await.unwrap().used, 1);
        assert!(store.count_call(one.id, "2026-11", 1).await.is_err());
        assert_eq!(store.count_call(one.id, "2026-12", 1).await.unwrap().used, 1);
        assert_eq!(store.count_call(other.id, "2026-11", 1).await.unwrap().used, 1);
        assert_eq!(store.calls_so_far(other.id, "2026-12").await.unwrap().used, 0);
    });
}

#[test]
fn a_smaller_plan_refuses_and_a_larger_one_goes_on() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        for _ in 0..3 {
            store.count_call(account.id, "2026-11", 10).await.unwrap();
        }
        let refused = store.count_call(account.id, "2026-11", 2).await;
        assert!(matches!(refused, Err(Error::Exhausted { used: 3, .. })), "{refused:?}");
        assert_eq!(store.count_call(account.id, "2026-11", 4).await.unwrap().used, 4);
    });
}

#[test]
fn a_caller_that_leaves_holds_nobody_up() {
    on_both(|store| async move {
        let account = signed_up(&store).await;
        for _ in 0..20 {
            let call = store.count_call(account.id, "2026-11", 1_000);
            // Polled once, so that it has joined the queue, then dropped.
            let _ = futures::poll!(std::pin::pin!(call));
        }
        let used = store.count_call(account.id, "2026-11", 1_000).await.unwrap().used;
        assert!((1..=21).contains(&used), "{used}");
    });
}
