//! Bodies: their codings, and the cap on what comes out of them.

use async_compression::tokio::write::{BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::{
    egress::NetError,
    lab::{Http, authenticated, ok, to_loopback},
    probes::http::fetch,
    vectors::get,
};

#[tokio::test]
async fn bodies_are_decompressed() {
    let text = b"mixed content ".repeat(500);
    let mut encoded = vec![("identity", text.clone())];
    encoded.push(("gzip", encode(GzipEncoder::new(Vec::new()), &text).await.into_inner()));
    encoded.push(("br", encode(BrotliEncoder::new(Vec::new()), &text).await.into_inner()));
    encoded.push(("deflate", encode(ZlibEncoder::new(Vec::new()), &text).await.into_inner()));
    encoded.push(("deflate", encode(DeflateEncoder::new(Vec::new()), &text).await.into_inner()));
    let twice = encode(GzipEncoder::new(Vec::new()), &text).await.into_inner();
    let twice = encode(BrotliEncoder::new(Vec::new()), &twice).await.into_inner();
    encoded.push(("gzip, br", twice));
    let egress = to_loopback(None);
    for (coding, bytes) in encoded {
        let answer = ok(&format!("content-encoding: {coding}\r\n"), &bytes);
        let server = Http::new(move |_| answer.clone()).await;
        let response = fetch(authenticated(&egress), get(&server.url("/"))).await.unwrap();
        assert!(response.body == text, "{coding}: {} bytes", response.body.len());
        assert!(!response.truncated);
    }
}

#[tokio::test]
async fn what_stands_around_a_gzip_stream_is_no_reason_to_refuse_the_page() {
    let text = b"mixed content ".repeat(500);
    let page = encode(GzipEncoder::new(Vec::new()), &text).await.into_inner();
    let (bare, stream) = (&page[..page.len() - 8], &page[10..]);
    // An extra field, a name, a comment and a checksum of all that, which is wrong.
    let head = b"\x1f\x8b\x08\x1e\0\0\0\0\0\x03\x03\0abcpage.html\0a comment\0\xff\xff";
    let table: [(&str, Vec<u8>); 7] = [
        ("padding", [&page[..], &[0; 8]].concat()),
        ("a blank line", [&page[..], b"\n"].concat()),
        ("a comment", [&page[..], b"<!-- cached -->"].concat()),
        ("another member", page.repeat(2)),
        ("no checksum", bare.to_vec()),
        ("a wrong one", [bare, &[0xff; 8]].concat()),
        ("a full head", [&head[..], stream].concat()),
    ];
    let egress = to_loopback(None);
    for (around, bytes) in table {
        let answer = ok("content-encoding: gzip\r\n", &bytes);
        let server = Http::new(move |_| answer.clone()).await;
        let response = fetch(authenticated(&egress), get(&server.url("/"))).await.unwrap();
        assert!(response.body == text, "{around}: {} bytes", response.body.len());
        assert!(!response.truncated, "{around}");
    }
}

#[tokio::test]
async fn a_gzip_stream_that_is_cut_short_is_no_page() {
    let text = b"mixed content ".repeat(500);
    let page = encode(GzipEncoder::new(Vec::new()), &text).await.into_inner();
    let told = ok("content-encoding: gzip\r\n", &page);
    let undone = || NetError::Protocol("the body cannot be decompressed".to_owned());
    let egress = to_loopback(None);
    for (answer, expected) in [
        (ok("content-encoding: gzip\r\n", &page[..page.len() / 2]), undone()),
        (ok("content-encoding: gzip\r\n", &page[..5]), undone()),
        // The stream is all there, but not the body.
        (told[..told.len() - 4].to_vec(), NetError::Reset),
    ] {
        let server = Http::new(move |_| answer.clone()).await;
        let error = fetch(authenticated(&egress), get(&server.url("/"))).await.err();
        assert_eq!(error, Some(expected));
    }
}

#[tokio::test]
async fn the_cap_counts_what_comes_out_of_a_bomb() {
    let bomb = encode(GzipEncoder::new(Vec::new()), &vec![0; 20 << 20]).await.into_inner();
    assert!(bomb.len() < 100_000);
    let answer = ok("content-encoding: gzip\r\n", &bomb);
    let server = Http::new(move |_| answer.clone()).await;
    let egress = to_loopback(None);
    let mut request = get(&server.url("/"));
    request.max_body = 1000;
    let response = fetch(authenticated(&egress), request).await.unwrap();
    assert_eq!((response.body.len(), response.truncated), (1000, true));
    let exact = ok("", &[b'x'; 1000]);
    let server = Http::new(move |_| exact.clone()).await;
    let mut request = get(&server.url("/"));
    request.max_body = 1000;
    let response = fetch(authenticated(&egress), request).await.unwrap();
    assert_eq!((response.body.len(), response.truncated), (1000, false));
}

#[tokio::test]
async fn a_body_that_is_hardly_more_than_its_wrapping_is_given_up() {
    let empty = encode(GzipEncoder::new(Vec::new()), b"").await.into_inner().repeat(20_000);
    let twice = encode(GzipEncoder::new(Vec::new()), &empty).await.into_inner();
    assert!(twice.len() < 10_000, "and it may be short");
    let egress = to_loopback(None);
    for (coding, bytes) in [("gzip", empty), ("gzip, gzip", twice)] {
        let answer = ok(&format!("content-encoding: {coding}\r\n"), &bytes);
        let server = Http::new(move |_| answer.clone()).await;
        let mut request = get(&server.url("/"));
        request.max_body = 1000;
        let error = fetch(authenticated(&egress), request).await.err();
        let undone = NetError::Protocol("the body cannot be decompressed".to_owned());
        assert_eq!(error, Some(undone), "{coding}");
    }
}

async fn encode<E: AsyncWrite + Unpin>(mut encoder: E, bytes: &[u8]) -> E {
    encoder.write_all(bytes).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder
}
