//! `POST /check-<type>` of the checks that came and go with the operator's plugins. Those that are
//! built in have routes of their own.
//!
//! *Invariant:* a check that is not installed is a path that does not exist, whatever the method
//! and the caller.

use std::{fmt, sync::Arc};

use percent_encoding::percent_decode_str;
use salvo::{
    Extractible, async_trait,
    extract::Metadata,
    http::Method,
    prelude::*,
    routing::{Filter, PathState},
};
use vedette_model::CheckType;

use super::{
    body::Body,
    caller::{self, State},
    reply::Answer,
    routes,
};
use crate::{App, Caller, Error, Resource, Result, service};

/// Below an edition's prefix and behind its door.
pub(super) fn route(app: &Arc<App>) -> Router {
    // The path first: only what looks like a check is looked for among the plugins.
    routes::edited("check-{check_type}").filter(Installed { app: Arc::clone(app) }).post(run)
}

#[handler]
async fn run(app: State, named: Named, caller: Caller, body: Body) -> Answer {
    let Named(check_type) = named;
    let result = service::check::run_on_demand(&app, &caller, &check_type, &body).await?;
    Ok(Json(result))
}

/// The check that the path names.
struct Named(CheckType);

impl<'ex> Extractible<'ex> for Named {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Named");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        // Since the route was found, the plugin may have been taken out.
        let found = installed(&caller::app(depot), req);
        found.map(Self).ok_or(Error::NotFound(Resource::Check))
    }
}

/// Lets a path through whose check is installed.
struct Installed {
    app: Arc<App>,
}

#[async_trait]
impl Filter for Installed {
    async fn filter(&self, req: &mut Request, _path: &mut PathState<'_>) -> bool {
        installed(&self.app, req).is_some()
    }

    /// The same for every method: a wrong one is 405 and not 404.
    async fn filter_for_method(
        &self,
        req: &mut Request,
        _path: &mut PathState<'_>,
        _method: &Method,
    ) -> Option<bool> {
        Some(installed(&self.app, req).is_some())
    }
}

impl fmt::Debug for Installed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Installed")
    }
}

fn installed(app: &App, req: &Request) -> Option<CheckType> {
    let check_type = named(req.uri().path())?;
    app.sandbox.check(&check_type).is_some().then_some(check_type)
}

/// By the last part of a path, decoded as the router reads it.
fn named(path: &str) -> Option<CheckType> {
    let last = path.rsplit('/').find(|part| !part.is_empty())?;
    let last = percent_decode_str(last).decode_utf8().ok()?;
    last.strip_prefix("check-")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_check() {
        let name = |path: &str| named(path).map(|check_type| check_type.to_string());
        assert_eq!(name("/v1/check-banner").as_deref(), Some("banner"));
        assert_eq!(name("//v1//check-smtp_banner/").as_deref(), Some("smtp_banner"));
        assert_eq!(name("/v1/check%2d%62anner").as_deref(), Some("banner"));
        for path in
            ["", "/", "/v1/check-", "/v1/checks", "/v1/check-A", "/check-banner/x", "/check-%ff"]
        {
            assert_eq!(name(path), None, "{path}");
        }
    }
}
