//! Whether a key signed something, by the algorithms that are trusted and by those that were.

use std::sync::LazyLock;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA1_ASN1, ECDSA_P521_SHA1_ASN1, RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
    UnparsedPublicKey, VerificationAlgorithm,
};
use rustls::crypto::{self, WebPkiSupportedAlgorithms};

use crate::egress::der;

/// What a signature is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let mut known = false;
        for candidate in trusted_algorithms().all {
            if candidate.signature_alg_id().as_ref() != self.algorithm
                || candidate.public_key_alg_id().as_ref() != key_algorithm
            {
                continue;
            }
            known = true;
            if candidate.verify_signature(key, self.message, self.signature).is_ok() {
                return Worth::Good;
            }
        }
        self.by_legacy(key_algorithm, key, known)
    }

    fn by_legacy(self, key_algorithm: &[u8], key: &[u8], known: bool) -> Worth {
        let oid = |algorithm| der::contents(algorithm).unwrap_or_default();
        let (made_by, made_with) = (oid(self.algorithm), oid(key_algorithm));
        let mut tried = false;
        for (signature, key_type, algorithm) in LEGACY {
            if *signature != made_by || *key_type != made_with {
                continue;
            }
            tried = true;
            let key = UnparsedPublicKey::new(*algorithm, key);
            if key.verify(self.message, self.signature).is_ok() {
                return Worth::Weak;
            }
        }
        if known || tried { Worth::Bad } else { Worth::Weak }
    }
}

/// Algorithm (contents) and key bits of a SubjectPublicKeyInfo (contents).
pub(super) fn key_parts(key_info: &[u8]) -> Option<(&[u8], &[u8])> {
    match der::elements(key_info)?[..] {
        [algorithm, key] => Some((algorithm.contents, key.contents.split_first()?.1)),
        _ => None,
    }
}

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];

type Legacy = (&'static [u8], &'static [u8], &'static dyn VerificationAlgorithm);

/// (signature OID, key OID, how to verify): SHA-1, and RSA keys below 2048 bits.
static LEGACY: &[Legacy] = &[
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 5],
        RSA,
        &RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
    ),
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11],
        RSA,
        &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
    ),
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 13],
        RSA,
        &RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
    ),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], EC, &ECDSA_P256_SHA1_ASN1),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], EC, &ECDSA_P521_SHA1_ASN1),
];
