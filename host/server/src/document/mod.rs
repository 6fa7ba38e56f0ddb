//! Answers that are asked for many times: written, tagged and packed once.
//!
//! *Invariant:* a document never changes; another content is another document.

mod opening;

use std::sync::{Arc, OnceLock};

use aws_lc_rs::digest::{Context, SHA256};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use tokio::sync::OnceCell;

pub(crate) use self::opening::{Completed, Opening};

/// Bytes that many ask for; their tag and their packed forms are made when first wanted.
#[derive(Default)]
pub(crate) struct Document {
    pub(crate) plain: Bytes,
    tag: OnceLock<String>,
    pub(crate) brotli: OnceCell<Bytes>,
    pub(crate) gzip: OnceCell<Bytes>,
}

impl Document {
    pub(crate) fn new(text: String) -> Arc<Self> {
        Arc::new(Self { plain: text.into(), ..Self::default() })
    }

    /// What stands between the quotes of its tag.
    pub(crate) fn tag(&self) -> &str {
        self.tag.get_or_init(|| tag([&self.plain]))
    }
}

/// Names a content, given in pieces: half of its SHA-256, in letters that a header can hold.
pub(crate) fn tag<'a>(pieces: impl IntoIterator<Item = &'a Bytes>) -> String {
    let mut hash = Context::new(&SHA256);
    for piece in pieces {
        hash.update(piece);
    }
    URL_SAFE_NO_PAD.encode(&hash.finish().as_ref()[..16])
}
