//! The checks that a change takes off its site. Nobody looks any more, so no run would ever end what
//! they have raised: what resolves by itself is resolved in the transaction of the change. No notice
//! goes out, since nobody knows that all is well; changes wait for their owner as before.
//!
//! What was counted and told is forgotten, what was seen is not: a check that is put back raises what
//! still holds, and compares with what it saw last.

use surrealdb::types::SurrealValue;
use vedette_model::event::AlertChange;
use vedette_model::{AccountId, Alert, CheckType, SiteId, Timestamp};

use crate::check::{self, OPEN};
use crate::error::Result;
use crate::tx::Binds;
use crate::unit::Unit;
use crate::{Store, event, key, row};

/// A check as it stands when it is taken off.
#[derive(SurrealValue)]
struct DroppedRow {
    version: Option<u64>,
    memory: Option<String>,
    open: Vec<String>,
}

impl Store {
    /// Adds to a unit of work what ends with these checks, and answers the alerts that it resolves.
    /// It compares the states of the checks, so it goes before what else writes them.
    pub(super) async fn drop_checks(
        &self,
        unit: &mut Unit,
        site: SiteId,
        dropped: &[(CheckType, Timestamp)],
    ) -> Result<Vec<Alert>> {
        let mut resolved = Vec::new();
        for (check_type, now) in dropped {
            let found = self.dropped_row(site, check_type).await?;
            unit.forget_told(site, check_type, &found)?;
            let open: Vec<Alert> = row::read_all("alert", &found.open)?;
            for mut alert in open.into_iter().filter(|alert| alert.self_resolving) {
                alert.set_resolved(true, *now);
                unit.change(&alert)?;
                resolved.push(alert);
            }
        }
        Ok(resolved)
    }

    async fn dropped_row(&self, site: SiteId, check_type: &CheckType) -> Result<DroppedRow> {
        let statement =
            format!("RETURN {{ version: $state.version, memory: $memory.doc, open: ({OPEN}) }}");
        let binds = Binds::new()
            .with("site_id", site.0)
            .with("check_type", check_type.as_str())
            .with("state", key::check_state(site, check_type))
            .with("memory", key::check_memory(site, check_type));
        self.read(&statement, binds).await
    }
}

impl Unit {
    /// A run that is being judged meanwhile is judged anew: from what is remembered then.
    fn forget_told(
        &mut self,
        site: SiteId,
        check_type: &CheckType,
        found: &DroppedRow,
    ) -> Result<()> {
        self.say(
            "LET $seen# = $state#.version;
            IF $seen# != $version# { THROW 'stale' };
            UPDATE $state# SET version += 1 RETURN NONE;",
            [
                ("state", key::check_state(site, check_type).into_value()),
                ("version", found.version.into_value()),
            ],
        );
        let Some(memory) = &found.memory else { return Ok(()) };
        self.say(
            "UPDATE $memory# SET doc = $memory_doc# RETURN NONE;",
            [
                ("memory", key::check_memory(site, check_type).into_value()),
                ("memory_doc", check::untold(memory)?.into_value()),
            ],
        );
        Ok(())
    }

    /// For the readers of event streams.
    pub(super) fn note_resolved(&mut self, account: AccountId, resolved: &[Alert]) -> Result<()> {
        if resolved.is_empty() {
            return Ok(());
        }
        self.text.push_str(event::NOTE);
        event::of_alerts(&mut self.binds, account, AlertChange::Resolved, resolved)
    }
}
