//! Answers that are streams of events, from a server that says when each of them leaves.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::{Bridge, PATIENCE, request};

/// A bridge that listens, and the server's side of what it listens to.
async fn listening() -> (Bridge, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/v1/mcp", listener.local_addr().expect("bound"));
    let mut bridge = Bridge::start(&["--url", &url], Some("ct_any"));
    bridge.write(&request(1, "subscriptions/listen", json!({})).to_string()).await;
    let accepted = timeout(PATIENCE, listener.accept()).await.expect("it connects in time");
    let (mut server, _) = accepted.expect("it connects");
    let mut asked = Vec::new();
    while !String::from_utf8_lossy(&asked).contains("subscriptions/listen") {
        let read = server.read_buf(&mut asked).await.expect("it asks");
        assert_ne!(read, 0, "closed before it had asked");
    }
    // Without a length the answer ends when the connection does.
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    server.write_all(head.as_bytes()).await.expect("it reads");
    (bridge, server)
}

/// Sends an event; returns once it has come out at the other end.
async fn pass(bridge: &mut Bridge, server: &mut TcpStream, message: &Value) {
    let event = format!(": alive\n\nevent: message\ndata: {message}\n\n");
    server.write_all(event.as_bytes()).await.expect("it reads");
    assert_eq!(&bridge.read().await, message);
}

fn change(number: u64) -> Value {
    let method = "notifications/tools/list_changed";
    json!({"jsonrpc": "2.0", "method": method, "params": {"number": number}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_is_passed_on_event_by_event_and_ends_with_the_input() {
    let (mut bridge, mut server) = listening().await;
    for number in 0..3 {
        pass(&mut bridge, &mut server, &change(number)).await;
    }
    let (rest, _, code) = bridge.end().await;
    assert_eq!((rest.len(), code), (0, Some(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_subscription_is_closed() {
    let (mut bridge, mut server) = listening().await;
    pass(&mut bridge, &mut server, &change(1)).await;
    let params = json!({"requestId": 1});
    let cancelled = json!({"method": "notifications/cancelled", "params": params});
    bridge.write(&cancelled.to_string()).await;
    let mut rest = Vec::new();
    let closed = timeout(PATIENCE, server.read_to_end(&mut rest)).await;
    assert!(closed.is_ok(), "still open");
    let (rest, _, code) = bridge.end().await;
    assert_eq!((rest.len(), code), (0, Some(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_breaks_off_is_told_to_whoever_listens() {
    let (mut bridge, mut server) = listening().await;
    pass(&mut bridge, &mut server, &change(1)).await;
    drop(server);
    let told = bridge.read().await;
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(1), &json!(-32603)), "{told}");
    assert_eq!(bridge.end().await.2, Some(0));
}
