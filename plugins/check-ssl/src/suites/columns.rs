//! The columns of the suite table, read out of the registered names:
//! `TLS_<key exchange>_WITH_<cipher>_<digest>`, without the first half from TLS 1.3 on.

/// One suite, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suite {
    pub(crate) id: u16,
    pub(crate) exchange: Exchange,
    /// Nobody proves who they are.
    pub(crate) anonymous: bool,
    /// Weakened for the export rules of the nineties.
    pub(crate) export: bool,
    pub(crate) cipher: Cipher,
    pub(crate) mode: Mode,
    /// Effective bits of the cipher.
    pub(crate) bits: u32,
    /// The digest is one that came with TLS 1.2.
    modern_digest: bool,
}

/// How the keys are agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// The client encrypts to the certificate's key.
    Rsa,
    /// Ephemeral, in a prime group that the server names.
    Dhe,
    /// Ephemeral, on a curve.
    Ecdhe,
    /// With the certificate's own DH key.
    Static,
    /// With the certificate's own ECDH key.
    StaticCurve,
    /// TLS 1.3: the suite does not say.
    Separate,
    /// Without a certificate: PSK, Kerberos, SRP; or national ones.
    Other,
}

/// Bulk ciphers, as far as they are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cipher {
    Null,
    Des,
    Rc2,
    Rc4,
    TripleDes,
    Idea,
    /// AES, ChaCha20 and what else has blocks of 128 bits or none.
    Modern,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Aead,
    Cbc,
    /// Stream ciphers, counters, no encryption.
    Stream,
}

impl Suite {
    pub(super) fn of(id: u16, name: &str) -> Self {
        let (exchange, cipher) = match name.split_once("_WITH_") {
            Some((exchange, _)) => (exchange.trim_start_matches("TLS_"), cipher(name)),
            None => ("", cipher(name)),
        };
        let method = exchange.trim_end_matches("_EXPORT1024").trim_end_matches("_EXPORT");
        Self {
            id,
            exchange: agreement(method),
            anonymous: method.ends_with("_anon"),
            export: method.len() < exchange.len(),
            cipher,
            mode: mode(name, cipher),
            bits: bits(name),
            modern_digest: name.ends_with("_SHA256") || name.ends_with("_SHA384"),
        }
    }

    /// A server with a certificate, or an anonymous one, can choose it below TLS 1.3.
    pub(crate) fn is_below_tls13(&self) -> bool {
        !matches!(self.exchange, Exchange::Separate | Exchange::Other)
    }

    /// Whether the suite is defined for a protocol version (0x0303 = TLS 1.2).
    pub(crate) fn is_defined_at(&self, version: u16) -> bool {
        let since = match self.exchange {
            Exchange::Separate => return version >= 0x0304,
            _ if self.mode == Mode::Aead || self.modern_digest => 0x0303,
            // RFC 4492: curves are named in extensions, which SSL 3.0 does not have.
            Exchange::Ecdhe | Exchange::StaticCurve => 0x0301,
            _ => 0x0300,
        };
        (since..=0x0303).contains(&version)
    }

    /// Blocks of 64 bits repeat within hours of traffic (CVE-2016-2183).
    pub(crate) fn has_short_blocks(&self) -> bool {
        matches!(self.cipher, Cipher::Des | Cipher::Rc2 | Cipher::TripleDes | Cipher::Idea)
    }
}

fn agreement(method: &str) -> Exchange {
    match method {
        "" => Exchange::Separate,
        "RSA" => Exchange::Rsa,
        "DHE_RSA" | "DHE_DSS" | "DH_anon" => Exchange::Dhe,
        "ECDHE_RSA" | "ECDHE_ECDSA" | "ECDH_anon" => Exchange::Ecdhe,
        "DH_RSA" | "DH_DSS" => Exchange::Static,
        "ECDH_RSA" | "ECDH_ECDSA" => Exchange::StaticCurve,
        _ => Exchange::Other,
    }
}

fn cipher(name: &str) -> Cipher {
    let marker = CIPHERS.iter().find(|(marker, _)| name.contains(marker));
    match marker {
        Some((_, cipher)) => *cipher,
        None if bits(name) == 0 => Cipher::Null,
        None => Cipher::Modern,
    }
}

fn mode(name: &str, cipher: Cipher) -> Mode {
    if AEAD.iter().any(|marker| name.contains(marker)) {
        Mode::Aead
    } else if matches!(cipher, Cipher::Null | Cipher::Rc4) || !name.contains("_CBC_") {
        Mode::Stream
    } else {
        Mode::Cbc
    }
}

fn bits(name: &str) -> u32 {
    let marker = STRENGTHS.iter().find(|(marker, _)| name.contains(marker));
    marker.map_or(0, |&(_, bits)| bits)
}

/// The first marker that a name contains decides: 3DES stands before DES.
const CIPHERS: &[(&str, Cipher)] = &[
    ("_NULL_", Cipher::Null),
    ("_RC4_", Cipher::Rc4),
    ("_RC2_", Cipher::Rc2),
    ("_3DES_", Cipher::TripleDes),
    ("_DES_", Cipher::Des),
    ("_DES40_", Cipher::Des),
    ("_IDEA_", Cipher::Idea),
];

