//! gzip as browsers read it: a stream, and around it what nobody looks at.
//!
//! Behind a page there may be padding, the blank line that ends a script, or the comment of a
//! cache; its checksum may be wrong or missing. Visitors see the page all the same.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use async_compression::tokio::bufread::DeflateDecoder;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt, ReadBuf};

/// Decompresses the first member of a file (RFC 1952). What follows its stream is read to the end,
/// which tells whether the body broke off, and dropped.
pub(super) struct Gzip<R> {
    decoder: DeflateDecoder<R>,
}

impl<R: AsyncBufRead + Unpin> Gzip<R> {
    /// Passes over what stands before the stream.
    pub(super) async fn open(mut reader: R) -> io::Result<Self> {
        pass_head(&mut reader).await?;
        Ok(Self { decoder: DeflateDecoder::new(reader) })
    }
}

async fn pass_head(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut fixed = [0; 10];
    reader.read_exact(&mut fixed).await?;
    let [0x1f, 0x8b, DEFLATE, flags, ..] = fixed else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    if flags & EXTRA != 0 {
        let length = reader.read_u16_le().await?;
        reader.read_exact(&mut vec![0; length.into()]).await?;
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            while reader.read_u8().await? != 0 {}
        }
    }
    if flags & HEAD_CHECKSUM != 0 {
        reader.read_u16_le().await?;
    }
    Ok(())
}

impl<R: AsyncBufRead + Unpin> AsyncRead for Gzip<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let decoder = &mut self.get_mut().decoder;
        let before = buffer.filled().len();
        ready!(Pin::new(&mut *decoder).poll_read(cx, buffer))?;
        if buffer.filled().len() > before || buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            let left = ready!(Pin::new(decoder.get_mut()).poll_fill_buf(cx))?.len();
            if left == 0 {
                return Poll::Ready(Ok(()));
            }
            Pin::new(decoder.get_mut()).consume(left);
        }
    }
}

const DEFLATE: u8 = 8;
const HEAD_CHECKSUM: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;
