//! Paths over the certificates at hand, and what is wrong with one.

use std::{cell::RefCell, collections::HashMap};

use rustls_pki_types::TrustAnchor;

use super::{
    certificate::Parsed,
    constraints::{Allowance, Constraints},
    links::{Link, Signatures, links},
    search,
    signature::Worth,
};
use crate::egress::Trust;

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
pub(super) struct Path<'a> {
    pub(super) chain: Vec<usize>,
    pub(super) end: End,
    /// The root it ends below.
    pub(super) anchor: Option<&'a TrustAnchor<'static>>,
    /// The first certificate whose signature its issuer did not make.
    pub(super) bad_signature: Option<usize>,
    /// The first whose signature only an algorithm of the past verifies.
    pub(super) weak_signature: Option<usize>,
}

/// Something wrong with a path, other than its end and its signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Expired(usize),
    TooEarly(usize),
    NotCa(usize),
    PathLength(usize),
    /// The names that this certificate, or the root, constrains.
    Constraints(Option<usize>),
    Purpose(usize),
    /// The certificate has an [`Obstacle`](super::extensions::Obstacle).
    Obstacle(usize),
}

/// The certificates at hand, the leaf first, and the moment they are judged at.
pub(super) struct Pool<'a> {
    pub(super) certificates: &'a [Parsed],
    at: i64,
    /// Of each certificate, the issuers it may have.
    pub(super) links: Vec<Vec<Link<'a>>>,
    /// By their place in memory.
    constraints: RefCell<HashMap<usize, Known<'a>>>,
    comparisons: &'a Allowance,
}

/// Constraints, none where they cannot be read, and whether they allow the names of a certificate.
struct Known<'a> {
    constraints: Option<Constraints<'a>>,
    allowed: HashMap<usize, bool>,
}

impl<'a> Pool<'a> {
    /// `certificates` begins with the leaf.
    pub(super) fn new(
        certificates: &'a [Parsed],
        trust: &'a Trust,
        at: i64,
        comparisons: &'a Allowance,
        signatures: &Signatures,
    ) -> Self {
        Self {
            certificates,
            at,
            links: links(certificates, trust, signatures),
            constraints: RefCell::default(),
            comparisons,
        }
    }

    /// The path that is nearest to being right.
    pub(super) fn best(&self) -> Path<'a> {
        search::best(self)
    }

    /// What else is wrong with a path. The self-signed end of an untrusted one is exempt, like a
    /// trusted root, which is not part of the path at all.
    pub(super) fn faults(&self, path: &Path<'a>) -> Vec<Fault> {
        let mut faults = Vec::new();
        let root = path.end == End::SelfSigned && path.chain.len() > 1;
        let judged = &path.chain[..path.chain.len() - usize::from(root)];
        for (depth, &index) in judged.iter().enumerate() {
            let certificate = &self.certificates[index];
            if certificate.expired_at(self.at) {
                faults.push(Fault::Expired(index));
            }
            if certificate.too_early_at(self.at) {
                faults.push(Fault::TooEarly(index));
            }
            if certificate.obstacle.is_some() {
                faults.push(Fault::Obstacle(index));
            }
            if depth > 0 {
                self.issuer_faults(&judged[..depth], index, &mut faults);
            }
            let purposes = certificate.purposes;
            if !purposes.server_auth || (depth == 0 && !purposes.handshake) {
                faults.push(Fault::Purpose(index));
            }
        }
        let constraints = path.anchor.and_then(|anchor| anchor.name_constraints.as_deref());
        if constraints.is_some_and(|constraints| !self.allow(constraints, judged)) {
            faults.push(Fault::Constraints(None));
        }
        faults
    }

    fn issuer_faults(&self, below: &[usize], index: usize, faults: &mut Vec<Fault>) {
        let Parsed { issuing, constraints, .. } = &self.certificates[index];
        if !issuing.ca || issuing.cert_sign == Some(false) {
            faults.push(Fault::NotCa(index));
        }
        // RFC 5280 section 4.2.1.9: self-issued certificates do not count, nor does the leaf.
        let counted =
            below[1..].iter().filter(|below| !self.certificates[**below].is_self_issued());
        let counted = counted.count();
        if issuing.path_length.is_some_and(|limit| counted as u64 > u64::from(limit)) {
            faults.push(Fault::PathLength(index));
        }
        if constraints.as_deref().is_some_and(|constraints| !self.allow(constraints, below)) {
            faults.push(Fault::Constraints(Some(index)));
        }
    }

    /// Whether constraints allow the names of all that is below them. RFC 5280 section 6.1.3 (b):
    /// self-issued certificates are not bound by them, save for the leaf.
    fn allow(&self, constraints: &'a [u8], below: &[usize]) -> bool {
        let mut known = self.constraints.borrow_mut();
        let read =
            || Known { constraints: Constraints::read(constraints), allowed: HashMap::new() };
        let Known { constraints, allowed } =
            known.entry(constraints.as_ptr().addr()).or_insert_with(read);
        let mut bound = below
            .iter()
            .enumerate()
            .filter(|(depth, index)| *depth == 0 || !self.certificates[**index].is_self_issued());
        bound.all(|(_, index)| {
            *allowed.entry(*index).or_insert_with(|| {
                let names = &self.certificates[*index];
                constraints.as_ref().is_some_and(|known| known.allow(names, self.comparisons))
            })
        })
    }
}

impl Path<'_> {
    /// The certificate that the path has come to.
    pub(super) fn top(&self) -> usize {
        *self.chain.last().expect("a path begins with the leaf")
    }

    /// The path with a word about the signature on its top.
    pub(super) fn signed(&self, worth: Worth) -> Self {
        let (mut step, top) = (self.clone(), self.top());
        match worth {
            Worth::Good => {}
            Worth::Weak => step.weak_signature = step.weak_signature.or(Some(top)),
            Worth::Bad => step.bad_signature = step.bad_signature.or(Some(top)),
        }
        step
    }
}
