//! Answers that are asked for many times: written, tagged and packed once.
//!
//! *Invariant:* a document never changes; another content is another document.

mod opening;

use std::sync::{Arc, OnceLock};

use aws_lc_rs::digest::{Context, SHA256};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::OnceCell;

pub(crate) use self::opening::{Completed, Opening};

/// Bytes that many ask for; their tag and their packed forms are made when first wanted.
#[derive(Default)]
pub(crate) struct Document {
    pub(crate) plain: Bytes,
    tag: OnceLock<Tag>,
    pub(crate) brotli: OnceCell<Bytes>,
    pub(crate) gzip: OnceCell<Bytes>,
}

/// Names a content. Weak: one content has one tag, however its bytes are packed on the way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// What stands between its quotes.
    pub(crate) opaque: String,
    /// As `ETag` has it.
    pub(crate) line: HeaderValue,
}

impl Document {
    pub(crate) fn new(text: String) -> Arc<Self> {
        Arc::new(Self { plain: text.into(), ..Self::default() })
    }

    pub(crate) fn tag(&self) -> &Tag {
        self.tag.get_or_init(|| Tag::of([&self.plain]))
    }
}

impl Tag {
    /// Of a content, given in pieces: half of its SHA-256, in letters that a header can hold.
    pub(crate) fn of<'a>(pieces: impl IntoIterator<Item = &'a Bytes>) -> Self {
        let mut hash = Context::new(&SHA256);
        for piece in pieces {
            hash.update(piece);
        }
        let opaque = URL_SAFE_NO_PAD.encode(&hash.finish().as_ref()[..16]);
        let line = HeaderValue::try_from(format!("W/\"{opaque}\""));
        Self { opaque, line: line.expect("base64 is plain text") }
    }
}
