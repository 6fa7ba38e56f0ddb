//! The incidents as RSS: one item for each update, so that a reader tells every step.

use askama::Template;
use rss::{
    Channel, Guid, Item,
    extension::{Extension, ExtensionMap},
};
use vedette_model::{
    IncidentStatus, Timestamp,
    status_page::{Page, PageIncident, PageUpdate},
};

/// Readers take a description for HTML: the text is escaped for that, and then for XML.
#[derive(Template)]
#[template(source = "{{ message|linebreaksbr }}", ext = "html")]
struct Description<'a> {
    message: &'a str,
}

pub(super) fn write(page: &Page) -> askama::Result<String> {
    let incidents = page.incidents.iter().chain(&page.past_incidents);
    let mut told: Vec<(&PageIncident, &PageUpdate)> = incidents
        .flat_map(|incident| incident.updates.iter().map(move |update| (incident, update)))
        .collect();
    told.sort_by_key(|(_, update)| std::cmp::Reverse(update.created_at));
    let last = told.first().map(|(_, update)| rfc2822(update.created_at));
    let newest = told.iter().take(MOST_ITEMS);
    let items = newest.map(|(incident, update)| item(page, incident, update));
    let items = items.collect::<askama::Result<_>>()?;
    let channel = Channel {
        title: page.title.clone(),
        link: page.url.clone(),
        description: format!("Incidents of {}", page.title),
        language: Some("en".to_owned()),
        pub_date: last,
        ttl: Some("1".to_owned()),
        items,
        namespaces: [(ATOM.to_owned(), ATOM_NAMESPACE.to_owned())].into(),
        extensions: own_address(page),
        ..Channel::default()
    };
    Ok(channel.to_string())
}

/// Readers that are given the feed as a file learn here where it comes from.
fn own_address(page: &Page) -> ExtensionMap {
    let attributes = [
        ("href", format!("{}.rss", page.url)),
        ("rel", "self".to_owned()),
        ("type", "application/rss+xml".to_owned()),
    ];
    let link = Extension {
        name: format!("{ATOM}:link"),
        attrs: attributes.map(|(name, value)| (name.to_owned(), value)).into(),
        ..Extension::default()
    };
    let links = [("link".to_owned(), vec![link])];
    [(ATOM.to_owned(), links.into())].into()
}

fn item(page: &Page, incident: &PageIncident, update: &PageUpdate) -> askama::Result<Item> {
    let description = Description { message: &update.message }.render()?;
    Ok(Item {
        title: Some(format!("{}: {}", status(update.status), incident.title)),
        link: Some(format!("{}#i-{}", page.url, incident.id)),
        description: Some(description),
        guid: Some(Guid { value: format!("urn:uuid:{}", update.id), permalink: false }),
        pub_date: Some(rfc2822(update.created_at)),
        ..Item::default()
    })
}

pub(super) fn status(status: IncidentStatus) -> &'static str {
    match status {
        IncidentStatus::Investigating => "Investigating",
        IncidentStatus::Identified => "Identified",
        IncidentStatus::Monitoring => "Monitoring",
        IncidentStatus::Resolved => "Resolved",
    }
}

fn rfc2822(at: Timestamp) -> String {
    at.to_rfc2822()
}

const MOST_ITEMS: usize = 100;
const ATOM: &str = "atom";
const ATOM_NAMESPACE: &str = "http://www.w3.org/2005/Atom";
