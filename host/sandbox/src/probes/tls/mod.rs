//! One TLS handshake, and what the server showed in it.

mod starttls;

use std::{net::IpAddr, time::Instant};

use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use vedette_model::domain_name::Target;

pub use starttls::StartTls;
pub(crate) use starttls::begin;

use super::{
    Endpoint, Reach, Timing, micros, peer_text,
    x509::{self, Examination},
};
use crate::egress::{Connected, NetError, Recorder, client_config, handshake};

/// What to shake hands with. `server_name`: for SNI and the name check, in place of the host.
/// `complete`: may a missing issuer be fetched?
#[derive(Clone, Debug)]
pub struct InspectRequest {
    pub endpoint: Endpoint,
    pub server_name: Option<String>,
    pub alpn: Vec<String>,
    pub starttls: Option<StartTls>,
    pub complete: bool,
    pub timeout_ms: u32,
}

/// The handshake is finished even when the chain is bad.
#[derive(Clone, Debug)]
pub struct Report {
    pub peer_address: String,
    /// 0x0303 or 0x0304.
    pub version: u16,
    /// The IANA number of the suite.
    pub cipher: u16,
    pub alpn: Option<String>,
    /// DER, leaf first as served.
    pub chain: Vec<Vec<u8>>,
    pub examination: Examination,
    /// `tls_us` is the handshake; a STARTTLS dialogue counts only in `total_us`.
    pub timing: Timing,
}

/// Connects, speaks STARTTLS where asked to, finishes the handshake and examines the chain.
/// [`NetError::Protocol`] with [`NOT_TLS`](crate::egress::NOT_TLS): a plain-text answer;
/// [`NetError::Tls`]: the peer ended the handshake.
pub async fn inspect(reach: Reach, request: InspectRequest) -> Result<Report, NetError> {
    let started = Instant::now();
    let deadline = reach.until(request.timeout_ms);
    let reference = match &request.server_name {
        Some(name) => name.clone(),
        None => request.endpoint.target()?.to_string(),
    };
    let name = sni(&reference)?;
    let connected = reach.connect(&request.endpoint, deadline).await?;
    let Connected { mut stream, peer, resolve, connect } = connected;
    if let Some(protocol) = request.starttls {
        starttls::begin(protocol, &mut stream, &reference, deadline).await?;
    }
    let recorder = Recorder::new();
    let config = client_config(&recorder, &request.alpn);
    let shaking = Instant::now();
    let stream = handshake(config, name, stream, deadline).await?;
    let tls = shaking.elapsed();
    let total = started.elapsed();
    let (version, cipher, alpn) = negotiated(&stream);
    drop(stream);

    let recorded = recorder.take();
    let question = x509::ExamineRequest {
        chain: recorded.chain.clone(),
        server_name: reference,
        at: reach.now.timestamp(),
        staple: recorded.staple,
        complete: request.complete,
    };
    let examination = x509::examine(reach, question).await.map_err(NetError::Tls)?;
    Ok(Report {
        peer_address: peer_text(peer),
        version,
        cipher,
        alpn,
        chain: recorded.chain,
        examination,
        timing: Timing {
            resolve_us: resolve.map(micros),
            connect_us: Some(micros(connect)),
            tls_us: Some(micros(tls)),
            first_byte_us: None,
            total_us: micros(total),
        },
    })
}

/// A name goes into SNI as an A-label without trailing dot; an address does not (RFC 6066).
fn sni(reference: &str) -> Result<ServerName<'static>, NetError> {
    let not_permitted = |text: String| NetError::NotPermitted(text);
    let target = Target::parse_local(reference);
    match target.map_err(|invalid| not_permitted(invalid.to_string()))? {
        Target::Address(IpAddr::V4(address)) => Ok(ServerName::IpAddress(address.into())),
        Target::Address(IpAddr::V6(address)) => Ok(ServerName::IpAddress(address.into())),
        Target::Name(name) => ServerName::try_from(name.as_str().to_owned())
            .map_err(|_| not_permitted("the name cannot be sent in a handshake".to_owned())),
    }
}

fn negotiated(stream: &TlsStream<TcpStream>) -> (u16, u16, Option<String>) {
    let (_, session) = stream.get_ref();
    let version = session.protocol_version().map_or(0, u16::from);
    let cipher = session.negotiated_cipher_suite().map_or(0, |suite| u16::from(suite.suite()));
    let alpn = session.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned());
    (version, cipher, alpn)
}
