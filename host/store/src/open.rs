//! Opening and closing: embedded with bounded memory, or a server elsewhere.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use surrealdb::Surreal;
use surrealdb::engine::local::Db;
use surrealdb_cnf::ConfigMap;
use surrealdb_core::kvs::Datastore;
use vedette_model::Timestamp;

use crate::background::Background;
use crate::engine::Embedded;
use crate::error::{Error, Result};
use crate::remote::Remote;
use crate::tx::Binds;
use crate::used::Mark;
use crate::{Seal, Store};

/// How much memory the embedded engine may use, the keys of what is secret, and whom a server has to
/// be. The engine's own defaults are made for a machine that runs nothing else: a cache of half the
/// memory, and writes kept resident up to 4 GiB.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of recent writes kept in memory before they are flushed to a table. A transaction that
    /// is larger is written to a table of its own, and is in memory as a whole until then.
    pub memtable_bytes: usize,
    /// Bytes of table blocks kept in memory.
    pub cache_bytes: usize,
    pub seal: Seal,
    /// How a server behind `wss://` is verified; none = by the public roots alone.
    pub tls: Option<Arc<ClientConfig>>,
}

impl Options {
    /// There is no default key: a database is opened again with the one it was made with.
    pub fn new(seal: Seal) -> Self {
        Self { memtable_bytes: 16 << 20, cache_bytes: 64 << 20, seal, tls: None }
    }
}

impl Store {
    /// Opens `mem://`, `surrealkv://path` or `ws(s)://user:password@host:port[/namespace/database]`
    /// and brings its schema up to date. `WrongKey` when its secrets were sealed with a key that is
    /// not given: then nothing in it has changed. `Lost` when the folder has held a
    /// database and holds none: then none is begun.
    ///
    /// Needs a multi-threaded runtime with 10 MiB stacks. One process at a time opens a
    /// `surrealkv` directory; a second one is refused. Commits are durable when they return.
    pub async fn open(url: &str, options: Options) -> Result<Self> {
        let store = Self::reach(url, options).await?;
        let settled = store.settle(&Mark::of(url)).await;
        store.unless_refused(settled).await.map(|(store, ())| store)
    }

    /// Opens it as it is.
    pub(crate) async fn reach(url: &str, options: Options) -> Result<Self> {
        match url.split_once("://").map(|(scheme, _)| scheme) {
            Some("mem" | "surrealkv") => {
                let engine = embedded(url, &options).await?;
                Ok(Self::new(Arc::new(engine), options.seal))
            }
            Some("ws" | "wss") => {
                Ok(Self::new(Remote::open(url, options.tls).await?, options.seal))
            }
            _ => Err(Error::Address(format!("it is none of {SCHEMES}"))),
        }
    }

    /// The store, and what came of settling it; closed where that was refused.
    pub(crate) async fn unless_refused<T>(self, settled: Result<T>) -> Result<(Self, T)> {
        match settled {
            Ok(found) => Ok((self, found)),
            Err(error) => {
                // Whoever finds the right key opens it again, perhaps from this process.
                let _ = self.close().await;
                Err(error)
            }
        }
    }

    async fn settle(&self, mark: &Mark) -> Result<()> {
        match self.reached().await? {
            None if mark.is_there() => return Err(mark.lost()),
            Some(reached) if reached >= SEALED_SINCE => self.refuse_another_key().await?,
            _ => {}
        }
        self.migrate().await?;
        self.settle_seal().await?;
        mark.make();
        Ok(())
    }

    /// Whether the database is a part of this process, so that no other node shares it.
    pub fn embedded(&self) -> bool {
        self.inner.engine.is_embedded()
    }

    /// What the clock of the server shows that nodes share; none where the database is a part of this
    /// process.
    pub async fn server_time(&self) -> Result<Option<Timestamp>> {
        if self.embedded() {
            return Ok(None);
        }
        self.read("RETURN time::now()", Binds::new()).await.map(Some)
    }

    /// Flushes and closes the embedded engine, so that the directory can be opened again. Nothing
    /// that was answered before depends on it. Calls made later fail.
    pub async fn close(&self) -> Result<()> {
        self.inner.engine.close().await.map_err(refused)
    }
}

/// The version is settled before anything may write: in any other order a new store would look
/// like one from before versions, and be refused for ever.
pub(crate) async fn embedded(url: &str, options: &Options) -> Result<Embedded> {
    let config = ConfigMap::empty()
        .with_key_value("surrealkv_max_memtable_size", options.memtable_bytes.to_string())
        .with_key_value("surrealkv_block_cache_capacity", options.cache_bytes.to_string());
    // It measures its own process, and would keep a file of every other one open for that: up to half
    // of the descriptors that connections need.
    sysinfo::set_open_files_limit(0);
    let background = Background::start().map_err(refused)?;
    if let Some(folder) = folder(url) {
        make_private(folder)?;
    }
    let path = durable(url);
    let opened = async move {
        let builder = Datastore::builder().with_config(config).without_maintenance_tasks();
        builder.build_with_path(&path).await
    };
    let opened = background.run(opened).await.map_err(refused)?;
    let datastore = opened.map_err(|error| unopened(&error.to_string()))?;
    datastore.check_version().await.map_err(refused)?;
    datastore.bootstrap().await.map_err(refused)?;
    datastore.start_maintenance_tasks();
    let db = Surreal::<Db>::unstable_from_datastore(Arc::clone(&datastore), None).await;
    let db = db.map_err(refused)?;
    db.use_ns(NAMESPACE).use_db(DATABASE).await.map_err(refused)?;
    Ok(Embedded { db, datastore, _background: background })
}

/// Every commit is on disk before it is answered, whatever the engine's default will be one day.
fn durable(url: &str) -> String {
    let is_file = url.starts_with("surrealkv://");
    match url.split_once('?') {
        Some((_, query)) if query.contains("sync=") => url.to_owned(),
        Some(_) if is_file => format!("{url}&sync=every"),
        None if is_file => format!("{url}?sync=every"),
        _ => url.to_owned(),
    }
}

/// The folder of a database of files, by its address (`surrealkv://path?…`); none of any other.
pub fn folder(url: &str) -> Option<&Path> {
    let rest = url.strip_prefix("surrealkv://")?;
    Some(Path::new(rest.split_once('?').map_or(rest, |(folder, _)| folder)))
}

/// Makes a folder that is not there yet, for its owner alone: addresses and names of customers lie
/// in it unsealed.
fn make_private(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|cause| {
        Error::Address(format!("the folder {} cannot be made: {cause}", folder.display()))
    })
}

/// The engine has no other sign for it than its words.
fn unopened(reason: &str) -> Error {
    if reason.contains("already locked") {
        return Error::Address(
            "another process has it open; stop that one, or give this one a folder of its own"
                .to_owned(),
        );
    }
    refused(reason)
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::Engine(error.to_string())
}

const SCHEMES: &str = "mem://, surrealkv://path, ws://user:password@host:port and wss://…";
/// The migration that brought the word that only the right key opens.
const SEALED_SINCE: i64 = 5;
pub(crate) const NAMESPACE: &str = "vedette";
pub(crate) const DATABASE: &str = "main";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_durable_unless_said_otherwise() {
        assert_eq!(durable("surrealkv:///var/lib/v"), "surrealkv:///var/lib/v?sync=every");
        assert_eq!(
            durable("surrealkv://v?versioned=false"),
            "surrealkv://v?versioned=false&sync=every"
        );
        assert_eq!(durable("surrealkv://v?sync=1s"), "surrealkv://v?sync=1s");
        assert_eq!(durable("mem://"), "mem://");
    }
}
