//! What lies in a guest's memory from the start, laid out as the canonical ABI wants it.

use super::Says;

/// What the guest's memory holds from the start.
#[derive(Default)]
pub(crate) struct Data(Vec<u8>);

impl Data {
    /// Address and length.
    pub(crate) fn text(&mut self, text: &str) -> [i32; 2] {
        [self.put(text.as_bytes()), text.len() as i32]
    }

    /// A record of 32-bit fields; answers its address.
    pub(crate) fn words(&mut self, words: &[i32]) -> i32 {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(&bytes)
    }

    /// A list of texts; answers its address.
    pub(crate) fn texts(&mut self, texts: &[&str]) -> i32 {
        let words: Vec<i32> = texts.iter().flat_map(|text| self.text(text)).collect();
        self.words(&words)
    }

    /// `ok(text)`.
    pub(crate) fn ok_text(&mut self, text: &str) -> i32 {
        let [at, len] = self.text(text);
        self.words(&[0, at, len])
    }

    /// `ok(observation)` with metrics of the name `n`.
    pub(crate) fn observation(&mut self, result: &str, metrics: &[f64]) -> i32 {
        let [at, len] = self.text(result);
        let [name, name_len] = self.text("n");
        let mut list = Vec::new();
        for metric in metrics {
            list.extend([name, name_len].iter().flat_map(|word| word.to_le_bytes()));
            list.extend(metric.to_le_bytes());
        }
        let list = self.put(&list);
        self.words(&[0, at, len, 0, 0, list, metrics.len() as i32, 0, 0])
    }

    /// `ok(observation)` whose result is `len` bytes from `at` on, whatever is there.
    pub(crate) fn observation_at(&mut self, at: i32, len: i32) -> i32 {
        self.words(&[0, at, len, 0, 0, 0, 0, 0, 0])
    }

    /// `err(check-error)`: case and text.
    pub(crate) fn check_error(&mut self, case: i32, text: &str) -> i32 {
        let [at, len] = self.text(text);
        self.words(&[1, case, at, len])
    }

    /// An assessment: `degraded`, with so many findings of one event.
    pub(crate) fn findings(&mut self, event: &str, count: usize) -> i32 {
        let event = self.text(event);
        let key = self.text("key");
        let message = self.text("line one\nline two");
        let mut list = Vec::new();
        for _ in 0..count {
            list.extend(event);
            list.push(0); // severity
            list.extend(key);
            list.extend(message);
            list.extend([0, 0, 0]); // suggestion
            list.extend([0, 0, 0]); // details
            list.push(0); // confirmations
        }
        let list = self.words(&list);
        self.words(&[1, list, count as i32, 0, 0, 0])
    }

    pub(super) fn descriptor(&mut self, says: &Says<'_>) -> i32 {
        let mut words = Vec::new();
        let texts =
            [says.id, says.version, "Test", "A test.", says.config_schema, says.result_schema];
        for text in texts {
            words.extend(self.text(text));
        }
        words.extend([0, 0]); // summary-fields
        let mut event = Vec::new();
        event.extend(self.text(says.event));
        event.extend(self.text(says.alert_type));
        event.push(2); // critical
        event.extend(self.text("Bad"));
        event.push(1 | 1 << 8 | 1 << 16); // self-resolving, one confirmation, clears at once
        let events = self.words(&event);
        words.extend([events, 1]);
        let mut metric = Vec::new();
        for text in ["n", "1", "A number."] {
            metric.extend(self.text(text));
        }
        let metrics = self.words(&metric);
        words.extend([metrics, 1]);
        self.words(&words)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn put(&mut self, bytes: &[u8]) -> i32 {
        let padded = self.0.len().next_multiple_of(8);
        self.0.resize(padded, 0);
        self.0.extend(bytes);
        (BASE as usize + padded) as i32
    }
}

/// Where static data starts.
pub(super) const BASE: u32 = 1024;
