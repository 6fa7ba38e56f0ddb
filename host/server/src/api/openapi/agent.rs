//! `/agent`: agents and their keys, what they report, and what they saw.

use serde_json::{Value, json};

use super::{
    operation::{Operation, required},
    sample::{AGENT, LATER, NOW, TARGET},
    schema::{
        boolean, count, list, moment, object, one_of, or_null, record, reference, said, success,
        text, uuid,
    },
};

pub(super) const TAG: &str = "Agents";

pub(super) fn operations() -> Vec<Operation> {
    let mut operations = of_callers();
    operations.extend(of_agents());
    operations
}

fn of_callers() -> Vec<Operation> {
    let id = required("id", uuid(), "The agent.", AGENT);
    let name = json!({ "type": "string", "minLength": 1, "maxLength": 100 });
    let name = said(name, "One line, not only blanks. Default: `agent-1`, `agent-2`, …");
    let created = json!({
        "agent_id": AGENT, "agent_key": "sp_agent_Tq3…", "agent_name": "dc1",
    });
    vec![
        Operation::get("/agent/key", TAG, "listAgents", "List the agents")
            .says("Keys are not listed: a key is shown once, when its agent is made.")
            .answers(
                "The agents.",
                record(json!({ "agents": list(reference("Agent")) })),
                json!({ "agents": [agent()] }),
            )
            .fails(403, "The plan does not include agents."),
        Operation::post("/agent/key", TAG, "createAgent", "Make an agent")
            .says("Run `vedette agent` with the key, inside the network that it is to look at.")
            .may_take(object(&[], json!({ "name": name })), json!({ "name": "dc1" }))
            .answers("The key, shown only this once.", reference("CreatedAgent"), created)
            .fails(403, "The plan does not include agents, or all of its agents are in use."),
        Operation::delete("/agent/key", TAG, "deleteAgent", "Delete an agent")
            .says(
                "The agent's key stops working at once. What it saw is deleted, and so are the \
                 alerts about that.",
            )
            .with(id)
            .answers("It is gone.", success(), json!({ "success": true }))
            .fails(403, "The plan does not include agents.")
            .fails(404, "There is no such agent."),
        Operation::get("/agent/certs", TAG, "listPrivateCertificates", "List what agents saw")
            .says(
                "The server certificates of each host and port, as they were last seen, at most \
                 1,000 per agent. Those that expire soonest come first. A certificate is removed \
                 when a later look finds only others. Its `id` is the `site_id` of alerts about \
                 it, and can be used in incidents and maintenance windows.",
            )
            .answers(
                "The certificates.",
                record(json!({ "certificates": list(reference("PrivateCertificate")) })),
                json!({ "certificates": [private_certificate()] }),
            )
            .fails(403, "The plan does not include agents."),
    ]
}

fn of_agents() -> Vec<Operation> {
    let registered = json!({ "agent_id": uuid(), "status": one_of(&["registered"]) });
    let results = json!({ "type": "array", "items": reference("AgentResult"), "maxItems": 500 });
    let reported = json!({
        "status": one_of(&["ok"]),
        "certs_processed": said(count(), "Certificates in the report."),
        "alerts_created": said(count(), "Alerts that the report raised."),
    });
    vec![
        Operation::post("/agent/register", TAG, "registerAgent", "Register the agent")
            .credential("agent")
            .says("Can be sent repeatedly. Fields that are left out keep their value.")
            .may_take(reference("AgentRegistration"), registration())
            .answers(
                "It is registered.",
                record(registered),
                json!({ "agent_id": AGENT, "status": "registered" }),
            )
            .fails(403, "The plan does not include agents."),
        Operation::post("/agent/report", TAG, "reportCertificates", "Report certificates")
            .credential("agent")
            .says(
                "If any entry is invalid, nothing is stored. A report may be repeated or late: \
                 results older than those already stored change nothing. After a 500, send it \
                 again. A place that no report of an agent has named for a week is removed, and \
                 its alerts are resolved. An agent can have 1,000 places. If a report names more, \
                 places that no report has named for a week make room at once, up to 1,000 of \
                 them. If there is still no room, or the new results are more than a week old, \
                 the new places are left out, all other results are stored, and the answer is 403.",
            )
            .takes(
                record(json!({ "agent_id": uuid(), "results": results })),
                json!({ "agent_id": AGENT, "results": [result()] }),
            )
            .answers(
                "The report is stored.",
                record(reported),
                json!({ "status": "ok", "certs_processed": 1, "alerts_created": 0 }),
            )
            .fails(403, "The plan does not include agents, or there is no room for new places.")
            .fails(404, "The key is another agent's."),
    ]
}

pub(super) fn schemas() -> Vec<(String, Value)> {
    let created = record(json!({
        "agent_id": uuid(),
        "agent_key": said(text(), "The whole key. Keep it now: it is not shown again."),
        "agent_name": text(),
    }));
    vec![
        ("Agent".to_owned(), said(agent_schema(), "An agent, without its key.")),
        ("CreatedAgent".to_owned(), said(created, "An agent with its key.")),
        ("PrivateCertificate".to_owned(), private_certificate_schema()),
        ("AgentRegistration".to_owned(), registration_schema()),
        ("AgentResult".to_owned(), result_schema()),
        ("AgentCertificate".to_owned(), certificate_schema()),
    ]
}

