//! Has what agents saw that are silent now judged by the calendar
//! ([`judge_silent`](crate::service::agent::judge_silent)).
//!
//! *Invariant:* nothing is judged in the first hour: the reports that waited while the service was
//! away come before that, and only then is it known who is silent.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::{App, service::agent::judge_silent};

pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(PACE) => {}
        }
        if let Err(cause) = judge_silent(&app, &shutdown).await {
            let error = format!("{cause:#?}");
            tracing::error!(error, "what silent agents saw is not judged: {cause}");
        }
    }
}

const PACE: Duration = Duration::from_secs(3_600);
