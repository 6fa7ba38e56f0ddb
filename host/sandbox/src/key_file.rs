//! A file that holds a key: made once, by nobody but its owner to be read, as a whole or not at all.
//!
//! *Invariant:* a process that dies halfway leaves no file without a key, or with half of one.
//! *Invariant:* of all processes that make the same file at the same time, each goes on with the
//! first; a file that exists is never written again.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::Path,
};

use crate::whole_file::{begin, beside, fill, folder_of, sync_folder_of};

/// Makes the file of a key in a folder that exists. False when there was one already, which stays.
///
/// # Errors
/// When it cannot be written, or not be put in its place.
pub fn make(path: &Path, key: &[u8]) -> io::Result<bool> {
    make_with(path, key, hard_link)
}

fn make_with(
    path: &Path,
    key: &[u8],
    link: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> io::Result<bool> {
    let beside = beside(path)?;
    let file = begin(&beside, OWNER_ALONE)?;
    let made = fill(file, key).and_then(|()| place(&beside, path, link));
    // Gone already where it was renamed. Its name is of no use to anyone.
    let _ = fs::remove_file(&beside);
    let made = made?;
    // The key is on disk before anything is done with it.
    sync_folder_of(path)?;
    Ok(made)
}

/// Gives a file its name, unless there is one of that name. A link does that in one step, but not
/// every file system has links; there the folder's lock keeps processes that rename apart.
fn place(
    beside: &Path,
    path: &Path,
    link: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> io::Result<bool> {
    match link(beside, path) {
        Ok(()) => return Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        // Whatever it says: that there are no links here is told in many ways.
        Err(_) => {}
    }
    let folder = File::open(folder_of(path))?;
    folder.lock()?;
    if path.try_exists()? {
        return Ok(false);
    }
    fs::rename(beside, path)?;
    Ok(true)
}

fn hard_link(beside: &Path, path: &Path) -> io::Result<()> {
    fs::hard_link(beside, path)
}

const OWNER_ALONE: u32 = 0o600;

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, os::unix::fs::PermissionsExt, thread};

    use super::*;

    fn no_links(_: &Path, _: &Path) -> io::Result<()> {
        Err(ErrorKind::PermissionDenied.into())
    }

    fn names(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).expect("a folder");
        files.map(|file| file.expect("a file").file_name().into_string().expect("text")).collect()
    }

    #[test]
    fn the_first_key_stays_with_links_and_without() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, links) in [("linked.key", true), ("renamed.key", false)] {
            let path = folder.path().join(name);
            let make = |key: &[u8]| {
                if links { make(&path, key) } else { make_with(&path, key, no_links) }
            };
            assert!(make(b"first").expect("made"), "{name}");
            assert!(!make(b"second").expect("found"), "{name}");
            assert_eq!(fs::read(&path).expect("a key"), b"first", "{name}");
            let mode = fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, OWNER_ALONE, "{name}");
        }
        assert_eq!(names(folder.path()).len(), 2, "nothing is left beside them");
    }

    #[test]
    fn of_all_who_make_one_at_the_same_time_everybody_has_the_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for links in [true, false] {
            let path = folder.path().join(format!("{links}.key"));
            let start = |key: u8| {
                let made = if links {
                    make(&path, &[key; 32])
                } else {
                    make_with(&path, &[key; 32], no_links)
                };
                (made.expect("made or found"), fs::read(&path).expect("a key"))
            };
            let start = &start;
            let ended: Vec<(bool, Vec<u8>)> = thread::scope(|scope| {
                let starts: Vec<_> = (0..8).map(|key| scope.spawn(move || start(key))).collect();
                starts.into_iter().map(|start| start.join().expect("no panic")).collect()
            });
            assert_eq!(ended.iter().filter(|(made, _)| *made).count(), 1);
            let keys: BTreeSet<Vec<u8>> = ended.into_iter().map(|(_, key)| key).collect();
            assert_eq!(keys.len(), 1, "they agree");
        }
    }

    #[test]
    fn whoever_ends_halfway_leaves_no_file_of_that_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.key");
        let ended = std::panic::catch_unwind(|| {
            make_with(&path, b"key", |beside, path| {
                assert_eq!(fs::read(beside).expect("written"), b"key", "as a whole, beside it");
                assert!(!path.exists(), "and under no other name");
                panic!("killed")
            })
        });
        ended.expect_err("killed");
        assert!(!path.exists());
        assert!(make(&path, b"other").expect("made at the next start"));
        assert_eq!(fs::read(&path).expect("a key"), b"other");

        let gone = folder.path().join("nowhere/b.key");
        make(&gone, b"key").expect_err("no such folder");
    }
}
