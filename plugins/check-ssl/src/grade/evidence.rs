//! From what a run saw to what the rules look at.

use vedette_sdk::x509::{Certificate, Examination};

use super::{Facts, Key, Rc4, Trust};
use vedette_sdk::client_hello::{SSL3, TLS11, TLS13};

use crate::{
    error,
    hello::{Answers, Flight, Hello},
    result::{Grade, Hsts, SslResult},
    suites::{self, Cipher, Exchange, Mode, Suite},
};

/// What a run saw.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'a> {
    /// Version and suite of the finished handshake; none where there was none.
    pub(crate) negotiated: Option<(u16, u16)>,
    pub(crate) answers: &'a Answers,
    pub(crate) seen: &'a Examination,
    /// What the certificate was found to be worth.
    pub(crate) result: &'a SslResult,
    pub(crate) hsts: Option<&'a Hsts>,
}

/// The grade; none when the certificate or the suites are not known well enough.
pub(crate) fn of(evidence: &Evidence<'_>) -> Option<Grade> {
    evidence.facts().map(|facts| facts.grade())
}

impl Evidence<'_> {
    pub(super) fn facts(&self) -> Option<Facts> {
        if !self.answers.tell_anything() {
            return None;
        }
        let versions = || {
            let answered = self.answers.flights().map(|(_, flight)| flight.version);
            answered.chain(self.negotiated.map(|(version, _)| version))
        };
        let bits = || self.accepted().map(|suite| suite.bits);
        let leaf = self.seen.chain.first()?;
        let weakest_key = self.issued().filter_map(key).min_by_key(|key| strength(*key))?;
        Some(Facts {
            trust: self.trust(),
            dated_signature: self.issued().any(has_dated_signature),
            key: key(leaf)?,
            weakest_key,
            oldest: versions().min()?,
            newest: versions().max()?,
            weakest: bits().min()?,
            strongest: bits().max()?,
            group: self.answers.flights().filter_map(|(_, flight)| flight.prime_bits).min(),
            worthless_suite: self.answers.of(Hello::W1).is_some(),
            rc4: self.rc4(),
            ssl3_with_blocks: self
                .any(|flight, suite| flight.version == SSL3 && suite.mode == Mode::Cbc),
            short_blocks_chosen: [Hello::P12, Hello::P11]
                .into_iter()
                .filter_map(|hello| self.chosen(hello))
                .any(|suite| suite.has_short_blocks()),
            compression: self.any(|flight, _| flight.compression != 0),
            unsafe_renegotiation: VERSIONS
                .into_iter()
                .filter_map(|hello| self.answers.of(hello))
                .any(|flight| flight.version < TLS13 && !flight.renegotiation),
            rsa_exchange_chosen: self
                .chosen(Hello::P12)
                .is_some_and(|suite| suite.exchange == Exchange::Rsa),
            aead_chosen: self.preferred().any(|suite| suite.mode == Mode::Aead),
            hsts: self.hsts.filter(|hsts| hsts.enabled).and_then(|hsts| hsts.max_age),
        })
    }

    /// The first problem decides, as in the result.
    fn trust(&self) -> Trust {
        let facts = &self.seen.verification;
        match self.result.error.as_deref() {
            None => Trust::Good,
            Some(error::INCOMPLETE_CHAIN) if facts.completed_by_aia && facts.purpose_valid => {
                Trust::Completable
            }
            // The rules about keys and signatures say how weak. What they do not see is an
            // exponent of 1.
            Some(error::WEAK_KEY) if self.issued().any(is_weak) => Trust::Good,
            Some(_) => Trust::Bad,
        }
    }

    /// The leaf and the issuers of its path; a root is trusted for being there, not for how it
    /// signed itself.
    fn issued(&self) -> impl Iterator<Item = &Certificate> {
        let above = self.seen.chain.iter().skip(1);
        let issuers = above.filter(|issuer| issuer.in_trust_path && !issuer.self_signed);
        self.seen.chain.first().into_iter().chain(issuers)
    }

    /// "Only" where a client that wants anything else is sent away.
    fn rc4(&self) -> Rc4 {
        let is_rc4 = |suite: Suite| suite.cipher == Cipher::Rc4;
        if !self.accepted().any(is_rc4) {
            Rc4::No
        } else if self.accepted().all(is_rc4) {
            Rc4::Only
        } else if self.any(|flight, suite| flight.version >= TLS11 && is_rc4(suite)) {
            Rc4::Modern
        } else {
            Rc4::Old
        }
    }

    /// All suites that were accepted, by a hello or in the handshake.
    fn accepted(&self) -> impl Iterator<Item = Suite> {
        let ids = self.answers.flights().map(|(_, flight)| flight.cipher);
        ids.chain(self.negotiated.map(|(_, cipher)| cipher)).filter_map(suites::suite)
    }

    /// The suites that were chosen where everything usual was offered.
    fn preferred(&self) -> impl Iterator<Item = Suite> {
        let chosen = VERSIONS.into_iter().filter_map(|hello| self.chosen(hello));
        let handshake = self.negotiated.and_then(|(_, cipher)| suites::suite(cipher));
        chosen.chain(handshake)
    }

    fn chosen(&self, hello: Hello) -> Option<Suite> {
        suites::suite(self.answers.of(hello)?.cipher)
    }

    fn any(&self, holds: impl Fn(&Flight, Suite) -> bool) -> bool {
        let mut flights = self.answers.flights();
        flights.any(|(_, flight)| {
            suites::suite(flight.cipher).is_some_and(|suite| holds(flight, suite))
        })
    }
}

/// None for kinds that the guide has no scale for, and for keys of unknown size.
fn key(certificate: &Certificate) -> Option<Key> {
    let bits = Some(certificate.key_bits).filter(|bits| *bits > 0)?;
    match certificate.key_algorithm.as_str() {
        "RSA" | "DSA" => Some(Key::Modular(bits)),
        "EC" | "Ed25519" | "Ed448" => Some(Key::Curve(bits)),
        _ => None,
    }
}

/// One scale for both kinds: bits of a curve are worth more, by the limits of the rules.
fn strength(key: Key) -> u32 {
    match key {
        Key::Modular(0..1024) | Key::Curve(0..123) => 0,
        Key::Modular(1024..2048) | Key::Curve(123..163) => 1,
        Key::Modular(_) | Key::Curve(_) => 2,
    }
}

fn is_weak(certificate: &Certificate) -> bool {
    has_dated_signature(certificate) || key(certificate).is_some_and(|key| strength(key) < 2)
}

fn has_dated_signature(certificate: &Certificate) -> bool {
    let name = certificate.signature_algorithm.to_ascii_lowercase();
    ["md2", "md4", "md5", "sha1"].iter().any(|digest| name.contains(digest))
}

/// The hellos that offer everything usual.
const VERSIONS: [Hello; 5] = [Hello::P13, Hello::P12, Hello::P11, Hello::P10, Hello::P30];
