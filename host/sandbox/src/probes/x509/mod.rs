//! Certificates: read, put in order, and judged.
//!
//! A chain is trusted if a path without a fault leads over what the server sent, in any order and
//! with extras ignored, to a trusted root; if there is none, the path that is closest to being
//! right says what is wrong ([`search`]). The rules are those of RFC 5280 section 6 as browsers
//! apply them ([`path`], [`constraints`]); signatures are verified by the algorithms that rustls
//! trusts ([`signature`]). Reading a certificate depends on none of this: what was refused is shown
//! like the rest.
//!
//! *Invariant:* a fetched issuer never makes a chain valid; it only tells that one would.

mod aia;
mod certificate;
mod constraints;
mod extensions;
mod hostname;
mod judge;
mod key;
mod links;
mod name;
mod ocsp;
mod path;
mod search;
mod signature;

use vedette_model::domain_name::Target;

pub(crate) use signature::{KeySize, key_size};

use super::Reach;
use crate::egress::Trust;
use certificate::Parsed;
use constraints::Allowance;
use links::Signatures;

/// The facts of one certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// RFC 4514, like `issuer`.
    pub subject: String,
    pub issuer: String,
    pub issuer_cn: Option<String>,
    pub issuer_org: Option<String>,
    /// Lower-case hex, as are the hashes.
    pub serial: String,
    /// Unix seconds; may lie in the year 9999.
    pub not_before: i64,
    pub not_after: i64,
    /// Lower-case A-labels in the order of the certificate, each once.
    pub san_dns: Vec<String>,
    pub san_ip: Vec<String>,
    /// E.g. `sha256WithRSAEncryption`.
    pub signature_algorithm: String,
    /// `RSA`, `EC`, `Ed25519`, `Ed448`, `DSA`, else an OID.
    pub key_algorithm: String,
    pub key_bits: u32,
    pub sha256: String,
    pub spki_sha256: String,
    /// Without SCT list and poison: equal for a precertificate and its certificate.
    pub tbs_sha256: String,
    pub is_ca: bool,
    pub self_signed: bool,
    /// Part of the path to a trusted root, whatever the dates say.
    pub in_trust_path: bool,
    pub has_ocsp_url: bool,
    pub must_staple: bool,
    pub sct_count: u32,
}

/// Facts about the chain. Each stands for itself: an expired certificate may be trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// A path of good signatures leads from what was sent to a trusted root.
    pub trusted: bool,
    /// No issuer is missing, apart from trust.
    pub chain_complete: bool,
    pub hostname_matches: bool,
    /// Leaf and path intermediates, both ends inclusive.
    pub time_valid: bool,
    /// Made for servers, by extended key usage (all of the path) and key usage (the leaf).
    pub purpose_valid: bool,
    /// What the missing issuer is called.
    pub missing_issuer: Option<String>,
    /// The missing issuer could be fetched, and the chain then leads to a trusted root with nothing
    /// wrong on the way.
    pub completed_by_aia: bool,
    /// The first problem: `malformed_certificate`, `certificate_expired`,
    /// `certificate_not_yet_valid`, `hostname_mismatch`, `certificate_revoked`,
    /// `self_signed_certificate`, `untrusted_root`, `incomplete_chain`, `bad_signature`,
    /// `invalid_purpose`, `weak_key`. None = valid.
    pub error: Option<String>,
    /// What is wrong with the chain, as one sentence that names the certificate.
    pub chain_error: Option<String>,
}

/// What a chain turned out to be. `ocsp_staple`: `good`, `revoked`, `unknown`, `stale` or
/// `invalid`; none = there was no staple. One that is `stale` may still have revoked the leaf, which
/// then is the `error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// As served, the first twenty. A certificate that cannot be read has its hash and nothing
    /// else.
    pub chain: Vec<Certificate>,
    pub verification: Verification,
    pub ocsp_staple: Option<String>,
}

/// What to examine.
#[derive(Clone, Debug)]
pub struct ExamineRequest {
    /// DER, leaf first as served.
    pub chain: Vec<Vec<u8>>,
    pub server_name: String,
    /// Unix seconds.
    pub at: i64,
    pub staple: Option<Vec<u8>>,
    /// May a missing issuer that the certificate names be fetched, through the egress layer?
    pub complete: bool,
}

