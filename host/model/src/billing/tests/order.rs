//! Events in any order: each is kept with its subscription.

use proptest::prelude::*;

use super::*;

const ENDS: [&str; 3] = ["subscription.canceled", "subscription.expired", "subscription.paused"];

#[test]
fn what_was_bought_last_is_granted_whatever_is_told_of_the_one_before() {
    for end in ENDS {
        let events = [
            dated(1, of("checkout.completed", "pro", "s1")),
            dated(11, of("subscription.update", "pro", "s1")),
            dated(10, of("checkout.completed", "team", "s2")),
            dated(11, of(end, "pro", "s1")),
        ];
        for told in orders(&events) {
            let left = after(&told);
            let found = (left.plan, left.present());
            assert_eq!(found, ("team", Some("s2")), "{told:?}");
            let charged: Vec<_> = left.billing.charged().map(|it| it.id.as_deref()).collect();
            assert!(charged.contains(&Some("s2")), "{told:?}");
            assert_eq!(charged.contains(&Some("s1")), end == ENDS[2], "{told:?}");
        }
    }
}

#[test]
fn what_is_bought_before_a_payment_is_taken_back_is_charged_all_the_same() {
    for taken_back in ["refund.created", "dispute.created"] {
        let events = [
            dated(1, of("checkout.completed", "pro", "s1")),
            dated(11, of("subscription.update", "pro", "s1")),
            dated(10, of("checkout.completed", "team", "s2")),
            dated(11, of(taken_back, "pro", "s1")),
            dated(12, of("subscription.canceled", "pro", "s1")),
        ];
        for told in orders(&events) {
            let left = after(&told);
            let charged: Vec<_> = left.billing.charged().map(|it| it.id.as_deref()).collect();
            assert_eq!((left.plan, charged), ("free", vec![Some("s2")]), "{told:?}");
        }
    }
}

#[test]
fn what_is_over_is_not_granted_by_its_own_late_purchase() {
    for end in ENDS {
        let events = [
            dated(1, of("checkout.completed", "pro", "s1")),
            dated(11, of(end, "team", "s2")),
            dated(10, of("checkout.completed", "team", "s2")),
        ];
        for told in orders(&events) {
            let left = after(&told);
            assert_eq!((left.plan, left.present()), ("free", Some("s2")), "{told:?}");
        }
    }
}

#[test]
fn late_end_of_an_older_one_leaves_the_end_that_is_known() {
    let events = [
        dated(1, of("checkout.completed", "pro", "s1")),
        dated(5, of("checkout.completed", "team", "s2")),
        dated(6, of("subscription.canceled", "pro", "s1")),
        dated(11, of("subscription.canceled", "team", "s2")),
    ];
    for told in orders(&events) {
        // Nothing of either brings one back or is charged again.
        for (kind, plan, subscription) in
            [("subscription.paid", "pro", "s1"), ("checkout.completed", "team", "s2")]
        {
            let mut left = after(&told);
            left.tell(&dated(6, of(kind, plan, subscription))).expect("it can be told");
            assert_eq!((left.plan, left.is_charged()), ("free", false), "{kind} after {told:?}");
        }
    }
}

#[test]
fn one_whose_purchase_is_not_told_follows_the_end_of_the_one_before() {
    let bought = dated(1, of("checkout.completed", "pro", "s1"));
    let active = dated(10, of("subscription.active", "team", "s2"));
    let ended = dated(11, of("subscription.canceled", "pro", "s1"));
    for told in orders(&[active, ended]) {
        let mut left = after(&[std::slice::from_ref(&bought), &told[..]].concat());
        assert_eq!((left.plan, left.present()), ("team", Some("s2")), "{told:?}");
        left.tell(&of("subscription.canceled", "team", "s2")).expect("it can be told");
        assert_eq!((left.plan, left.is_charged()), ("free", false), "{told:?}");
    }
    // But it waits while that goes on.
    let waits = after(&[bought, dated(10, of("subscription.active", "team", "s2"))]);
    assert_eq!((waits.plan, waits.mails.len()), ("pro", 1));
}

#[test]
fn no_more_are_known_than_fit_and_the_present_one_is_among_them() {
    let mut left = Left::new();
    for nth in 0..20 {
        let id = format!("s{nth}");
        left.tell(&dated(nth, of("checkout.completed", "pro", &id))).expect("it can be told");
        if nth % 3 == 0 {
            left.tell(&of("subscription.canceled", "pro", &id)).expect("it can be told");
        }
        left.tell(&of("subscription.paused", "pro", &format!("t{nth}"))).expect("it can be told");
        assert_eq!(left.present(), Some(id.as_str()));
        assert_eq!(left.plan, if nth % 3 == 0 { "free" } else { "pro" });
    }
    assert_eq!(left.billing.subscriptions.len(), Billing::LONGEST);
}

