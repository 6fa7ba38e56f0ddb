//! What agents look at: a row per host and port, and for each certificate beside the first that is
//! shown there, with what was seen last and when a report named it last.
//! What is judged of it (checks, states, alerts) stands where that of sites stands, under the
//! row's id. So the row of a certificate that is gone stays, without it: it comes back to the same. So
//! does that of what was let go (`let_go`), which counts for nothing until a later look is noted.
//!
//! *Invariant:* a look that is older than the one that is noted changes nothing here but when its place
//! was named, so that a report may come twice, and late; unless the one that is noted is of a clock that
//! has been set back since.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use surrealdb::types::{Array, Object, RecordId, SurrealValue, Value};
use uuid::Uuid;
use vedette_model::agent::{Certificate, LONGEST_GAP, Place, Sighting};
use vedette_model::{AccountId, AgentId, SiteId, Timestamp};

use crate::error::{Error, Result};
use crate::tx::Binds;
use crate::{CLOCKS_DIFFER, Store, key, row};

#[derive(SurrealValue)]
struct TargetRow {
    id: RecordId,
    agent: Uuid,
    host: String,
    port: u16,
    beside: Option<String>,
    leaf: Option<String>,
    is_valid: bool,
    error: Option<String>,
    seen_at: Timestamp,
    /// None where a node of an older version made the row.
    named_at: Option<Timestamp>,
}

/// How much room an agent has for these places.
#[derive(SurrealValue)]
struct RoomRow {
    /// Places that count; none where the agent is gone.
    held: Option<u64>,
    /// Those of these that are known, also where they were let go.
    known: Vec<KnownRow>,
}

#[derive(SurrealValue)]
struct KnownRow {
    id: RecordId,
    let_go: Option<bool>,
    seen_at: Timestamp,
}

impl Store {
    /// Notes what an agent saw, and that it was heard from. `seen` holds each place once. If no
    /// certificate was seen and something is wrong, the previous one stays; if all is well without
    /// one, it is gone. Answers which new places are left out, since an agent looks at no more than
    /// `limit`. `Gone` when the agent no longer exists.
    pub async fn note_report(
        &self,
        account: AccountId,
        agent: AgentId,
        seen: &[Sighting],
        limit: usize,
        now: Timestamp,
    ) -> Result<BTreeSet<SiteId>> {
        let _turn = self.turn(agent.0).await;
        let mut taken: Vec<&Sighting> = seen.iter().collect();
        let mut left_out = BTreeSet::new();
        for _ in 0..ATTEMPTS {
            let noted = self.note(account, agent, &taken, limit, now).await;
            match noted {
                // Also again, where another node was first to fill the room that there was.
                Err(Error::TargetLimit) => {
                    (taken, left_out) = self.fitting(account, agent, seen, limit, now).await?;
                }
                noted => return noted.map(|()| left_out),
            }
        }
        Err(Error::Conflict)
    }

    /// All of it, or `TargetLimit`.
    async fn note(
        &self,
        account: AccountId,
        agent: AgentId,
        seen: &[&Sighting],
        limit: usize,
        now: Timestamp,
    ) -> Result<()> {
        let targets: Vec<RecordId> =
            seen.iter().map(|one| key::agent_target(account, one.id)).collect();
        let rows: Array = seen.iter().map(|one| content(account, one)).collect::<Result<_>>()?;
        let binds = Binds::new()
            .with("agent", key::agent(account, agent))
            .with("now", now)
            .with("ahead", now + CLOCKS_DIFFER)
            .with("unbroken", now - LONGEST_GAP)
            .with("limit", limit)
            .with("targets", targets)
            .with("rows", rows);
        self.write(&noting(if seen.is_empty() { "" } else { SEEN }), binds).await
    }

