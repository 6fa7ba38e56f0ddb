//! Numbers for what was committed without one.

use surrealdb::types::{Object, RecordId, SurrealValue, Value};
use vedette_model::{AccountId, Timestamp};

use crate::error::{Error, Result};
use crate::tx::Binds;
use crate::{Store, key};

#[derive(SurrealValue)]
struct NewRow {
    last: Option<u64>,
    rows: Vec<UnnumberedRow>,
}

#[derive(SurrealValue)]
struct UnnumberedRow {
    id: RecordId,
    checked: Option<RecordId>,
    incident: Option<RecordId>,
    doc: String,
}

impl Store {
    /// Numbers what was committed so far and answers the last number; 0 where nobody ever read.
    pub async fn number_events(&self, account: AccountId, now: Timestamp) -> Result<u64> {
        // Readers of this process would else all number the same rows.
        let _turn = self.turn(account.0).await;
        for _ in 0..ATTEMPTS {
            let new: NewRow = self
                .read(
                    "RETURN { last: $feed.last,
                        rows: (SELECT id, checked, incident, doc FROM $new) }",
                    Binds::new()
                        .with("feed", key::event_feed(account))
                        .with("new", key::of_account("event_new", account)),
                )
                .await?;
            let Some(mut last) = new.last else { return Ok(0) };
            let mut outdone = false;
            for rows in new.rows.chunks(AT_ONCE) {
                match self.write_numbers(account, last, rows, now).await {
                    Ok(given) => last = given,
                    Err(Error::Stale) => {
                        outdone = true;
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            if !outdone {
                return Ok(last);
            }
        }
        Err(Error::Conflict)
    }

    async fn write_numbers(
        &self,
        account: AccountId,
        last: u64,
        rows: &[UnnumberedRow],
        now: Timestamp,
    ) -> Result<u64> {
        let mut numbered = Vec::with_capacity(rows.len());
        let mut number = last;
        for row in rows {
            number += 1;
            let mut content = Object::new();
            content.insert("id", key::event(account, number));
            content.insert("number", number);
            content.insert("numbered_at", now);
            if let Some(checked) = &row.checked {
                content.insert("checked", checked.clone());
            }
            if let Some(incident) = &row.incident {
                content.insert("incident", incident.clone());
            }
            content.insert("doc", row.doc.as_str());
            numbered.push(Value::Object(content));
        }
        let taken: Vec<Value> = rows.iter().map(|row| row.id.clone().into_value()).collect();
        let unit = "LET $was = $feed.last;
            IF $was != $expected { THROW 'stale' };
            UPDATE $feed SET last = $last RETURN NONE;
            INSERT INTO event_log $numbered RETURN NONE;
            DELETE $taken RETURN NONE";
        let binds = Binds::new()
            .with("feed", key::event_feed(account))
            .with("expected", last)
            .with("last", number)
            .with("numbered", Value::Array(numbered.into()))
            .with("taken", Value::Array(taken.into()));
        self.write(unit, binds).await?;
        Ok(number)
    }
}

/// Rows of one numbering transaction.
const AT_ONCE: usize = 200;

const ATTEMPTS: usize = 16;
