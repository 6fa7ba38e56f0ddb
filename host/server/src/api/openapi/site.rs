//! `/sites`.

use serde_json::{Map, Value, json};
use vedette_model::CheckType;

use super::{
    Subject,
    operation::{Operation, required},
    plugin::config_name,
    sample::{ACCOUNT, DOMAIN, NOW, SITE},
    schema::{
        boolean, domain, list, moment, object, one_of, or_null, record, reference, said, success,
        text, text_in, uuid,
    },
};

pub(super) const TAG: &str = "Sites";

pub(super) fn operations(subject: &Subject<'_>) -> Vec<Operation> {
    let id = || required("id", uuid(), "The site.", SITE);
    let one = || record(json!({ "site": reference("Site") }));
    let new = json!({ "domain": DOMAIN, "check_types": ["ssl", "dns"], "alert_days": 30 });
    let listing = record(json!({
        "sites": list(reference("Site")),
        "plan": subject.plan(),
        "userId": uuid(),
    }));
    vec![
        Operation::get("/sites", TAG, "listSites", "List the sites")
            .says("All sites of the account, oldest first.")
            .answers(
                "The sites, and the account's plan.",
                listing,
                json!({ "sites": [example()], "plan": "pro", "userId": ACCOUNT }),
            ),
        Operation::post("/sites", TAG, "createSite", "Add a site")
            .says(
                "The first checks run at once. A second site with the same domain, `custom_port` \
                 and `origin_ip` is answered with 400.",
            )
            .takes(reference("NewSite"), new)
            .answers("The site.", one(), json!({ "site": example() }))
            .fails(403, "All sites of the plan are in use."),
        Operation::patch("/sites", TAG, "updateSite", "Change a site")
            .says(
                "Changes the fields in the body: a value sets, null clears, and absent fields \
                 stay. A check that is taken out of `check_types` no longer runs. Its open alerts \
                 about conditions are resolved without a notification; those about changes stay.",
            )
            .with(id())
            .takes(reference("SitePatch"), json!({ "alert_days": 7, "custom_port": 8443 }))
            .answers("The site.", one(), json!({ "site": changed() }))
            .fails(404, "There is no such site."),
        Operation::delete("/sites", TAG, "deleteSite", "Remove a site")
            .says("Removes the site and all its data: checks, alerts, certificate history.")
            .with(id())
            .answers("It is gone.", success(), json!({ "success": true }))
            .fails(404, "There is no such site."),
    ]
}

pub(super) fn schemas(subject: &Subject<'_>) -> Vec<(String, Value)> {
    let site = record(json!({
        "id": uuid(),
        "domain": said(text(), "In lower case. International labels are `xn--…`."),
        "check_types": list(text()),
        "custom_port": or_null(port()),
        "origin_ip": or_null(origin_ip()),
        "alert_days": alert_days(),
        "monitoring_enabled": said(
            boolean(),
            "Whether its checks run. In lists it is also false for sites beyond the plan's number \
             of sites.",
        ),
        "check_config": json!({
            "type": "object",
            "additionalProperties": { "type": "object" },
            "description": "The configuration of each check of the site, by check type.",
        }),
        "created_at": moment(),
    }));
    let patch = object(&[], changeable(subject));
    let mut members = changeable(subject);
    members["domain"] = domain();
    members["check_types"]["default"] = json!(CheckType::LISTED);
    members["alert_days"]["default"] = json!(14);
    members["monitoring_enabled"]["default"] = json!(true);
    let new = object(&["domain"], members);
    vec![
        ("Site".to_owned(), said(site, "A domain that is watched.")),
        ("NewSite".to_owned(), said(new, "A site to be added.")),
        ("SitePatch".to_owned(), said(patch, "What is to change of a site.")),
    ]
}

/// The members that both bodies have.
fn changeable(subject: &Subject<'_>) -> Value {
    let types = subject.check_types();
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    let name = || or_null(json!({ "type": "string", "maxLength": 500 }));
    let secret = || or_null(said(json!({ "type": "object" }), "Stored, and never shown again."));
    json!({
        "check_types": {
            "type": "array",
            "items": one_of(&types),
            "minItems": 1,
            "description": "The checks that run. `uptime` runs whether it is listed or not.",
        },
        "custom_port": or_null(port()),
        "origin_ip": or_null(origin_ip()),
        "alert_days": alert_days(),
        "monitoring_enabled": said(boolean(), "Whether its checks run."),
        "check_config": check_config(subject),
        "dns_provider": said(
            name(),
            "The provider for the challenges of certificate issuance. Renewal supports `rfc2136`.",
        ),
        "dns_provider_config": secret(),
        "deploy_target": said(
            name(),
            "Where a renewed certificate goes. Null or `download`: it is kept for `GET \
             /renewal/certificate`.",
        ),
        "deploy_config": secret(),
    })
}

fn check_config(subject: &Subject<'_>) -> Value {
    let of = |check_type: &str| (check_type.to_owned(), reference(&config_name(check_type)));
    let properties: Map<String, Value> = subject.installed().map(of).collect();
    json!({
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": false,
        "description": "Replaces the configuration of all checks; null clears it.",
    })
}

fn port() -> Value {
    json!({
        "type": "integer",
        "minimum": 1,
        "maximum": 65535,
        "description": "The port that is checked; null is 443.",
    })
}

fn origin_ip() -> Value {
    said(
        text_in(&["ipv4", "ipv6"]),
        "The address to connect to instead of the one that the domain resolves to. `uptime` \
         ignores it and connects as visitors do.",
    )
}

fn alert_days() -> Value {
    json!({
        "type": "integer",
        "minimum": 1,
        "maximum": 365,
        "description": "How many days before an expiry to alert.",
    })
}

fn example() -> Value {
    json!({
        "id": SITE,
        "domain": DOMAIN,
        "check_types": ["ssl", "dns"],
        "custom_port": null,
        "origin_ip": null,
        "alert_days": 30,
        "monitoring_enabled": true,
        "check_config": {},
        "created_at": NOW,
    })
}

fn changed() -> Value {
    let mut site = example();
    site["alert_days"] = json!(7);
    site["custom_port"] = json!(8443);
    site
}
