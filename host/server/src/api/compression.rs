//! Packs long text for clients that unpack it: brotli or gzip, as `Accept-Encoding` prefers.
//!
//! Only bodies that are whole in memory are packed: a stream of events must flow.

use std::sync::Arc;

use async_compression::{
    Level,
    tokio::bufread::{BrotliEncoder, GzipEncoder},
};
use bytes::Bytes;
use salvo::{
    http::{HeaderMap, HeaderValue, Method, ResBody, header},
    prelude::*,
};
use tokio::{io::AsyncReadExt, runtime::Handle, sync::Semaphore};

use crate::document::{Completed, Document};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Brotli,
    Gzip,
}

/// Packs what is worth it, on the way out.
pub(super) async fn pack(req: &Request, depot: &Depot, res: &mut Response) {
    let is_text = is_text(res.headers());
    if !is_text && res.status_code != Some(StatusCode::NOT_MODIFIED) {
        return;
    }
    // Even if it is not packed: another client's answer to the same question might be.
    res.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    let accepted = req.headers().get_all(header::ACCEPT_ENCODING);
    let accepted = accepted.iter().filter_map(|line| line.to_str().ok());
    let Some(coding) = preferred(accepted) else { return };
    if res.headers().contains_key(header::CONTENT_ENCODING) {
        return;
    }
    let Some(size) = worth_it(&res.body) else { return };
    // Clients that ask for nothing packed are not to carry what this takes.
    let Some(packed) = Box::pin(coding.answer(depot, &res.body)).await else { return };
    match packed {
        Ok(packed) if packed.len() < size => {
            res.body(packed);
            let coding = HeaderValue::from_static(coding.name());
            res.headers_mut().insert(header::CONTENT_ENCODING, coding);
        }
        Ok(_) => {}
        Err(cause) => tracing::warn!(error = %cause, "an answer could not be packed: {cause}"),
    }
}

/// A HEAD says how long the GET would be; its body is left out further on.
pub(super) fn tell_length(req: &Request, res: &mut Response) {
    if *req.method() == Method::HEAD
        && let ResBody::Once(_) | ResBody::Chunks(_) = res.body
        && let Some(size) = res.body.size()
    {
        res.headers_mut().insert(header::CONTENT_LENGTH, size.into());
    }
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// An answer, packed; none where it flows.
    async fn answer(self, depot: &Depot, body: &ResBody) -> Option<std::io::Result<Bytes>> {
        if let Ok(document) = depot.get_typed::<Arc<Document>>() {
            return Some(self.shared(document).await);
        }
        if let Ok(answer) = depot.get_typed::<Completed>() {
            return Some(self.completed(answer).await);
        }
        let plain = whole(body)?;
        Some(self.packed(&plain).await)
    }

    /// What many ask for is packed for the first of them; the others wait for that.
    async fn shared(self, document: &Document) -> std::io::Result<Bytes> {
        let cell = match self {
            Self::Brotli => &document.brotli,
            Self::Gzip => &document.gzip,
        };
        cell.get_or_try_init(|| self.packed(&document.plain)).await.cloned()
    }

    /// What others begin alike is packed for the first of them.
    async fn completed(self, answer: &Completed) -> std::io::Result<Bytes> {
        match self {
            Self::Brotli => answer.brotli(BROTLI).await,
            Self::Gzip => answer.gzip(GZIP).await,
        }
    }

    /// What is long is packed where no other request waits for it.
    async fn packed(self, plain: &Bytes) -> std::io::Result<Bytes> {
        if plain.len() < LONG {
            // An encoder is large, and most answers need none.
            return Box::pin(self.encode(plain)).await.map(Bytes::from);
        }
        let place = LONG_ONES.acquire().await.expect("this semaphore is never closed");
        let plain = plain.clone();
        let packed = tokio::task::spawn_blocking(move || {
            // It is given back when the work ends, which goes on if the client goes away.
            let _place = place;
            Handle::current().block_on(self.encode(&plain)).map(Bytes::from)
        });
        packed.await.unwrap_or_else(|cause| Err(std::io::Error::other(cause)))
    }

    async fn encode(self, plain: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut packed = Vec::with_capacity(plain.len() / 4);
        match self {
            Self::Brotli => {
                let mut encoder = BrotliEncoder::with_quality(plain, BROTLI);
                encoder.read_to_end(&mut packed).await?;
            }
            Self::Gzip => {
                let mut encoder = GzipEncoder::with_quality(plain, GZIP);
                encoder.read_to_end(&mut packed).await?;
            }
        }
        Ok(packed)
    }
}

/// The size of a body that is long enough to be packed.
fn worth_it(body: &ResBody) -> Option<usize> {
    usize::try_from(body.size()?).ok().filter(|size| *size >= SHORTEST)
}

/// The bytes of a body that does not flow.
fn whole(body: &ResBody) -> Option<Bytes> {
    match body {
        ResBody::Once(bytes) => Some(bytes.clone()),
        ResBody::Chunks(chunks) => Some(chunks.iter().flatten().copied().collect()),
        _ => None,
    }
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default();
    let Some((kind, subtype)) = kind.trim().split_once('/') else { return false };
    let is = |name: &str| subtype.eq_ignore_ascii_case(name);
    if kind.eq_ignore_ascii_case("text") {
        return !is("event-stream");
    }
    // `application/problem+json` is JSON (RFC 6839).
    let suffix = subtype.rsplit('+').next().unwrap_or_default();
    ["json", "javascript", "xml"].iter().any(|name| suffix.eq_ignore_ascii_case(name))
}

