//! An account: the owner of sites, keys and settings, on one plan of one edition.

use serde::{Deserialize, Serialize};

use crate::{AccountId, Timestamp};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Account {
    pub id: AccountId,
    pub email: String,
    /// As the owner wants to be called; at most 200 characters.
    pub full_name: Option<String>,
    /// `standard` or `team`: the edition whose tables bound the account.
    pub edition: String,
    /// The plan's id within the edition, e.g. `pro`.
    pub plan: String,
    pub created_at: Timestamp,
}
