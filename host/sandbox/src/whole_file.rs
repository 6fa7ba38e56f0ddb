//! A file that is there as a whole or not at all, and on disk before it counts: it is written beside
//! its place, put on disk, and then given its name.
//!
//! *Invariant:* a process that dies halfway leaves the file of that name as it was, and one beside
//! it that [`is_unfinished`].

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use aws_lc_rs::rand;

/// Writes a file into an existing folder, replacing the previous one. `mode` says who may read and
/// write it, as far as the process lets anybody.
///
/// # Errors
/// When it cannot be written, or not be put in its place: then the one before stays. When the folder
/// cannot be put on disk.
pub fn put(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let beside = beside(path)?;
    let written = begin(&beside, mode)
        .and_then(|file| fill(file, bytes))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // It may not have been made at all.
        let _ = fs::remove_file(&beside);
    }
    written?;
    sync_folder_of(path)
}

/// Whether a file of this name is one that somebody writes, or has ended writing halfway.
pub fn is_unfinished(name: &str) -> bool {
    let name = name.strip_suffix(UNFINISHED);
    name.is_some_and(|name| name.starts_with('.') && name.ends_with('.'))
}

/// Where a file of that name is written: nobody else writes there.
pub(crate) fn beside(path: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    rand::fill(&mut random).map_err(|_| io::Error::other("no random bytes"))?;
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.{UNFINISHED}", hex::encode(random)));
    Ok(path.with_file_name(name))
}

pub(crate) fn begin(beside: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(beside)
}

pub(crate) fn fill(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// Puts on disk that a file has its name.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match File::open(folder_of(path))?.sync_all() {
        // Not every file system knows what that is of a folder.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// How the name of a file ends that is not yet in its place.
pub(crate) const UNFINISHED: &str = "part";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).expect("a folder");
        files.map(|file| file.expect("a file").file_name().into_string().expect("text")).collect()
    }

    #[test]
    fn a_file_takes_the_place_of_the_one_before() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("plugins.lock");
        for bytes in [b"first".as_slice(), b"second", b""] {
            put(&path, bytes, 0o600).expect("written");
            assert_eq!(fs::read(&path).expect("there"), bytes);
            let mode = fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(names(folder.path()), ["plugins.lock"], "nothing is left beside it");
    }

    #[test]
    fn one_that_cannot_be_put_in_its_place_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("taken");
        fs::create_dir(&path).expect("made");
        put(&path, b"bytes", 0o600).expect_err("it is a folder");
        assert_eq!(names(folder.path()), ["taken"]);
        put(&folder.path().join("nowhere/file"), b"bytes", 0o600).expect_err("no such folder");
    }

    #[test]
    fn one_that_finds_no_room_is_an_error() {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
        fill(full, b"bytes").expect_err("nothing can be written to it");
    }

    #[test]
    fn what_is_being_written_is_known_by_its_name() {
        let beside = beside(Path::new("queue/17.json")).expect("a name");
        assert_eq!(folder_of(&beside), Path::new("queue"));
        let name = beside.file_name().and_then(|name| name.to_str()).expect("text");
        assert!(name.starts_with(".17.json.") && is_unfinished(name), "{name}");
        for other in ["17.json", "notes.part", ".hidden", "part"] {
            assert!(!is_unfinished(other), "{other}");
        }
    }

    #[test]
    fn a_file_system_without_a_sync_of_folders_is_no_error() {
        let unknown = File::open("/proc").expect("a folder").sync_all();
        assert_eq!(unknown.map_err(|error| error.kind()), Err(ErrorKind::InvalidInput));
        sync_folder_of(Path::new("/proc/version")).expect("as far as it knows what that is");
    }
}
