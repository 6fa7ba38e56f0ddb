//! All sites of an account with the state of their checks, for whoever wants the whole picture at
//! once (spec: MCP, `list_sites`).

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use moka::sync::Cache;
use serde_json::{Map, Value, json};
use vedette_model::{AccountId, CheckType, Edition, Glance, Site, SiteId, glance::SUMMARISED};
use vedette_store::Stamp;

use super::site;
use crate::{App, Caller, Result, document::Opening};

/// The sites of one account, oldest first, each as the documented summary.
pub struct Overview {
    stamp: Stamp,
    /// None if other nodes write too: then it is good for one answer only.
    revision: Option<u64>,
    pub(crate) sites: Vec<Value>,
    pub(crate) told: Told,
    /// Size of the sites as JSON (in memory they take a few times that) and of the forms told of
    /// them.
    bytes: u32,
}

/// The overview as it is told to assistants, in the form of either protocol; each is written when
/// it is first asked for, and stands as long as the overview.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) legacy: OnceLock<Arc<Opening>>,
    pub(crate) modern: OnceLock<Arc<Opening>>,
}

impl Overview {
    /// Room for those that are asked for most lately, bounded in bytes.
    pub fn memory() -> Cache<AccountId, Arc<Self>> {
        let weight = |_: &AccountId, kept: &Arc<Self>| kept.bytes;
        Cache::builder().max_capacity(MOST_BYTES).weigher(weight).build()
    }
}

/// From memory while neither the account nor any of its checks has changed; else in two reads,
/// however many sites there are.
pub(crate) async fn read(app: &App, caller: &Caller) -> Result<Arc<Overview>> {
    let account = caller.account.id;
    // Read before the rows, so that a commit in between makes this number old.
    let revision = app.store.revision(account);
    if let Some(kept) = app.overviews.get(&account)
        && kept.revision.is_some()
        && (kept.stamp, kept.revision) == (caller.stamp, revision)
    {
        return Ok(kept);
    }
    let (stamp, sites) = site::list(app, caller).await?;
    let ids: Vec<SiteId> = sites.iter().map(|site| site.id).collect();
    let mut glances: HashMap<SiteId, Vec<Glance>> = HashMap::new();
    for glance in app.store.glances(&ids, &summarised()).await? {
        glances.entry(glance.site_id).or_default().push(glance);
    }
    let summarise = |site: &Site| {
        let glances = glances.remove(&site.id).unwrap_or_default();
        summary(site, &glances, caller.edition)
    };
    let sites: Vec<Value> = sites.iter().map(summarise).collect();
    let bytes: usize = sites.iter().map(|site| site.to_string().len()).sum();
    let bytes = u32::try_from(bytes + FORMS * MOST_TOLD.min(2 * bytes)).unwrap_or(u32::MAX);
    let told = Told::default();
    let overview = Arc::new(Overview { stamp, revision, sites, told, bytes });
    // What was read with an older plan in mind is not kept as the newer one's.
    if revision.is_some() && stamp == caller.stamp {
        app.overviews.insert(account, Arc::clone(&overview));
    }
    Ok(overview)
}

/// The documented summary of one site.
pub(crate) fn summary(site: &Site, glances: &[Glance], edition: &Edition) -> Value {
    json!({
        "id": site.id,
        "domain": site.domain,
        "check_types": site.check_types,
        "monitoring_enabled": site.monitoring_enabled,
        "created_at": site.created_at,
        "status": status(glances, edition),
    })
}

/// One entry per summarised check; null where it never ran.
fn status(glances: &[Glance], edition: &Edition) -> Value {
    let entry = |name: &str| {
        let glance = glances.iter().find(|glance| glance.check_type.as_str() == name);
        (name.to_owned(), glance.and_then(|glance| glance.view(edition)).unwrap_or(Value::Null))
    };
    Value::Object(SUMMARISED.iter().map(|name| entry(name)).collect::<Map<_, _>>())
}

/// The summary of one site, as far as its checks have run.
pub(crate) async fn of_site(app: &App, caller: &Caller, site: &Site) -> Result<Value> {
    let glances = app.store.glances(&[site.id], &summarised()).await?;
    Ok(summary(site, &glances, caller.edition))
}

fn summarised() -> Vec<CheckType> {
    let named = |name: &&str| name.parse().expect("the names of documented checks");
    SUMMARISED.iter().map(named).collect()
}

const MOST_BYTES: u64 = 8 << 20;
/// Roughly the most that one form takes: it holds its text twice, and packed a fraction of that.
const MOST_TOLD: usize = 120_000;
/// Two of them, and as much again for all their packed forms.
const FORMS: usize = 3;
