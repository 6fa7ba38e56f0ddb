//! What is known of a place, as `GET /agent/certs` lists it.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::certificate::EXPIRED;
use super::{Certificate, Look, Place, Verdict};
use crate::{AccountId, AgentId, SiteId, Timestamp};

/// A place and the last that an agent saw there.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// See [`Place::id`].
    pub id: SiteId,
    pub agent_id: AgentId,
    pub place: Place,
    /// The leaf that was seen last, even if the last look saw none; none = there never was one.
    pub leaf: Option<Certificate>,
    /// What the last look found.
    pub is_valid: bool,
    pub error: Option<String>,
    /// When the last look was.
    pub at: Timestamp,
    /// When a report named it last, with whatever look.
    pub named_at: Timestamp,
}

/// A certificate as the API shows it: a leaf of its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SightingView<'a> {
    pub id: SiteId,
    pub host: &'a str,
    pub port: u16,
    pub subject: &'a str,
    pub issuer: &'a str,
    pub serial_number: Option<&'a str>,
    pub not_before: Option<Timestamp>,
    pub not_after: Timestamp,
    pub days_remaining: i64,
    pub is_valid: bool,
    pub fingerprint_sha256: Option<&'a str>,
    pub san: &'a [String],
    pub error: Option<&'a str>,
    pub agent_id: AgentId,
    pub last_seen_at: Timestamp,
}

/// The certificates of these places, those that expire first in front. A place that never showed
/// one is left out.
pub fn listed(sightings: &[Sighting], now: Timestamp) -> Vec<SightingView<'_>> {
    let mut views: Vec<_> = sightings.iter().filter_map(|one| one.view(now)).collect();
    views.sort_by(|a, b| {
        (a.not_after, a.host, a.port, a.id).cmp(&(b.not_after, b.host, b.port, b.id))
    });
    views
}

/// Of several sightings of a place the last, with the leaf that was seen last.
pub fn latest(sightings: impl IntoIterator<Item = Sighting>) -> Vec<Sighting> {
    let mut latest: BTreeMap<SiteId, Sighting> = BTreeMap::new();
    for mut next in sightings {
        match latest.get_mut(&next.id) {
            Some(last) if next.at > last.at => {
                next.leaf = next.leaf.or(last.leaf.take());
                *last = next;
            }
            Some(_) => {}
            None => {
                latest.insert(next.id, next);
            }
        }
    }
    latest.into_values().collect()
}

/// What an agent no longer looks at: places that it does not name now and that no report has named
/// since a moment, and certificates that were reported gone from theirs before it; the oldest
/// first. How old the looks are does not matter: an agent may send an old one again and again, and
/// its places in several reports.
pub fn unnamed<'a>(
    sightings: Vec<Sighting>,
    named_now: impl IntoIterator<Item = &'a Place>,
    before: Timestamp,
) -> Vec<Sighting> {
    // Even if nothing of it was noted, for lack of room.
    let named_now = named_now.into_iter().map(|place| ((place.host.clone(), place.port), before));
    let mut named: HashMap<(String, u16), Timestamp> = named_now.collect();
    for Sighting { place, named_at, .. } in &sightings {
        let last = named.entry((place.host.clone(), place.port)).or_insert(*named_at);
        *last = (*last).max(*named_at);
    }
    let since = |one: &Sighting| {
        // A look that saw none is noted for the place alone, and its certificates may all be there.
        if one.is_gone() { one.named_at } else { named[&(one.place.host.clone(), one.place.port)] }
    };
    let mut dated: Vec<_> = sightings.into_iter().map(|one| (since(&one), one)).collect();
    dated.retain(|(since, _)| *since < before);
    dated.sort_by_key(|(since, one)| (*since, one.id));
    dated.into_iter().map(|(_, one)| one).collect()
}

impl Sighting {
    /// Of a look that was made `at` a moment and is told `now`.
    pub fn of(
        look: &Look,
        at: Timestamp,
        account: AccountId,
        agent_id: AgentId,
        now: Timestamp,
    ) -> Self {
        let Verdict { is_valid, error } = look.verdict(at);
        Self {
            id: look.place.id(account, agent_id),
            agent_id,
            place: look.place.clone(),
            leaf: look.certificates.first().cloned(),
            is_valid,
            error,
            at,
            named_at: now,
        }
    }

    /// Whether the calendar alone says something else of its certificate than when the place was
    /// last looked at, and than up to when it was judged since.
    pub fn has_turned(&self, judged_to: Option<Timestamp>, now: Timestamp) -> bool {
        let since = judged_to.map_or(self.at, |judged_to| judged_to.max(self.at));
        let is_new = |turn: Timestamp| since < turn && turn <= now;
        self.leaf.as_ref().is_some_and(|leaf| leaf.turns().into_iter().any(is_new))
    }

    /// Whether there is no certificate, and nothing wrong with that.
    fn is_gone(&self) -> bool {
        self.leaf.is_none() && self.is_valid
    }

    /// None without a certificate. One that has expired since the last look is not valid now.
    fn view(&self, now: Timestamp) -> Option<SightingView<'_>> {
        let leaf = self.leaf.as_ref()?;
        let expired = leaf.expired(now);
        Some(SightingView {
            id: self.id,
            host: &self.place.host,
            port: self.place.port,
            subject: &leaf.subject,
            issuer: &leaf.issuer,
            serial_number: leaf.serial_number.as_deref(),
            not_before: leaf.not_before,
            not_after: leaf.not_after,
            days_remaining: leaf.days_left(now),
            is_valid: self.is_valid && !expired,
            fingerprint_sha256: leaf.fingerprint_sha256.as_deref(),
            san: &leaf.san,
            error: self.error.as_deref().or(expired.then_some(EXPIRED)),
            agent_id: self.agent_id,
            last_seen_at: self.at,
        })
    }
}
