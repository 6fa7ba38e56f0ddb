//! The document as a whole: against the route table, against itself, and against its own examples;
//! and the page that is made of it. The checks are the built-in ones, installed as the service
//! installs them.

mod resource;

use std::sync::LazyLock;

use jsonschema::Validator;
use salvo::routing::FilterInfo;
use vedette_model::edition::{STANDARD, TEAM};
use vedette_sandbox::{MemoryState, Sandbox};

use super::*;
use crate::{Config, api::routes, start};

/// The built-in checks.
static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| {
    let resolver = "127.0.0.1:53".parse().expect("an address");
    let config = Config { dns_server: vec![resolver], ..Config::default() };
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let state = Arc::new(MemoryState::default());
        let sandbox = start::sandbox(&config, state).expect("a sandbox");
        start::install(sandbox, start::Plugins::All).await.expect("the built-in plugins")
    })
});

/// What they say of themselves.
static CHECKS: LazyLock<Vec<Arc<CheckDescriptor>>> = LazyLock::new(|| {
    let types = SANDBOX.check_types();
    types.iter().filter_map(|check_type| SANDBOX.check(check_type)).collect()
});

fn subject(edition: &'static Edition) -> Subject<'static> {
    Subject { edition, checks: &CHECKS, channels: &[] }
}

/// What an edition serves at `/openapi.json`, with relative addresses.
fn whole(edition: &'static Edition) -> Value {
    document(&subject(edition), None)
}

/// Each operation of a document with its method and path.
fn described(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().expect("the document has paths");
    let operations = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("a path has methods");
        methods.iter().map(move |(method, value)| (method.clone(), path.clone(), value))
    });
    operations.collect()
}

/// Methods and paths of a router and all below it.
fn walk(router: &Router, base: &str, found: &mut BTreeSet<(String, String)>) {
    let (mut path, mut method) = (base.to_owned(), None);
    for filter in &router.filters {
        match filter.info() {
            FilterInfo::Path(part) => {
                path.push('/');
                path.push_str(part.trim_matches('/'));
            }
            FilterInfo::Method(name) => method = Some(name.as_str().to_lowercase()),
            _ => {}
        }
    }
    if router.goal.is_some() {
        found.insert((method.unwrap_or_else(|| "any".to_owned()), path.clone()));
    }
    router.routers.iter().for_each(|child| walk(child, &path, found));
}

/// Every value that has a schema beside it, with that schema.
fn examples<'a>(value: &'a Value, found: &mut Vec<(&'a Value, &'a Value)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| examples(item, found)),
        Value::Object(members) => {
            if let Some(schema) = members.get("schema") {
                found.extend(members.get("example").map(|example| (schema, example)));
                let named = members.get("examples").and_then(Value::as_object);
                let named = named.into_iter().flat_map(Map::values);
                found.extend(named.map(|example| (schema, &example["value"])));
            }
            members.values().for_each(|member| examples(member, found));
        }
        _ => {}
    }
}

/// The schemas that name a default.
fn defaults<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| defaults(item, found)),
        Value::Object(members) => {
            if members.contains_key("default") && members.contains_key("type") {
                found.push(value);
            }
            members.values().for_each(|member| defaults(member, found));
        }
        _ => {}
    }
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| references(member, found));
        }
        _ => {}
    }
}

fn validator(document: &Value, schema: &Value) -> Validator {
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    let options = jsonschema::options().should_validate_formats(true).offline();
    options.build(&schema).expect("a schema of the document is one")
}

