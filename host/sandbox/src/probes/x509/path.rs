//! The paths that a served chain allows, and why the best of them is not good enough.
//!
//! webpki decides whether a chain is trusted ([`super::judge`]); it answers yes or no. Where it
//! says no, this search tells people what is wrong: it walks every path over the certificates at
//! hand, also over expired, badly signed and misused ones, and keeps the one that is nearest to
//! being right.

use std::{cell::RefCell, collections::HashMap};

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use super::{
    certificate::Parsed,
    signature::{Worth, key_parts},
};
use crate::egress::{Anchor, Trust};

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    /// Below a trusted root.
    Anchor,
    /// At a certificate that signed itself and is not trusted.
    SelfSigned,
    /// Below an issuer that nobody has.
    Missing,
}

/// A path from the leaf upwards: indices into the pool.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) chain: Vec<usize>,
    pub(super) end: End,
    /// Name (contents) and key info (contents) of the anchor it ends below.
    pub(super) anchor: Option<(Vec<u8>, Vec<u8>)>,
    /// The first certificate whose signature its issuer did not make.
    pub(super) bad_signature: Option<usize>,
    /// The first whose signature only an algorithm of the past verifies.
    pub(super) weak_signature: Option<usize>,
}

/// Something wrong with a path, other than its end and its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Expired(usize),
    TooEarly(usize),
    NotCa(usize),
    PathLength(usize),
    Purpose(usize),
}

/// The certificates at hand, the leaf first.
pub(super) struct Pool<'a> {
    certificates: &'a [Parsed],
    trust: &'a Trust,
    /// Signatures are dear, and paths share their steps.
    judged: RefCell<HashMap<(usize, usize), Worth>>,
}

impl<'a> Pool<'a> {
    /// `certificates` begins with the leaf.
    pub(super) fn new(certificates: &'a [Parsed], trust: &'a Trust) -> Self {
        Self { certificates, trust, judged: RefCell::default() }
    }

    /// The path that is nearest to being right at the time `at`.
    pub(super) fn best(&self, at: i64) -> Path {
        let mut search = Search { pool: self, at, best: None, steps: 0 };
        search.walk(Path {
            chain: vec![0],
            end: End::Missing,
            anchor: None,
            bad_signature: None,
            weak_signature: None,
        });
        let (_, path) = search.best.expect("the first step of a search always ends a path");
        path
    }

    /// What else is wrong with a path. The self-signed end of an untrusted one is exempt, like a
    /// trusted root, which is not part of the path at all.
    pub(super) fn faults(&self, path: &Path, at: i64) -> Vec<Fault> {
        let mut faults = Vec::new();
        let root = path.end == End::SelfSigned && path.chain.len() > 1;
        let judged = path.chain.len() - usize::from(root);
        for (depth, &index) in path.chain[..judged].iter().enumerate() {
            let certificate = &self.certificates[index];
            if certificate.expired_at(at) {
                faults.push(Fault::Expired(index));
            }
            if certificate.too_early_at(at) {
                faults.push(Fault::TooEarly(index));
            }
            if depth > 0 {
                self.issuer_faults(path, depth, &mut faults);
            }
            if !certificate.purposes.server_auth {
                faults.push(Fault::Purpose(index));
            }
        }
        faults
    }

    fn issuer_faults(&self, path: &Path, depth: usize, faults: &mut Vec<Fault>) {
        let index = path.chain[depth];
        let issuing = self.certificates[index].issuing;
        if !issuing.ca || issuing.cert_sign == Some(false) {
            faults.push(Fault::NotCa(index));
        }
        // RFC 5280 section 4.2.1.9: self-issued certificates do not count, nor does the leaf.
        let below = path.chain[1..depth].iter();
        let below = below.filter(|below| !self.certificates[**below].is_self_issued()).count();
        if issuing.path_length.is_some_and(|limit| below as u64 > u64::from(limit)) {
            faults.push(Fault::PathLength(index));
        }
    }

