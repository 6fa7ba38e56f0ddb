//! Agents. A row per agent under its account, and a row per hash of a key that says whose it is:
//! that one is what a request looks up. What an agent looks at stands in `target`.
//!
//! *Invariant:* when an agent was last heard of never goes back, whatever the nodes' clocks say,
//! unless a clock that is set back had told it.
//! *Invariant:* an agent that was deleted reports nothing any more: its key finds nobody, and every
//! report writes its row.

mod silence;
pub(crate) mod target;

pub use self::silence::SilentAgent;

use std::sync::Arc;

use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::agent::{Agent, DEFAULT_INTERVAL, NewAgent, Registration};
use vedette_model::{Account, AccountId, AgentId, Timestamp};

use crate::account::AccountRow;
use crate::error::{Result, gone_is_none};
use crate::tx::Binds;
use crate::{CLOCKS_DIFFER, Store, key};

/// Whose key it is.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundAgent {
    pub id: AgentId,
    pub account: Arc<Account>,
}

#[derive(SurrealValue)]
struct AgentRow {
    id: RecordId,
    name: String,
    created_at: Timestamp,
    last_seen_at: Option<Timestamp>,
    interval_seconds: u32,
    hostname: Option<String>,
    version: Option<String>,
    os: Option<String>,
    silence_judged_to: Option<Timestamp>,
}

/// An account that is gone leaves nothing to read.
#[derive(SurrealValue)]
struct FoundRow {
    agent: RecordId,
    account: Option<AccountRow>,
}

impl Store {
    /// Whose key this is, by its hash, as it stands now. One round trip.
    pub async fn agent_of_key(&self, hash: &str) -> Result<Option<FoundAgent>> {
        let row: Option<FoundRow> = self
            .read(
                "SELECT agent, account.* FROM ONLY $hash",
                Binds::new().with("hash", key::agent_key_hash(hash)),
            )
            .await?;
        let Some(FoundRow { agent, account: Some(account) }) = row else { return Ok(None) };
        Ok(Some(FoundAgent {
            id: key::uuid_at(&agent, 1)?.into(),
            account: Arc::new(account.into_account()?),
        }))
    }

    /// An account's agents, oldest first.
    pub async fn agents(&self, account: AccountId) -> Result<Vec<Agent>> {
        let rows: Vec<AgentRow> = self
            .read("SELECT * FROM $agents", Binds::new().with("agents", key::agents(account)))
            .await?;
        let mut agents: Vec<Agent> =
            rows.into_iter().map(AgentRow::into_agent).collect::<Result<_>>()?;
        agents.sort_by_key(|agent| (agent.created_at, agent.id));
        Ok(agents)
    }

    /// Adds an agent while the account has fewer than `limit`, else `AgentLimit`, and answers its
    /// name: the first of its names that is free, or else the first, which somebody has chosen.
    pub async fn create_agent(&self, agent: &NewAgent, hash: &str, limit: u32) -> Result<String> {
        let _turn = self.turn(agent.account_id.0).await;
        let unit = "LET $taken = (SELECT VALUE name FROM $agents);
            LET $free = $names.filter(|$one| $one NOT IN $taken);
            LET $name = $free[0] ?? $names[0];
            LET $room = (UPDATE $account SET agents += 1 WHERE agents < $limit RETURN AFTER);
            IF array::is_empty($room) {
                IF record::exists($account) { THROW 'agent_limit' } ELSE { THROW 'gone' }
            };
            CREATE $agent SET account = $account_id, name = $name, hash = $hash,
                created_at = $created_at, interval_seconds = $interval, targets = 0 RETURN NONE;
            CREATE $key_hash SET account = $account, agent = $agent RETURN NONE;
            RETURN $name";
        let binds = Binds::new()
            .with("account", key::account(agent.account_id))
            .with("account_id", agent.account_id.0)
            .with("agents", key::agents(agent.account_id))
            .with("agent", key::agent(agent.account_id, agent.id))
            .with("names", agent.names.clone())
            .with("limit", limit)
            .with("hash", hash)
            .with("key_hash", key::agent_key_hash(hash))
            .with("created_at", agent.created_at)
            .with("interval", DEFAULT_INTERVAL);
        self.tx(unit, binds).await
    }

