//! `/settings/notifications` (spec: Notification settings).

use salvo::prelude::*;
use serde_json::{Value, json};
use vedette_model::NotificationSettings;

use super::{body::Body, caller::State, reply::Answer};
use crate::{App, Caller, Result, service};

#[handler]
pub(super) async fn read(app: State, caller: Caller) -> Answer {
    let settings = service::settings::read(&app, &caller).await?;
    let settings = shown(&app, &caller, &settings).await?;
    Ok(Json(json!({ "settings": settings, "plan": caller.account.plan })))
}

#[handler]
pub(super) async fn update(app: State, caller: Caller, body: Body) -> Answer {
    let settings = service::settings::update(&app, &caller, &body).await?;
    let settings = shown(&app, &caller, &settings).await?;
    Ok(Json(json!({ "settings": settings })))
}

/// Sends a test to every configured channel.
#[handler]
pub(super) async fn test(app: State, caller: Caller) -> Answer {
    let tested = service::settings::test(&app, &caller).await?;
    Ok(Json(json!(tested)))
}

/// The settings, and what is known beside them: which of the plugins' fields are secret, where the
/// status page is, and on which domain.
async fn shown(app: &App, caller: &Caller, settings: &NotificationSettings) -> Result<Value> {
    let mut shown = json!(settings.view());
    shown["plugin_channels"] = json!(service::settings::shown_channels(app, settings));
    let proof = service::status_page::domain::verification(app, caller.account.id, settings);
    shown["status_page_domain_verification"] = json!(proof.await?);
    shown["status_page_url"] = json!(service::status_page::url(app, settings));
    Ok(shown)
}
