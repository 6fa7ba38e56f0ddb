//! The route table, once for every mounted edition.

use std::sync::Arc;

use salvo::prelude::*;
use vedette_model::{CheckType, Edition};
use vedette_sandbox::Sandbox;

use super::{
    alert, api_key, caller, check, event, following::Following, incident, maintenance, mcp,
    openapi, own_check, public, renewal, settings, site, status_page,
};
use crate::{App, mcp::Server, plugins::is_ours};

/// The routes of the editions that the configuration mounts, and the status pages, which belong to
/// none of them.
pub(super) fn mounted(app: &Arc<App>) -> Router {
    let checks = built_in(&app.sandbox);
    let editions = app.config.edition.ids().iter().filter_map(|id| Edition::by_id(id));
    let root = Router::new().push(status_page::routes());
    editions.fold(root, |root, edition| {
        let open =
            open().push(openapi::routes(app, edition)).push(assistants(edition, &app.sandbox));
        let private = private(checks.clone()).push(own_check::route(app));
        let private = private.hoop(caller::Authenticate { edition });
        root.push(
            Router::with_path(edition.prefix.trim_start_matches('/')).push(open).push(private),
        )
    })
}

/// The checks that no reload changes.
fn built_in(sandbox: &Sandbox) -> Vec<CheckType> {
    let mut types = sandbox.check_types();
    types.retain(|check_type| sandbox.check(check_type).is_some_and(|check| is_ours(&check.id)));
    types
}

/// Without a credential, and with the description counted in the public window.
pub(super) fn open() -> Router {
    Router::new()
        .push(Router::with_path("public/check-ssl").get(public::check_ssl).head(public::check_ssl))
}

/// For assistants, with and without a credential. Neither is behind [`caller::Authenticate`]: what
/// a request costs is known only once it was read.
pub(super) fn assistants(edition: &'static Edition, sandbox: &Sandbox) -> Router {
    let door = caller::Authenticate { edition };
    let server = Following::new(sandbox, move |checks| Server::private(edition, checks));
    let private = mcp::Private { door, server };
    let server = Following::new(sandbox, move |checks| Server::public(edition, checks));
    let public = mcp::Public { server };
    Router::new()
        .push(Router::with_path("mcp").post(private))
        .push(Router::with_path("public/mcp").post(public))
}

pub(super) fn private(checks: Vec<CheckType>) -> Router {
    let mut router = Router::new()
        .push(
            Router::with_path("sites")
                .get(site::list)
                .head(site::list)
                .post(site::create)
                .patch(site::update)
                .delete(site::delete),
        )
        .push(
            Router::with_path("checks")
                .get(check::history)
                .head(check::history)
                .post(check::record),
        )
        .push(Router::with_path("cert-history").get(check::cert_history).head(check::cert_history))
        .push(Router::with_path("alerts").get(alert::list).head(alert::list).patch(alert::resolve))
        .push(Router::with_path("events").get(event::follow))
        .push(
            Router::with_path("alerts/{id}/deliveries")
                .get(alert::deliveries)
                .head(alert::deliveries),
        )
        .push(
            Router::with_path("api-keys")
                .get(api_key::list)
                .head(api_key::list)
                .post(api_key::create)
                .patch(api_key::set_expiry)
                .delete(api_key::delete),
        )
        .push(Router::with_path("api-keys/roll").post(api_key::roll))
        .push(
            Router::with_path("incidents")
                .get(incident::list)
                .head(incident::list)
                .post(incident::create),
        )
        .push(
            Router::with_path("incidents/{id}")
                .get(incident::read)
                .head(incident::read)
                .patch(incident::update),
        )
        .push(
            Router::with_path("incidents/{id}/updates")
                .get(incident::list_updates)
                .head(incident::list_updates)
                .post(incident::add_update),
        )
        .push(
            Router::with_path("maintenance-windows")
                .get(maintenance::list)
                .head(maintenance::list)
                .post(maintenance::create)
                .delete(maintenance::delete),
        )
        .push(
            Router::with_path("settings/notifications")
                .get(settings::read)
                .head(settings::read)
                .patch(settings::update)
                .post(settings::test),
        )
        .push(
            Router::with_path("renewal")
                .hoop(renewal::deprecated)
                .get(renewal::log)
                .head(renewal::log)
                .post(renewal::start),
        )
        .push(
            Router::with_path("renewal/certificate")
                .hoop(renewal::deprecated)
                .get(renewal::certificate)
                .head(renewal::certificate),
        );
    // One for every installed check (decisions: more endpoints for free); those of the operator's
    // plugins: `own_check`.
    for check_type in checks {
        let path = format!("check-{check_type}");
        router = router.push(Router::with_path(path).post(check::OnDemand(check_type)));
    }
    router
}
