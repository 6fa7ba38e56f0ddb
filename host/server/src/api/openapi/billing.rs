//! `/checkout`, `/billing/status` and `/webhooks/payments`.

use serde_json::{Value, json};
use vedette_model::billing::paid_plans;

use super::{
    Subject,
    operation::Operation,
    sample::ACCOUNT,
    schema::{boolean, object, one_of, or_null, record, said, text},
};

pub(super) const TAG: &str = "Billing";

pub(super) fn operations(subject: &Subject<'_>) -> Vec<Operation> {
    vec![checkout(subject), status(subject), events()]
}

fn checkout(subject: &Subject<'_>) -> Operation {
    let plans: Vec<&str> = paid_plans(subject.edition).iter().map(|plan| plan.id).collect();
    let mut cycle = said(one_of(&["monthly", "yearly"]), "How often the plan is paid for.");
    cycle["default"] = json!("monthly");
    let email = json!({
        "type": "string",
        "format": "email",
        "description": "The address that the payment provider writes to. Default: the account's.",
    });
    let planned = said(one_of(&plans), "A higher plan than the account has.");
    let body = object(&["planId"], json!({ "planId": planned, "billing": cycle, "email": email }));
    let page = json!({
        "type": "string",
        "format": "uri",
        "description": "The payment provider's page. The plan changes when the payment has \
             arrived.",
    });
    Operation::post("/checkout", TAG, "beginCheckout", "Buy a higher plan")
        .says(
            "Answers the address of the page where the plan is paid for. For the account's owner.",
        )
        .takes(body, json!({ "planId": "pro", "billing": "yearly" }))
        .answers(
            "Where to pay.",
            record(json!({ "checkoutUrl": page })),
            json!({ "checkoutUrl": "https://payments.example.com/checkout/ch_5f0a4c9d" }),
        )
        .fails(400, "A field is missing or outside its bounds, or the plan is no upgrade.")
        .fails(403, NOT_THE_OWNER)
        .fails(413, "The body is larger than 10 KiB.")
        .fails(503, "The operator has not configured payments, or has no product for the plan.")
}

fn status(subject: &Subject<'_>) -> Operation {
    let plans: Vec<&str> = subject.edition.plans.iter().map(|plan| plan.id).collect();
    let customer = or_null(said(
        text(),
        "The account's customer id at the payment provider; null before the first purchase.",
    ));
    Operation::get("/billing/status", TAG, "readBillingStatus", "Read the billing status")
        .says("For the account's owner.")
        .answers(
            "The plan, and the account's customer id at the payment provider.",
            record(json!({ "plan": one_of(&plans), "customerId": customer })),
            json!({ "plan": "pro", "customerId": "cus_2b7f61c0" }),
        )
        .fails(403, NOT_THE_OWNER)
}

fn events() -> Operation {
    let says = "For the payment provider only. An event counts once, however often it is sent. \
         Repeated events, unknown types and events about unknown customers get the same answer as \
         all others.";
    Operation::post("/webhooks/payments", TAG, "takePaymentEvent", "Receive a payment event")
        .credential("payments")
        .says(says)
        .takes(event(), example())
        .answers(
            "It is received.",
            record(json!({ "received": boolean() })),
            json!({ "received": true }),
        )
        .fails(400, "The event cannot be read, or is about a product that is not configured.")
        .fails(503, "The operator has not configured the secret.")
}

fn event() -> Value {
    let named = |what: &str| or_null(said(object(&[], json!({ "id": or_null(text()) })), what));
    let mut customer = named("Who pays.");
    customer["properties"]["email"] = or_null(text());
    let metadata = json!({
        "planId": or_null(text()),
        "billing": or_null(text()),
        "userId": or_null(text()),
    });
    let moment = json!({
        "type": ["string", "number", "null"],
        "description": "When it happened: milliseconds or seconds since 1970, or a date-time. An \
             event older than one already received changes nothing.",
    });
    object(
        &["id"],
        json!({
            "id": said(text(), "The same, however often the event is sent."),
            "type": said(text(), "For example `subscription.canceled`. `eventType` is accepted \
                 too."),
            "eventType": text(),
            "created_at": moment,
            "product": named("The product that is paid for."),
            "customer": customer,
            "subscription": named("The subscription that is paid for."),
            "metadata": or_null(said(object(&[], metadata), "What the checkout passed along.")),
            "object": said(json!({}), "An object. Its members stand in for fields that are \
                 missing outside it."),
        }),
    )
}

fn example() -> Value {
    json!({
        "id": "evt_90d3e4f5",
        "type": "checkout.completed",
        "product": { "id": "prod_pro_monthly" },
        "customer": { "id": "cus_2b7f61c0", "email": "owner@example.com" },
        "metadata": { "planId": "pro", "billing": "monthly", "userId": ACCOUNT },
    })
}

const NOT_THE_OWNER: &str = "Only the account's owner may do this.";
