//! Whether the registrant is shown.

use super::label::Label;
use super::layout::Entry;
use super::object::Objects;
use super::registrar::is_handle;
use crate::privacy::is_privacy;

/// `true`: a line about the registrant says that it is hidden. `false`: a name or organisation
/// is shown. `None`: the answer has no such line.
pub(super) fn privacy_protected(objects: &Objects<'_, '_>) -> Option<bool> {
    let mut is_shown = false;
    let mut followed = 0;
    for (_, entry) in objects.own() {
        match look(objects, entry) {
            Some(Look::Hidden) => return Some(true),
            Some(Look::Shown) => is_shown = true,
            // Each costs a search through the answer.
            Some(Look::Handle(handle)) if followed < MOST_HANDLES => {
                followed += 1;
                match behind(objects, handle) {
                    Some(true) => return Some(true),
                    Some(false) => is_shown = true,
                    None => {}
                }
            }
            Some(Look::Handle(_)) | None => {}
        }
    }
    is_shown.then_some(false)
}

enum Look<'a> {
    Hidden,
    Shown,
    /// The key of another object, which has the name.
    Handle(&'a str),
}

fn look<'a>(objects: &Objects<'_, '_>, entry: &Entry<'a>) -> Option<Look<'a>> {
    let subject = objects.subject(entry);
    match entry.label() {
        Label::Registrant => whole(entry),
        Label::RegistrantName | Label::RegistrantOrganization => shown(entry),
        Label::RegistrantEmail => hidden(entry),
        Label::Name | Label::Organization | Label::Person if subject == Some(Label::Registrant) => {
            shown(entry)
        }
        Label::Email if subject == Some(Label::Registrant) => hidden(entry),
        // An object of the domain with the registrant's name among its attributes.
        Label::Organization | Label::Person if subject.is_none() => shown(entry),
        _ => None,
    }
}

/// A block or line of the registrant: name, organisation and address, or a handle.
fn whole<'a>(entry: &Entry<'a>) -> Option<Look<'a>> {
    let lines = entry.values.get(..entry.values.len().min(FIRST_LINES)).unwrap_or_default();
    if lines.iter().any(|line| is_privacy(line)) {
        return Some(Look::Hidden);
    }
    match lines {
        [] => None,
        [one] if is_key(one) => Some(Look::Handle(one)),
        [first, ..] if is_nothing(first) => None,
        _ => Some(Look::Shown),
    }
}

fn shown<'a>(entry: &Entry<'a>) -> Option<Look<'a>> {
    let value = entry.values.first()?;
    if is_privacy(value) { Some(Look::Hidden) } else { (!is_nothing(value)).then_some(Look::Shown) }
}

/// An address is no name: it may hide, not show.
fn hidden<'a>(entry: &Entry<'a>) -> Option<Look<'a>> {
    entry.values.first().filter(|value| is_privacy(value)).map(|_| Look::Hidden)
}

/// What the object of this handle shows.
fn behind(objects: &Objects<'_, '_>, handle: &str) -> Option<bool> {
    let object = objects.entries.iter().find(|entry| {
        matches!(entry.label(), Label::Handle | Label::Organization)
            && entry.values.first().is_some_and(|value| value.eq_ignore_ascii_case(handle))
    })?;
    let mut is_shown = false;
    let same = objects.entries.iter().skip_while(|entry| entry.paragraph < object.paragraph);
    for entry in same.take_while(|entry| entry.paragraph == object.paragraph) {
        let Some(value) = entry.values.first().filter(|value| !value.eq_ignore_ascii_case(handle))
        else {
            continue;
        };
        let is_name = matches!(
            entry.label(),
            Label::Name | Label::Organization | Label::Person | Label::Handle
        );
        if (is_name || entry.label() == Label::Email) && is_privacy(value) {
            return Some(true);
        }
        is_shown |= is_name && !is_nothing(value);
    }
    is_shown.then_some(false)
}

/// `GI7803022-NICAT`, `50037928906`: no name.
fn is_key(text: &str) -> bool {
    !text.contains(|char: char| char.is_whitespace() || char == '.')
        && (is_handle(text) || text.contains(|char: char| char.is_ascii_digit()))
}

fn is_nothing(text: &str) -> bool {
    let text = text.trim_matches(|char: char| !char.is_alphanumeric()).to_ascii_lowercase();
    matches!(text.as_str(), "" | "n/a" | "na" | "none" | "null" | "not applicable" | "unknown")
}

/// Of a block: its name, its organisation, and one more.
const FIRST_LINES: usize = 3;
const MOST_HANDLES: usize = 4;
