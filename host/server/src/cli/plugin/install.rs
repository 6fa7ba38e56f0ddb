//! `vedette plugin install`.

use std::path::PathBuf;

use anyhow::anyhow;

use super::{
    asked, inspect,
    outcome::{Done, Failure, Said},
    place::Place,
};
use crate::plugins::sha256;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The component
    file: PathBuf,
    /// Take it only if this is its SHA-256
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    #[command(flatten)]
    pub(super) place: Place,
}

pub(super) fn run(args: &Args) -> Done {
    let bytes = inspect::file(&args.file)?;
    let hash = sha256(&bytes);
    if let Some(wanted) = args.sha256.as_ref().filter(|wanted| !wanted.eq_ignore_ascii_case(&hash))
    {
        return Err(Failure::plugin(format!(
            "{} has the SHA-256 {hash} and not {wanted}; get the file that its author published",
            args.file.display()
        )));
    }
    let read = inspect::acceptable(&bytes).map_err(Failure::Plugin)?;
    let manifest = &read.manifest;
    let folder = args.place.folder()?;
    let lock = folder.lock()?;
    if lock.names(&hash) {
        let (id, version) = (&manifest.id, &manifest.version);
        let mut reason = format!("{id} {version} is approved already");
        if lock.find(id).is_some_and(|locked| locked.sha256 != hash) {
            let (which, again) = (&hash[..12], args.place.again());
            reason +=
                &format!("; to go back to it: vedette plugin approve {id} --sha256 {which}{again}");
        }
        return Err(Failure::Environment(anyhow!(reason)));
    }
    folder.add(&bytes)?;
    let mut json = inspect::described(&read, &hash);
    json["state"] = "pending".into();
    let text = format!(
        "{}{}It waits in {}. To let it run: vedette plugin approve {}{}\n{}",
        inspect::title(manifest),
        asked::lines("asks for", &asked::of(&read.text)),
        folder.path().display(),
        manifest.id,
        args.place.again(),
        inspect::told(manifest)
    );
    Ok(Said { json, text })
}
