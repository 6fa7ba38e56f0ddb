//! What the document says of single resources, and of what editions and plugins differ in.

use vedette_model::{agent::Report, incident::NewIncident};
use vedette_sandbox::egress::Vendor;

use super::{
    sample::{AGENT, SOON},
    *,
};

#[test]
fn editions_are_described_as_they_differ() {
    let (standard, team) = (whole(&STANDARD), whole(&TEAM));
    assert_eq!(standard["servers"][0]["url"], "/v1");
    assert_eq!(team["servers"][0]["url"], "/api");
    let ssl = |document: &Value| document["components"]["schemas"]["SslResult"].clone();
    assert_eq!(ssl(&standard)["properties"].get("tls_grade"), None);
    assert!(ssl(&team)["properties"].get("tls_grade").is_some());
    assert!(standard["components"]["schemas"].get("SslResultGrade").is_none());
    let types = |document: &Value| {
        let set = &document["components"]["schemas"]["DnsResultRecordSet"];
        set["properties"]["type"]["enum"].as_array().expect("record types").len()
    };
    assert_eq!((types(&standard), types(&team)), (7, 6));
}

#[test]
fn what_takes_a_role_says_so_where_there_are_teams() {
    let forbids = |edition: &'static Edition, method: &str, path: &str| {
        let document = whole(edition);
        document["paths"][path][method]["responses"].get("403").is_some()
    };
    for (method, path) in [("post", "/checks"), ("patch", "/alerts"), ("delete", "/sites")] {
        assert!(forbids(&TEAM, method, path), "{method} {path}");
        assert!(!forbids(&STANDARD, method, path), "{method} {path}");
    }
    for (method, path) in [("get", "/sites"), ("post", "/mcp"), ("post", "/auth/welcome")] {
        assert!(!forbids(&TEAM, method, path), "{method} {path}");
    }
}

#[test]
fn channels_of_plugins_are_described_by_their_schemas() {
    let channel = ChannelDescriptor {
        channel: "night_pager".to_owned(),
        id: "acme.night-pager".to_owned(),
        version: "1.0.0".to_owned(),
        title: "Night pager".to_owned(),
        description: "Pages people.".to_owned(),
        config_schema: json!({
            "type": "object",
            "properties": { "room": { "$ref": "#/$defs/Room" } },
            "required": ["room"],
            "$defs": { "Room": { "type": "string", "minLength": 2 } },
        }),
        secret_fields: vec!["url".to_owned(), "token".to_owned()],
        batch_max: 1,
        url_field: Some("url".to_owned()),
        vendor: Vendor::default(),
    };
    let channels = [Arc::new(channel)];
    let document = document(&Subject { channels: &channels, ..subject(&STANDARD) }, None);
    let mut found = Vec::new();
    references(&document, &mut found);
    for to in ["NightPagerChannel", "NightPagerChannelFields", "NightPagerChannelFieldsRoom"] {
        assert!(found.contains(&format!("#/components/schemas/{to}").as_str()), "{to}");
    }
    for to in found {
        assert!(document.pointer(&to[1..]).is_some(), "{to}");
    }
    let patch = validator(&document, &schema::reference("NotificationSettingsPatch"));
    let url = "https://pager.example/x";
    for (channels, fits) in [
        (json!({ "night_pager": { "url": url, "room": "ops", "token": true } }), true),
        (json!({ "night_pager": null }), true),
        (json!({ "gone": null }), true),
        (json!({}), true),
        (json!(null), true),
        (json!({ "night_pager": { "url": url } }), false),
        (json!({ "night_pager": { "room": "ops" } }), false),
        (json!({ "night_pager": { "url": url, "room": "o" } }), false),
        (json!({ "night_pager": { "url": "pager", "room": "ops" } }), false),
        (json!({ "fax": {} }), false),
    ] {
        assert_eq!(patch.is_valid(&json!({ "plugin_channels": channels })), fits, "{channels}");
    }
}

