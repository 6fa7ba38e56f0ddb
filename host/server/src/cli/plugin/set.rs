//! `vedette plugin set`: what a check of the operator's is given with every run, and how often it runs.

use anyhow::{Context, anyhow, bail};
use serde_json::json;
use toml::Table;
use vedette_model::schedule::Intervals;
use vedette_sandbox::{Kind, Manifest};

use super::{
    asked,
    outcome::{Done, Said},
    place::Place,
};
use crate::{
    config::{parse_interval, span_text},
    plugins::{Locked, as_json, misfit, setting},
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The plugin's id, e.g. acme.smtp-banner
    id: String,
    #[command(flatten)]
    change: Change,
    #[command(flatten)]
    pub(super) place: Place,
}

/// What is to be different.
#[derive(clap::Args)]
struct Change {
    /// What to set: text, or where the setting takes something else, that in TOML, e.g. limit=3
    #[arg(value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Take a setting back (repeatable)
    #[arg(long, value_name = "KEY")]
    unset: Vec<String>,
    /// How often the check runs, e.g. 5m, as far as a site's plan allows; default: as often as it
    /// asks
    #[arg(long, value_name = "SPAN")]
    interval: Option<String>,
}

pub(super) async fn run(args: &Args) -> Done {
    let folder = args.place.folder()?;
    let held = folder.hold()?;
    let mut lock = folder.lock()?;
    let locked = args.place.find(&folder, &mut lock, &args.id)?;
    let read = vedette_sandbox::read(&folder.component(&locked.sha256)?)?;
    args.change.make(locked, &read.manifest)?;
    if let Some(reason) = misfit(&read, locked.interval, &locked.settings) {
        return Err(anyhow!("{reason}; nothing is changed").into());
    }
    let json = json!({
        "id": args.id,
        "version": locked.version,
        "interval": locked.interval.map(span_text),
        "settings": as_json(&locked.settings),
    });
    let text = told(locked, &read.manifest);
    folder.write_lock(&lock)?;
    Ok(Said { json, text: text + &args.place.take_up(&args.id, held).await? })
}

impl Change {
    /// Makes it; whether the plugin takes all that is set then is another question.
    fn make(&self, locked: &mut Locked, manifest: &Manifest) -> anyhow::Result<()> {
        if self.set.is_empty() && self.unset.is_empty() && self.interval.is_none() {
            let names: Vec<&str> = manifest.settings.keys().map(String::as_str).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            bail!(
                "name what to change: KEY=VALUE, --unset KEY or --interval SPAN; the settings of \
                 {} are: {names}",
                manifest.id
            );
        }
        for name in &self.unset {
            let was_set = locked.settings.remove(name).is_some();
            // What another version takes may still be set, and goes without a question.
            if !was_set && !manifest.settings.contains_key(name) {
                manifest.takes(&json!({ (name.as_str()): null }))?;
            }
        }
        locked.settings.extend(assigned(manifest, &self.set)?);
        if let Some(text) = &self.interval {
            locked.interval = match text.as_str() {
                "default" => None,
                text => Some(parse_interval(text).map_err(|wrong| anyhow!("--interval {wrong}"))?),
            };
        }
        Ok(())
    }
}

/// What a command line sets, each as `KEY=VALUE`.
pub(super) fn assigned(manifest: &Manifest, given: &[String]) -> anyhow::Result<Table> {
    let values = given.iter().map(|given| {
        let (name, text) = given
            .split_once('=')
            .with_context(|| format!("{given:?} must be KEY=VALUE, as in expect=ESMTP"))?;
        Ok((name.to_owned(), setting(manifest, name, text)))
    });
    values.collect()
}

