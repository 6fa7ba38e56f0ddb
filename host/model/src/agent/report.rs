//! What an agent brings at once.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Look, Sighting, apart, known::Known};
use crate::parse::{self, Body};
use crate::{AgentId, Invalid, Timestamp};

/// The body of `POST /agent/report`.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub agent_id: AgentId,
    /// At most 500.
    pub looks: Vec<Look>,
}

impl Report {
    /// Reads all of it or nothing; what does not fit is named by its place, such as
    /// `results[0].certificates[1].not_after`.
    pub fn parse(body: &Value) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        let agent_id = body
            .required("agent_id", |field, value| parse::uuid(field, parse::text(field, value)?))?;
        let looks = body
            .required("results", |field, value| entries(field, value, MOST_RESULTS, Look::read))?;
        Ok(Self { agent_id: agent_id.into(), looks })
    }

    /// How many certificates it tells of.
    pub fn certificates(&self) -> usize {
        self.looks.iter().map(|look| look.certificates.len()).sum()
    }

    /// The hosts where it saw certificates, each once.
    pub fn hosts(&self) -> Vec<&str> {
        let seen = self.looks.iter().filter(|look| !look.certificates.is_empty());
        let hosts: BTreeSet<&str> = seen.map(|look| look.place.host.as_str()).collect();
        hosts.into_iter().collect()
    }

    /// A look for each leaf and for each that is gone, with the moment of each, the earliest first:
    /// an agent may have kept them while the service was away. `known` is what it saw at those
    /// hosts before.
    pub fn oldest_first(self, now: Timestamp, known: Vec<Sighting>) -> Vec<(Timestamp, Look)> {
        let mut looks = apart::joined(self.looks.into_iter().map(|look| (look.at(now), look)));
        looks.sort_by_key(|(at, _)| *at);
        let mut known = Known::of(known);
        looks
            .into_iter()
            .flat_map(|(at, look)| known.apart(look, at).into_iter().map(move |one| (at, one)))
            .collect()
    }
}

/// A list of objects, each read by itself.
pub(super) fn entries<'a, T>(
    field: &'static str,
    value: &'a Value,
    most: usize,
    read: impl Fn(Body<'a>) -> Result<T, Invalid>,
) -> Result<Vec<T>, Invalid> {
    let values = parse::list(field, value)?;
    if values.len() > most {
        return Err(Invalid::new(field, format!("must have at most {most} entries")));
    }
    let entry = |(nth, value): (usize, &'a Value)| {
        let place = format!("{field}[{nth}]");
        let Ok(body) = Body::of(value) else {
            return Err(Invalid::new(place, "must be an object"));
        };
        read(body).map_err(|inner| Invalid::new(format!("{place}.{}", inner.field), inner.reason))
    };
    values.iter().enumerate().map(entry).collect()
}

const MOST_RESULTS: usize = 500;