    /// Those that need no room, with as many of the others as there is room for, and the rest.
    async fn fitting<'a>(
        &self,
        account: AccountId,
        agent: AgentId,
        seen: &'a [Sighting],
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<&'a Sighting>, BTreeSet<SiteId>)> {
        let targets: Vec<RecordId> =
            seen.iter().map(|one| key::agent_target(account, one.id)).collect();
        let binds = Binds::new().with("agent", key::agent(account, agent)).with("targets", targets);
        let statement = "RETURN { held: $agent.targets,
            known: (SELECT id, let_go, seen_at FROM $targets WHERE version != NONE) }";
        let RoomRow { held, known } = self.read(statement, binds).await?;
        let held = held.and_then(|held| usize::try_from(held).ok()).unwrap_or_default();
        let known: BTreeMap<SiteId, KnownRow> = known
            .into_iter()
            .map(|row| Ok((SiteId(key::uuid_at(&row.id, 1)?), row)))
            .collect::<Result<_>>()?;
        let (mut taken, mut new): (Vec<_>, Vec<_>) = seen
            .iter()
            .partition(|one| known.get(&one.id).is_some_and(|row| !row.is_back(one.at, now)));
        new.sort_by_key(|one| Reverse(one.at));
        let left_out = new.split_off(limit.saturating_sub(held).min(new.len()));
        taken.append(&mut new);
        Ok((taken, left_out.iter().map(|one| one.id).collect()))
    }

    /// What an agent saw last at all places that count.
    pub async fn sightings_of(&self, account: AccountId, agent: AgentId) -> Result<Vec<Sighting>> {
        let binds = Binds::new().with("account", account.0).with("agent", agent.0);
        self.seen(OF_AGENT, binds).await
    }

    /// How many places of an agent were let go and are not back: a row each, until it is deleted.
    pub async fn count_let_go(&self, account: AccountId, agent: AgentId) -> Result<u64> {
        let binds = Binds::new().with("account", account.0).with("agent", agent.0);
        self.read(&format!("RETURN array::len(({LEFT}))"), binds).await
    }

    /// Whether to look for places that no report names any more: those of an agent whose reports
    /// have followed one another since `since`, where nobody looked after `before`. Notes that
    /// somebody looks now.
    pub async fn looks_for_unnamed(
        &self,
        account: AccountId,
        agent: AgentId,
        since: Timestamp,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<bool> {
        let unit = "RETURN count(UPDATE $agent SET looked_for_unnamed_at = $now
            WHERE reporting_since != NONE AND reporting_since <= $since
                AND (looked_for_unnamed_at = NONE OR looked_for_unnamed_at <= $before
                    OR looked_for_unnamed_at > $ahead)
            RETURN AFTER)";
        let binds = Binds::new()
            .with("agent", key::agent(account, agent))
            .with("since", since)
            .with("before", before)
            .with("now", now)
            .with("ahead", now + CLOCKS_DIFFER);
        let _turn = self.turn(agent.0).await;
        let noted: i64 = self.tx(unit, binds).await?;
        Ok(noted == 1)
    }

    /// Removes places: they are no longer listed, and count again when a later look is noted.
    /// Answers how many went; what a report has named since `before` stays.
    pub async fn let_go(
        &self,
        account: AccountId,
        agent: AgentId,
        places: &[SiteId],
        before: Timestamp,
    ) -> Result<u64> {
        let targets: Vec<RecordId> =
            places.iter().map(|one| key::agent_target(account, *one)).collect();
        let unit = "LET $gone = (UPDATE $targets SET let_go = true,
                leaf = NONE, is_valid = true, error = NONE
                WHERE let_go != true AND (named_at ?? seen_at) < $before RETURN AFTER);
            UPDATE $agent SET targets -= array::len($gone) RETURN NONE;
            RETURN array::len($gone)";
        let binds = Binds::new()
            .with("agent", key::agent(account, agent))
            .with("targets", targets)
            .with("before", before);
        let _turn = self.turn(agent.0).await;
        self.tx(unit, binds).await
    }

    /// What an agent saw last at these hosts, place by place, also where it was let go.
    pub async fn sightings_at(
        &self,
        account: AccountId,
        agent: AgentId,
        hosts: &[&str],
    ) -> Result<Vec<Sighting>> {
        if hosts.is_empty() {
            return Ok(Vec::new());
        }
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let binds =
            Binds::new().with("account", account.0).with("agent", agent.0).with("hosts", hosts);
        self.seen(AT_HOSTS, binds).await
    }

    /// What an account's agents saw last at all places that count.
    pub async fn sightings(&self, account: AccountId) -> Result<Vec<Sighting>> {
        let binds = Binds::new().with("targets", key::agent_targets(account));
        self.seen("FROM $targets WHERE let_go != true", binds).await
    }

    async fn seen(&self, places: &str, binds: Binds) -> Result<Vec<Sighting>> {
        let rows: Vec<TargetRow> = self.read(&format!("{SEEN_LAST} {places}"), binds).await?;
        rows.into_iter().map(TargetRow::into_sighting).collect()
    }
}

impl KnownRow {
    /// Whether it was let go and counts again with a look of this moment: see `SEEN`.
    fn is_back(&self, at: Timestamp, now: Timestamp) -> bool {
        self.let_go == Some(true) && (self.seen_at < at || self.seen_at > now + CLOCKS_DIFFER)
    }
}