/// What a provider tells of a subscription, each thing a while after the one before.
#[derive(Clone, Copy, Debug)]
enum Step {
    Active,
    Paid,
    Update(&'static str),
    Paused,
    Ended(&'static str),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Active),
        Just(Step::Paid),
        prop::sample::select(&["pro", "team"][..]).prop_map(Step::Update),
        Just(Step::Paused),
    ]
}

/// Of one subscription: when it is bought, for which plan, and what becomes of it.
#[derive(Clone, Debug)]
struct History {
    bought_at: i64,
    plan: &'static str,
    steps: Vec<(i64, Step)>,
}

fn any_history() -> impl Strategy<Value = History> {
    let plan = prop::sample::select(&["pro", "team"][..]);
    let end = prop::option::of(prop::sample::select(&ENDS[..2]).prop_map(Step::Ended));
    let steps = (prop::collection::vec((1..4i64, any_step()), 0..4), end);
    (0..6i64, plan, steps).prop_map(|(bought_at, plan, (mut steps, end))| {
        steps.extend(end.map(|end| (1, end)));
        let mut moment = bought_at;
        for (when, _) in &mut steps {
            moment += *when;
            *when = moment;
        }
        History { bought_at, plan, steps }
    })
}

/// Up to three, each bought at a moment of its own, and their payments taken back once at most.
fn any_past() -> impl Strategy<Value = (Vec<History>, Option<i64>)> {
    let apart = |histories: &Vec<History>| {
        let mut moments: Vec<i64> = histories.iter().map(|history| history.bought_at).collect();
        moments.sort_unstable();
        moments.windows(2).all(|pair| pair[0] < pair[1])
    };
    let histories = prop::collection::vec(any_history(), 1..=3).prop_filter("apart", apart);
    (histories, prop::option::weighted(0.2, 0..15i64))
}

impl History {
    fn events(&self, id: &str) -> Vec<PaymentEvent> {
        let bought = dated(self.bought_at, of("checkout.completed", self.plan, id));
        let told = self.steps.iter().map(|(when, step)| {
            // Only who changes the plan names one.
            let unnamed = |kind| PaymentEvent { plan_id: None, ..of(kind, "", id) };
            let event = match step {
                Step::Active => unnamed("subscription.active"),
                Step::Paid => unnamed("subscription.paid"),
                Step::Update(plan) => of("subscription.update", plan, id),
                Step::Paused => unnamed("subscription.paused"),
                Step::Ended(kind) => unnamed(kind),
            };
            dated(*when, event)
        });
        [bought].into_iter().chain(told).collect()
    }

    /// The plan while it goes on, and since when it was not paid for.
    fn end(&self) -> (Option<&'static str>, i64) {
        let (mut plan, mut paid_at, mut goes_on) = (self.plan, self.bought_at, true);
        for (when, step) in &self.steps {
            goes_on = !matches!(step, Step::Paused | Step::Ended(_));
            if goes_on {
                paid_at = *when;
            }
            if let Step::Update(changed) = step {
                plan = changed;
            }
        }
        (goes_on.then_some(plan), paid_at)
    }

    fn is_over(&self) -> bool {
        matches!(self.steps.last(), Some((_, Step::Ended(_))))
    }
}

/// What must be left: the plan of the one bought last, while it goes on and its payment was not taken
/// back; and whether anything is charged.
fn expected(histories: &[History], taken_back: Option<i64>) -> (&'static str, bool) {
    let last = histories.iter().max_by_key(|history| history.bought_at).expect("one at least");
    let (plan, paid_at) = last.end();
    let paid = plan.filter(|_| taken_back.is_none_or(|at| at < paid_at));
    (paid.unwrap_or("free"), histories.iter().any(|history| !history.is_over()))
}

proptest! {
    #[test]
    fn events_leave_the_same_in_every_order(
        (past, shuffled) in any_past().prop_flat_map(|(histories, taken_back)| {
            let ids = ["s1", "s2", "s3"];
            let mut events: Vec<_> =
                histories.iter().zip(ids).flat_map(|(history, id)| history.events(id)).collect();
            events.extend(taken_back.map(|at| dated(at, of("refund.created", "pro", "s1"))));
            (Just((histories, taken_back)), Just(events).prop_shuffle())
        })
    ) {
        let expected = expected(&past.0, past.1);
        let mut in_order = shuffled.clone();
        in_order.sort_by_key(|event| event.created_at);
        for mut events in [in_order, shuffled] {
            let mut left = Left::new();
            // What is refused is sent again.
            while !events.is_empty() {
                let before = events.len();
                events.retain(|event| left.tell(event).is_err());
                prop_assert!(events.len() < before, "{:?} is refused for ever", events);
            }
            prop_assert_eq!((left.plan, left.is_charged()), expected, "{:?}", left);
        }
    }
}
