//! What goes back, and the frame that an answer has around its result.

use std::{fmt::Display, sync::Arc};

use bytes::Bytes;
use serde_json::Value;

use super::subscription::Subscription;
use crate::document::{Completed, Opening};

/// What goes back in a 200, or that nothing does.
pub(crate) enum Reply {
    Accepted,
    Json(Bytes),
    /// JSON too, of which only the end is new.
    Completed(Completed),
    /// Message by message, until one of the two has enough.
    Stream(Box<Subscription>),
}

impl Reply {
    pub(super) fn of(id: &Value, result: &str) -> Self {
        Self::Json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into())
    }

    /// The same where its result was written for many: the id comes last.
    pub(super) fn completed(opening: &Arc<Opening>, id: &Value) -> Self {
        Self::Completed(opening.with(format!(r#","id":{id}}}"#)))
    }
}

/// All of an answer but its id; `result` is JSON.
pub(super) fn opening(result: &impl Display) -> Arc<Opening> {
    Opening::new(format!(r#"{{"jsonrpc":"2.0","result":{result}"#))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_says_the_same_wherever_its_id_stands() {
        let result = json!({ "tools": [{ "name": "\"" }] });
        let kept = opening(&result);
        for id in [json!(0), json!(-1), json!("ü\"\u{1}")] {
            let Reply::Completed(answer) = Reply::completed(&kept, &id) else { panic!("{id}") };
            let Reply::Json(whole) = Reply::of(&id, &result.to_string()) else { panic!("{id}") };
            let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("JSON");
            assert_eq!(read(&answer.plain()), read(&whole));
            assert_eq!(read(&whole)["id"], id);
        }
    }
}
