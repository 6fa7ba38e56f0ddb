//! The operator's port: health, metrics, accounts, plans, domains and plugins.
//!
//! *Invariant:* a browser never gets through: on loopback a foreign `Host` (a rebound name) and
//! any `Origin` (a script of some page) are refused; elsewhere a token is required.

use std::{net::IpAddr, sync::LazyLock};

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use salvo::{
    Extractible,
    extract::Metadata,
    http::{HeaderValue, header},
    prelude::*,
};
use serde_json::{Map, Value, json};
use vedette_model::{Account, AccountId, ApiKeyId, Edition, Plan, email, parse};

use super::{
    body::{Body, OptionalBody},
    caller::{self, State, bearer},
    query::Query,
    reply::Answer,
};
use crate::{
    App, Error, Resource, Result, metric_help,
    service::{
        self,
        status_page::domain::{Shown, shown_at},
    },
    work::{self, Unwell},
};

/// Everything that is counted in this process, whichever of its servers counts it.
pub(crate) static METRICS: LazyLock<PrometheusHandle> = LazyLock::new(|| {
    let late = Matcher::Full("vedette_run_late_seconds".to_owned());
    let builder = PrometheusBuilder::new().set_buckets(BUCKETS);
    let builder = builder.and_then(|builder| builder.set_buckets_for_metric(late, LATE_BUCKETS));
    let recorder = builder.expect("there are buckets").build_recorder();
    let handle = recorder.handle();
    if metrics::set_global_recorder(recorder).is_err() {
        tracing::warn!("another recorder was installed before; /metrics stays empty");
    }
    metric_help::tell();
    handle
});

pub(super) fn routes() -> Router {
    Router::new()
        .push(Router::with_path("livez").get(life).head(life))
        .push(Router::with_path("healthz").get(health).head(health))
        .push(Router::with_path("readyz").get(readiness).head(readiness))
        .push(Router::with_path("metrics").get(render_metrics).head(render_metrics))
        .push(
            Router::with_path("admin/accounts")
                .get(list_accounts)
                .head(list_accounts)
                .post(create_account),
        )
        .push(Router::with_path("admin/accounts/{id}").patch(change_account).delete(delete_account))
        .push(Router::with_path("admin/accounts/{id}/keys").post(make_key))
        .push(Router::with_path("admin/plans").get(list_plans).head(list_plans))
        .push(Router::with_path("admin/domains").get(show_domain).head(show_domain))
        .push(Router::with_path("admin/plugins").get(list_plugins).head(list_plugins))
        .push(Router::with_path("admin/plugins/reload").post(reload_plugins))
}

/// Refuses anybody but the operator.
#[handler]
pub(super) fn guard(req: &mut Request, depot: &mut Depot, res: &mut Response, ctrl: &mut FlowCtrl) {
    if let Err(error) = admit(req, &caller::app(depot)) {
        res.render(error);
        ctrl.skip_rest();
    }
}

fn admit(req: &Request, app: &App) -> Result<()> {
    if req.headers().contains_key(header::ORIGIN) {
        return Err(Error::forbidden("this port does not answer browsers"));
    }
    // Port 0 resolved or not, the address says whether the port is on loopback.
    if app.config.admin_listen.ip().is_loopback() && !names_loopback(req) {
        return Err(Error::forbidden("this port answers to localhost only"));
    }
    let Some(expected) = &app.config.admin.token else { return Ok(()) };
    let given = bearer(req.headers()).map_err(|_| {
        Error::Unauthenticated("send Authorization: Bearer and the operator token".into())
    })?;
    let (given, expected) = (given.as_bytes(), expected.expose().as_bytes());
    aws_lc_rs::constant_time::verify_slices_are_equal(given, expected)
        .map_err(|_| Error::Unauthenticated("the operator token is not valid".into()))
}

