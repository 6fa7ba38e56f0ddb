//! Keeps the keys of the identity provider fresh, so that no request has to wait for them.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::{App, oidc::REFRESH_EVERY};

pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let Some(oidc) = &app.oidc else { return };
    let mut pace = tokio::time::interval(REFRESH_EVERY);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = pace.tick() => oidc.refresh().await,
        }
    }
}