#[test]
fn every_route_is_described_and_nothing_else_is() {
    for edition in Edition::all() {
        let subject = subject(edition);
        let document = document(&subject, None);
        let types = CHECKS.iter().map(|check| check.check_type.clone()).collect();
        let router = Router::new()
            .push(routes::open())
            .push(routes::private(types))
            .push(routes::assistants(edition, &SANDBOX))
            .push(routes::further(edition))
            .push(mounted(&Following::new(&SANDBOX, move |checks| {
                Forms::of(&super::document(&Subject { edition, checks, channels: &[] }, None))
            })));
        let mut routes = BTreeSet::new();
        walk(&router, "", &mut routes);
        let (heads, routes): (BTreeSet<_>, BTreeSet<_>) =
            routes.into_iter().partition(|(method, _)| method == "head");
        for (_, path) in heads {
            let read = ("get".to_owned(), path);
            assert!(routes.contains(&read), "{} answers HEAD alone", read.1);
        }
        let described: BTreeSet<_> =
            described(&document).into_iter().map(|(method, path, _)| (method, path)).collect();
        let untold: Vec<_> = routes.difference(&described).collect();
        assert!(untold.is_empty(), "describe them: {untold:?}");
        let missing: Vec<_> = described.difference(&routes).collect();
        assert!(missing.is_empty(), "mount them: {missing:?}");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    for edition in Edition::all() {
        let document = whole(edition);
        let mut found = Vec::new();
        references(&document, &mut found);
        for to in found {
            let pointer = to.strip_prefix('#').expect("the document is on its own");
            assert!(document.pointer(pointer).is_some(), "{to}");
        }
    }
}

#[test]
fn every_schema_is_one() {
    let document = whole(&TEAM);
    let schemas = document["components"]["schemas"].as_object().expect("there are schemas");
    for (name, schema) in schemas {
        if let Err(problem) = jsonschema::draft202012::meta::validate(schema) {
            panic!("{name}: {problem}");
        }
    }
}

/// What plugins say comes from another library, which knows more words.
#[test]
fn every_schema_is_in_words_that_all_clients_know() {
    for edition in Edition::all() {
        let schemas = whole(edition)["components"]["schemas"].to_string();
        for word in ["\"const\":", "\"oneOf\":", "\"format\":\"int", "\"format\":\"uint"] {
            assert!(!schemas.contains(word), "{word}");
        }
    }
}

#[test]
fn every_example_fits_its_schema() {
    for edition in Edition::all() {
        let document = whole(edition);
        let mut found = Vec::new();
        examples(&document, &mut found);
        assert!(found.len() > 60, "{} examples", found.len());
        for (schema, example) in found {
            let problems: Vec<String> = validator(&document, schema)
                .iter_errors(example)
                .map(|problem| format!("{}: {problem}", problem.instance_path()))
                .collect();
            assert!(problems.is_empty(), "{example}\n{problems:#?}");
        }
    }
}

#[test]
fn every_default_fits_its_schema() {
    for edition in Edition::all() {
        let document = whole(edition);
        let mut found = Vec::new();
        defaults(&document, &mut found);
        assert!(found.len() > 10, "{} defaults", found.len());
        for schema in found {
            assert!(validator(&document, schema).is_valid(&schema["default"]), "{schema}");
        }
    }
}

#[test]
fn every_operation_is_complete() {
    let document = whole(&STANDARD);
    let mut ids = BTreeSet::new();
    for (method, path, operation) in described(&document) {
        let id = operation["operationId"].as_str().expect("an operation has a name");
        assert!(ids.insert(id.to_owned()), "{id} twice");
        assert!(operation["summary"].is_string() && operation["tags"][0].is_string(), "{id}");
        let public = operation["security"].is_array();
        let responses = operation["responses"].as_object().expect("an operation answers");
        assert_eq!(responses.contains_key("401"), !public, "{id}");
        assert!(["200", "429", "500"].iter().all(|status| responses.contains_key(*status)), "{id}");
        let has_body = operation.get("requestBody").is_some();
        assert_eq!(responses.contains_key("413"), has_body, "{id}");
        let reads = has_body || operation.get("parameters").is_some();
        assert_eq!(responses.contains_key("400"), reads, "{id}");
        assert!(has_body || method != "patch", "{id}");
        let named = path.contains("{id}");
        let first = &operation["parameters"][0];
        assert_eq!(first["in"] == "path", named, "{id}");
        for response in responses.values() {
            let response = match response["$ref"].as_str() {
                Some(to) => document.pointer(&to[1..]).expect("references lead somewhere"),
                None => response,
            };
            let headers = response["headers"].as_object().expect("every answer has headers");
            assert!(headers.len() >= 7, "{id}");
        }
    }
    let limited = &document["components"]["responses"]["RateLimited"]["headers"];
    assert!(limited.get("Retry-After").is_some());
    let unknown = &document["components"]["responses"]["Unauthorized"]["headers"];
    assert!(unknown.get("WWW-Authenticate").is_some());
}

#[test]
fn operations_of_callers_say_where_there_are_teams_whose_account_is_meant() {
    for edition in Edition::all() {
        let document = whole(edition);
        for (method, path, operation) in described(&document) {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let mut named = parameters.filter_map(|parameter| parameter["$ref"].as_str());
            let names = named.any(|to| to == "#/components/parameters/Account");
            let of_callers = operation.get("security").is_none();
            assert_eq!(names, of_callers && edition.has(Area::Team), "{method} {path}");
            let responses = &operation["responses"];
            let told = responses["400"].is_object() && responses["404"].is_object();
            assert!(told || !names, "{method} {path}");
        }
    }
    let html = page::render(&whole(&TEAM)).html;
    assert!(html.contains("<dt><code>X-Vedette-Account</code>"));
    assert!(!html.contains("<dt><code></code>"));
}

#[test]
fn all_that_is_read_but_the_stream_may_be_unchanged() {
    let document = whole(&TEAM);
    for (method, path, operation) in described(&document) {
        let unchanged = operation["responses"].get("304").is_some();
        assert_eq!(unchanged, method == "get" && path != "/events", "{method} {path}");
        for status in ["200", "304"] {
            let tag = operation["responses"][status]["headers"].get("ETag");
            assert_eq!(tag.is_some(), unchanged, "{method} {path} {status}");
        }
    }
}

#[test]
fn operators_address_is_the_server() {
    let url = Url::parse("https://watch.example.com/").expect("a URL");
    let document = document(&subject(&STANDARD), Some(&url));
    assert_eq!(document["servers"][0]["url"], "https://watch.example.com/v1");
}

#[test]
fn page_leads_to_the_document_from_wherever_it_is_read() {
    let leads = |url: &str, to: &str| {
        let url = Url::parse(url).expect("a URL");
        let html = page::render(&document(&subject(&STANDARD), Some(&url))).html;
        assert!(html.contains(&format!("<a href=\"{to}\">openapi.json</a>")), "{url}");
    };
    leads("https://watch.example.com/", "/v1/openapi.json");
    leads("https://example.com/watch/", "/watch/v1/openapi.json");
}

#[test]
fn page_shows_every_operation_and_every_link_leads_somewhere() {
    let document = whole(&STANDARD);
    let html = page::render(&document).html;
    for (_, path, operation) in described(&document) {
        let id = operation["operationId"].as_str().expect("an operation has a name");
        assert!(html.contains(&format!(" id=\"{id}\"")), "{id}");
        assert!(html.contains(&format!("<code>{path}</code>")), "{path}");
    }
    let links = html.split(" href=\"").skip(1);
    for link in links.map(|rest| rest.split('"').next().unwrap_or_default()) {
        let leads = match link.strip_prefix('#') {
            Some(id) => html.contains(&format!(" id=\"{id}\"")),
            None => ["/v1/openapi.json", "data:,"].contains(&link),
        };
        assert!(leads, "{link}");
    }
    for never in [" src=", "<script", "@import", "url(", " style="] {
        assert!(!html.contains(never), "{never}");
    }
}
