//! The name servers of a domain.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::label::Label;
use super::object::Objects;
use super::split::{head, host};

/// Name servers without their addresses. `None`: the answer has no such section.
pub(super) fn name_servers(objects: &Objects<'_, '_>) -> Option<Vec<String>> {
    let mut is_section = false;
    let mut found = BTreeSet::new();
    for (_, entry) in objects.all() {
        let is_server = match entry.label() {
            Label::NameServers => true,
            Label::HostName | Label::Name => objects.subject(entry) == Some(Label::NameServers),
            _ => false,
        };
        if !is_server {
            continue;
        }
        is_section = true;
        // .dk: "DNS: example.dk" spells the domain itself.
        let is_name =
            |host: &String| entry.key.eq_ignore_ascii_case("dns") && objects.is_asked(host);
        for value in &entry.values {
            if found.len() < MOST {
                found.extend(hosts(value).filter(|host| !is_name(host)));
            }
        }
    }
    is_section.then(|| found.into_iter().take(MOST).collect())
}

/// The names of one line: one, or a list. Addresses are passed over; a remark ends the list.
fn hosts(value: &str) -> impl Iterator<Item = String> {
    head(value, LONGEST)
        .split(|char: char| char.is_whitespace() || matches!(char, ',' | ';'))
        .filter(|token| !token.is_empty() && !is_ordinal(token))
        .map_while(|token| if is_passed(token) { Some(None) } else { host(token).map(Some) })
        .flatten()
}

/// An address, or what stands in its place.
fn is_passed(token: &str) -> bool {
    let bare = token.trim_matches(['(', ')', '[', ']']);
    let bare = bare.split('/').next().unwrap_or(bare);
    bare.parse::<IpAddr>().is_ok() || bare.trim_end_matches('.') == "not.defined"
}

/// `1.`, `2)`: the number of a line.
fn is_ordinal(token: &str) -> bool {
    let digits = token.trim_end_matches(['.', ')']);
    digits.len() < token.len()
        && digits.len() <= 2
        && digits.chars().all(|char| char.is_ascii_digit())
}

/// More than any zone has.
const MOST: usize = 64;
const LONGEST: usize = 1_024;
