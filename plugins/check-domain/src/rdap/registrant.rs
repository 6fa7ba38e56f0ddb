//! Whether the registrant is hidden.
//!
//! RFC 9537 lists what was redacted; older servers say so in remarks or in place of the name; and
//! privacy services are a registrant like any other, but for their name.

use serde::Deserialize;

use super::{
    json::{self, Raw},
    object::Entity,
};
use crate::privacy;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Redaction<'a> {
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    pre_path: Raw<'a>,
    #[serde(borrow)]
    post_path: Raw<'a>,
    #[serde(borrow)]
    replacement_path: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named<'a> {
    #[serde(borrow)]
    description: Raw<'a>,
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Remark<'a> {
    #[serde(borrow)]
    title: Raw<'a>,
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    description: Raw<'a>,
}

/// True: hidden; false: a name or an organisation is shown; none: nothing is said of a registrant.
pub(super) fn is_protected(entities: &[Entity<'_>], redacted: Raw<'_>) -> Option<bool> {
    let redactions = json::items(redacted).into_iter().take(MAX_REDACTIONS);
    if redactions.map(json::object::<Redaction<'_>>).any(|redaction| redaction.hides_registrant()) {
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

impl Redaction<'_> {
    /// Who it is, or how to reach it; a telephone number or a street says little beside a name.
    fn hides_registrant(&self) -> bool {
        let name: Named<'_> = json::object(self.name);
        let paths = [self.pre_path, self.post_path, self.replacement_path];
        let named = [name.description, name.kind].into_iter().find_map(json::text);
        let said = named.or_else(|| paths.into_iter().find_map(json::text)).unwrap_or_default();
        let said = said.to_ascii_lowercase();
        said.contains("registrant") && !MINOR.iter().any(|minor| said.contains(minor))
    }
}

fn says_hidden(registrant: &Entity<'_>) -> bool {
    json::items(registrant.remarks).into_iter().take(MAX_REMARKS).any(|raw| {
        let remark: Remark<'_> = json::object(raw);
        let mut said =
            [remark.title, remark.kind].into_iter().filter_map(json::text).collect::<Vec<_>>();
        said.extend(json::texts(remark.description));
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
