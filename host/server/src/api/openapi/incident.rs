//! `/incidents` and `/maintenance-windows`.

use serde_json::{Value, json};
use vedette_model::{IncidentStatus, incident::IncidentSeverity};

use super::{
    operation::{Operation, page, path_id, query, required},
    sample::{ACCOUNT, INCIDENT, NOW, SITE, SOON, UPDATE, WINDOW},
    schema::{
        boolean, count, list, moment, object, one_of, or_null, record, reference, said, success,
        text, uuid,
    },
};

pub(super) const TAG: &str = "Incidents";
pub(super) const MAINTENANCE: &str = "Maintenance";

pub(super) fn operations() -> Vec<Operation> {
    let mut operations = vec![list_incidents(), create(), read(), update(), updates(), append()];
    operations.extend(maintenance());
    operations
}

fn list_incidents() -> Operation {
    let [_, offset] = page();
    let limit = json!({ "type": "integer", "minimum": 1, "maximum": 200 });
    let listing = record(json!({
        "incidents": list(reference("Incident")),
        "total": count(),
    }));
    Operation::get("/incidents", TAG, "listIncidents", "List the incidents")
        .says(
            "Newest first. Without `limit`, all of them, up to about 4 MiB. If `offset` plus the \
             number of incidents answered is less than `total`, ask for the rest with that sum as \
             `offset`.",
        )
        .with(query("status", one_of(&IncidentStatus::WORDS), "Only incidents with this status."))
        .with(query("limit", limit, "The most to answer. Default: all."))
        .with(offset)
        .answers("The incidents.", listing, json!({ "incidents": [incident()], "total": 1 }))
}

fn create() -> Operation {
    Operation::post("/incidents", TAG, "createIncident", "Open an incident")
        .says(
            "With `auto_create` the incident is made from the unresolved critical alerts: their \
             sites are affected, the first update lists their messages, and a title is made \
             unless one is given. If the same call, with nothing else in the body, would make the \
             same incident again, it answers the open one instead.",
        )
        .takes(
            reference("NewIncident"),
            json!({ "title": TITLE, "severity": "major", "affected_sites": [SITE] }),
        )
        .answers("The incident.", one(), json!({ "incident": incident() }))
        .fails(403, "The account has as many open incidents as it may.")
        .fails(404, "One of `affected_sites` does not exist.")
}

fn read() -> Operation {
    let shown = json!({
        "incident": reference("Incident"),
        "updates": list(reference("IncidentUpdate")),
    });
    Operation::get("/incidents/{id}", TAG, "readIncident", "Read an incident")
        .with(id())
        .answers(
            "The incident with its updates.",
            record(shown),
            json!({ "incident": incident(), "updates": [entry()] }),
        )
        .fails(404, "There is no such incident.")
}

fn update() -> Operation {
    let patch = object(
        &[],
        json!({
            "status": one_of(&IncidentStatus::WORDS),
            "affected_sites": affected_sites(),
        }),
    );
    Operation::patch("/incidents/{id}", TAG, "updateIncident", "Change an incident")
        .says("Every status may follow every other. A change of status appends an update.")
        .with(id())
        .takes(patch, json!({ "status": "identified" }))
        .answers("The incident.", one(), json!({ "incident": incident() }))
        .fails(403, FULL)
        .fails(404, "There is no such incident, or one of `affected_sites` does not exist.")
}

fn updates() -> Operation {
    let listing = record(json!({ "updates": list(reference("IncidentUpdate")), "total": count() }));
    Operation::get("/incidents/{id}/updates", TAG, "listIncidentUpdates", "List the updates")
        .says("Oldest first.")
        .with(id())
        .answers("The updates.", listing, json!({ "updates": [entry()], "total": 1 }))
        .fails(404, "There is no such incident.")
}

fn append() -> Operation {
    let message = json!({ "type": "string", "minLength": 1, "maxLength": 10_000 });
    let message = said(message, "Not of blanks alone.");
    let body = record(json!({ "status": one_of(&IncidentStatus::WORDS), "message": message }));
    let appended = record(json!({
        "incident": reference("Incident"),
        "update": reference("IncidentUpdate"),
    }));
    Operation::post("/incidents/{id}/updates", TAG, "appendIncidentUpdate", "Append an update")
        .says("The status `resolved` resolves the incident.")
        .with(id())
        .takes(body, json!({ "status": "investigating", "message": MESSAGE }))
        .answers(
            "The incident and the update that was appended.",
            appended,
            json!({ "incident": incident(), "update": entry() }),
        )
        .fails(403, FULL)
        .fails(404, "There is no such incident.")
}

