//! Native code that is loaded again, or refused.

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
