//! Agents: made, known again by their keys, and what they report.
//!
//! report → read as a whole → told apart by what is known of the places → noted, place by place,
//! where there is room → each result into the pipeline, oldest first → certificates that are gone are
//! forgotten, and so are places that no report names any more
//!
//! silence → once an hour, what the calendar alone says of what was seen → the pipeline, too
//!
//! *Invariant:* an agent's key exists only in the answer that made it; what is stored is its
//! SHA-256.
//! *Invariant:* a report may be sent again, wherever it was interrupted: what was taken in already
//! counts only once.
//! *Invariant:* a place that is known is judged, whatever else an agent reports.

use std::{collections::BTreeSet, fmt, time::Duration};

use chrono::TimeDelta;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vedette_model::{
    AgentId, Edition, Plan, SiteId, Source, Timestamp,
    agent::{
        AgentStatus, LET_GO_AFTER, Look, MOST_PLACES, NewAgent, Registration, Report, Sighting,
        check_type, key_prefix, latest, listed, unnamed,
    },
    api_key::{mint, well_formed},
};
use vedette_store::{Error as StoreError, SilentAgent};

use super::{
    api_key::hash,
    check::judged,
    doubt::is_clock_doubted,
    pipeline::{self, Arrival, Seen},
    plan, random,
};
use crate::{Agent, App, Caller, Error, Resource, Result};

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
        Err(StoreError::Gone) => Err(Error::NotFound(Resource::Account)),
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

/// The certificates that the caller's agents saw, as they are shown, soonest expiry first.
pub async fn certs(app: &App, caller: &Caller) -> Result<Vec<Value>> {
    let sightings = app.store.sightings(caller.account.id).await?;
    Ok(listed(&sightings, app.clock.now()).iter().map(|view| json!(view)).collect())
}

/// Whose key this is.
///
/// # Errors
/// `Unauthenticated` for anything but the key of an existing agent of this edition.
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

/// Notes what an agent says about itself. It may do so as often as it likes.
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
/// `Invalid` for a report that does not fit, of which nothing is taken in; `NotFound` when
/// it names another agent; `Forbidden` when the agent would look at more places than it may: then
/// the results of all other places are taken in.
pub async fn report(app: &App, agent: &Agent, body: &Value) -> Result<Reported> {
    let report = Report::parse(body)?;
    if report.agent_id != agent.id {
        return Err(UNKNOWN);
    }
    let now = app.clock.now();
    let certs_processed = report.certificates();
    let known = app.store.sightings_at(agent.account.id, agent.id, &report.hosts()).await?;
    let looks = report.oldest_first(now, known);
    let (gone, seen): (Vec<_>, Vec<_>) = looks.iter().partition(|(_, look)| look.is_gone());
    let mut left_out = note(app, agent, &seen, now).await?;
    if !left_out.is_empty() && make_room(app, agent, &looks, &left_out, now).await? {
        left_out = note(app, agent, &seen, now).await?;
    }
    let mut alerts_created = 0;
    for (at, look) in &looks {
        if !left_out.contains(&look.place.id(agent.account.id, agent.id)) {
            alerts_created += judge(app, agent, look, *at).await?;
        }
    }
    if !gone.is_empty() {
        // Only after their alerts have ended: the next report would not know of them.
        note(app, agent, &gone, now).await?;
    }
    forget_unnamed(app, agent, &looks, now).await?;
    if !left_out.is_empty() {
        return Err(no_room(left_out.len()));
    }
    Ok(Reported { status: "ok", certs_processed, alerts_created })
}

/// Answers the new places for which there is no room.
async fn note(
    app: &App,
    agent: &Agent,
    looks: &[&(Timestamp, Look)],
    now: Timestamp,
) -> Result<BTreeSet<SiteId>> {
    let account = agent.account.id;
    let seen = looks.iter().map(|(at, look)| Sighting::of(look, *at, account, agent.id, now));
    let seen = latest(seen);
    match app.store.note_report(account, agent.id, &seen, MOST_PLACES, now).await {
        Ok(left_out) => Ok(left_out),
        // Deleted in this moment.
        Err(StoreError::Gone) => Err(invalid_key()),
        Err(cause) => Err(cause.into()),
    }
}

/// Removes as many places as were left out, if no report had named them for long when the agent
/// looked at the new ones. Answers whether there were any.
async fn make_room(
    app: &App,
    agent: &Agent,
    looks: &[(Timestamp, Look)],
    left_out: &BTreeSet<SiteId>,
    now: Timestamp,
) -> Result<bool> {
    let Some((at, _)) = looks.last() else { return Ok(false) };
    let (account, before) = (agent.account.id, *at - LET_GO_AFTER);
    // What was seen as long ago as what would go was named makes none go.
    let recent = looks.iter().filter(|(at, _)| *at >= now - LET_GO_AFTER);
    let recent: BTreeSet<_> = recent.map(|(_, look)| look.place.id(account, agent.id)).collect();
    let wanted = recent.intersection(left_out).count();
    if wanted == 0 {
        return Ok(false);
    }
    Ok(let_go(app, agent, looks, before, wanted).await? > 0)
}

/// Removes what no report has named for long though there were some all the while; looked for once
/// an hour. Of an agent that was silent nobody knows what it looks at until it has reported as long:
/// its places may come in several reports.
async fn forget_unnamed(
    app: &App,
    agent: &Agent,
    looks: &[(Timestamp, Look)],
    now: Timestamp,
) -> Result<()> {
    let (account, before) = (agent.account.id, now - LET_GO_AFTER);
    let last = now - LOOK_FOR_UNNAMED;
    if app.store.looks_for_unnamed(account, agent.id, before, last, now).await? {
        let_go(app, agent, looks, before, MOST_PLACES).await?;
    }
    Ok(())
}

