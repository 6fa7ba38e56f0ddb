//! Servers on loopback: a canary that counts connections, scripted DNS, HTTP, TLS and TCP.
//!
//! Every server ends when it is dropped.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use hickory_proto::{
    op::{Message, ResponseCode},
    rr::{Name, RData, Record, RecordType, rdata},
};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
};
use tokio_util::task::AbortOnDropHandle;
use vedette_model::Timestamp;

use crate::{
    egress::{Audience, Egress, Options, Policy},
    probes::{Endpoint, Reach},
};

/// Within the validity of the lab's certificates.
pub(crate) fn now() -> Timestamp {
    "2026-06-01T12:00:00Z".parse().unwrap()
}

pub(crate) fn reach(egress: &Egress, audience: Audience) -> Reach {
    let deadline = Instant::now() + Duration::from_secs(20);
    let configured = Arc::default();
    Reach { egress: egress.clone(), audience, deadline, now: now(), configured }
}

pub(crate) fn authenticated(egress: &Egress) -> Reach {
    reach(egress, Audience::Authenticated)
}

/// A policy that opens `allow` to accounts and `public_allow` to the public.
pub(crate) fn policy(allow: &[&str], public_allow: &[&str]) -> Policy {
    let nets = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    Policy { allow: nets(allow), public_allow: nets(public_allow), ..Policy::default() }
}

/// An egress layer over that policy, asking `dns`, or nobody.
pub(crate) fn egress(policy: Policy, dns: Option<&Dns>) -> Egress {
    let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    let dns_servers = vec![dns.map_or(nobody, |dns| dns.address).into()];
    Egress::new(Options { policy, dns_servers, ..Options::default() }).unwrap()
}

/// An egress layer that reaches exactly 127.0.0.1.
pub(crate) fn to_loopback(dns: Option<&Dns>) -> Egress {
    egress(policy(&["127.0.0.1/32"], &[]), dns)
}

/// The same, which reads at most so many bytes of an HTTP connection.
pub(crate) fn to_loopback_reading(most: u32) -> Egress {
    let (policy, nobody) =
        (policy(&["127.0.0.1/32"], &[]), SocketAddr::from((Ipv4Addr::LOCALHOST, 9)));
    let dns_servers = vec![nobody.into()];
    let most_read = Some(most);
    Egress::new(Options { policy, dns_servers, most_read, ..Options::default() }).unwrap()
}

pub(crate) fn endpoint(host: &str, port: u16) -> Endpoint {
    Endpoint { host: host.to_owned(), port, connect_to: None }
}

/// A listener that nobody may reach, on `ip` and an own port.
pub(crate) struct Canary {
    pub(crate) address: SocketAddr,
    seen: Arc<AtomicUsize>,
    _task: AbortOnDropHandle<()>,
}

impl Canary {
    pub(crate) async fn on(ip: &str) -> Self {
        let ip: IpAddr = ip.parse().unwrap();
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&seen);
        let task = spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(b"seen").await;
            }
        });
        Self { address, seen, _task: task }
    }

    /// Panics if anybody but this very call has ever connected. Connections are accepted in the
    /// order they were made, so one of our own that was answered has all earlier ones before it.
    pub(crate) async fn assert_untouched(&self) {
        let mut own = TcpStream::connect(self.address).await.unwrap();
        let mut answer = [0; 4];
        own.read_exact(&mut answer).await.unwrap();
        let seen = self.seen.fetch_sub(1, Ordering::SeqCst) - 1;
        assert_eq!(seen, 0, "{} was connected to", self.address);
    }
}

/// What the DNS server says.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Addresses(Vec<IpAddr>),
    Records(Vec<Record>),
    Code(ResponseCode),
    NoData,
    /// No data, with these to say so.
    Denied(Vec<Record>),
    Silence,
    /// Silence to a question that asks for signatures, these to one that does not.
    Unsigned(Vec<Record>),
    /// Truncated for a question that asks for signatures, these to one that does not.
    ShortUnsigned(Vec<Record>),
    /// Truncated over UDP; over TCP these.
    OnlyTcp(Vec<Record>),
    /// That to a question with EDNS, these to one without.
    BeforeEdns(Confusion, Vec<Record>),
}

