//! A DNS server whose answers the test writes: records of any type, rotations, failures, silence.
//!
//! It answers as a recursive server would: aliases are followed within the names it knows, and
//! what is too large for UDP is asked again over TCP. Whoever has its key may change it.

use std::{net::SocketAddr, sync::Arc};

use hickory_proto::{
    op::{Edns, Message, OpCode},
    rr::{RData, RecordType},
};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
};
use tokio_util::sync::CancellationToken;

pub use update::UpdateKey;
pub use zone::Reply;
use zone::Zone;

pub mod record;
mod update;
mod zone;

/// What fits into a datagram (EDNS over UDP).
const PAYLOAD: u16 = 1232;

/// A running server, UDP and TCP on one port.
pub struct Dns {
    address: SocketAddr,
    zone: Arc<Mutex<Zone>>,
    stop: CancellationToken,
}

impl Dns {
    pub async fn start() -> anyhow::Result<Self> {
        let (udp, tcp) = bind_both().await?;
        let dns = Self {
            address: udp.local_addr()?,
            zone: Arc::default(),
            stop: CancellationToken::new(),
        };
        let stop = dns.stop.clone();
        let zone = Arc::clone(&dns.zone);
        tokio::spawn(async move {
            tokio::select! { () = stop.cancelled() => (), () = serve_udp(udp, zone) => () }
        });
        let stop = dns.stop.clone();
        let zone = Arc::clone(&dns.zone);
        tokio::spawn(async move {
            tokio::select! { () = stop.cancelled() => (), () = serve_tcp(tcp, zone) => () }
        });
        Ok(dns)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From the next question on, whatever type it asks for; a name never set is NXDOMAIN.
    pub fn answer(&self, name: &str, reply: Reply) {
        self.zone.lock().set(name, None, reply);
    }

    /// The same for questions of one type alone; other types keep what they had.
    pub fn answer_type(&self, name: &str, record_type: RecordType, reply: Reply) {
        self.zone.lock().set(name, Some(record_type), reply);
    }

    /// From the next question on the name does not exist any more.
    pub fn forget(&self, name: &str) {
        self.zone.lock().remove(name);
    }

    /// From the next question on nobody is answered, whatever is asked.
    pub fn fall_silent(&self) {
        self.zone.lock().is_silent = true;
    }

    /// From the next question on it is as a recursor that has lost its way out: what a test has set is
    /// what it has kept, the root's name servers are as well, and everything else fails.
    pub fn lose_its_way_out(&self) {
        self.zone.lock().is_cut_off = true;
    }

    /// From the next question on everything is as it was.
    pub fn answer_again(&self) {
        let mut zone = self.zone.lock();
        zone.is_silent = false;
        zone.is_cut_off = false;
    }

    /// From the next message on this key may add and remove records.
    pub fn take_updates(&self, key: &UpdateKey) {
        self.zone.lock().take_updates(key.signer());
    }

    /// The records of one type that updates have left at a name.
    pub fn records(&self, name: &str, record_type: RecordType) -> Vec<RData> {
        self.zone.lock().records(name, record_type)
    }

    /// How often this was asked so far.
    pub fn asked(&self, name: &str, record_type: RecordType) -> usize {
        self.zone.lock().asked(name, record_type)
    }

    /// How often it was asked so far for what the service makes up to see whether it reaches others.
    pub fn asked_for_nobody(&self) -> usize {
        self.zone.lock().asked_for_nobody()
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn bind_both() -> anyhow::Result<(UdpSocket, TcpListener)> {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await?;
        // The same number may be taken on TCP: then another is tried.
        if let Ok(tcp) = TcpListener::bind(udp.local_addr()?).await {
            return Ok((udp, tcp));
        }
    }
}

async fn serve_udp(socket: UdpSocket, zone: Arc<Mutex<Zone>>) {
    let mut buffer = [0; 4096];
    while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
        let Some((limit, response)) = respond(&buffer[..length], &zone) else { continue };
        let bytes = encode(&response);
        let bytes = if bytes.len() > limit { encode(&response.truncate()) } else { bytes };
        let _ = socket.send_to(&bytes, peer).await;
    }
}

async fn serve_tcp(listener: TcpListener, zone: Arc<Mutex<Zone>>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, Arc::clone(&zone)));
    }
}

async fn converse(mut stream: TcpStream, zone: Arc<Mutex<Zone>>) -> std::io::Result<()> {
    loop {
        let length = stream.read_u16().await?;
        let mut question = vec![0; usize::from(length)];
        stream.read_exact(&mut question).await?;
        let Some((_, response)) = respond(&question, &zone) else { continue };
        let bytes = encode(&response);
        let length = u16::try_from(bytes.len()).expect("a scripted answer fits a message");
        stream.write_u16(length).await?;
        stream.write_all(&bytes).await?;
    }
}

/// The answer, and how many bytes of it the asker takes by UDP. None: silence.
fn respond(question: &[u8], zone: &Mutex<Zone>) -> Option<(usize, Message)> {
    let bytes = question;
    let question = Message::from_vec(bytes).ok()?;
    if question.metadata.op_code == OpCode::Update {
        let done = update::respond(bytes, &question, &mut zone.lock());
        return Some((usize::from(PAYLOAD), done));
    }
    let query = question.queries.first()?.clone();
    let mut response = Message::response(question.metadata.id, OpCode::Query);
    response.metadata.recursion_desired = question.metadata.recursion_desired;
    response.metadata.recursion_available = true;
    if question.edns.is_some() {
        let mut edns = Edns::new();
        edns.set_max_payload(PAYLOAD);
        response.set_edns(edns);
    }
    let said = zone.lock().ask(query.name(), query.query_type())?;
    response.add_query(query);
    response.metadata.response_code = said.code;
    response.add_answers(said.records);
    Some((usize::from(question.max_payload().min(PAYLOAD)), response))
}

fn encode(message: &Message) -> Vec<u8> {
    message.to_vec().expect("a scripted answer has a form on the wire")
}
