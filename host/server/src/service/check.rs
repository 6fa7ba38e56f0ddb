//! Checks on demand, results that come from outside, and the history of both.
//!
//! *Invariant:* without `site_id` a check on demand stores nothing; with it, the result takes the
//! same path as a scheduled one.

use std::{collections::BTreeMap, net::IpAddr, time::Instant};

use serde_json::{Map, Value};
use vedette_model::{
    CertChange, CheckRecord, CheckStatus, CheckType, DomainName, Edition, Invalid, Site, SiteId,
    Source, Target, Timestamp,
    parse::{self, Body},
};
use vedette_sandbox::{Job, Ran, egress::Audience};
use vedette_store::{CheckFilter, Page};

use super::{
    pipeline::{self, Arrival, Seen},
    random, run, site,
};
use crate::{App, Caller, Error, Result};

/// What `GET /checks` asks for; `until` is the first moment that is not shown any more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckQuery {
    pub check_type: Option<CheckType>,
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub limit: u32,
    pub offset: u32,
}

/// Runs a check now and answers its result: `domain`, and optionally `port`, `origin_ip` and
/// `site_id`, which stores the result for that site. What the body leaves out of a site's port
/// and address is the site's.
///
/// # Errors
/// `Invalid` for a target that is impossible or blocked, or not the site's; `NotFound` for
/// someone else's site; `Internal` when the plugin broke, which alerts nobody.
pub async fn run_on_demand(
    app: &App,
    caller: &Caller,
    check_type: &CheckType,
    body: &Value,
) -> Result<Value> {
    let asked = OnDemand::parse(body)?;
    if let Some(address) = asked.origin_ip {
        site::vet_origin(app, address)?;
    }
    let site = match asked.site_id {
        None => None,
        Some(id) => Some(own_site(app, caller, id, &asked.domain).await?),
    };
    let job = asked.job(app, caller.edition, site.as_ref(), check_type);
    let (ran, seen_at) = run(app, check_type, job).await?;
    let result = ran.observation.result;
    if let Some(site) = site {
        let arrival = Arrival {
            account_id: caller.account.id,
            site_id: site.id,
            check_type: check_type.clone(),
            seen: Seen::Result {
                result: result.clone(),
                next_run_in_s: ran.observation.next_run_in_s,
            },
            checked_at: seen_at,
            duration: ran.duration,
            source: Source::OnDemand,
            lease: None,
        };
        let record = pipeline::submit(app, arrival).await?.ok_or(NO_SITE)?;
        judged(&record)?;
    }
    Ok(shown(caller.edition, result))
}

/// The TLS check without a credential: names only, port 443 only, and the documented part of the
/// result (spec: `GET /public/check-ssl`).
pub async fn run_public(app: &App, domain: &str) -> Result<Value> {
    let result = run_for_anyone(app, &"ssl".parse()?, domain, Vec::new()).await?;
    Ok(public_part(result, &PUBLIC))
}

/// A check without a credential, of public hosts alone; `omit` is what nobody need find out.
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
    };
    let (ran, _) = run(app, check_type, job).await?;
    Ok(ran.observation.result)
}

/// Takes in a result that somebody else measured, and judges it like one of ours.
///
/// # Errors
/// `Invalid` for a check that is not installed, or a result that its schema does not describe;
/// `NotFound` for someone else's site.
pub async fn record(app: &App, caller: &Caller, body: &Value) -> Result<CheckRecord> {
    let body = Body::of(body)?;
    let site_id =
        body.required("site_id", |field, value| parse::uuid(field, parse::text(field, value)?))?;
    let check_type = body.required("check_type", parse::text)?;
    let check_type = installed(check_type, &app.sandbox.check_types())?;
    let result = body.required("result", parse::object)?;
    let arrival = Arrival {
        account_id: caller.account.id,
        site_id: SiteId(site_id),
        check_type,
        seen: Seen::Result { result: Value::Object(result.clone()), next_run_in_s: None },
        checked_at: app.clock.now(),
        duration: std::time::Duration::ZERO,
        source: Source::Api,
        lease: None,
    };
    let record = pipeline::submit(app, arrival).await?.ok_or(NO_SITE)?;
    judged(&record)?;
    Ok(shown_record(caller.edition, record))
}

