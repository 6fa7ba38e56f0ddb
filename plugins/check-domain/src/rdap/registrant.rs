//! Whether the registrant is hidden.
//!
//! RFC 9537 lists what was redacted; older servers say so in remarks or in place of the name; and a
//! privacy service is a registrant like any other, except for its name.

use super::{
    json::{self, Raw},
    object::Entity,
};
use crate::privacy;

/// True: hidden; false: a name or an organisation is shown; none: nothing is said about a
/// registrant.
pub(super) fn is_protected(entities: &[Entity<'_>], redacted: Raw<'_>) -> Option<bool> {
    let mut redactions = json::items(redacted).into_iter().take(MAX_REDACTIONS);
    if redactions.any(hides_registrant) {
        return Some(true);
    }
    let registrant = entities.iter().find(|entity| entity.has_role("registrant"))?;
    let shown = ["fn", "org", "email"].map(|property| registrant.vcard(property));
    let is_marked = json::texts(registrant.status).iter().any(|status| is_hiding_status(status));
    if is_marked || says_hidden(registrant) || shown.iter().flatten().any(|s| is_privacy(s)) {
        return Some(true);
    }
    let [name, organisation, _] = shown;
    (name.is_some() || organisation.is_some()).then_some(false)
}

/// Who it is, or how to reach it; a telephone number or a street says little beside a name.
fn hides_registrant(redaction: Raw<'_>) -> bool {
    let [name, pre_path, post_path, replacement_path] =
        json::members(redaction, ["name", "prePath", "postPath", "replacementPath"]);
    let named = json::members(name, ["description", "type"]).into_iter().find_map(json::text);
    let mut paths = [pre_path, post_path, replacement_path].into_iter();
    let said = named.or_else(|| paths.find_map(json::text)).unwrap_or_default();
    let said = said.to_ascii_lowercase();
    said.contains("registrant") && !MINOR.iter().any(|minor| said.contains(minor))
}

fn says_hidden(registrant: &Entity<'_>) -> bool {
    json::items(registrant.remarks).into_iter().take(MAX_REMARKS).any(|raw| {
        let [title, kind, description] = json::members(raw, ["title", "type", "description"]);
        let mut said = [title, kind].into_iter().filter_map(json::text).collect::<Vec<_>>();
        said.extend(json::texts(description));
        said.iter().any(|text| is_privacy(text) || is_truncation(text))
    })
}

/// RFC 9083, 10.2.1.
fn is_truncation(text: &str) -> bool {
    text.to_ascii_lowercase().contains("truncated due to authorization")
}

/// RFC 9083, 10.2.2.
fn is_hiding_status(status: &str) -> bool {
    ["private", "proxy", "removed", "obscured"].iter().any(|s| status.eq_ignore_ascii_case(s))
}

/// Some say `NOT REDACTED FOR PRIVACY`.
fn is_privacy(text: &str) -> bool {
    let denied = text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("not "));
    !denied && privacy::is_privacy(text)
}

/// What is redacted of registrants that are shown, too.
const MINOR: &[&str] = &[
    "phone", "fax", "tel", "voice", "street", "city", "postal", "state", "province", "country",
    "adr", "handle", " id", " ext",
];
const MAX_REDACTIONS: usize = 256;
const MAX_REMARKS: usize = 64;
