//! Native code of components that passed the gate, kept between starts.
//!
//! Loading native code is running it, so nothing is loaded that this very installation did not
//! write: an entry carries a MAC with a key that lies beside it, in a folder that nobody else may
//! enter, and is checked in memory before it is handed to wasmtime. Any doubt: compile again.
//!
//! *Invariant:* an entry's key covers the component, the engine's configuration, wasmtime's
//! version and the CPU's features; its MAC covers the key and the code.
//! *Invariant:* a file is read once; what was checked is what is loaded.
//! *Invariant:* an entry may go at any time: whoever wanted it compiles again.

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

use crate::{key_file, whole_file::UNFINISHED};

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
        // The key file was made by us or by whoever owns the folder: they must be one.
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
        let mut file = File::open(self.path(entry)).ok()?;
        let mut blob = Vec::new();
        file.read_to_end(&mut blob).ok()?;
        let (tag, code) = blob.split_at_checked(TAG)?;
        if hmac::verify(&self.key, &signed(entry, code), tag).is_err() {
            tracing::warn!("a file of the native code cache was changed; compiling again");
            return None;
        }
        match deserialize(engine, code) {
            Ok(component) => {
                // Used now; where that cannot be noted, it is compiled anew once in a while.
                let _ = file.set_modified(SystemTime::now());
                Some(component)
            }
            Err(error) => {
                tracing::warn!("a file of the native code cache does not load: {error:#}");
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
        let half = path.with_extension(unfinished());
        let written = private(&half).and_then(|mut file| {
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

/// Who we are, as the file system sees it.
fn probe_owner(folder: &Path) -> io::Result<u32> {
    let path = folder.join(format!("owner.{}", unfinished()));
    let owner = private(&path)?.metadata()?.uid();
    fs::remove_file(path)?;
    Ok(owner)
}

/// How the name of a file ends that is not done: no other writer's does, in this process neither.
fn unfinished() -> String {
    format!("{}.{UNFINISHED}", uuid::Uuid::new_v4().simple())
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
/// Locked by whoever compiles; the system unlocks it when its process ends.
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
mod tests {
    use super::*;
    use crate::engine::{Class, Engines};

    /// The smallest component: nothing inside.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

    fn cached() -> (tempfile::TempDir, Engine, Entry) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engines = Engines::new().expect("an engine");
        let engine = engines.get(Class::Light).expect("an engine").clone();
        let entry = Entry::of(&engine, EMPTY);
        let cache = Cache::open(folder.path()).expect("a cache");
        let component = Component::from_binary(&engine, EMPTY).expect("compiles");
        assert!(cache.load(&engine, &entry).is_none(), "nothing is there yet");
        cache.store(&entry, &component);
        (folder, engine, entry)
    }

    #[test]
    fn what_was_stored_is_loaded_after_a_restart() {
        let (folder, engine, entry) = cached();
        let reopened = Cache::open(folder.path()).expect("a cache");
        assert!(reopened.load(&engine, &entry).is_some());
    }

    #[test]
    fn a_forged_byte_anywhere_is_never_loaded() {
        let (folder, engine, entry) = cached();
        let cache = Cache::open(folder.path()).expect("a cache");
        let path = cache.path(&entry);
        let genuine = fs::read(&path).expect("an entry");
        let step = (genuine.len() / 64).max(1);
        for at in (0..genuine.len()).step_by(step).chain([TAG - 1, TAG, genuine.len() - 1]) {
            let mut forged = genuine.clone();
            forged[at] ^= 1;
            fs::write(&path, &forged).expect("writable");
            assert!(cache.load(&engine, &entry).is_none(), "byte {at}");
        }
        for short in [0, 1, TAG, genuine.len() - 1] {
            fs::write(&path, &genuine[..short]).expect("writable");
            assert!(cache.load(&engine, &entry).is_none(), "cut to {short}");
        }
        fs::write(&path, &genuine).expect("writable");
        assert!(cache.load(&engine, &entry).is_some());
    }

    #[test]
    fn an_entry_moved_to_another_name_is_not_loaded() {
        let (folder, engine, entry) = cached();
        let cache = Cache::open(folder.path()).expect("a cache");
        let other = Entry::of(&engine, b"another component");
        fs::copy(cache.path(&entry), cache.path(&other)).expect("copies");
        assert!(cache.load(&engine, &other).is_none());
    }

    #[test]
    fn an_entry_made_with_another_key_is_not_loaded() {
        let (folder, engine, entry) = cached();
        fs::remove_file(folder.path().join(KEY_FILE)).expect("a key");
        let cache = Cache::open(folder.path()).expect("a new key");
        assert!(cache.load(&engine, &entry).is_none());
    }

    fn last_used(path: &Path, at: SystemTime) {
        let file = OpenOptions::new().write(true).open(path).expect("there");
        file.set_modified(at).expect("ours");
    }

    #[test]
    fn what_no_start_has_used_for_long_goes() {
        let (folder, engine, entry) = cached();
        let cache = Cache::open(folder.path()).expect("a cache");
        let path = cache.path(&entry);
        let now = SystemTime::now();
        let long_ago = now - KEPT - Duration::from_secs(1);

        last_used(&path, long_ago);
        assert!(cache.load(&engine, &entry).is_some(), "used at this start");
        cache.prune(now);
        assert!(path.exists(), "and so it stays");
        last_used(&path, now + KEPT);
        cache.prune(now);
        assert!(path.exists(), "a clock that was set back says nothing");
        last_used(&path, long_ago);
        cache.prune(now);
        assert!(!path.exists());
        assert!(cache.load(&engine, &entry).is_none(), "it is compiled again");
        cache.store(&entry, &Component::from_binary(&engine, EMPTY).expect("compiles"));
        assert!(cache.load(&engine, &entry).is_some());
    }

    #[tokio::test]
    async fn what_another_version_compiled_goes_and_what_is_no_entry_stays() {
        let (folder, engine, entry) = cached();
        let cache = Cache::open(folder.path()).expect("a cache");
        drop(cache.turn().await.expect("nobody else has it"));
        let now = SystemTime::now();
        let long_ago = now - KEPT - Duration::from_secs(1);
        let place = |name: &str, at: SystemTime| {
            let path = folder.path().join(name);
            fs::write(&path, "").expect("writable");
            last_used(&path, at);
            path
        };
        let gone = [
            place("0123456789abcdef-00.native", now),
            place("00.native", now),
            place("00.4711.part", long_ago),
        ];
        let kept = [
            place("00.4712.part", now),
            place("notes.txt", long_ago),
            folder.path().join(KEY_FILE),
            folder.path().join(TURN_FILE),
        ];
        for old in &kept[2..] {
            last_used(old, long_ago);
        }
        cache.prune(now);
        assert!(gone.iter().all(|path| !path.exists()), "{gone:?}");
        assert!(kept.iter().all(|path| path.exists()), "{kept:?}");
        assert!(cache.load(&engine, &entry).is_some());
    }

    #[test]
    fn of_all_who_make_a_key_at_the_same_time_everybody_has_the_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(KEY_FILE);
        let key = read_or_make_key(&path).expect("a key");
        assert!(!make_key(&path).expect("finds one"));
        assert_eq!(read_or_make_key(&path).expect("a key"), key);
        let files = fs::read_dir(folder.path()).expect("a folder");
        assert_eq!(files.count(), 1, "nothing is left beside it");
    }

    #[test]
    fn who_opens_it_at_the_same_time_is_in_nobodys_way() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let open = || (0..200).try_for_each(|_| Cache::open(folder.path()).map(drop));
        std::thread::scope(|threads| {
            let all = [0; 4].map(|_| threads.spawn(open));
            for one in all {
                one.join().expect("no panic").expect("a cache each time");
            }
        });
    }

    #[test]
    fn a_damaged_key_is_made_anew() {
        let (folder, engine, entry) = cached();
        for damaged in [0, 16, 31, 33] {
            fs::write(folder.path().join(KEY_FILE), vec![7_u8; damaged]).expect("writable");
            let cache = Cache::open(folder.path()).expect("a new key");
            assert!(cache.load(&engine, &entry).is_none(), "{damaged} bytes");
            cache.store(&entry, &Component::from_binary(&engine, EMPTY).expect("compiles"));
            let reopened = Cache::open(folder.path()).expect("the same key");
            assert!(reopened.load(&engine, &entry).is_some(), "{damaged} bytes");
        }
    }

    #[tokio::test]
    async fn one_at_a_time_has_the_turn() {
        let (folder, ..) = cached();
        let one = Cache::open(folder.path()).expect("a cache");
        let other = Cache::open(folder.path()).expect("the same cache");
        let turn = one.turn().await.expect("nobody else has it");
        assert!(tokio::time::timeout(LOOK * 3, other.turn()).await.is_err(), "it waits");
        drop(turn);
        assert!(other.turn().await.is_some());
    }

    #[tokio::test]
    async fn folder_and_files_are_private() {
        let (folder, ..) = cached();
        Cache::open(folder.path()).expect("a cache").turn().await.expect("nobody else has it");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(folder.path()), PRIVATE_FOLDER);
        for file in fs::read_dir(folder.path()).expect("a folder") {
            assert_eq!(mode(&file.expect("a file").path()), PRIVATE_FILE);
        }
        let key = folder.path().join(KEY_FILE);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).expect("ours");
        assert!(Cache::open(folder.path()).is_err(), "a key that others have read is no key");
    }
}
