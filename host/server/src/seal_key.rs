//! The key that seals secrets at rest, and the file that holds it.
//!
//! *Invariant:* the file is made once, by nobody but its owner to be read, and never written again.
//! *Invariant:* a database that was sealed with another key is left as it is.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Read},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, bail, ensure};
use vedette_sandbox::key_file;
use vedette_store::{Error as StoreError, Seal};
use zeroize::Zeroizing;

use crate::Config;

/// The database's keys and where they are from.
#[derive(Debug)]
pub(crate) struct SealKey {
    pub(crate) seal: Seal,
    /// None = a key that ends with this process.
    file: Option<PathBuf>,
    /// Whether this start has made the file.
    is_new: bool,
}

impl SealKey {
    /// Reads `secrets.key_file`, or makes it at the first start. Without that setting the file
    /// lies in the folder of the embedded database; one in memory needs none, and one that many
    /// nodes share has to be told.
    ///
    /// # Errors
    /// When the file cannot be read or made, when others may read it, and when it holds no key.
    pub(crate) fn of(config: &Config) -> anyhow::Result<Self> {
        let (scheme, _) = config.db.split_once("://").unwrap_or_default();
        let is_shared = matches!(scheme, "ws" | "wss");
        let (file, setting) = match (&config.secrets.key_file, vedette_store::folder(&config.db)) {
            (Some(file), _) => (file.clone(), "secrets.key_file"),
            (None, Some(folder)) => (folder.join(FILE), "in the folder of db"),
            (None, None) if is_shared => bail!(
                "secrets.key_file must be set where nodes share a database: make one file with \
                 {HOW_TO_MAKE}, give every node a copy and name it there"
            ),
            // In memory; what is no database at all the store will tell.
            (None, None) => {
                return Ok(Self { seal: Seal::ephemeral(), file: None, is_new: false });
            }
        };
        if let Some(seal) = read(&file, setting)? {
            return Ok(Self { seal, file: Some(file), is_new: false });
        }
        ensure!(
            !is_shared,
            "the key file {} does not exist: every node needs a copy of the same one; the first \
             is made with {HOW_TO_MAKE}",
            file.display()
        );
        let is_new = make(&file)
            .with_context(|| format!("cannot make the key file {} ({setting})", file.display()))?;
        let seal = read(&file, setting)?
            .with_context(|| format!("the key file {} was removed again", file.display()))?;
        Ok(Self { seal, file: Some(file), is_new })
    }

    /// What an error of opening the database means for the key file. A file that was made for a
    /// database that has another key is taken away again.
    pub(crate) fn explain(&self, cause: StoreError) -> anyhow::Error {
        let (StoreError::WrongKey(id), Some(file)) = (&cause, &self.file) else {
            return anyhow::Error::new(cause);
        };
        let path = file.display();
        if self.is_new {
            let _ = fs::remove_file(file);
            return anyhow!(
                "the key file {path} is missing, and the database was sealed with it (key {id}): \
                 put it back or name its place in secrets.key_file; nothing was changed. {IF_LOST}"
            );
        }
        anyhow!(
            "the key file {path} does not hold the key that the database was sealed with (key \
             {id}): put the right file back, or add its line to this one; nothing was changed. \
             {IF_LOST}"
        )
    }
}

/// None when there is no such file. `setting` is what placed it.
fn read(path: &Path, setting: &str) -> anyhow::Result<Option<Seal>> {
    let path_shown = path.display();
    let unreadable = || format!("cannot read the key file {path_shown} ({setting})");
    let mut file = match File::open(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.with_context(unreadable)?,
    };
    let metadata = file.metadata().with_context(unreadable)?;
    // Before its mode: nobody should be told to close a folder such as /tmp to all others.
    ensure!(!metadata.is_dir(), "the key file {path_shown} ({setting}) is a folder");
    let mode = metadata.permissions().mode();
    ensure!(
        mode & OTHERS == 0,
        "the key file {path_shown} can be used by others than its owner (mode {:o}): chmod 600 \
         {path_shown}",
        mode & 0o777
    );
    let mut text = Zeroizing::new(String::new());
    file.read_to_string(&mut text).with_context(unreadable)?;
    let seal = Seal::parse(&text).map_err(|cause| {
        anyhow!(
            "the key file {path_shown} ({setting}) cannot be used: {cause}; a key is one \
             line as {HOW_TO_MAKE} writes it"
        )
    })?;
    Ok(Some(seal))
}