/// RFC 9110, 12.5.3. None = as it is; brotli where the client has no preference.
fn preferred<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Coding> {
    let (mut brotli, mut gzip, mut identity, mut other) = (None, None, None, None);
    for item in lines.flat_map(|line| line.split(',')) {
        let (name, weight) = weighed(item);
        match name.to_ascii_lowercase().as_str() {
            "br" => brotli = Some(weight),
            "gzip" | "x-gzip" => gzip = Some(weight),
            "identity" => identity = Some(weight),
            "*" => other = Some(weight),
            _ => {}
        }
    }
    let brotli = brotli.or(other).unwrap_or(0.0);
    let gzip = gzip.or(other).unwrap_or(0.0);
    let (coding, weight) =
        if brotli >= gzip { (Coding::Brotli, brotli) } else { (Coding::Gzip, gzip) };
    (weight > 0.0 && weight >= identity.unwrap_or(0.0)).then_some(coding)
}

/// A coding and its weight; one that cannot be read is ignored.
fn weighed(item: &str) -> (&str, f32) {
    let mut parts = item.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    let weight = weight.map_or(Some(1.0), |text| text.parse::<f32>().ok());
    (name, weight.filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(0.0))
}

/// Less than this fits into the packet that the headers need anyway.
const SHORTEST: usize = 1 << 10;
/// Less than this is packed within a millisecond or two.
const LONG: usize = 64 << 10;
/// Places for long ones; the others wait.
static LONG_ONES: Semaphore = Semaphore::const_new(4);
/// Packs better than gzip, and about as fast.
const BROTLI: Level = Level::Precise(4);
const GZIP: Level = Level::Fastest;

#[cfg(test)]
mod tests {
    use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder};

    use super::*;

    #[test]
    fn the_client_decides_how_an_answer_is_packed() {
        let table: &[(&str, Option<Coding>)] = &[
            ("", None),
            ("gzip", Some(Coding::Gzip)),
            ("GZIP", Some(Coding::Gzip)),
            ("br", Some(Coding::Brotli)),
            ("gzip, deflate, br, zstd", Some(Coding::Brotli)),
            ("br;q=0.5, gzip;q=0.8", Some(Coding::Gzip)),
            ("br;q=0, gzip", Some(Coding::Gzip)),
            ("*", Some(Coding::Brotli)),
            ("br;q=0, *;q=0.1", Some(Coding::Gzip)),
            ("gzip;q=0, br;q=0", None),
            ("*;q=0", None),
            ("identity", None),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip", Some(Coding::Gzip)),
            ("gzip; q=1.0", Some(Coding::Gzip)),
            ("gzip;q=2", None),
            ("gzip;q=x", None),
            ("deflate, zstd", None),
        ];
        for (line, expected) in table {
            assert_eq!(preferred([*line].into_iter()), *expected, "{line}");
        }
        assert_eq!(preferred(["gzip", "br"].into_iter()), Some(Coding::Brotli));
        assert_eq!(preferred([].into_iter()), None);
    }

    #[test]
    fn text_is_packed_and_what_flows_or_is_packed_already_is_not() {
        let of = |kind: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            is_text(&headers)
        };
        for kind in [
            "application/json; charset=utf-8",
            "application/problem+json",
            "text/html",
            "TEXT/CSS",
            "application/rss+xml",
            "image/svg+xml",
        ] {
            assert!(of(kind), "{kind}");
        }
        for kind in ["text/event-stream", "image/png", "application/gzip", "json", ""] {
            assert!(!of(kind), "{kind}");
        }
        assert!(!is_text(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn a_long_answer_is_packed_while_others_are_answered() {
        /// On a busy machine it may be packed before anybody looks, but not each time.
        const LONG: usize = 4;

        let text = |lines: usize| -> Bytes {
            let lines = (0..lines).map(|number| format!("{{\"nth\": {number}}}, "));
            lines.collect::<String>().into()
        };
        let long = vec![(text(100_000), true); LONG];
        for coding in [Coding::Brotli, Coding::Gzip] {
            let mut held = 0;
            for (plain, is_long) in [vec![(text(100), false)], long.clone()].concat() {
                let mut packing = std::pin::pin!(coding.packed(&plain));
                let begun = futures::poll!(&mut packing);
                let packed = match begun {
                    std::task::Poll::Ready(packed) => {
                        held += usize::from(is_long);
                        packed
                    }
                    std::task::Poll::Pending => packing.await,
                };
                let packed = packed.expect("packed");
                let mut unpacked = Vec::new();
                let read = match coding {
                    Coding::Brotli => {
                        BrotliDecoder::new(&packed[..]).read_to_end(&mut unpacked).await
                    }
                    Coding::Gzip => GzipDecoder::new(&packed[..]).read_to_end(&mut unpacked).await,
                };
                read.expect("it is whole");
                assert_eq!(unpacked, plain);
            }
            assert!(held < LONG, "{coding:?} held the thread");
        }
    }

    #[test]
    fn short_bodies_stay_as_they_are() {
        assert_eq!(worth_it(&ResBody::from("x".repeat(SHORTEST - 1))), None);
        let long = "x".repeat(SHORTEST);
        assert_eq!(worth_it(&ResBody::from(long.clone())), Some(SHORTEST));
        assert_eq!(whole(&ResBody::from(long.clone())), Some(Bytes::from(long.clone())));
        let chunks = ResBody::Chunks(["x".to_owned(), long].into_iter().map(Into::into).collect());
        assert_eq!(worth_it(&chunks), Some(SHORTEST + 1));
        assert_eq!(whole(&chunks).map(|all| all.len()), Some(SHORTEST + 1));
        assert_eq!(worth_it(&ResBody::None), None);
    }
}
