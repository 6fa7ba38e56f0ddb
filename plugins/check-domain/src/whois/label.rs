//! What a label means, by its words.
//!
//! Labels of names and servers are listed. Labels of dates are not: one is an expiry when one of
//! its words says so and *all* the others are known to change nothing, so that `Option expiration
//! date` or `Certificate expires` is none.

use super::names;
use super::vocabulary::Kinds;
use super::words::words;
use crate::date::Order;

/// What the line or block behind a label tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Domain,
    Expiry(Source),
    Created,
    Updated,
    Registrar,
    NameServers,
    /// A name server of its own (`Server Name:` of old answers): what follows is about a host.
    Host,
    /// `Host Name:` inside a block of name servers.
    HostName,
    Status,
    /// `State:`: a status, or a part of an address.
    State,
    /// `Flags:`: statuses, or flags of a key.
    Flags,
    /// The registrant: a name, a handle, or a block.
    Registrant,
    RegistrantName,
    RegistrantOrganization,
    RegistrantEmail,
    /// Another contact than the registrant.
    Contact,
    /// `nic-hdl:`, `contact:`: an object of its own, about a person or company.
    Handle,
    /// `nsset:`, `keyset:`: an object of its own, about servers or keys.
    Set,
    Person,
    Name,
    Organization,
    Email,
    WhoisServer,
    Other,
}

/// Who states an expiry; the first is believed before the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Registry,
    Unnamed,
    /// `Renewal date`: the end of the paid period, named by what one does about it.
    Renewal,
    Registrar,
}

/// A label with what was found out about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    pub(super) label: Label,
    /// From a hint such as `Expiry (dd/mm/yyyy)`.
    pub(super) order: Option<Order>,
    /// What is in this block is about something other than the registration.
    pub(super) is_foreign: bool,
}

impl Meaning {
    pub(super) fn of(key: &str) -> Meaning {
        let (bare, hint) = without_brackets(key);
        let mut words = words(&bare, MOST_WORDS + 1);
        for word in &mut words {
            word.truncate(word.trim_end_matches(|char: char| char.is_ascii_digit()).len());
        }
        words.retain(|word| !word.is_empty());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Meaning {
            label: classify(&words),
            order: Order::of_hint(&hint),
            is_foreign: words.iter().any(|word| FOREIGN.contains(word)),
        }
    }
}

/// Words that make a label or a block be about something else, whatever else it says.
const FOREIGN: &[&str] = &[
    "accreditation",
    "agreement",
    "auction",
    "certificate",
    "certificates",
    "certification",
    "coupon",
    "escrow",
    "hosting",
    "invoice",
    "license",
    "lock",
    "mark",
    "option",
    "proxy",
    "signature",
    "ssl",
    "tls",
    "trademark",
    "trademarks",
];

fn classify(words: &[&str]) -> Label {
    if words.is_empty() || words.len() > MOST_WORDS {
        return Label::Other;
    }
    if let Some(label) = date_label(words) {
        return label;
    }
    let joined = words.join(" ");
    if let Some(label) = names::listed(&joined) {
        return label;
    }
    // "Domain Registrar", "Domain Name Status".
    let rest = joined.strip_prefix("domain name ").or_else(|| joined.strip_prefix("domain "));
    if let Some(label) = rest.and_then(names::listed).filter(|label| *label != Label::Name) {
        return label;
    }
    if names::is_name_servers(words) {
        return Label::NameServers;
    }
    if let Some(label) = names::registrant(&joined) {
        return label;
    }
    if names::is_contact(words) { Label::Contact } else { Label::Other }
}

fn date_label(words: &[&str]) -> Option<Label> {
    let kinds: Vec<Kinds> = words.iter().map(|word| Kinds::of(word)).collect();
    let has = |kind: Kinds| kinds.iter().any(|kinds| kinds.has(kind));
    let is_all =
        |kind: Kinds| kinds.iter().all(|kinds| kinds.has(Kinds::NEUTRAL) || kinds.has(kind));
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));

    let is_expiry = has(Kinds::EXPIRY)
        || (has(Kinds::LASTS) && has(Kinds::UNTIL))
        || (any(&["registered", "registration"]) && any(&["until", "till", "thru", "through"]))
        || (has(Kinds::ENDS) && words.len() > 1);
    if (is_expiry || has(Kinds::RENEWAL)) && is_all(Kinds::OF_EXPIRY) {
        let source = if !is_expiry {
            Source::Renewal
        } else if words.contains(&"registrar") {
            Source::Registrar
        } else if words.contains(&"registry") {
            Source::Registry
        } else {
            Source::Unnamed
        };
        return Some(Label::Expiry(source));
    }
    if has(Kinds::CHANGED) && is_all(Kinds::CHANGED) {
        return Some(Label::Updated);
    }
    let is_registration = any(&["registration", "registered"])
        && (words.len() == 1 || any(&["date", "time", "on", "at", "domain"]));
    let is_created = has(Kinds::CREATED) || (is_registration && words != ["registration"]);
    (is_created && is_all(Kinds::CREATED)).then_some(Label::Created)
}

/// A key without what stands in brackets, and what stood there.
fn without_brackets(key: &str) -> (String, String) {
    let mut outside = String::new();
    let mut inside = String::new();
    let mut depth = 0_u32;
    for char in key.chars() {
        match char {
            '(' | '（' => depth += 1,
            ')' | '）' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(char),
            _ => inside.push(char),
        }
    }
    if outside.trim().is_empty() { (inside, String::new()) } else { (outside, inside) }
}

/// Words of the longest label.
const MOST_WORDS: usize = 10;