/// False when somebody else was faster.
fn make(path: &Path) -> io::Result<bool> {
    if let Some(folder) = path.parent() {
        // Where it is the database's, names and addresses of customers will lie in it.
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let is_new = key_file::make(path, Seal::new_key().as_bytes())?;
    if is_new {
        tracing::info!(
            path = %path.display(),
            "made the key file {}: without it the secrets in the database are lost, so keep a copy",
            path.display()
        );
    }
    Ok(is_new)
}

/// Beside the files of the embedded database, in its folder: what the service may write anyway.
const FILE: &str = "secret.key";
/// The bits of group and others.
const OTHERS: u32 = 0o077;
const IF_LOST: &str = "If that key is lost for good, `vedette secrets discard` goes on without what \
     only it opens";
const HOW_TO_MAKE: &str = "`(umask 077; head -c 32 /dev/urandom | base64 > FILE)`";

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::config::Secrets;

    fn config(db: &str, key_file: Option<PathBuf>) -> Config {
        Config { db: db.to_owned(), secrets: Secrets { key_file }, ..Config::default() }
    }

    fn folder() -> TempDir {
        TempDir::new().expect("there is room for a folder")
    }

    fn refusal(config: &Config) -> String {
        format!("{:#}", SealKey::of(config).expect_err("it is refused"))
    }

    #[test]
    fn first_start_makes_a_file_for_its_owner_alone_and_later_ones_read_it() {
        let folder = folder();
        let db = format!("surrealkv://{}/data/vedette?sync=every", folder.path().display());
        let config = config(&db, None);
        let first = SealKey::of(&config).expect("made");
        let path = folder.path().join("data/vedette/secret.key");
        assert_eq!((first.file.as_ref(), first.is_new), (Some(&path), true));
        let mode = fs::metadata(&path).expect("it exists").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = fs::read_to_string(&path).expect("text");
        assert!(!SealKey::of(&config).expect("read").is_new);
        assert_eq!(fs::read_to_string(&path).expect("text"), text);
    }

    #[test]
    fn memory_needs_no_file() {
        assert!(SealKey::of(&config("mem://", None)).expect("made up").file.is_none());
    }

    #[test]
    fn shared_database_needs_a_file_that_exists() {
        let said = refusal(&config("wss://u:hunter2@db.example", None));
        assert!(said.contains("secrets.key_file") && said.contains("base64"), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
        let path = folder().path().join("key");
        let said = refusal(&config("ws://u:p@db.example", Some(path.clone())));
        assert!(said.contains("every node") && !path.exists(), "{said}");
    }

    #[test]
    fn file_that_others_may_read_is_refused() {
        let folder = folder();
        let path = folder.path().join("key");
        let config = config("mem://", Some(path.clone()));
        SealKey::of(&config).expect("made");
        for mode in [0o640, 0o604, 0o620, 0o660] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("ours");
            let said = refusal(&config);
            assert!(said.contains(&format!("chmod 600 {}", path.display())), "{said}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).expect("ours");
        SealKey::of(&config).expect("the owner may make it read-only");
    }

    #[test]
    fn folder_is_no_key_file_and_keeps_its_mode() {
        let folder = folder();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("ours");
        let said = refusal(&config("mem://", Some(folder.path().into())));
        assert!(said.contains("is a folder") && !said.contains("chmod"), "{said}");
    }

    #[test]
    fn file_that_cannot_be_had_is_told_with_the_setting_that_placed_it() {
        let folder = folder();
        let file = folder.path().join("file");
        fs::write(&file, "").expect("ours");
        let db = format!("surrealkv://{}/data", file.display());
        let said = refusal(&config(&db, None));
        assert!(said.contains("(in the folder of db)") && !said.contains("secrets."), "{said}");
        let said = refusal(&config("mem://", Some(file.join("key"))));
        assert!(said.contains("(secrets.key_file)"), "{said}");
    }

    #[test]
    fn file_without_a_key_is_refused_and_not_quoted() {
        let folder = folder();
        let path = folder.path().join("key");
        let config = config("mem://", Some(path.clone()));
        SealKey::of(&config).expect("made");
        for text in ["", "\n", "hunter2", "aHVudGVyMg=="] {
            fs::write(&path, text).expect("ours");
            let said = refusal(&config);
            assert!(said.contains(&path.display().to_string()), "{said}");
            assert!(!said.contains("hunter2") && !said.contains("aHVudGVyMg"), "{said}");
        }
    }

    #[test]
    fn start_that_was_killed_while_it_made_the_key_hinders_no_later_one() {
        let folder = folder();
        let path = folder.path().join("secret.key");
        // What it leaves: a file beside, written in part.
        fs::write(folder.path().join(".secret.key.0011223344556677.part"), "hal").expect("ours");
        let made = SealKey::of(&config("mem://", Some(path.clone()))).expect("made");
        assert!(made.is_new && path.exists());
    }

    #[test]
    fn starts_at_the_same_time_agree_on_one_key() {
        let folder = folder();
        let config = config("mem://", Some(folder.path().join("secret.key")));
        let made = std::thread::scope(|scope| {
            let starts: Vec<_> =
                (0..8).map(|_| scope.spawn(|| SealKey::of(&config).expect("a key"))).collect();
            let keys = starts.into_iter().map(|start| start.join().expect("no panic"));
            keys.filter(|key| key.is_new).count()
        });
        assert_eq!(made, 1, "the others read what one has made");
    }

    #[test]
    fn file_that_was_made_for_another_database_is_taken_away() {
        let folder = folder();
        let path = folder.path().join("key");
        let config = config("mem://", Some(path.clone()));
        let made = SealKey::of(&config).expect("made");
        let said = made.explain(StoreError::WrongKey("ab12".into())).to_string();
        assert!(said.contains("is missing") && said.contains("ab12"), "{said}");
        assert!(!path.exists());
        SealKey::of(&config).expect("made again");
        let read = SealKey::of(&config).expect("read");
        let said = read.explain(StoreError::WrongKey("ab12".into())).to_string();
        assert!(said.contains("does not hold the key"), "{said}");
        assert!(path.exists());
    }
}
