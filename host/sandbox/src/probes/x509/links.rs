//! Who signed whom among the certificates at hand and the trusted roots.
//!
//! *Invariant:* whatever the certificates claim, a bounded number of signatures is verified, in all
//! searches of an examination together.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;

use super::{
    certificate::{Parsed, sha256},
    signature::{Worth, usual_key_id},
};
use crate::egress::{Anchor, Trust};

/// The signatures of certificates that an examination has verified, each once: by the hashes of the
/// certificate and of the key.
#[derive(Default)]
pub(super) struct Signatures(Mutex<HashMap<(String, String), Worth>>);

/// An issuer of a certificate, by name and key, and what its signature is worth.
#[derive(Clone, Copy)]
pub(super) struct Link<'a> {
    pub(super) issuer: Issuer<'a>,
    pub(super) worth: Worth,
}

#[derive(Clone, Copy)]
pub(super) enum Issuer<'a> {
    /// Index into the pool.
    Sent(usize),
    Root(Anchor<'a>),
}

/// What the key identifiers say of an issuer; a hint only (RFC 5280 section 4.2.1.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hint {
    SameKey,
    Nothing,
    OtherKey,
}

/// A certificate or root that bears the name of an issuer.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    issuer: Issuer<'a>,
    key_info: &'a [u8],
    hint: Hint,
}

impl Signatures {
    /// What a certificate's signature is worth, judged against a key; none where too many others
    /// have been verified.
    pub(super) fn worth(&self, certificate: &Parsed, key_info: &[u8]) -> Option<Worth> {
        let mut known = self.0.lock();
        let pair = (certificate.facts.sha256.clone(), sha256(key_info));
        if let Some(worth) = known.get(&pair) {
            return Some(*worth);
        }
        if known.len() == MAX_SIGNATURES {
            return None;
        }
        let worth = certificate.signed_by(key_info);
        known.insert(pair, worth);
        Some(worth)
    }
}

/// The links of each certificate that the first one leads to; the others have none.
pub(super) fn links<'a>(
    certificates: &'a [Parsed],
    trust: &'a Trust,
    signatures: &Signatures,
) -> Vec<Vec<Link<'a>>> {
    let mut links: Vec<Option<Vec<Link<'a>>>> = vec![None; certificates.len()];
    let mut queue = VecDeque::from([0]);
    while let Some(child) = queue.pop_front() {
        if links[child].is_some() {
            continue;
        }
        let candidates = candidates(certificates, trust, child);
        let found = signers(&certificates[child], candidates, signatures);
        queue.extend(found.iter().filter_map(|link| match link.issuer {
            Issuer::Sent(above) => Some(above),
            Issuer::Root(_) => None,
        }));
        links[child] = Some(found);
    }
    links.into_iter().map(Option::unwrap_or_default).collect()
}

/// In the order in which they are worth trying.
fn candidates<'a>(
    certificates: &'a [Parsed],
    trust: &'a Trust,
    child: usize,
) -> Vec<Candidate<'a>> {
    let certificate = &certificates[child];
    let roots = trust.named(&certificate.issued_by).map(|root| {
        let key_info = root.root.subject_public_key_info.as_ref();
        let hint = hint_of_root(certificate, root, key_info);
        Candidate { issuer: Issuer::Root(root), key_info, hint }
    });
    let sent = certificates.iter().enumerate().filter(|(index, above)| {
        // A certificate that signed itself is the end of its path, not its own issuer.
        *index != child && above.known_as == certificate.issued_by
    });
    let sent = sent.map(|(index, above)| Candidate {
        issuer: Issuer::Sent(index),
        key_info: &above.key_info,
        hint: hint(certificate, above.key_id.as_deref()),
    });
    let mut candidates: Vec<_> = roots.chain(sent).collect();
    candidates.sort_by_key(|candidate| candidate.hint);
    candidates
}

/// A signature is made with one key: where one is found that verifies it, no other counts. Where
/// none is, the signature is a *bad* one of those that may have been meant.
fn signers<'a>(
    certificate: &Parsed,
    candidates: Vec<Candidate<'a>>,
    signatures: &Signatures,
) -> Vec<Link<'a>> {
    let mut worths: HashMap<&[u8], Worth> = HashMap::new();
    for candidate in &candidates {
        if worths.contains_key(candidate.key_info) {
            continue;
        }
        let Some(worth) = signatures.worth(certificate, candidate.key_info) else { continue };
        worths.insert(candidate.key_info, worth);
        if worth == Worth::Good {
            break;
        }
    }
    let best = worths.values().copied().min().unwrap_or(Worth::Bad);
    let link = |candidate: Candidate<'a>| {
        let worth = *worths.get(candidate.key_info)?;
        let meant = worth != Worth::Bad || candidate.hint != Hint::OtherKey;
        (worth == best && meant).then_some(Link { issuer: candidate.issuer, worth })
    };
    candidates.into_iter().filter_map(link).collect()
}

fn hint(child: &Parsed, issuer_key_id: Option<&[u8]>) -> Hint {
    match (child.authority_key_id.as_deref(), issuer_key_id) {
        (Some(meant), Some(has)) if meant == has => Hint::SameKey,
        (Some(_), Some(_)) => Hint::OtherKey,
        _ => Hint::Nothing,
    }
}

fn hint_of_root(child: &Parsed, root: Anchor<'_>, key_info: &[u8]) -> Hint {
    if root.key_id.is_some() || child.authority_key_id.is_none() {
        return hint(child, root.key_id);
    }
    hint(child, usual_key_id(key_info).as_deref())
}

/// Forty certificates that all bear one name could ask for 1600, at up to a millisecond. Sixty, of
/// those shown and those searched, may have to tell whether they signed themselves.
const MAX_SIGNATURES: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_examination_verifies_so_many_signatures_and_each_once() {
        let params = rcgen::CertificateParams::new(["site.example".to_owned()]).unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = Parsed::read(params.self_signed(&key).unwrap().der()).unwrap();
        let signatures = Signatures::default();
        for number in 1..MAX_SIGNATURES {
            let stranger = number.to_be_bytes();
            assert_eq!(signatures.worth(&certificate, &stranger), Some(Worth::Bad));
        }
        for _ in 0..2 {
            let own = signatures.worth(&certificate, &certificate.key_info);
            assert_eq!(own, Some(Worth::Good), "the last, and remembered");
        }
        assert_eq!(signatures.worth(&certificate, b"one more"), None);
        let certificate = certificate.in_chain(&signatures);
        assert!(certificate.facts.self_signed, "known already");
    }
}
