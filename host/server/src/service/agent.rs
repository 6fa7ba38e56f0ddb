//! Agents: made, known again by their keys, and what they report.
//!
//! report → read as a whole → told apart by what is known of the places → noted, place by place →
//! each result into the pipeline, oldest first → certificates that are gone are forgotten
//! Where there is no room for its new places it is refused, after what is known of it has gone this
//! way: else nobody would hear what becomes of those.
//!
//! *Invariant:* an agent's key exists only in the answer that made it; what is stored is its
//! SHA-256.
//! *Invariant:* a report may come again, wherever it was broken off: what was taken in already
//! counts once.

use std::{collections::BTreeSet, fmt, time::Duration};

use serde::Serialize;
use serde_json::{Value, json};
use vedette_model::{
    AgentId, Edition, Plan, SiteId, Source, Timestamp,
    agent::{
        Look, MOST_PLACES, NewAgent, Registration, Report, Sighting, check_type, key_prefix,
        latest, listed,
    },
    api_key::{mint, well_formed},
};
use vedette_store::Error as StoreError;

use super::{
    api_key::hash,
    check::judged,
    pipeline::{self, Arrival, Seen},
    plan, random,
};
use crate::{Agent, App, Caller, Error, Result};

/// An agent with its key: the answer of the call that made it, and of nothing else.
#[derive(Clone, Serialize)]
pub struct CreatedAgent {
    pub agent_id: AgentId,
    pub agent_key: String,
    pub agent_name: String,
}

/// The answer of a registration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Registered {
    pub agent_id: AgentId,
    pub status: &'static str,
}

/// The answer of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reported {
    pub status: &'static str,
    /// Certificates that the report tells of, also where something later was known already.
    pub certs_processed: usize,
    /// Alerts that it raised.
    pub alerts_created: usize,
}

/// The caller's agents, oldest first, as they are shown.
pub async fn list(app: &App, caller: &Caller) -> Result<Vec<Value>> {
    let agents = app.store.agents(caller.account.id).await?;
    let now = app.clock.now();
    Ok(agents.iter().map(|agent| json!(agent.view(now))).collect())
}

/// Makes an agent with its key.
///
/// # Errors
/// `Forbidden` when the plan's agents are used up.
pub async fn create(app: &App, caller: &Caller, body: &Value) -> Result<CreatedAgent> {
    let plan = plan::of(&caller.account)?;
    let (account, now) = (caller.account.id, app.clock.now());
    let new = NewAgent::parse(body, random::id(), account, plan.agents, now)?;
    let key = mint(&key_prefix(caller.edition), random::bytes());
    match app.store.create_agent(&new, &hash(&key), plan.agents).await {
        Ok(agent_name) => Ok(CreatedAgent { agent_id: new.id, agent_key: key, agent_name }),
        Err(StoreError::AgentLimit) => Err(used_up(caller.edition, plan)),
        Err(StoreError::Gone) => Err(Error::NotFound("account")),
        Err(cause) => Err(cause.into()),
    }
}

/// Removes an agent, its key and all that it looked at: at once for everybody who asks, the rows
/// soon after.
pub async fn delete(app: &App, caller: &Caller, id: AgentId) -> Result<()> {
    if !app.store.delete_agent(caller.account.id, id).await? {
        return Err(UNKNOWN);
    }
    app.wake.purge.notify_one();
    Ok(())
}

/// The certificates that the caller's agents saw, as they are shown; those that expire first in
/// front.
pub async fn certs(app: &App, caller: &Caller) -> Result<Vec<Value>> {
    let sightings = app.store.sightings(caller.account.id).await?;
    Ok(listed(&sightings, app.clock.now()).iter().map(|view| json!(view)).collect())
}

/// Whose key this is.
///
/// # Errors
/// `Unauthenticated` for everything that is no living agent's key of this edition.
pub async fn authenticate(app: &App, edition: &'static Edition, key: &str) -> Result<Agent> {
    if !well_formed(key, &key_prefix(edition)) {
        return Err(invalid_key());
    }
    let found = app.store.agent_of_key(&hash(key)).await?.ok_or_else(invalid_key)?;
    if found.account.edition != edition.id {
        return Err(invalid_key());
    }
    Ok(Agent { id: found.id, account: found.account, edition })
}

/// Notes what an agent says of itself. It may say so again and again.
pub async fn register(app: &App, agent: &Agent, body: &Value) -> Result<Registered> {
    let said = Registration::parse(body)?;
    let now = app.clock.now();
    if !app.store.register_agent(agent.account.id, agent.id, &said, now).await? {
        // Deleted in this moment.
        return Err(invalid_key());
    }
    Ok(Registered { agent_id: agent.id, status: "registered" })
}

