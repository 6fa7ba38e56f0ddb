//! Checks on demand: of any name or one's own site with a key, of public hosts without one.
//!
//! *Invariant:* without `site_id` a check on demand stores nothing; with it, the result takes the
//! same path as a scheduled one.
//!
//! A call that asks for exactly what another waits for at this moment is given the same answer: the
//! sandbox has one run serve both. Not so with `site_id`: its result is evidence of its own.

use std::{net::IpAddr, time::Instant};

use serde_json::{Map, Value};
use vedette_model::{
    CheckType, DomainName, Edition, LookedAt, Site, SiteId, Source, Target, Timestamp,
    parse::{self, Body},
    site::Endpoint,
};
use vedette_sandbox::{Job, Ran, egress::Audience};

use super::{
    NO_SITE, judged,
    place::PATIENCE,
    view::{PUBLIC, public_part, shown},
};
use crate::{
    App, Caller, Error, Result,
    service::{
        doubt,
        pipeline::{self, Arrival, Seen},
        random, site, unanswered,
    },
};

/// Runs a check now and answers its result: `domain`, and optionally `port`, `origin_ip` and
/// `site_id`, which stores the result for that site. A port or address that the body leaves out is
/// then the site's.
///
/// # Errors
/// `Invalid` for a target that is impossible or blocked, or not the site's; `NotFound` for
/// someone else's site; `Limited` while too many of the account's run; `Internal` when the plugin
/// broke and `Offline` when it could ask no DNS server, which alert nobody.
pub async fn run_on_demand(
    app: &App,
    caller: &Caller,
    check_type: &CheckType,
    body: &Value,
) -> Result<Value> {
    let connects = app.sandbox.reaches_target(check_type);
    let asked = OnDemand::parse(body, connects)?;
    if let Some(address) = asked.origin_ip {
        site::vet_origin(app, address)?;
    }
    let site = match asked.site_id {
        None => None,
        Some(id) => {
            let site = own_site(app, caller, id).await?;
            let looked_at = asked.looks_at(&site, connects);
            looked_at.must_be_of(&site)?;
            Some((site, looked_at))
        }
    };
    let place = app.places.take(caller.account.id, PATIENCE).await?;
    let job = asked.job(app, caller.edition, site.as_ref().map(|(site, _)| site), check_type);
    let (ran, seen_at) = run(app, check_type, job).await?;
    drop(place);
    if let Some((site, looked_at)) = site {
        store(app, caller, check_type, site.id, looked_at, &ran, seen_at).await?;
    }
    Ok(shown(caller.edition, check_type, ran.observation.result))
}

/// Has a result judged and stored like that of a planned run.
async fn store(
    app: &App,
    caller: &Caller,
    check_type: &CheckType,
    site_id: SiteId,
    looked_at: LookedAt,
    ran: &Ran,
    seen_at: Timestamp,
) -> Result<()> {
    let arrival = Arrival {
        account_id: caller.account.id,
        site_id,
        check_type: check_type.clone(),
        seen: Seen::Result {
            result: ran.observation.result.clone(),
            next_run_in_s: ran.observation.next_run_in_s,
            version: Some(ran.version.clone()),
            stood_still: ran.stood_still,
        },
        checked_at: seen_at,
        duration: ran.duration,
        source: Source::OnDemand,
        lease: None,
        looked_at: Some(looked_at.clone()),
    };
    let Some(stored) = pipeline::submit(app, arrival).await? else {
        // Deleted or moved since it was looked at; which of the two is said as before.
        looked_at.must_be_of(&own_site(app, caller, site_id).await?)?;
        return Err(NO_SITE);
    };
    judged(&stored)
}

/// The TLS check without a credential: names only, port 443 only, and the documented part of the
/// result (spec: `GET /public/check-ssl`).
pub async fn run_public(app: &App, domain: &str) -> Result<Value> {
    let result = run_for_anyone(app, &"ssl".parse()?, domain, Vec::new()).await?;
    Ok(public_part(result, &PUBLIC))
}

/// A check without a credential, of public hosts only; `omit` is what need not be found out.
pub(crate) async fn run_for_anyone(
    app: &App,
    check_type: &CheckType,
    domain: &str,
    omit: Vec<String>,
) -> Result<Value> {
    let name = DomainName::parse(domain)?;
    let policy = app.sandbox.egress().policy();
    policy
        .vet_name(&name, Audience::Public)
        .map_err(|refusal| Error::invalid("domain", format!("is refused: {refusal}")))?;
    let job = Job {
        run_id: random::id::<uuid::Uuid>().to_string(),
        target: Target::Name(name),
        port: None,
        connect_to: None,
        config: Value::Object(Map::new()),
        omit: NOT_PUBLIC.map(str::to_owned).into_iter().chain(omit).collect(),
        now: app.clock.now(),
        audience: Audience::Public,
        site: None,
        watched: false,
    };
    let (ran, _) = run(app, check_type, job).await?;
    Ok(ran.observation.result)
}

/// The body of `POST /check-<type>`.
#[derive(Clone, Debug, PartialEq)]
struct OnDemand {
    domain: DomainName,
    port: Option<u16>,
    origin_ip: Option<IpAddr>,
    site_id: Option<SiteId>,
}

