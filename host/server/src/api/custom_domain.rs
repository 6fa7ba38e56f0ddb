//! Status pages on their own domains: a request whose host is one is sent to the routes of that
//! page, whatever route its own path would have found.
//!
//! Routes are found before any hoop runs, so this hoop, the innermost, finds the page's route by
//! itself. What stands around it (limits, headers, tags) holds for pages as for everything else.
//!
//! *Invariant:* nothing but the page is served on a custom domain that is proved, and nothing of
//! the API. A domain that is only claimed may be the service's own name for all that is known: it
//! shows the page at the page's paths and is served as before at all others.

use std::sync::Arc;

use salvo::{
    http::uri::Uri,
    prelude::*,
    routing::{PathParams, PathState},
};
use vedette_model::AccountId;

use super::{
    host::host,
    status_page::{failed_here, nothing_here},
};
use crate::{
    App, Result,
    service::status_page::{
        below,
        domain::{is_nobodys, shown_at, slug_of},
    },
};

/// Sends a custom domain's requests to its page.
pub(super) struct Dispatch {
    pub(super) app: Arc<App>,
    pub(super) router: Arc<Router>,
}

#[handler]
impl Dispatch {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let Some(host) = host(req) else { return };
        if is_nobodys(&self.app, host).await {
            return;
        }
        let host = host.to_owned();
        // Hardly a request gets here, and none of the others is to carry what this takes.
        Box::pin(self.show(&host, req, depot, res, ctrl)).await;
    }
}

impl Dispatch {
    /// Answers a request of a host that is somebody's, or may be.
    async fn show(
        &self,
        host: &str,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        match shown_at(&self.app, host).await {
            Ok(None) => {}
            Ok(Some(shown)) => {
                let page = page(&self.app, shown.account, req.uri().path()).await;
                if !shown.proved && matches!(page, Ok(None)) {
                    return;
                }
                ctrl.skip_rest();
                match page {
                    Ok(Some(path)) => self.serve(&path, req, depot, res).await,
                    Ok(None) => nothing_here(req, res),
                    Err(error) => failed_here(req, res, error),
                }
            }
            Err(error) => {
                failed_here(req, res, error);
                ctrl.skip_rest();
            }
        }
    }

    /// Answers as the page's own path would.
    async fn serve(&self, path: &str, req: &mut Request, depot: &mut Depot, res: &mut Response) {
        let mut state = PathState::from_borrowed_path(path);
        let Some(matched) = self.router.detect(req, &mut state).await else {
            return nothing_here(req, res);
        };
        // The page is made for its own path: what it was asked by otherwise is of no matter.
        let Ok(uri) = path.parse::<Uri>() else { return nothing_here(req, res) };
        req.set_uri(uri);
        *req.params_mut() = params(path);
        // Where no route fitted the domain's path, a 404 stands there already.
        res.status_code = None;
        let mut handlers = matched.hoops;
        handlers.push(matched.goal);
        FlowCtrl::new(handlers).call_next(req, depot, res).await;
        if res.status_code.is_none() {
            res.status_code(StatusCode::OK);
        }
    }
}

/// The page's own path for a path of its domain; none where the domain has no such path, or the
/// account no page.
async fn page(app: &App, account: AccountId, path: &str) -> Result<Option<String>> {
    // What the page links to is where the service is below its public address.
    let asked = [Some(path), path.strip_prefix(below(&app.origin))];
    let may_fit =
        |path: &&str| PATHS.iter().any(|(shown, _)| shown == path) || path.starts_with(PAGES);
    let mut asked = asked.into_iter().flatten().filter(may_fit).peekable();
    if asked.peek().is_none() {
        return Ok(None);
    }
    let slug = slug_of(app, account).await?;
    Ok(slug.and_then(|slug| asked.find_map(|path| own_path(&slug, path))))
}

/// A path of the domain as the service's own; what the page itself links to stays as it is.
fn own_path(slug: &str, path: &str) -> Option<String> {
    let page = format!("{PAGES}{slug}");
    let below = path.strip_prefix(page.as_str());
    let (_, below) =
        PATHS.iter().find(|(shown, own)| *shown == path || below.is_some_and(|it| it == *own))?;
    Some(format!("{page}{below}"))
}

/// What the routes of the pages name in a path: code that finds a route by hand is not given it.
fn params(path: &str) -> PathParams {
    let below = path.strip_prefix(PAGES).unwrap_or_default();
    let mut params = PathParams::new();
    match below.split_once('/') {
        Some((name, file)) => {
            params.insert(NAME, name.to_owned());
            params.insert(FILE, file.to_owned());
        }
        None => params.insert(NAME, below.to_owned()),
    }
    params
}

/// Where the pages of all accounts are.
const PAGES: &str = "/status/";
/// How their routes call the parts of a path: `/status/{name}/{file}`.
const NAME: &str = "name";
const FILE: &str = "file";

/// What a custom domain serves, and where it stands below the page's own path.
const PATHS: [(&str, &str); 6] = [
    ("/", ""),
    ("/status.json", ".json"),
    ("/status.rss", ".rss"),
    ("/style.css", "/style.css"),
    ("/custom.css", "/custom.css"),
    ("/icon.svg", "/icon.svg"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_has_the_paths_of_its_page_alone() {
        for (path, own) in [
            ("/", "/status/acme"),
            ("/status.json", "/status/acme.json"),
            ("/status.rss", "/status/acme.rss"),
            ("/style.css", "/status/acme/style.css"),
            ("/custom.css", "/status/acme/custom.css"),
            ("/status/acme", "/status/acme"),
            ("/status/acme.json", "/status/acme.json"),
            ("/status/acme/custom.css", "/status/acme/custom.css"),
        ] {
            assert_eq!(own_path("acme", path).as_deref(), Some(own), "{path}");
        }
        for path in [
            "",
            "//",
            "/v1/sites",
            "/v1/openapi.json",
            "/api/sites",
            "/status/",
            "/status/other",
            "/status/acme2",
            "/status/acme/../other",
            "/status/acme/",
            "/style.css/",
            "/index.html",
        ] {
            assert_eq!(own_path("acme", path), None, "{path}");
        }
    }

    #[test]
    fn a_path_is_read_as_its_route_reads_it() {
        let named = |path: &str, name: &str| params(path).get(name).cloned();
        assert_eq!(named("/status/acme.json", NAME).as_deref(), Some("acme.json"));
        assert_eq!(named("/status/acme.json", FILE), None);
        assert_eq!(named("/status/acme/style.css", NAME).as_deref(), Some("acme"));
        assert_eq!(named("/status/acme/style.css", FILE).as_deref(), Some("style.css"));
    }
}
