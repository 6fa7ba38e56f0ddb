//! The operator's plugin folder: `plugins.lock`, and each component as `<sha256>.wasm`.
//!
//! *Invariant:* a component is never read without being held against the hash that it is named by.
//! *Invariant:* the lock and components are there as a whole or not at all ([`whole_file`]).

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use aws_lc_rs::digest;
use vedette_sandbox::whole_file;

use super::lock::Lock;

/// Where an operator's plugins are. It need not exist: then there are none.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

/// A component that waits for approval.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) sha256: String,
    /// Its manifest, or why it has none that can be used.
    pub(crate) read: Result<vedette_sandbox::Read, String>,
}

impl Folder {
    /// A path from where this process runs is told as a whole: a command and the service may each have
    /// a folder of the same name.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self(std::path::absolute(&path).unwrap_or(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Waits until nobody else changes the lock, and keeps others from it until what is answered is
    /// dropped: of two changes made from the same lock one would be lost. None where there is no
    /// folder yet, and so nothing to change.
    pub(crate) fn hold(&self) -> anyhow::Result<Option<File>> {
        let held = match File::open(&self.0) {
            Err(cause) if is_absent(&cause) => return Ok(None),
            opened => opened.and_then(|folder| folder.lock().map(|()| folder)),
        };
        held.map(Some).with_context(|| format!("cannot lock {}", self.0.display()))
    }

