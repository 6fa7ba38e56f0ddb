//! A sign of life for somebody outside: as long as the work keeps up, `heartbeat.url` hears of it
//! once a minute. Silence is the alarm.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use vedette_sandbox::egress::HttpRequest;

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
    let now = app.clock.now();
    if let Some(behind) = app.pulse.behind(now) {
        let seconds = behind.as_secs();
        tracing::error!(seconds, "no heartbeat: the scheduler is {seconds} s behind");
        return;
    }
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
        Err(cause) => tracing::warn!("the heartbeat was not heard: {cause}; see heartbeat.url"),
    }
}

const PACE: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(10);
/// In bytes, of an answer that nobody reads.
const LONGEST: u32 = 1024;
