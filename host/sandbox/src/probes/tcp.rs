//! Bytes over TCP: one exchange, or a dialogue.

use std::{io::ErrorKind, time::Instant};

use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout_at,
};
use tokio_rustls::client::TlsStream;

use super::{Endpoint, Reach, many};
use crate::egress::{Connected, NetError, Phase, Recorder, client_config, handshake};

/// Connect, send, read to the end of the stream or `max` bytes, close.
#[derive(Clone, Debug)]
pub struct ExchangeRequest {
    pub endpoint: Endpoint,
    pub send: Vec<u8>,
    pub max: u32,
    pub timeout_ms: u32,
}

/// What was read before a reset or a timeout is the answer; an error only when nothing was. An
/// empty answer: the peer closed without a word.
pub async fn exchange(reach: Reach, request: ExchangeRequest) -> Result<Vec<u8>, NetError> {
    let deadline = reach.until(request.timeout_ms);
    let Connected { mut stream, .. } = reach.connect(&request.endpoint, deadline).await?;
    // A peer may answer and close before it has read everything: a failed write is not the end.
    let sent = write(&mut stream, &request.send, deadline).await;
    let mut answer = Vec::new();
    let ended = read_to_end(&mut stream, &mut answer, request.max as usize, deadline).await;
    if !answer.is_empty() {
        return Ok(answer);
    }
    sent.and(ended).map(|()| answer)
}

/// Several exchanges at once; answers keep the order of the requests.
pub async fn exchange_many(
    reach: Reach,
    requests: Vec<ExchangeRequest>,
) -> Vec<Result<Vec<u8>, NetError>> {
    many(requests, |request| exchange(reach.clone(), request)).await
}

/// A dialogue; dropping it closes it. After an error it is of no use, unless a read timed out.
#[derive(Debug)]
pub struct Connection {
    /// None while a call is under way, and after one was aborted or failed.
    stream: Option<Stream>,
    deadline: Instant,
}

#[derive(Debug)]
enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Connection {
    /// Connects; the whole dialogue ends with the reach's deadline.
    pub async fn connect(
        reach: Reach,
        endpoint: Endpoint,
        timeout_ms: u32,
    ) -> Result<Self, NetError> {
        let Connected { stream, .. } = reach.connect(&endpoint, reach.until(timeout_ms)).await?;
        Ok(Self { stream: Some(Stream::Plain(stream)), deadline: reach.deadline })
    }

    /// Writes all of `data`.
    pub async fn write(&mut self, data: Vec<u8>, timeout_ms: u32) -> Result<(), NetError> {
        let deadline = self.until(timeout_ms);
        let mut stream = self.take()?;
        match &mut stream {
            Stream::Plain(stream) => write(stream, &data, deadline).await?,
            Stream::Tls(stream) => write(stream.as_mut(), &data, deadline).await?,
        }
        self.stream = Some(stream);
        Ok(())
    }

    /// Reads what is there, at most `max` bytes. Empty = the end of the stream.
    pub async fn read(&mut self, max: u32, timeout_ms: u32) -> Result<Vec<u8>, NetError> {
        let deadline = self.until(timeout_ms);
        let mut stream = self.take()?;
        let mut buffer = vec![0; (max as usize).clamp(1, CHUNK)];
        let read = async {
            match &mut stream {
                Stream::Plain(stream) => stream.read(&mut buffer).await,
                Stream::Tls(stream) => stream.read(&mut buffer).await,
            }
        };
        let length = match timeout_at(deadline.into(), read).await {
            Ok(Ok(length)) => length,
            // Many peers end TLS by closing the connection beneath it.
            Ok(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => 0,
            Ok(Err(error)) => return Err(NetError::from_io(&error, Phase::Receive)),
            Err(_) => {
                self.stream = Some(stream); // nothing was read: the dialogue may go on
                return Err(NetError::Timeout(Phase::Receive));
            }
        };
        self.stream = Some(stream);
        buffer.truncate(length);
        Ok(buffer)
    }

    /// Goes on inside TLS. The certificate is not verified: a dialogue reads a service, and
    /// `tls.inspect` judges its certificate.
    pub async fn start_tls(
        &mut self,
        server_name: String,
        timeout_ms: u32,
    ) -> Result<(), NetError> {
        let deadline = self.until(timeout_ms);
        let Stream::Plain(stream) = self.take()? else {
            return Err(NetError::Protocol("the connection is already inside TLS".to_owned()));
        };
        let name = ServerName::try_from(server_name.trim_end_matches('.').to_owned());
        let name =
            name.map_err(|_| NetError::NotPermitted("the name cannot be read".to_owned()))?;
        let config = client_config(&Recorder::new(), &[]);
        let stream = handshake(config, name, stream, deadline).await?;
        self.stream = Some(Stream::Tls(Box::new(stream)));
        Ok(())
    }

    fn until(&self, timeout_ms: u32) -> Instant {
        let own = Instant::now() + std::time::Duration::from_millis(timeout_ms.into());
        own.min(self.deadline)
    }

    fn take(&mut self) -> Result<Stream, NetError> {
        self.stream.take().ok_or(NetError::Reset)
    }
}

pub(super) async fn write<S: AsyncWriteExt + Unpin>(
    stream: &mut S,
    data: &[u8],
    deadline: Instant,
) -> Result<(), NetError> {
    let written = async {
        stream.write_all(data).await?;
        stream.flush().await
    };
    match timeout_at(deadline.into(), written).await {
        Ok(written) => written.map_err(|error| NetError::from_io(&error, Phase::Send)),
        Err(_) => Err(NetError::Timeout(Phase::Send)),
    }
}

/// Reads into `answer` until the end, `max` bytes, or trouble; what was read stays.
async fn read_to_end(
    stream: &mut TcpStream,
    answer: &mut Vec<u8>,
    max: usize,
    deadline: Instant,
) -> Result<(), NetError> {
    let mut limited = stream.take(max as u64);
    match timeout_at(deadline.into(), limited.read_to_end(answer)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(NetError::from_io(&error, Phase::Receive)),
        Err(_) => Err(NetError::Timeout(Phase::Receive)),
    }
}

/// The most that one read returns.
const CHUNK: usize = 64 * 1024;
