//! `vedette plugin list`.

use serde_json::{Value, json};

use super::{
    outcome::{Done, Said},
    place::Place,
};
use crate::plugins;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) place: Place,
}

pub(super) async fn run(args: &Args) -> Done {
    let json = match args.place.listing().await? {
        Some(listing) => listing,
        None => folders(args)?,
    };
    let text = table(&json);
    Ok(Said { json, text })
}

/// What can be seen without a service.
fn folders(args: &Args) -> anyhow::Result<Value> {
    let folder = args.place.folder()?;
    let lock = folder.lock()?;
    let mut views = plugins::locked(&folder, &lock);
    views.extend(plugins::waiting(&folder.pending(&lock)?));
    Ok(json!({ "plugins": views, "folder": folder.path().display().to_string() }))
}

/// A line for each plugin, below it what is set for it and what is wrong; at the end what to do about
/// those that do not run.
pub(super) fn table(listing: &Value) -> String {
    let plugins = listing["plugins"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text = String::new();
    if let Some(error) = listing["lock_error"].as_str() {
        text += &format!("The lock cannot be followed: {error}\n");
    }
    if plugins.is_empty() {
        let folder = listing["folder"].as_str().unwrap_or("the folder");
        text += &format!("There are no plugins in {folder}.\n");
    }
    for plugin in plugins {
        let of = |name: &str| plugin[name].as_str();
        let id = of("id").or_else(|| of("sha256")).unwrap_or("?");
        let version = of("version").unwrap_or("-");
        let place = of("check_type").or_else(|| of("channel")).unwrap_or("-");
        let kind = of("kind").unwrap_or("-");
        let state = of("state").unwrap_or("-");
        text += &format!("{id:<28} {version:<10} {kind:<9} {place:<16} {state}\n");
        if let Some(interval) = of("interval") {
            text += &format!("    runs every {interval}\n");
        }
        for (name, value) in plugin["settings"].as_object().into_iter().flatten() {
            text += &format!("    {name} = {value}\n");
        }
        if let Some(before) = of("running_version") {
            text += &format!("    {before} runs on\n");
        }
        if let Some(error) = of("error") {
            text += &format!("    {error}\n");
        }
        if let Some(seconds) = plugin["paused_for_seconds"].as_u64() {
            text += &format!(
                "    it broke too often and is paused for {seconds} s; the log says why\n"
            );
        }
    }
    text + &advice(plugins)
}

/// In one line, for each state that is met and is not to run; empty where all do.
fn advice(plugins: &[Value]) -> String {
    let is_met = |state: &str| plugins.iter().any(|plugin| plugin["state"] == state);
    let met = STATES.iter().filter(|(state, _)| is_met(state));
    let said: Vec<String> = met.map(|(state, advice)| format!("{state}: {advice}")).collect();
    if said.is_empty() { String::new() } else { format!("({})\n", said.join("; ")) }
}

/// What it means that a plugin does not stand there as running, and what to do.
const STATES: [(&str, &str); 4] = [
    ("enabled", "approved, and --admin URL shows whether it runs"),
    ("disabled", "does not run until `vedette plugin enable ID`"),
    ("pending", "does not run until `vedette plugin approve ID`"),
    ("failed", "is not loaded, for the reason below it"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plugin_is_a_line_and_its_trouble_another() {
        let listing = json!({ "folder": "data/plugins", "plugins": [
            { "id": "vedette.check-ssl", "version": "0.1.0", "kind": "check", "check_type": "ssl",
              "built_in": true, "state": "running" },
            { "id": "acme.banner", "version": "2.0.0", "kind": "check", "check_type": "banner",
              "built_in": false, "state": "failed", "running_version": "1.0.0", "error": "why" },
        ] });
        let text = table(&listing);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert!(lines[1].starts_with("acme.banner") && lines[1].ends_with("failed"), "{text}");
        assert_eq!(lines[2..4], ["    1.0.0 runs on", "    why"]);
        assert_eq!(lines[4], "(failed: is not loaded, for the reason below it)");
        let paused = table(&json!({ "plugins": [
            { "id": "acme.banner", "state": "running", "paused_for_seconds": 29 },
        ] }));
        assert!(paused.contains("is paused for 29 s"), "{paused}");
        assert_eq!(paused.lines().count(), 2, "{paused}");
        let waits = table(&json!({ "plugins": [
            { "id": "acme.banner", "state": "pending" },
            { "id": "acme.other", "state": "disabled" },
            { "id": "acme.third", "state": "pending" },
        ] }));
        let last = waits.lines().next_back();
        let advice = "(disabled: does not run until `vedette plugin enable ID`; pending: does not \
                      run until `vedette plugin approve ID`)";
        assert_eq!(last, Some(advice), "{waits}");
        let set = table(&json!({ "plugins": [
            { "id": "acme.banner", "state": "running", "interval": "90s",
              "settings": { "expect": "ESMTP", "limit": 3 } },
        ] }));
        let below: Vec<&str> = set.lines().skip(1).collect();
        assert_eq!(below, ["    runs every 90s", "    expect = \"ESMTP\"", "    limit = 3"]);
        let none = table(&json!({ "plugins": [], "folder": "data/plugins" }));
        assert_eq!(none, "There are no plugins in data/plugins.\n");
    }
}
