//! A server that many nodes share, by one connection that is made anew whenever it is lost.
//!
//! The client of the engine comes back by itself too, but in a way that a service cannot use:
//! meanwhile whatever is sent waits without an end, then is run when nobody waits for it any more,
//! and a session that could not be set up again is refused for ever. So a connection that breaks or
//! falls silent is dropped with all that it still holds, and another one is made and signed in.
//!
//! *Invariant:* every call ends: with the server's answer, or with the connection that it went by.
//! In the second case nobody knows whether it was done, and it is not sent again from here.
//! *Invariant:* a session whose sign-in has run out is a lost connection like any other.

use std::sync::Arc;
use std::time::Duration;

use backon::Retryable;
use futures::future::BoxFuture;
use rustls::ClientConfig;
use surrealdb::engine::any::{self, Any};
use surrealdb::opt::Config;
use surrealdb::opt::auth::Root;
use surrealdb::types::{ConnectionError, Error as EngineError, Variables};
use surrealdb::{IndexedResults, Surreal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::engine::Engine;
use crate::error::Error;
use crate::server::Server;
use crate::tx::{RETRIES, is_conflict};

/// Connected and signed in.
type Client = Arc<Surreal<Any>>;

/// None while there is no connection.
type Link = watch::Sender<Option<Client>>;

pub(crate) struct Remote {
    link: Link,
    keeper: JoinHandle<()>,
}

impl Remote {
    /// Connects and signs in; from then on the connection is looked after.
    pub(crate) async fn open(
        url: &str,
        tls: Option<Arc<ClientConfig>>,
    ) -> Result<Arc<dyn Engine>, Error> {
        let server = Server::parse(url)?;
        let config = tls.map_or_else(Config::new, |tls| Config::new().rustls((*tls).clone()));
        // Of nodes that start at once on an empty server, one makes the database.
        let client = (|| connect(&server, &config))
            .retry(RETRIES)
            .when(is_conflict)
            .await
            .map_err(|error| unopened(&error))?;
        let link = Link::new(Some(client));
        let keeper = tokio::spawn(keep(server, config, link.clone()));
        Ok(Arc::new(Self { link, keeper }))
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl Engine for Remote {
    fn send<'a>(
        &'a self,
        text: &'a str,
        variables: Variables,
    ) -> BoxFuture<'a, Result<IndexedResults, EngineError>> {
        Box::pin(async move {
            let mut link = self.link.subscribe();
            let client = link.borrow_and_update().clone();
            let Some(client) = client else {
                return Err(lost("the connection was lost and is not back yet"));
            };
            let answer = tokio::select! {
                biased;
                answer = client.query(text).bind(variables).into_future() => answer,
                _ = link.changed() => Err(lost("the connection was lost before it answered")),
            };
            if let Err(error) = &answer
                && error.is_connection()
            {
                let_go(&self.link, &client, error);
            }
            answer
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async {
            self.keeper.abort();
            self.link.send_replace(None);
            Ok(())
        })
    }

    fn is_embedded(&self) -> bool {
        false
    }
}

/// Asks the server whether it is there, and connects again when it was not.
async fn keep(server: Server, config: Config, link: Link) {
    loop {
        sleep(PACE).await;
        let client = link.borrow().clone();
        match client {
            Some(client) => {
                if let Err(error) = ask(&client).await {
                    let_go(&link, &client, &error);
                }
            }
            None => match connect(&server, &config).await {
                Ok(client) => {
                    link.send_replace(Some(client));
                    tracing::info!("the database is back");
                }
                Err(error) => tracing::debug!(%error, "the database is not back yet: {error}"),
            },
        }
    }
}

/// An answer of any kind but the right one is none.
async fn ask(client: &Surreal<Any>) -> Result<(), EngineError> {
    match timeout(SILENCE, client.query("RETURN true").into_future()).await {
        Ok(answer) => answer?.check().map(drop),
        Err(_) => Err(lost("it does not answer")),
    }
}

/// Ends all calls that wait on this connection. Only the first to notice does anything.
fn let_go(link: &Link, client: &Client, cause: &EngineError) {
    let is_first = link.send_if_modified(|held| {
        let is_held = held.as_ref().is_some_and(|held| Arc::ptr_eq(held, client));
        if is_held {
            *held = None;
        }
        is_held
    });
    if is_first {
        tracing::error!(%cause, "the database is lost; trying again every second: {cause}");
    }
}

/// Its type ends here: callers need not know what a connection is made of.
fn connect<'a>(
    server: &'a Server,
    config: &'a Config,
) -> BoxFuture<'a, Result<Client, EngineError>> {
    Box::pin(async move {
        let opened = timeout(OPENING, async {
            let client = any::connect((server.address.clone(), config.clone())).await?;
            let user = Root { username: server.user.clone(), password: server.password.clone() };
            client.signin(user).await?;
            client.use_ns(&server.namespace).use_db(&server.database).await?;
            Ok::<Client, EngineError>(Arc::new(client))
        });
        opened.await.unwrap_or_else(|_| Err(lost("it does not answer")))
    })
}

/// Why a connection that never was could not be made.
fn unopened(error: &EngineError) -> Error {
    let reason = error.message();
    if error.is_not_allowed() {
        return Error::Address(format!("its user or password is refused: {reason}"));
    }
    Error::Unavailable(reason.to_owned())
}

fn lost(why: &str) -> EngineError {
    EngineError::connection(why.to_owned(), ConnectionError::ConnectionFailed)
}

/// Between two looks at the server.
const PACE: Duration = Duration::from_secs(1);
/// A server that answers is asked for nothing: it does so in a millisecond.
const SILENCE: Duration = Duration::from_secs(5);
/// Passwords are hashed slowly on purpose, several at once where all nodes come back together.
const OPENING: Duration = Duration::from_secs(30);
