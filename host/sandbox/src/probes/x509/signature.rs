//! Whether a key signed something, by the algorithms that are trusted and by those that were.

use std::sync::LazyLock;

use aws_lc_rs::{
    digest::{SHA1_FOR_LEGACY_USE_ONLY, digest},
    signature::{
        ECDSA_P256_SHA1_ASN1, ECDSA_P521_SHA1_ASN1, RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
        RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY, UnparsedPublicKey, VerificationAlgorithm,
    },
};
use rustls::crypto::{self, WebPkiSupportedAlgorithms};

use super::key::modulus_bits;
use crate::egress::der;

/// What a signature is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// It verifies by an algorithm that is trusted today.
    Good,
    /// It verifies only by an algorithm or key size that nobody accepts any more, or it cannot be
    /// verified at all (MD5, DSA, unknown algorithms).
    Weak,
    /// It was not made with this key.
    Bad,
}

/// A signature and what it covers.
#[derive(Clone, Copy)]
pub(super) struct Signed<'a> {
    /// The contents of the AlgorithmIdentifier.
    pub(super) algorithm: &'a [u8],
    pub(super) message: &'a [u8],
    pub(super) signature: &'a [u8],
}

/// The algorithms of path building.
pub(super) fn trusted_algorithms() -> &'static WebPkiSupportedAlgorithms {
    static ALGORITHMS: LazyLock<WebPkiSupportedAlgorithms> =
        LazyLock::new(|| crypto::aws_lc_rs::default_provider().signature_verification_algorithms);
    &ALGORITHMS
}

impl Signed<'_> {
    /// Judges against a key: the contents of a SubjectPublicKeyInfo.
    pub(super) fn by(self, key_info: &[u8]) -> Worth {
        let Some((key_algorithm, key)) = key_parts(key_info) else { return Worth::Bad };
        let oid = |algorithm| der::contents(algorithm).unwrap_or_default();
        if !of_one_family(oid(self.algorithm), oid(key_algorithm)) {
            return Worth::Bad;
        }
        let mut judged = false;
        for candidate in trusted_algorithms().all {
            if candidate.signature_alg_id().as_ref() != self.algorithm
                || candidate.public_key_alg_id().as_ref() != key_algorithm
            {
                continue;
            }
            judged = fits(key_algorithm, key, 2048);
            if candidate.verify_signature(key, self.message, self.signature).is_ok() {
                return Worth::Good;
            }
        }
        self.by_legacy(key_algorithm, key, judged)
    }

    fn by_legacy(self, key_algorithm: &[u8], key: &[u8], mut judged: bool) -> Worth {
        let oid = |algorithm| der::contents(algorithm).unwrap_or_default();
        let (made_by, made_with) = (oid(self.algorithm), oid(key_algorithm));
        for (signature, key_type, curve, algorithm) in LEGACY {
            if *signature != made_by || *key_type != made_with || !key_algorithm.ends_with(curve) {
                continue;
            }
            judged |= fits(key_algorithm, key, 1024);
            let key = UnparsedPublicKey::new(*algorithm, key);
            if key.verify(self.message, self.signature).is_ok() {
                return Worth::Weak;
            }
        }
        if judged { Worth::Bad } else { Worth::Weak }
    }
}

/// The size of a key, as the verifiers of today see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySize {
    Usual,
    /// Of RSA: refused, whatever it signed.
    Small,
    /// The same.
    Large,
}

/// Of a key: the contents of a SubjectPublicKeyInfo.
pub(crate) fn key_size(key_info: &[u8]) -> KeySize {
    match key_parts(key_info) {
        Some((algorithm, key)) if !fits(algorithm, key, 2048) => {
            if modulus_bits(key) > LARGEST_RSA { KeySize::Large } else { KeySize::Small }
        }
        Some(_) | None => KeySize::Usual,
    }
}

/// Whether the verifiers take a key of this size: only then is their no a word about the
/// signature.
fn fits(key_algorithm: &[u8], key: &[u8], smallest_rsa: u32) -> bool {
    let rsa = der::contents(key_algorithm) == Some(RSA);
    !rsa || (smallest_rsa..=LARGEST_RSA).contains(&modulus_bits(key))
}