const AEAD: &[&str] = &["_GCM_", "_CCM", "_POLY1305_", "_AEGIS_", "_MGM_"];

/// The first marker that a name contains decides: export and single DES stand before the ciphers
/// whose names theirs contain. A name without any marker encrypts nothing.
const STRENGTHS: &[(&str, u32)] = &[
    ("_EXPORT1024_", 56),
    ("_EXPORT_", 40),
    ("_3DES_", 112),
    ("_DES_", 56),
    ("_RC4_128", 128),
    ("_IDEA_", 128),
    ("_SEED_", 128),
    ("_SM4_", 128),
    ("_AES_128_", 128),
    ("_ARIA_128_", 128),
    ("_CAMELLIA_128_", 128),
    ("_AEGIS_128L_", 128),
    ("_AES_256_", 256),
    ("_ARIA_256_", 256),
    ("_CAMELLIA_256_", 256),
    ("_AEGIS_256_", 256),
    ("_CHACHA20_", 256),
    ("_KUZNYECHIK_", 256),
    ("_MAGMA_", 256),
    ("_28147_", 256),
];

#[cfg(test)]
mod tests {
    use super::super::{all, suite};
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let modern = Cipher::Modern;
        for (id, exchange, cipher, mode, bits) in [
            (0x1301, Exchange::Separate, modern, Mode::Aead, 128),
            (0x1304, Exchange::Separate, modern, Mode::Aead, 128),
            (0x1306, Exchange::Separate, modern, Mode::Aead, 256),
            (0xc0b4, Exchange::Separate, Cipher::Null, Mode::Stream, 0),
            (0xc030, Exchange::Ecdhe, modern, Mode::Aead, 256),
            (0xcca8, Exchange::Ecdhe, modern, Mode::Aead, 256),
            (0xc014, Exchange::Ecdhe, modern, Mode::Cbc, 256),
            (0xc005, Exchange::StaticCurve, modern, Mode::Cbc, 256),
            (0x009f, Exchange::Dhe, modern, Mode::Aead, 256),
            (0x0031, Exchange::Static, modern, Mode::Cbc, 128),
            (0x002f, Exchange::Rsa, modern, Mode::Cbc, 128),
            (0xc09c, Exchange::Rsa, modern, Mode::Aead, 128),
            (0x000a, Exchange::Rsa, Cipher::TripleDes, Mode::Cbc, 112),
            (0x0009, Exchange::Rsa, Cipher::Des, Mode::Cbc, 56),
            (0x0008, Exchange::Rsa, Cipher::Des, Mode::Cbc, 40),
            (0x0006, Exchange::Rsa, Cipher::Rc2, Mode::Cbc, 40),
            (0x0005, Exchange::Rsa, Cipher::Rc4, Mode::Stream, 128),
            (0x0003, Exchange::Rsa, Cipher::Rc4, Mode::Stream, 40),
            (0x0007, Exchange::Rsa, Cipher::Idea, Mode::Cbc, 128),
            (0x0002, Exchange::Rsa, Cipher::Null, Mode::Stream, 0),
            (0x008d, Exchange::Other, modern, Mode::Cbc, 256),
            (0xc100, Exchange::Other, modern, Mode::Stream, 256),
        ] {
            let seen = suite(id).expect("it is registered");
            let columns = (seen.exchange, seen.cipher, seen.mode, seen.bits);
            assert_eq!(columns, (exchange, cipher, mode, bits), "{id:04x}");
        }
    }

    #[test]
    fn anonymous_and_export_suites_are_marked() {
        let marks = |id| suite(id).map(|suite| (suite.anonymous, suite.export));
        assert_eq!(marks(0xc018), Some((true, false)));
        assert_eq!(marks(0x0017), Some((true, true)));
        assert_eq!(marks(0x0062), Some((false, true)));
        assert_eq!(marks(0x000b), Some((false, true)));
        assert_eq!(marks(0xc030), Some((false, false)));
    }

    #[test]
    fn suite_is_offered_only_where_it_is_defined() {
        for (id, first, last) in [
            (0x1301, 0x0304, 0x0304),
            (0xc030, 0x0303, 0x0303),
            (0x003c, 0x0303, 0x0303),
            (0xc014, 0x0301, 0x0303),
            (0x002f, 0x0300, 0x0303),
        ] {
            let seen = suite(id).expect("it is registered");
            for version in 0x0300..=0x0304 {
                let expected = (first..=last).contains(&version);
                assert_eq!(seen.is_defined_at(version), expected, "{id:04x} at {version:04x}");
            }
        }
    }

    #[test]
    fn every_weak_cipher_has_a_column_of_its_own() {
        for suite in all() {
            let weak = suite.bits < 128 || suite.has_short_blocks() || suite.cipher == Cipher::Rc4;
            assert_eq!(weak, suite.cipher != Cipher::Modern, "{:04x}", suite.id);
        }
    }
}
