//! Agents that were not heard from lately: one node at a time judges what they saw.

use vedette_model::agent::Agent;
use vedette_model::{AccountId, AgentId, Timestamp};

use super::AgentRow;
use crate::error::Result;
use crate::tx::Binds;
use crate::{CLOCKS_DIFFER, Store, key};

/// An agent that was not heard from lately.
#[derive(Clone, Debug, PartialEq)]
pub struct SilentAgent {
    pub agent: Agent,
    /// Up to which moment what it saw has been judged by the calendar; none = it never was.
    pub judged_to: Option<Timestamp>,
}

impl Store {
    /// Takes agents that were last heard from before `heard` and that nobody took after `taken`:
    /// nobody else does for as long. What is not noted as judged is there again at the next time.
    pub async fn take_silent_agents(
        &self,
        heard: Timestamp,
        taken: Timestamp,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<SilentAgent>> {
        let unit = "LET $silent = (SELECT VALUE id FROM agent
                WHERE last_seen_at != NONE AND last_seen_at < $heard
                    AND (silence_taken_at = NONE OR silence_taken_at <= $taken
                        OR silence_taken_at > $ahead)
                LIMIT $limit);
            RETURN (UPDATE $silent SET silence_taken_at = $now RETURN AFTER)";
        let binds = Binds::new()
            .with("heard", heard)
            .with("taken", taken)
            .with("now", now)
            .with("ahead", now + CLOCKS_DIFFER)
            .with("limit", limit);
        let rows: Vec<AgentRow> = self.tx(unit, binds).await?;
        rows.into_iter()
            .map(|row| {
                let judged_to = row.silence_judged_to;
                Ok(SilentAgent { agent: row.into_agent()?, judged_to })
            })
            .collect()
    }

    /// Notes up to which moment what an agent saw has been judged by the calendar.
    pub async fn note_silence_judged(
        &self,
        account: AccountId,
        agent: AgentId,
        to: Timestamp,
    ) -> Result<()> {
        let unit = "UPDATE $agent SET silence_judged_to = $to RETURN NONE";
        let binds = Binds::new().with("agent", key::agent(account, agent)).with("to", to);
        let _turn = self.turn(agent.0).await;
        self.write(unit, binds).await
    }
}
