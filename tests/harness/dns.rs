//! A DNS server whose answers the test writes: addresses, other records, failures, silence.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use hickory_proto::{
    op::{Edns, Message, OpCode, Query, ResponseCode},
    rr::{Name, RData, Record, RecordType, rdata},
    serialize::binary::BinEncodable,
};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
};
use tokio_util::sync::CancellationToken;

const TTL: u32 = 0;

/// What the server says about one name.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Records of any types; asked for another type: no data.
    Records(Vec<RData>),
    /// One reply per question, the last one for ever: rebinding, flapping.
    Sequence(Vec<Reply>),
    Failure(ResponseCode),
    /// No answer at all.
    Silence,
}

/// A running server, UDP and TCP on one port.
pub struct Dns {
    address: SocketAddr,
    names: Names,
    stop: CancellationToken,
}

type Names = Arc<Mutex<HashMap<String, Reply>>>;

impl Dns {
    pub async fn start() -> anyhow::Result<Self> {
        let (udp, tcp) = bind_both().await?;
        let dns = Self {
            address: udp.local_addr()?,
            names: Names::default(),
            stop: CancellationToken::new(),
        };
        let stop = dns.stop.clone();
        let names = Arc::clone(&dns.names);
        tokio::spawn(async move {
            tokio::select! { () = stop.cancelled() => (), () = serve_udp(udp, names) => () }
        });
        let stop = dns.stop.clone();
        let names = Arc::clone(&dns.names);
        tokio::spawn(async move {
            tokio::select! { () = stop.cancelled() => (), () = serve_tcp(tcp, names) => () }
        });
        Ok(dns)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From the next question on; a name never set is NXDOMAIN.
    pub fn answer(&self, name: &str, reply: Reply) {
        self.names.lock().insert(canonical(name), reply);
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Reply {
    pub fn address(ip: IpAddr) -> Self {
        Self::addresses(&[ip])
    }

    pub fn addresses(ips: &[IpAddr]) -> Self {
        let record = |&ip: &IpAddr| match ip {
            IpAddr::V4(ip) => RData::A(rdata::A(ip)),
            IpAddr::V6(ip) => RData::AAAA(rdata::AAAA(ip)),
        };
        Self::Records(ips.iter().map(record).collect())
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

async fn serve_udp(socket: UdpSocket, names: Names) {
    let mut buffer = [0; 4096];
    while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
        if let Some(response) = respond(&buffer[..length], &names) {
            let _ = socket.send_to(&response, peer).await;
        }
    }
}

async fn serve_tcp(listener: TcpListener, names: Names) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, Arc::clone(&names)));
    }
}

async fn converse(mut stream: TcpStream, names: Names) -> std::io::Result<()> {
    loop {
        let length = stream.read_u16().await?;
        let mut question = vec![0; usize::from(length)];
        stream.read_exact(&mut question).await?;
        let Some(response) = respond(&question, &names) else { continue };
        let length = u16::try_from(response.len()).expect("a scripted answer fits a message");
        stream.write_u16(length).await?;
        stream.write_all(&response).await?;
    }
}

fn respond(question: &[u8], names: &Names) -> Option<Vec<u8>> {
    let question = Message::from_vec(question).ok()?;
    let query = question.queries.first()?.clone();
    let mut response = Message::response(question.metadata.id, OpCode::Query);
    response.metadata.recursion_desired = question.metadata.recursion_desired;
    response.metadata.recursion_available = true;
    response.add_query(query.clone());
    if question.edns.is_some() {
        response.set_edns(Edns::new());
    }
    match reply_for(query.name(), names) {
        Some(Reply::Silence) => return None,
        Some(Reply::Failure(code)) => response.metadata.response_code = code,
        Some(Reply::Records(records)) => add_answers(&mut response, &query, records),
        Some(Reply::Sequence(_)) | None => {
            response.metadata.response_code = ResponseCode::NXDomain;
        }
    }
    response.to_bytes().ok()
}

/// Takes the next of a sequence; nothing is known of other names.
fn reply_for(name: &Name, names: &Names) -> Option<Reply> {
    let mut names = names.lock();
    let reply = names.get_mut(&canonical(&name.to_ascii()))?;
    if let Reply::Sequence(replies) = reply {
        let next = replies.first()?.clone();
        if replies.len() > 1 {
            replies.remove(0);
        }
        return Some(next);
    }
    Some(reply.clone())
}

fn add_answers(response: &mut Message, query: &Query, records: Vec<RData>) {
    for data in records {
        let wanted = data.record_type() == query.query_type();
        if wanted || data.record_type() == RecordType::CNAME {
            response.add_answer(Record::from_rdata(query.name().clone(), TTL, data));
        }
    }
}

fn canonical(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}
