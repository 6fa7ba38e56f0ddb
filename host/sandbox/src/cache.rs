//! Native code of components that passed the gate, kept between starts.
//!
//! Loading native code is running it, so nothing is loaded that this very installation did not
//! write: an entry carries a MAC with a key that lies beside it, in a folder that nobody else may
//! enter, and is checked in memory before it is handed to wasmtime. Any doubt: compile again.
//!
//! *Invariant:* an entry's key covers the component, the engine's configuration, wasmtime's
//! version and the CPU's features; its MAC covers the key and the code.
//! *Invariant:* a file is read once; what was checked is what is loaded.
//! *Invariant:* an entry may go at any time: a process that wanted it compiles again.

use std::{
    fs::{self, DirBuilder, DirEntry, File, OpenOptions, TryLockError},
    hash::{Hash, Hasher},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use aws_lc_rs::{
    digest::{self, SHA256},
    hmac, rand,
};
use wasmtime::{Engine, ModuleVersionStrategy, component::Component};

use crate::{
    key_file,
    whole_file::{UNFINISHED, begin, beside},
};

/// The folder and its key.
pub(crate) struct Cache {
    folder: PathBuf,
    key: hmac::Key,
}

/// Name of an entry: what the code was compiled from, and for.
pub(crate) struct Entry([u8; 32]);

impl Cache {
    /// Opens the folder, making it and its key on first use.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(folder)?;
        let key = read_or_make_key(&folder.join(KEY_FILE))?;
        // The key file was made by us or by the folder's owner: they must be the same user.
        let owner = fs::metadata(folder)?.uid();
        if fs::metadata(folder.join(KEY_FILE))?.uid() != owner || probe_owner(folder)? != owner {
            return Err(io::Error::new(
                ErrorKind::PermissionDenied,
                "the folder is someone else's: give it to the user that this runs as (chown), or \
                 name another with cache_dir",
            ));
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(PRIVATE_FOLDER))?;
        Ok(Self { folder: folder.to_owned(), key: hmac::Key::new(hmac::HMAC_SHA256, &key) })
    }

    /// The component compiled for `engine` earlier, if there is an entry and it is genuine.
    pub(crate) fn load(&self, engine: &Engine, entry: &Entry) -> Option<Component> {
        let path = self.path(entry);
        let mut open = File::open(&path).ok()?;
        let mut blob = Vec::new();
        open.read_to_end(&mut blob).ok()?;
        let file = path.display().to_string();
        let (tag, code) = blob.split_at_checked(TAG)?;
        if hmac::verify(&self.key, &signed(entry, code), tag).is_err() {
            tracing::warn!(file, "{file} of the native code cache was changed; compiling again");
            return None;
        }
        match deserialize(engine, code) {
            Ok(component) => {
                // Used now; where that cannot be noted, it is compiled anew once in a while.
                let _ = open.set_modified(SystemTime::now());
                Some(component)
            }
            Err(error) => {
                tracing::warn!(file, "{file} of the native code cache does not load: {error:#}");
                None
            }
        }
    }

    /// Waits until nobody else compiles for this cache: of services that are started together on a
    /// new one, each finds what the first has made. None where that takes too long or cannot be
    /// told; then two do the same work.
    pub(crate) async fn turn(&self) -> Option<File> {
        let file = private(&self.folder.join(TURN_FILE)).ok()?;
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            match file.try_lock() {
                Ok(()) => return Some(file),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOOK).await,
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }

    /// Keeps the native code of a component. Failing is no error: it is compiled again next time.
    pub(crate) fn store(&self, entry: &Entry, component: &Component) {
        if let Err(reason) = self.write(entry, component) {
            tracing::warn!("native code of a plugin is not cached: {reason}");
        }
    }

    /// Removes what has not been used for long, what another version of wasmtime compiled, and what
    /// was left half written. For a service that has loaded its plugins: however long it ran before,
    /// what it needs was used just now.
    pub(crate) fn prune(&self, now: SystemTime) {
        let Ok(files) = fs::read_dir(&self.folder) else { return };
        let ours = generation();
        let gone = files
            .flatten()
            .filter(|file| is_stale(file, &ours, now) && fs::remove_file(file.path()).is_ok())
            .count();
        if gone > 0 {
            tracing::info!(gone, "removed {gone} files of the native code cache that are not used");
        }
    }

    fn write(&self, entry: &Entry, component: &Component) -> Result<(), String> {
        let code = component.serialize().map_err(|error| error.to_string())?;
        let tag = hmac::sign(&self.key, &signed(entry, &code));
        let path = self.path(entry);
        let half = beside(&path).map_err(|error| error.to_string())?;
        let written = begin(&half, PRIVATE_FILE).and_then(|mut file| {
            file.write_all(tag.as_ref())?;
            file.write_all(&code)?;
            fs::rename(&half, &path)
        });
        written.map_err(|error| {
            let _ = fs::remove_file(&half); // what is left of it is of no use to anyone
            error.to_string()
        })
    }

    fn path(&self, entry: &Entry) -> PathBuf {
        self.folder.join(format!("{}{}.{NATIVE}", generation(), hex::encode(entry.0)))
    }
}