fn maintenance() -> [Operation; 3] {
    let path = "/maintenance-windows";
    let listing = record(json!({
        "windows": list(reference("MaintenanceWindow")),
        "total": count(),
    }));
    let new = json!({ "site_id": SITE, "starts_at": NOW, "ends_at": SOON });
    let window = || json!({ "window": reference("MaintenanceWindow") });
    [
        Operation::get(path, MAINTENANCE, "listMaintenanceWindows", "List the windows")
            .says("Earliest start first.")
            .answers("The windows.", listing, json!({ "windows": [planned()], "total": 1 })),
        Operation::post(path, MAINTENANCE, "createMaintenanceWindow", "Plan a window")
            .says(
                "Checks continue during the window. Their findings are stored, and notifications \
                 are held back. What still holds when the window ends is sent then.",
            )
            .takes(reference("NewMaintenanceWindow"), new)
            .answers("The window.", record(window()), json!({ "window": planned() }))
            .fails(403, "The account has as many windows as it may.")
            .fails(404, "There is no site with this `site_id`."),
        Operation::delete(path, MAINTENANCE, "deleteMaintenanceWindow", "Remove a window")
            .with(required("id", uuid(), "The window.", WINDOW))
            .answers("It is gone.", success(), json!({ "success": true }))
            .fails(404, "There is no such window."),
    ]
}

pub(super) fn schemas() -> Vec<(String, Value)> {
    let incident = record(json!({
        "id": uuid(),
        "title": { "type": "string", "maxLength": 200 },
        "severity": one_of(&IncidentSeverity::WORDS),
        "affected_sites": or_null(list(uuid())),
        "auto_create": said(boolean(), "Whether it was made from critical alerts."),
        "status": one_of(&IncidentStatus::WORDS),
        "updates": said(list(reference("IncidentStep")), "Oldest first."),
        "created_at": moment(),
        "updated_at": moment(),
        "resolved_at": or_null(said(moment(), "When it was resolved; null while it is open.")),
    }));
    let mut new = object(
        &[],
        json!({
            "title": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "One line. Required unless `auto_create` is true.",
            },
            "severity": {
                "type": "string",
                "enum": IncidentSeverity::WORDS,
                "default": "minor",
            },
            "affected_sites": affected_sites(),
            "auto_create": {
                "type": "boolean",
                "default": false,
                "description": "Make the incident from the open critical alerts.",
            },
        }),
    );
    let automatic = json!({ "auto_create": { "enum": [true] } });
    new["anyOf"] = json!([
        { "required": ["title"] },
        { "required": ["auto_create"], "properties": automatic },
    ]);
    let step = record(json!({
        "status": one_of(&IncidentStatus::WORDS),
        "message": text(),
        "created_at": moment(),
    }));
    let update = record(json!({
        "id": uuid(),
        "incident_id": uuid(),
        "status": one_of(&IncidentStatus::WORDS),
        "message": text(),
        "author_id": uuid(),
        "created_at": moment(),
    }));
    let description = || or_null(json!({ "type": "string", "maxLength": 500 }));
    let scope = || or_null(said(uuid(), "Null: all sites."));
    let window = record(json!({
        "id": uuid(),
        "site_id": scope(),
        "starts_at": moment(),
        "ends_at": moment(),
        "description": description(),
        "created_at": moment(),
    }));
    let planned = object(
        &["starts_at", "ends_at"],
        json!({
            "site_id": scope(),
            "starts_at": moment(),
            "ends_at": said(moment(), "After `starts_at`. This moment is no longer part of the \
                 window."),
            "description": description(),
        }),
    );
    vec![
        ("Incident".to_owned(), said(incident, "Trouble, as the account's owner describes it.")),
        ("NewIncident".to_owned(), said(new, "An incident to be opened.")),
        ("IncidentStep".to_owned(), said(step, "An update, as its incident shows it.")),
        ("IncidentUpdate".to_owned(), said(update, "A step in an incident's story.")),
        ("MaintenanceWindow".to_owned(), said(window, "Planned downtime: alerts are silenced.")),
        ("NewMaintenanceWindow".to_owned(), said(planned, "A window to be planned.")),
    ]
}

fn id() -> Value {
    path_id("The incident.", INCIDENT)
}

/// As bodies may name them.
fn affected_sites() -> Value {
    or_null(json!({ "type": "array", "items": uuid(), "maxItems": 200 }))
}

fn one() -> Value {
    record(json!({ "incident": reference("Incident") }))
}

fn incident() -> Value {
    json!({
        "id": INCIDENT,
        "title": TITLE,
        "severity": "major",
        "affected_sites": [SITE],
        "auto_create": false,
        "status": "investigating",
        "updates": [{ "status": "investigating", "message": MESSAGE, "created_at": NOW }],
        "created_at": NOW,
        "updated_at": NOW,
        "resolved_at": null,
    })
}

fn entry() -> Value {
    json!({
        "id": UPDATE,
        "incident_id": INCIDENT,
        "status": "investigating",
        "message": MESSAGE,
        "author_id": ACCOUNT,
        "created_at": NOW,
    })
}

fn planned() -> Value {
    json!({
        "id": WINDOW,
        "site_id": SITE,
        "starts_at": NOW,
        "ends_at": SOON,
        "description": null,
        "created_at": NOW,
    })
}

const FULL: &str = "The incident holds as many updates as it can.";
const TITLE: &str = "Checkout is slow";
const MESSAGE: &str = "We are looking into it.";
