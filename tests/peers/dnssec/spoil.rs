//! What can go wrong with a zone after it was signed.

#![allow(clippy::ptr_arg, reason = "all are of one type")]

use super::signing::Line;

pub(crate) type Spoil = fn(&mut Vec<Line>);

pub(crate) fn nothing(_: &mut Vec<Line>) {}

/// The addresses lose their signature.
pub(crate) fn unsigned_addresses(lines: &mut Vec<Line>) {
    lines.retain(|line| !(line.is_signature() && line.covers() == "A"));
}

/// Nothing is signed any more besides the keys.
pub(crate) fn unsigned_data(lines: &mut Vec<Line>) {
    lines.retain(|line| !line.is_signature() || line.covers() == "DNSKEY");
}

/// Somebody changes an address.
pub(crate) fn other_address(lines: &mut Vec<Line>) {
    for line in lines.iter_mut().filter(|line| line.rtype == "A") {
        line.data = "127.0.0.66".to_owned();
    }
}

/// Somebody adds an address to a signed set.
pub(crate) fn one_more_address(lines: &mut Vec<Line>) {
    let more = lines.iter().find(|line| line.rtype == "A").cloned();
    lines.extend(more.map(|line| Line { data: "127.0.0.66".to_owned(), ..line }));
}

/// A signature of the right form that nobody made.
pub(crate) fn forged_signature(lines: &mut Vec<Line>) {
    for line in lines.iter_mut().filter(|line| line.is_signature() && line.covers() == "A") {
        let at = line.data.rfind('.').map_or(0, |dot| dot + 2);
        let (head, signature) = line.data.split_at(at);
        // The last letter may have bits to spare, which have to be zero: it stays.
        let (first, rest) = signature.split_at(signature.len().min(8));
        let turned: String = first.chars().map(turn).collect();
        line.data = format!("{head}{turned}{rest}");
    }
}

/// The signature says that a neighbour made it.
pub(crate) fn foreign_signer(lines: &mut Vec<Line>) {
    for line in lines.iter_mut().filter(|line| line.is_signature() && line.covers() == "TXT") {
        let mut words: Vec<&str> = line.data.split(' ').collect();
        if let Some(signer) = words.get_mut(7) {
            *signer = "well-p256.example.";
        }
        line.data = words.join(" ");
    }
}

pub(crate) fn no_keys(lines: &mut Vec<Line>) {
    lines.retain(|line| line.covers() != "DNSKEY");
}

/// Nothing proves what does not exist.
pub(crate) fn no_denial(lines: &mut Vec<Line>) {
    lines.retain(|line| !matches!(line.covers(), "NSEC" | "NSEC3"));
}

/// The proof is there, its signature is not.
pub(crate) fn unsigned_denial(lines: &mut Vec<Line>) {
    lines.retain(|line| !(line.is_signature() && matches!(line.covers(), "NSEC" | "NSEC3")));
}

/// Nothing proves that no closer name stands before the wildcard.
pub(crate) fn no_denial_at_wildcard(lines: &mut Vec<Line>) {
    lines.retain(|line| !(line.covers() == "NSEC" && line.owner.starts_with("*.")));
}

/// Nothing proves that the child was delegated without keys.
pub(crate) fn no_denial_at_child(lines: &mut Vec<Line>) {
    lines.retain(|line| !(line.covers() == "NSEC" && line.owner.starts_with("child.")));
}

/// Another letter of the same alphabet; the case of a letter is one of its bits.
fn turn(letter: char) -> char {
    match letter {
        'a'..='z' => letter.to_ascii_uppercase(),
        'A'..='Z' => letter.to_ascii_lowercase(),
        other => other,
    }
}
