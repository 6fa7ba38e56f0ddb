//! Keys and signature algorithms by the names that people know them under.

use x509_parser::x509::SubjectPublicKeyInfo;

use super::name::dotted;
use crate::egress::der;

/// `RSA`, `EC`, `Ed25519`, `Ed448`, `DSA`, else the dotted OID; and the size in bits, 0 where it
/// is not known.
pub(super) fn describe(key: &SubjectPublicKeyInfo<'_>) -> (String, u32) {
    let oid = key.algorithm.algorithm.to_id_string();
    let (name, bits) = match oid.as_str() {
        "1.2.840.113549.1.1.1" | "1.2.840.113549.1.1.10" => {
            ("RSA", modulus_bits(&key.subject_public_key.data))
        }
        "1.2.840.10045.2.1" => ("EC", ec_bits(key)),
        "1.3.101.112" => ("Ed25519", 256),
        "1.3.101.113" => ("Ed448", 456),
        "1.2.840.10040.4.1" => ("DSA", dsa_bits(key)),
        other => (other, 0),
    };
    (name.to_owned(), bits)
}

/// Whether an RSA key's public exponent is 1, which encrypts nothing.
pub(super) fn has_exponent_one(key: &SubjectPublicKeyInfo<'_>) -> bool {
    rsa_numbers(&key.subject_public_key.data).is_some_and(|[_, exponent]| bits(exponent) == 1)
}

/// Bits of the modulus of an RSAPublicKey (RFC 8017 appendix A.1.1), 0 where it cannot be read.
pub(super) fn modulus_bits(key: &[u8]) -> u32 {
    rsa_numbers(key).map_or(0, |[modulus, _]| bits(modulus))
}

/// The long name of a signature algorithm by the contents of its OID, as OpenSSL prints it.
pub(super) fn signature_name(oid: &[u8]) -> String {
    let dotted = dotted(oid);
    let known = SIGNATURES.iter().find(|(known, _)| *known == dotted);
    known.map_or(dotted.clone(), |(_, name)| (*name).to_owned())
}

/// Modulus and exponent of an RSAPublicKey.
fn rsa_numbers(key: &[u8]) -> Option<[&[u8]; 2]> {
    match der::elements(der::contents(key)?)?[..] {
        [modulus, exponent] => Some([modulus.contents, exponent.contents]),
        _ => None,
    }
}

/// Of the curve; a curve that is not in the table by the length of its point.
fn ec_bits(key: &SubjectPublicKeyInfo<'_>) -> u32 {
    let curve = key.algorithm.parameters.as_ref().and_then(|any| any.as_oid().ok());
    let curve = curve.map(|oid| oid.to_id_string()).unwrap_or_default();
    let known = CURVES.iter().find(|(known, _)| *known == curve);
    known.map_or_else(|| point_bits(&key.subject_public_key.data), |(_, bits)| *bits)
}

/// 04 and two coordinates, or 02/03 and one.
fn point_bits(point: &[u8]) -> u32 {
    let coordinate = match point.first() {
        Some(4) => (point.len() - 1) / 2,
        Some(2 | 3) => point.len() - 1,
        _ => 0,
    };
    8 * coordinate as u32
}

/// Of the prime p, the first of the parameters; without them, of the key.
fn dsa_bits(key: &SubjectPublicKeyInfo<'_>) -> u32 {
    let parameters = key.algorithm.parameters.as_ref();
    let prime = parameters.and_then(|any| der::contents(any.data));
    prime.map_or(0, bits)
}

/// The length of a big-endian integer without its leading zeros.
fn bits(integer: &[u8]) -> u32 {
    let digits = &integer[integer.iter().take_while(|byte| **byte == 0).count()..];
    digits.first().map_or(0, |first| 8 * digits.len() as u32 - first.leading_zeros())
}

const CURVES: [(&str, u32); 9] = [
    ("1.2.840.10045.3.1.1", 192),
    ("1.2.840.10045.3.1.7", 256),
    ("1.3.132.0.10", 256),
    ("1.3.132.0.33", 224),
    ("1.3.132.0.34", 384),
    ("1.3.132.0.35", 521),
    ("1.3.36.3.3.2.8.1.1.7", 256),
    ("1.3.36.3.3.2.8.1.1.11", 384),
    ("1.3.36.3.3.2.8.1.1.13", 512),
];

