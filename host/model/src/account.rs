//! An account: the owner of sites, keys and settings, on one plan of one edition.
//!
//! *Invariant:* a name holds no control characters, so that it can stand in a mail and a terminal.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parse::{self, Body};
use crate::{AccountId, Invalid, Patch, Timestamp};

/// A stored account.
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

/// An account as its owner sees it (spec: Variant B, `GET /account`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile<'a> {
    pub id: AccountId,
    pub email: &'a str,
    pub full_name: Option<&'a str>,
    pub plan: &'a str,
    pub created_at: Timestamp,
}

impl Account {
    pub fn profile(&self) -> Profile<'_> {
        Profile {
            id: self.id,
            email: &self.email,
            full_name: self.full_name.as_deref(),
            plan: &self.plan,
            created_at: self.created_at,
        }
    }

    /// Whether it was made within the last five minutes (spec: `POST /auth/welcome`). The clocks of
    /// two nodes may differ: one that is yet to be made is new.
    pub fn is_new(&self, now: Timestamp) -> bool {
        now - self.created_at < NEW
    }
}

/// The body of `PATCH /account`: `full_name`, null clears it. A name of only blanks counts as none.
pub fn parse_full_name(body: &Value) -> Result<Patch<String>, Invalid> {
    let name = Body::of(body)?.patch("full_name", |field, value| {
        parse::line(field, value, LONGEST_NAME).map(str::trim)
    })?;
    Ok(match name {
        Patch::Set("") => Patch::Clear,
        name => name.map(str::to_owned),
    })
}

/// Since when the free accounts that an address made count against it.
pub fn counted_since(now: Timestamp) -> Timestamp {
    now - COUNTED
}

const NEW: TimeDelta = TimeDelta::minutes(5);
const COUNTED: TimeDelta = TimeDelta::days(30);
/// Spec: Field and pagination bounds.
const LONGEST_NAME: usize = 200;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_790_000_000 + seconds, 0).expect("within the years")
    }

    fn account() -> Account {
        Account {
            id: Uuid::from_u128(8).into(),
            email: "owner@example.com".into(),
            full_name: Some("Ada".into()),
            edition: "team".into(),
            plan: "pro".into(),
            created_at: at(0),
        }
    }

    #[test]
    fn a_profile_has_the_documented_fields_and_no_others() {
        let expected = json!({
            "id": "00000000-0000-0000-0000-000000000008", "email": "owner@example.com",
            "full_name": "Ada", "plan": "pro", "created_at": at(0),
        });
        assert_eq!(json!(account().profile()), expected);
        let nameless = Account { full_name: None, ..account() };
        assert_eq!(json!(nameless.profile())["full_name"], Value::Null);
    }

    #[test]
    fn a_name_is_kept_cleared_or_set() {
        let longest = "ü".repeat(200);
        for (body, expected) in [
            (json!({}), Patch::Keep),
            (json!({ "email": "other@example.com" }), Patch::Keep),
            (json!({ "full_name": null }), Patch::Clear),
            (json!({ "full_name": "" }), Patch::Clear),
            (json!({ "full_name": "  " }), Patch::Clear),
            (json!({ "full_name": " Ada Lovelace " }), Patch::Set("Ada Lovelace".to_owned())),
            (json!({ "full_name": longest }), Patch::Set(longest)),
        ] {
            assert_eq!(parse_full_name(&body), Ok(expected), "{body}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused_by_its_field() {
        for name in [
            json!("x".repeat(201)),
            json!("Ada\nLovelace"),
            json!("Ada\u{0}"),
            json!("Ada\u{2028}"),
            json!(7),
            json!(true),
            json!(["Ada"]),
            json!({}),
        ] {
            let refused = parse_full_name(&json!({ "full_name": name })).unwrap_err();
            assert_eq!(refused.field, "full_name", "{name}");
        }
        assert!(parse_full_name(&json!([])).is_err());
    }

    #[test]
    fn an_account_is_new_for_five_minutes() {
        for (age, new) in [(-2, true), (0, true), (299, true), (300, false), (86_400, false)] {
            assert_eq!(account().is_new(at(age)), new, "{age}");
        }
    }

    #[test]
    fn an_address_answers_for_thirty_days() {
        assert_eq!(counted_since(at(0)), at(-30 * 86_400));
    }
}