/// What now holds.
fn told(locked: &Locked, manifest: &Manifest) -> String {
    let Locked { id, version, interval, settings, .. } = locked;
    if matches!(manifest.kind, Kind::Notifier(_)) {
        return format!("{id} {version} is a channel, and nothing is set for it.\n");
    }
    let (every, why) = match (interval, manifest.interval) {
        (Some(set), _) => (*set, ""),
        (None, Some(asked)) => (asked, ", as it asks"),
        (None, None) => (Intervals::default().other, ", as any that does not ask for another"),
    };
    let settings = asked::lines("set", settings);
    format!("{id} {version} runs every {}{why}.\n{settings}", span_text(every))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use vedette_model::Timestamp;
    use vedette_sandbox::Settings;

    use super::*;
    use crate::plugins::Approved;

    fn manifest() -> Manifest {
        let text = "[plugin]\nid = \"acme.banner\"\nversion = \"1.0.0\"\nkind = \"check\"\n\
                    check-type = \"banner\"\nwit = \"vedette:plugin@1\"\n\
                    [schedule]\ninterval = \"10m\"\n\
                    [settings.properties]\nexpect = { type = \"string\" }\n\
                    limit = { type = \"integer\" }\n";
        Manifest::parse(text, &Settings::new()).expect("a manifest")
    }

    fn locked(settings: &str) -> Locked {
        Locked {
            id: "acme.banner".to_owned(),
            version: "1.0.0".to_owned(),
            sha256: String::new(),
            manifest_sha256: String::new(),
            approved: Approved { by: "ops".to_owned(), at: Timestamp::UNIX_EPOCH },
            enabled: true,
            interval: None,
            settings: settings.parse().expect("TOML"),
            granted: Table::new(),
            secrets: Default::default(),
            previous: Vec::new(),
        }
    }

    fn change(set: &[&str], unset: &[&str], interval: Option<&str>) -> Change {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Change { set: owned(set), unset: owned(unset), interval: interval.map(str::to_owned) }
    }

    #[test]
    fn what_is_set_stays_until_it_is_changed() {
        let (manifest, mut locked) = (manifest(), locked("gone = 1"));
        let all = change(&["expect=a=b", "limit=3"], &[], Some("90s"));
        all.make(&mut locked, &manifest).expect("made");
        assert_eq!(locked.interval, Some(Duration::from_secs(90)));
        let settings = json!({ "expect": "a=b", "gone": 1, "limit": 3 });
        assert_eq!(as_json(&locked.settings), settings);
        let less = change(&["limit=4"], &["gone", "expect"], None);
        less.make(&mut locked, &manifest).expect("made");
        assert_eq!(as_json(&locked.settings), json!({ "limit": 4 }));
        assert_eq!(locked.interval, Some(Duration::from_secs(90)));
        let again = change(&[], &["expect"], Some("default"));
        again.make(&mut locked, &manifest).expect("it is not set, and could be");
        assert_eq!(locked.interval, None);
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        for (change, expected) in [
            (change(&[], &[], None), "the settings of acme.banner are: expect, limit"),
            (change(&["expect"], &[], None), "\"expect\" must be KEY=VALUE"),
            (change(&[], &["expct"], None), "\"expct\"; this plugin has expect, limit"),
            (change(&[], &[], Some("5")), "--interval 5 is not a span such as"),
            (change(&[], &[], Some("0s")), "--interval must be between 1s and 366d"),
        ] {
            let wrong = change.make(&mut locked(""), &manifest()).expect_err(expected).to_string();
            assert!(wrong.contains(expected), "{wrong}");
        }
    }

    #[test]
    fn what_now_holds_is_told() {
        let mut locked = locked("expect = 'ESMTP'\nlimit = 3");
        let set = "set:\n  expect = \"ESMTP\"\n  limit = 3\n";
        let asked = format!("acme.banner 1.0.0 runs every 10m, as it asks.\n{set}");
        assert_eq!(told(&locked, &manifest()), asked);
        locked.interval = Some(Duration::from_secs(90));
        locked.settings = Table::new();
        let own = "acme.banner 1.0.0 runs every 90s.\nset: nothing\n";
        assert_eq!(told(&locked, &manifest()), own);
    }
}
