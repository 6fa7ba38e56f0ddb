//! `vedette plugin rollback`.

use anyhow::Context;
use serde_json::json;

use super::{
    approve::reminders,
    outcome::{Done, Said},
    place::Place,
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The plugin's id, e.g. acme.smtp-banner
    id: String,
    #[command(flatten)]
    pub(super) place: Place,
}

pub(super) async fn run(args: &Args) -> Done {
    let folder = args.place.folder()?;
    let held = folder.hold()?;
    let mut lock = folder.lock()?;
    let locked = args.place.find(&folder, &mut lock, &args.id)?;
    let before = locked.previous.first().cloned();
    let before = before.with_context(|| {
        format!("there is no version of {} before {} to go back to", args.id, locked.version)
    })?;
    // Better told now than by a service that then has neither.
    let read = vedette_sandbox::read(&folder.component(&before.sha256)?)?;
    args.place.ensure_fits(locked, &read)?;
    let from = locked.version.clone();
    locked.replace(before);
    let json = json!({ "id": args.id, "version": locked.version, "from": from });
    let text = format!("{} went back from {from} to {}.\n", args.id, locked.version);
    folder.write_lock(&lock)?;
    let text = text + &reminders(&lock, &args.id, &args.place.again());
    Ok(Said { json, text: text + &args.place.take_up(&args.id, held).await? })
}