#[test]
fn a_text_or_list_that_is_refused_fits_no_schema_either() {
    let document = whole(&TEAM);
    let fits = |method: &str, path: &str, body: Value| {
        let taken = &document["paths"][path][method]["requestBody"]["content"];
        validator(&document, &taken["application/json"]["schema"]).is_valid(&body)
    };
    let said = |length: usize| {
        let body = json!({ "status": "monitoring", "message": "ä".repeat(length) });
        fits("post", "/incidents/{id}/updates", body)
    };
    assert_eq!([0, 1, 10_000, 10_001].map(said), [false, true, true, false]);
    let titled = |length: usize| fits("post", "/incidents", json!({ "title": "ä".repeat(length) }));
    assert_eq!([0, 1, 200, 201].map(titled), [false, true, true, false]);
    let affected = |count: usize| {
        let sites = vec!["0199c1de-3f5a-7c31-9d4e-2b7f61c0a811"; count];
        fits("patch", "/incidents/{id}", json!({ "affected_sites": sites }))
    };
    assert_eq!([0, 200, 201].map(affected), [true, true, false]);
    let secret =
        |text: &str| fits("patch", "/settings/notifications", json!({ "webhook_secret": text }));
    let (short, whole) = ("A".repeat(31), "A".repeat(32));
    let secrets = [&short, &whole, &format!("whsec_{whole}"), &format!("{whole}-")];
    assert_eq!(secrets.map(|text| secret(text)), [false, true, true, false]);
    let domain = |length: usize| {
        let body = json!({ "status_page_custom_domain": "a".repeat(length) });
        fits("patch", "/settings/notifications", body)
    };
    assert_eq!([0, 1, 253, 254].map(domain), [false, true, true, false]);
}

#[test]
fn one_field_or_another_is_demanded_where_the_service_demands_it() {
    let document = whole(&TEAM);
    let fits =
        |name: &str, value: &Value| validator(&document, &schema::reference(name)).is_valid(value);
    for (incident, wanted) in [
        (json!({}), false),
        (json!({ "severity": "major" }), false),
        (json!({ "auto_create": false }), false),
        (json!({ "title": null, "auto_create": true }), false),
        (json!({ "auto_create": true }), true),
        (json!({ "title": "Slow" }), true),
        (json!({ "title": "Slow", "auto_create": true }), true),
    ] {
        assert_eq!(NewIncident::parse(&incident).is_ok(), wanted, "{incident}");
        assert_eq!(fits("NewIncident", &incident), wanted, "{incident}");
    }
    for (certificate, wanted) in [
        (json!({}), false),
        (json!({ "subject": "CN=a", "issuer": "CN=b" }), false),
        (json!({ "subject": "CN=a", "issuer": "CN=b", "not_after": null }), false),
        (json!({ "subject": "CN=a", "issuer": "CN=b", "error": "" }), false),
        (json!({ "subject": "CN=a", "issuer": "CN=b", "error": "unreadable" }), true),
        (json!({ "subject": "CN=a", "issuer": "CN=b", "not_after": SOON, "error": null }), true),
        (json!({ "error": "timeout" }), true),
    ] {
        let look = json!({ "host": "db01", "port": 8443, "certificates": [certificate] });
        let report = json!({ "agent_id": AGENT, "results": [look] });
        assert_eq!(Report::parse(&report).is_ok(), wanted, "{certificate}");
        assert_eq!(fits("AgentCertificate", &certificate), wanted, "{certificate}");
    }
}

#[test]
fn text_that_is_read_as_something_has_its_format() {
    let document = whole(&STANDARD);
    let site = validator(&document, &schema::reference("SitePatch"));
    for (address, fits) in [("192.0.2.1", true), ("2001:db8::1", true), ("shop.example", false)] {
        assert_eq!(site.is_valid(&json!({ "origin_ip": address })), fits, "{address}");
    }
    assert!(site.is_valid(&json!({ "origin_ip": null })));
    let parameter = |path: &str, name: &str| {
        let parameters = document["paths"][path]["get"]["parameters"].as_array();
        let named = parameters.into_iter().flatten().find(|parameter| parameter["name"] == name);
        validator(&document, &named.expect("it is described")["schema"])
    };
    for (path, name, text, fits) in [
        ("/checks", "from", "2026-11-20", true),
        ("/checks", "to", "2026-11-20T15:04:05Z", true),
        ("/checks", "to", "yesterday", false),
        ("/events", "types", "alert,incident", true),
        ("/events", "types", "alerts", false),
        ("/events", "types", "", false),
    ] {
        assert_eq!(parameter(path, name).is_valid(&json!(text)), fits, "{name}={text}");
    }
}

#[test]
fn an_assistant_that_listens_is_answered_with_a_stream() {
    for edition in Edition::all() {
        let document = whole(edition);
        let forms = |path: &str| -> Vec<String> {
            let answer = &document["paths"][path]["post"]["responses"]["200"];
            let content = answer["content"].as_object().expect("it has a body");
            content.keys().cloned().collect()
        };
        assert_eq!(forms("/mcp"), ["application/json", "text/event-stream"]);
        assert_eq!(forms("/public/mcp"), ["application/json"]);
        let html = page::render(&document).html;
        assert!(html.contains("As <code>text/event-stream</code>"));
    }
}

