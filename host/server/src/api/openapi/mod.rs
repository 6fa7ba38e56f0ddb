//! What the API says of itself: an OpenAPI 3.1 document and a page made from it, both public.
//!
//! The document is put together for each edition when the service starts, from the operations that
//! the resources describe here and from the schemas that the installed plugins bring; and again with
//! the first request after plugins were installed or taken out. No other request builds anything.
//!
//! *Invariant:* the document describes exactly the routes that are mounted; a test says so.
//! *Invariant:* the page is one answer and asks for nothing else: no script, no font, no image.

mod about;
mod account;
mod agent;
mod alert;
mod answer;
mod api_key;
mod billing;
mod check;
mod cron;
mod event;
mod incident;
mod mcp;
mod operation;
mod page;
mod plugin;
mod renewal;
mod result;
mod sample;
mod schema;
mod served;
mod settings;
mod site;
mod team;
mod webhook;
mod welcome;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use salvo::prelude::*;
use serde_json::{Map, Value, json};
use url::Url;
use vedette_model::{Area, CheckType, Edition, Feature};
use vedette_sandbox::{ChannelDescriptor, CheckDescriptor};

use self::{operation::Operation, served::Served};
use super::{caller::State, following::Following};
use crate::{App, plugins, service};

/// The routes of one edition's description.
pub(super) fn routes(app: &App, edition: &'static Edition) -> Router {
    let (public_url, sandbox) = (app.config.public_url.clone(), app.sandbox.clone());
    let forms = move |checks: &[Arc<CheckDescriptor>]| {
        let channels = &plugins::channels(&sandbox);
        Forms::of(&document(&Subject { edition, checks, channels }, public_url.as_ref()))
    };
    mounted(&Following::new(&app.sandbox, forms))
}

fn mounted(forms: &Arc<Following<Forms>>) -> Router {
    let json = Shown { forms: Arc::clone(forms), form: |forms| &forms.json };
    let page = Shown { forms: Arc::clone(forms), form: |forms| &forms.page };
    Router::new()
        .push(Router::with_path("openapi.json").get(json.clone()).head(json))
        .push(Router::with_path("docs").get(page.clone()).head(page))
}

/// One document, as it is served.
struct Forms {
    json: Served,
    page: Served,
}

impl Forms {
    fn of(document: &Value) -> Self {
        Self { json: Served::document(document), page: Served::page(page::render(document)) }
    }
}

/// One form of the document as it is now.
#[derive(Clone)]
struct Shown {
    forms: Arc<Following<Forms>>,
    form: fn(&Forms) -> &Served,
}

#[handler]
impl Shown {
    async fn handle(&self, app: State, depot: &mut Depot, res: &mut Response) {
        let forms = self.forms.current(&app.sandbox);
        (self.form)(&forms).write(depot, res);
    }
}

/// What the document is about.
struct Subject<'a> {
    edition: &'static Edition,
    /// The installed checks, by name.
    checks: &'a [Arc<CheckDescriptor>],
    /// The channels of operators' plugins, by name.
    channels: &'a [Arc<ChannelDescriptor>],
}

impl Subject<'_> {
    fn installed(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().map(|check| check.check_type.as_str())
    }

    /// What a site may list: the documented checks, and the installed ones.
    fn check_types(&self) -> Vec<String> {
        distinct(CheckType::LISTED.into_iter().chain(self.installed()))
    }

    /// What the history may be asked for.
    fn history_types(&self) -> Vec<String> {
        distinct(CheckType::DOCUMENTED.into_iter().chain(self.installed()))
    }

    /// What alerts may be filtered by.
    fn alert_types(&self) -> Vec<String> {
        service::alert::types(self.checks)
    }

    /// The schema of a plan's id.
    fn plan(&self) -> Value {
        let ids: Vec<&str> = self.edition.plans.iter().map(|plan| plan.id).collect();
        schema::one_of(&ids)
    }

    /// From which plan on a feature is included, for sentences.
    fn plans_with(&self, feature: Feature) -> String {
        match self.edition.lowest_plan_with(feature) {
            Some(plan) => format!("the `{}` plan", plan.id),
            None => "a plan that does not exist".to_owned(),
        }
    }
}

/// What is mounted, described.
fn document(subject: &Subject<'_>, public_url: Option<&Url>) -> Value {
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    let teams = subject.edition.has(Area::Team);
    for operation in operations(subject) {
        let (path, method) = (operation.path.clone(), operation.method);
        paths.entry(path).or_default().insert(method.to_owned(), operation.finish(teams));
    }
    let (paths, webhooks) = (json!(paths), webhook::webhooks(subject));
    let tags: Vec<Value> = TAGS
        .iter()
        .filter(|(name, _)| uses(&paths, name) || uses(&webhooks, name))
        .map(|(name, description)| json!({ "name": name, "description": description }))
        .collect();
    let responses = answer::responses();
    let schemas = reachable(schemas(subject), &[&paths, &webhooks, &responses]);
    json!({
        "openapi": "3.1.0",
        "info": about::info(subject.edition),
        "servers": about::servers(subject.edition, public_url),
        "security": [{ "bearer": [] }],
        "tags": tags,
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": about::security(subject.edition),
            "headers": answer::headers(),
            "parameters": operation::parameters(teams),
            "responses": responses,
            "schemas": schemas,
        },
    })
}

