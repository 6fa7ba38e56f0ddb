//! A mail relay: keeps every message it is sent, byte for byte, and answers as it was told to.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::{Notify, Semaphore, watch},
    time::Instant,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::Certificate;

mod read;

/// As long as a receiver of webhooks has it; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(180);

/// One message as it arrived, taken or not.
#[derive(Clone, Debug)]
pub struct Mailed {
    pub at: Instant,
    /// Of the envelope.
    pub from: String,
    pub to: Vec<String>,
    /// Dots unstuffed.
    pub raw: String,
    /// Between DATA and the last dot, as it came over the wire.
    pub stuffed: String,
    pub encrypted: bool,
    pub taken: bool,
}

/// What the relay says to a message.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// A line, as in `451 try again`.
    Says(&'static str),
    /// Reads and never answers.
    Hang,
    /// Takes it once it is told to.
    Held(Arc<Notify>),
}

/// A running relay. Without instructions it takes everything.
pub struct Mailbox {
    address: SocketAddr,
    desk: Arc<Desk>,
    stop: CancellationToken,
}

struct Desk {
    arrived: Mutex<Vec<Mailed>>,
    /// Every recipient that was named, also those that were refused.
    named: Mutex<Vec<String>>,
    count: watch::Sender<usize>,
    script: Mutex<VecDeque<Verdict>>,
    refused: Mutex<Vec<(String, String)>>,
    hushed: Mutex<Vec<String>>,
    one_at_a_time: AtomicBool,
    is_away: AtomicBool,
    /// Who has it came first among the connections that are open.
    first: Semaphore,
    turned_away: AtomicUsize,
    tls: Option<TlsAcceptor>,
}

/// The message that a connection is about.
#[derive(Default)]
struct Envelope {
    from: String,
    to: Vec<String>,
}

impl Mailbox {
    /// In clear, on a free port.
    pub async fn start() -> anyhow::Result<Self> {
        Self::with(None).await
    }

    /// The same, offering STARTTLS with this certificate and taking mail no other way.
    pub async fn encrypted(certificate: Certificate) -> anyhow::Result<Self> {
        let config = rustls::ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(certificate.chain, certificate.key)?;
        Self::with(Some(TlsAcceptor::from(Arc::new(config)))).await
    }

    async fn with(tls: Option<TlsAcceptor>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let desk = Desk {
            arrived: Mutex::default(),
            named: Mutex::default(),
            count: watch::Sender::new(0),
            script: Mutex::default(),
            refused: Mutex::default(),
            hushed: Mutex::default(),
            one_at_a_time: AtomicBool::new(false),
            is_away: AtomicBool::new(false),
            first: Semaphore::new(1),
            turned_away: AtomicUsize::new(0),
            tls,
        };
        let mailbox = Self {
            address: listener.local_addr()?,
            desk: Arc::new(desk),
            stop: CancellationToken::new(),
        };
        tokio::spawn(accept(listener, Arc::clone(&mailbox.desk), mailbox.stop.clone()));
        Ok(mailbox)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `[smtp]` of a program that sends here; `query` as in `?tls=required`.
    pub fn toml(&self, query: &str) -> String {
        relay_toml(&format!("smtp://{}{query}", self.address))
    }

    /// The answer to the next message that has none yet.
    pub fn answer_next(&self, verdict: Verdict) {
        self.desk.script.lock().push_back(verdict);
    }

    /// The answer to this recipient, whenever it is named.
    pub fn refuse(&self, recipient: &str, line: &str) {
        self.desk.refused.lock().push((recipient.to_owned(), line.to_owned()));
    }

    /// There is no answer to this recipient the next time it is named.
    pub fn hush(&self, recipient: &str) {
        self.desk.hushed.lock().push(recipient.to_owned());
    }

    /// From now on a connection beside another is answered 421.
    pub fn admit_one_at_a_time(&self) {
        self.desk.one_at_a_time.store(true, Ordering::Relaxed);
    }

    /// Until it comes back every new connection is answered 421.
    pub fn go_away(&self) {
        self.desk.is_away.store(true, Ordering::Relaxed);
    }

    pub fn come_back(&self) {
        self.desk.is_away.store(false, Ordering::Relaxed);
    }

    /// How many connections were answered so.
    pub fn turned_away(&self) -> usize {
        self.desk.turned_away.load(Ordering::Relaxed)
    }

    /// All that arrived so far, oldest first.
    pub fn arrived(&self) -> Vec<Mailed> {
        self.desk.arrived.lock().clone()
    }

    /// How often this recipient was named.
    pub fn named(&self, recipient: &str) -> usize {
        self.desk.named.lock().iter().filter(|name| *name == recipient).count()
    }

    /// Waits until `count` messages have arrived.
    pub async fn wait_for(&self, count: usize) -> anyhow::Result<Vec<Mailed>> {
        let mut arrived = self.desk.count.subscribe();
        let enough = arrived.wait_for(|&so_far| so_far >= count);
        match tokio::time::timeout(PATIENCE, enough).await {
            Ok(Ok(_)) => Ok(self.arrived()),
            _ => {
                anyhow::bail!("{} of {count} mails arrived in {PATIENCE:?}", self.arrived().len())
            }
        }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// `[smtp]` of a program that sends to this URL.
pub fn relay_toml(url: &str) -> String {
    format!("[smtp]\nurl = \"{url}\"\nfrom = \"Vedette <alerts@watch.example>\"\n")
}

async fn accept(listener: TcpListener, desk: Arc<Desk>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let (desk, stop) = (Arc::clone(&desk), stop.clone());
                tokio::spawn(async move {
                    // A client that hangs up has said enough.
                    tokio::select! { () = stop.cancelled() => (), _ = serve(stream, &desk) => () }
                });
            }
        }
    }
}

