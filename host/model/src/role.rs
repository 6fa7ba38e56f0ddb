//! Roles: what somebody may do with an account's data (decisions: roles).
//!
//! *Invariant:* roles are in one order: each may do all that the lower ones may.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Invalid, parse};

/// From the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Also changes sites, checks, alerts, incidents and maintenance windows.
    Editor,
    /// Also changes everything else but the account itself and what is paid for it.
    Admin,
    /// Whose account it is. Nobody is invited to be that.
    Owner,
}

impl Role {
    /// The roles that a member of a team may have, the default of an invitation first.
    pub const OF_MEMBERS: [Self; 3] = [Self::Viewer, Self::Editor, Self::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }

    /// A role as it is stored; none for a word that is no role.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Viewer, Self::Editor, Self::Admin, Self::Owner]
            .into_iter()
            .find(|role| role.as_str() == name)
    }

    /// Reads a role that a member may have.
    pub fn parse(field: &'static str, value: &Value) -> Result<Self, Invalid> {
        let name = parse::text(field, value)?;
        let found = Self::OF_MEMBERS.into_iter().find(|role| role.as_str() == name);
        found.ok_or_else(|| Invalid::new(field, "must be one of admin, editor, viewer"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn more_is_more() {
        assert!(Role::Viewer < Role::Editor);
        assert!(Role::Editor < Role::Admin);
        assert!(Role::Admin < Role::Owner);
    }

    #[test]
    fn nobody_is_made_an_owner() {
        for role in Role::OF_MEMBERS {
            assert_eq!(Role::parse("role", &json!(role.as_str())), Ok(role));
            assert_eq!(Role::by_name(role.as_str()), Some(role));
        }
        for bad in [json!("owner"), json!("Admin"), json!(""), json!(1), json!(null)] {
            assert!(Role::parse("role", &bad).is_err(), "{bad}");
        }
        assert_eq!(Role::by_name("owner"), Some(Role::Owner));
        assert_eq!(Role::by_name("root"), None);
    }
}
