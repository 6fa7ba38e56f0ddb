//! The document as a page: everything it says, readable without scripts, on a screen of any width.

mod schema;
mod text;

use serde_json::{Map, Value};

use self::{
    schema::{entry, example, kind, members},
    text::{escape, inline, prose},
};

/// A page, and the style that is inside it word for word.
pub(super) struct Page {
    pub(super) html: String,
    pub(super) style: &'static str,
}

pub(super) fn render(document: &Value) -> Page {
    let title = inline(text(&document["info"]["title"]));
    let version = inline(text(&document["info"]["version"]));
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} API {version}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
         <nav aria-label=\"Contents\">\n<details open>\n<summary>Contents</summary>\n{menu}\
         </details>\n</nav>\n<main id=\"content\">\n{intro}{operations}{webhooks}{errors}{schemas}\
         </main>\n</body>\n</html>\n",
        menu = menu(document),
        intro = intro(document, &title, &version),
        operations = tags(document).map(|tag| chapter(document, tag)).collect::<String>(),
        webhooks = webhooks(document),
        errors = errors(document),
        schemas = schemas(document),
    );
    Page { html, style: STYLE }
}

fn menu(document: &Value) -> String {
    let chapters = tags(document).map(|tag| {
        let links = operations(document, tag).map(|operation| link(&operation));
        let (name, links) = (inline(text(&tag["name"])), links.collect::<String>());
        format!("<h2>{name}</h2>\n<ul>\n{links}</ul>\n")
    });
    let chapters = chapters.collect::<String>();
    let sent = sent(document).map(|operation| link(&operation)).collect::<String>();
    format!(
        "{chapters}<h2>Webhooks</h2>\n<ul>\n{sent}</ul>\n\
         <h2>Further</h2>\n<ul>\n<li><a href=\"#errors\">Errors</a></li>\n\
         <li><a href=\"#schemas\">Schemas</a></li>\n</ul>\n"
    )
}

fn link(operation: &Operation<'_>) -> String {
    let id = escape(text(&operation.value["operationId"]));
    let summary = inline(text(&operation.value["summary"]));
    let method = operation.method;
    format!(
        "<li><a href=\"#{id}\"><span class=\"method {method}\">{}</span> {summary}</a></li>\n",
        method.to_uppercase()
    )
}

fn intro(document: &Value, title: &str, version: &str) -> String {
    let info = &document["info"];
    let base = text(&document["servers"][0]["url"]);
    format!(
        "<header>\n<h1>{title} <small>API {version}</small></h1>\n\
         <p class=\"lead\">{summary}</p>\n{description}\
         <p>Base address: <code>{base}</code>. For programs: \
         <a href=\"{path}/openapi.json\">openapi.json</a>, OpenAPI {openapi}.</p>\n</header>\n",
        summary = inline(text(&info["summary"])),
        description = prose(text(&info["description"])),
        base = escape(base),
        path = escape(path(base)),
        openapi = escape(text(&document["openapi"])),
    )
}

/// The path of an address. A link by it leads to the same from `/docs` and from `/docs/`.
fn path(url: &str) -> &str {
    match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => url,
    }
}

fn chapter(document: &Value, tag: &Value) -> String {
    let name = inline(text(&tag["name"]));
    let description = inline(text(&tag["description"]));
    let shown: String =
        operations(document, tag).map(|operation| section(document, &operation)).collect();
    format!(
        "<section class=\"chapter\">\n<h2>{name}</h2>\n<p>{description}</p>\n{shown}</section>\n"
    )
}

fn section(document: &Value, operation: &Operation<'_>) -> String {
    let Operation { path, method, sent, value } = operation;
    let id = escape(text(&value["operationId"]));
    let public = value["security"].as_array().is_some_and(Vec::is_empty);
    let marks = [
        (public && !sent, "<span class=\"mark\">public</span>"),
        (*sent, "<span class=\"mark\">sent to you</span>"),
        (value["deprecated"] == true, "<span class=\"mark old\">deprecated</span>"),
    ];
    let marks: String = marks.into_iter().filter(|(on, _)| *on).map(|(_, mark)| mark).collect();
    format!(
        "<section class=\"operation\" id=\"{id}\" aria-labelledby=\"{id}-title\">\n\
         <h3 id=\"{id}-title\"><a href=\"#{id}\"><span class=\"method {method}\">{shown}</span> \
         <code>{path}</code></a> {marks}</h3>\n\
         <p class=\"summary\">{summary} <code class=\"id\">{id}</code></p>\n\
         {description}{parameters}{body}{answers}</section>\n",
        shown = method.to_uppercase(),
        path = escape(path),
        summary = inline(text(&value["summary"])),
        description = prose(text(&value["description"])),
        parameters = parameters(document, value),
        body = body(value),
        answers = answers(value),
    )
}

fn parameters(document: &Value, operation: &Value) -> String {
    let Some(parameters) = operation["parameters"].as_array() else { return String::new() };
    let entries = parameters.iter().map(|parameter| {
        let to = parameter["$ref"].as_str().and_then(|to| to.strip_prefix('#'));
        let parameter = to.and_then(|to| document.pointer(to)).unwrap_or(parameter);
        let required = parameter["required"] == true;
        let description = parameter["description"].as_str();
        entry(text(&parameter["name"]), &parameter["schema"], required, description)
    });
    format!("<h4>Parameters</h4>\n<dl>{}</dl>\n", entries.collect::<String>())
}

