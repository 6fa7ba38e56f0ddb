//! `GET /events`: what happens, as server-sent events.
//!
//! *Invariant:* an answer flows: nothing on the way holds it back to pack, tag or measure it.
//! *Invariant:* names and ids are words of ours and data is one line of JSON, so nothing that was
//! stored can end an event or begin another.

use std::{future::ready, sync::Arc};

use futures::{StreamExt, stream};
use salvo::{Extractible, extract::Metadata, http::HeaderMap, prelude::*};
use serde_json::{Value, json};
use vedette_model::{
    EventFilter, Invalid, SiteId,
    event::{Cursor, Kind, Part},
    parse,
};

use super::{caller, query::Query, reply::stream_events};
use crate::{
    App, Caller, Error, Result,
    service::{
        self,
        event::{After, Told, Wanted},
    },
};

#[handler]
pub(super) async fn follow(
    reader: Reader,
    caller: Caller,
    query: Query,
    res: &mut Response,
) -> Result<()> {
    let filter = filter(&query)?;
    let after = after(&query, reader.last_id.as_deref())?;
    let wanted = Wanted { filter, after, sites: false };
    let told = service::event::follow(reader.app, &caller, reader.bearer, wanted).await?;
    let begin = stream::once(ready(RETRY.to_owned()));
    let events = stream::unfold(told, |mut told| async move {
        let event = frame(&told.recv().await?);
        Some((event, told))
    });
    stream_events(begin.chain(events), res);
    Ok(())
}

/// What the stream needs of its request beyond what other reads do.
pub(super) struct Reader {
    app: Arc<App>,
    /// The credential, which is looked at again while the stream runs.
    bearer: String,
    /// The `Last-Event-ID` header.
    last_id: Option<String>,
}

impl<'ex> Extractible<'ex> for Reader {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Reader");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        Ok(Self {
            app: caller::app(depot),
            bearer: caller::bearer(req.headers())?.to_owned(),
            last_id: last_id(req.headers())?,
        })
    }
}

fn last_id(headers: &HeaderMap) -> Result<Option<String>> {
    let mut values = headers.get_all(LAST_ID).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Error::invalid(LAST_ID, "must be given once"));
    }
    let text = value.to_str().map_err(|_| Error::invalid(LAST_ID, "must be plain text"))?;
    Ok(Some(text.to_owned()))
}

fn filter(query: &Query) -> Result<EventFilter, Invalid> {
    let kinds = query.get("types")?.map(|text| Kind::parse_list("types", text)).transpose()?;
    let site = query.get("site_id")?.map(|text| parse::uuid("site_id", text)).transpose()?;
    Ok(EventFilter { kinds: kinds.unwrap_or_default(), site: site.map(SiteId) })
}

/// The header wins: a browser that connects again sends the address as it was, and the header.
fn after(query: &Query, last_id: Option<&str>) -> Result<Option<After>, Invalid> {
    let named = query.get("after")?.map(|text| ("after", text));
    let Some((field, text)) = last_id.map(|text| (LAST_ID, text)).or(named) else {
        return Ok(None);
    };
    Ok(Some(After { field, cursor: Cursor::parse(field, text)? }))
}

fn frame(told: &Told) -> String {
    match told {
        // A comment for proxies on the way, and an id that is remembered without an event.
        Told::Quiet(cursor) => format!(": heartbeat\nid: {cursor}\n\n"),
        // Was not asked for: a comment.
        Told::Sites(_) => ": sites\n\n".to_owned(),
        Told::Lost => format!("event: events.lost\ndata: {LOST}\n\n"),
        Told::Event(cursor, part) => match part.name() {
            Some(name) => format!("event: {name}\nid: {cursor}\ndata: {}\n\n", data(part)),
            None => format!("id: {cursor}\n\n"),
        },
    }
}

/// On one line, as JSON is written here.
fn data(part: &Part) -> Value {
    match part {
        Part::Check(_, record) => json!(record),
        Part::Alert(event) => json!(event.alert.view()),
        Part::Incident(_, incident) => json!(incident.view()),
        Part::Gone => Value::Null,
    }
}

const LAST_ID: &str = "Last-Event-ID";
/// Milliseconds until a client connects again.
const RETRY: &str = "retry: 3000\n\n";
const LOST: &str =
    "{\"message\":\"events before this are no longer kept; read what you need again\"}";

#[cfg(test)]
mod tests {
    use vedette_model::{CheckRecord, CheckStatus, event::CheckChange};

    use super::*;

    #[test]
    fn a_result_cannot_end_its_event() {
        let record = CheckRecord {
            status: CheckStatus::Ok,
            result: json!({ "issuer": "a\r\n\nevent: alert.raised\ndata: {}\n\n" }),
            ..service::sample::record()
        };
        let told = Told::Event(Cursor::after(7), Box::new(Part::Check(CheckChange::Same, record)));
        let frame = frame(&told);
        let lines: Vec<&str> = frame.split('\n').collect();
        assert_eq!(lines.len(), 5, "{frame}");
        assert_eq!(&lines[..2], ["event: check.finished", "id: 7"]);
        assert!(lines[2].starts_with("data: {") && !frame.contains('\r'));
        assert_eq!(&lines[3..], ["", ""]);
    }

    #[test]
    fn heartbeat_moves_the_id_without_an_event() {
        assert_eq!(frame(&Told::Quiet(Cursor::after(0))), ": heartbeat\nid: 0\n\n");
        let lost = frame(&Told::Lost);
        assert!(!lost.contains("id:") && lost.ends_with("\n\n"), "{lost}");
    }
}
