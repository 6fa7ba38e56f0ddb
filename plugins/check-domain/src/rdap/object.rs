//! The domain object class (RFC 9083, 5.3), as the registries of the world fill it.

use serde_json::value::RawValue;

use super::{
    json::{self, Raw},
    registrant,
};
use crate::{
    date::{self, Order},
    facts::Registration,
    moment,
    name::Name,
    whois::canonical_status,
};

/// What a body says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Domain(Registration),
    /// The name is withheld from registration.
    Reserved,
    /// An error object (RFC 9083, 6) with this code.
    Error(u16),
    /// No JSON, no domain, or another domain.
    Unreadable,
}

struct Domain<'a> {
    object_class_name: Raw<'a>,
    error_code: Raw<'a>,
    ldh_name: Raw<'a>,
    handle: Raw<'a>,
    events: Raw<'a>,
    entities: Raw<'a>,
    nameservers: Raw<'a>,
    status: Raw<'a>,
    redacted: Raw<'a>,
}

struct Event<'a> {
    action: Raw<'a>,
    date: Raw<'a>,
}

/// Somebody who has to do with the domain (RFC 9083, 5.1).
pub(super) struct Entity<'a> {
    handle: Raw<'a>,
    pub(super) roles: Raw<'a>,
    vcard_array: Raw<'a>,
    entities: Raw<'a>,
    pub(super) remarks: Raw<'a>,
    pub(super) status: Raw<'a>,
}

/// Reads a body that should be the domain object of a name.
pub(super) fn read(body: &[u8], name: &Name) -> Answer {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}');
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else {
        return Answer::Unreadable;
    };
    let domain = Domain::of(Some(raw));
    if let Some(code) = json::text(domain.error_code) {
        return code.parse().map_or(Answer::Unreadable, Answer::Error);
    }
    if !domain.is_about(name) {
        return Answer::Unreadable;
    }
    let registration = domain.registration(name);
    let is_empty = registration.registrar.is_none() && registration.expires_at.is_none();
    if is_empty && registration.status.iter().any(|status| status == "reserved") {
        return Answer::Reserved;
    }
    Answer::Domain(registration)
}

impl<'a> Domain<'a> {
    fn of(raw: Raw<'a>) -> Self {
        let names = [
            "objectClassName",
            "errorCode",
            "ldhName",
            "handle",
            "events",
            "entities",
            "nameservers",
            "status",
            "redacted",
        ];
        let [class, error_code, ldh_name, handle, events, entities, nameservers, status, redacted] =
            json::members(raw, names);
        Self {
            object_class_name: class,
            error_code,
            ldh_name,
            handle,
            events,
            entities,
            nameservers,
            status,
            redacted,
        }
    }

    /// Missing members are forgiven, contradictions are not.
    fn is_about(&self, name: &Name) -> bool {
        let is_domain = match json::text(self.object_class_name) {
            Some(class) => class.eq_ignore_ascii_case("domain"),
            None => [self.ldh_name, self.handle, self.events, self.entities, self.nameservers]
                .iter()
                .any(Option::is_some),
        };
        // A server that puts the Unicode form here still means something: it is not compared.
        let stated = json::text(self.ldh_name).filter(|stated| stated.is_ascii());
        let is_same = stated.is_none_or(|stated| host(&stated) == name.as_str());
        is_domain && is_same
    }

    fn registration(&self, name: &Name) -> Registration {
        let entities = entities(self.entities);
        let registrar = entities.iter().find(|entity| entity.has_role("registrar"));
        let statuses = json::texts(self.status);
        let registration = Registration {
            registrar: registrar.and_then(Entity::name),
            expires_at: self.expires_at(name.tld()),
            name_servers: self.name_servers(),
            privacy_protected: registrant::is_protected(&entities, self.redacted),
            status: statuses.iter().filter_map(|status| canonical_status(status)).collect(),
        };
        registration.bounded()
    }

    fn expires_at(&self, tld: &str) -> Option<i64> {
        let events: Vec<Event<'_>> =
            json::items(self.events).into_iter().take(MAX_ITEMS).map(Event::of).collect();
        let date = |action: &str| {
            let of_action = |event: &&Event<'_>| {
                let stated = json::text(event.action);
                stated.is_some_and(|stated| stated.eq_ignore_ascii_case(action))
            };
            let mut dates = events.iter().filter(of_action);
            dates.find_map(|event| read_date(&json::text(event.date)?, tld))
        };
        // The registry's date beats what the registrar told the registry.
        date("expiration").or_else(|| date("registrar expiration"))
    }

    fn name_servers(&self) -> Option<Vec<String>> {
        self.nameservers?;
        let servers = json::items(self.nameservers).into_iter().take(MAX_ITEMS);
        let names = servers.map(|server| {
            let [ldh_name] = json::members(server, ["ldhName"]);
            host(&json::text(ldh_name).unwrap_or_default())
        });
        Some(names.collect())
    }
}

impl<'a> Event<'a> {
    fn of(raw: Raw<'a>) -> Self {
        let [action, date] = json::members(raw, ["eventAction", "eventDate"]);
        Self { action, date }
    }
}

impl<'a> Entity<'a> {
    fn of(raw: Raw<'a>) -> Self {
        let [handle, roles, vcard_array, entities, remarks, status] =
            json::members(raw, ["handle", "roles", "vcardArray", "entities", "remarks", "status"]);
        Self { handle, roles, vcard_array, entities, remarks, status }
    }

    pub(super) fn has_role(&self, role: &str) -> bool {
        json::texts(self.roles).iter().any(|stated| stated.eq_ignore_ascii_case(role))
    }

    fn name(&self) -> Option<String> {
        let named = self.vcard("fn").or_else(|| self.vcard("org"));
        named.or_else(|| json::text(self.handle))
    }

    /// The value of a property of the jCard (RFC 7095, 3.3): name, parameters, type, values.
    pub(super) fn vcard(&self, property: &str) -> Option<String> {
        let card = json::items(self.vcard_array);
        let properties = json::items(*card.get(1)?);
        properties.into_iter().take(MAX_ITEMS).find_map(|raw| {
            let parts = json::items(raw);
            let is_property = json::text(*parts.first()?)?.eq_ignore_ascii_case(property);
            let values = parts.get(3..).filter(|_| is_property)?;
            values.iter().find_map(|&value| json::first_text(value))
        })
    }
}

/// All entities, those of the domain itself before those that they hold.
fn entities<'a>(raw: Raw<'a>) -> Vec<Entity<'a>> {
    let mut found: Vec<Entity<'a>> = Vec::new();
    let mut level = json::items(raw);
    for _ in 0..MAX_DEPTH {
        let start = found.len();
        let room = MAX_ITEMS.saturating_sub(start);
        found.extend(level.into_iter().take(room).map(Entity::of));
        level = found[start..].iter().flat_map(|entity| json::items(entity.entities)).collect();
    }
    found
}

/// RFC 3339 as RFC 9083 wants it, or whatever a registry writes instead. What its software writes
/// if it has no date (`0001-01-01T00:00:00Z`) counts as none.
fn read_date(text: &str, tld: &str) -> Option<i64> {
    let read = moment::parse(text).or_else(|| date::parse_date(text, Order::Unknown));
    read.filter(|at| date::is_plausible(*at, tld))
}

fn host(text: &str) -> String {
    text.trim_end_matches('.').to_ascii_lowercase()
}

/// Of any list.
const MAX_ITEMS: usize = 256;
/// Of entities in entities.
const MAX_DEPTH: usize = 4;

#[cfg(test)]
mod tests;
