//! WHOIS: what to ask on port 43, and what the answer says.
//!
//! An answer is bytes of unknown encoding and unwritten grammar. It is decoded ([`decode`]), laid
//! out into entries (a label, its values, the block it stands in: `layout`, `split`), the labels
//! are recognised by their words (`label`, `names`, `vocabulary`), entries about other objects are set
//! aside (`object`), and only then are facts taken from what is left (`expiry`, `registrar`,
//! `servers`, `status`, `registrant`, `referral`). A format nobody has seen is read as well as one
//! that everybody knows. Where there is no record, the sentences are asked why (`verdict`, `phrases`).
//!
//! *Invariant:* no clock, no network; time and memory are linear in the input, and nothing panics.
//! *Invariant:* no date is guessed. What could be read in two ways is `None`.
//! *Invariant:* a throttled answer is never "not found".

mod ask;
mod expiry;
mod label;
mod layout;
mod names;
mod object;
mod phrases;
mod referral;
mod registrant;
mod registrar;
mod servers;
mod split;
mod status;
mod verdict;
mod vocabulary;
pub(crate) mod words;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;

pub(crate) use ask::{decode, query};
pub(crate) use status::canonical as canonical_status;

use std::net::{IpAddr, SocketAddr};

use expiry::Dates;
use layout::{lay_out, parted};
use object::{Naming, Objects};
use verdict::Verdict;

/// What one WHOIS answer says about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The name is registered.
    Record(Record),
    /// The server says that the name is not registered.
    NotFound,
    /// The name is withheld from registration.
    Reserved,
    /// The server does not want to be asked now: nothing is known about the name.
    Throttled,
    /// None of the above could be recognised.
    Unparsable,
}

/// What a WHOIS server publishes about a registered name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// The registrar's name, without tags and addresses.
    pub(crate) registrar: Option<String>,
    /// When the registration ends, in seconds since 1970.
    pub(crate) expires_at: Option<i64>,
    /// An expiry with a value was there, whether or not it could be read.
    pub(crate) is_expiry_stated: bool,
    /// When the name was registered, in seconds since 1970.
    pub(crate) created: Option<i64>,
    /// When the registration last changed, in seconds since 1970.
    pub(crate) updated: Option<i64>,
    /// Lower case, without the last dot, sorted, each once. `None`: the answer has no such section.
    pub(crate) name_servers: Option<Vec<String>>,
    /// Whether the registrant is hidden. `None`: the answer says nothing about the registrant.
    pub(crate) privacy_protected: Option<bool>,
    /// EPP statuses in their own spelling (`pendingDelete`), others in lower case.
    pub(crate) statuses: Vec<String>,
    /// The server that knows more, already vetted as a public host name. The caller looks at the
    /// port and keeps it from going round in circles.
    pub(crate) referral: Option<Referral>,
}

/// Another WHOIS server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Referral {
    /// A public host name in lower case.
    pub(crate) host: String,
    /// The port, where the answer names one.
    pub(crate) port: Option<u16>,
}

/// What the answer says about `name` (a canonical A-label; empty: whatever name it is about).
/// `tld` decides the order of day and month where the answer leaves it open.
pub(crate) fn parse(text: &str, name: &str, tld: &str) -> Answer {
    if !text.chars().any(char::is_alphanumeric) {
        // A server that closes the connection without a word.
        return Answer::Throttled;
    }
    let entries = lay_out(text);
    let objects = Objects::new(&entries, name);
    let record = record(&objects, tld);
    let weight = Weight::of(&objects, &record, text, name);
    if weight == Weight::Full && record.is_expiry_stated {
        return Answer::Record(record);
    }
    // Without a record, with next to nothing of one, or with one from which the server left out
    // what it likes ("Query rate exceeded. Reduced information."), its words count for more.
    let verdict = Verdict::of(text, name);
    let is_free =
        verdict.is_not_found || record.statuses.iter().any(|status| verdict::is_free(status));
    if weight == Weight::Full || (weight == Weight::Dated && !is_free) {
        // The terms of use stand below: there only what has happened counts.
        let is_refused = match objects.begins().map(|line| parted(text, line)) {
            Some((above, below)) => verdict::refuses(above) || verdict::has_refused_below(below),
            None => verdict.is_refused,
        };
        return if is_refused { Answer::Throttled } else { Answer::Record(record) };
    }
    let is_withheld = record.statuses.iter().any(|status| verdict::is_withheld(status));
    if verdict.is_throttled {
        Answer::Throttled
    } else if verdict.is_reserved || is_withheld {
        Answer::Reserved
    } else if is_free {
        Answer::NotFound
    } else if weight == Weight::Thin {
        Answer::Record(record)
    } else {
        Answer::Unparsable
    }
}

