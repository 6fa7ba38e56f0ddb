//! A sign of life for somebody outside: as long as the work keeps up, and what it finds is believed,
//! `heartbeat.url` hears of it once a minute. Silence is the alarm.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use vedette_sandbox::egress::HttpRequest;

use super::{Unwell, unwell};
use crate::App;

pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut pace = tokio::time::interval(PACE);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = pace.tick() => beat(&app).await,
        }
    }
}

async fn beat(app: &App) {
    let Some(url) = &app.config.heartbeat.url else { return };
    if let Some(Unwell { what, span }) = unwell(app) {
        let seconds = span.as_secs();
        tracing::error!(what, seconds, "no heartbeat: this node is {what} ({seconds} s)");
        return;
    }
    let now = app.clock.now();
    let oldest = match app.store.next_delivery_due().await {
        Ok(oldest) => oldest,
        Err(cause) => {
            tracing::error!("no heartbeat: the store does not answer: {cause}");
            return;
        }
    };
    let seconds_since = |at: vedette_model::Timestamp| (now - at).num_seconds().max(0);
    let body = json!({
        "node": app.node,
        "at": now,
        "last_check_age_s": app.pulse.last_checked().map(seconds_since),
        "outbox_lag_s": oldest.map_or(0, seconds_since),
    });
    let request = HttpRequest {
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Some(body.to_string().into_bytes()),
        ..HttpRequest::new("POST", url.as_str(), Instant::now() + TIMEOUT, LONGEST)
    };
    // The URL often holds a token: it is not logged.
    match app.sandbox.egress().send_configured(request).await {
        Ok(answer) if (200..300).contains(&answer.status) => {}
        Ok(answer) => {
            tracing::warn!(
                status = answer.status,
                "the heartbeat was answered {}: see heartbeat.url",
                answer.status
            );
        }
        Err(cause) => tracing::warn!("the heartbeat did not arrive: {cause}; see heartbeat.url"),
    }
}

const PACE: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(10);
/// In bytes, of an answer that nobody reads.
const LONGEST: u32 = 1024;

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
        sync::mpsc::{Receiver, channel},
        thread,
    };

    use vedette_model::Timestamp;

    use super::*;
    use crate::{Clock, instance};

    #[test]
    fn a_node_that_is_not_believed_for_minutes_gives_no_sign_of_life() {
        let (url, heard) = watchdog();
        let mut config = instance::config();
        config.heartbeat.url = Some(url.parse().expect("a URL"));
        let (clock, hand) = Clock::manual(Timestamp::UNIX_EPOCH);
        instance::with_idle_app(config, clock, |app| async move {
            // As the loops do all the time.
            let look = || {
                let now = hand.now();
                app.pulse.looked(now, true);
                app.guard.lock().verdict(now);
            };
            let pass = |seconds: u64| {
                for _ in 0..seconds / 10 {
                    hand.advance(Duration::from_secs(10));
                    look();
                }
            };
            app.guard.lock().resolved(false);
            look();
            pass(290);
            beat(&app).await;
            heard.recv_timeout(PATIENCE).expect("a router that restarts is nothing");

            pass(10);
            let Unwell { what, span } = unwell(&app).expect("it lasts");
            assert_eq!((what, span), ("offline", Duration::from_secs(300)));
            beat(&app).await;
            assert!(heard.try_recv().is_err(), "silence is the alarm");

            app.guard.lock().resolved(true);
            pass(30);
            assert!(unwell(&app).is_none());
            beat(&app).await;
            heard.recv_timeout(PATIENCE).expect("it is well again");
        });
    }

    /// A URL, and a word for each call of it.
    fn watchdog() -> (String, Receiver<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
        let (tell, heard) = channel();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.expect("a connection");
                let _ = tell.send(());
                let _ = connection.read(&mut [0; 4096]);
                let _ =
                    connection.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
            }
        });
        (url, heard)
    }

    /// On a busy machine too.
    const PATIENCE: Duration = Duration::from_secs(60);
}
