//! How an event is read.

use uuid::Uuid;

use super::*;

#[test]
fn event_is_read_as_it_is_documented() {
    let user = Uuid::from_u128(7);
    let body = json!({
        "id": "evt_1", "type": "checkout.completed", "product": {"id": "prod_pro"},
        "customer": {"id": "cus_1", "email": "anna@example.com"},
        "metadata": {"planId": "pro", "billing": "monthly", "userId": user.to_string()},
    });
    let read = event(body);
    let expected = PaymentEvent {
        id: "evt_1".into(),
        kind: EventKind::CheckoutCompleted,
        arrived_at: at(1_000),
        created_at: None,
        product_id: Some("prod_pro".into()),
        customer_id: Some("cus_1".into()),
        subscription_id: None,
        plan_id: Some("pro".into()),
        user_id: Some(user.into()),
    };
    assert_eq!(read, expected);
    let again = PaymentEvent { arrived_at: at(2_000), ..expected.clone() };
    assert_eq!(again.letter_id(), expected.letter_id());
    let other = PaymentEvent { id: "evt_2".into(), ..expected.clone() };
    assert_ne!(other.letter_id(), expected.letter_id());
}

#[test]
fn what_the_event_lacks_is_read_from_its_object() {
    let read = event(json!({
        "id": "evt_1", "eventType": "subscription.paid", "customer": null, "product": {"id": "p1"},
        "object": {
            "id": "sub_1", "type": "other", "created_at": 1,
            "product": {"id": "p2"}, "customer": {"id": "c2"}, "subscription": "s2",
            "metadata": {"planId": "team", "userId": 7},
        },
    }));
    assert_eq!((read.id.as_str(), read.kind), ("evt_1", EventKind::SubscriptionPaid));
    assert_eq!(read.product_id.as_deref(), Some("p1"), "its own comes first");
    assert_eq!(read.customer_id.as_deref(), Some("c2"));
    assert_eq!(read.subscription_id.as_deref(), Some("s2"));
    assert_eq!((read.plan_id.as_deref(), read.user_id), (Some("team"), None));
    assert_eq!(read.created_at, None, "that of the object is not the event's");
}

#[test]
fn moment_of_an_event_is_told_in_four_ways() {
    let read = |created_at: Value| {
        event(json!({"id": "e", "type": "refund.created", "created_at": created_at})).created_at
    };
    for written in [
        json!(at(5).timestamp_millis()),
        json!(at(5).timestamp()),
        json!(at(5).timestamp() as f64),
        json!(at(5).to_rfc3339()),
    ] {
        assert_eq!(read(written.clone()), Some(at(5)), "{written}");
    }
    assert_eq!(read(json!(null)), None);
    for name in ["createdAt", "created", "timestamp"] {
        let told = event(json!({"id": "e", "type": "refund.created", name: at(5).timestamp()}));
        assert_eq!(told.created_at, Some(at(5)), "{name}");
    }
    let ahead = json!(at(5_000).timestamp());
    assert_eq!(read(ahead), Some(at(1_000)), "nothing happens after it was told");
}

#[test]
fn event_names_the_member_that_is_bad() {
    let kind = "refund.created";
    for (body, field) in [
        (json!({"type": kind}), "id"),
        (json!({"id": null, "type": kind}), "id"),
        (json!({"id": 7, "type": kind}), "id"),
        (json!({"id": "", "type": kind}), "id"),
        (json!({"id": "a\u{0}", "type": kind}), "id"),
        (json!({"id": "x".repeat(256), "type": kind}), "id"),
        (json!({"object": {"id": "e"}, "type": kind}), "id"),
        (json!({"id": "e"}), "type"),
        (json!({"id": "e", "type": 7}), "type"),
        (json!({"id": "e", "type": null}), "type"),
        (json!({"id": "e", "eventType": []}), "eventType"),
        (json!({"id": "e", "type": kind, "product": 7}), "product"),
        (json!({"id": "e", "type": kind, "customer": {"id": 7}}), "customer.id"),
        (json!({"id": "e", "type": kind, "subscription": {"id": ""}}), "subscription.id"),
        (json!({"id": "e", "type": kind, "created_at": true}), "created_at"),
        (json!({"id": "e", "type": kind, "created_at": "yesterday"}), "created_at"),
        (json!({"id": "e", "type": kind, "created_at": 1e30}), "created_at"),
        (json!({"id": "e", "type": kind, "created": "yesterday"}), "created"),
    ] {
        let refused = Told::parse(&body, at(0)).unwrap_err();
        assert_eq!(refused.field, field, "{body}: {refused}");
    }
}

#[test]
fn event_that_means_nothing_is_not_looked_into() {
    let body = json!({"id": "e", "type": "invoice.sent", "customer": 7, "created_at": true});
    let other = Told::Other { id: "e".into(), kind: "invoice.sent".into() };
    assert_eq!(Told::parse(&body, at(0)), Ok(other));
}
