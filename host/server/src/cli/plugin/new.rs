//! `vedette plugin new`: a project that builds and passes its tests, to go on from.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, bail, ensure};
use serde_json::json;
use vedette_model::CheckType;
use vedette_sandbox::{Kind as Plugs, Manifest};

use super::{
    outcome::{Done, Said},
    place::word,
    template::{self, Gaps, Kind},
};
use crate::plugins::{is_ours, refusal};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Publisher and name, e.g. acme.smtp-banner
    id: String,
    /// What the plugin is
    #[arg(long)]
    kind: Kind,
    /// The check's type or the channel's name [default: the plugin's name, with _ for -]
    #[arg(long = "as", value_name = "NAME")]
    named: Option<CheckType>,
    /// The folder to write, new or empty [default: the plugin's name]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Take vedette-sdk from this checkout of Vedette; it is in no registry yet, so this must be given
    #[arg(long, value_name = "PATH")]
    sdk: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(args: &Args) -> Done {
    let name = name_of(&args.id)?;
    let folder = args.dir.clone().unwrap_or_else(|| PathBuf::from(name));
    let named = args.named.clone().map_or_else(|| named(name), Ok)?;
    let plugs = match args.kind {
        Kind::Check => Plugs::Check(named.clone()),
        Kind::Notifier => Plugs::Notifier(named.to_string()),
    };
    // Better told now than when it is to be installed.
    if refusal(&args.id, &plugs, None).is_some() {
        return Err(anyhow!("{named} is built in; give the plugin another name with --as").into());
    }
    let gaps = Gaps {
        package: args.id.replace('.', "-"),
        title: title(name),
        named: named.into(),
        sdk: checkout(args.sdk.as_deref().context(UNPUBLISHED)?)?,
        id: args.id.clone(),
    };
    require_empty(&folder)?;
    for (path, text) in template::files(args.kind, &gaps) {
        write(&folder.join(path), &text)?;
    }
    let text = format!(
        "{} was created in {}; its README.md says how to go on.\n\
         Build it with: vedette plugin build --dir {}\n",
        args.id,
        folder.display(),
        word(&folder)
    );
    Ok(Said { json: json!({ "id": args.id, "dir": folder }), text })
}

/// The name in an id that may be given to a plugin.
fn name_of(id: &str) -> anyhow::Result<&str> {
    let parts = id.split_once('.').filter(|_| Manifest::is_id(id));
    let (_, name) = parts.with_context(|| {
        format!(
            "{id:?} must be publisher.name in lower case letters, digits and dashes, as in \
             acme.smtp-banner"
        )
    })?;
    ensure!(
        !is_ours(id),
        "the publisher vedette is reserved for built-in plugins; give your own, as in acme.{name}"
    );
    Ok(name)
}

fn named(name: &str) -> anyhow::Result<CheckType> {
    let said = "is too long for a check's type or a channel's name; give one of at most 31 \
        characters with --as";
    name.replace('-', "_").parse::<CheckType>().ok().with_context(|| format!("{name} {said}"))
}

/// `smtp-banner` as people read it: `Smtp banner`.
fn title(name: &str) -> String {
    let mut title = name.replace('-', " ");
    title[..1].make_ascii_uppercase();
    title
}

/// The SDK in a checkout; `path` is the checkout, or the SDK's own folder in it.
fn checkout(path: &Path) -> anyhow::Result<String> {
    let places = [path.to_owned(), path.join("sdk/rust")];
    let found = places.into_iter().find(|place| is_sdk(place)).with_context(|| {
        format!("there is no vedette-sdk in {}; give a checkout of Vedette", path.display())
    })?;
    let found =
        fs::canonicalize(&found).with_context(|| format!("cannot resolve {}", found.display()))?;
    let text = found.to_str().context("the path of vedette-sdk must be UTF-8")?;
    Ok(format!("path = {}", toml::Value::from(text)))
}

fn is_sdk(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    text.lines().any(|line| line == "name = \"vedette-sdk\"")
}

/// What somebody wrote is never overwritten.
fn require_empty(folder: &Path) -> anyhow::Result<()> {
    let place = folder.display();
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            ensure!(
                entries.next().is_none(),
                "the folder {place} is not empty; give another with --dir"
            );
            Ok(())
        }
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(cause) => bail!("{place} cannot be written ({cause}); give another with --dir"),
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = match path.parent() {
        Some(folder) => fs::create_dir_all(folder).and_then(|()| fs::write(path, text)),
        None => fs::write(path, text),
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Otherwise a registry would be asked for a name that nobody owns, and anybody who takes it would
/// have code in what operators approve.
const UNPUBLISHED: &str = "where is vedette-sdk? It is in no registry yet: give a checkout of Vedette, of \
    the version of this program, with --sdk";

#[cfg(test)]
mod tests {
    use super::super::outcome::Failure;
    use super::*;

    #[test]
    fn id_is_publisher_and_name_and_not_ours() {
        assert_eq!(name_of("acme.smtp-banner").expect("an id"), "smtp-banner");
        for id in
            ["banner", "acme.", ".banner", "Acme.banner", "acme.a.b", "acme.a b", "acme.a\"\n"]
        {
            let refused = name_of(id).expect_err(id).to_string();
            assert!(refused.contains("must be publisher.name"), "{refused}");
        }
        let refused = name_of("vedette.check-ssl").expect_err("ours").to_string();
        assert!(refused.contains("give your own, as in acme.check-ssl"), "{refused}");
    }

    #[test]
    fn type_and_title_are_made_of_the_name() {
        assert_eq!(named("smtp-banner").expect("a type").as_str(), "smtp_banner");
        assert_eq!(title("smtp-banner"), "Smtp banner");
        let refused = named(&"a".repeat(32)).expect_err("too long").to_string();
        assert!(refused.ends_with("with --as"), "{refused}");
    }

    #[test]
    fn folder_with_something_in_it_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(require_empty(folder.path()).is_ok());
        assert!(require_empty(&folder.path().join("new")).is_ok());
        let file = folder.path().join("file");
        fs::write(&file, "mine").expect("written");
        for place in [folder.path(), &file] {
            let refused = require_empty(place).expect_err("refused").to_string();
            assert!(refused.ends_with("give another with --dir"), "{refused}");
        }
    }

    #[test]
    fn project_without_a_checkout_is_not_begun() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("banner");
        let args = Args {
            id: "acme.banner".to_owned(),
            kind: Kind::Check,
            named: None,
            dir: Some(folder.clone()),
            sdk: None,
            json: false,
        };
        let Err(Failure::Environment(cause)) = run(&args) else { panic!("it was begun") };
        assert!(cause.to_string().ends_with("with --sdk"), "{cause}");
        assert!(!folder.exists(), "nobody has to take it away again");
    }

    #[test]
    fn sdk_is_in_a_checkout() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        for place in [root.to_owned(), root.join("sdk/rust")] {
            let said = checkout(&place).expect("the SDK");
            assert!(said.starts_with("path = \"/") && said.ends_with("/sdk/rust\""), "{said}");
        }
        let refused = checkout(&root.join("host")).expect_err("no SDK").to_string();
        assert!(refused.contains("give a checkout of Vedette"), "{refused}");
    }
}
