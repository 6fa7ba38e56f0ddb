//! A certificate that took another's place.

use serde::Serialize;
use vedette_sdk::{Finding, text::cut};

use super::{memory::Leaf, seen::Seen, wording};
use crate::{error, events, result::SslResult};

/// Of the issuer in the history, in characters.
const MAX_ISSUER: usize = 256;

/// Kinds of change, by precedence: another issuer hides other names, and those hide other dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChangeType {
    IssuerChange,
    SanChange,
    /// Same names and issuer, later expiry.
    Renewal,
    Replacement,
}

#[derive(Debug, PartialEq)]
pub(super) struct Change {
    pub(super) kind: ChangeType,
    pub(super) before: Leaf,
    fingerprint: String,
    /// The same names, a later end and the same authority: what a renewal is, were it not for the
    /// intermediate.
    is_from_sibling: bool,
}

/// The record that the certificate history keeps (spec: Certificate history result). It changed
/// when it was seen, which the host knows to the millisecond and a verdict to the second.
#[derive(Serialize)]
struct Details<'a> {
    fingerprint: &'a str,
    change_type: ChangeType,
    issuer: &'a str,
}

impl ChangeType {
    pub(super) fn between(before: &Leaf, after: &Leaf) -> Self {
        if !before.has_issuer_of(after) {
            Self::IssuerChange
        } else if before.names != after.names {
            Self::SanChange
        } else if after.expires_at > before.expires_at {
            Self::Renewal
        } else {
            Self::Replacement
        }
    }
}

impl Change {
    pub(super) fn new(before: &Leaf, after: &Leaf) -> Self {
        let kind = ChangeType::between(before, after);
        Self {
            kind,
            before: before.clone(),
            fingerprint: after.fingerprint.clone(),
            is_from_sibling: kind == ChangeType::IssuerChange
                && before.has_authority_of(after)
                && before.names == after.names
                && after.expires_at > before.expires_at,
        }
    }

    /// Whether another intermediate of the same authority renewed the certificate. Anybody can write
    /// an authority's name into a certificate; one that is valid comes from there.
    pub(super) fn is_renewal_by_sibling(&self, current: &SslResult) -> bool {
        self.is_from_sibling && current.valid
    }

    /// The change, and for a renewal that worked the good news (decisions: renewal, of the same
    /// issuer). `settled`: the last settled result, which may show the certificate before in full;
    /// `last`: how that one was found.
    pub(super) fn findings(
        &self,
        current: &SslResult,
        settled: Option<&SslResult>,
        last: Option<&Seen>,
        now: i64,
    ) -> Vec<Finding> {
        let settled = settled.filter(|s| s.fingerprint() == Some(&self.before.fingerprint));
        let details = Details {
            fingerprint: &self.fingerprint,
            change_type: self.kind,
            issuer: &cut(&current.issuer, MAX_ISSUER),
        };
        let message = wording::changed(self, current, settled, now);
        let by_sibling = self.is_renewal_by_sibling(current);
        let means = if by_sibling { ChangeType::Renewal } else { self.kind };
        let changed = Finding::new(&events::CHANGED, self.fingerprint.clone(), message)
            .suggestion(wording::after_change(means))
            .details(&details);
        let renewed = (self.kind == ChangeType::Renewal && worked(current, last))
            .then(|| wording::renewed(current, &self.fingerprint, now));
        renewed.into_iter().chain([changed]).collect()
    }
}

/// Whether a renewal did what it was for: it brought a valid certificate, or one that has no fault
/// that was not there before. A self-signed certificate can be renewed, too.
fn worked(current: &SslResult, last: Option<&Seen>) -> bool {
    let still_wrong = current.error.as_deref().filter(|token| *token != error::EXPIRED);
    let was_wrong = last.and_then(|last| last.problem.as_deref());
    current.valid || (still_wrong.is_some() && still_wrong == was_wrong)
}
