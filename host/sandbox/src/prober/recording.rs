//! Probes of an earlier run, in the place of a network.

use std::net::IpAddr;

use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Probe, bytes};

/// Recorded probes. A request that was recorded more than once is answered in the order of the
/// recording, and then always as the last time.
#[derive(Debug, Default)]
pub struct Recording {
    probes: Vec<Probe>,
    /// What the target resolved to, which the egress layer let through.
    addresses: Vec<IpAddr>,
    /// How often each entry was used.
    used: Mutex<Vec<usize>>,
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
                request: normal(bytes::read(&probe.call, probe.request)),
                response: bytes::read(&probe.call, probe.response),
                call: probe.call,
            })
            .collect();
        Self { probes, addresses: Vec::new(), used }
    }

    /// With the addresses of the target, which a plugin may name to connect to.
    #[must_use]
    pub fn with_addresses(self, addresses: Vec<IpAddr>) -> Self {
        Self { addresses, ..self }
    }

    pub(crate) fn addresses(&self) -> &[IpAddr] {
        &self.addresses
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
pub(super) fn normal(value: Value) -> Value {
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
}
