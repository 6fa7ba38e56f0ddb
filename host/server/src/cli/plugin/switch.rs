//! `vedette plugin enable` and `disable`.

use serde_json::json;

use super::{
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

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    On,
    Off,
}

pub(super) async fn run(args: &Args, to: Switch) -> Done {
    let folder = args.place.folder()?;
    let held = folder.hold()?;
    let mut lock = folder.lock()?;
    let locked = args.place.find(&folder, &mut lock, &args.id)?;
    locked.enabled = to == Switch::On;
    let json = json!({ "id": args.id, "version": locked.version, "enabled": locked.enabled });
    let state = if locked.enabled { "enabled" } else { "disabled" };
    let text = format!("{} {} is {state}.\n", args.id, locked.version);
    folder.write_lock(&lock)?;
    Ok(Said { json, text: text + &args.place.take_up(&args.id, held).await? })
}
