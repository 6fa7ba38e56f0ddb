//! The grade of a server's TLS: SSL Labs' rating guide (2009r, May 2025) put into six letters.
//! A- becomes A; E, T (not trusted) and M (other name) become F. Nothing is claimed that hellos
//! cannot show: no flaw of an implementation is looked for.
//!
//! [`of`] sums up a run into [`Facts`]; [`Facts::grade`] is a table over them.
//!
//! *Invariant:* pure. *Invariant:* what is not known makes no grade, rather than a guess.

mod evidence;
mod rules;
mod score;

#[cfg(test)]
mod tests;

pub(crate) use evidence::{Evidence, of};

use crate::result::Grade;

/// What the rules look at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Facts {
    trust: Trust,
    /// MD2, MD5 or SHA-1 on the leaf or on an issuer below the root.
    dated_signature: bool,
    /// The leaf's.
    key: Key,
    /// The weakest key among the leaf and the issuers below the root.
    weakest_key: Key,
    /// Oldest and newest accepted version.
    oldest: u16,
    newest: u16,
    /// Effective bits of the weakest and the strongest accepted suite.
    weakest: u32,
    strongest: u32,
    /// Bits of the smallest Diffie-Hellman group that was used.
    group: Option<u32>,
    /// A suite without encryption or certificate, of the export age, with DES or RC2.
    worthless_suite: bool,
    rc4: Rc4,
    /// SSL 3.0 with a block cipher.
    ssl3_with_blocks: bool,
    /// A block cipher of 64 bits, chosen where better was offered.
    short_blocks_chosen: bool,
    compression: bool,
    /// A version that renegotiates unsafely.
    unsafe_renegotiation: bool,
    /// TLS 1.2 goes without forward secrecy.
    rsa_exchange_chosen: bool,
    aead_chosen: bool,
    /// Seconds that browsers will insist on TLS; none without a valid header.
    hsts: Option<u64>,
}

/// Whether browsers accept the certificate, apart from keys and signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    Good,
    /// An issuer is missing that clients could fetch.
    Completable,
    Bad,
}

/// A public key on the scale of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// RSA, DSA and DH: bits of the modulus or prime.
    Modular(u32),
    /// Elliptic curves: bits of the curve.
    Curve(u32),
}

/// Where RC4 is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rc4 {
    No,
    /// In TLS 1.0 or SSL 3.0 alone.
    Old,
    /// Where better ciphers exist: since TLS 1.1.
    Modern,
    /// And nothing else.
    Only,
}

impl Facts {
    /// By points, cut by the lowest of the caps that apply.
    fn grade(&self) -> Grade {
        let best = score::letter(score::points(self));
        rules::CAPS
            .iter()
            .filter(|rule| (rule.applies)(self))
            .map(|rule| rule.cap)
            .fold(best, Grade::min)
    }
}
