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
