//! A web server that answers by path.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use super::{Asked, Script, Web};
use crate::Certificate;

/// Scripts by path; a path never set is 404.
pub struct Pages {
    web: Web,
    scripts: Arc<Mutex<HashMap<String, Script>>>,
}

impl Pages {
    pub async fn plain() -> anyhow::Result<Self> {
        Self::start(None).await
    }

    pub async fn secure(certificate: Certificate) -> anyhow::Result<Self> {
        Self::start(Some(certificate)).await
    }

    async fn start(certificate: Option<Certificate>) -> anyhow::Result<Self> {
        let scripts: Arc<Mutex<HashMap<String, Script>>> = Arc::default();
        let shelf = Arc::clone(&scripts);
        let respond = move |asked: &Asked| {
            let script = shelf.lock().get(asked.path()).cloned();
            script.unwrap_or_else(|| Script::status(404))
        };
        Ok(Self { web: Web::start(certificate, respond).await?, scripts })
    }

    /// From the next request on; `path` starts with `/` and has no query.
    pub fn at(&self, path: &str, script: Script) {
        self.scripts.lock().insert(path.to_owned(), script);
    }

    /// A URL by address; `path` starts with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.web.origin())
    }

    /// The requests for this path so far, oldest first.
    pub fn asked(&self, path: &str) -> Vec<Asked> {
        let asked = self.web.asked().into_iter();
        asked.filter(|asked| asked.path() == path).collect()
    }

    pub fn web(&self) -> &Web {
        &self.web
    }

    pub fn port(&self) -> u16 {
        self.web.port()
    }
}