/// Whether such a key makes such signatures, as far as the OIDs are known at all.
fn of_one_family(signature: &[u8], key: &[u8]) -> bool {
    let families = [&PKCS1[..], ECDSA, &EDWARDS[..]];
    let of = |oid: &[u8]| families.iter().position(|family| oid.starts_with(family));
    match (of(signature), if key == EC { of(ECDSA) } else { of(key) }) {
        (Some(made_by), Some(made_with)) => made_by == made_with,
        (Some(_), None) => false,
        (None, _) => true,
    }
}

/// Algorithm (contents) and key bits of a SubjectPublicKeyInfo (contents).
pub(super) fn key_parts(key_info: &[u8]) -> Option<(&[u8], &[u8])> {
    match der::elements(key_info)?[..] {
        [algorithm, key] => Some((algorithm.contents, key.contents.split_first()?.1)),
        _ => None,
    }
}

/// RFC 5280 section 4.2.1.2, method 1: SHA-1 of the key bits.
pub(super) fn usual_key_id(key_info: &[u8]) -> Option<Vec<u8>> {
    let (_, key) = key_parts(key_info)?;
    Some(digest(&SHA1_FOR_LEGACY_USE_ONLY, key).as_ref().to_vec())
}

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
/// Arcs of signature algorithms; the keys of the first and the last lie there too.
const PKCS1: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4];
const EDWARDS: [u8; 2] = [0x2b, 0x65];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];

const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];
/// In bits.
const LARGEST_RSA: u32 = 8192;

type Legacy = (&'static [u8], &'static [u8], &'static [u8], &'static dyn VerificationAlgorithm);

/// (signature OID, key OID, curve OID, how to verify): SHA-1, and RSA keys below 2048 bits.
static LEGACY: &[Legacy] = &[
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 5],
        RSA,
        &[],
        &RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
    ),
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11],
        RSA,
        &[],
        &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
    ),
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 13],
        RSA,
        &[],
        &RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
    ),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], EC, P256, &ECDSA_P256_SHA1_ASN1),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], EC, P521, &ECDSA_P521_SHA1_ASN1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_make_the_signatures_of_their_family_alone() {
        let sha256_with_rsa = [&PKCS1[..], &[11]].concat();
        let ecdsa_with_sha256 = [ECDSA, &[3, 2]].concat();
        let ed25519 = [&EDWARDS[..], &[112]].concat();
        let unknown = [0x2a, 0x03];
        for (signature, key, expected) in [
            (&sha256_with_rsa[..], RSA, true),
            (&sha256_with_rsa, EC, false),
            (&sha256_with_rsa, &unknown, false),
            (&ecdsa_with_sha256, EC, true),
            (&ecdsa_with_sha256, RSA, false),
            (&ed25519, &ed25519, true),
            (&ed25519, EC, false),
            (&unknown, RSA, true),
        ] {
            assert_eq!(of_one_family(signature, key), expected, "{signature:?} by {key:?}");
        }
    }

    #[test]
    fn sizes_matter_for_rsa_alone() {
        let modulus = |bytes: usize| {
            let number = [&[0, 0x80][..], &vec![1; bytes - 1]].concat();
            der::wrap(der::SEQUENCE, &[der::wrap(2, &number), der::wrap(2, &[1, 0, 1])].concat())
        };
        let algorithm = der::wrap(6, RSA);
        assert!(fits(&algorithm, &modulus(256), 2048));
        assert!(!fits(&algorithm, &modulus(128), 2048));
        assert!(fits(&algorithm, &modulus(128), 1024));
        assert!(!fits(&algorithm, &modulus(2048), 2048));
        assert!(fits(&der::wrap(6, EC), &[4; 65], 2048));
        let info = |bytes: usize| {
            let key = [&[0][..], &modulus(bytes)].concat();
            [der::wrap(der::SEQUENCE, &algorithm), der::wrap(3, &key)].concat()
        };
        assert_eq!(key_size(&info(128)), KeySize::Small);
        assert_eq!(key_size(&info(256)), KeySize::Usual);
        assert_eq!(key_size(&info(1024)), KeySize::Usual);
        assert_eq!(key_size(&info(2048)), KeySize::Large);
        assert_eq!(key_size(&[]), KeySize::Usual);
    }
}
