//! Alerts: listed and resolved.

use serde_json::{Map, Value, json};
use vedette_model::Severity;

use super::{Act, Hints, Tool, tool};
use crate::{
    App, Caller, Result,
    mcp::{
        args::Args,
        result::{Answer, Part, Room, listing},
        schema,
    },
    schema::{object, one_of, record, said, text},
    service,
};

pub(super) fn tools() -> Vec<Tool> {
    let filters = json!({
        "type": said(text(), "Only alerts of this type, such as ssl, dns, domain or cert_change."),
        "severity": one_of(&Severity::WORDS),
    });
    vec![
        tool(
            "list_alerts",
            "List open alerts",
            "What is wrong right now: the alerts that are not resolved, newest first, each with \
             what to do about it. Use it when the user asks what needs attention.",
            Hints::Reads,
            Act::ListAlerts,
        )
        .takes(schema::paged(&[], filters))
        .answers(schema::listing("alerts", schema::alert(), json!({}))),
        tool(
            "resolve_alert",
            "Resolve an alert",
            "Marks an alert as dealt with. Use it for changes that were intended (DNS, certificate) \
             once the user says so; conditions such as an expiry resolve themselves.",
            Hints::Sets,
            Act::ResolveAlert,
        )
        .takes(object(
            &["alert_id"],
            json!({ "alert_id": schema::id("The id of the alert, from list_alerts.") }),
        ))
        .answers(schema::whole(record(json!({ "alert": schema::alert() })))),
    ]
}

pub(in crate::mcp) async fn list(app: &App, caller: &Caller, args: &Args) -> Result<Answer> {
    let (alert_type, severity) = (args.text("type")?, args.text("severity")?);
    let (limit, offset) = args.page_of_all()?;
    let page = (limit.unwrap_or(MOST_AT_ONCE), offset);
    let filter = service::alert::filter(app, alert_type, severity, None, page)?;
    let page = service::alert::list(app, caller, &filter).await?;
    let part = Part {
        room: Room::Overview,
        tool: "list_alerts",
        name: "alerts",
        entries: page.items.iter().map(|alert| json!(alert.view())).collect(),
        offset: filter.offset.into(),
        total: page.total,
    };
    Ok(Answer::Listing(listing(part, Map::new())))
}

pub(super) async fn resolve(app: &App, caller: &Caller, args: &Args) -> Result<Value> {
    let alert = service::alert::set_resolved(app, caller, args.id("alert_id")?, true).await?;
    Ok(json!({ "alert": alert.view() }))
}

/// More than an answer has room for.
const MOST_AT_ONCE: u32 = 300;