    /// Notes what an agent says of itself, and that it was heard of; false when there is no such
    /// agent any more.
    pub async fn register_agent(
        &self,
        account: AccountId,
        agent: AgentId,
        said: &Registration,
        now: Timestamp,
    ) -> Result<bool> {
        let unit = "RETURN count(UPDATE $agent SET
            last_seen_at = IF last_seen_at > $now AND last_seen_at <= $ahead { last_seen_at }
                ELSE { $now },
            name = $name ?? name,
            hostname = $hostname ?? hostname, version = $version ?? version, os = $os ?? os,
            interval_seconds = $interval ?? interval_seconds RETURN AFTER)";
        let binds = Binds::new()
            .with("agent", key::agent(account, agent))
            .with("now", now)
            .with("ahead", now + CLOCKS_DIFFER)
            .with("name", said.name.clone())
            .with("hostname", said.hostname.clone())
            .with("version", said.version.clone())
            .with("os", said.os.clone())
            .with("interval", said.interval_seconds);
        let changed: i64 = self.tx(unit, binds).await?;
        Ok(changed == 1)
    }

    /// Removes an agent, its key and what it looks at: from here on nothing finds them, and what
    /// they leave behind goes bit by bit ([`Store::purge_next`]). False when the account has no
    /// such agent. A key that is lost is mostly in use: the agent's reports wait, and nothing is
    /// touched here that alerts of others write.
    pub async fn delete_agent(&self, account: AccountId, agent: AgentId) -> Result<bool> {
        let _turns = self.turns([account.0, agent.0]).await;
        let unit = "LET $old = $agent.hash;
            IF $old = NONE { THROW 'gone' };
            LET $targets = (SELECT VALUE id FROM agent_target
                WHERE account = $account_id AND agent = $agent_id);
            LET $sites = $targets.map(|$target| record::id($target)[1]);
            LET $about = (SELECT VALUE id FROM $windows WHERE site IN $sites);
            DELETE $about RETURN NONE;
            FOR $target IN $targets {
                CREATE type::record('purge', record::id($target)) RETURN NONE;
                DELETE $target RETURN NONE;
            };
            DELETE type::record('agent_key_hash', $old) RETURN NONE;
            DELETE $agent RETURN NONE;
            UPDATE $account SET agents -= 1 RETURN NONE";
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("account_id", account.0)
            .with("agent", key::agent(account, agent))
            .with("agent_id", agent.0)
            .with("windows", key::maintenance_windows(account));
        Ok(gone_is_none(self.write(unit, binds).await)?.is_some())
    }
}

impl AgentRow {
    fn into_agent(self) -> Result<Agent> {
        Ok(Agent {
            id: key::uuid_at(&self.id, 1)?.into(),
            account_id: key::uuid_at(&self.id, 0)?.into(),
            name: self.name,
            created_at: self.created_at,
            last_seen_at: self.last_seen_at,
            interval_seconds: self.interval_seconds,
            hostname: self.hostname,
            version: self.version,
            os: self.os,
        })
    }
}

/// What goes with an account: its agents, their keys, and what they look at. For the unit of work
/// that deletes an `$account`.
pub(crate) const RETIRE: &str = "
LET $retired = record::id($account);
LET $retired_agents = (SELECT id, hash FROM agent WHERE account = $retired);
FOR $agent IN $retired_agents {
    DELETE type::record('agent_key_hash', $agent.hash) RETURN NONE;
    DELETE $agent.id RETURN NONE;
};
LET $retired_targets = (SELECT VALUE id FROM agent_target WHERE account = $retired);
FOR $target IN $retired_targets {
    CREATE type::record('purge', record::id($target)) RETURN NONE;
    DELETE $target RETURN NONE;
};";
