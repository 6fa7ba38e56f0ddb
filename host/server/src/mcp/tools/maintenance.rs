//! Maintenance windows: listed, planned, removed.

use chrono::SecondsFormat;
use serde_json::{Map, Value, json};

use super::{Act, Hints, Tool, tool};
use crate::{
    App, Caller, Result,
    mcp::{
        args::Args,
        result::{Answer, Part, Room, listing},
        schema,
    },
    schema::{boolean, moment, object, or_null, record, said, success, uuid},
    service,
};

pub(super) fn tools() -> Vec<Tool> {
    let scope = "The site, from list_sites or an alert; null or left out: all sites.";
    let scope = or_null(said(uuid(), scope));
    vec![
        tool(
            "list_maintenance_windows",
            "List maintenance windows",
            "All planned and past windows, earliest first. Use it to see when alerts are \
             silenced, and to find a window_id.",
            Hints::Reads,
            Act::ListWindows,
        )
        .takes(schema::paged(
            &[],
            json!({ "current": said(boolean(), "true: only those that are not over.") }),
        ))
        .answers(schema::listing("windows", schema::window(), json!({}))),
        tool(
            "create_maintenance_window",
            "Plan a maintenance window",
            "Silences the alerts of one site or of all sites for a time; checks go on. Use it \
             before planned downtime.",
            Hints::Adds,
            Act::CreateWindow,
        )
        .takes(object(
            &["starts_at", "ends_at"],
            json!({
                "site_id": scope,
                "starts_at": said(moment(), "With an offset, such as 2026-11-20T22:00:00Z."),
                "ends_at": said(moment(), "After starts_at."),
                "description": or_null(json!({ "type": "string", "maxLength": 500 })),
            }),
        ))
        .answers(schema::whole(record(json!({ "window": schema::window() })))),
        tool(
            "delete_maintenance_window",
            "Remove a maintenance window",
            "Removes a window; alerts that it silenced and that still hold are sent. Use it when \
             the downtime was called off or ended early.",
            Hints::Removes,
            Act::DeleteWindow,
        )
        .takes(object(
            &["window_id"],
            json!({
                "window_id": schema::id("The id of the window, from list_maintenance_windows."),
            }),
        ))
        .answers(success()),
    ]
}

pub(super) async fn list(app: &App, caller: &Caller, args: &Args) -> Result<Answer> {
    let (limit, offset) = args.page()?;
    let mut windows = service::maintenance::list(app, caller).await?;
    if args.boolean("current")? {
        let now = app.clock.now();
        windows.retain(|window| now < window.ends_at);
    }
    let shown = windows.iter().skip(offset as usize).take(limit as usize);
    let part = Part {
        room: Room::Usual,
        tool: "list_maintenance_windows",
        name: "windows",
        entries: shown.map(|window| json!(window.view())).collect(),
        offset: offset.into(),
        total: windows.len() as u64,
    };
    Ok(Answer::Listing(listing(part, Map::new())))
}

pub(super) async fn create(app: &App, caller: &Caller, args: &Args) -> Result<Value> {
    let window = service::maintenance::create(app, caller, args.body()).await?;
    let mut told = json!({ "window": window.view() });
    let now = app.clock.now();
    if window.ends_at <= now {
        let now = now.to_rfc3339_opts(SecondsFormat::Secs, true);
        told["hint"] = format!("it is over already and silences nothing: it is {now} now").into();
    }
    Ok(told)
}

pub(super) async fn delete(app: &App, caller: &Caller, args: &Args) -> Result<Value> {
    service::maintenance::delete(app, caller, args.id("window_id")?).await?;
    Ok(json!({ "success": true }))
}
