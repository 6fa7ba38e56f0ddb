//! What an assistant can read without calling a tool: the sites and the open alerts.

use rmcp::{
    ErrorData,
    model::{ReadResourceResponse, ReadResourceResult, Resource, ResourceContents},
};
use serde_json::Map;

use super::{Who, args::Args, refusal, tools};
use crate::{App, Result};

pub(super) fn all() -> Vec<Resource> {
    let described = |uri: &str, name: &str, title: &str, description: &str| {
        Resource::new(uri, name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(JSON)
    };
    vec![
        described(SITES, "sites", "Monitored sites", "Every site with the state of its checks."),
        described(ALERTS, "alerts", "Open alerts", "The alerts that nobody has resolved yet."),
    ]
}

pub(super) async fn read(
    app: &App,
    who: &Who,
    uri: &str,
) -> Result<ReadResourceResponse, ErrorData> {
    let found = match (uri, who) {
        (SITES | ALERTS, Who::Anyone) => None,
        (SITES, Who::Caller(caller)) => Some(tools::site::list(app, caller, &nothing()).await),
        (ALERTS, Who::Caller(caller)) => Some(tools::alert::list(app, caller, &nothing()).await),
        _ => None,
    };
    let Some(found) = found else {
        let advice = "there is no such resource; resources/list names those that exist";
        return Err(ErrorData::resource_not_found(advice, None));
    };
    let text = match found {
        Ok(answer) => answer.json(),
        Err(error) => {
            return Err(match refusal::told(&error) {
                Ok(sentence) => ErrorData::invalid_params(sentence, None),
                Err(ours) => ours,
            });
        }
    };
    let contents = ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(JSON.to_owned()),
        text,
        meta: None,
    };
    Ok(ReadResourceResult::new(vec![contents]).into())
}

fn nothing() -> Args {
    Args::new(Map::new())
}

pub(super) const SITES: &str = "vedette://sites";
pub(super) const ALERTS: &str = "vedette://alerts";
const JSON: &str = "application/json";
