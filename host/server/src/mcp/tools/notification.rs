//! Notifications: whether they arrive.

use serde_json::{Value, json};

use super::{Act, Hints, Tool, tool};
use crate::{
    App, Caller, Result,
    mcp::schema,
    schema::{list, record, text},
    service,
};

pub(super) fn tools() -> Vec<Tool> {
    let output = record(json!({ "message": text(), "channels": list(text()) }));
    vec![
        tool(
            "test_notifications",
            "Send a test notification",
            "Sends a test to every channel that is configured (e-mail, chat, webhook): people will \
             see it. Use it when the user wants to know whether alerts would arrive.",
            Hints::Tells,
            Act::TestNotifications,
        )
        .answers(schema::whole(output)),
    ]
}

pub(super) async fn test(app: &App, caller: &Caller) -> Result<Value> {
    Ok(json!(service::settings::test(app, caller).await?))
}