impl OnDemand {
    /// A check that does not connect to its target ignores where to: it refuses no port and takes
    /// no address.
    fn parse(body: &Value, connects: bool) -> Result<Self> {
        let body = Body::of(body)?;
        let domain =
            body.required("domain", |field, value| DomainName::parse(parse::text(field, value)?))?;
        let port = body.optional("port", |field, value| parse::integer(field, value, 1..=u16::MAX));
        let origin_ip = body.optional("origin_ip", |field, value| {
            parse::address(field, parse::text(field, value)?)
        });
        Ok(Self {
            domain,
            port: if connects { port? } else { port.unwrap_or_default() },
            origin_ip: if connects { origin_ip? } else { None },
            site_id: body.optional("site_id", |field, value| {
                parse::uuid(field, parse::text(field, value)?).map(SiteId)
            })?,
        })
    }

    /// What has to match the site for the result to count as its own.
    fn looks_at(&self, site: &Site, connects: bool) -> LookedAt {
        let own = site.endpoint();
        let asked = Endpoint {
            port: self.port.unwrap_or(own.port),
            address: self.origin_ip.or(own.address),
        };
        let endpoint = (connects && asked == own).then_some(own);
        LookedAt { domain: self.domain.clone(), endpoint }
    }

    fn job(self, app: &App, edition: &Edition, site: Option<&Site>, check_type: &CheckType) -> Job {
        Job {
            run_id: random::id::<uuid::Uuid>().to_string(),
            target: Target::Name(self.domain),
            port: self.port.or(site.and_then(|site| site.custom_port)),
            connect_to: self.origin_ip.or(site.and_then(|site| site.origin_ip)),
            config: match site {
                Some(site) => site.config_of(check_type),
                None => Value::Object(Map::new()),
            },
            omit: edition.omitted(check_type),
            now: app.clock.now(),
            audience: Audience::Authenticated,
            site: site.map(|site| site.id),
            watched: false,
        }
    }
}

async fn own_site(app: &App, caller: &Caller, id: SiteId) -> Result<Site> {
    app.store.site(caller.account.id, id).await?.ok_or(NO_SITE)
}

/// A run, either another call's that is under way or one of our own, and when it ended.
async fn run(app: &App, check_type: &CheckType, job: Job) -> Result<(Ran, Timestamp)> {
    let started = Instant::now();
    let fields = fields(&job);
    let ran = app.sandbox.run(check_type, job).await;
    let label = check_type.to_string();
    metrics::histogram!("vedette_on_demand_seconds", "check_type" => label)
        .record(started.elapsed().as_secs_f64());
    match ran {
        Ok(ran) => Ok((ran, app.clock.now())),
        Err(cause) => {
            let offline = doubt::is_offline(app);
            Err(unanswered::refuse(check_type, fields, cause, offline))
        }
    }
}

/// The fields that say where to look, as far as they were given: what is wrong with a target may be
/// wrong with any of them.
fn fields(job: &Job) -> &'static str {
    match (job.port.is_some(), job.connect_to.is_some()) {
        (false, false) => "domain",
        (true, false) => "domain and port",
        (false, true) => "domain and origin_ip",
        (true, true) => "domain, port and origin_ip",
    }
}

/// What takes connections of its own but is not part of the public answer.
const NOT_PUBLIC: [&str; 4] = ["hsts", "mixed_content", "ocsp_stapling", "tls_grade"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn on_demand_body_names_the_field_that_is_wrong() {
        let cases = [
            (json!({}), "domain"),
            (json!({ "domain": 7 }), "domain"),
            (json!({ "domain": "https://example.com" }), "domain"),
            (json!({ "domain": "2130706433" }), "domain"),
            (json!({ "domain": "192.0.2.1" }), "domain"),
            (json!({ "domain": "example.com", "port": 0 }), "port"),
            (json!({ "domain": "example.com", "port": 65536 }), "port"),
            (json!({ "domain": "example.com", "port": "443" }), "port"),
            (json!({ "domain": "example.com", "origin_ip": "127.1" }), "origin_ip"),
            (json!({ "domain": "example.com", "site_id": "7" }), "site_id"),
            (json!([]), "body"),
        ];
        for (body, field) in cases {
            match OnDemand::parse(&body, true) {
                Err(Error::Invalid(invalid)) => assert_eq!(invalid.field, field, "{body}"),
                other => panic!("{body}: {other:?}"),
            }
        }
    }

    #[test]
    fn on_demand_body_ignores_what_it_does_not_know() {
        let body = json!({ "domain": "EXAMPLE.com.", "depth": 3 });
        let asked = OnDemand::parse(&body, true).expect("a good body");
        let name = DomainName::parse("example.com").expect("a name");
        assert_eq!(asked.domain, name);
        assert_eq!((asked.port, asked.origin_ip, asked.site_id), (None, None, None));
        let body = json!({ "domain": "example.com", "port": 0, "origin_ip": "localhost" });
        let asked = OnDemand::parse(&body, false).expect("nothing that it knows is wrong");
        assert_eq!((asked.port, asked.origin_ip), (None, None));
        let body = json!({ "domain": "example.com", "port": 43, "origin_ip": "192.0.2.1" });
        let asked = OnDemand::parse(&body, false).expect("a good body");
        assert_eq!((asked.port, asked.origin_ip), (Some(43), None), "a plugin may look at it");
    }
}
