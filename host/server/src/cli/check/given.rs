//! What `--config` of `vedette check` gives: a file, or the text itself.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use toml::Table;

use crate::Config;

/// What `--config` gives: the two have no key in common.
#[derive(Debug, PartialEq)]
pub(in crate::cli) enum Given {
    /// What a site's `check_config` holds for the check.
    Own(Value),
    /// A file as `serve` reads it.
    Service(PathBuf),
}

impl Given {
    /// The check's own configuration, empty where none was given, and the service's file.
    pub(in crate::cli) fn split(given: Option<&str>) -> anyhow::Result<(Value, Option<PathBuf>)> {
        Ok(match given.map(Self::read).transpose()? {
            None => (json!({}), None),
            Some(Self::Own(own)) => (own, None),
            Some(Self::Service(file)) => (json!({}), Some(file)),
        })
    }

    fn read(given: &str) -> anyhow::Result<Self> {
        let text = match std::fs::read_to_string(given) {
            Ok(text) if is_services(&text) => {
                return Ok(Self::Service(Path::new(given).to_owned()));
            }
            Ok(text) => text,
            // No such file: then it is the TOML itself.
            Err(_) => given.to_owned(),
        };
        let table: Table = toml::from_str(&text).context("--config is neither a file nor TOML")?;
        // What a file holds was told apart above.
        ensure!(
            table.is_empty() || !is_services(&text),
            "--config takes the service's configuration as a file alone: write this into one and \
             name that"
        );
        Ok(Self::Own(serde_json::to_value(table)?))
    }
}

/// Told by its keys. What is wrong with their values is said when it is loaded, with line and
/// column.
fn is_services(text: &str) -> bool {
    toml::from_str::<Table>(text).is_ok_and(|table| table.keys().all(|key| Config::has_key(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_the_checks_own_or_the_services() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("some.toml");
        let given = file.to_str().expect("a path in UTF-8");
        for (text, is_service) in [
            ("dns_server = [\"127.0.0.1:53\"]\n[egress]\nallow = [\"127.0.0.0/8\"]\n", true),
            ("[plugins.domain]\nwhois_root = \"127.0.0.1:43\"\n", true),
            ("path = \"/health\"\n", false),
            ("dns_server = 7\n", true),
            ("dns_server = 7\npath = \"/health\"\n", false),
        ] {
            std::fs::write(&file, text).expect("written");
            let read = Given::read(given).expect("TOML");
            assert_eq!(read == Given::Service(file.clone()), is_service, "{text}");
        }
        let own = Given::read("path = \"/health\"").expect("TOML");
        assert_eq!(own, Given::Own(json!({ "path": "/health" })));
        assert!(Given::read("/nowhere/some.toml").is_err());
        let refused = Given::read("[plugins.ct]\nsources = []").expect_err("no file").to_string();
        assert!(refused.contains("as a file alone"), "{refused}");
        assert_eq!(Given::read("").expect("TOML"), Given::Own(json!({})));
    }
}
