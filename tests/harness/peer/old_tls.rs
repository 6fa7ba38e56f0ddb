//! A server that speaks one old version and one old suite (RFC 2246): it answers a ClientHello
//! that offers both with its first flight, any other with an alert, and gets no further.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::Certificate;

/// What the server speaks, and the chain it shows.
pub struct OldTls {
    /// As on the wire: 0x0301 = TLS 1.0.
    pub version: u16,
    /// IANA id; a suite whose key exchange needs no message of its own.
    pub suite: u16,
    pub certificate: Certificate,
}

/// What matters of a ClientHello.
struct Hello {
    version: u16,
    suites: Vec<u16>,
}

impl OldTls {
    pub(super) async fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let record = read_record(&mut stream).await?;
        let Some(hello) = Hello::read(&record) else { return end(stream).await };
        let accepts = hello.version >= self.version && hello.suites.contains(&self.suite);
        let answer = match (hello.version >= self.version, accepts) {
            (false, _) => self.record(ALERT, &[FATAL, PROTOCOL_VERSION]),
            (true, false) => self.record(ALERT, &[FATAL, HANDSHAKE_FAILURE]),
            (true, true) => self.record(HANDSHAKE, &self.flight()),
        };
        stream.write_all(&answer).await?;
        if accepts {
            // The client's turn: its key exchange, an alert, or the end.
            let _ = stream.read_u8().await;
        }
        end(stream).await
    }

    /// ServerHello, Certificate, ServerHelloDone.
    fn flight(&self) -> Vec<u8> {
        let mut hello = self.version.to_be_bytes().to_vec();
        hello.extend([0x5a; 32]); // random
        hello.push(0); // no session
        hello.extend(self.suite.to_be_bytes());
        hello.push(0); // no compression
        let sent = self.certificate.chain.iter();
        let list: Vec<u8> = sent.flat_map(|der| [&length24(der.len())[..], der].concat()).collect();
        let certificates = [&length24(list.len())[..], &list].concat();
        [message(2, &hello), message(11, &certificates), message(14, &[])].concat()
    }

    fn record(&self, content: u8, payload: &[u8]) -> Vec<u8> {
        let length = u16::try_from(payload.len()).expect("a short chain fits a record");
        let mut record = vec![content];
        record.extend(self.version.to_be_bytes());
        record.extend(length.to_be_bytes());
        record.extend(payload);
        record
    }
}

impl Hello {
    /// None: the first record is no ClientHello.
    fn read(record: &[u8]) -> Option<Self> {
        let body = record.strip_prefix(&[1])?.get(3..)?;
        let version = number(body)?;
        let session = usize::from(*body.get(34)?);
        let rest = body.get(35 + session..)?;
        let length = usize::from(number(rest)?);
        let suites = rest.get(2..2 + length)?.chunks_exact(2);
        Some(Self { version, suites: suites.filter_map(number).collect() })
    }
}

/// Closes, and takes what is still under way: else the system would reset the connection.
async fn end(mut stream: TcpStream) -> std::io::Result<()> {
    stream.shutdown().await?;
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.map(|_| ())
}

/// The payload of the next record.
async fn read_record(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut header = [0; 5];
    stream.read_exact(&mut header).await?;
    let mut payload = vec![0; usize::from(u16::from_be_bytes([header[3], header[4]]))];
    stream.read_exact(&mut payload).await?;
    Ok(payload)
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &length24(body.len())[..], body].concat()
}

fn length24(length: usize) -> [u8; 3] {
    let [_, high, middle, low] =
        u32::try_from(length).expect("a message is shorter than 16 MiB").to_be_bytes();
    [high, middle, low]
}

fn number(bytes: &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.first()?, *bytes.get(1)?]))
}

const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const FATAL: u8 = 2;
const HANDSHAKE_FAILURE: u8 = 40;
const PROTOCOL_VERSION: u8 = 70;
