//! WHOIS servers (RFC 3912) on one port and three addresses: root, registry, registrar.

use std::{
    collections::HashMap,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The three servers. They share a port, since a referral names only a host.
pub struct Whois {
    pub root: Desk,
    pub registry: Desk,
    pub registrar: Desk,
}

/// One server. What it was not told about has no match.
pub struct Desk {
    address: SocketAddr,
    book: Arc<Book>,
    stop: CancellationToken,
}

/// How a server treats a question.
#[derive(Clone, Debug)]
pub enum Says {
    /// All of it, then the end of the stream.
    Bytes(Vec<u8>),
    /// These bytes one by one, this far apart, over and over.
    Drip(Vec<u8>, Duration),
    /// The same line until the peer hangs up.
    Endless,
    /// Neither a byte nor an end.
    Silence,
    Reset,
}

#[derive(Default)]
struct Book {
    answers: Mutex<HashMap<String, Says>>,
    asked: Mutex<Vec<String>>,
}

impl Book {
    /// Of the object or of the zone that it lies in, as the root answers for all names below.
    fn find(&self, object: &str) -> Option<Says> {
        let answers = self.answers.lock();
        let parents = std::iter::successors(Some(object), |name| Some(name.split_once('.')?.1));
        parents.into_iter().find_map(|name| answers.get(name).cloned())
    }
}

impl Whois {
    pub(super) async fn start() -> anyhow::Result<Self> {
        let [root, registry, registrar] = bind_three().await?;
        Ok(Self {
            root: Desk::open(root)?,
            registry: Desk::open(registry)?,
            registrar: Desk::open(registrar)?,
        })
    }
}

impl Desk {
    fn open(listener: TcpListener) -> anyhow::Result<Self> {
        let desk = Self {
            address: listener.local_addr()?,
            book: Arc::default(),
            stop: CancellationToken::new(),
        };
        tokio::spawn(accept(listener, Arc::clone(&desk.book), desk.stop.clone()));
        Ok(desk)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `object` is the last word of the question, without the flags that some servers want; names
    /// below it that nothing was said about are answered the same.
    pub fn says(&self, object: &str, says: Says) {
        self.book.answers.lock().insert(object.to_owned(), says);
    }

    pub fn answer(&self, object: &str, text: &str) {
        self.says(object, Says::Bytes(text.replace('\n', "\r\n").into_bytes()));
    }

    /// All questions so far as they came, oldest first, without line ends.
    pub fn asked(&self) -> Vec<String> {
        self.book.asked.lock().clone()
    }

    /// The questions about one object.
    pub fn asked_about(&self, object: &str) -> usize {
        self.asked().iter().filter(|question| subject(question) == object).count()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn bind_three() -> anyhow::Result<[TcpListener; 3]> {
    loop {
        let root = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = root.local_addr()?.port();
        let beside = |last| TcpListener::bind((Ipv4Addr::new(127, 0, 0, last), port));
        // The same number may be taken on another address: then another is tried.
        if let (Ok(registry), Ok(registrar)) = (beside(2).await, beside(3).await) {
            return Ok([root, registry, registrar]);
        }
    }
}

async fn accept(listener: TcpListener, book: Arc<Book>, stop: CancellationToken) {
    let connections = TaskTracker::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let (answer, stop) = (answer(stream, Arc::clone(&book)), stop.clone());
                connections.spawn(async move {
                    // A client that hangs up in the middle is what some answers are for.
                    tokio::select! { () = stop.cancelled() => (), _ = answer => () }
                });
            }
        }
    }
}

async fn answer(stream: TcpStream, book: Arc<Book>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream).take(MAX_QUESTION);
    let mut question = String::new();
    stream.read_line(&mut question).await?;
    let question = question.trim_end_matches(['\r', '\n']).to_owned();
    let says = book.find(subject(&question));
    book.asked.lock().push(question);
    let mut stream = stream.into_inner().into_inner();
    match says.unwrap_or_else(|| Says::Bytes(NO_MATCH.into())) {
        Says::Bytes(bytes) => stream.write_all(&bytes).await?,
        Says::Drip(bytes, pause) => loop {
            for byte in &bytes {
                stream.write_all(&[*byte]).await?;
                tokio::time::sleep(pause).await;
            }
        },
        Says::Endless => loop {
            stream.write_all(b"remarks: and so on, and so on\r\n").await?;
        },
        Says::Silence => {
            tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
        }
        Says::Reset => return stream.set_zero_linger(),
    }
    stream.shutdown().await
}

/// `domain shop.example`, `-T dn,ace shop.example` and `shop.example/e` ask for the same.
fn subject(question: &str) -> &str {
    let word = question.rsplit(' ').next().unwrap_or_default();
    word.strip_suffix("/e").unwrap_or(word)
}

const MAX_QUESTION: u64 = 1024;
const NO_MATCH: &str = "% This query returned 0 objects.\r\n% No match found.\r\n";