fn operations(subject: &Subject<'_>) -> Vec<Operation> {
    let mut operations = site::operations(subject);
    operations.extend(check::operations(subject));
    operations.extend(alert::operations(subject));
    operations.extend(event::operations());
    operations.extend(api_key::operations(subject));
    operations.extend(incident::operations());
    operations.extend(settings::operations(subject));
    operations.extend(renewal::operations(subject));
    operations.extend(mcp::operations());
    operations.extend(about::operations());
    for area in subject.edition.areas {
        operations.extend(match area {
            Area::Welcome => welcome::operations(),
            Area::Account => account::operations(subject),
            Area::Billing => billing::operations(subject),
            Area::Team => team::operations(),
            Area::Cron => cron::operations(),
            Area::Agents => agent::operations(),
        });
    }
    operations
}

fn schemas(subject: &Subject<'_>) -> BTreeMap<String, Value> {
    let mut schemas: BTreeMap<String, Value> = answer::schemas().into_iter().collect();
    schemas.extend(site::schemas(subject));
    schemas.extend(check::schemas(subject));
    schemas.extend(alert::schemas(subject));
    schemas.extend(api_key::schemas());
    schemas.extend(incident::schemas());
    schemas.extend(settings::schemas(subject));
    schemas.extend(webhook::schemas(subject));
    schemas.extend(renewal::schemas());
    schemas.extend(mcp::schemas());
    schemas.extend(account::schemas(subject));
    schemas.extend(agent::schemas());
    schemas.extend(team::schemas());
    for check in subject.checks {
        schemas.extend(plugin::components(check, subject.edition));
    }
    for channel in subject.channels {
        schemas.extend(plugin::channel_components(channel));
    }
    schemas
}

/// The schemas that something refers to, directly or through others.
fn reachable(mut schemas: BTreeMap<String, Value>, from: &[&Value]) -> Value {
    let mut waiting = BTreeSet::new();
    from.iter().for_each(|value| referred(value, &mut waiting));
    let mut kept = Map::new();
    while let Some(name) = waiting.pop_first() {
        if let Some(schema) = schemas.remove(&name) {
            referred(&schema, &mut waiting);
            kept.insert(name, schema);
        }
    }
    Value::Object(kept)
}

/// The names of the schemas that a value refers to.
fn referred(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| referred(item, names)),
        Value::Object(members) => {
            if let Some(Value::String(to)) = members.get("$ref")
                && let Some(pointer) = to.strip_prefix("#/components/schemas/")
            {
                let name = pointer.split('/').next().unwrap_or_default();
                names.insert(name.to_owned());
            }
            members.values().for_each(|member| referred(member, names));
        }
        _ => {}
    }
}

fn uses(paths: &Value, tag: &str) -> bool {
    let items = paths.as_object().into_iter().flat_map(Map::values);
    let mut operations = items.filter_map(Value::as_object).flat_map(Map::values);
    operations.any(|operation| operation["tags"][0] == tag)
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        if !distinct.iter().any(|known| known == name) {
            distinct.push(name.to_owned());
        }
    }
    distinct
}

/// In the order in which the page shows them.
const TAGS: [(&str, &str); 18] = [
    (site::TAG, "The domains that are watched."),
    (check::TAG, "Check any domain now."),
    (check::HISTORY, "What the checks of a site have found so far."),
    (alert::TAG, "What is wrong."),
    (event::TAG, "All of this as it happens."),
    (incident::TAG, "What the owner says about trouble."),
    (incident::MAINTENANCE, "When trouble is expected."),
    (settings::TAG, "Who is notified, and where."),
    (api_key::TAG, "Who may use the account."),
    (account::TAG, "The account itself."),
    (billing::TAG, "What the plan costs, and how it is paid."),
    (team::TAG, "Who else works on the account's sites."),
    (agent::TAG, "Certificates that only a program inside your own network can reach."),
    (cron::TAG, "For a scheduler of the operator's."),
    (renewal::TAG, "Renewing certificates. Deprecated, and closed to new users."),
    (mcp::TAG, "Everything as tools for AI assistants (Model Context Protocol)."),
    (about::TAG, "This description."),
    (webhook::TAG, "What is sent to you, and what you answer."),
];

#[cfg(test)]
mod tests;