/// Examines a chain. Fails only where there is nothing to examine.
pub async fn examine(reach: Reach, request: ExamineRequest) -> Result<Examination, String> {
    let egress = reach.egress.clone();
    let mut case = Case::read(&request)?;
    if request.complete && case.leaf().is_some() {
        case.fetched = aia::fetch(&reach, &case, egress.trust()).await;
    }
    Ok(case.decide(egress.trust()))
}

/// What a name (its contents) is compared by.
pub(crate) fn comparable(name: &[u8]) -> Vec<u8> {
    name::Name(name).comparable()
}

/// Whether the key usage of a leaf lets its key do what some handshake asks of a server's. A
/// certificate that cannot be read forbids nothing.
pub(crate) fn may_serve(leaf: &[u8]) -> bool {
    Parsed::read(leaf).is_none_or(|leaf| leaf.purposes.handshake)
}

/// Examines a chain without a network: the judgement of a file.
pub fn examine_offline(trust: &Trust, request: &ExamineRequest) -> Result<Examination, String> {
    Case::read(request).map(|case| case.decide(trust))
}

/// A chain that was read, and the question about it.
struct Case {
    /// As served, as far as it is shown; none where one cannot be read.
    served: Vec<Option<Parsed>>,
    hashes: Vec<String>,
    /// What could be read and may lead somewhere, the leaf first, each once.
    pool: Vec<Parsed>,
    /// Issuers that were not served.
    fetched: Vec<Parsed>,
    /// For all searches together.
    comparisons: Allowance,
    signatures: Signatures,
    reference: Option<Target>,
    at: i64,
    staple: Option<Vec<u8>>,
}

impl Case {
    fn read(request: &ExamineRequest) -> Result<Self, String> {
        if request.chain.is_empty() {
            return Err("there is no certificate".to_owned());
        }
        if request.chain.iter().map(Vec::len).sum::<usize>() > MAX_CHAIN {
            return Err(format!("the chain is larger than {MAX_CHAIN} bytes"));
        }
        let (shown, beyond) = request.chain.split_at(request.chain.len().min(MAX_SHOWN));
        let signatures = Signatures::default();
        let read = |der: &Vec<u8>| Some(Parsed::read(der)?.in_chain(&signatures));
        let served: Vec<_> = shown.iter().map(read).collect();
        let beyond = beyond.iter().filter_map(|der| Parsed::read(der));
        Ok(Self {
            hashes: shown.iter().map(|der| certificate::sha256(der)).collect(),
            pool: pool(served.iter().flatten().cloned().chain(beyond).collect(), &signatures),
            fetched: Vec::new(),
            comparisons: Allowance::new(MAX_COMPARED),
            signatures,
            reference: Target::parse_local(&request.server_name).ok(),
            at: request.at,
            staple: request.staple.clone(),
            served,
        })
    }

    /// The leaf, where it can be read.
    fn leaf(&self) -> Option<&Parsed> {
        self.served.first()?.as_ref()
    }
}

/// The certificates to search, each once and the first of them first: then those that the names of
/// issuers lead to from there, then others, above which a fetched issuer may come to lie.
fn pool(sent: Vec<Parsed>, signatures: &Signatures) -> Vec<Parsed> {
    let mut sent = sent.into_iter();
    let mut pool: Vec<Parsed> = sent.next().into_iter().collect();
    let mut others: Vec<Parsed> = sent.collect();
    let mut below = 0;
    while let Some(child) = pool.get(below) {
        let (above, rest) = others.into_iter().partition(|other| other.known_as == child.issued_by);
        others = rest;
        add(&mut pool, above, signatures);
        below += 1;
    }
    add(&mut pool, others, signatures);
    pool
}

fn add(pool: &mut Vec<Parsed>, certificates: Vec<Parsed>, signatures: &Signatures) {
    for certificate in certificates {
        if pool.len() == MAX_SEARCHED {
            return;
        }
        if !pool.iter().any(|known| known.der == certificate.der) {
            pool.push(certificate.in_chain(signatures));
        }
    }
}

/// More than any server needs; what is beyond is not shown.
const MAX_SHOWN: usize = 20;
/// Far more than a path has: what bears the name of a needed issuer comes first.
const MAX_SEARCHED: usize = 40;
/// A leaf with thousands of names is legal.
const MAX_CHAIN: usize = 256 * 1024;
/// In octets: ten thousand names below a CA with fifty constraints, in three searches.
const MAX_COMPARED: usize = 64 << 20;