/// [`decode`] and [`parse`] in one step.
pub(crate) fn read(bytes: &[u8], name: &str, tld: &str) -> Answer {
    parse(&decode(bytes, tld), name, tld)
}

/// The WHOIS server of a top level domain, from the answer of the root (IANA): its `whois:` line,
/// else `refer:`, as `host` or `host:port`. `None`: there is none, or none that may be asked.
pub(crate) fn server_of_tld(iana_answer: &str) -> Option<String> {
    let value_of = |wanted: &str| {
        iana_answer.lines().take(MOST_ROOT_LINES).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            let is_wanted = key.trim().eq_ignore_ascii_case(wanted);
            is_wanted.then(|| root_server(value)).flatten()
        })
    };
    value_of("whois").or_else(|| value_of("refer"))
}

/// The root is the operator's choice and may be one of the operator's own, which names its
/// servers by address and port.
fn root_server(value: &str) -> Option<String> {
    let value = value.trim();
    let is_address = value.parse::<IpAddr>().is_ok() || value.parse::<SocketAddr>().is_ok();
    if is_address {
        return Some(value.to_owned());
    }
    let Referral { host, port } = referral::vet(value)?;
    Some(port.map_or_else(|| host.clone(), |port| format!("{host}:{port}")))
}

fn record(objects: &Objects<'_, '_>, tld: &str) -> Record {
    let dates = Dates::of(objects, tld);
    Record {
        registrar: registrar::registrar(objects),
        expires_at: dates.expires_at,
        is_expiry_stated: dates.is_expiry_stated,
        created: dates.created,
        updated: dates.updated,
        name_servers: servers::name_servers(objects),
        privacy_protected: registrant::privacy_protected(objects),
        statuses: status::statuses(objects),
        referral: referral::referral(objects),
    }
}

impl Record {
    fn has_servers(&self) -> bool {
        self.name_servers.as_ref().is_some_and(|servers| !servers.is_empty())
    }

    /// Whether it has a status, and none under which nobody holds the name.
    fn is_held(&self) -> bool {
        let is_held = |status: &String| !verdict::is_free(status) && !verdict::is_withheld(status);
        !self.statuses.is_empty() && self.statuses.iter().all(is_held)
    }
}

/// How much of a record there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// Facts that only a registered name has.
    Full,
    /// Nothing but dates that are past: a server tells of its own data in the same words.
    Dated,
    /// The name and a status.
    Thin,
    /// Nothing, or only facts about another name.
    None,
}

impl Weight {
    fn of(objects: &Objects<'_, '_>, record: &Record, text: &str, name: &str) -> Weight {
        let is_named = match objects.naming {
            Naming::Asked => true,
            // Names in letters beyond ASCII, and answers that begin with a sentence.
            Naming::Other | Naming::Nothing => mentions(text, name),
        };
        let facts = [
            record.expires_at.is_some(),
            record.is_expiry_stated,
            record.registrar.is_some(),
            record.has_servers(),
            record.privacy_protected.is_some(),
        ];
        let facts = facts.iter().filter(|fact| **fact).count();
        let dates = match (facts, record.created, record.updated) {
            // When something changed says nothing by itself.
            (0, None, _) if !record.is_held() => 0,
            (_, created, updated) => {
                usize::from(created.is_some()) + usize::from(updated.is_some())
            }
        };
        match (objects.naming, is_named, facts + dates) {
            (Naming::Other, false, _) => Weight::None,
            (_, true, 1..) | (_, _, 2..) if facts == 0 => Weight::Dated,
            (_, true, 1..) | (_, _, 2..) => Weight::Full,
            (_, true, 0) if !record.statuses.is_empty() => Weight::Thin,
            _ => Weight::None,
        }
    }
}

/// Whether the answer holds the name as a word of its own.
fn mentions(text: &str, name: &str) -> bool {
    if name.is_empty() {
        return true;
    }
    let is_part =
        |char: char| char.is_alphanumeric() || matches!(char, '-' | '.' | '_' | '@' | '/');
    let text = text.to_ascii_lowercase();
    text.match_indices(name).take(MOST_MENTIONS).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(|char| is_part(char) && char != '.')
    })
}

const MOST_ROOT_LINES: usize = 1_000;
const MOST_MENTIONS: usize = 1_000;