impl Entry {
    pub(crate) fn of(engine: &Engine, component: &[u8]) -> Self {
        let mut hasher = Sha256(digest::Context::new(&SHA256));
        hasher.0.update(component);
        hasher.0.update(FORMAT);
        // Version of wasmtime, target, CPU features and settings.
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let digest = hasher.0.finish();
        Self(digest.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}

#[allow(unsafe_code)]
fn deserialize(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` asks for bytes that `Component::serialize` wrote and nobody changed.
    // The caller has just verified, over exactly these bytes in our own memory, a MAC that only
    // `Cache::write` makes, with a key that lies in a folder only this user may enter.
    unsafe { Component::deserialize(engine, code) }
}

fn signed(entry: &Entry, code: &[u8]) -> Vec<u8> {
    // The code is hashed first: a MAC over tens of megabytes would need a copy of them.
    [&entry.0, digest::digest(&SHA256, code).as_ref()].concat()
}

/// How the names of the entries begin that this version of wasmtime can load.
fn generation() -> String {
    let mut hasher = Sha256(digest::Context::new(&SHA256));
    ModuleVersionStrategy::WasmtimeVersion.hash(&mut hasher);
    format!("{:016x}-", hasher.finish())
}

/// `ours` is what the names of entries begin with that can be loaded.
fn is_stale(file: &DirEntry, ours: &str, now: SystemTime) -> bool {
    let path = file.path();
    let kept = match path.extension().and_then(|kind| kind.to_str()) {
        Some(NATIVE) if file.file_name().to_string_lossy().starts_with(ours) => KEPT,
        Some(NATIVE) => return true,
        Some(UNFINISHED) => KEPT_UNFINISHED,
        _ => return false,
    };
    let used = file.metadata().and_then(|file| file.modified());
    // Of a moment to come: by another clock, so nothing is known.
    used.is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age > kept))
}

fn read_or_make_key(path: &Path) -> io::Result<[u8; KEY]> {
    if !path.try_exists()? {
        make_key(path)?;
    }
    let mut file = File::open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        let message = "others may read the key of the native code cache; remove it";
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    let mut read = Vec::new();
    file.read_to_end(&mut read)?;
    let Ok(key) = read.try_into() else {
        // Something else has cut it. Nothing that was signed with it loads.
        tracing::warn!("the key of the native code cache was damaged; making another");
        fs::remove_file(path)?;
        return read_or_make_key(path);
    };
    Ok(key)
}

fn make_key(path: &Path) -> io::Result<bool> {
    let mut key = [0; KEY];
    rand::fill(&mut key).map_err(|_| io::Error::other("no random bytes"))?;
    key_file::make(path, &key)
}

/// The user that we are to the file system.
fn probe_owner(folder: &Path) -> io::Result<u32> {
    let path = beside(&folder.join("owner"))?;
    let owner = begin(&path, PRIVATE_FILE)?.metadata()?.uid();
    fs::remove_file(path)?;
    Ok(owner)
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(PRIVATE_FILE).open(path)
}

/// SHA-256 as a [`Hasher`]: only to feed wasmtime's compatibility hash into the key.
struct Sha256(digest::Context);

impl Hasher for Sha256 {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = self.0.clone().finish();
        let first = digest.as_ref().first_chunk().expect("SHA-256 has 32 bytes");
        u64::from_le_bytes(*first)
    }
}

const KEY_FILE: &str = "mac.key";
const NATIVE: &str = "native";
/// For how long an entry stays that no start uses.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// Longer than anybody writes.
const KEPT_UNFINISHED: Duration = Duration::from_secs(24 * 3600);
/// Locked by the process that compiles; the system unlocks it when that ends.
const TURN_FILE: &str = "turn.lock";
/// Longer than any plugin takes to compile on a machine that is not overloaded.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);
const KEY: usize = 32;
const PRIVATE_FOLDER: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;
const TAG: usize = 32;
/// Changes when the layout of an entry does.
const FORMAT: &[u8] = b"vedette native 1";

#[cfg(test)]
mod tests;