/// The latest record of each check that ever ran for the site.
pub async fn latest(
    app: &App,
    caller: &Caller,
    site: SiteId,
) -> Result<BTreeMap<CheckType, CheckRecord>> {
    let latest = app.store.latest_checks(caller.account.id, site).await?.ok_or(NO_SITE)?;
    let shown = |(check_type, record)| (check_type, shown_record(caller.edition, record));
    Ok(latest.into_iter().map(shown).collect())
}

/// What a page is asked for, from its words. A check that is not known is told before a bad
/// period, and that before a bad `page`.
pub(crate) fn query(
    app: &App,
    check_type: Option<&str>,
    from: Option<&str>,
    to: Option<&str>,
    page: Result<(u32, u32), Invalid>,
) -> Result<CheckQuery> {
    let check_type = check_type.map(|text| known_type(app, text)).transpose()?;
    let period = parse::period(from, to)?;
    let (limit, offset) = page?;
    Ok(CheckQuery { check_type, from: period.from, until: period.until, limit, offset })
}

/// The documented types can be asked for whether a plugin for them is installed or not.
fn known_type(app: &App, text: &str) -> Result<CheckType, Invalid> {
    let check_type: CheckType = text.parse()?;
    if DOCUMENTED.contains(&text) || app.sandbox.check(&check_type).is_some() {
        return Ok(check_type);
    }
    Err(Invalid::new(
        "check_type",
        "must be one of ssl, dns, domain, ct, uptime or an installed check",
    ))
}

/// A page of the site's records, newest first.
pub async fn page(
    app: &App,
    caller: &Caller,
    site: SiteId,
    query: CheckQuery,
) -> Result<Page<CheckRecord>> {
    let filter = CheckFilter {
        check_type: query.check_type,
        from: query.from,
        to: query.until,
        limit: query.limit,
        offset: query.offset,
    };
    let page = app.store.checks_page(caller.account.id, site, &filter).await?.ok_or(NO_SITE)?;
    let shown = |record| shown_record(caller.edition, record);
    Ok(Page { items: page.items.into_iter().map(shown).collect(), total: page.total })
}

/// The last 50 changes of the site's certificates.
pub async fn cert_history(app: &App, caller: &Caller, site: SiteId) -> Result<Page<CertChange>> {
    app.store.cert_history(caller.account.id, site).await?.ok_or(NO_SITE)
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
    fn parse(body: &Value) -> Result<Self> {
        let body = Body::of(body)?;
        Ok(Self {
            domain: body
                .required("domain", |field, value| DomainName::parse(parse::text(field, value)?))?,
            port: body
                .optional("port", |field, value| parse::integer(field, value, 1..=u16::MAX))?,
            origin_ip: body.optional("origin_ip", |field, value| {
                parse::address(field, parse::text(field, value)?)
            })?,
            site_id: body.optional("site_id", |field, value| {
                parse::uuid(field, parse::text(field, value)?).map(SiteId)
            })?,
        })
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
            omit: edition.omitted(),
            now: app.clock.now(),
            audience: Audience::Authenticated,
            site: site.map(|site| site.id),
        }
    }
}

async fn own_site(app: &App, caller: &Caller, id: SiteId, domain: &DomainName) -> Result<Site> {
    let site = app.store.site(caller.account.id, id).await?.ok_or(NO_SITE)?;
    if *domain != site.domain {
        let reason = format!("must be the site's, {}, to store the result for it", site.domain);
        return Err(Error::invalid("domain", reason));
    }
    Ok(site)
}

/// A run and the moment at which it ended.
async fn run(app: &App, check_type: &CheckType, job: Job) -> Result<(Ran, Timestamp)> {
    let started = Instant::now();
    let ran = app.sandbox.run(check_type, job).await;
    let label = check_type.to_string();
    metrics::histogram!("vedette_on_demand_seconds", "check_type" => label)
        .record(started.elapsed().as_secs_f64());
    match ran {
        Ok(ran) => Ok((ran, app.clock.now())),
        Err(cause) => Err(run::refuse(check_type, cause)),
    }
}

/// A result that the plugin could not judge is our trouble, and the caller hears that it was.
fn judged(record: &CheckRecord) -> Result<()> {
    let broke = record.status == CheckStatus::Unknown
        && record.error.as_deref().is_some_and(run::is_own_trouble);
    if broke {
        let CheckRecord { check_type, site_id, .. } = record;
        return Err(anyhow::anyhow!("check {check_type} of {site_id} was stored unjudged").into());
    }
    Ok(())
}