/// Takes in what an agent saw, and judges each look like a result of ours.
///
/// # Errors
/// `Invalid` for a report that does not fit, of which nothing is taken in; `NotFound` when it names
/// another agent; `Forbidden` when the agent would look at more places than it may: then only what
/// it saw at places that are known is taken in.
pub async fn report(app: &App, agent: &Agent, body: &Value) -> Result<Reported> {
    let report = Report::parse(body)?;
    if report.agent_id != agent.id {
        return Err(UNKNOWN);
    }
    let now = app.clock.now();
    let certs_processed = report.certificates();
    let known = app.store.sightings_at(agent.account.id, agent.id, &report.hosts()).await?;
    let mut looks = report.oldest_first(now, known);
    if let Some(alerts_created) = take_in(app, agent, &looks, now).await? {
        return Ok(Reported { status: "ok", certs_processed, alerts_created });
    }
    let places = known_places(app, agent, &looks).await?;
    looks.retain(|(_, look)| places.contains(&look.place.id(agent.account.id, agent.id)));
    take_in(app, agent, &looks, now).await?;
    Err(no_room())
}

/// Notes looks and judges them; answers how many alerts that raised. None, and nothing is taken in,
/// when the agent would look at more places than it may.
async fn take_in(
    app: &App,
    agent: &Agent,
    looks: &[(Timestamp, Look)],
    now: Timestamp,
) -> Result<Option<usize>> {
    let (gone, seen): (Vec<_>, Vec<_>) = looks.iter().partition(|(_, look)| look.is_gone());
    if !note(app, agent, &seen, now).await? {
        return Ok(None);
    }
    let mut alerts_created = 0;
    for (at, look) in looks {
        alerts_created += judge(app, agent, look, *at).await?;
    }
    if !gone.is_empty() {
        // Not before their alerts have ended: the next report would not know of them.
        note(app, agent, &gone, now).await?;
    }
    Ok(Some(alerts_created))
}

/// False, and nothing is noted, when the agent would look at more places than it may.
async fn note(
    app: &App,
    agent: &Agent,
    looks: &[&(Timestamp, Look)],
    now: Timestamp,
) -> Result<bool> {
    let account = agent.account.id;
    let seen = looks.iter().map(|(at, look)| Sighting::of(look, *at, account, agent.id));
    let seen = latest(seen);
    match app.store.note_report(account, agent.id, &seen, MOST_PLACES, now).await {
        Ok(()) => Ok(true),
        // Deleted in this moment.
        Err(StoreError::Gone) => Err(invalid_key()),
        Err(StoreError::TargetLimit) => Ok(false),
        Err(cause) => Err(cause.into()),
    }
}

/// What is known at the hosts of these looks, also where they saw no certificate.
async fn known_places(
    app: &App,
    agent: &Agent,
    looks: &[(Timestamp, Look)],
) -> Result<BTreeSet<SiteId>> {
    let hosts: BTreeSet<&str> = looks.iter().map(|(_, look)| look.place.host.as_str()).collect();
    let hosts: Vec<&str> = hosts.into_iter().collect();
    let known = app.store.sightings_at(agent.account.id, agent.id, &hosts).await?;
    Ok(known.into_iter().map(|seen| seen.id).collect())
}

/// Answers how many alerts it raised. What could not be judged is our trouble: then the agent hears
/// of it, and brings it again.
async fn judge(app: &App, agent: &Agent, look: &Look, at: Timestamp) -> Result<usize> {
    let account = agent.account.id;
    let arrival = Arrival {
        account_id: account,
        site_id: look.place.id(account, agent.id),
        check_type: check_type(),
        seen: Seen::Result { result: look.result(at), next_run_in_s: None, version: None },
        checked_at: at,
        duration: Duration::ZERO,
        source: Source::Agent,
        lease: None,
        looked_at: None,
    };
    let Some(stored) = pipeline::submit(app, arrival).await? else { return Ok(0) };
    judged(&stored)?;
    Ok(stored.raised)
}

/// Only what may be shown: the key is not printed, wherever this ends up.
impl fmt::Debug for CreatedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedAgent").field("agent_id", &self.agent_id).finish_non_exhaustive()
    }
}

fn invalid_key() -> Error {
    Error::Unauthenticated("the agent's key is not valid; make one with POST /agent/key".into())
}

/// `vedette agent` knows it by how it begins, and does not bring such a report again.
pub(crate) fn no_room() -> Error {
    Error::forbidden(format!(
        "an agent looks at {MOST_PLACES} places (host and port) at most, with those that it looked \
         at before: what is new of this report was not taken; make another agent for that"
    ))
}

fn used_up(edition: &Edition, plan: &Plan) -> Error {
    plan::used_up(edition, plan, "agent", |plan| plan.agents)
}

const UNKNOWN: Error = Error::NotFound("agent");

#[cfg(test)]
mod tests {
    use vedette_model::edition::TEAM;

    use super::*;

    #[test]
    fn key_is_not_printed() {
        let created = CreatedAgent {
            agent_id: AgentId(uuid::Uuid::from_u128(1)),
            agent_key: "sp_agent_secret".to_owned(),
            agent_name: "dc1".to_owned(),
        };
        assert!(!format!("{created:?}").contains("secret"));
    }

    #[test]
    fn whoever_has_too_many_or_none_is_told_what_to_do() {
        let said = used_up(&TEAM, TEAM.highest_plan()).to_string();
        assert_eq!(said, "the team plan has 10 agents, and all are in use; delete one first");
    }
}
