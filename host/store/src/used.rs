//! That a folder has held a database.
//!
//! The engine takes a folder whose log was lost or cut to nothing for a new one, and would begin an
//! empty database where everything was. The mark is no part of its files, so it outlives them.

use std::{fs, path::PathBuf};

use crate::error::Error;
use crate::open;

/// The file that says so; none of a database that is in memory or elsewhere.
pub(crate) struct Mark(Option<PathBuf>);

impl Mark {
    pub(crate) fn of(url: &str) -> Self {
        Self(open::folder(url).map(|folder| folder.join(FILE)))
    }

    /// Whether the folder has held a database.
    pub(crate) fn is_there(&self) -> bool {
        self.0.as_ref().is_some_and(|file| file.exists())
    }

    /// What it means that it holds none now.
    pub(crate) fn lost(&self) -> Error {
        let file = self.0.as_deref().map(|file| file.display().to_string());
        Error::Lost(file.unwrap_or_default())
    }

    /// Makes it; once the database is one that can be opened again. Without it the database works
    /// as well.
    pub(crate) fn make(&self) {
        let Some(file) = self.0.as_deref().filter(|file| !file.exists()) else { return };
        if let Err(cause) = fs::write(file, TEXT) {
            let path = file.display();
            tracing::warn!(
                %path, %cause,
                "cannot write {path}: {cause}; if the files of the database are lost, the next \
                 start begins an empty one"
            );
        }
    }
}

const FILE: &str = "in-use";
const TEXT: &str = "This folder holds a database of Vedette. Where that is gone, Vedette does not \
                    begin an empty one in its place as long as this file is here.\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_database_of_files_has_one() {
        for url in ["mem://", "ws://u:p@db.example:8000"] {
            let mark = Mark::of(url);
            mark.make();
            assert!(!mark.is_there(), "{url}");
        }
        let folder = tempfile::tempdir().unwrap();
        let mark = Mark::of(&format!("surrealkv://{}?sync=every", folder.path().display()));
        assert!(!mark.is_there());
        for _ in 0..2 {
            mark.make();
            assert!(mark.is_there() && folder.path().join(FILE).is_file());
        }
    }
}
