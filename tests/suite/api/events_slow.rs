//! `/events`: who stops reading is let go, delays nobody, and goes on later.

use std::{cell::RefCell, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use super::events::{follow, refused, stream};
use crate::world::{World, text, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_stops_reading_is_let_go_and_delays_nobody() {
    let world = World::start().await;
    let client = &world.owner.client;
    let (mut stalled, mut received) = stall(&world).await;
    let mut reads = stream(&world, "", None).await;
    let mut others = Vec::new();
    for _ in 0..8 {
        others.push(stream(&world, "?types=alert", None).await);
    }
    assert_eq!(refused(&world, "", None).await.status, 403);

    // An incident is told as a whole whenever it changes: few calls make many bytes.
    let opened = client.post("/incidents", json!({"title": "x"})).await.expect(200);
    let path = format!("/incidents/{}", text(&opened["incident"]["id"]));
    let (mut ids, mut said) = (Vec::new(), 0);
    ids.push(reads.named("incident.created").await.id);
    for nth in 0..MESSAGES + CHANGES {
        if nth < MESSAGES {
            let body = json!({"status": "identified", "message": "ü".repeat(10_000)});
            client.post(&format!("{path}/updates"), body).await.expect(200);
        } else {
            let status = if nth % 2 == 0 { "monitoring" } else { "investigating" };
            client.patch(&path, json!({"status": status})).await.expect(200);
        }
        let told = reads.named("incident.updated").await;
        said += told.data.to_string().len();
        ids.push(told.id);
    }

    // Two heartbeats are as long as the service waits for a reader.
    reads.comment(reads.comments + 2).await;
    until("the seat of who does not read", async || {
        follow(&world.service, &world.owner.key, "", None).await.ok().map(drop)
    })
    .await;
    // Reset or closed; what was on its way may arrive.
    let _ = timeout(PATIENCE, stalled.read_to_end(&mut received)).await.expect("it was closed");
    assert!(received.len() < said, "{} of {said} bytes were sent", received.len());

    let last = last_id(&received);
    let missed = ids.iter().position(|id| id.as_ref() == Some(&last)).map_or(0, |at| at + 1);
    drop(others);
    let opened = RefCell::new(None);
    until("a seat", async || {
        let events = follow(&world.service, &world.owner.key, "", Some(&last)).await.ok()?;
        *opened.borrow_mut() = Some(events);
        Some(())
    })
    .await;
    let mut back = opened.into_inner().expect("there was a seat");
    assert!(missed < ids.len(), "something was missed");
    for id in &ids[missed..] {
        assert_eq!(back.next().await.expect("it goes on").id, *id);
    }
}

/// A stream of which only the beginning was read, and that.
async fn stall(world: &World) -> (TcpStream, Vec<u8>) {
    let socket = TcpSocket::new_v4().expect("sockets can be made");
    // Else it would grow to what the machine allows.
    socket.set_recv_buffer_size(RECEIVED).expect("a small buffer is allowed");
    let mut stream = socket.connect(world.service.api).await.expect("it listens");
    let request = format!(
        "GET /v1/events?types=incident HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
        world.owner.key
    );
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut received = Vec::new();
    while !received.windows(ID.len()).any(|bytes| bytes == ID.as_bytes()) {
        let read = timeout(PATIENCE, stream.read_buf(&mut received)).await.expect("it answers");
        assert_ne!(read.expect("it answers"), 0, "{}", String::from_utf8_lossy(&received));
    }
    (stream, received)
}

/// The id of the last event that arrived as a whole.
fn last_id(received: &[u8]) -> String {
    let text = String::from_utf8_lossy(received);
    let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
    let (_, rest) = whole.rsplit_once(ID).expect("the stream says where it begins");
    rest.split('\n').next().unwrap_or_default().to_owned()
}

/// Before an id; data has no line breaks of its own.
const ID: &str = "\nid: ";
/// Updates of 20 kB, as many as an incident takes.
const MESSAGES: usize = 12;
/// Of some 240 kB each: more than all buffers on the way hold.
const CHANGES: usize = 40;
/// Bytes.
const RECEIVED: u32 = 128 << 10;
const PATIENCE: Duration = Duration::from_secs(180);
