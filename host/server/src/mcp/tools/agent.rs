//! Private certificates: what the agents of the account saw.

use serde_json::{Map, json};
use vedette_model::Feature;

use super::{Act, Hints, Tool, tool};
use crate::{
    App, Caller, Result,
    mcp::{
        args::Args,
        result::{Answer, Part, Room, listing},
        schema,
    },
    service,
};

pub(super) fn tools() -> Vec<Tool> {
    vec![
        tool(
            "list_private_certs",
            "List private certificates",
            "The certificates of hosts inside private networks, as the account's agents saw them \
             last, soonest expiry first. Use it when the user asks about internal \
             hosts: list_sites knows only what can be reached from the internet.",
            Hints::Reads,
            Act::ListPrivateCerts,
        )
        .takes(schema::paged_whole(&[], json!({})))
        .answers(schema::listing("certificates", schema::private_cert(), json!({}))),
    ]
}

pub(super) async fn list(app: &App, caller: &Caller, args: &Args) -> Result<Answer> {
    service::plan::included(&caller.account, caller.edition, Feature::Agents)?;
    let (limit, offset) = args.page_of_all()?;
    let certificates = service::agent::certs(app, caller).await?;
    let total = certificates.len() as u64;
    let shown = certificates
        .into_iter()
        .skip(offset as usize)
        .take(limit.map_or(usize::MAX, |limit| limit as usize));
    let part = Part {
        room: Room::Overview,
        tool: "list_private_certs",
        name: "certificates",
        entries: shown.collect(),
        offset: offset.into(),
        total,
    };
    Ok(Answer::Listing(listing(part, Map::new())))
}
