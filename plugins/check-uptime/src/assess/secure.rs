//! Whether a site has lost its https.
//!
//! Asked either way (`scheme: auto`), a site that refuses https and answers over plain http is up:
//! many never served anything else. But one that was seen over https did, and its visitors come
//! that way.

use serde::{Deserialize, Serialize};

use crate::{
    config::{Config, Scheme},
    result::{Status, UptimeResult},
};

/// Of a host and port that somebody wrote down, in bytes.
const MAX_PLACE: usize = 300;

/// Where the site was seen over https.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Secure {
    /// Host and port as in the URL: a site that moves starts over.
    place: String,
    /// In Unix seconds.
    since: i64,
}

impl Secure {
    /// What is known once `result` was seen. A site that is to be asked over plain http has nothing
    /// to lose.
    pub(super) fn after(
        before: Option<Self>,
        result: &UptimeResult,
        config: &Config,
        now: i64,
    ) -> Option<Self> {
        if config.scheme == Scheme::Http {
            return None;
        }
        let Some(place) = place_up_over(HTTPS, result) else { return before };
        before
            .filter(|known| known.place == place)
            .or_else(|| Some(Self { place: place.to_owned(), since: now }))
    }

    /// Whether the place answered over plain http, in a result of that time.
    pub(super) fn is_lost(&self, result: &UptimeResult, at: i64) -> bool {
        at >= self.since && place_up_over(HTTP, result) == Some(self.place.as_str())
    }
}

fn place_up_over<'a>(scheme: &str, result: &'a UptimeResult) -> Option<&'a str> {
    let url = result.url.as_deref().filter(|_| result.status != Status::Down)?;
    let place = url.strip_prefix(scheme)?.split(['/', '?', '#']).next()?;
    (1..=MAX_PLACE).contains(&place.len()).then_some(place)
}

const HTTPS: &str = "https://";
const HTTP: &str = "http://";
