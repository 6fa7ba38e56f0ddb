//! `/status/…`: the public status pages. They are for people: their errors are pages too, and they
//! are outside of every window, since a crowd behind one address asks just when something is down
//! (decisions: status page).

use std::sync::Arc;

use salvo::{
    http::{HeaderMap, HeaderValue, header},
    prelude::*,
};
use vedette_model::status_page::Slug;

use super::caller;
use crate::{
    App, Error, Resource, Result,
    document::Document,
    service,
    status_page::{Rendered, missing, plain_style, unavailable},
};

/// The routes of all pages; they belong to no edition.
pub(super) fn routes() -> Router {
    Router::with_path("status")
        .push(Router::with_path("{name}").get(show).head(show))
        .push(Router::with_path("{name}/{file}").get(part).head(part))
}

/// A page, its data or its feed, as the end of the name says.
#[handler]
async fn show(req: &mut Request, depot: &mut Depot, res: &mut Response) {
    let name = param(req, "name");
    let (slug, form) = match name.rsplit_once('.') {
        Some((slug, "json")) => (slug, Form::Json),
        Some((slug, "rss")) => (slug, Form::Rss),
        Some(_) if name == OWN_STYLE => return own_style(res),
        _ => (name.as_str(), Form::Html),
    };
    answer(depot, res, slug, form).await;
}

#[handler]
async fn part(req: &mut Request, depot: &mut Depot, res: &mut Response) {
    let form = match param(req, "file").as_str() {
        "style.css" => Form::Style,
        "custom.css" => Form::CustomStyle,
        "icon.svg" => Form::Icon,
        _ => {
            let app = caller::app(depot);
            return not_found(res, Form::Html, &style(&app));
        }
    };
    answer(depot, res, &param(req, "name"), form).await;
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Html,
    Json,
    Rss,
    Style,
    CustomStyle,
    Icon,
}

impl Form {
    fn of(self, page: &Rendered) -> &Arc<Document> {
        match self {
            Self::Html => &page.html,
            Self::Json => &page.json,
            Self::Rss => &page.rss,
            Self::Style => &page.style,
            Self::CustomStyle => &page.custom_css,
            Self::Icon => &page.icon,
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
            Self::Rss => "application/rss+xml; charset=utf-8",
            Self::Style | Self::CustomStyle => "text/css; charset=utf-8",
            Self::Icon => "image/svg+xml",
        }
    }
}

async fn answer(depot: &mut Depot, res: &mut Response, slug: &str, form: Form) {
    let app = caller::app(depot);
    match find(&app, slug).await {
        Ok(page) => {
            let document = Arc::clone(form.of(&page));
            describe(res.headers_mut(), form.kind());
            res.status_code(StatusCode::OK);
            res.body(document.plain.clone());
            // Where it is packed, it is packed once for all.
            depot.insert_typed(document);
        }
        Err(Error::NotFound(_)) => not_found(res, form, &style(&app)),
        Err(error) => failed(res, form, error, &style(&app)),
    }
}

/// What a page's own domain answers where it serves nothing.
pub(super) fn nothing_here(req: &Request, res: &mut Response) {
    if wants_page(req) {
        not_found(res, Form::Html, STYLE_OF_DOMAIN);
    } else {
        res.status_code(StatusCode::NOT_FOUND);
    }
}

/// What a page's own domain answers where it cannot be found out what it serves.
pub(super) fn failed_here(req: &Request, res: &mut Response, error: Error) {
    let form = if wants_page(req) { Form::Html } else { Form::Json };
    failed(res, form, error, STYLE_OF_DOMAIN);
}

/// Browsers say so; programs mostly take anything.
fn wants_page(req: &Request) -> bool {
    let mut accepted = req.headers().get_all(header::ACCEPT).iter();
    accepted.any(|line| line.to_str().is_ok_and(|line| line.contains("text/html")))
}

/// What can be no name of a page is not looked for.
async fn find(app: &App, slug: &str) -> Result<Arc<Rendered>> {
    let slug: Slug = slug.parse().map_err(|_| Error::NotFound(Resource::StatusPage))?;
    service::status_page::by_slug(app, &slug).await
}

fn not_found(res: &mut Response, form: Form, style: &str) {
    if form == Form::Json {
        allow_everybody(res.headers_mut());
        res.render(Error::NotFound(Resource::StatusPage));
        return;
    }
    match missing(style) {
        Ok(html) => {
            res.status_code(StatusCode::NOT_FOUND);
            notice(res, html);
        }
        Err(cause) => res.render(Error::Internal(cause.into())),
    }
}

/// As the error says it to programs, and in words of a page to people.
fn failed(res: &mut Response, form: Form, error: Error, style: &str) {
    res.render(error);
    allow_everybody(res.headers_mut());
    if form == Form::Html
        && let Ok(html) = unavailable(style)
    {
        notice(res, html);
    }
}

fn notice(res: &mut Response, html: String) {
    describe(res.headers_mut(), Form::Html.kind());
    res.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    res.body(html);
}

/// Where the built-in style is.
fn style(app: &App) -> String {
    format!("{}/status/{OWN_STYLE}", service::status_page::below(&app.origin))
}

/// The built-in style as it comes.
fn own_style(res: &mut Response) {
    describe(res.headers_mut(), Form::Style.kind());
    res.status_code(StatusCode::OK);
    res.body(plain_style());
}

fn describe(headers: &mut HeaderMap, kind: &'static str) {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(KEPT));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    allow_everybody(headers);
}

/// Even if no script asked: a copy that is cached on the way may be shown to one.
fn allow_everybody(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}

fn param(req: &Request, name: &str) -> String {
    req.params().get(name).cloned().unwrap_or_default()
}

/// Nothing runs, nothing is sent, nothing frames it; styles are ours, images any over TLS. A page that
/// is nobody's has an empty icon in itself.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' https: data:; \
    form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
/// With what the service keeps itself, half a minute altogether.
const KEPT: &str = "public, max-age=20";
/// The style of pages that are nobody's. No page's name has a dot.
const OWN_STYLE: &str = "style.css";
/// That of the page whose domain it is.
const STYLE_OF_DOMAIN: &str = "/style.css";
