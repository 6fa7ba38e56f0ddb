//! From the queue to the service: registration, one report after the other, and the waits between
//! attempts.
//!
//! *Invariant:* a report leaves the queue when the service took it, or as much of it as it ever will.
//! What cannot be read now is read again later.

use std::{future::pending, sync::Arc, time::Duration};

use anyhow::bail;
use backon::{BackoffBuilder, ExponentialBuilder};
use parking_lot::Mutex;
use tokio::{sync::Notify, task::block_in_place, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    identity::Identity,
    queue::{Name, Queue},
    report,
    server::{About, Failure, Server},
};
use crate::cli::counted;

pub(super) struct Delivery {
    server: Server,
    about: About,
    identity: Identity,
    queue: Arc<Mutex<Queue>>,
    /// By this process.
    is_registered: bool,
    given_up: usize,
}

/// How an attempt to send all that waits ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// Nothing waits any more.
    All,
    /// Something does; with how long the service asks to be left alone.
    Later(Option<Duration>),
}

impl Delivery {
    pub(super) fn new(
        server: Server,
        about: About,
        identity: Identity,
        queue: Arc<Mutex<Queue>>,
    ) -> Self {
        Self { server, about, identity, queue, is_registered: false, given_up: 0 }
    }

    /// Reports that the service rejected, and that were dropped.
    pub(super) fn given_up(&self) -> usize {
        self.given_up
    }

    /// Makes the agent known to the service. Answers what kept it from that, if something did.
    ///
    /// # Errors
    /// When the key is refused, or what it is for: only a person can change that.
    pub(super) async fn register(&mut self) -> anyhow::Result<Option<Failure>> {
        let id = match self.server.register(&self.about).await {
            Ok(id) => id,
            Err(failure) if failure.is_about_the_key() => bail!(self.server.sentence(&failure)),
            Err(failure) => {
                let why = self.server.sentence(&failure);
                tracing::warn!("this agent is not registered yet: {why}");
                return Ok(Some(failure));
            }
        };
        tracing::info!(agent_id = id, "registered as agent {id}");
        self.is_registered = true;
        if let Err(cause) = block_in_place(|| self.identity.keep(id)) {
            tracing::warn!(%cause, "cannot save the agent's id: {cause}");
        }
        Ok(None)
    }

    /// Sends all that waits, the oldest first, up to the first failure or until it is told to
    /// stop.
    ///
    /// # Errors
    /// As [`Delivery::register`], where that is still to be done.
    pub(super) async fn send_all(&mut self, shutdown: &CancellationToken) -> anyhow::Result<Sent> {
        // Where the service is there and only this call of it fails, the last id will do.
        if !self.is_registered
            && let Some(failure) = self.register().await?
            && !(failure.is_its_own_trouble() && self.identity.id().is_some())
        {
            return Ok(Sent::Later(failure.retry_after()));
        }
        let Some(id) = self.identity.id().map(str::to_owned) else { return Ok(Sent::Later(None)) };
        loop {
            let Some(name) = self.queue.lock().oldest() else { return Ok(Sent::All) };
            if shutdown.is_cancelled() {
                return Ok(Sent::Later(None));
            }
            let read = block_in_place(|| self.queue.lock().read(name));
            let report = match read {
                Ok(report) => report,
                Err(cause) => {
                    let waiting = self.queue.lock().len();
                    tell_later(waiting, &format!("{cause:#}"));
                    return Ok(Sent::Later(None));
                }
            };
            if let Err(failure) = self.send(name, report, &id).await {
                let (why, waiting) = (self.server.sentence(&failure), self.queue.lock().len());
                tell_later(waiting, &why);
                return Ok(Sent::Later(failure.retry_after()));
            }
        }
    }

