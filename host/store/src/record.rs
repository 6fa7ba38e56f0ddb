//! A check record as its row holds it. A long result equal to an earlier one of the same check and
//! UTC day is stored once, and later rows point to it: a certificate list of a hundred kilobytes,
//! fetched every hour, is nearly always the one of the hour before.
//!
//! *Invariant:* a record points to one of the same day that is at least a millisecond older. The
//! history of a day is removed from its newest record backwards, so the older one is there for as
//! long as it is needed.
//! *Invariant:* the state of a check also holds its latest record in full, and that record's row is
//! made complete before the one it points to is removed.

use aws_lc_rs::digest::{SHA256, digest};
use serde_json::Value;
use surrealdb::types::SurrealValue;
use vedette_model::CheckRecord;

use crate::error::Result;
use crate::row;
use crate::unit::Unit;

/// A record's row, and the text of the row that has its result.
#[derive(SurrealValue)]
pub(crate) struct RecordRow {
    pub(crate) rev: i64,
    doc: String,
    result_doc: Option<String>,
}

impl RecordRow {
    pub(crate) fn into_record(self) -> Result<CheckRecord> {
        read(&self.doc, self.result_doc.as_deref())
    }
}

/// `result_doc` is the text of the record that has the result, where this one has none.
pub(crate) fn read(doc: &str, result_doc: Option<&str>) -> Result<CheckRecord> {
    let mut record: CheckRecord = row::read("check", doc)?;
    if let Some(doc) = result_doc {
        record.result = row::read::<CheckRecord>("check", doc)?.result;
    }
    Ok(record)
}

impl Unit {
    /// Creates the row of a record; `doc` is its text.
    pub(crate) fn record(&mut self, record: &CheckRecord, doc: &str) -> Result<()> {
        if doc.len() < LONG {
            self.text.push_str(WHOLE);
            return Ok(());
        }
        let result = row::write("result", &record.result)?;
        let brief = CheckRecord { result: Value::Null, ..record.clone() };
        self.text.push_str(LEANING);
        self.binds.bind("digest", hex::encode(digest(&SHA256, result.as_bytes())));
        self.binds.bind("brief_doc", row::write("check", &brief)?);
        Ok(())
    }
}

/// Bytes of a record's text from which a second row costs less than the same text again.
const LONG: usize = 4 << 10;

/// Both beside what [`crate::commit`] says and binds.
const WHOLE: &str = "
CREATE $check SET site = $site_id, check_type = $check_type, rev = $rev, doc = $check_doc RETURN NONE;";

/// A record that is not there has no `rev`. The negated milliseconds of a day end where those of the
/// day before it begin.
const LEANING: &str = "
LET $last = $state.result_in;
LET $last_rev = $last.rev;
LET $result_in = IF $state.result_digest = $digest AND $last_rev > $rev AND $last_rev < $day_end
    { $last } ELSE { NONE };
CREATE $check SET site = $site_id, check_type = $check_type, rev = $rev, result_in = $result_in,
    doc = IF $result_in = NONE { $check_doc } ELSE { $brief_doc } RETURN NONE;
UPDATE $state SET result_digest = $digest, result_in = $result_in ?? $check RETURN NONE;";
