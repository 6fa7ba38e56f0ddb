//! The domain object class (RFC 9083, 5.3), as the registries of the world fill it.

use serde::Deserialize;

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

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Domain<'a> {
    #[serde(borrow)]
    object_class_name: Raw<'a>,
    #[serde(borrow)]
    error_code: Raw<'a>,
    #[serde(borrow)]
    ldh_name: Raw<'a>,
    #[serde(borrow)]
    handle: Raw<'a>,
    #[serde(borrow)]
    events: Raw<'a>,
    #[serde(borrow)]
    entities: Raw<'a>,
    #[serde(borrow)]
    nameservers: Raw<'a>,
    #[serde(borrow)]
    status: Raw<'a>,
    #[serde(borrow)]
    redacted: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Event<'a> {
    #[serde(borrow)]
    event_action: Raw<'a>,
    #[serde(borrow)]
    event_date: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Nameserver<'a> {
    #[serde(borrow)]
    ldh_name: Raw<'a>,
}

/// Somebody who has to do with the domain (RFC 9083, 5.1).
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Entity<'a> {
    #[serde(borrow)]
    handle: Raw<'a>,
    #[serde(borrow)]
    pub(super) roles: Raw<'a>,
    #[serde(borrow)]
    vcard_array: Raw<'a>,
    #[serde(borrow)]
    entities: Raw<'a>,
    #[serde(borrow)]
    pub(super) remarks: Raw<'a>,
    #[serde(borrow)]
    pub(super) status: Raw<'a>,
}

/// Reads a body that should be the domain object of a name.
pub(super) fn read(body: &[u8], name: &Name) -> Answer {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}');
    let Ok(domain) = serde_json::from_str::<Domain<'_>>(text) else {
        return Answer::Unreadable;
    };
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
            json::items(self.events).into_iter().take(MAX_ITEMS).map(json::object).collect();
        let date = |action: &str| {
            let of_action = |event: &&Event<'_>| {
                let stated = json::text(event.event_action);
                stated.is_some_and(|stated| stated.eq_ignore_ascii_case(action))
            };
            let mut dates = events.iter().filter(of_action);
            dates.find_map(|event| read_date(&json::text(event.event_date)?, tld))
        };
        // The registry's date beats what the registrar told the registry.
        date("expiration").or_else(|| date("registrar expiration"))
    }

    fn name_servers(&self) -> Option<Vec<String>> {
        self.nameservers?;
        let servers = json::items(self.nameservers).into_iter().take(MAX_ITEMS);
        let names = servers.map(|server| {
            let server: Nameserver<'_> = json::object(server);
            host(&json::text(server.ldh_name).unwrap_or_default())
        });
        Some(names.collect())
    }
}

impl Entity<'_> {
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
        found.extend(level.into_iter().take(room).map(json::object::<Entity<'_>>));
        level = found[start..].iter().flat_map(|entity| json::items(entity.entities)).collect();
    }
    found
}

/// RFC 3339 as RFC 9083 wants it, or whatever a registry writes instead. What its software puts
/// where it has no date (`0001-01-01T00:00:00Z`) is none.
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