const SIGNATURES: [(&str, &str); 39] = [
    ("1.2.840.113549.1.1.2", "md2WithRSAEncryption"),
    ("1.2.840.113549.1.1.3", "md4WithRSAEncryption"),
    ("1.2.840.113549.1.1.4", "md5WithRSAEncryption"),
    ("1.2.840.113549.1.1.5", "sha1WithRSAEncryption"),
    ("1.3.14.3.2.29", "sha1WithRSA"),
    ("1.2.840.113549.1.1.14", "sha224WithRSAEncryption"),
    ("1.2.840.113549.1.1.11", "sha256WithRSAEncryption"),
    ("1.2.840.113549.1.1.12", "sha384WithRSAEncryption"),
    ("1.2.840.113549.1.1.13", "sha512WithRSAEncryption"),
    ("1.2.840.113549.1.1.15", "sha512-224WithRSAEncryption"),
    ("1.2.840.113549.1.1.16", "sha512-256WithRSAEncryption"),
    ("2.16.840.1.101.3.4.3.13", "RSA-SHA3-224"),
    ("2.16.840.1.101.3.4.3.14", "RSA-SHA3-256"),
    ("2.16.840.1.101.3.4.3.15", "RSA-SHA3-384"),
    ("2.16.840.1.101.3.4.3.16", "RSA-SHA3-512"),
    ("1.2.840.113549.1.1.10", "rsassaPss"),
    ("1.2.840.10045.4.1", "ecdsa-with-SHA1"),
    ("1.2.840.10045.4.3.1", "ecdsa-with-SHA224"),
    ("1.2.840.10045.4.3.2", "ecdsa-with-SHA256"),
    ("1.2.840.10045.4.3.3", "ecdsa-with-SHA384"),
    ("1.2.840.10045.4.3.4", "ecdsa-with-SHA512"),
    ("2.16.840.1.101.3.4.3.9", "ecdsa_with_SHA3-224"),
    ("2.16.840.1.101.3.4.3.10", "ecdsa_with_SHA3-256"),
    ("2.16.840.1.101.3.4.3.11", "ecdsa_with_SHA3-384"),
    ("2.16.840.1.101.3.4.3.12", "ecdsa_with_SHA3-512"),
    ("1.2.840.10040.4.3", "dsaWithSHA1"),
    ("2.16.840.1.101.3.4.3.1", "dsa_with_SHA224"),
    ("2.16.840.1.101.3.4.3.2", "dsa_with_SHA256"),
    ("2.16.840.1.101.3.4.3.3", "dsa_with_SHA384"),
    ("2.16.840.1.101.3.4.3.4", "dsa_with_SHA512"),
    ("2.16.840.1.101.3.4.3.5", "dsa_with_SHA3-224"),
    ("2.16.840.1.101.3.4.3.6", "dsa_with_SHA3-256"),
    ("2.16.840.1.101.3.4.3.7", "dsa_with_SHA3-384"),
    ("2.16.840.1.101.3.4.3.8", "dsa_with_SHA3-512"),
    ("1.3.101.112", "ED25519"),
    ("1.3.101.113", "ED448"),
    ("2.16.840.1.101.3.4.3.17", "ML-DSA-44"),
    ("2.16.840.1.101.3.4.3.18", "ML-DSA-65"),
    ("2.16.840.1.101.3.4.3.19", "ML-DSA-87"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_do_not_count_leading_zeros() {
        assert_eq!(bits(&[0, 0x80, 0]), 16);
        assert_eq!(bits(&[0x7f, 0xff]), 15);
        assert_eq!(bits(&[0, 0]), 0);
    }

    #[test]
    fn points_of_unknown_curves_tell_their_size() {
        assert_eq!(point_bits(&[&[4][..], &[0; 64]].concat()), 256);
        assert_eq!(point_bits(&[&[3][..], &[0; 48]].concat()), 384);
        assert_eq!(point_bits(&[]), 0);
    }

    #[test]
    fn signatures_have_their_long_names() {
        let rsa = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11];
        assert_eq!(signature_name(&rsa), "sha256WithRSAEncryption");
        let rsa_with_sha3 = [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 14];
        assert_eq!(signature_name(&rsa_with_sha3), "RSA-SHA3-256");
        assert_eq!(signature_name(&[0x2a, 0x03]), "1.2.3");
    }
}
