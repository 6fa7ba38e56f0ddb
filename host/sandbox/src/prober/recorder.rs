//! Writes down the probes of a run and their answers.

use std::net::IpAddr;

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use super::{Probe, bytes, recording::normal};

/// What one run asked, and what it was answered.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Recorded>);

/// What a recorder holds at the end of its run.
#[derive(Debug, Default)]
pub struct Recorded {
    /// What the target resolved to.
    pub addresses: Vec<IpAddr>,
    /// In the order of their answers, as a case file has them.
    pub probes: Vec<Probe>,
}

impl Recorder {
    /// What was recorded so far; from here on it begins anew.
    pub fn take(&self) -> Recorded {
        std::mem::take(&mut *self.0.lock())
    }

    pub(crate) fn resolved(&self, addresses: &[IpAddr]) {
        addresses.clone_into(&mut self.0.lock().addresses);
    }

    /// Requests and answers are of one length and order.
    pub(crate) fn note<A: Serialize>(
        &self,
        call: &str,
        requests: Vec<Value>,
        answers: &[A],
    ) -> serde_json::Result<()> {
        let mut recorded = self.0.lock();
        for (request, answer) in requests.into_iter().zip(answers) {
            recorded.probes.push(Probe {
                call: call.to_owned(),
                request: bytes::write(call, normal(request)),
                response: bytes::write(call, serde_json::to_value(answer)?),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::prober::Recording;

    #[test]
    fn what_was_recorded_is_answered() {
        let recorder = Recorder::default();
        let request = json!({"endpoint": {"host": "example.com", "port": 25}, "send": [13, 10],
            "max": 512, "timeout_ms": 900});
        let answer: Result<Vec<u8>, String> = Ok(vec![50, 50, 48]);
        recorder
            .note("tcp.exchange", vec![request.clone()], std::slice::from_ref(&answer))
            .expect("JSON");
        let probes = recorder.take().probes;
        assert_eq!(probes[0].request["send"], "\r\n");
        assert_eq!(probes[0].response, json!({"Ok": "220"}));
        let again: Result<Vec<u8>, String> =
            Recording::new(probes).answer("tcp.exchange", &request).expect("recorded");
        assert_eq!(again, answer);
        assert!(recorder.take().probes.is_empty());
    }
}
