//! The id that the service knows this agent by, kept in the folder of the queue.
//!
//! *Invariant:* an id is never used with another key, or at another service, than it was given
//! for.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::queue;
use crate::plugins::sha256;

pub(super) struct Identity {
    folder: PathBuf,
    /// Tells address and key apart from others, without showing them.
    of: String,
    id: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    agent_id: String,
    of: String,
}

impl Identity {
    /// With the id that this key was given at this address the last time, if that is still there.
    pub(super) fn open(folder: &Path, url: &Url, key: &str) -> Self {
        let of = sha256(format!("{url}\n{key}").as_bytes());
        let kept = fs::read_to_string(folder.join(FILE)).ok();
        let kept = kept.and_then(|text| serde_json::from_str::<Kept>(&text).ok());
        let id = kept.filter(|kept| kept.of == of).map(|kept| kept.agent_id);
        Self { folder: folder.to_owned(), of, id }
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// # Errors
    /// When it cannot be written; this process knows it all the same.
    pub(super) fn keep(&mut self, id: String) -> io::Result<()> {
        if self.id.as_ref() == Some(&id) {
            return Ok(());
        }
        self.id = Some(id.clone());
        let text = serde_json::to_string(&Kept { agent_id: id, of: self.of.clone() })?;
        queue::put(&self.folder, FILE, text.as_bytes())
    }
}

const FILE: &str = "agent";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_again_for_the_same_address_and_key() {
        let home = tempfile::tempdir().expect("a folder");
        let here: Url = "https://vedette.example/api".parse().expect("a URL");
        let there: Url = "https://another.example/api".parse().expect("a URL");
        let mut identity = Identity::open(home.path(), &here, "one");
        assert_eq!(identity.id(), None);
        identity.keep("an-id".to_owned()).expect("written");
        assert_eq!(identity.id(), Some("an-id"));
        for (url, key, id) in
            [(&here, "one", Some("an-id")), (&here, "two", None), (&there, "one", None)]
        {
            assert_eq!(Identity::open(home.path(), url, key).id(), id, "{url} {key}");
        }
        let text = fs::read_to_string(home.path().join(FILE)).expect("there");
        assert!(!text.contains("one"), "{text}");
        fs::write(home.path().join(FILE), "{").expect("ours");
        assert_eq!(Identity::open(home.path(), &here, "one").id(), None);
    }
}