/// Whether the request was addressed to this machine by a name that nobody else controls.
fn names_loopback(req: &Request) -> bool {
    let host = req.headers().get(header::HOST).map(HeaderValue::as_bytes);
    let authority = match host {
        Some(host) => std::str::from_utf8(host).ok(),
        None => req.uri().authority().map(|authority| authority.as_str()),
    };
    authority.and_then(host_of).is_some_and(|host| {
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

/// The host of `host`, `host:port`, `[v6]` or `[v6]:port`.
fn host_of(authority: &str) -> Option<&str> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, port) = rest.split_once(']')?;
        return (port.is_empty() || is_port(port.strip_prefix(':')?)).then_some(host);
    }
    match authority.split_once(':') {
        None => Some(authority),
        Some((host, port)) => is_port(port).then_some(host),
    }
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

/// Asks nothing that can hang; otherwise one stuck database would restart every node.
#[handler]
fn life(res: &mut Response) {
    res.render(Json(json!({ "status": "alive" })));
}

/// The process runs, its work is not behind, and what it finds is believed.
#[handler]
async fn health(app: State, res: &mut Response) {
    match work::unwell(&app) {
        None => res.render(Json(json!({ "status": "ok" }))),
        Some(Unwell { what, span }) => {
            res.status_code(StatusCode::SERVICE_UNAVAILABLE);
            res.render(Json(json!({ "status": what, "seconds": span.as_secs() })));
        }
    }
}

/// The store answers and takes what is written, so requests can be served.
#[handler]
async fn readiness(app: State, res: &mut Response) {
    let trouble = match app.store.any_account().await {
        Ok(_) if app.store.refuses_writes() => Some(NOT_WRITTEN.to_owned()),
        Ok(_) => None,
        Err(cause) => Some(cause.to_string()),
    };
    let Some(message) = trouble else {
        res.render(Json(json!({ "status": "ready" })));
        return;
    };
    res.status_code(StatusCode::SERVICE_UNAVAILABLE);
    res.render(Json(json!({ "status": "not ready", "message": message })));
}

#[handler]
fn render_metrics(depot: &mut Depot, res: &mut Response) {
    let app = caller::app(depot);
    // Pauses end by themselves: only somebody who asks needs to know of them.
    service::plugin::show_standing(&app);
    work::show_unwell(&app);
    let text = METRICS.render();
    res.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8"),
    );
    res.body(text.into_bytes());
}

/// `{email, plan, edition?}` → `{account_id, email, plan, edition, key}`; the key is shown once.
#[handler]
async fn create_account(app: State, body: Body) -> Answer {
    let body = parse::Body::of(&body)?;
    let email = body.required("email", parse::text)?;
    let plan = body.required("plan", parse::text)?;
    let edition = body.optional("edition", parse::text)?;
    let edition = edition.unwrap_or(app.config.edition.ids()[0]);
    let created = service::account::create(&app, email, plan, edition).await?;
    let account = created.account;
    Ok(Json(json!({
        "account_id": account.id,
        "email": account.email,
        "plan": account.plan,
        "edition": account.edition,
        "key": created.key,
        "created_at": account.created_at,
    })))
}

#[handler]
async fn list_accounts(app: State, query: Query) -> Answer {
    let (limit, offset) = parse::page(query.get("limit")?, query.get("offset")?)?;
    let accounts = service::account::list(&app, limit, offset).await?;
    let accounts: Vec<_> = accounts.iter().map(shown).collect();
    Ok(Json(json!({ "accounts": accounts, "limit": limit, "offset": offset })))
}

/// `{email?, plan?, renewal?}` → the account: another address of its owner, another plan of its
/// edition, and the switch of the deprecated renewal (decisions: Deprecated renewal).
#[handler]
async fn change_account(app: State, named: Named, body: Body) -> Answer {
    let Named(id) = named;
    let body = parse::Body::of(&body)?;
    let email = body.optional("email", parse::text)?;
    let plan = body.optional("plan", parse::text)?;
    let renewal = body.optional("renewal", parse::boolean)?;
    // Judged before anything is changed.
    let email = email.map(|address| email::parse("email", address)).transpose()?;
    if let Some(plan) = plan {
        service::account::change_plan(&app, id, plan).await?;
    }
    if let Some(address) = email {
        service::account::change_email(&app, id, &address).await?;
    }
    if let Some(on) = renewal {
        service::renewal::switch(&app, id, on).await?;
    }
    let account = app.store.account(id).await?.ok_or(Error::NotFound(Resource::Account))?;
    let mut answer = shown(&account);
    answer["renewal"] = app.store.renewal_is_on(id).await?.into();
    Ok(Json(answer))
}

/// Deletes an account with all its data, for good.
#[handler]
async fn delete_account(named: Named, depot: &mut Depot) -> Answer {
    service::owner::delete(caller::app(depot), named.0).await?;
    Ok(Json(json!({ "success": true })))
}

