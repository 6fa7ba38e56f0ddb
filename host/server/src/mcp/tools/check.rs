//! Checks: of any host now, and what was seen of a site so far.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use vedette_model::{CheckType, Edition, SiteId};
use vedette_sandbox::CheckDescriptor;

use super::{Act, Hints, Tool, check_types, tool};
use crate::{
    App, Caller, Result,
    mcp::{
        args::Args,
        result::{Answer, Part, Room, listing},
        schema,
    },
    schema::{object, one_of, said, text},
    service::{
        self,
        check::{PUBLIC, public_part, shown},
    },
};

/// One for every installed check.
pub(super) fn on_demand(check: &CheckDescriptor, edition: &Edition) -> Tool {
    let mut input = json!({ "domain": schema::domain() });
    if check.reaches_target {
        let port = json!({ "type": "integer", "minimum": 1, "maximum": 65535 });
        input["port"] = said(port, "The port; the check's usual one when left out.");
        input["origin_ip"] = said(text(), schema::ORIGIN_IP);
    }
    let (title, purpose) = (&check.title, &check.description);
    let description = format!(
        "{purpose} Looks at the host now, whether it is monitored or not, and stores nothing. Use \
         it when the present state matters; get_site_status shows what was seen last."
    );
    let act = Act::Check(check.check_type.clone());
    tool(&format!("check_{}", check.check_type), title, &description, Hints::Probes, act)
        .takes(object(&["domain"], input))
        .answers(schema::result(check, edition, None))
}

/// One for each of the three that need no credential.
pub(super) fn for_anyone(check: &CheckDescriptor, edition: &Edition) -> Option<Tool> {
    let check_type = check.check_type.clone();
    let fields: &'static [&'static str] = match check_type.as_str() {
        "ssl" => &PUBLIC,
        "dns" => &DNS,
        "domain" => &DOMAIN,
        _ => return None,
    };
    let description = format!(
        "{} Looks at the host now; public hosts only. Returns the part of the result that the \
         output schema lists.",
        check.description
    );
    let name = format!("check_{check_type}");
    let act = Act::CheckForAnyone { check_type, fields };
    let tool = tool(&name, &check.title, &description, Hints::Probes, act)
        .takes(object(&["domain"], json!({ "domain": schema::domain() })))
        .answers(schema::result(check, edition, Some(fields)));
    Some(tool)
}

pub(super) fn tools(checks: &[Arc<CheckDescriptor>]) -> Vec<Tool> {
    let site = || schema::id("The id of the site, from list_sites.");
    let mut types = check_types(checks);
    if !types.contains(&CheckType::UPTIME) {
        types.push(CheckType::UPTIME);
    }
    let moment = || said(text(), "A date such as 2026-11-20, or a date-time with an offset.");
    vec![
        tool(
            "get_cert_history",
            "Get a site's certificate history",
            "The last 50 changes of a site's certificate: renewals, replacements, other issuers or \
             names. Use it to find out when a certificate changed and to what.",
            Hints::Reads,
            Act::CertHistory,
        )
        .takes(schema::paged(&["site_id"], json!({ "site_id": site() })))
        .answers(schema::listing("history", schema::cert_change(), json!({}))),
        tool(
            "get_check_history",
            "Get a site's check history",
            "The stored runs of a site's checks, newest first. Use it to find out since when \
             something is wrong; narrow it with check_type, from and to.",
            Hints::Reads,
            Act::CheckHistory,
        )
        .takes(schema::paged(
            &["site_id"],
            json!({
                "site_id": site(),
                "check_type": one_of(&types),
                "from": moment(),
                "to": moment(),
            }),
        ))
        .answers(schema::listing("checks", schema::check(), json!({}))),
    ]
}

pub(super) async fn run(
    app: &App,
    caller: &Caller,
    check_type: &CheckType,
    args: &Args,
) -> Result<Value> {
    let body = args.only(&["domain", "port", "origin_ip"]);
    service::check::run_on_demand(app, caller, check_type, &body).await
}

pub(super) async fn run_for_anyone(
    app: &App,
    edition: &Edition,
    check_type: &CheckType,
    fields: &[&str],
    args: &Args,
) -> Result<Value> {
    let (domain, omit) = (args.required("domain")?, edition.omitted(check_type));
    let result = service::check::run_for_anyone(app, check_type, domain, omit).await?;
    Ok(public_part(shown(edition, check_type, result), fields))
}

pub(super) async fn history(app: &App, caller: &Caller, args: &Args) -> Result<Answer> {
    let site: SiteId = args.id("site_id")?;
    let (from, to) = (args.text("from")?, args.text("to")?);
    let query = service::check::query(args.text("check_type")?, from, to, args.page())?;
    let offset = query.offset.into();
    let page = service::check::page(app, caller, site, query).await?;
    let entries = page.items.iter().map(|record| json!(record)).collect();
    let part = Part {
        room: Room::Usual,
        tool: "get_check_history",
        name: "checks",
        entries,
        offset,
        total: page.total,
    };
    Ok(Answer::Listing(listing(part, Map::new())))
}

pub(super) async fn cert_history(app: &App, caller: &Caller, args: &Args) -> Result<Answer> {
    let site: SiteId = args.id("site_id")?;
    let (limit, offset) = args.page()?;
    let page = service::check::cert_history(app, caller, site).await?;
    let kept = page.items.iter().skip(offset as usize).take(limit as usize);
    let entries = kept.map(|change| json!(change.view())).collect();
    let last = page.items.len() as u64;
    let part = Part {
        room: Room::Usual,
        tool: "get_cert_history",
        name: "history",
        entries,
        offset: offset.into(),
        total: last,
    };
    let mut listed = listing(part, Map::new());
    // Older changes than the last 50 are counted, but there is no more of them to see.
    listed["total"] = page.total.into();
    Ok(Answer::Listing(listed))
}

/// Spec: DNS check result, Domain check result; with what tells "none" from "not known".
const DNS: [&str; 4] = ["records", "dnssec", "failed_types", "error"];
const DOMAIN: [&str; 7] = [
    "registrar",
    "expires_at",
    "days_remaining",
    "name_servers",
    "privacy_protected",
    "data_availability",
    "error",
];
