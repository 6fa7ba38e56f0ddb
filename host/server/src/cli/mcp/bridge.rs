//! Many requests on their way at once.

use std::{collections::HashMap, sync::Arc};

use anyhow::Context;
use parking_lot::Mutex;
use reqwest::Response;
use serde_json::Value;
use tokio::{
    io::AsyncBufRead,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::{AbortHandle, JoinError, JoinSet},
};
use tokio_util::sync::CancellationToken;

use super::{
    answer::{self, Failure},
    endpoint::{Asked, Endpoint, LARGEST},
    events::Events,
    lines::{LONGEST, Line, Lines},
    message::{Incoming, Message},
};

pub(super) struct Bridge {
    endpoint: Endpoint,
    output: mpsc::Sender<String>,
    /// What `initialize` agreed on; none where every request names its version.
    version: Mutex<Option<String>>,
    /// The client has said its last word: nobody listens to subscriptions any more.
    ended: CancellationToken,
}

/// What is on its way.
struct Running {
    tasks: JoinSet<anyhow::Result<()>>,
    /// By the request's id, written as JSON.
    by_id: HashMap<String, AbortHandle>,
    slots: Arc<Semaphore>,
    /// For what waits for a slot, in bytes.
    room: Arc<Semaphore>,
}

impl Bridge {
    pub(super) fn new(endpoint: Endpoint, output: mpsc::Sender<String>) -> Arc<Self> {
        let ended = CancellationToken::new();
        Arc::new(Self { endpoint, output, version: Mutex::default(), ended })
    }

    /// Carries until the input has ended and all of it is answered.
    pub(super) async fn carry(
        self: Arc<Self>,
        input: impl AsyncBufRead + Unpin + Send,
    ) -> anyhow::Result<()> {
        let mut lines = Lines::new(input);
        let mut running = Running {
            tasks: JoinSet::new(),
            by_id: HashMap::new(),
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            room: Arc::new(Semaphore::new(BACKLOG)),
        };
        loop {
            tokio::select! {
                line = lines.next() => match line.context("cannot read standard input")? {
                    Some(line) => self.take(line, &mut running).await?,
                    None => break,
                },
                Some(done) = running.tasks.join_next() => {
                    ended(done)?;
                    running.by_id.retain(|_, task| !task.is_finished());
                }
            }
        }
        self.ended.cancel();
        while let Some(done) = running.tasks.join_next().await {
            ended(done)?;
        }
        Ok(())
    }

    async fn take(self: &Arc<Self>, line: Line, running: &mut Running) -> anyhow::Result<()> {
        let incoming = match line {
            Line::Whole(line) => Incoming::read(&line),
            Line::TooLong => {
                let reason = format!("the line is longer than {} MiB", LONGEST >> 20);
                Incoming::Refused(answer::error(&Value::Null, answer::ENVELOPE, &reason, None))
            }
        };
        match incoming {
            Incoming::Blank => Ok(()),
            Incoming::Refused(answer) => self.say(answer).await,
            // Over HTTP a request is cancelled by closing it. There is no answer then.
            Incoming::Cancel(id) => {
                if let Some(task) = running.by_id.remove(&id) {
                    task.abort();
                }
                Ok(())
            }
            Incoming::Post(message) => {
                // It waits for its slot apart from the lines behind it: one may cancel what has one.
                let room = Arc::clone(&running.room).acquire_many_owned(taken(&message)).await?;
                let slots = Arc::clone(&running.slots);
                let bridge = Arc::clone(self);
                let id = message.awaits.then(|| message.id.to_string());
                let task = running.tasks.spawn(async move {
                    let slot = slots.acquire_owned().await?;
                    drop(room);
                    bridge.relay(message, slot).await
                });
                running.by_id.extend(id.map(|id| (id, task)));
                Ok(())
            }
        }
    }

    async fn relay(
        self: Arc<Self>,
        message: Message,
        slot: OwnedSemaphorePermit,
    ) -> anyhow::Result<()> {
        let version = self.version.lock().clone();
        let answered = match self.endpoint.ask(&message, version.as_deref()).await {
            // A stream may stay open for as long as the client does: it holds no slot.
            Ok(Asked::Events(response)) => {
                drop(slot);
                return self.follow(&message, *response).await;
            }
            Ok(Asked::Answer(answer)) => Ok(answer),
            Err(failure) => Err(failure),
        };
        match answered {
            Ok(Some(line)) if message.awaits => {
                if message.is_initialize() {
                    *self.version.lock() = answer::version(&line);
                }
                self.say(line).await
            }
            Ok(None) if message.awaits => self.fail(&message, &Failure::Garbled).await,
            Ok(_) => Ok(()),
            Err(failure) => self.fail(&message, &failure).await,
        }
    }

    /// Passes on event by event, until the one that answers the request.
    async fn follow(&self, message: &Message, mut response: Response) -> anyhow::Result<()> {
        let mut events = Events::default();
        loop {
            let chunk = tokio::select! {
                () = self.ended.cancelled(), if message.is_subscription() => return Ok(()),
                chunk = response.chunk() => chunk,
            };
            let Ok(Some(chunk)) = chunk else { return self.fail(message, &Failure::Ended).await };
            for event in events.push(&chunk) {
                let Some(line) = answer::one_line(&event) else { continue };
                let is_last = answer::answers(&line, &message.id);
                self.say(line).await?;
                if is_last {
                    return Ok(());
                }
            }
            if events.held() > LARGEST {
                return self.fail(message, &Failure::TooLarge).await;
            }
        }
    }

    /// Tells the request that waits; what none waits for is only logged.
    async fn fail(&self, message: &Message, failure: &Failure) -> anyhow::Result<()> {
        let url = &self.endpoint.url;
        tracing::warn!("{}", failure.message(url));
        if message.awaits { self.say(failure.line(&message.id, url)).await } else { Ok(()) }
    }

    async fn say(&self, line: String) -> anyhow::Result<()> {
        self.output.send(line).await.context("nobody reads standard output any more")
    }
}

/// What a message takes up while it waits, in bytes; less than the whole backlog.
fn taken(message: &Message) -> u32 {
    u32::try_from(EACH + message.body.len()).expect("a line is no longer than LONGEST")
}

/// A request that was cancelled has ended as it should.
fn ended(done: Result<anyhow::Result<()>, JoinError>) -> anyhow::Result<()> {
    match done {
        Ok(done) => done,
        Err(cause) if cause.is_cancelled() => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

/// Requests on their way; further ones wait.
const AT_ONCE: usize = 16;
/// Bytes of the messages that wait; further lines are not read.
const BACKLOG: usize = 4 * LONGEST;
/// What a message takes up beside its text.
const EACH: usize = 1 << 10;
