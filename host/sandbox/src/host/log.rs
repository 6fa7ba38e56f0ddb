//! `vedette:env/log`: lines for the operator.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use tracing::{debug, error, info, warn};
use vedette_model::text::misleads;

use super::Guest;
use crate::{
    bindings::check::vedette::env::log::{Host, Level},
    limits::{LOG_LINE, LOG_LINES},
    output::cut,
};

/// Where a call's lines go, and how many are left.
pub(crate) struct LogBook {
    plugin: Arc<str>,
    version: Arc<str>,
    /// The run's id; empty in pure calls.
    run_id: String,
    left: u32,
    dropped: u32,
    /// Values that never appear in a line.
    masked: Arc<BTreeMap<String, String>>,
}

impl LogBook {
    pub(crate) fn new(
        plugin: Arc<str>,
        version: Arc<str>,
        run_id: String,
        masked: Arc<BTreeMap<String, String>>,
    ) -> Self {
        Self { plugin, version, run_id, left: LOG_LINES, dropped: 0, masked }
    }

    fn write(&mut self, level: Level, message: String, fields: Vec<(String, String)>) {
        let Some(left) = self.left.checked_sub(1) else {
            self.dropped += 1;
            return;
        };
        self.left = left;
        let line = self.line(message, &fields);
        let (plugin, version, run) = (&*self.plugin, &*self.version, self.run_id.as_str());
        match level {
            Level::Debug => debug!(target: "vedette::plugin", plugin, version, run, "{line}"),
            Level::Info => info!(target: "vedette::plugin", plugin, version, run, "{line}"),
            Level::Warn => warn!(target: "vedette::plugin", plugin, version, run, "{line}"),
            Level::Error => error!(target: "vedette::plugin", plugin, version, run, "{line}"),
        }
    }

    fn line(&self, message: String, fields: &[(String, String)]) -> String {
        let mut line = message;
        for (name, value) in fields {
            if line.len() >= LOG_LINE {
                break;
            }
            line.push_str(&format!(" {name}={value}"));
        }
        // Masked as it was written: cut or smoothed, a secret would not be known again.
        cut(mask(line, &self.masked), LOG_LINE).replace(misleads, " ")
    }
}

/// Replaces every secret in `text`.
pub(crate) fn mask(text: String, secrets: &BTreeMap<String, String>) -> String {
    let mut values: Vec<&str> = secrets.values().map(String::as_str).collect();
    values.retain(|value| !value.is_empty());
    // The longest first: one that is a part of another would leave the rest of it behind.
    values.sort_by_key(|value| Reverse(value.len()));
    values.into_iter().fold(text, |text, value| text.replace(value, "[secret]"))
}

impl Drop for LogBook {
    fn drop(&mut self) {
        if self.dropped > 0 {
            let (plugin, dropped) = (&*self.plugin, self.dropped);
            warn!(target: "vedette::plugin", plugin, dropped, "{dropped} log lines of {plugin} were dropped");
        }
    }
}

impl Host for Guest {
    async fn write(
        &mut self,
        level: Level,
        message: String,
        fields: Vec<(String, String)>,
    ) -> wasmtime::Result<()> {
        self.log.write(level, message, fields);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(secret: &str) -> LogBook {
        let masked = BTreeMap::from([("token".to_owned(), secret.to_owned())]);
        LogBook::new("acme.test".into(), "1.0.0".into(), String::new(), Arc::new(masked))
    }

    #[test]
    fn a_line_is_one_line_of_a_kilobyte_without_secrets() {
        let line = book("s3cret").line("got\ns3cret".into(), &[("a".into(), "x".repeat(5000))]);
        assert!(line.starts_with("got [secret] a=xxx"), "{line}");
        assert!(line.len() <= LOG_LINE);
        assert!(!line.contains('\n'));
    }

    #[test]
    fn a_secret_of_several_lines_or_at_the_end_of_a_line_is_masked_too() {
        assert_eq!(book("s3\ncret").line("got s3\ncret".into(), &[]), "got [secret]");
        let line = book("s3cret").line("x".repeat(LOG_LINE - 3) + "s3cret", &[]);
        assert!(line.len() <= LOG_LINE && !line.contains("s3"), "{line}");
    }

    #[test]
    fn a_secret_that_is_a_part_of_another_leaves_nothing_of_it() {
        let secrets = [("a", "s3cret"), ("b", "s3cret-and-more")];
        let secrets = secrets.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = mask("got s3cret-and-more".to_owned(), &BTreeMap::from(secrets));
        assert_eq!(text, "got [secret]");
    }

    #[test]
    fn lines_after_the_last_are_counted_not_written() {
        let mut book = book("");
        for _ in 0..1_000_000 {
            book.write(Level::Debug, "spam".into(), Vec::new());
        }
        assert_eq!((book.left, book.dropped), (0, 1_000_000 - LOG_LINES));
    }
}