    /// Sends what waits whenever there is something `fresh`, and what could not be sent after
    /// growing waits, until it is told to stop; what is being sent then may end.
    ///
    /// # Errors
    /// As [`Delivery::register`], where the service is back only now.
    pub(super) async fn keep_sending(
        mut self,
        fresh: &Notify,
        shutdown: &CancellationToken,
    ) -> anyhow::Result<()> {
        let mut waits = growing_waits();
        loop {
            let (wait, must_wait) = match self.send_all(shutdown).await? {
                Sent::All => {
                    waits = growing_waits();
                    (None, false)
                }
                Sent::Later(asked) => {
                    let wait = waits.next().unwrap_or(LONGEST_WAIT);
                    (Some(wait.max(asked.unwrap_or_default())), asked.is_some())
                }
            };
            let waited = async {
                match wait {
                    Some(wait) => sleep(wait).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return Ok(()),
                () = waited => {}
                () = fresh.notified(), if !must_wait => {}
            }
        }
    }

    /// Sends one report and takes it out of the queue, unless it is to be sent again.
    async fn send(
        &mut self,
        name: Name,
        report: Option<String>,
        agent_id: &str,
    ) -> Result<(), Failure> {
        let body = report.and_then(|report| report::signed(&report, agent_id));
        let refusal = match body {
            None => Some(format!("{name} is gone or not a report")),
            Some(body) => match self.server.report(body).await {
                Ok(answer) => {
                    let (certificates, alerts) =
                        (&answer["certs_processed"], &answer["alerts_created"]);
                    tracing::info!(
                        %certificates, %alerts,
                        "delivered a report (certificates: {certificates}, new alerts: {alerts})"
                    );
                    None
                }
                Err(failure) if failure.is_final() => Some(self.server.sentence(&failure)),
                Err(failure) => return Err(failure),
            },
        };
        if let Some(why) = refusal {
            self.given_up += 1;
            tracing::error!("the service rejected a report; it was dropped: {why}");
        }
        block_in_place(|| self.queue.lock().remove(name));
        Ok(())
    }
}

/// Logs that the service will be tried again, and how much is waiting.
fn tell_later(waiting: usize, why: &str) {
    tracing::warn!(waiting, "cannot deliver now, {} waiting: {why}", counted(waiting, "report"));
}

/// From a second up to five minutes, each by chance up to twice as long: a service that is back is
/// not asked by all its agents at one moment.
fn growing_waits() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::default()
        .with_min_delay(SHORTEST_WAIT)
        .with_max_delay(LONGEST_WAIT / 2)
        .without_max_times()
        .with_jitter()
        .build()
}

const SHORTEST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(5 * 60);

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use reqwest::Url;

    use super::*;
    use crate::cli::agent::server;

    /// Of an agent that is registered, at an address where nobody is.
    fn delivery(folder: &Path) -> Delivery {
        let url: Url = server::base("http://127.0.0.1:9/api").expect("a URL");
        let mut identity = Identity::open(folder, &url, "key");
        identity.keep("an-id".to_owned()).expect("written");
        let about = About {
            agent_name: None,
            hostname: None,
            version: "1.0.0",
            os: "linux",
            interval_seconds: 3600,
        };
        let server = Server::new(&url, "key", &[]).expect("a client");
        let queue = Queue::open(folder).expect("made");
        let mut delivery = Delivery::new(server, about, identity, Arc::new(Mutex::new(queue)));
        delivery.is_registered = true;
        delivery
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_report_that_cannot_be_read_now_waits_and_what_is_none_goes() {
        // An error only says that another test was first.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let home = tempfile::tempdir().expect("a folder");
        let mut delivery = delivery(home.path());
        let shutdown = CancellationToken::new();
        let now = vedette_model::Timestamp::UNIX_EPOCH;
        delivery.queue.lock().push("{}", now).expect("written");
        let name = delivery.queue.lock().oldest().expect("it waits");
        let file = home.path().join(name.to_string());
        fs::remove_file(&file).expect("ours");
        // It leads to itself, which the system refuses to read as it does a disk that fails.
        symlink(&file, &file).expect("a link");
        let sent = delivery.send_all(&shutdown).await.expect("nothing for a person");
        assert_eq!((sent, delivery.given_up()), (Sent::Later(None), 0));
        assert_eq!(delivery.queue.lock().oldest(), Some(name));

        fs::remove_file(&file).expect("ours");
        fs::write(&file, "no report").expect("ours");
        let sent = delivery.send_all(&shutdown).await.expect("nothing for a person");
        assert_eq!((sent, delivery.given_up()), (Sent::All, 1));
    }

    #[test]
    fn waits_grow_from_a_second_to_five_minutes() {
        let waits: Vec<_> = growing_waits().take(20).collect();
        assert!((SHORTEST_WAIT..=2 * SHORTEST_WAIT).contains(&waits[0]), "{waits:?}");
        assert!(waits[10..].iter().all(|wait| *wait >= LONGEST_WAIT / 2), "{waits:?}");
        assert!(waits.iter().all(|wait| *wait <= LONGEST_WAIT), "{waits:?}");
    }
}
