//! Statuses, in the spelling of EPP (RFC 5731, RFC 3915) where they have one.

use super::label::Label;
use super::object::{Objects, is_contact};
use super::split::head;
use super::words::words;

/// The statuses of the domain, each once, in the order of the answer.
pub(super) fn statuses(objects: &Objects<'_, '_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, entry) in objects.own() {
        let is_status = match entry.label() {
            Label::Status => {
                !objects.is_of_contact(entry) && !objects.heading(entry).is_some_and(is_contact)
            }
            // A state of the union, or a flag of a key, stands in a block.
            Label::State | Label::Flags => entry.block.is_none(),
            _ => false,
        };
        if !is_status {
            continue;
        }
        for status in entry.values.iter().flat_map(|value| split(value)) {
            if found.len() >= MOST {
                return found;
            }
            if !found.contains(&status) {
                found.push(status);
            }
        }
    }
    found
}

/// The statuses of one line, without what explains them.
fn split(value: &str) -> Vec<String> {
    let value = head(value, LONGEST_LINE);
    let stated = value.split(" - ").next().unwrap_or(value);
    let mut bare = String::new();
    let mut depth = 0_u32;
    for char in stated.chars() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => bare.push(char),
            _ => {}
        }
    }
    bare.split([',', ';', '|']).flat_map(|part| part.split(" / ")).filter_map(canonical).collect()
}

/// A status as EPP spells it, else in lower case. `None`: nothing is said.
pub(crate) fn canonical(status: &str) -> Option<String> {
    let status = head(status.trim(), LONGEST);
    // Explanations follow: an address, brackets, " - in other words".
    let end =
        ["http:", "https:", "(", " - ", "#"].iter().filter_map(|mark| status.find(mark)).min();
    let bare = status[..end.unwrap_or(status.len())].trim().trim_end_matches(['.', ';']);
    let words = words(bare, MOST_WORDS + 1);
    // What is longer is prose.
    if words.is_empty() || words.len() > MOST_WORDS {
        return None;
    }
    let squashed = words.concat();
    if let Some(known) = EPP.iter().find(|known| known.eq_ignore_ascii_case(&squashed)) {
        return Some((*known).to_owned());
    }
    let meant = SYNONYMS.iter().find(|(said, _)| squashed.contains(said)).map(|(_, meant)| *meant);
    Some(meant.map_or_else(|| words.join(" "), str::to_owned))
}

const EPP: &[&str] = &[
    "addPeriod",
    "autoRenewPeriod",
    "clientDeleteProhibited",
    "clientHold",
    "clientRenewProhibited",
    "clientTransferProhibited",
    "clientUpdateProhibited",
    "inactive",
    "ok",
    "pendingCreate",
    "pendingDelete",
    "pendingRenew",
    "pendingRestore",
    "pendingTransfer",
    "pendingUpdate",
    "redemptionPeriod",
    "renewPeriod",
    "serverDeleteProhibited",
    "serverHold",
    "serverRenewProhibited",
    "serverTransferProhibited",
    "serverUpdateProhibited",
    "transferPeriod",
];

/// What registries say in words of their own. A longer one stands before its parts.
const SYNONYMS: &[(&str, &str)] = &[
    ("autorenew", "autoRenewPeriod"),
    ("redemption", "redemptionPeriod"),
    ("quarantine", "redemptionPeriod"),
    ("pendingrestore", "pendingRestore"),
    ("pendingdelet", "pendingDelete"),
    ("deletepending", "pendingDelete"),
    ("deletionpending", "pendingDelete"),
    ("deletecandidate", "pendingDelete"),
    ("scheduledfordelet", "pendingDelete"),
    ("tobedeleted", "pendingDelete"),
];

const LONGEST: usize = 96;
const LONGEST_LINE: usize = 1_024;
const MOST_WORDS: usize = 6;
const MOST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_one_spelling() {
        for (said, expected) in [
            ("clientTransferProhibited", "clientTransferProhibited"),
            ("CLIENT TRANSFER PROHIBITED", "clientTransferProhibited"),
            ("client_delete_prohibited", "clientDeleteProhibited"),
            ("client-hold", "clientHold"),
            (
                "clientUpdateProhibited https://icann.org/epp#clientUpdateProhibited",
                "clientUpdateProhibited",
            ),
            (
                "clientUpdateProhibited (https://icann.org/epp#clientUpdateProhibited)",
                "clientUpdateProhibited",
            ),
            ("OK", "ok"),
            ("ok - Normal state.", "ok"),
            ("ok (paid and in zone)", "ok"),
            ("redemption period", "redemptionPeriod"),
            ("REDEMPTION", "redemptionPeriod"),
            ("in quarantine", "redemptionPeriod"),
            ("Pending-Delete", "pendingDelete"),
            ("pending delete restorable", "pendingDelete"),
            ("PENDING DELETION", "pendingDelete"),
            ("auto renew period", "autoRenewPeriod"),
            ("Auto-Renew Grace Period", "autoRenewPeriod"),
            ("NOT AVAILABLE", "not available"),
            ("connect", "connect"),
        ] {
            assert_eq!(canonical(said).as_deref(), Some(expected), "{said}");
        }
        assert_eq!(canonical(" - "), None);
    }
}