/// What a server from before EDNS makes of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Confusion {
    Code(ResponseCode),
    /// Writes back all that came behind the header, as if the question were all of it.
    Echo,
}

pub(crate) fn addresses(texts: &[&str]) -> Reply {
    Reply::Addresses(texts.iter().map(|text| text.parse().unwrap()).collect())
}

/// A DNS server over UDP and TCP. The script is told the name (lower case, no trailing dot), the
/// type, and how often that question came before.
pub(crate) struct Dns {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<(String, RecordType)>>>,
    tasks: [AbortOnDropHandle<()>; 2],
}

impl Dns {
    pub(crate) async fn new(
        script: impl Fn(&str, RecordType, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let (udp, tcp) = both_sockets().await;
        let address = udp.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answer = Arc::new(Script { asked: Arc::clone(&asked), script: Box::new(script) });
        let for_tcp = Arc::clone(&answer);
        let over_udp = spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok((length, from)) = udp.recv_from(&mut buffer).await {
                if let Some(bytes) = answer.answer(&buffer[..length], false) {
                    let _ = udp.send_to(&bytes, from).await;
                }
            }
        });
        let over_tcp = spawn(async move {
            while let Ok((mut stream, _)) = tcp.accept().await {
                let Ok(length) = stream.read_u16().await else { continue };
                let mut query = vec![0; length.into()];
                if stream.read_exact(&mut query).await.is_err() {
                    continue;
                }
                if let Some(bytes) = for_tcp.answer(&query, true) {
                    let _ = stream.write_all(&(bytes.len() as u16).to_be_bytes()).await;
                    let _ = stream.write_all(&bytes).await;
                }
            }
        });
        Self { address, asked, tasks: [over_udp, over_tcp] }
    }

    /// Answers every question for addresses with these, by family.
    pub(crate) async fn fixed(texts: &'static [&'static str]) -> Self {
        Self::new(move |_, _, _| addresses(texts)).await
    }

    /// From now on connections over TCP are refused.
    pub(crate) fn refuse_tcp(&self) {
        let [_, over_tcp] = &self.tasks;
        over_tcp.abort();
    }

    pub(crate) fn asked(&self) -> Vec<(String, RecordType)> {
        self.asked.lock().clone()
    }
}

type Answer = Box<dyn Fn(&str, RecordType, usize) -> Reply + Send + Sync>;

struct Script {
    asked: Arc<Mutex<Vec<(String, RecordType)>>>,
    script: Answer,
}

