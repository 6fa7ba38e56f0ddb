//! Which RDAP server answers for a name (RFC 9224).
//!
//! IANA's file is compiled in and fetched again once a day, from wherever the operator says. What
//! was fetched wins. Beside IANA's own file the copy that is compiled in still counts for names
//! that the fetched one does not have; beside an operator's file it does not, nor in its place while
//! it could not be fetched yet, or the check would ask registries that the operator left out.
//!
//! *Invariant:* at most one fetch in a run; one that fails leaves what was fetched before in place
//! and is not repeated for a while.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use vedette_sdk::{Cx, http::Request, log::Level, net};

use crate::{
    name::{Name, is_below},
    rdap,
    settings::Settings,
    shared::{Shared, digest, key},
    time,
};
use compact::Table;

pub mod compact;
pub mod document;

/// The bootstrap as one run sees it.
pub(crate) struct Bootstrap<'a> {
    cx: &'a Cx,
    settings: &'a Settings,
    shared: Shared<'a>,
    now: i64,
}

/// When the file was fetched, and when that was last tried; Unix seconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Times {
    fetched: Option<i64>,
    tried: Option<i64>,
}

impl<'a> Bootstrap<'a> {
    pub(crate) fn new(cx: &'a Cx, settings: &'a Settings, now: i64) -> Self {
        Self { cx, settings, shared: Shared::new(cx), now }
    }

    /// The base URLs for a name, the preferred one first; empty when its registry has no RDAP
    /// server. None where that is not known.
    pub(crate) fn bases(&self, name: &Name) -> Option<Vec<String>> {
        let found = self.fetched(name).map(|table| find(Table(&table), name));
        if !self.settings.has_public_bootstrap() {
            return found;
        }
        let found = found.filter(|found| !found.is_empty());
        Some(found.unwrap_or_else(|| find(Table(EMBEDDED), name)))
    }

    /// The part of the fetched file that names below this top-level domain are in; none when no
    /// file could be had.
    fn fetched(&self, name: &Name) -> Option<String> {
        let times = match self.shared.read(&self.key("times")) {
            Ok(text) => text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
            // Without a memory of fetches each run would make one; the copy is good enough.
            Err(_) if self.settings.has_public_bootstrap() => return None,
            Err(_) => Times::default(),
        };
        let kept = || {
            times.fetched?;
            self.shared.get(&self.key(&shard_of(name.tld()).to_string()))
        };
        if times.is_fresh(self.now)
            && let Some(shard) = kept()
        {
            return Some(shard);
        }
        if times.is_pausing(self.now) {
            return kept();
        }
        // Others need not fetch as well, where they have something to go by meanwhile.
        let tried = Times { tried: Some(self.now), ..times };
        if times.fetched.is_some() || self.settings.has_public_bootstrap() {
            self.keep_times(tried);
        }
        match self.fetch() {
            Ok(shards) => {
                self.keep(&shards);
                shards.into_iter().nth(shard_of(name.tld()))
            }
            Err(reason) => {
                let fields = [("url", self.settings.bootstrap_url.as_str()), ("reason", &reason)];
                self.cx.log(Level::Warn, "the RDAP bootstrap file could not be fetched", &fields);
                self.keep_times(tried);
                kept()
            }
        }
    }

    /// The file in its parts; the error is for the log.
    fn fetch(&self) -> Result<Vec<String>, String> {
        let timeout_ms = time::timeout_ms(self.cx, FETCH).ok_or("no time is left")?;
        let request = Request {
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            max_redirects: rdap::MAX_REDIRECTS,
            ..Request::get(self.settings.bootstrap_url.as_str(), timeout_ms, MAX_DOCUMENT)
        };
        let response = self.cx.fetch(&request).map_err(|error| net::reason(&error))?;
        if response.status != 200 {
            return Err(format!("status {}", response.status));
        }
        if response.truncated {
            return Err(format!("larger than {MAX_DOCUMENT} bytes"));
        }
        let document = document::read(&response.body).ok_or("not in the form of RFC 9224")?;
        shards(&document.services).ok_or_else(|| "a part does not fit its value".to_owned())
    }

    /// The times last: a file of which a part is missing counts as not fetched.
    fn keep(&self, shards: &[String]) {
        let mut parts = shards.iter().enumerate();
        let kept =
            parts.all(|(at, shard)| self.shared.set(&self.key(&at.to_string()), shard, KEPT));
        if kept {
            self.keep_times(Times { fetched: Some(self.now), tried: Some(self.now) });
        }
    }

    fn keep_times(&self, times: Times) {
        let text = serde_json::to_string(&times).expect("two numbers have a form in JSON");
        self.shared.set(&self.key("times"), &text, KEPT);
    }

    fn key(&self, part: &str) -> String {
        key("bootstrap", &format!("{}/{part}", digest(&self.settings.bootstrap_url)))
    }
}

impl Times {
    fn is_fresh(&self, now: i64) -> bool {
        self.fetched.is_some_and(|at| (0..FRESH).contains(&now.saturating_sub(at)))
    }

    fn is_pausing(&self, now: i64) -> bool {
        self.tried.is_some_and(|at| (0..PAUSE).contains(&now.saturating_sub(at)))
            && self.tried != self.fetched
    }
}

/// The longest match for the name. A zone with a registry of its own is not its parent's to
/// answer for.
fn find(table: Table<'_>, name: &Name) -> Vec<String> {
    let Some(found) = table.find(name.as_str()) else { return Vec::new() };
    if let Some(zone) = name.zone()
        && found.label != zone.name
        && !is_below(found.label, zone.name)
    {
        return Vec::new();
    }
    found.bases().map(str::to_owned).collect()
}

/// The services in parts that each fit one value; all that is known below a top-level domain is in
/// one part. None where one does not fit.
fn shards(services: &[document::Service]) -> Option<Vec<String>> {
    let mut shards = vec![String::new(); SHARDS];
    for service in services {
        let mut begun = [false; SHARDS];
        for label in &service.labels {
            let at = shard_of(label.rsplit('.').next().unwrap_or(label));
            let shard = &mut shards[at];
            if !begun[at] {
                shard.push_str(if shard.is_empty() { "" } else { "\n" });
                shard.push_str(&service.bases.join(" "));
                begun[at] = true;
            }
            shard.push(' ');
            shard.push_str(label);
            if shard.len() > MAX_SHARD {
                return None;
            }
        }
    }
    Some(shards)
}

/// Below [`SHARDS`].
fn shard_of(tld: &str) -> usize {
    let sum = tld.bytes().fold(0_usize, |sum, b| sum.wrapping_mul(31).wrapping_add(b.into()));
    sum % SHARDS
}

/// IANA's file as of the publication that its first lines tell.
const EMBEDDED: &str = include_str!("../data/rdap-bootstrap.txt");
/// The file has 70 KB, and 25 KB in its compact form: a part has 3 KB of the 16 that it may.
const SHARDS: usize = 16;
/// Bytes of a value.
const MAX_SHARD: usize = 16 << 10;
/// Bytes.
const MAX_DOCUMENT: u32 = 512 << 10;
const FETCH: Duration = Duration::from_secs(5);
/// Seconds after which the file is fetched again.
const FRESH: i64 = 86_400;
/// Seconds after a fetch that failed.
const PAUSE: i64 = 600;
/// How long a file counts that cannot be fetched any more.
const KEPT: Duration = Duration::from_secs(30 * 86_400);

#[cfg(test)]
mod tests;
