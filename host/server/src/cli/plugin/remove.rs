//! `vedette plugin remove`.

use anyhow::anyhow;
use serde_json::json;

use super::{
    outcome::{Done, Failure, Said},
    place::Place,
};
use crate::cli::counted;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The plugin's id, e.g. acme.smtp-banner
    id: String,
    #[command(flatten)]
    pub(super) place: Place,
}

/// Out of the lock, with all its versions and with those that wait.
pub(super) async fn run(args: &Args) -> Done {
    let id = &args.id;
    let folder = args.place.folder()?;
    let held = folder.hold()?;
    let mut lock = folder.lock()?;
    let pending = folder.pending(&lock)?.into_iter();
    let waits = pending.filter(|file| file.read.as_ref().is_ok_and(|it| it.manifest.id == *id));
    let mut files: Vec<String> = waits.map(|file| file.sha256).collect();
    if let Some(locked) = lock.find(id) {
        files.extend(locked.files().map(str::to_owned));
    } else if files.is_empty() {
        return Err(Failure::Environment(anyhow!(
            "there is no plugin {id} in {}; `vedette plugin list{}` shows what there is",
            folder.path().display(),
            args.place.again()
        )));
    }
    lock.plugins.retain(|locked| locked.id != *id);
    folder.write_lock(&lock)?;
    // What the lock does not name is not loaded, so the files may go.
    for file in &files {
        folder.delete(file)?;
    }
    let text = format!("{id} is removed, with {}.\n", counted(files.len(), "file"));
    let json = json!({ "id": id, "removed": files });
    Ok(Said { json, text: text + &args.place.take_out(id, held).await? })
}