fn installed(name: &str, installed: &[CheckType]) -> Result<CheckType> {
    let found = installed.iter().find(|check_type| check_type.as_str() == name);
    found.cloned().ok_or_else(|| {
        let names: Vec<&str> = installed.iter().map(CheckType::as_str).collect();
        Error::invalid("check_type", format!("must be one of {}", names.join(", ")))
    })
}

/// A result with some of its fields only.
pub(crate) fn public_part(result: Value, fields: &[&str]) -> Value {
    let Value::Object(mut members) = result else { return result };
    members.retain(|name, _| fields.contains(&name.as_str()));
    Value::Object(members)
}

/// A result as an edition shows it (spec: SSL check result, `tls_grade`).
pub(crate) fn shown(edition: &Edition, mut result: Value) -> Value {
    if let Some(members) = result.as_object_mut() {
        for field in edition.omitted() {
            match field.strip_prefix("records/") {
                None => drop(members.remove(&field)),
                Some(name) => {
                    let records = members.get_mut("records").and_then(Value::as_array_mut);
                    records
                        .into_iter()
                        .for_each(|records| records.retain(|set| set["type"] != name));
                }
            }
        }
    }
    result
}

pub(crate) fn shown_record(edition: &Edition, record: CheckRecord) -> CheckRecord {
    CheckRecord { result: shown(edition, record.result), ..record }
}

/// Spec: On-demand checks, `GET /public/check-ssl`.
pub(crate) const PUBLIC: [&str; 7] =
    ["valid", "issuer", "expires_at", "days_remaining", "san", "chain_complete", "error"];

/// Check types of the documents, installed or not.
pub(crate) const DOCUMENTED: [&str; 5] = ["ssl", "dns", "domain", "ct", "uptime"];

/// What takes connections of its own and is no part of the public answer.
const NOT_PUBLIC: [&str; 4] = ["hsts", "mixed_content", "ocsp_stapling", "tls_grade"];

const NO_SITE: Error = Error::NotFound("site");

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vedette_model::edition::{STANDARD, TEAM};

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
            match OnDemand::parse(&body) {
                Err(Error::Invalid(invalid)) => assert_eq!(invalid.field, field, "{body}"),
                other => panic!("{body}: {other:?}"),
            }
        }
    }

    #[test]
    fn on_demand_body_ignores_what_it_does_not_know() {
        let body = json!({ "domain": "EXAMPLE.com.", "depth": 3 });
        let asked = OnDemand::parse(&body).expect("a good body");
        let name = DomainName::parse("example.com").expect("a name");
        assert_eq!(asked.domain, name);
        assert_eq!((asked.port, asked.origin_ip, asked.site_id), (None, None, None));
    }

    #[test]
    fn public_result_has_the_documented_fields_and_no_other() {
        let result = json!({
            "valid": true, "issuer": "CA", "expires_at": "2027-01-01T00:00:00Z",
            "days_remaining": 9, "san": ["example.com"], "chain_complete": true, "error": null,
            "chain": [{}], "cipher_name": "TLS_AES_128_GCM_SHA256", "tls_grade": "A", "hsts": null,
        });
        let members = public_part(result, &PUBLIC);
        let mut names: Vec<_> = members.as_object().expect("an object").keys().collect();
        names.sort();
        let mut documented = PUBLIC;
        documented.sort_unstable();
        assert_eq!(names, documented);
    }

    #[test]
    fn grade_is_shown_by_the_edition_that_documents_it() {
        let graded = json!({ "valid": true, "tls_grade": "A" });
        assert_eq!(shown(&TEAM, graded.clone()), graded);
        assert_eq!(shown(&STANDARD, graded), json!({ "valid": true }));
    }

    #[test]
    fn only_installed_checks_take_results_from_outside() {
        let ssl: CheckType = "ssl".parse().expect("a check's name");
        assert_eq!(installed("ssl", std::slice::from_ref(&ssl)).ok(), Some(ssl.clone()));
        let said = installed("uptime", &[ssl]).expect_err("it is not installed").to_string();
        assert_eq!(said, "check_type must be one of ssl");
    }
}