fn agent_schema() -> Value {
    let status = "`pending` until its first report, `offline` after three missed reports.";
    record(json!({
        "id": uuid(),
        "agent_name": text(),
        "last_seen_at": or_null(moment()),
        "created_at": moment(),
        "status": said(one_of(&["pending", "online", "offline"]), status),
        "hostname": or_null(text()),
        "version": or_null(text()),
        "os": or_null(text()),
    }))
}

fn private_certificate_schema() -> Value {
    let days = said(json!({ "type": "integer" }), "Rounded down; negative once expired.");
    let certificate = record(json!({
        "id": uuid(),
        "host": text(),
        "port": port(),
        "subject": text(),
        "issuer": text(),
        "serial_number": or_null(text()),
        "not_before": or_null(moment()),
        "not_after": moment(),
        "days_remaining": days,
        "is_valid": boolean(),
        "fingerprint_sha256": or_null(text()),
        "san": list(text()),
        "error": or_null(said(text(), "Why the certificate is not valid, or could not be read the \
             last time.")),
        "agent_id": uuid(),
        "last_seen_at": said(moment(), "When the agent looked last."),
    }));
    said(certificate, "A certificate of a host that only an agent can reach.")
}

fn registration_schema() -> Value {
    let fact = || or_null(json!({ "type": "string", "maxLength": 200 }));
    let name = json!({ "type": "string", "minLength": 1, "maxLength": 100 });
    let interval = json!({ "type": "integer", "minimum": 60, "maximum": 86_400 });
    object(
        &[],
        json!({
            "agent_name": or_null(said(name, "Renames it.")),
            "hostname": fact(),
            "version": fact(),
            "os": fact(),
            "interval_seconds": or_null(said(interval, "Between two reports; 3600 at first.")),
        }),
    )
}

fn result_schema() -> Value {
    let certificates = json!({
        "type": "array", "items": reference("AgentCertificate"), "maxItems": 20,
        "description": "The certificates as served; empty if none was seen. Each one that did not \
             issue another is a server certificate, and is listed and judged by itself.",
    });
    let result = object(
        &["host", "port", "certificates"],
        json!({
            "host": said(text(), "A name or an address in the agent's network."),
            "port": port(),
            "checked_at": or_null(said(moment(), "When it was seen. Default: now.")),
            "error": or_null(said(bounded(), "Why no certificate was seen, or what is wrong with \
                 it.")),
            "certificates": certificates,
        }),
    );
    said(result, "One look at a host and a port.")
}

fn certificate_schema() -> Value {
    let names = json!({ "type": ["array", "null"], "items": bounded() });
    let fingerprint = "If it is left out, a certificate is recognised by issuer, subject, serial \
         number and `not_after`.";
    let mut certificate = object(
        &[],
        json!({
            "subject": or_null(bounded()),
            "issuer": or_null(bounded()),
            "serial_number": or_null(bounded()),
            "not_before": or_null(moment()),
            "not_after": or_null(moment()),
            "fingerprint_sha256": or_null(said(bounded(), fingerprint)),
            "san": names,
            "is_valid": or_null(said(boolean(), "Default: decided by the dates and `error`.")),
            "error": or_null(bounded()),
        }),
    );
    let told = json!({ "subject": text(), "issuer": text(), "not_after": text() });
    let why_not = json!({ "error": { "type": "string", "minLength": 1 } });
    certificate["anyOf"] = json!([
        { "required": ["subject", "issuer", "not_after"], "properties": told },
        { "required": ["error"], "properties": why_not },
    ]);
    said(
        certificate,
        "A certificate that an agent saw, with `subject`, `issuer` and `not_after`, or the \
         `error` that kept it from reading one.",
    )
}

fn bounded() -> Value {
    json!({ "type": "string", "maxLength": 1_000 })
}

fn port() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": 65_535 })
}

fn agent() -> Value {
    json!({
        "id": AGENT, "agent_name": "dc1", "last_seen_at": NOW, "created_at": NOW,
        "status": "online", "hostname": "mon01", "version": "0.1.0", "os": "linux",
    })
}

fn registration() -> Value {
    json!({
        "agent_name": "dc1", "hostname": "mon01", "version": "0.1.0", "os": "linux",
        "interval_seconds": 3_600,
    })
}

fn result() -> Value {
    json!({
        "host": "db01", "port": 8443, "checked_at": NOW, "error": null,
        "certificates": [{
            "subject": "CN=db01", "issuer": "CN=Corp CA,O=Corp", "serial_number": "0a17",
            "not_before": NOW, "not_after": LATER, "fingerprint_sha256": "5f2c…",
            "san": ["db01", "10.0.0.5"], "is_valid": true, "error": null,
        }],
    })
}

fn private_certificate() -> Value {
    json!({
        "id": TARGET, "host": "db01", "port": 8443, "subject": "CN=db01",
        "issuer": "CN=Corp CA,O=Corp", "serial_number": "0a17", "not_before": NOW,
        "not_after": LATER, "days_remaining": 90, "is_valid": true,
        "fingerprint_sha256": "5f2c…", "san": ["db01", "10.0.0.5"], "error": null,
        "agent_id": AGENT, "last_seen_at": NOW,
    })
}
