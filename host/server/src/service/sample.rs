//! What tests store as the result of a run.

use serde_json::Value;
use uuid::Uuid;
use vedette_model::{CheckId, CheckRecord, CheckStatus, SiteId, Source, Timestamp};

/// A planned run that brought nothing.
pub(crate) fn record() -> CheckRecord {
    CheckRecord {
        id: CheckId(Uuid::nil()),
        site_id: SiteId(Uuid::nil()),
        check_type: "ssl".parse().expect("a check's name"),
        checked_at: Timestamp::UNIX_EPOCH,
        status: CheckStatus::Unknown,
        result: Value::Null,
        error: None,
        duration_ms: 0,
        source: Source::Scheduler,
        location: "default".to_owned(),
    }
}