impl Script {
    fn answer(&self, bytes: &[u8], tcp: bool) -> Option<Vec<u8>> {
        let query = Message::from_vec(bytes).ok()?;
        let question = query.queries.first()?.clone();
        let name = question.name().to_ascii().to_lowercase();
        let name = name.trim_end_matches('.').to_owned();
        let rtype = question.query_type();
        let before = {
            let mut asked = self.asked.lock();
            let before = asked.iter().filter(|(n, t)| *n == name && *t == rtype).count();
            asked.push((name.clone(), rtype));
            before
        };
        let mut response = Message::response(query.metadata.id, query.metadata.op_code);
        response.metadata.recursion_desired = true;
        response.metadata.recursion_available = true;
        response.add_query(question.clone());
        match (self.script)(&name, rtype, before) {
            Reply::Silence => return None,
            Reply::Unsigned(_) if wants_signatures(&query) => return None,
            Reply::ShortUnsigned(_) if wants_signatures(&query) => {
                response.metadata.truncation = true;
            }
            Reply::Unsigned(records) | Reply::ShortUnsigned(records) => {
                response.add_answers(records);
            }
            Reply::NoData => {}
            Reply::Denied(authorities) => {
                response.add_authorities(authorities);
            }
            Reply::Code(code) => response.metadata.response_code = code,
            Reply::Records(records) => {
                response.add_answers(records);
            }
            Reply::OnlyTcp(records) if tcp => {
                response.add_answers(records);
            }
            Reply::OnlyTcp(_) => response.metadata.truncation = true,
            Reply::BeforeEdns(confusion, _) if query.edns.is_some() => match confusion {
                Confusion::Code(code) => response.metadata.response_code = code,
                Confusion::Echo => return Some(echo(bytes)),
            },
            Reply::BeforeEdns(_, records) => {
                response.add_answers(records);
            }
            Reply::Addresses(addresses) => {
                let records = addresses.into_iter().filter_map(|address| {
                    let data = match (address, rtype) {
                        (IpAddr::V4(v4), RecordType::A) => RData::A(rdata::A(v4)),
                        (IpAddr::V6(v6), RecordType::AAAA) => RData::AAAA(rdata::AAAA(v6)),
                        _ => return None,
                    };
                    Some(Record::from_rdata(question.name().clone(), 0, data))
                });
                response.add_answers(records);
            }
        }
        response.to_vec().ok()
    }
}

fn wants_signatures(query: &Message) -> bool {
    query.edns.as_ref().is_some_and(|edns| edns.flags().dnssec_ok)
}

/// One question, one answer: 192.0.2.1.
fn echo(query: &[u8]) -> Vec<u8> {
    let header = [0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0];
    let answer = [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1];
    [&query[..2], &header, &query[12..], &answer].concat()
}

pub(crate) fn name(text: &str) -> Name {
    Name::from_ascii(text).unwrap()
}

/// UDP and TCP on one port.
pub(crate) async fn both_sockets() -> (UdpSocket, TcpListener) {
    for _ in 0..50 {
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
    panic!("no port is free for both UDP and TCP");
}

/// An HTTP server that answers every request with the bytes of its script, then closes.
pub(crate) struct Http {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    _task: AbortOnDropHandle<()>,
}

impl Http {
    pub(crate) async fn new(script: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let script = Arc::new(script);
        let (address, task) = serve(move |mut stream| {
            let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
            async move {
                let request = read_request(&mut stream).await;
                let answer = script(&request);
                seen.lock().push(request);
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
            }
        })
        .await;
        Self { address, requests, _task: task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().clone()
    }
}

/// `200` with a body, `Content-Length` and these header lines.
pub(crate) fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub(crate) fn redirect(status: u16, location: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nlocation: {location}\r\n\r\n").into_bytes()
}

/// The head, and the body if there is one.
pub(crate) async fn read_request(stream: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => bytes.push(byte),
            Err(_) => break,
        }
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head.to_lowercase().lines().find_map(|line| {
        line.strip_prefix("content-length: ").and_then(|length| length.parse::<usize>().ok())
    });
    let mut body = vec![0; length.unwrap_or_default()];
    let _ = stream.read_exact(&mut body).await;
    head + &String::from_utf8_lossy(&body)
}

/// Hands every connection to its own task.
pub(crate) async fn serve<F, T>(talk: F) -> (SocketAddr, AbortOnDropHandle<()>)
where
    F: Fn(TcpStream) -> T + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = spawn(async move {
        let mut talks = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            talks.spawn(talk(stream));
        }
    });
    (address, task)
}

/// A port on 127.0.0.1 that nobody listens on: bound, never listening, for as long as it is held.
pub(crate) struct ClosedPort {
    pub(crate) port: u16,
    _socket: tokio::net::TcpSocket,
}

impl ClosedPort {
    pub(crate) fn new() -> Self {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        Self { port: socket.local_addr().unwrap().port(), _socket: socket }
    }
}

fn spawn(future: impl Future<Output = ()> + Send + 'static) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(future))
}
