//! The route table, once for every mounted edition.

use std::sync::Arc;

use salvo::prelude::*;
use vedette_model::{Area, CheckType, Edition, Feature, Role};
use vedette_sandbox::Sandbox;

use super::{
    account, agent, alert, api_key, billing,
    caller::{self, Includes, Needs},
    check, cron, event,
    following::Following,
    incident, maintenance, mcp, openapi, own_check,
    payer::Cost,
    public, renewal, settings, site, status_page, team, welcome,
};
use crate::{App, mcp::Server, plugins::is_ours};

/// The routes of the editions that the configuration mounts, and the status pages, which belong to
/// none of them.
pub(super) fn mounted(app: &Arc<App>) -> Router {
    let checks = built_in(&app.sandbox);
    let editions = app.config.edition.ids().iter().filter_map(|id| Edition::by_id(id));
    // Looked through one by one: what is asked for most stands first.
    let mounted = editions.fold(Router::new(), |root, edition| {
        let open =
            open().push(openapi::routes(app, edition)).push(assistants(edition, &app.sandbox));
        let private = private(checks.clone()).push(own_check::route(app));
        let private = private.hoop(caller::Authenticate { edition, cost: Cost::Call });
        let of_edition = Router::with_path(edition.prefix.trim_start_matches('/'));
        root.push(of_edition.push(private).push(open).push(further(edition)))
    });
    mounted.push(status_page::routes())
}

/// What this edition has and others may lack. Each area has its own doors.
pub(super) fn further(edition: &'static Edition) -> Router {
    edition.areas.iter().fold(Router::new(), |router, area| {
        router.push(match area {
            Area::Welcome => welcome::routes(edition),
            Area::Account => account::routes(edition),
            Area::Billing => billing::routes(edition),
            Area::Team => team::routes(edition),
            Area::Cron => cron::routes(),
            Area::Agents => agent::routes(edition),
        })
    })
}

/// What all in a team read, and editors change.
pub(super) fn edited(path: &str) -> Router {
    Router::with_path(path).hoop(Needs { read: Role::Viewer, write: Role::Editor })
}

/// What all in a team read, and administrators change.
pub(super) fn administered(path: &str) -> Router {
    Router::with_path(path).hoop(Needs { read: Role::Viewer, write: Role::Admin })
}

/// What is for administrators alone.
pub(super) fn guarded(path: &str) -> Router {
    Router::with_path(path).hoop(Needs { read: Role::Admin, write: Role::Admin })
}

/// What is the owner's alone.
pub(super) fn owned(path: &str) -> Router {
    Router::with_path(path).hoop(Needs { read: Role::Owner, write: Role::Owner })
}

/// The checks that no reload changes.
fn built_in(sandbox: &Sandbox) -> Vec<CheckType> {
    let mut types = sandbox.check_types();
    types.retain(|check_type| sandbox.check(check_type).is_some_and(|check| is_ours(&check.id)));
    types
}

/// Without a credential, and counted in the public window, as the description is.
pub(super) fn open() -> Router {
    Router::new()
        .push(Router::with_path("public/check-ssl").get(public::check_ssl).head(public::check_ssl))
}

/// For assistants, with and without a credential. Neither is behind [`caller::Authenticate`]: what
/// a request costs is known only once it was read.
pub(super) fn assistants(edition: &'static Edition, sandbox: &Sandbox) -> Router {
    let door = caller::Authenticate { edition, cost: Cost::Call };
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
            edited("sites")
                .get(site::list)
                .head(site::list)
                .post(site::create)
                .patch(site::update)
                .delete(site::delete),
        )
        .push(edited("checks").get(check::history).head(check::history).post(check::record))
        .push(edited("cert-history").get(check::cert_history).head(check::cert_history))
        .push(edited("alerts").get(alert::list).head(alert::list).patch(alert::update))
        .push(edited("events").get(event::follow))
        .push(edited("alerts/{id}/deliveries").get(alert::deliveries).head(alert::deliveries))
        .push(
            administered("api-keys")
                .get(api_key::list)
                .head(api_key::list)
                .post(api_key::create)
                .patch(api_key::set_expiry)
                .delete(api_key::delete),
        )
        .push(administered("api-keys/roll").post(api_key::roll))
        .push(edited("incidents").get(incident::list).head(incident::list).post(incident::create))
        .push(
            edited("incidents/{id}")
                .get(incident::read)
                .head(incident::read)
                .patch(incident::update),
        )
        .push(
            edited("incidents/{id}/updates")
                .get(incident::list_updates)
                .head(incident::list_updates)
                .post(incident::add_update),
        )
        .push(
            edited("maintenance-windows")
                .get(maintenance::list)
                .head(maintenance::list)
                .post(maintenance::create)
                .delete(maintenance::delete),
        )
        .push(
            administered("settings/notifications")
                .get(settings::read)
                .head(settings::read)
                .patch(settings::update)
                .post(settings::test),
        )
        .push(
            administered("renewal")
                .hoop(renewal::deprecated)
                .hoop(Includes(Feature::Renewal))
                .get(renewal::log)
                .head(renewal::log)
                .post(renewal::start),
        )
        .push(
            guarded("renewal/certificate")
                .hoop(renewal::deprecated)
                .hoop(Includes(Feature::Renewal))
                .get(renewal::certificate)
                .head(renewal::certificate),
        );
    // One for every installed check (decisions: more endpoints for free); those of the operator's
    // plugins: `own_check`.
    for check_type in checks {
        let path = format!("check-{check_type}");
        router = router.push(edited(&path).post(check::OnDemand(check_type)));
    }
    router
}