/// Removes at most so many places that these looks do not name, nor did any report since `before`,
/// those of the longest ago first. Answers how many went. What was wrong with them is over.
async fn let_go(
    app: &App,
    agent: &Agent,
    looks: &[(Timestamp, Look)],
    before: Timestamp,
    most: usize,
) -> Result<u64> {
    let account = agent.account.id;
    let sightings = app.store.sightings_of(account, agent.id).await?;
    let mut going = unnamed(sightings, looks.iter().map(|(_, look)| &look.place), before);
    // Asked before anything is judged, so reports that come at once may exceed it a little.
    let behind = app.store.count_let_go(account, agent.id).await?;
    let behind = usize::try_from(behind).unwrap_or(MOST_PLACES);
    going.truncate(most.min(MOST_PLACES.saturating_sub(behind)));
    if going.is_empty() {
        return Ok(0);
    }
    for one in &going {
        // Right behind its last look: every look that brings it back is judged.
        let over = one.at + Duration::from_millis(1);
        judge(app, agent, &Look::gone(one.place.clone()), over).await?;
    }
    let places: Vec<_> = going.iter().map(|one| one.id).collect();
    let gone = app.store.let_go(account, agent.id, &places, before).await?;
    let agent_id = agent.id;
    tracing::info!(
        %agent_id, gone, "agent {agent_id} no longer reports {gone} places; they were removed"
    );
    Ok(gone)
}

/// Judges what agents saw that are silent now, where the calendar alone says something else of it:
/// nobody else would tell that it has expired meanwhile. Of many nodes one does that, once an hour.
pub(crate) async fn judge_silent(app: &App, shutdown: &CancellationToken) -> Result<()> {
    loop {
        let now = app.clock.now();
        if shutdown.is_cancelled() || is_clock_doubted(app, now) {
            return Ok(());
        }
        let (heard, taken) = (now - SHORTEST_SILENCE, now - JUDGE_SILENT);
        let silent = app.store.take_silent_agents(heard, taken, now, AT_ONCE).await?;
        if silent.is_empty() {
            return Ok(());
        }
        for one in silent.iter().filter(|one| one.agent.status(now) == AgentStatus::Offline) {
            if let Err(cause) = judge_turned(app, one, now).await {
                // It is not noted, and comes again.
                let (agent_id, error) = (one.agent.id, format!("{cause:#?}"));
                tracing::error!(
                    error, %agent_id, "what agent {agent_id} saw was not judged: {cause}"
                );
            }
        }
    }
}

/// What has not turned is judged no more often: that would fill the history of an agent that never
/// comes back.
async fn judge_turned(app: &App, silent: &SilentAgent, now: Timestamp) -> Result<()> {
    let SilentAgent { agent, judged_to } = silent;
    let (account, id) = (agent.account_id, agent.id);
    let sightings = app.store.sightings_of(account, id).await?;
    let turned: Vec<_> = sightings.iter().filter(|one| one.has_turned(*judged_to, now)).collect();
    if turned.is_empty() {
        return Ok(());
    }
    let Some(owner) = app.store.account(account).await? else { return Ok(()) };
    // An account whose plan has no agents any more is not shown what they saw.
    if plan::of(&owner)?.agents == 0 {
        return Ok(());
    }
    let agent = Agent { id, edition: plan::edition_of(&owner)?, account: owner.into() };
    for one in turned {
        judge(app, &agent, &Look::silent(one.place.clone()), now).await?;
    }
    app.store.note_silence_judged(account, id, now).await?;
    Ok(())
}

/// Answers how many alerts it raised. What could not be judged is our fault: then the agent is
/// told, and sends it again.
async fn judge(app: &App, agent: &Agent, look: &Look, at: Timestamp) -> Result<usize> {
    let account = agent.account.id;
    let arrival = Arrival {
        account_id: account,
        site_id: look.place.id(account, agent.id),
        check_type: check_type(),
        seen: Seen::Result {
            result: look.result(at),
            next_run_in_s: None,
            version: None,
            stood_still: Duration::ZERO,
        },
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

fn used_up(edition: &Edition, plan: &Plan) -> Error {
    plan::used_up(edition, plan, "agent", |plan| plan.agents)
}

/// `vedette agent` recognises this by the words about the rest, and does not send such a report
/// again.
pub(crate) fn no_room(left_out: usize) -> Error {
    let days = LET_GO_AFTER.num_days();
    Error::forbidden(format!(
        "an agent looks at {MOST_PLACES} places (host and port) at most, with those of the last {days} \
         days, and leaves {MOST_PLACES} behind: new ones of this report were left out ({left_out}), \
         and all else was taken in; make another agent for them, or have this one look at fewer"
    ))
}

const UNKNOWN: Error = Error::NotFound(Resource::Agent);
const LOOK_FOR_UNNAMED: TimeDelta = TimeDelta::hours(1);
/// How often what silent agents saw is judged.
const JUDGE_SILENT: TimeDelta = TimeDelta::hours(1);
/// No agent is offline before.
const SHORTEST_SILENCE: TimeDelta = TimeDelta::minutes(3);
/// Agents that are taken together.
const AT_ONCE: usize = 100;

#[cfg(test)]
mod tests;
