//! The public key of a log.
//!
//! *Invariant:* only ECDSA with P-256 and SHA-256. RFC 6962 (section 2.1.4) allows RSA as well; such
//! a key is refused, never left unused.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use p256::{
    NistP256,
    ecdsa::{Signature, VerifyingKey, signature::Verifier as _},
    elliptic_curve::ALGORITHM_OID,
    pkcs8::{AssociatedOid as _, SubjectPublicKeyInfoRef, der::Decode as _},
};
use sha2::{Digest as _, Sha256};

/// A key that signatures are held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogKey {
    key: VerifyingKey,
    id: [u8; 32],
}

impl LogKey {
    /// Reads base64 of DER SubjectPublicKeyInfo. An error is a text for the operator.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let der = STANDARD.decode(text).map_err(|_| "must be base64 of the log's public key")?;
        let info = SubjectPublicKeyInfoRef::from_der(&der)
            .map_err(|_| "must be base64 of the log's public key as DER SubjectPublicKeyInfo")?;
        info.algorithm
            .assert_oids(ALGORITHM_OID, NistP256::OID)
            .map_err(|_| "is of another kind: only ECDSA P-256 keys can be used")?;
        let key = VerifyingKey::try_from(info).map_err(|_| "has no point on the curve P-256")?;
        Ok(Self { key, id: Sha256::digest(&der).into() })
    }

    /// SHA-256 of the SubjectPublicKeyInfo (RFC 6962, section 3.2).
    pub(crate) fn log_id(&self) -> &[u8; 32] {
        &self.id
    }

    /// Whether the DER-encoded ECDSA signature is one of the message.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        Signature::from_der(signature)
            .is_ok_and(|signature| self.key.verify(message, &signature).is_ok())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use p256::ecdsa::{SigningKey, signature::Signer as _};
    use proptest::prelude::*;

    use super::*;

    /// The key whose secret is that byte 32 times.
    pub(crate) fn signing(secret: u8) -> SigningKey {
        SigningKey::from_bytes(&[secret; 32].into()).expect("a secret below the order")
    }

    /// The public half, as settings have it.
    pub(crate) fn encoded(key: &SigningKey) -> String {
        STANDARD.encode(spki(key))
    }

    fn spki(key: &SigningKey) -> Vec<u8> {
        // By hand: the encoder of the library is for builds with an allocator feature.
        let point = key.verifying_key().to_encoded_point(false);
        [P256, point.as_bytes()].concat()
    }

    /// Everything before the point: both lengths, the algorithm, the curve, no unused bits.
    const P256: &[u8] = &[
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
        0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ];
    /// A tiny one.
    pub(crate) const RSA: &str = "MB4wDQYJKoZIhvcNAQEBBQADDQAwCgIDAQABAgMBAAE=";
    const P384: &[u8] = &[
        0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05,
        0x2b, 0x81, 0x04, 0x00, 0x22, 0x03, 0x62, 0x00, 0x04,
    ];
    const ED25519: &[u8] =
        &[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

    #[test]
    fn key_is_read_and_its_id_is_the_digest_of_its_encoding() {
        let key = LogKey::parse(&encoded(&signing(7))).expect("a key");
        assert_eq!(key.log_id()[..], Sha256::digest(spki(&signing(7)))[..]);
        assert_ne!(Ok(key), LogKey::parse(&encoded(&signing(8))));
    }

    #[test]
    fn anything_but_a_p256_key_is_told_apart() {
        let good = spki(&signing(7));
        let of = |bytes: &[u8]| STANDARD.encode(bytes);
        let changed = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            of(&bytes)
        };
        let unpadded = encoded(&signing(7)).trim_end_matches('=').to_owned();
        let (base64, der, kind, point) =
            ("must be base64", "DER SubjectPublicKeyInfo", "only ECDSA P-256 keys", "no point");
        for (text, told) in [
            ("-----BEGIN PUBLIC KEY-----".to_owned(), base64),
            (format!("{} ", encoded(&signing(7))), base64),
            (unpadded, base64),
            (String::new(), der),
            (of(&good[..good.len() - 1]), der),
            (of(&[good.as_slice(), &[0]].concat()), der),
            (of(&good[P256.len()..]), der),
            (RSA.to_owned(), kind),
            (of(&[P384, [1; 96].as_slice()].concat()), kind),
            (of(&[ED25519, [1; 32].as_slice()].concat()), kind),
            (changed(22), kind),
            (changed(P256.len()), point),
            (changed(good.len() - 1), point),
        ] {
            let error = LogKey::parse(&text).expect_err(&text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn both_forms_of_a_signature_count() {
        let (signing, message) = (signing(7), b"a message");
        let key = LogKey::parse(&encoded(&signing)).expect("a key");
        let one: Signature = signing.sign(message);
        let (r, s) = one.split_scalars();
        let other = Signature::from_scalars(r, -s).expect("two scalars");
        assert_ne!(one, other);
        for signature in [one, other] {
            let der = signature.to_der();
            assert!(key.has_signed(message, der.as_bytes()));
            assert!(!key.has_signed(b"another", der.as_bytes()));
            assert!(!key.has_signed(message, &[der.as_bytes(), &[0]].concat()));
            assert!(!key.has_signed(message, &signature.to_bytes()), "not DER");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_key_or_not(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            prop_assert!(LogKey::parse(&STANDARD.encode(&bytes)).is_err());
        }

        #[test]
        fn any_bytes_are_no_signature(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let key = LogKey::parse(&encoded(&signing(7))).expect("a key");
            prop_assert!(!key.has_signed(b"a message", &bytes));
        }
    }
}