    fn worth(&self, child: usize, issuer: usize) -> Worth {
        *self.judged.borrow_mut().entry((child, issuer)).or_insert_with(|| {
            self.certificates[child].signed().by(&self.certificates[issuer].key_info)
        })
    }
}

struct Search<'p, 'a> {
    pool: &'p Pool<'a>,
    at: i64,
    best: Option<(Rank, Path)>,
    steps: usize,
}

/// Smaller is nearer to being right: a good signature counts more than a trusted end (a stranger
/// may well have the name of a known root), an end more than dates and flags.
type Rank = (bool, End, bool, usize, usize);

impl Search<'_, '_> {
    fn walk(&mut self, path: Path) {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return;
        }
        let child = *path.chain.last().expect("a path begins with the leaf");
        let certificate = &self.pool.certificates[child];
        let mut ended = true;
        for anchor in self.pool.trust.named(&certificate.issuer) {
            if let Some(step) = self.below_anchor(&path, child, anchor) {
                ended = false;
                self.keep(step);
            }
        }
        if certificate.facts.self_signed {
            self.keep(Path { end: End::SelfSigned, ..path });
            return;
        }
        for issuer in 0..self.pool.certificates.len() {
            if let Some(step) = self.below(&path, child, issuer) {
                ended = false;
                self.walk(step);
            }
        }
        if ended {
            self.keep(path);
        }
    }

    fn below_anchor(&self, path: &Path, child: usize, anchor: Anchor<'_>) -> Option<Path> {
        let certificate = &self.pool.certificates[child];
        let key_info = anchor.root.subject_public_key_info.as_ref();
        let worth = certificate.signed().by(key_info);
        let key_id = anchor.key_id.map(<[u8]>::to_vec).or_else(|| usual_key_id(key_info));
        let step = signed_step(path, child, worth, certificate, key_id.as_deref())?;
        let name = anchor.root.subject.as_ref().to_vec();
        Some(Path { end: End::Anchor, anchor: Some((name, key_info.to_vec())), ..step })
    }

    fn below(&self, path: &Path, child: usize, issuer: usize) -> Option<Path> {
        let (certificate, above) =
            (&self.pool.certificates[child], &self.pool.certificates[issuer]);
        if path.chain.contains(&issuer) || above.subject != certificate.issuer {
            return None;
        }
        let worth = self.pool.worth(child, issuer);
        let mut step = signed_step(path, child, worth, certificate, above.key_id.as_deref())?;
        step.chain.push(issuer);
        Some(step)
    }

    fn keep(&mut self, path: Path) {
        let faults = self.pool.faults(&path, self.at);
        let rank = (
            path.bad_signature.is_some(),
            path.end,
            path.weak_signature.is_some(),
            faults.len(),
            path.chain.len(),
        );
        if self.best.as_ref().is_none_or(|(best, _)| rank < *best) {
            self.best = Some((rank, path));
        }
    }
}

/// A step to an issuer of the right name. A signature that it did not make is a *bad* one only
/// where the key identifiers do not say that another key of that name was meant.
fn signed_step(
    path: &Path,
    child: usize,
    worth: Worth,
    certificate: &Parsed,
    issuer_key_id: Option<&[u8]>,
) -> Option<Path> {
    let mut step = path.clone();
    match worth {
        Worth::Good => {}
        Worth::Weak => step.weak_signature = step.weak_signature.or(Some(child)),
        Worth::Bad => {
            if let (Some(meant), Some(has)) = (&certificate.authority_key_id, issuer_key_id)
                && meant != has
            {
                return None;
            }
            step.bad_signature = step.bad_signature.or(Some(child));
        }
    }
    Some(step)
}

/// RFC 5280 section 4.2.1.2, method 1: SHA-1 of the key bits.
fn usual_key_id(key_info: &[u8]) -> Option<Vec<u8>> {
    let (_, key) = key_parts(key_info)?;
    Some(digest(&SHA1_FOR_LEGACY_USE_ONLY, key).as_ref().to_vec())
}

/// A chain of twenty certificates that all bear one name has more paths than anyone needs.
const MAX_STEPS: usize = 400;
