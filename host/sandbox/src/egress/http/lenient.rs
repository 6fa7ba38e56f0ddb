//! Answers as browsers read them, where the letter of the standards would refuse them.

use std::{
    io::{ErrorKind, IoSlice, Result},
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection that is read with two liberties, and not for ever.
///
/// An answer of HTTP/1.0 is one of HTTP/1.1: there are servers that say the one and send chunks,
/// which belong to the other. Nothing else hangs on it, for a connection is asked to close after its
/// only answer.
///
/// It ends where the peer closed it, also without the `close_notify` of TLS, which many servers leave
/// out. Of a body whose length was told, HTTP itself knows that it broke off.
///
/// Reads no more than any answer needs. A server may send interim answers, empty parts and
/// meaningless frames as long as it likes: no limit on heads and bodies counts them.
pub(super) struct Lenient<S> {
    stream: S,
    /// How much of [`MAJOR`] has come; more than all of it where nothing is looked for any more.
    seen: usize,
    /// Bytes that may still come.
    left: usize,
}

impl<S> Lenient<S> {
    /// `most`: bytes that are read of it.
    pub(super) fn new(stream: S, most: u32) -> Self {
        Self { stream, seen: 0, left: most as usize }
    }
}

/// Makes the minor version 1 where it is 0. Blank lines before an answer are passed over.
fn raise(seen: &mut usize, bytes: &mut [u8]) {
    for byte in bytes {
        if *seen > MAJOR.len() {
            return;
        }
        match MAJOR.get(*seen) {
            Some(_) if *seen == 0 && matches!(*byte, b'\r' | b'\n') => {}
            Some(expected) if *byte == *expected => *seen += 1,
            Some(_) => *seen = usize::MAX,
            None => {
                if *byte == b'0' {
                    *byte = b'1';
                }
                *seen = usize::MAX;
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lenient<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let this = self.get_mut();
        if this.left == 0 {
            return Poll::Ready(Err(ErrorKind::QuotaExceeded.into()));
        }
        let before = buffer.filled().len();
        match ready!(Pin::new(&mut this.stream).poll_read(cx, buffer)) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
            read => read?,
        }
        let came = &mut buffer.filled_mut()[before..];
        this.left = this.left.saturating_sub(came.len());
        raise(&mut this.seen, came);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Lenient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }
}

const MAJOR: &[u8] = b"HTTP/1.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_version_of_the_answer_is_raised_however_it_arrives() {
        for (came, read) in [
            ("HTTP/1.0 200 OK\r\n\r\nHTTP/1.0", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.0"),
            ("\r\nHTTP/1.0 200 OK\r\n\r\n", "\r\nHTTP/1.1 200 OK\r\n\r\n"),
            ("HTTP/1.1 200 OK\r\n\r\n0", "HTTP/1.1 200 OK\r\n\r\n0"),
            ("HTTP/2.0 200 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n"),
            ("220 HTTP/1.0", "220 HTTP/1.0"),
        ] {
            for part in [1, 3, 64] {
                let (mut seen, mut bytes) = (0, came.as_bytes().to_vec());
                bytes.chunks_mut(part).for_each(|bytes| raise(&mut seen, bytes));
                assert_eq!(String::from_utf8(bytes).as_deref(), Ok(read), "{part}");
            }
        }
    }
}
