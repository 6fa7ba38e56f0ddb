//! `vedette plugin approve`: an entry in the lock. A plugin that is approved already gets other
//! grants.

use anyhow::{anyhow, bail};
use serde_json::json;
use toml::Table;
use vedette_model::Timestamp;
use vedette_sandbox::{Capabilities, GateError, Grant, Read};

use super::{
    asked, inspect,
    outcome::{Done, Failure, Said},
    place::Place,
};
use crate::{
    Clock,
    cli::environment,
    plugins::{Approved, Folder, Lock, Locked, Previous, granted_secrets, refusal, sha256},
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The plugin's id, e.g. acme.smtp-banner
    id: String,
    /// Who approves [default: the user who is logged in]
    #[arg(long, value_name = "EMAIL")]
    by: Option<String>,
    /// Grant only these of the capabilities it asks for, e.g. dns,tcp; refused if it cannot be
    /// loaded without the others [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    grant: Option<Vec<String>>,
    /// Which version, if several wait or to go back to an earlier one; its beginning is enough
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    #[command(flatten)]
    pub(super) place: Place,
}

pub(super) async fn run(args: &Args) -> Done {
    if args.by.as_ref().is_some_and(|by| by.trim().is_empty()) {
        return Err(anyhow!("--by is empty; name who approves, or leave it out").into());
    }
    let folder = args.place.folder()?;
    let held = folder.hold()?;
    let mut lock = folder.lock()?;
    let (hash, read) = candidate(&folder, &lock, args)?;
    let manifest = &read.manifest;
    if let Some(reason) = refusal(&manifest.id, &manifest.kind, None) {
        return Err(Failure::plugin(reason));
    }
    if let Some(locked) = lock.find(&args.id) {
        args.place.ensure_fits(locked, &read)?;
    }
    let asked = asked::of(&read.text);
    let mut kept = Vec::new();
    let granted = match &args.grant {
        None => {
            let (granted, narrow) = match lock.find(&args.id) {
                Some(locked) => {
                    asked::narrowed(&asked, &had_asked(&folder, locked), &locked.granted)
                }
                None => (asked.clone(), Vec::new()),
            };
            if !narrow.is_empty() {
                suffices(&granted, &folder.component(&hash)?)?;
            }
            kept = narrow;
            granted
        }
        Some(names) => {
            let granted = asked::only(&asked, names).map_err(anyhow::Error::msg)?;
            // In the lock it would keep the plugin from being loaded, at the next start for good.
            suffices(&granted, &folder.component(&hash)?)?;
            granted
        }
    };
    let next = Previous {
        version: manifest.version.clone(),
        sha256: hash.clone(),
        manifest_sha256: sha256(read.text.as_bytes()),
        approved: approved(args.by.as_deref(), Clock::System.now()),
        granted: granted.clone(),
    };
    let forgotten = enter(&mut lock, &args.id, next);
    folder.write_lock(&lock)?;
    for file in &forgotten {
        folder.delete(file)?;
    }
    let mut json = inspect::described(&read, &hash);
    json["granted"] = json!(granted);
    let text = format!(
        "{}{}{}{}{}{}{}{}",
        inspect::title(manifest),
        asked::lines("asks for", &asked),
        asked::lines("granted", &granted),
        told_kept(&kept),
        inspect::settable(manifest),
        reminders(&lock, &args.id, &args.place.again()),
        args.place.take_up(&args.id, held).await?,
        inspect::told(manifest)
    );
    Ok(Said { json, text })
}

/// What the version that is approved by now asks for; nothing where its file is gone.
fn had_asked(folder: &Folder, locked: &Locked) -> Table {
    let component = folder.component(&locked.sha256);
    let read = component.and_then(|component| Ok(vedette_sandbox::read(&component)?));
    read.map(|read| asked::of(&read.text)).unwrap_or_default()
}

fn told_kept(kept: &[String]) -> String {
    if kept.is_empty() {
        return String::new();
    }
    let names = kept.join(", ");
    format!(
        "less than it asks, as plugins.lock had it: {names}; --grant with the names of all \
         capabilities grants what it asks\n"
    )
}

/// What is to be approved: what waits, or else the version that runs, or one before it that is
/// wanted.
fn candidate(folder: &Folder, lock: &Lock, args: &Args) -> anyhow::Result<(String, Read)> {
    let (id, again) = (args.id.as_str(), args.place.again());
    // As `install` takes it: hexadecimal in any case.
    let wanted = args.sha256.as_deref().map(str::to_ascii_lowercase);
    let is_wanted = |hash: &str| wanted.as_deref().is_none_or(|wanted| hash.starts_with(wanted));
    let mut is_known = lock.find(id).is_some();
    let mut found = Vec::new();
    for pending in folder.pending(lock)? {
        match pending.read {
            Ok(read) if read.manifest.id == id => {
                is_known = true;
                if is_wanted(&pending.sha256) {
                    found.push((pending.sha256, read));
                }
            }
            Ok(_) | Err(_) => {}
        }
    }
    if found.len() > 1 {
        let listed: Vec<String> = found
            .iter()
            .map(|(hash, read)| format!("{} (--sha256 {})", read.manifest.version, &hash[..12]))
            .collect();
        bail!("several versions of {id} wait: {}; name one", listed.join(", "));
    }
    if let Some(found) = found.pop() {
        return Ok(found);
    }
    let kept = lock.find(id).and_then(|locked| locked.files().find(|hash| is_wanted(hash)));
    match kept {
        Some(hash) => Ok((hash.to_owned(), vedette_sandbox::read(&folder.component(hash)?)?)),
        None if is_known => Err(anyhow!(
            "no version of {id} in {} has a SHA-256 that begins with {}; `vedette plugin list \
             --json{again}` tells them",
            folder.path().display(),
            wanted.unwrap_or_default()
        )),
        None => Err(anyhow!(
            "no plugin {id} waits in {}; bring it there first: vedette plugin install FILE{again}",
            folder.path().display()
        )),
    }
}