fn body(operation: &Value) -> String {
    let contents = operation["requestBody"]["content"].as_object();
    let shown = contents.into_iter().flatten().map(|(_, content)| media(content));
    let shown = shown.collect::<String>();
    if shown.is_empty() { shown } else { format!("<h4>Body</h4>\n{shown}") }
}

/// Successes in full; errors in a word each, since all look alike.
fn answers(operation: &Value) -> String {
    let responses = operation["responses"].as_object().into_iter().flatten();
    let shown = responses.map(|(status, response)| {
        let description = inline(text(&response["description"]));
        if let Some(to) = response["$ref"].as_str() {
            let name = escape(to.rsplit('/').next().unwrap_or(to));
            return format!(
                "<li><a href=\"#error-{name}\"><b>{}</b></a> {description}</li>\n",
                escape(status)
            );
        }
        let contents = response["content"].as_object().into_iter().flatten();
        let content = contents.map(|(kind, content)| form(kind, content)).collect::<String>();
        format!("<li><b>{}</b> {description}{content}</li>\n", escape(status))
    });
    format!("<h4>Answers</h4>\n<ul class=\"answers\">\n{}</ul>\n", shown.collect::<String>())
}

/// One form of an answer; which, where it is not the usual one.
fn form(kind: &str, content: &Value) -> String {
    if kind == "application/json" {
        return media(content);
    }
    format!("<p>As <code>{}</code>:</p>{}", escape(kind), media(content))
}

/// A schema and its example.
fn media(content: &Value) -> String {
    let schema = &content["schema"];
    format!("<p class=\"kind\">{}</p>{}{}\n", kind(schema), members(schema), example(content))
}

fn webhooks(document: &Value) -> String {
    let shown = sent(document).map(|operation| section(document, &operation));
    format!(
        "<section class=\"chapter\" id=\"webhooks\">\n<h2>Webhooks</h2>\n\
         <p>What is sent to you, and what you answer.</p>\n{}</section>\n",
        shown.collect::<String>()
    )
}

fn errors(document: &Value) -> String {
    let responses = document["components"]["responses"].as_object().into_iter().flatten();
    let shown = responses.map(|(name, response)| {
        let (id, description) = (escape(name), inline(text(&response["description"])));
        let contents = response["content"].as_object().into_iter().flat_map(Map::values);
        let content = contents.map(media).collect::<String>();
        format!("<section id=\"error-{id}\">\n<h3>{id}</h3>\n<p>{description}</p>\n{content}</section>\n")
    });
    format!(
        "<section class=\"chapter\" id=\"errors\">\n<h2>Errors</h2>\n{}</section>\n",
        shown.collect::<String>()
    )
}

fn schemas(document: &Value) -> String {
    let schemas = document["components"]["schemas"].as_object().into_iter().flatten();
    let shown = schemas.map(|(name, schema)| {
        let name = escape(name);
        let bounds = schema::bounds(schema);
        let bounds = if bounds.is_empty() { bounds } else { format!("<p>{bounds}</p>\n") };
        format!(
            "<section id=\"schema-{name}\">\n<h3><a href=\"#schema-{name}\">{name}</a></h3>\n\
             {description}<p class=\"kind\">{kind}</p>\n{bounds}{members}</section>\n",
            description = prose(text(&schema["description"])),
            kind = kind(schema),
            members = members(schema),
        )
    });
    format!(
        "<section class=\"chapter\" id=\"schemas\">\n<h2>Schemas</h2>\n{}</section>\n",
        shown.collect::<String>()
    )
}

/// An operation as the document has it.
struct Operation<'a> {
    path: &'a str,
    method: &'static str,
    /// The service sends it, and the reader answers.
    sent: bool,
    value: &'a Value,
}

/// The operations of a tag: by path, and reading before writing.
fn operations<'a>(document: &'a Value, tag: &'a Value) -> impl Iterator<Item = Operation<'a>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let all = paths.flat_map(|(path, item)| {
        let present = move |method: &'static str| {
            Some(Operation { path, method, sent: false, value: item.get(method)? })
        };
        METHODS.into_iter().filter_map(present)
    });
    all.filter(move |operation| operation.value["tags"][0] == tag["name"])
}

/// What the service itself sends.
fn sent(document: &Value) -> impl Iterator<Item = Operation<'_>> {
    let webhooks = document["webhooks"].as_object().into_iter().flatten();
    webhooks.filter_map(|(path, item)| {
        Some(Operation { path, method: "post", sent: true, value: item.get("post")? })
    })
}

/// Those of what clients ask for; [`webhooks`] are a chapter of their own.
fn tags(document: &Value) -> impl Iterator<Item = &Value> {
    let all = document["tags"].as_array().into_iter().flatten();
    all.filter(move |tag| operations(document, tag).next().is_some())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

const METHODS: [&str; 4] = ["get", "post", "patch", "delete"];
const STYLE: &str = include_str!("page/style.css");
