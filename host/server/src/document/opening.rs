//! Answers that are alike but for their ends: what they begin with is written once and packed
//! once, and each of them appends an end of its own, which is too short to be worth packing.
//!
//! *Invariant:* a packed answer is one stream, which every reader of its coding unpacks: what was
//! packed ends with a whole byte, and what follows stands in blocks for bytes as they are.

use std::{io, sync::Arc};

use async_compression::{
    Level,
    tokio::write::{BrotliEncoder, GzipEncoder},
};
use bytes::Bytes;
use crc32fast::Hasher;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::OnceCell,
};

/// What many answers begin with.
#[derive(Default)]
pub(crate) struct Opening {
    plain: Bytes,
    brotli: OnceCell<Bytes>,
    gzip: OnceCell<Checked>,
}

/// One of these answers.
#[derive(Clone)]
pub(crate) struct Completed {
    opening: Arc<Opening>,
    end: Bytes,
}

/// Packed bytes, and the checksum of what they unpack to.
struct Checked {
    bytes: Bytes,
    checksum: u32,
}

impl Opening {
    pub(crate) fn new(plain: String) -> Arc<Self> {
        Arc::new(Self { plain: plain.into(), ..Self::default() })
    }

    pub(crate) fn with(self: &Arc<Self>, end: String) -> Completed {
        Completed { opening: Arc::clone(self), end: end.into() }
    }
}

impl Completed {
    pub(crate) fn plain(&self) -> Bytes {
        [&self.opening.plain[..], &self.end[..]].concat().into()
    }

    /// RFC 7932, 9.2: what is appended stands in meta-blocks that are not compressed, and an empty
    /// one is the last.
    pub(crate) async fn brotli(&self, level: Level) -> io::Result<Bytes> {
        let Opening { plain, brotli, .. } = &*self.opening;
        // An encoder is large, and most answers need none.
        let begun = brotli.get_or_try_init(|| Box::pin(begin_brotli(plain, level))).await?;
        let mut packed = begun.to_vec();
        for block in self.end.chunks(LONGEST_BLOCK) {
            // Not the last, sixteen bits of length less one, and that it is not compressed.
            let head = (u32::from(length(block) - 1) << 3) | (1 << 19);
            packed.extend_from_slice(&head.to_le_bytes()[..3]);
            packed.extend_from_slice(block);
        }
        packed.push(LAST_OF_BROTLI);
        Ok(packed.into())
    }

    /// RFC 1951, 3.2.4: what is appended stands in stored blocks, and an empty one is the last;
    /// RFC 1952, 2.3.1: then come checksum and length of the whole.
    pub(crate) async fn gzip(&self, level: Level) -> io::Result<Bytes> {
        let Opening { plain, gzip, .. } = &*self.opening;
        let begun = gzip.get_or_try_init(|| Box::pin(begin_gzip(plain, level))).await?;
        let mut packed = begun.bytes.to_vec();
        for block in self.end.chunks(LONGEST_BLOCK) {
            packed.push(0);
            packed.extend_from_slice(&length(block).to_le_bytes());
            packed.extend_from_slice(&(!length(block)).to_le_bytes());
            packed.extend_from_slice(block);
        }
        packed.extend_from_slice(&LAST_OF_GZIP);
        let mut whole = Hasher::new_with_initial(begun.checksum);
        whole.update(&self.end);
        packed.extend_from_slice(&whole.finalize().to_le_bytes());
        let total = u32::try_from(plain.len() + self.end.len());
        let total = total.expect("an answer is shorter than 4 GiB");
        packed.extend_from_slice(&total.to_le_bytes());
        Ok(packed.into())
    }
}

async fn begin_brotli(plain: &[u8], level: Level) -> io::Result<Bytes> {
    let mut encoder = BrotliEncoder::with_quality(Vec::<u8>::new(), level);
    begin(&mut encoder, plain).await?;
    Ok(encoder.into_inner().into())
}

async fn begin_gzip(plain: &[u8], level: Level) -> io::Result<Checked> {
    let mut encoder = GzipEncoder::with_quality(Vec::<u8>::new(), level);
    begin(&mut encoder, plain).await?;
    Ok(Checked { bytes: encoder.into_inner().into(), checksum: crc32fast::hash(plain) })
}

/// Packs it and leaves the stream open, at the end of a byte.
async fn begin<E: AsyncWrite + Unpin>(encoder: &mut E, plain: &[u8]) -> io::Result<()> {
    encoder.write_all(plain).await?;
    encoder.flush().await
}

fn length(block: &[u8]) -> u16 {
    block.len().try_into().expect("a block is no longer than both codings can say")
}

const LONGEST_BLOCK: usize = u16::MAX as usize;
const LAST_OF_BROTLI: u8 = 0b11;
const LAST_OF_GZIP: [u8; 5] = [1, 0, 0, 0xff, 0xff];

#[cfg(test)]
mod tests {
    use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder};
    use tokio::io::{AsyncRead, AsyncReadExt};

    use super::*;

    async fn read(mut decoder: impl AsyncRead + Unpin) -> String {
        let mut text = String::new();
        decoder.read_to_string(&mut text).await.expect("it is whole");
        text
    }

    #[tokio::test]
    async fn any_end_unpacks_behind_any_beginning() {
        let long: String = (0..9_000).map(|number| format!("{{\"nth\": {number}}}, ")).collect();
        for plain in ["{", "{\"jsonrpc\":\"2.0\",\"result\":{}", &long] {
            let opening = Opening::new(plain.to_owned());
            // Twice, since the second finds what the first packed.
            for end in ["", "}", ",\"id\":\"ü\"}", &long, ",\"id\":1}", ",\"id\":1}"] {
                let answer = opening.with(end.to_owned());
                let expected = format!("{plain}{end}");
                let brotli = answer.brotli(Level::Precise(4)).await.expect("packed");
                let gzip = answer.gzip(Level::Fastest).await.expect("packed");
                assert_eq!(answer.plain(), expected.as_bytes());
                assert_eq!(read(BrotliDecoder::new(&brotli[..])).await, expected);
                assert_eq!(read(GzipDecoder::new(&gzip[..])).await, expected);
            }
        }
    }
}
