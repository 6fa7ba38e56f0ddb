//! Reports of a size that the service takes: as they wait on disk, and as they are sent.
//!
//! *Invariant:* pure but for a word in the log where something had to be left out.

use serde_json::{Map, Value};

use super::entry::Entry;

/// Cuts what a round saw into reports. A round that saw nothing makes one without results, so that
/// the service hears that the agent is there.
pub(super) fn cut(entries: Vec<Entry>) -> Vec<String> {
    let mut reports = Vec::new();
    let mut open = Report::new();
    for entry in entries {
        let entry = fitted(entry);
        if !open.has_room_for(&entry) {
            reports.push(open.close());
            open = Report::new();
        }
        open.add(&entry);
    }
    reports.push(open.close());
    reports
}

/// The body that sends a report which waited: only now is the agent's id known. None if it is not a
/// report.
pub(super) fn signed(report: &str, agent_id: &str) -> Option<String> {
    let mut body: Map<String, Value> = serde_json::from_str(report).ok()?;
    body.insert("agent_id".to_owned(), agent_id.into());
    Some(Value::Object(body).to_string())
}

/// A report that is being written.
struct Report {
    text: String,
    results: usize,
}

impl Report {
    fn new() -> Self {
        Self { text: BEGIN.to_owned(), results: 0 }
    }

    fn has_room_for(&self, entry: &str) -> bool {
        let size = self.text.len() + 1 + entry.len() + END.len();
        self.results == 0 || (self.results < MOST_RESULTS && size <= LARGEST)
    }

    fn add(&mut self, entry: &str) {
        if self.results > 0 {
            self.text.push(',');
        }
        self.text.push_str(entry);
        self.results += 1;
    }

    fn close(mut self) -> String {
        self.text.push_str(END);
        self.text
    }
}

/// The JSON of an entry that fits a report by itself.
fn fitted(mut entry: Entry) -> String {
    let text = entry.to_json();
    if text.len() <= LARGEST_ENTRY {
        return text;
    }
    entry.fit(LARGEST_ENTRY);
    tracing::warn!(
        "names or certificates of {} are left out: the service takes {} KiB at once",
        entry.place(),
        LARGEST >> 10
    );
    entry.to_json()
}

const BEGIN: &str = "{\"results\":[";
const END: &str = "]}";
/// In bytes, without the agent's id: the service takes bodies of 64 KiB (decisions: unknown body
/// fields).
const LARGEST: usize = 60 << 10;
const LARGEST_ENTRY: usize = LARGEST - BEGIN.len() - END.len();
const MOST_RESULTS: usize = 500;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vedette_model::Target;

    use super::*;

    /// What is told of a place with so many names in its certificate; with none, nobody is there.
    fn entry(nth: usize, names: usize) -> Entry {
        let host = Target::parse(&format!("host-{nth}.example")).expect("a name");
        let now = "2026-11-23T10:00:00Z".parse().expect("a time");
        if names == 0 {
            let result = json!({"valid": false, "error": "connection_refused"});
            return Entry::of(&host, 443, now, result).expect("a result");
        }
        let names: Vec<_> = (0..names).map(|name| format!("{name}.intranet.example")).collect();
        let leaf = json!({
            "subject": "CN=intranet", "fingerprint": "ab",
            "valid_from": "2026-01-01T00:00:00Z", "valid_to": "2036-01-01T00:00:00Z",
        });
        let result = json!({"valid": true, "san": names, "chain": [leaf]});
        Entry::of(&host, 443, now, result).expect("a result")
    }

    /// The hosts of each report, as the service would read it.
    fn hosts(reports: &[String]) -> Vec<Vec<String>> {
        let of_one = |report: &String| -> Vec<String> {
            assert!(report.len() <= LARGEST, "{} bytes", report.len());
            let report: Value = serde_json::from_str(report).expect("JSON");
            let results = report["results"].as_array().expect("a list").clone();
            let host = |entry: &Value| entry["host"].as_str().expect("a name").to_owned();
            results.iter().map(host).collect()
        };
        reports.iter().map(of_one).collect()
    }

    #[test]
    fn a_report_has_at_most_five_hundred_results_and_sixty_kibibytes() {
        for (places, names) in [(1, 0), (3, 100), (1_200, 0), (40, 200), (7, 1_500), (3, 20_000)] {
            let reports = cut((0..places).map(|nth| entry(nth, names)).collect());
            let hosts = hosts(&reports);
            assert!(hosts.iter().all(|hosts| (1..=MOST_RESULTS).contains(&hosts.len())));
            let expected: Vec<_> = (0..places).map(|nth| format!("host-{nth}.example")).collect();
            assert_eq!(hosts.concat(), expected, "{places} places of {names} names");
        }
    }

    #[test]
    fn a_round_that_saw_nothing_is_still_a_report() {
        assert_eq!(cut(Vec::new()), ["{\"results\":[]}"]);
    }

    #[test]
    fn a_report_is_sent_under_the_agents_id() {
        let report = cut(vec![entry(1, 2)]).remove(0);
        let body = signed(&report, "an-id").expect("a report");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(body["agent_id"], "an-id");
        assert_eq!(body["results"][0]["host"], "host-1.example");
        for broken in ["", "[]", "{\"results\":[", "null"] {
            assert_eq!(signed(broken, "an-id"), None, "{broken}");
        }
    }
}
