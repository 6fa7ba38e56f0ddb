//! What can be bought, and how a checkout asks for it.

use super::*;
use crate::edition::STANDARD;

#[test]
fn checkout_is_read_with_its_defaults() {
    let read = |body: Value| NewCheckout::parse(&body, &TEAM);
    let pro = read(json!({"planId": "pro"})).unwrap();
    assert_eq!((pro.plan.id, pro.cycle, pro.email), ("pro", Cycle::Monthly, None));
    let body = json!({"planId": "team", "billing": "yearly", "email": "Anna@Example.com", "x": 1});
    let team = read(body).unwrap();
    assert_eq!((team.plan.id, team.cycle), ("team", Cycle::Yearly));
    assert_eq!(team.email.as_deref(), Some("anna@example.com"));
}

#[test]
fn checkout_names_the_field_that_is_bad() {
    for (body, field) in [
        (json!({}), "planId"),
        (json!({"planId": null}), "planId"),
        (json!({"planId": "free"}), "planId"),
        (json!({"planId": "starter"}), "planId"),
        (json!({"planId": "Pro"}), "planId"),
        (json!({"planId": ["pro"]}), "planId"),
        (json!({"planId": "pro", "billing": "weekly"}), "billing"),
        (json!({"planId": "pro", "billing": null}), "billing"),
        (json!({"planId": "pro", "billing": 12}), "billing"),
        (json!({"planId": "pro", "email": "anna"}), "email"),
        (json!({"planId": "pro", "email": null}), "email"),
    ] {
        let refused = NewCheckout::parse(&body, &TEAM).unwrap_err();
        assert_eq!(refused.field, field, "{body}: {refused}");
    }
    let refused = NewCheckout::parse(&json!({"planId": "free"}), &TEAM).unwrap_err();
    assert_eq!(refused.to_string(), "planId must be one of pro, team");
    assert_eq!(plan_names(&STANDARD), "starter, pro");
}

#[test]
fn only_a_higher_plan_is_an_upgrade() {
    for (current, wanted, sold) in [
        ("free", "pro", true),
        ("free", "team", true),
        ("pro", "team", true),
        ("pro", "pro", false),
        ("team", "team", false),
        ("team", "pro", false),
    ] {
        let checkout = NewCheckout::parse(&json!({"planId": wanted}), &TEAM).unwrap();
        let answer = checkout.upgrades(&TEAM, current);
        assert_eq!(answer.is_ok(), sold, "{current} to {wanted}: {answer:?}");
        if let Err(refused) = answer {
            assert_eq!(refused.field, "planId");
        }
    }
}

#[test]
fn product_fits_the_cycle_where_one_does() {
    let sold = |products: &BTreeMap<String, String>, plan: &str, cycle| {
        let offer = Offer { edition: &TEAM, products };
        let plan = offer.plan(plan).expect("it can be bought");
        offer.product(plan, cycle).map(str::to_owned)
    };
    let all = products();
    for (plan, cycle, expected) in [
        ("pro", Cycle::Monthly, "prod_pro"),
        ("pro", Cycle::Yearly, "prod_pro_YEARLY"),
        ("team", Cycle::Monthly, "prod_team_month"),
        ("team", Cycle::Yearly, "prod_team_annual"),
    ] {
        assert_eq!(sold(&all, plan, cycle).as_deref(), Some(expected), "{plan} {cycle:?}");
    }
    let one = BTreeMap::from([("b-yearly".to_owned(), "pro".to_owned())]);
    assert_eq!(sold(&one, "pro", Cycle::Monthly).as_deref(), Some("b-yearly"));
    assert_eq!(sold(&one, "team", Cycle::Monthly), None);
}