    /// What is approved; nothing where there is no lock.
    pub(crate) fn lock(&self) -> anyhow::Result<Lock> {
        let path = self.0.join(LOCK);
        let text = match regular(&path).and_then(|()| fs::read_to_string(&path)) {
            Err(cause) if is_absent(&cause) => return Ok(Lock::default()),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        Lock::parse(&text).with_context(|| format!("in {}", self.0.display()))
    }

    /// Puts a lock in the place of the one before.
    pub(crate) fn write_lock(&self, lock: &Lock) -> anyhow::Result<()> {
        self.put(LOCK, lock.to_text().as_bytes())
    }

    /// The component with this hash.
    pub(crate) fn component(&self, hash: &str) -> anyhow::Result<Vec<u8>> {
        let path = self.file(hash);
        let bytes = regular(&path).and_then(|()| read_component(&path)).with_context(|| {
            format!("cannot read {}; put the file back or remove the plugin", path.display())
        })?;
        ensure!(
            sha256(&bytes) == hash,
            "{} is not the file that was approved, which is named by its SHA-256; put that one \
             back, or install and approve this one under its own",
            path.display()
        );
        Ok(bytes)
    }

    /// Takes a component in, under its hash, which is answered.
    pub(crate) fn add(&self, component: &[u8]) -> anyhow::Result<String> {
        let hash = sha256(component);
        self.put(&name(&hash), component)?;
        Ok(hash)
    }

    /// Deletes a component; one that is not there is deleted.
    pub(crate) fn delete(&self, hash: &str) -> anyhow::Result<()> {
        let path = self.file(hash);
        match fs::remove_file(&path) {
            Err(cause) if is_absent(&cause) => Ok(()),
            removed => removed.with_context(|| format!("cannot delete {}", path.display())),
        }
    }

    /// Components that the lock does not name, by their hashes.
    pub(crate) fn pending(&self, lock: &Lock) -> anyhow::Result<Vec<Pending>> {
        let entries = match fs::read_dir(&self.0) {
            Err(cause) if is_absent(&cause) => return Ok(Vec::new()),
            read => read.with_context(|| format!("cannot list {}", self.0.display()))?,
        };
        let mut hashes = Vec::new();
        for entry in entries {
            let file = entry.with_context(|| format!("cannot list {}", self.0.display()))?;
            let file = file.file_name();
            let hash = file.to_str().and_then(|file| file.strip_suffix(".wasm"));
            hashes.extend(hash.filter(|hash| hash.len() == 64).map(str::to_owned));
        }
        hashes.retain(|hash| !lock.names(hash));
        hashes.sort_unstable();
        Ok(hashes.into_iter().map(|hash| self.waiting(hash)).collect())
    }

    fn waiting(&self, sha256: String) -> Pending {
        let read = self
            .component(&sha256)
            .map_err(|cause| format!("{cause:#}"))
            .and_then(|bytes| vedette_sandbox::read(&bytes).map_err(|wrong| wrong.to_string()));
        Pending { sha256, read }
    }

    fn file(&self, hash: &str) -> PathBuf {
        self.0.join(name(hash))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.0.join(name);
        fs::create_dir_all(&self.0)
            .and_then(|()| whole_file::put(&path, bytes, READ_BY_ALL))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// In lower case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex::encode(digest::digest(&digest::SHA256, bytes))
}

fn name(hash: &str) -> String {
    format!("{hash}.wasm")
}

/// Opening anything else, as a named pipe, may wait for ever.
fn regular(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.is_file() { Ok(()) } else { Err(io::Error::other("it is no file")) }
}

/// A file that no plugin could be is not read into memory.
pub(crate) fn read_component(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than any plugin may be"));
    }
    Ok(bytes)
}

fn is_absent(cause: &io::Error) -> bool {
    cause.kind() == io::ErrorKind::NotFound
}

const LOCK: &str = "plugins.lock";
/// There is no secret in it, and what it approves runs: others read it at most.
const READ_BY_ALL: u32 = 0o644;
/// Twice what the gate lets through.
const LARGEST: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    /// Without a program for it: until that runs, it would hold the locks of other tests too.
    fn make_pipe(path: &Path) {
        mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).expect("made");
    }

    #[test]
    fn folder_is_told_as_a_whole_path() {
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(Folder::new("data/plugins").path(), here.join("data/plugins"));
        assert_eq!(Folder::new("/srv/plugins").path(), Path::new("/srv/plugins"));
    }

    #[test]
    fn a_folder_that_is_not_there_holds_nothing() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(home.path().join("plugins"));
        assert_eq!(folder.lock().expect("no lock"), Lock::default());
        assert!(folder.pending(&Lock::default()).expect("no files").is_empty());
        folder.write_lock(&Lock::default()).expect("made");
        assert_eq!(folder.lock().expect("a lock"), Lock::default());
        let files = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(files, 1, "nothing is left beside the lock");
    }

    #[test]
    fn one_at_a_time_changes_the_lock() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(home.path().join("plugins"));
        assert!(folder.hold().expect("nothing to hold").is_none());
        folder.write_lock(&Lock::default()).expect("made");
        let another = File::open(folder.path()).expect("a folder");
        let held = folder.hold().expect("held");
        assert!(another.try_lock().is_err());
        drop(held);
        another.try_lock().expect("nobody holds it");
    }

    #[test]
    fn a_file_that_is_not_what_its_name_says_is_not_read() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(home.path());
        let hash = folder.add(b"no component").expect("taken in");
        assert_eq!(folder.component(&hash).expect("as it was"), b"no component");
        let pending = folder.pending(&Lock::default()).expect("files");
        assert_eq!(pending.len(), 1);
        let wrong = pending[0].read.as_ref().expect_err("it is no component");
        assert!(wrong.contains("not a WebAssembly component"), "{wrong}");

        fs::write(folder.file(&hash), b"another").expect("writable");
        let refused = folder.component(&hash).expect_err("tampered with").to_string();
        assert!(refused.contains("is not the file that was approved"), "{refused}");
        folder.delete(&hash).expect("deleted");
        folder.delete(&hash).expect("deleted before");
        let refused = folder.component(&hash).expect_err("gone").to_string();
        assert!(refused.contains("put the file back"), "{refused}");
    }

    #[test]
    fn a_pipe_in_the_folder_keeps_nobody_waiting() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(home.path());
        make_pipe(&folder.file(&"a".repeat(64)));
        let pending = folder.pending(&Lock::default()).expect("files");
        let wrong = pending[0].read.as_ref().expect_err("it is no component");
        assert!(wrong.contains("it is no file"), "{wrong}");

        make_pipe(&home.path().join(LOCK));
        let wrong = format!("{:#}", folder.lock().expect_err("it is no lock"));
        assert!(wrong.contains("plugins.lock: it is no file"), "{wrong}");
    }
}
