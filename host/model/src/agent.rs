//! (being written)

use crate::Edition;

/// What every key of an agent starts with, e.g. `sp_agent_`.
pub fn key_prefix(edition: &Edition) -> String {
    format!("{}agent_", edition.key_prefix)
}