impl TargetRow {
    fn into_sighting(self) -> Result<Sighting> {
        let leaf = self.leaf.map(|leaf| row::read::<Certificate>("certificate", &leaf));
        Ok(Sighting {
            id: SiteId(key::uuid_at(&self.id, 1)?),
            agent_id: AgentId(self.agent),
            place: Place { host: self.host, port: self.port, beside: self.beside },
            leaf: leaf.transpose()?,
            is_valid: self.is_valid,
            error: self.error,
            at: self.seen_at,
            named_at: self.named_at.unwrap_or(self.seen_at),
        })
    }
}

/// A row as it is when it is the first of its place.
fn content(account: AccountId, seen: &Sighting) -> Result<Value> {
    let site = seen.place.site(account, seen.agent_id, seen.at);
    let mut content = Object::new();
    content.insert("id", key::agent_target(account, seen.id));
    content.insert("account", account.0);
    content.insert("agent", seen.agent_id.0);
    content.insert("version", 1_i64);
    content.insert("doc", row::write("site", &site)?);
    // It has no secrets, as most sites have none.
    content.insert("sealed", "");
    content.insert("host", seen.place.host.as_str());
    content.insert("port", seen.place.port);
    if let Some(beside) = &seen.place.beside {
        content.insert("beside", beside.as_str());
    }
    if let Some(leaf) = &seen.leaf {
        content.insert("leaf", row::write("certificate", leaf)?);
    }
    content.insert("is_valid", seen.is_valid);
    if let Some(error) = &seen.error {
        content.insert("error", error.as_str());
    }
    content.insert("seen_at", seen.at);
    content.insert("named_at", seen.named_at);
    Ok(Value::Object(content))
}

/// The unit of work that notes what was `seen`, if anything was.
fn noting(seen: &str) -> String {
    format!(
        "LET $known = array::len(({KNOWN}));
        {seen}
        LET $new = array::len(({KNOWN})) - $known;
        LET $room = (UPDATE $agent SET
            last_seen_at = IF last_seen_at > $now AND last_seen_at <= $ahead {{ last_seen_at }}
                ELSE {{ $now }},
            reporting_since = IF reported_at >= $unbroken {{ reporting_since ?? $now }}
                ELSE {{ $now }},
            reported_at = $now,
            targets += $new
            WHERE $new = 0 OR targets + $new <= $limit RETURN AFTER);
        IF array::is_empty($room) {{
            IF record::exists($agent) {{ THROW 'target_limit' }} ELSE {{ THROW 'gone' }}
        }};"
    )
}

/// Those of some places that count.
const KNOWN: &str = "SELECT VALUE id FROM $targets WHERE version != NONE AND let_go != true";

/// What a [`TargetRow`] reads, of the places that follow.
pub(crate) const SEEN_LAST: &str =
    "SELECT id, agent, host, port, beside, leaf, is_valid, error, seen_at, named_at";

pub(crate) const AT_HOSTS: &str = "FROM agent_target
    WHERE account = $account AND agent = $agent AND host IN $hosts";

pub(crate) const OF_AGENT: &str = "FROM agent_target
    WHERE account = $account AND agent = $agent AND let_go != true";

pub(crate) const LEFT: &str = "SELECT VALUE id FROM agent_target
    WHERE account = $account AND agent = $agent AND let_go = true";

/// `seen_at` comes last: the others are compared by it, except `named_at`, which never goes back,
/// unless it came from a clock that was set back since.
const SEEN: &str = "
INSERT INTO agent_target $rows ON DUPLICATE KEY UPDATE
    let_go = IF seen_at < $input.seen_at OR seen_at > $ahead { NONE } ELSE { let_go },
    leaf = IF seen_at < $input.seen_at OR seen_at > $ahead {
            IF $input.leaf = NONE AND $input.is_valid = false { leaf } ELSE { $input.leaf }
        } ELSE { leaf },
    is_valid = IF seen_at < $input.seen_at OR seen_at > $ahead { $input.is_valid }
        ELSE { is_valid },
    error = IF seen_at < $input.seen_at OR seen_at > $ahead { $input.error } ELSE { error },
    named_at = IF named_at > $input.named_at AND named_at <= $ahead { named_at }
        ELSE { $input.named_at },
    seen_at = IF seen_at < $input.seen_at OR seen_at > $ahead { $input.seen_at } ELSE { seen_at }
    RETURN NONE;";

const ATTEMPTS: usize = 16;
