//! Incidents: listed, opened, changed, told on.

use serde_json::{Map, Value, json};
use vedette_model::{IncidentFilter, IncidentStatus, incident::IncidentSeverity};

use super::{Act, Hints, Tool, tool};
use crate::{
    App, Caller, Result,
    mcp::{
        args::Args,
        result::{Answer, Part, Room, listing},
        schema,
    },
    schema::{boolean, object, one_of, or_null, record, said, uuid},
    service,
};

pub(super) fn tools() -> Vec<Tool> {
    let id = || schema::id("The id of the incident, from list_incidents.");
    let status = || one_of(&IncidentStatus::WORDS);
    let sites = || {
        or_null(json!({
            "type": "array", "items": uuid(), "maxItems": 200,
            "description": "The ids of the sites, from list_sites.",
        }))
    };
    let message = json!({ "type": "string", "minLength": 1, "maxLength": 10_000 });
    let one = || schema::whole(record(json!({ "incident": schema::incident() })));
    vec![
        tool(
            "list_incidents",
            "List incidents",
            "All incidents, newest first, with all their updates. Use it before opening \
             an incident, and to find an incident_id.",
            Hints::Reads,
            Act::ListIncidents,
        )
        .takes(schema::paged(&[], json!({ "status": status() })))
        .answers(schema::listing("incidents", schema::incident(), json!({}))),
        tool(
            "create_incident",
            "Open an incident",
            "Opens an incident, which the status page shows. Use it when the user wants to \
             announce trouble; auto_create takes title and sites from the open critical alerts.",
            Hints::Adds,
            Act::CreateIncident,
        )
        .takes(object(
            &[],
            json!({
                "title": {
                    "type": "string", "minLength": 1, "maxLength": 200,
                    "description": "Required unless auto_create is true.",
                },
                "severity": one_of(&IncidentSeverity::WORDS),
                "affected_sites": sites(),
                "auto_create": said(boolean(), "Made from the critical alerts that are open."),
            }),
        ))
        .answers(one()),
        tool(
            "update_incident",
            "Change an incident",
            "Sets the status of an incident or the sites that it affects. Use add_incident_update \
             instead if there is something to say about it.",
            Hints::Adds,
            Act::UpdateIncident,
        )
        .takes(object(
            &["incident_id"],
            json!({ "incident_id": id(), "status": status(), "affected_sites": sites() }),
        ))
        .answers(one()),
        tool(
            "add_incident_update",
            "Add an incident update",
            "Appends an update, which the status page shows, and sets the status; resolved ends \
             the incident. Use it to say what was found out or done.",
            Hints::Adds,
            Act::AddIncidentUpdate,
        )
        .takes(object(
            &["incident_id", "status", "message"],
            json!({ "incident_id": id(), "status": status(), "message": message }),
        ))
        .answers(one()),
    ]
}

pub(super) async fn list(app: &App, caller: &Caller, args: &Args) -> Result<Answer> {
    let status = args.text("status")?.map(str::parse::<IncidentStatus>).transpose()?;
    let (limit, offset) = args.page()?;
    let filter = IncidentFilter { status, limit, offset };
    let page = service::incident::list(app, caller, &filter).await?;
    let part = Part {
        room: Room::Usual,
        tool: "list_incidents",
        name: "incidents",
        entries: page.items.iter().map(|incident| json!(incident.view())).collect(),
        offset: offset.into(),
        total: page.total,
    };
    Ok(Answer::Listing(listing(part, Map::new())))
}

pub(super) async fn create(app: &App, caller: &Caller, args: &Args) -> Result<Value> {
    let incident = service::incident::create(app, caller, args.body()).await?;
    Ok(json!({ "incident": incident.view() }))
}

pub(super) async fn update(app: &App, caller: &Caller, args: &Args) -> Result<Value> {
    let id = args.id("incident_id")?;
    let incident = service::incident::update(app, caller, id, args.body()).await?;
    Ok(json!({ "incident": incident.view() }))
}

pub(super) async fn add_update(app: &App, caller: &Caller, args: &Args) -> Result<Value> {
    let id = args.id("incident_id")?;
    let incident = service::incident::add_update(app, caller, id, args.body()).await?;
    Ok(json!({ "incident": incident.view() }))
}
