//! Reports that wait: a folder with one file each, whose names sort by time.
//!
//! *Invariant:* a file is there as a whole or not at all, and on disk before it counts
//! ([`whole_file`]). Only its owner may read it.
//! *Invariant:* one agent has the folder at a time.
//! *Invariant:* the queue is bounded; where it is full the oldest go, since the youngest are what
//! is true now.

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, DirBuilder, File, TryLockError},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use vedette_model::Timestamp;
use vedette_sandbox::whole_file::{self, is_unfinished};

pub(super) struct Queue {
    folder: PathBuf,
    /// Each with its size.
    waiting: BTreeMap<Name, u64>,
    /// Of all of them.
    bytes: u64,
    bounds: Bounds,
    /// Locked for as long as it is open.
    _held: File,
}

/// A report's place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// In milliseconds since 1970.
    at: u64,
    /// Among those of one moment.
    number: u32,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    files: usize,
    bytes: u64,
}

impl Queue {
    /// Opens the folder, which is made if absent, with what waits in it.
    ///
    /// # Errors
    /// When it cannot be made, read or written, or another agent has it; they name the flag.
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        Self::bounded(folder, BOUNDS)
    }

    fn bounded(folder: &Path, bounds: Bounds) -> anyhow::Result<Self> {
        let of_flag = |what: &str| format!("--queue {}: {what}", folder.display());
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .with_context(|| of_flag("cannot make the folder"))?;
        let held = File::open(folder).with_context(|| of_flag("cannot open the folder"))?;
        match held.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!(of_flag("another agent has this folder; give each one its own"))
            }
            Err(TryLockError::Error(cause)) => {
                return Err(cause).with_context(|| of_flag("cannot lock the folder"));
            }
        }
        put(folder, TRIAL, b"")
            .and_then(|()| fs::remove_file(folder.join(TRIAL)))
            .with_context(|| of_flag("cannot write to the folder"))?;
        let folder = folder.to_owned();
        let mut queue = Self { folder, waiting: BTreeMap::new(), bytes: 0, bounds, _held: held };
        let read = queue.read_folder();
        read.with_context(|| format!("--queue {}: cannot list it", queue.folder.display()))?;
        Ok(queue)
    }

    /// Puts a report on disk as the youngest.
    ///
    /// # Errors
    /// When it cannot be written; then it is not there at all.
    pub(super) fn push(&mut self, report: &str, now: Timestamp) -> anyhow::Result<()> {
        let name = self.next(now);
        put(&self.folder, &name.to_string(), report.as_bytes())
            .with_context(|| format!("cannot write {}", self.path(name).display()))?;
        self.add(name, report.len() as u64);
        let gone = self.shed();
        if gone > 0 {
            tracing::warn!(
                gone,
                "the queue {} is full: the {gone} oldest of its reports are gone",
                self.folder.display()
            );
        }
        Ok(())
    }

    /// What is to be sent next.
    pub(super) fn oldest(&self) -> Option<Name> {
        self.waiting.keys().next().copied()
    }

    /// A report; none if its file is gone, or is not a report.
    ///
    /// # Errors
    /// When it cannot be read now, with the file: it may be there all the same.
    pub(super) fn read(&self, name: Name) -> anyhow::Result<Option<String>> {
        let path = self.path(name);
        match fs::read_to_string(&path) {
            Ok(report) => Ok(Some(report)),
            Err(cause) if NO_REPORT.contains(&cause.kind()) => Ok(None),
            Err(cause) => Err(cause).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Takes a report out; one that is not there is out.
    pub(super) fn remove(&mut self, name: Name) {
        if let Some(size) = self.waiting.remove(&name) {
            self.bytes -= size;
        }
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => tracing::warn!(
                %cause,
                "cannot delete {}, which the next start will send again: {cause}",
                path.display()
            ),
            _ => {}
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whatever else is in the folder stays as it is.
    fn read_folder(&mut self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let file = entry.file_name();
            let Some(file) = file.to_str() else { continue };
            if is_unfinished(file) {
                // Of a write that a crash cut short.
                fs::remove_file(entry.path())?;
            } else if let Some(name) = Name::parse(file) {
                self.add(name, entry.metadata()?.len());
            }
        }
        Ok(())
    }

    fn add(&mut self, name: Name, size: u64) {
        self.waiting.insert(name, size);
        self.bytes += size;
    }

    /// After all that wait, even if the clock was set back.
    fn next(&self, now: Timestamp) -> Name {
        let at = u64::try_from(now.timestamp_millis()).unwrap_or_default();
        match self.waiting.keys().next_back() {
            Some(last) if last.at >= at => Name { at: last.at, number: last.number + 1 },
            _ => Name { at, number: 0 },
        }
    }

    /// How many had to go.
    fn shed(&mut self) -> usize {
        let before = self.waiting.len();
        while self.is_over()
            && let Some(oldest) = self.oldest()
        {
            self.remove(oldest);
        }
        before - self.waiting.len()
    }

    /// The youngest stays, however large.
    fn is_over(&self) -> bool {
        let files = self.waiting.len();
        files > 1 && (files > self.bounds.files || self.bytes > self.bounds.bytes)
    }

    fn path(&self, name: Name) -> PathBuf {
        self.folder.join(name.to_string())
    }
}

impl Name {
    fn parse(file: &str) -> Option<Self> {
        let (at, number) = file.strip_suffix(SUFFIX)?.split_once('-')?;
        let name = Self { at: at.parse().ok()?, number: number.parse().ok()? };
        (name.to_string() == file).then_some(name)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:015}-{:010}{SUFFIX}", self.at, self.number)
    }
}