/// A component is loaded only with all that it imports.
fn suffices(granted: &Table, component: &[u8]) -> Result<(), Failure> {
    let granted = Capabilities::of_table(granted.clone(), &serde_json::Value::Null);
    let granted = granted.map_err(anyhow::Error::msg)?;
    match vedette_sandbox::examine(component, &Grant::Only(Box::new(granted))) {
        Ok(_) => Ok(()),
        Err(GateError::Withheld { import, capability }) => Err(Failure::Environment(anyhow!(
            "{capability} is not granted, and the component imports {import}: it is not loaded \
             without; name that too with --grant, and then less of it by its line granted.{capability} in \
             plugins.lock"
        ))),
        Err(wrong) => Err(wrong.into()),
    }
}

fn approved(by: Option<&str>, at: Timestamp) -> Approved {
    let named = |name: &str| environment(name).filter(|user| !user.is_empty());
    let user = || named("USER").or_else(|| named("LOGNAME"));
    let by = by.map(str::to_owned).or_else(user);
    Approved { by: by.unwrap_or_else(|| "operator".to_owned()), at }
}

/// Puts a version into the lock; answers the files that the lock no longer names.
fn enter(lock: &mut Lock, id: &str, next: Previous) -> Vec<String> {
    let Some(locked) = lock.find_mut(id) else {
        let Previous { version, sha256, manifest_sha256, approved, granted } = next;
        lock.plugins.push(Locked {
            id: id.to_owned(),
            version,
            sha256,
            manifest_sha256,
            approved,
            enabled: true,
            interval: None,
            settings: Table::new(),
            granted,
            secrets: Default::default(),
            previous: Vec::new(),
        });
        return Vec::new();
    };
    let mut files: Vec<String> = locked.files().map(str::to_owned).collect();
    locked.replace(next);
    files.retain(|file| locked.files().all(|kept| kept != file));
    files
}

/// What is still to be done before it does its work.
pub(super) fn reminders(lock: &Lock, id: &str, again: &str) -> String {
    let Some(locked) = lock.find(id) else { return String::new() };
    let mut text = String::new();
    for name in granted_secrets(&locked.granted) {
        if !locked.secrets.contains_key(name) {
            text += &format!(
                "The secret {name} has no value: add secrets.{name} = {{ env = \"VARIABLE\" }} or \
                 {{ file = \"PATH\" }} to its entry in plugins.lock.\n"
            );
        }
    }
    if !locked.enabled {
        text += &format!("It is disabled: vedette plugin enable {id}{again}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(name: &str, digit: char) -> Previous {
        let hash: String = std::iter::repeat_n(digit, 64).collect();
        Previous {
            version: name.to_owned(),
            sha256: hash.clone(),
            manifest_sha256: hash,
            approved: approved(Some("ops@example.com"), Timestamp::UNIX_EPOCH),
            granted: "secrets = [\"token\"]".parse().expect("TOML"),
        }
    }

    #[test]
    fn a_version_that_is_kept_no_more_leaves_the_folder() {
        let mut lock = Lock::default();
        for (name, digit) in [("1", 'a'), ("2", 'b'), ("3", 'c')] {
            assert!(enter(&mut lock, "acme.banner", version(name, digit)).is_empty(), "{name}");
        }
        let forgotten = enter(&mut lock, "acme.banner", version("4", 'd'));
        assert_eq!(forgotten, [version("1", 'a').sha256]);
        assert_eq!(lock.plugins.len(), 1);
        assert!(enter(&mut lock, "acme.banner", version("4", 'd')).is_empty(), "the same again");
        assert_eq!(lock.plugins[0].previous.len(), 2);
    }

    #[test]
    fn what_is_still_to_be_done_is_told() {
        let mut lock = Lock::default();
        enter(&mut lock, "acme.banner", version("1", 'a'));
        assert!(reminders(&lock, "acme.banner", "").contains("The secret token has no value"));
        lock.plugins[0].enabled = false;
        let told = reminders(&lock, "acme.banner", " --folder data");
        assert!(told.contains("vedette plugin enable acme.banner --folder data\n"), "{told}");
        assert_eq!(reminders(&lock, "acme.other", ""), "");
    }
}
