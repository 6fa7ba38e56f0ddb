//! The registrar's name.

use super::label::Label;
use super::layout::Entry;
use super::object::Objects;
use super::split::head;
use super::words::words;

/// The registrar that keeps the domain, by name where the answer has one, else by handle.
pub(super) fn registrar(objects: &Objects<'_, '_>) -> Option<String> {
    let named = candidates(objects)
        .filter(|(_, entry)| words(entry.key, 1).first().is_some_and(|word| word == "current"))
        .chain(candidates(objects))
        .find_map(|(index, entry)| {
            let named = entry.values.first().and_then(|value| clean(value));
            named.or_else(|| in_block(objects, index)).map(|named| (entry, named))
        });
    let (entry, named) = named?;
    // "registrar: REG-EXAMPLE" and an object that says who that is.
    let told = is_handle(&named).then(|| told_of(objects, entry, &named)).flatten();
    Some(told.unwrap_or(named))
}

fn candidates<'e, 'a>(objects: &Objects<'e, 'a>) -> impl Iterator<Item = (usize, &'e Entry<'a>)> {
    objects.own().filter(|(_, entry)| entry.label() == Label::Registrar)
}

/// A block `Registrar:` names it by `Name:`, by `Organization:`, or both, one being a handle.
fn in_block(objects: &Objects<'_, '_>, header: usize) -> Option<String> {
    let of = |label: Label| {
        objects
            .entries
            .iter()
            .skip(header + 1)
            .take_while(|entry| entry.block.is_some_and(|block| block >= header))
            .filter(|entry| entry.block == Some(header) && entry.label() == label)
            .find_map(|entry| clean(entry.values.first()?))
    };
    let name = of(Label::Name);
    match name {
        Some(name) if !is_handle(&name) => Some(name),
        name => of(Label::Organization).or(name).or_else(|| of(Label::Registrar)),
    }
}

/// The name that another object gives to a registrar's handle.
fn told_of(objects: &Objects<'_, '_>, of: &Entry<'_>, handle: &str) -> Option<String> {
    let begins = objects.entries.iter().enumerate().find(|(index, entry)| {
        let before = index.checked_sub(1).and_then(|before| objects.entries.get(before));
        entry.label() == Label::Registrar
            && entry.values.first().is_some_and(|value| value.eq_ignore_ascii_case(handle))
            && before
                .is_none_or(|before| before.paragraph < entry.paragraph || before.values.is_empty())
            && (entry.paragraph != of.paragraph || std::ptr::eq(*entry, of))
    });
    let (begin, first) = begins?;
    let mut named = None;
    for entry in objects.entries.iter().skip(begin + 1) {
        if entry.paragraph != first.paragraph {
            break;
        }
        match entry.label() {
            // The object of the domain itself begins with its registrar now and then.
            Label::Domain | Label::Expiry(_) => return None,
            Label::Name | Label::Organization if named.is_none() => {
                named = entry.values.first().and_then(|value| clean(value));
            }
            _ => {}
        }
    }
    named
}

/// The name without tags, addresses and quotes. `None`: nobody is named.
fn clean(value: &str) -> Option<String> {
    let mut name = String::new();
    let mut rest = head(value, LONGEST);
    // Brackets that hold a tag or an address say nothing more.
    while let Some(open) = rest.find(['[', '(']) {
        let close = if rest[open..].starts_with('[') { ']' } else { ')' };
        let Some(length) = rest[open..].find(close) else { break };
        let inside = &rest[open + 1..open + length];
        let kept = if is_noise(inside) { open } else { open + length + 1 };
        name.push_str(&rest[..kept]);
        rest = &rest[open + length + 1..];
    }
    name.push_str(rest);
    let name: Vec<&str> = name
        .split(|char: char| char.is_whitespace() || char.is_control())
        .filter(|token| {
            !token.is_empty() && !token.starts_with("http:") && !token.starts_with("https:")
        })
        .collect();
    let name = name.join(" ");
    let name = name.trim_matches(['"', '\'', ',', ';', ' ']);
    let said = words(name, 4).join(" ");
    let is_nobody = said.is_empty()
        || NOBODY.contains(&said.as_str())
        || said.starts_with("no registrar")
        || said.starts_with("none ");
    (!is_nobody).then(|| name.to_owned())
}

fn is_noise(inside: &str) -> bool {
    let inside = inside.trim().to_ascii_lowercase();
    inside.contains("://")
        || inside.starts_with("www.")
        || inside.contains('=')
        || inside.contains('@')
}

/// A key of the registry's own: one word of capitals, digits and dashes, or with a dot in it.
pub(super) fn is_handle(name: &str) -> bool {
    !name.contains(char::is_whitespace)
        && !name.contains('@')
        && (name.contains(['-', '_', '.']) || name.contains(|char: char| char.is_ascii_digit()))
        && (name.contains('.') || !name.contains(char::is_lowercase))
}

const LONGEST: usize = 256;

/// What stands there when nobody is named.
const NOBODY: &[&str] = &[
    "n a",
    "na",
    "none",
    "null",
    "nil",
    "unknown",
    "not applicable",
    "not available",
    "not disclosed",
    "not assigned",
    "no",
];