/// Writes a file as a whole or not at all, for its owner alone.
pub(super) fn put(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    whole_file::put(&folder.join(name), bytes, OWNER_ALONE)
}

const BOUNDS: Bounds = Bounds { files: 10_000, bytes: 256 << 20 };
/// What reading a file ends with that is gone, is no text, or is a folder.
const NO_REPORT: [io::ErrorKind; 3] =
    [io::ErrorKind::NotFound, io::ErrorKind::InvalidData, io::ErrorKind::IsADirectory];
const SUFFIX: &str = ".json";
const OWNER_ALONE: u32 = 0o600;
/// Written and deleted again to find out whether the folder can be written.
const TRIAL: &str = ".trial";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_timestamp_millis(milliseconds).expect("a time")
    }

    /// Takes out all that wait, in their order.
    fn drain(queue: &mut Queue) -> Vec<String> {
        let mut reports = Vec::new();
        while let Some(name) = queue.oldest() {
            reports.push(queue.read(name).expect("readable").expect("it waits"));
            queue.remove(name);
        }
        reports
    }

    #[test]
    fn what_was_put_in_first_comes_out_first_whatever_the_clock_does() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("a/queue");
        let mut queue = Queue::open(&folder).expect("made");
        assert_eq!(queue.oldest(), None);
        for (report, time) in [("1", 5_000), ("2", 5_000), ("3", 70_000), ("4", 9_000)] {
            queue.push(report, at(time)).expect("written");
        }
        drop(queue);
        let mut queue = Queue::open(&folder).expect("there");
        assert_eq!(queue.len(), 4);
        queue.push("5", at(70_000)).expect("written");
        assert_eq!(drain(&mut queue), ["1", "2", "3", "4", "5"]);
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
    }

    #[test]
    fn names_sort_as_the_reports_do_and_are_read_back() {
        let names =
            [(0, 0), (1, 9), (1, 10), (999, 0), (1_800_000_000_000, 0), (1_800_000_000_000, 1)];
        let names = names.map(|(at, number)| Name { at, number });
        let files = names.map(|name| name.to_string());
        assert!(names.is_sorted() && files.is_sorted(), "{files:?}");
        assert_eq!(files.map(|file| Name::parse(&file)), names.map(Some));
        for other in ["agent", "1-1.json", ".000000000000001-0000000001.json.part", "x-y.json"] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_full_queue_loses_its_oldest() {
        let home = tempfile::tempdir().expect("a folder");
        let bounds = Bounds { files: 3, bytes: 10 };
        let mut queue = Queue::bounded(home.path(), bounds).expect("made");
        for report in ["a", "b", "c", "d", "e"] {
            queue.push(report, at(1)).expect("written");
        }
        assert_eq!(queue.len(), 3);
        queue.push("12345678", at(2)).expect("written");
        assert_eq!((queue.len(), queue.bytes), (3, 10));
        queue.push("much larger than all of it", at(3)).expect("written");
        assert_eq!(drain(&mut queue), ["much larger than all of it"]);
        assert_eq!(queue.bytes, 0);
    }

    #[test]
    fn what_cannot_be_read_now_is_told_from_what_is_no_report() {
        let home = tempfile::tempdir().expect("a folder");
        let mut queue = Queue::open(home.path()).expect("made");
        queue.push("report", at(1)).expect("written");
        let name = queue.oldest().expect("it waits");
        let path = queue.path(name);
        fs::write(&path, b"\xff").expect("ours");
        assert_eq!(queue.read(name).expect("it can be read"), None);
        fs::remove_file(&path).expect("ours");
        assert_eq!(queue.read(name).expect("it is gone"), None);
        // It leads to itself, which the system refuses to read as it does a disk that fails.
        symlink(&path, &path).expect("a link");
        let failed = queue.read(name).expect_err("not now").to_string();
        assert!(failed.contains(&path.display().to_string()), "{failed}");
    }

    #[test]
    fn files_and_folder_are_their_owners_alone() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("queue");
        let mut queue = Queue::open(&folder).expect("made");
        queue.push("secret hosts", at(1)).expect("written");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        let name = queue.oldest().expect("it waits");
        assert_eq!((mode(&folder), mode(&queue.path(name))), (0o700, 0o600));
    }

    #[test]
    fn what_else_is_in_the_folder_stays_but_for_what_a_crash_left() {
        let home = tempfile::tempdir().expect("a folder");
        for file in ["agent", "notes.json", ".000000000000001-0000000000.json.part"] {
            fs::write(home.path().join(file), "x").expect("written");
        }
        let queue = Queue::open(home.path()).expect("there");
        assert_eq!(queue.len(), 0);
        let mut left: Vec<_> = fs::read_dir(home.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        left.sort_unstable();
        assert_eq!(left, ["agent", "notes.json"]);
    }

    #[test]
    fn a_folder_that_cannot_be_had_is_refused_by_its_flag() {
        let home = tempfile::tempdir().expect("a folder");
        let file = home.path().join("file");
        fs::write(&file, "x").expect("written");
        let below = file.join("queue");
        let held = Queue::open(home.path()).expect("there");
        for (folder, word) in [
            (home.path(), "another agent has this folder"),
            (file.as_path(), "cannot make the folder"),
            (below.as_path(), "cannot make the folder"),
        ] {
            let refused = Queue::open(folder).err().map(|cause| format!("{cause:#}"));
            let refused = refused.expect("refused");
            assert!(refused.starts_with("--queue ") && refused.contains(word), "{refused}");
        }
        drop(held);
        Queue::open(home.path()).expect("nobody has it");
    }
}
