//! The database behind the store: one inside the process, or a server ([`crate::remote`]).
//!
//! The store holds it as a trait object. Its own types have thousands of fields, and for every
//! future that holds them the compiler would check each for whether it may cross threads: minutes
//! more for every crate that builds on this one.

use std::sync::Arc;

use futures::future::BoxFuture;
use surrealdb::engine::local::Db;
use surrealdb::types::{Error as EngineError, Variables};
use surrealdb::{IndexedResults, Surreal};
use surrealdb_core::kvs::Datastore;

use crate::background::Background;

/// A database that is connected, signed in to and bounded. A handle of the client is used by
/// reference: a clone would be a session of its own.
pub(crate) trait Engine: Send + Sync {
    /// Sends a text and what is bound in it. An error of the connection means that nobody knows
    /// whether it was done.
    fn send<'a>(
        &'a self,
        text: &'a str,
        variables: Variables,
    ) -> BoxFuture<'a, Result<IndexedResults, EngineError>>;

    /// Flushes and closes what belongs to this process. The error is a text.
    fn close(&self) -> BoxFuture<'_, Result<(), String>>;

    /// Whether it is part of this process.
    fn is_embedded(&self) -> bool;
}

/// An engine of this process's own.
pub(crate) struct Embedded {
    pub(crate) db: Surreal<Db>,
    pub(crate) datastore: Arc<Datastore>,
    /// Dropped last.
    pub(crate) _background: Background,
}

impl Engine for Embedded {
    fn send<'a>(
        &'a self,
        text: &'a str,
        variables: Variables,
    ) -> BoxFuture<'a, Result<IndexedResults, EngineError>> {
        Box::pin(self.db.query(text).bind(variables).into_future())
    }

    fn close(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { self.datastore.shutdown().await.map_err(|error| error.to_string()) })
    }

    fn is_embedded(&self) -> bool {
        true
    }
}