async fn serve(stream: TcpStream, desk: &Desk) -> anyhow::Result<()> {
    let mut clear = BufReader::new(stream);
    if desk.is_away.load(Ordering::Relaxed) {
        desk.turned_away.fetch_add(1, Ordering::Relaxed);
        return say(&mut clear, "421 not now").await;
    }
    let first = desk.first.try_acquire();
    if first.is_err() && desk.one_at_a_time.load(Ordering::Relaxed) {
        desk.turned_away.fetch_add(1, Ordering::Relaxed);
        return say(&mut clear, "421 one at a time").await;
    }
    say(&mut clear, "220 relay.example ready").await?;
    if !converse(&mut clear, desk, false).await? {
        return Ok(());
    }
    let Some(tls) = &desk.tls else { return Ok(()) };
    let mut encrypted = BufReader::new(tls.accept(clear.into_inner()).await?);
    converse(&mut encrypted, desk, true).await?;
    Ok(())
}

/// Speaks SMTP to the end; true when TLS is to begin.
async fn converse<S>(
    stream: &mut BufReader<S>,
    desk: &Desk,
    encrypted: bool,
) -> anyhow::Result<bool>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut envelope = Envelope::default();
    loop {
        let Some(line) = read_line(stream).await? else { return Ok(false) };
        let line = line.trim_end();
        let verb: String = line.chars().take(4).collect::<String>().to_uppercase();
        let clear = desk.tls.is_some() && !encrypted;
        match verb.as_str() {
            "EHLO" if clear => say(stream, "250-relay.example\r\n250 STARTTLS").await?,
            "EHLO" => say(stream, "250-relay.example\r\n250 PIPELINING").await?,
            "STAR" if clear => {
                say(stream, "220 go ahead").await?;
                return Ok(true);
            }
            "MAIL" if clear => say(stream, "530 encrypt first").await?,
            "MAIL" => {
                envelope = Envelope { from: bracketed(line), to: Vec::new() };
                say(stream, "250 ok").await?;
            }
            "RCPT" => {
                let recipient = bracketed(line);
                let words = name(desk, &recipient);
                if is_hushed(desk, &recipient) {
                    std::future::pending::<()>().await;
                }
                if words.starts_with('2') {
                    envelope.to.push(recipient);
                }
                say(stream, &words).await?;
            }
            "DATA" if envelope.to.is_empty() => say(stream, "503 for whom").await?,
            "DATA" => {
                say(stream, "354 go ahead").await?;
                let stuffed = read_data(stream).await?;
                match keep(desk, std::mem::take(&mut envelope), stuffed, encrypted) {
                    Verdict::Hang => std::future::pending().await,
                    Verdict::Held(until) => {
                        until.notified().await;
                        say(stream, "250 taken").await?;
                    }
                    Verdict::Says(words) => say(stream, words).await?,
                }
            }
            "RSET" | "NOOP" => {
                envelope = Envelope::default();
                say(stream, "250 ok").await?;
            }
            "QUIT" => {
                say(stream, "221 bye").await?;
                return Ok(false);
            }
            _ => say(stream, "502 not here").await?,
        }
    }
}

/// Notes a recipient and returns the answer to it.
fn name(desk: &Desk, recipient: &str) -> String {
    desk.named.lock().push(recipient.to_owned());
    let refused = desk.refused.lock();
    let line = refused.iter().find(|(name, _)| name == recipient);
    line.map_or_else(|| "250 ok".to_owned(), |(_, line)| line.clone())
}

/// Whether this recipient gets no answer this time.
fn is_hushed(desk: &Desk, recipient: &str) -> bool {
    let mut hushed = desk.hushed.lock();
    let place = hushed.iter().position(|name| name == recipient);
    place.map(|place| hushed.swap_remove(place)).is_some()
}

fn keep(desk: &Desk, envelope: Envelope, stuffed: String, encrypted: bool) -> Verdict {
    let verdict = desk.script.lock().pop_front().unwrap_or(Verdict::Says("250 taken"));
    let lines = stuffed.split_inclusive("\r\n");
    let raw: String = lines.map(|line| line.strip_prefix('.').unwrap_or(line)).collect();
    let taken = match &verdict {
        Verdict::Says(words) => words.starts_with('2'),
        Verdict::Hang => false,
        Verdict::Held(_) => true,
    };
    let Envelope { from, to } = envelope;
    let mailed = Mailed { at: Instant::now(), from, to, raw, stuffed, encrypted, taken };
    desk.arrived.lock().push(mailed);
    desk.count.send_modify(|count| *count += 1);
    verdict
}

async fn read_data<S: AsyncRead + Unpin>(stream: &mut BufReader<S>) -> anyhow::Result<String> {
    let mut data = String::new();
    loop {
        let line = read_line(stream).await?;
        let line = line.ok_or_else(|| anyhow::anyhow!("the client left within a message"))?;
        if line == ".\r\n" {
            return Ok(data);
        }
        data.push_str(&line);
    }
}

async fn read_line<S: AsyncRead + Unpin>(
    stream: &mut BufReader<S>,
) -> anyhow::Result<Option<String>> {
    let mut line = String::new();
    let read = stream.read_line(&mut line).await?;
    Ok((read > 0).then_some(line))
}

async fn say<S>(stream: &mut BufReader<S>, words: &str) -> anyhow::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(format!("{words}\r\n").as_bytes()).await?;
    Ok(stream.flush().await?)
}

fn bracketed(line: &str) -> String {
    let inside = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inside.map(|(address, _)| address.to_owned()).unwrap_or_default()
}