#[test]
fn records_are_told_apart_by_their_check() {
    let document = whole(&STANDARD);
    let stored = &document["paths"]["/checks"]["post"]["responses"]["200"]["content"];
    let example = &stored["application/json"]["example"]["check"];
    let fits = |schema: &str, check_type: &str, result: Value| {
        let mut record = example.clone();
        record["check_type"] = json!(check_type);
        record["result"] = result;
        validator(&document, &schema::reference(schema)).is_valid(&record)
    };
    for (schema, check_type, result, wanted) in [
        ("SslCheckRecord", "ssl", json!({ "valid": true }), true),
        ("SslCheckRecord", "ssl", Value::Null, true),
        ("SslCheckRecord", "ssl", json!({ "records": [] }), false),
        ("DomainCheckRecord", "ssl", json!({ "valid": true }), false),
        ("UninstalledCheckRecord", "ssl", json!({ "valid": true }), false),
        ("UninstalledCheckRecord", "smtp_banner", json!({ "text": "220" }), true),
        ("CheckRecord", "ssl", json!({ "valid": true }), true),
        ("CheckRecord", "smtp_banner", json!({ "text": "220" }), true),
    ] {
        assert_eq!(fits(schema, check_type, result), wanted, "{schema} {check_type}");
    }
    let latest = &document["components"]["schemas"]["LatestChecks"]["properties"];
    assert_eq!(latest["ssl"], schema::reference("SslCheckRecord"));
}

#[test]
fn what_always_comes_is_required() {
    let document = whole(&STANDARD);
    let answers = ["SslAnswer", "SslAnswerChainItem", "DnsAnswer", "DomainAnswer", "UptimeAnswer"];
    let others = ["Incident", "IncidentStep", "IncidentUpdate", "PublicSslResult"];
    for name in answers.into_iter().chain(others) {
        let schema = &document["components"]["schemas"][name];
        let members = schema["properties"].as_object().expect("it has members");
        let required = schema["required"].as_array().expect("some are required");
        assert_eq!(required.len(), members.len(), "{name}");
    }
    let brought = &document["components"]["schemas"]["SslResult"];
    assert_eq!(brought["required"], json!(["valid"]), "of what is brought");
    let update = &document["components"]["schemas"]["IncidentUpdate"]["properties"];
    assert_eq!(update["author_id"], schema::uuid());
}

#[test]
fn whoever_is_unwelcome_is_told_why() {
    let document = whole(&TEAM);
    let refused = &document["paths"]["/auth/welcome"]["get"]["responses"]["403"];
    let schema = &refused["content"]["application/json"]["schema"];
    let mut body =
        json!({ "error": "forbidden", "message": "no", "reason": "too_many_free_accounts" });
    assert!(validator(&document, schema).is_valid(&body));
    body.as_object_mut().expect("an object").remove("reason");
    assert!(!validator(&document, schema).is_valid(&body));
}

#[test]
fn webhooks_need_what_the_plan_says_and_name_every_event() {
    for (edition, plan) in [(&STANDARD, "`starter`"), (&TEAM, "`team`")] {
        let document = whole(edition);
        let webhook = &document["webhooks"]["alerts"]["post"];
        let description = webhook["description"].as_str().expect("it is described");
        assert!(description.contains(plan), "{description}");
        let schemas = &document["components"]["schemas"];
        let told = schemas["WebhookAlert"]["properties"]["type"]["description"].as_str();
        let told = told.expect("the types are told");
        for event in CHECKS.iter().flat_map(|check| &check.events) {
            assert!(told.contains(&event.name), "{}", event.name);
        }
        let payload = validator(&document, &schema::reference("WebhookPayload"));
        assert!(!payload.is_valid(&json!({ "source": "vedette", "alerts": [] })));
        let html = page::render(&document).html;
        assert!(html.contains(" id=\"receiveAlerts\""));
        assert_eq!(html.matches("<h2>Webhooks</h2>").count(), 2, "in the menu, and as a chapter");
        let tag = &webhook["tags"][0];
        let tags = document["tags"].as_array().expect("there are tags");
        assert!(tags.iter().any(|told| told["name"] == *tag), "{tag}");
        let shared = |(_, _, operation): (_, _, &Value)| operation["tags"][0] == *tag;
        assert!(!described(&document).into_iter().any(shared), "{tag}");
        assert!(html.contains("<dt><code>webhook-signature</code>"));
    }
}
