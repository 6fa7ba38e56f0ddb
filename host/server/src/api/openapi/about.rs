//! The document itself: what it says ahead of its operations, and the two that serve it.

use serde_json::{Value, json};
use url::Url;
use vedette_model::{Area, Edition, agent};

use super::operation::Operation;

pub(super) const TAG: &str = "Description";

pub(super) fn operations() -> Vec<Operation> {
    let document = json!({
        "schema": {
            "type": "object",
            "required": ["openapi", "info", "paths"],
            "properties": {
                "openapi": { "type": "string" },
                "info": { "type": "object" },
                "paths": { "type": "object" },
            },
        },
    });
    vec![
        Operation::get("/openapi.json", TAG, "readDescription", "This description, for programs")
            .public()
            .answers_with("An OpenAPI 3.1 document.", "application/json", document),
        Operation::get("/docs", TAG, "readReference", "This description, for people")
            .public()
            .answers_with(
                "A self-contained page.",
                "text/html",
                json!({ "schema": { "type": "string" } }),
            ),
    ]
}

pub(super) fn info(edition: &Edition) -> Value {
    json!({
        "title": "Vedette",
        "version": "1.0.0",
        "summary": "Watches certificates, DNS, registrations and uptime, and tells you when \
                    something is wrong.",
        "description": description(edition),
        "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
    })
}

/// The operator's address, or whatever address the document was read from.
pub(super) fn servers(edition: &Edition, public_url: Option<&Url>) -> Value {
    let base = public_url.map(|url| url.as_str().trim_end_matches('/')).unwrap_or_default();
    json!([{ "url": format!("{base}{}", edition.prefix) }])
}

pub(super) fn security(edition: &Edition) -> Value {
    let description = format!(
        "An API key, which starts with `{}`: `Authorization: Bearer {}…`. Or a session token, where \
         the operator has named an identity provider.",
        edition.key_prefix, edition.key_prefix
    );
    let bearer = |description: &str| json!({ "type": "http", "scheme": "bearer", "description": description });
    let mut schemes = json!({ "bearer": bearer(&description) });
    if edition.has(Area::Agents) {
        let key = agent::key_prefix(edition);
        schemes["agent"] = bearer(&format!("The key of an agent, which starts with `{key}`."));
    }
    if edition.has(Area::Cron) {
        schemes["scheduler"] = bearer("The operator's secret for an external scheduler.");
    }
    if edition.has(Area::Billing) {
        let description = "Hex of the HMAC-SHA256 of the body as it is sent, with the secret that \
             the payment provider shares with the operator.";
        schemes["payments"] = json!({
            "type": "apiKey", "in": "header", "name": "payments-signature",
            "description": description,
        });
    }
    schemes
}

fn description(edition: &Edition) -> String {
    let plans: Vec<String> = edition
        .plans
        .iter()
        .map(|plan| {
            format!(
                "- `{}`: {} sites, {} API key{}, {} requests in 10 seconds, {} calls a month",
                plan.id,
                plan.sites,
                plan.api_keys,
                if plan.api_keys == 1 { "" } else { "s" },
                plan.qps,
                plan.monthly_calls
            )
        })
        .collect();
    format!(
        "Bodies are JSON, times are UTC (RFC 3339), ids are UUIDs. Unknown fields of a body are \
         ignored. Any other mistake is answered with 400 and the name of the field, and changes \
         nothing. Somebody else's resource is answered exactly like one that does not \
         exist.\n\nSend an API key with every request: `Authorization: Bearer {prefix}…`. If the \
         operator has an identity provider, its session tokens work like keys. Public operations \
         need no credential.\n\nAn address may make 60 requests a minute, and 10 to public \
         operations. Each plan has further limits:\n\n{plans}\n\nEvery answer has six headers \
         that show how much of each limit is left. A 429 also says in `Retry-After` how many \
         seconds to wait. `X-Request-Id` is in the answer and in the operator's log; send your \
         own, or one is made.",
        prefix = edition.key_prefix,
        plans = plans.join("\n"),
    )
}
