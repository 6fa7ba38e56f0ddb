//! What a decoder reads: in steps, and no more than it takes to make the wanted body.
//!
//! A decoder goes on by itself while it has input and nothing to show for it. A compressed megabyte
//! of empty blocks would keep it busy for long, past every deadline, on a thread of others.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

/// The input of one decoder.
pub(super) struct Input<R> {
    reader: R,
    /// Bytes that it may still take.
    left: usize,
    /// Bytes that it took since others had their turn.
    taken: usize,
}

impl<R> Input<R> {
    /// For a body of `max` bytes.
    pub(super) fn new(reader: R, max: usize) -> Self {
        Self { reader, left: max.saturating_mul(2).saturating_add(SLACK), taken: 0 }
    }
}

impl<R: AsyncBufRead + Unpin> AsyncBufRead for Input<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        if this.taken >= STEP {
            this.taken = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let data = ready!(Pin::new(&mut this.reader).poll_fill_buf(cx))?;
        if this.left == 0 && !data.is_empty() {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        Poll::Ready(Ok(&data[..data.len().min(STEP).min(this.left)]))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let this = self.get_mut();
        this.left = this.left.saturating_sub(amount);
        this.taken += amount;
        Pin::new(&mut this.reader).consume(amount);
    }
}

impl<R: AsyncBufRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let data = ready!(self.as_mut().poll_fill_buf(cx))?;
        let amount = data.len().min(buffer.remaining());
        buffer.put_slice(&data[..amount]);
        self.consume(amount);
        Poll::Ready(Ok(()))
    }
}

/// Some thousand blocks: a few milliseconds.
const STEP: usize = 8 << 10;
/// What does not shrink when it is compressed grows by less.
const SLACK: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn input_ends_where_it_ends_and_no_later_than_it_may() {
        let mut read = Vec::new();
        let all = vec![7; SLACK + 200];
        Input::new(&all[..], 100).read_to_end(&mut read).await.unwrap();
        assert_eq!(read, all);
        let more = vec![7; SLACK + 201];
        let refused = Input::new(&more[..], 100).read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    }

    #[tokio::test]
    async fn others_have_their_turn_between_two_steps() {
        // All of it is there at once, and nothing else makes its reader pause.
        let all = vec![7; 4 * STEP];
        let mut input = Input::new(&all[..], all.len());
        let mut read = Vec::new();
        let mut reading = Box::pin(input.read_to_end(&mut read));
        assert!(futures::poll!(&mut reading).is_pending());
        assert_eq!(reading.await.unwrap(), all.len());
    }
}
