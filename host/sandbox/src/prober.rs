//! Who answers a plugin's probes: the network through the egress layer, or a recording of an
//! earlier run.
//!
//! A recording is the `[[probe]]` part of a case file:
//! ```toml
//! [[probe]]
//! call = "tcp.exchange"
//! request = { endpoint = { host = "example.com", port = 25 }, send = "", max = 512, timeout_ms = 0 }
//! response = { Ok = "220 mail.example.com ESMTP\r\n" }
//! ```
//! Requests and answers have the shape of the contract's records, with `_` for `-`; what is absent
//! is none. Bytes are text, or `hex:…` where they are no UTF-8.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::egress::Egress;

/// Who answers.
#[derive(Clone)]
pub(crate) enum Prober {
    Live(Egress),
    Recorded(Arc<Recording>),
}

/// Recorded probes. A request that was recorded more than once is answered in the order of the
/// recording, and then always as the last time.
#[derive(Debug, Default)]
pub struct Recording {
    probes: Vec<Probe>,
    /// How often each entry was used.
    used: Mutex<Vec<usize>>,
}

/// One probe of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Interface and function, e.g. `tls.inspect`.
    pub call: String,
    pub request: Value,
    pub response: Value,
}

/// A recording that does not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    #[error("the case has no recorded answer to {call} {request}")]
    Unrecorded { call: &'static str, request: Value },
    #[error("the recorded answer to {call} cannot be read: {reason}")]
    Unreadable { call: &'static str, reason: String },
}

impl Recording {
    pub fn new(probes: Vec<Probe>) -> Self {
        let used = Mutex::new(vec![0; probes.len()]);
        let probes = probes
            .into_iter()
            .map(|probe| Probe {
                request: normal(bytes_in(&probe.call, probe.request)),
                response: bytes_in(&probe.call, probe.response),
                call: probe.call,
            })
            .collect();
        Self { probes, used }
    }

    /// Entries that no call has asked for.
    pub fn unused(&self) -> Vec<&Probe> {
        let used = self.used.lock();
        self.probes.iter().zip(used.iter()).filter(|(_, n)| **n == 0).map(|(p, _)| p).collect()
    }

    pub(crate) fn answer<Q: Serialize, A: DeserializeOwned>(
        &self,
        call: &'static str,
        request: &Q,
    ) -> Result<A, Unanswered> {
        let unreadable =
            |error: serde_json::Error| Unanswered::Unreadable { call, reason: error.to_string() };
        let request = normal(serde_json::to_value(request).map_err(unreadable)?);
        let response = self.find(call, &request).ok_or(Unanswered::Unrecorded { call, request })?;
        A::deserialize(response).map_err(unreadable)
    }

    fn find(&self, call: &str, request: &Value) -> Option<&Value> {
        let mut used = self.used.lock();
        let fits = |probe: &Probe| probe.call == call && probe.request == *request;
        let entries = || self.probes.iter().enumerate().filter(|(_, probe)| fits(probe));
        let fresh = entries().find(|(at, _)| used[*at] == 0);
        let (at, probe) = fresh.or_else(|| entries().next_back())?;
        used[at] += 1;
        Some(&probe.response)
    }
}

/// Without what is none, empty or 0, so that a case file need not spell out every field, and
/// without timeouts: they follow from the clock.
fn normal(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| name != "timeout_ms");
            let kept = kept.map(|(name, value)| (name, normal(value)));
            Value::Object(kept.filter(|(_, value)| !is_default(value)).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(normal).collect()),
        scalar => scalar,
    }
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(_) | Value::Bool(true) | Value::Object(_) => false,
    }
}

/// Reads the byte lists of a call, which a case file writes as text.
fn bytes_in(call: &str, mut value: Value) -> Value {
    let lists: &[&str] = match call.split_once('.') {
        Some(("tls", _)) => &["chain"],
        Some(("x509", _)) => &["chain", "staple"],
        Some(("http", _)) => &["body"],
        Some(("tcp", _)) => &["send", "data", "Ok"],
        _ => &[],
    };
    read(&mut value, lists);
    value
}

/// `examination.chain` holds records, not bytes: only strings are read.
fn read(value: &mut Value, lists: &[&str]) {
    match value {
        Value::Object(fields) => read_fields(fields, lists),
        Value::Array(items) => items.iter_mut().for_each(|item| read(item, lists)),
        _ => {}
    }
}

fn read_fields(fields: &mut Map<String, Value>, lists: &[&str]) {
    for (name, value) in fields {
        match value {
            Value::String(text) if lists.contains(&name.as_str()) => *value = as_bytes(text),
            Value::Array(items) if lists.contains(&name.as_str()) => {
                for item in items {
                    match item {
                        Value::String(text) => *item = as_bytes(text),
                        other => read(other, lists),
                    }
                }
            }
            other => read(other, lists),
        }
    }
}

fn as_bytes(text: &str) -> Value {
    let bytes = text.strip_prefix("hex:").and_then(|digits| hex::decode(digits).ok());
    bytes.unwrap_or_else(|| text.as_bytes().to_vec()).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn banner(answer: &str) -> Probe {
        Probe {
            call: "tcp.exchange".into(),
            request: json!({"endpoint": {"host": "example.com", "port": 25}, "max": 512}),
            response: json!({"Ok": answer}),
        }
    }

    fn ask(recording: &Recording, port: u16) -> Result<Value, Unanswered> {
        let endpoint = json!({"host": "example.com", "port": port, "connect_to": null});
        let request = json!({"endpoint": endpoint, "send": [], "max": 512, "timeout_ms": 9});
        recording.answer("tcp.exchange", &request)
    }

    #[test]
    fn answers_come_in_the_order_of_the_recording() {
        let recording = Recording::new(vec![banner("one"), banner("hex:00ff")]);
        assert_eq!(ask(&recording, 25).expect("recorded"), json!({"Ok": [111, 110, 101]}));
        assert_eq!(recording.unused().len(), 1);
        assert_eq!(ask(&recording, 25).expect("recorded"), json!({"Ok": [0, 255]}));
        assert_eq!(ask(&recording, 25).expect("the last again"), json!({"Ok": [0, 255]}));
    }

    #[test]
    fn an_unrecorded_call_fails_by_name() {
        let recording = Recording::new(vec![banner("one")]);
        let error = ask(&recording, 587).expect_err("not recorded").to_string();
        assert!(error.starts_with("the case has no recorded answer to tcp.exchange"), "{error}");
    }

    #[test]
    fn body_of_a_partial_answer_is_read() {
        let answer = json!({"Ok": {"response": {"status": 200, "body": "ok"}, "failure": "Reset"}});
        let read = bytes_in("http.fetch_partial", answer);
        assert_eq!(read["Ok"]["response"]["body"], json!([111, 107]));
        assert_eq!(read["Ok"]["failure"], "Reset");
    }

    #[test]
    fn byte_lists_inside_answers_are_read_and_records_left_alone() {
        let answer =
            json!({"Ok": {"chain": ["hex:3082"], "examination": {"chain": [{"subject": "x"}]}}});
        let read = bytes_in("tls.inspect", answer);
        assert_eq!(read["Ok"]["chain"], json!([[0x30, 0x82]]));
        assert_eq!(read["Ok"]["examination"]["chain"][0]["subject"], "x");
    }
}
