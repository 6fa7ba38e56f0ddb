//! Bodies: decompressed while they are read, and counted after that.

use std::{io, pin::pin};

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, ZlibDecoder};
use futures::{Stream, stream::try_unfold};
use http::{HeaderMap, Response, Version, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio_util::io::StreamReader;

use super::{gzip::Gzip, hop::http_error, input::Input};
use crate::egress::{NetError, Phase};

type Reader = Box<dyn AsyncBufRead + Send + Unpin>;

/// Reads at most `max` bytes of the decompressed body, and tells whether there was more. A body
/// that ends early is an error; a compressed one that cannot be decompressed too, and one that is
/// far longer than what it says. `most_read`: what the connection brings at most.
pub(super) async fn read(
    response: Response<Incoming>,
    max: usize,
    most_read: u32,
) -> Result<(Vec<u8>, bool), NetError> {
    let (head, incoming) = response.into_parts();
    let data = Box::pin(data(incoming, head.version, most_read));
    let mut reader: Reader = Box::new(StreamReader::new(data));
    for coding in codings(&head.headers)?.into_iter().rev() {
        reader = decode(coding, Box::new(Input::new(reader, max))).await?;
    }
    collect(reader, max).await
}

/// The data of a body, to an end that is one.
fn data(
    incoming: Incoming,
    version: Version,
    most_read: u32,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    try_unfold(incoming, move |mut incoming| async move {
        while let Some(frame) = incoming.frame().await {
            let frame = frame.map_err(|error| io::Error::other(http_error(&error, most_read)))?;
            // What is no data is trailers.
            if let Ok(data) = frame.into_data() {
                return Ok(Some((data, incoming)));
            }
        }
        if is_whole(&incoming, version) { Ok(None) } else { Err(io::Error::other(NetError::Reset)) }
    })
}

/// Whether a body that has ended is all there. hyper takes a stream that is reset without an error
/// for one that has ended, which RFC 9113 section 8.1 lets a server do after a whole answer alone.
/// Over HTTP/1.1 it tells one that breaks off by itself.
fn is_whole(ended: &Incoming, version: Version) -> bool {
    version != Version::HTTP_2 || ended.is_end_stream() || ended.size_hint().exact() == Some(0)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Coding {
    Gzip,
    Brotli,
    Deflate,
}

/// The codings in the order in which they were applied. An unknown one leaves the bytes as they
/// are: the caller sees the header.
fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, NetError> {
    let mut known = Vec::new();
    for value in headers.get_all(header::CONTENT_ENCODING) {
        for word in value.to_str().unwrap_or_default().split(',') {
            match word.trim().to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => known.push(Coding::Gzip),
                "br" => known.push(Coding::Brotli),
                "deflate" => known.push(Coding::Deflate),
                "" | "identity" => {}
                _ => return Ok(Vec::new()),
            }
        }
    }
    if known.len() > MAX_CODINGS {
        return Err(NetError::Protocol("the body is compressed too many times".to_owned()));
    }
    Ok(known)
}

async fn decode(coding: Coding, mut reader: Reader) -> Result<Reader, NetError> {
    // An empty body (of a HEAD, a 304) is no compressed one.
    let start = reader.fill_buf().await.map_err(|error| read_error(&error))?;
    let (empty, zlib) = (start.is_empty(), is_zlib(start));
    Ok(match coding {
        _ if empty => reader,
        Coding::Gzip => buffered(Gzip::open(reader).await.map_err(|error| read_error(&error))?),
        Coding::Brotli => buffered(BrotliDecoder::new(reader)),
        // RFC 9110 means zlib, some servers send the bare stream.
        Coding::Deflate if zlib => buffered(ZlibDecoder::new(reader)),
        Coding::Deflate => buffered(DeflateDecoder::new(reader)),
    })
}

fn buffered(reader: impl AsyncRead + Send + Unpin + 'static) -> Reader {
    Box::new(BufReader::new(reader))
}

/// RFC 1950: method 8 in the low half of the first byte, and the first two divisible by 31.
fn is_zlib(start: &[u8]) -> bool {
    match start {
        [first, second, ..] => first & 0x0f == 8 && u16::from_be_bytes([*first, *second]) % 31 == 0,
        [first] => first & 0x0f == 8,
        [] => false,
    }
}

async fn collect(reader: Reader, max: usize) -> Result<(Vec<u8>, bool), NetError> {
    let mut body = Vec::new();
    let mut limited = pin!(reader.take(max as u64 + 1));
    limited.read_to_end(&mut body).await.map_err(|error| read_error(&error))?;
    let truncated = body.len() > max;
    body.truncate(max);
    Ok((body, truncated))
}

/// The decoders hand on what went wrong with the data.
fn read_error(error: &io::Error) -> NetError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<NetError>()) {
        Some(error) => error.clone(),
        None if error.kind() == io::ErrorKind::TimedOut => NetError::Timeout(Phase::Receive),
        None => NetError::Protocol("the body cannot be decompressed".to_owned()),
    }
}

const MAX_CODINGS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::CONTENT_ENCODING, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn codings_are_read_in_order_from_every_header() {
        let read = codings(&headers(&["gzip, br", "Deflate"])).unwrap();
        assert_eq!(read, [Coding::Gzip, Coding::Brotli, Coding::Deflate]);
        assert_eq!(codings(&headers(&["identity"])).unwrap(), []);
        assert_eq!(codings(&headers(&["gzip, zstd"])).unwrap(), [], "unknown: left alone");
        assert!(codings(&headers(&["gzip, gzip, gzip, gzip"])).is_err());
    }

    #[test]
    fn zlib_is_told_from_a_bare_deflate_stream() {
        assert!(is_zlib(&[0x78, 0x9c]));
        assert!(is_zlib(&[0x78, 0x01]));
        assert!(!is_zlib(&[0x4b, 0x4c]));
    }
}
