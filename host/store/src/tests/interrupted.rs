//! An engine on which something is committed between what a transaction read and its own commit:
//! a moment that tasks meet by chance alone.

use std::future::Future;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use surrealdb::IndexedResults;
use surrealdb::types::{Error as EngineError, Variables};

use super::{on_disk, options, runtime};
use crate::Store;
use crate::engine::{Embedded, Engine};
use crate::open;

pub(super) struct Interrupted {
    embedded: Arc<Embedded>,
    next: Mutex<Option<BoxFuture<'static, ()>>>,
}

/// Runs a test on a fresh database of each kind.
pub(super) fn on_both<F: Future<Output = ()>>(test: impl Fn(Arc<Interrupted>) -> F) {
    runtime().block_on(async {
        test(Interrupted::open("mem://").await).await;
        let directory = tempfile::tempdir().unwrap();
        let engine = Interrupted::open(&on_disk(directory.path())).await;
        test(Arc::clone(&engine)).await;
        engine.close().await.unwrap();
    });
}

impl Interrupted {
    async fn open(url: &str) -> Arc<Self> {
        let embedded = Arc::new(open::embedded(url, &options()).await.unwrap());
        let engine = Arc::new(Self { embedded, next: Mutex::new(None) });
        engine.other().migrate().await.unwrap();
        engine
    }

    /// A node whose transactions are interrupted.
    pub(super) fn store(self: &Arc<Self>) -> Store {
        let engine: Arc<Self> = Arc::clone(self);
        Store::new(engine, options().seal)
    }

    /// A node whose transactions are not.
    pub(super) fn other(&self) -> Store {
        let engine: Arc<Embedded> = Arc::clone(&self.embedded);
        Store::new(engine, options().seal)
    }

    /// What is to happen within the next transaction, once, before it is committed.
    pub(super) fn meanwhile(&self, happens: impl Future<Output = ()> + Send + 'static) {
        *self.next.lock().unwrap() = Some(Box::pin(happens));
    }

    async fn interrupt(
        &self,
        unit: &str,
        variables: Variables,
        happens: BoxFuture<'static, ()>,
    ) -> Result<IndexedResults, EngineError> {
        let transaction = self.embedded.db.clone().begin().await?;
        let answer = transaction.query(unit).bind(variables).await?;
        happens.await;
        transaction.commit().await?;
        Ok(answer)
    }
}

impl Engine for Interrupted {
    fn send<'a>(
        &'a self,
        text: &'a str,
        variables: Variables,
    ) -> BoxFuture<'a, Result<IndexedResults, EngineError>> {
        let unit = text.strip_prefix("BEGIN;\n").and_then(|text| text.strip_suffix("\nCOMMIT;"));
        let happens = unit.and_then(|_| self.next.lock().unwrap().take());
        match (unit, happens) {
            (Some(unit), Some(happens)) => Box::pin(self.interrupt(unit, variables, happens)),
            _ => self.embedded.send(text, variables),
        }
    }

    fn close(&self) -> BoxFuture<'_, Result<(), String>> {
        self.embedded.close()
    }

    fn is_embedded(&self) -> bool {
        true
    }
}