/// `{roll?}` → `{id, key, prefix, name}`: one more key of an account, or another secret of the one that
/// is named; shown once.
#[handler]
async fn make_key(app: State, named: Named, body: OptionalBody) -> Answer {
    let Named(id) = named;
    let roll = parse::Body::of(&body)?
        .optional("roll", |field, value| parse::uuid(field, parse::text(field, value)?))?;
    let key = match roll {
        Some(key) => service::owner::roll_key(&app, id, ApiKeyId(key)).await?,
        None => service::owner::make_key(&app, id).await?,
    };
    Ok(Json(json!(key)))
}

/// Per edition its plans, from the lowest to the highest, with their limits and what they include.
#[handler]
async fn list_plans(app: State) -> Answer {
    let mounted = app.config.edition.ids();
    let editions = Edition::all().map(|edition| {
        json!({
            "id": edition.id,
            "mounted": mounted.contains(&edition.id),
            "plans": edition.plans.iter().map(plan).collect::<Vec<_>>(),
        })
    });
    Ok(Json(json!({ "editions": editions })))
}

fn plan(plan: &Plan) -> Value {
    let intervals = plan.min_intervals.iter();
    let intervals =
        intervals.map(|(name, least)| ((*name).to_owned(), Value::from(least.as_secs())));
    json!({
        "id": plan.id,
        "qps": plan.qps,
        "monthly_calls": plan.monthly_calls,
        "api_keys": plan.api_keys,
        "sites": plan.sites,
        "team_members": plan.team_members,
        "agents": plan.agents,
        "features": plan.features.iter().map(|feature| feature.name()).collect::<Vec<_>>(),
        "min_interval_seconds": intervals.collect::<Map<String, Value>>(),
    })
}

/// `?domain=` → `{domain, account_id}`, if the domain's DNS names an account and it is that
/// account's status page. A proxy asks this before it gets a certificate for a name that points to
/// it: an account that only claims a name is not to have one.
#[handler]
async fn show_domain(app: State, query: Query) -> Answer {
    let domain = query.required("domain")?;
    match shown_at(&app, domain).await? {
        Some(Shown { account, proved: true }) => {
            Ok(Json(json!({ "domain": domain, "account_id": account })))
        }
        Some(Shown { proved: false, .. }) | None => Err(Error::NotFound(Resource::ProvedDomain)),
    }
}

#[handler]
async fn list_plugins(app: State) -> Answer {
    Ok(Json(service::plugin::list(&app).await?))
}

/// Reads the lock again; answers as the listing does.
#[handler]
async fn reload_plugins(app: State) -> Answer {
    Ok(Json(service::plugin::reload(&app).await?))
}

fn shown(account: &Account) -> Value {
    json!({
        "account_id": account.id,
        "email": account.email,
        "plan": account.plan,
        "edition": account.edition,
        "created_at": account.created_at,
    })
}

/// The account that the path names.
struct Named(AccountId);

impl<'ex> Extractible<'ex> for Named {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Named");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, _depot: &'ex mut Depot) -> Result<Self> {
        let id = req.param::<String>("id").unwrap_or_default();
        Ok(Self(AccountId(parse::uuid("id", &id)?)))
    }
}

const NOT_WRITTEN: &str = "the database refused the last write, perhaps because its disk is full; \
     the log says why";
/// Seconds; from a request served from memory to a check that waited for its target.
const BUCKETS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Seconds; from what the scheduler's own pace makes of each run to a backlog of hours.
const LATE_BUCKETS: &[f64] =
    &[0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0, 14_400.0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_let_in() {
        let request = |host: &str| {
            let mut request = Request::new();
            request.headers_mut().insert(header::HOST, host.parse().unwrap());
            request
        };
        for host in [
            "localhost",
            "LOCALHOST:8081",
            "127.0.0.1",
            "127.0.0.1:1",
            "127.8.9.10:80",
            "[::1]",
            "[::1]:8081",
        ] {
            assert!(names_loopback(&request(host)), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8081",
            "10.0.0.1",
            "[::2]:1",
            "localhost:x",
            "localhost@evil.example",
            "",
            "[::1",
            "[::1]x",
            "127.0.0.1:99999",
        ] {
            assert!(!names_loopback(&request(host)), "{host}");
        }
        assert!(!names_loopback(&Request::new()));
    }
}
