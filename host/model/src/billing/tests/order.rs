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
fn what_was_replaced_is_granted_again_once_it_is_paid_for_after_the_end_of_the_other() {
    let bought = [
        dated(1, of("checkout.completed", "pro", "s1")),
        dated(10, of("checkout.completed", "team", "s2")),
    ];
    let ended = dated(20, of("subscription.canceled", "team", "s2"));
    for (paid_at, plan) in [(25, "pro"), (20, "free"), (15, "free")] {
        let paid = dated(paid_at, of("subscription.paid", "pro", "s1"));
        for told in orders(&[&bought[..], &[ended.clone(), paid]].concat()) {
            let left = after(&told);
            let present = if plan == "pro" { "s1" } else { "s2" };
            let found = (left.plan, left.present(), left.is_charged());
            assert_eq!(found, (plan, Some(present), true), "{told:?}");
        }
    }
}

#[test]
fn what_was_replaced_is_paid_for_again_without_a_moment() {
    let events = [
        of("checkout.completed", "pro", "s1"),
        of("checkout.completed", "team", "s2"),
        of("subscription.canceled", "team", "s2"),
    ];
    let moments: Vec<_> =
        events.iter().cloned().zip(1..).map(|(event, at)| dated(at, event)).collect();
    for told in [&events[..], &moments] {
        let before = after(told);
        for (kind, plan) in [
            ("subscription.active", "pro"),
            ("subscription.paid", "pro"),
            // It may be told along with the end.
            ("subscription.update", "free"),
        ] {
            let mut left = before.clone();
            left.tell(&of(kind, "pro", "s1")).expect("it can be told");
            assert_eq!(left.plan, plan, "{kind}");
            left.tell(&of("subscription.canceled", "pro", "s1")).expect("it can be told");
            assert_eq!((left.plan, left.is_charged()), ("free", false), "{kind}");
        }
        // Not so once the payment was taken back, nor before the end.
        let paid = of("subscription.paid", "pro", "s1");
        for first in ["refund.created", "dispute.created"] {
            let taken_back = [told, &[of(first, "team", "s2"), paid.clone()]].concat();
            assert_eq!(after(&taken_back).plan, "free", "{taken_back:?}");
        }
        let early = [&told[..2], &[paid], &told[2..]].concat();
        assert_eq!(after(&early).plan, "free", "{early:?}");
    }
}

#[test]
fn purchase_without_a_subscription_replaces_one_that_ends_at_that_moment_or_later() {
    let first = [
        silent(dated(1, of("checkout.completed", "pro", ""))),
        dated(2, of("subscription.active", "pro", "s1")),
    ];
    let bought = silent(dated(10, of("checkout.completed", "team", "")));
    for (end, active) in [(10, 10), (11, 10), (11, 9)] {
        let mut events = vec![
            dated(end, of("subscription.canceled", "pro", "s1")),
            bought.clone(),
            dated(active, of("subscription.active", "team", "s2")),
        ];
        for updated in [false, true] {
            if updated {
                events.push(dated(active, of("subscription.update", "pro", "s1")));
            }
            for told in orders(&events) {
                let left = after(&[&first[..], &told].concat());
                assert_eq!((left.plan, left.is_charged()), ("team", true), "{told:?}");
                // What began before it was bought is not known to be the same.
                assert!(active == 9 || left.present() == Some("s2"), "{told:?}");
            }
        }
    }
    // It is granted before its subscription is named.
    let ended = dated(10, of("subscription.canceled", "pro", "s1"));
    for told in orders(&[bought, ended]) {
        let left = after(&[&first[..], &told].concat());
        assert_eq!((left.plan, left.present()), ("team", None), "{told:?}");
    }
}

#[test]
fn each_is_known_with_the_customer_who_pays_for_it() {
    let by = |customer: Option<&str>, event| PaymentEvent {
        customer_id: customer.map(str::to_owned),
        ..event
    };
    let left = after(&[
        by(Some("c1"), of("checkout.completed", "pro", "s1")),
        by(Some("c2"), of("checkout.completed", "team", "s2")),
        by(None, of("subscription.paid", "pro", "s1")),
    ]);
    let payers = left.billing.subscriptions.iter();
    let payers: Vec<_> = payers.map(|it| (it.id.as_deref(), it.customer_id.as_deref())).collect();
    assert_eq!(payers, [(Some("s1"), Some("c1")), (Some("s2"), Some("c2"))]);
    assert_eq!(left.billing.customer_id.as_deref(), Some("c2"));
}

#[test]
fn replaced_is_what_was_bought_before_the_present_one() {
    let mut left = after(&[
        dated(1, of("checkout.completed", "pro", "s1")),
        dated(10, of("checkout.completed", "team", "s2")),
        dated(11, of("subscription.active", "team", "s3")),
    ]);
    let replaced = |left: &Left| {
        let known = left.billing.subscriptions.iter();
        let replaced = known.filter(|it| left.billing.is_replaced(it));
        replaced.filter_map(|it| it.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(replaced(&left), ["s1"], "what waits for its purchase may be bought next");
    left.tell(&dated(12, silent(of("checkout.completed", "pro", "")))).expect("it can be told");
    assert_eq!(replaced(&left), ["s1", "s2"], "what has no name is all that the customer has");
    left.tell(&dated(13, of("subscription.paid", "pro", "s1"))).expect("it can be told");
    assert_eq!(replaced(&left), ["s2"], "what is paid for has not ended unheard");
}

#[test]
fn what_names_no_product_waits_for_the_purchase_that_does() {
    let unnamed = |kind, subscription| PaymentEvent { plan_id: None, ..of(kind, "", subscription) };
    let left = after(&[
        dated(8, unnamed("refund.created", "s2")),
        dated(5, of("subscription.active", "pro", "s2")),
        dated(11, unnamed("subscription.paid", "s1")),
        dated(3, of("checkout.completed", "pro", "s2")),
        dated(5, of("checkout.completed", "pro", "s1")),
    ]);
    assert_eq!((left.plan, left.present()), ("pro", Some("s1")));
}

#[test]
fn no_more_are_known_than_fit_and_the_present_one_is_among_them() {
    let mut left = Left::new();
    for nth in 0..40 {
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

    fn over_at(&self) -> Option<i64> {
        let (when, step) = self.steps.last()?;
        matches!(step, Step::Ended(_)).then_some(*when)
    }
}

/// What must be left: the plan of the one bought last, while it goes on and its payment was not taken
/// back, and once that is over of the last that goes on and was paid for since; and whether anything
/// is charged.
fn expected(histories: &[History], taken_back: Option<i64>) -> (&'static str, bool) {
    let bought_last = |history: &&History| history.bought_at;
    let last = histories.iter().max_by_key(bought_last).expect("one at least");
    let paid_since = |history: &&History| {
        let (plan, paid_at) = history.end();
        plan.is_some() && last.over_at().is_some_and(|over_at| paid_at > over_at)
    };
    let present = histories.iter().filter(paid_since).max_by_key(bought_last).unwrap_or(last);
    let (plan, paid_at) = present.end();
    let paid = plan.filter(|_| taken_back.is_none_or(|at| at < paid_at));
    (paid.unwrap_or("free"), histories.iter().any(|history| history.over_at().is_none()))
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
