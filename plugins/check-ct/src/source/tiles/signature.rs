//! The log's signature of its tree head, as a note signature of type 5 (c2sp.org/static-ct-api,
//! "Checkpoints"; RFC 6962, section 3.5).
//!
//! Time, size and root are signed. The name is not: it only finds the signature, so anybody who has
//! a signed tree head can show it under another name.
//!
//! *Invariant:* other signatures, of other keys or other types, neither help nor harm.

use sha2::{Digest as _, Sha256};

use super::checkpoint::{Checkpoint, KEY_ID};
use crate::key::LogKey;

/// Whether the log signed the tree head. An error is a text for the log file.
pub(super) fn verify(checkpoint: &Checkpoint, key: &LogKey) -> Result<(), &'static str> {
    let id = key_id(&checkpoint.origin, key);
    let mut verified = 0;
    for signature in checkpoint.signatures.iter().filter_map(|bytes| bytes.strip_prefix(&id)) {
        // Each one takes a moment, and a note has room for hundreds.
        if verified == MOST {
            return Err("the tree head has too many signatures under the log's key");
        }
        // One that fails spoils the note (c2sp.org/signed-note).
        if !is_valid(signature, checkpoint, key) {
            return Err("the signature of the tree head is not the log's");
        }
        verified += 1;
    }
    if verified > 0 { Ok(()) } else { Err("the tree head is not signed with the log's key") }
}

/// The first bytes of SHA-256 over name, newline, type and log id.
fn key_id(name: &str, key: &LogKey) -> [u8; KEY_ID] {
    let hash = Sha256::new()
        .chain_update(name)
        .chain_update([b'\n', TYPE])
        .chain_update(key.log_id())
        .finalize();
    *hash.first_chunk().expect("a digest has 32 bytes")
}

/// `RFC6962NoteSignature`: a timestamp, and a signature in the form of TLS.
fn is_valid(bytes: &[u8], checkpoint: &Checkpoint, key: &LogKey) -> bool {
    let Some((timestamp, signature)) = bytes.split_first_chunk() else { return false };
    let Some(signature) = ecdsa_of(signature) else { return false };
    key.has_signed(&tree_head(*timestamp, checkpoint), signature)
}

/// What `DigitallySigned` (RFC 5246, section 4.7) has for SHA-256 with ECDSA, and nothing after it.
fn ecdsa_of(bytes: &[u8]) -> Option<&[u8]> {
    let (length, signature) = bytes.strip_prefix(&SHA256_ECDSA)?.split_first_chunk()?;
    (usize::from(u16::from_be_bytes(*length)) == signature.len()).then_some(signature)
}

/// The `TreeHeadSignature` structure of RFC 6962, section 3.5.
fn tree_head(timestamp: [u8; 8], checkpoint: &Checkpoint) -> Vec<u8> {
    let size = checkpoint.size.to_be_bytes();
    [&[V1, TREE_HASH][..], &timestamp, &size, &checkpoint.root].concat()
}

/// Of note signatures: RFC 6962 tree heads.
const TYPE: u8 = 5;
/// `Version` and `SignatureType`.
const V1: u8 = 0;
const TREE_HASH: u8 = 1;
/// `HashAlgorithm` and `SignatureAlgorithm`.
const SHA256_ECDSA: [u8; 2] = [4, 3];
/// Signatures under the log's key that are verified; logs write one.
const MOST: usize = 4;

#[cfg(test)]
pub(super) mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use p256::ecdsa::{Signature, SigningKey, signature::Signer as _};
    use proptest::prelude::*;

    use super::*;
    use crate::key::tests::{encoded, signing};

    const NAME: &str = "log.example/2026";
    const ROOT: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const TIME: u64 = 1_767_225_600_123;

    /// The signature line of a note of three lines. `time` in milliseconds.
    pub(in super::super) fn line(key: &SigningKey, note: &str, name: &str, time: u64) -> String {
        format!("\u{2014} {name} {}\n", STANDARD.encode(signature(key, note, name, time)))
    }

    fn signature(key: &SigningKey, note: &str, name: &str, time: u64) -> Vec<u8> {
        let [_, size, root] =
            note.lines().collect::<Vec<_>>().try_into().expect("a note has three lines");
        let size: u64 = size.parse().expect("a size");
        let root = STANDARD.decode(root).expect("base64");
        let head = [&[0, 1][..], &time.to_be_bytes(), &size.to_be_bytes(), &root].concat();
        let signature: Signature = key.sign(&head);
        let signature = signature.to_der();
        let length = signature.as_bytes().len() as u16;
        let known = log_key(key);
        let id = Sha256::digest([name.as_bytes(), b"\n\x05", known.log_id()].concat());
        [&id[..4], &time.to_be_bytes(), &[4, 3], &length.to_be_bytes(), signature.as_bytes()]
            .concat()
    }

    fn log_key(key: &SigningKey) -> LogKey {
        LogKey::parse(&encoded(key)).expect("a key")
    }

    fn note() -> String {
        format!("{NAME}\n70000\n{ROOT}\n")
    }

    fn own() -> String {
        line(&signing(7), &note(), NAME, TIME)
    }

    fn check(text: &str) -> Result<(), &'static str> {
        let checkpoint = Checkpoint::parse(text.as_bytes()).expect("a checkpoint");
        verify(&checkpoint, &log_key(&signing(7)))
    }

    /// The note under one signature line with these bytes.
    fn with(bytes: &[u8]) -> String {
        format!("{}\n\u{2014} {NAME} {}\n", note(), STANDARD.encode(bytes))
    }

    const ABSENT: &str = "the tree head is not signed with the log's key";
    const INVALID: &str = "the signature of the tree head is not the log's";

    /// Made by OpenSSL with the secret 0x0707…07, from the structures as the specifications have
    /// them.
    #[test]
    fn signature_of_another_implementation_verifies() {
        let key = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHhhTL9R1TALzBB2cdc6zO4P/2BrHzk/ogsyxyYvFiW6k\
                   bDEcTi/0DdlqNlPm5FRF0y3+SG7O11x6kMahiIHAow==";
        let signature = "XeeL7QAAAZt22qh7BAMARzBFAiEAjqXpBW0acaRoOokBSpIryeI3Sfgsa1bd0F+tUzFQSuIC\
                         IGf3Ex3hZb23uVPA9RiZksM0FjPx6jj4fIcwNj+LaKTw";
        assert_eq!(encoded(&signing(7)), key);
        let text = format!("{}\n\u{2014} {NAME} {signature}\n", note());
        assert_eq!(check(&text), Ok(()));
        assert_eq!(check(&text.replacen("70000", "70001", 1)), Err(INVALID));
    }

    #[test]
    fn signed_tree_head_verifies_and_a_changed_one_does_not() {
        let text = format!("{}\n{}", note(), own());
        assert_eq!(check(&text), Ok(()));
        let other_root = ROOT.replacen("AAEC", "AAED", 1);
        for (from, to, told) in [
            ("\n70000\n", "\n70001\n", INVALID),
            ("\n70000\n", "\n7000\n", INVALID),
            (ROOT, other_root.as_str(), INVALID),
            // The key id is then that of another name, even if both lines say the same.
            (NAME, "log.example/2027", ABSENT),
        ] {
            assert_eq!(check(&text.replace(from, to)), Err(told), "{to}");
        }
        let other = line(&signing(7), &note(), "log.example/2027", TIME);
        let renamed = other.replace("log.example/2027", NAME);
        assert_eq!(check(&format!("{}\n{renamed}", note())), Err(ABSENT));
        let renamed = note().replace(NAME, "log.example/2027");
        let text = format!("{renamed}\n{other}");
        assert_eq!(check(&text), Ok(()), "no signature of a tree head covers the name");
    }

    #[test]
    fn every_byte_of_a_signature_counts() {
        let good = signature(&signing(7), &note(), NAME, TIME);
        assert_eq!(check(&with(&good)), Ok(()));
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            // Key id; then time, algorithms, length, and the signature proper.
            let told = if at < 4 { ABSENT } else { INVALID };
            assert_eq!(check(&with(&bytes)), Err(told), "byte {at}");
        }
        for length in 5..good.len() {
            assert_eq!(check(&with(&good[..length])), Err(INVALID), "{length} bytes");
        }
        assert_eq!(check(&with(&[good.as_slice(), &[0]].concat())), Err(INVALID));
    }

    #[test]
    fn signature_of_another_type_or_hash_is_none_of_the_log() {
        let good = signature(&signing(7), &note(), NAME, TIME);
        let known = log_key(&signing(7));
        for kind in [1_u8, 2, 4, 6] {
            let id = Sha256::digest([NAME.as_bytes(), &[b'\n', kind], known.log_id()].concat());
            assert_eq!(check(&with(&[&id[..4], &good[4..]].concat())), Err(ABSENT), "type {kind}");
        }
        for algorithms in [[2, 3], [5, 3], [4, 1], [0, 0]] {
            let bytes = [&good[..12], &algorithms, &good[14..]].concat();
            assert_eq!(check(&with(&bytes)), Err(INVALID), "{algorithms:?}");
        }
    }

    #[test]
    fn other_key_is_no_signature_also_under_the_id_of_the_log() {
        let other = line(&signing(8), &note(), NAME, TIME);
        assert_eq!(check(&format!("{}\n{other}", note())), Err(ABSENT));
        let (good, bad) = (
            signature(&signing(7), &note(), NAME, TIME),
            signature(&signing(8), &note(), NAME, TIME),
        );
        assert_eq!(check(&with(&[&good[..4], &bad[4..]].concat())), Err(INVALID));
    }

    #[test]
    fn among_several_signatures_those_of_the_log_count() {
        let (own, other) = (own(), line(&signing(8), &note(), NAME, TIME));
        let witness = line(&signing(9), &note(), "witness.example", TIME);
        // Of another name, it is another key, whatever its id.
        let stranger = own.replace(NAME, "witness.example");
        let later = line(&signing(7), &note(), NAME, TIME + 1);
        let of_other_size = line(&signing(7), &note().replace("70000", "1"), NAME, TIME);
        for (lines, expected) in [
            (vec![&other, &own], Ok(())),
            (vec![&own, &other], Ok(())),
            (vec![&witness, &other, &own, &witness], Ok(())),
            (vec![&own, &later], Ok(())),
            (vec![&own, &of_other_size], Err(INVALID)),
            (vec![&of_other_size, &own], Err(INVALID)),
            (vec![&other, &witness], Err(ABSENT)),
            (vec![&other, &stranger], Err(ABSENT)),
            (vec![&own; MOST], Ok(())),
            (
                vec![&own; MOST + 1],
                Err("the tree head has too many signatures under the log's key"),
            ),
            (std::iter::repeat_n(&other, 100).chain([&own]).collect(), Ok(())),
        ] {
            let lines: String = lines.into_iter().map(String::as_str).collect();
            assert_eq!(check(&format!("{}\n{lines}", note())), expected, "{lines}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_under_the_key_id_are_refused(bytes in prop::collection::vec(any::<u8>(), 1..90)) {
            let id = key_id(NAME, &log_key(&signing(7)));
            prop_assert_eq!(check(&with(&[&id[..], &bytes].concat())), Err(INVALID));
        }
    }
}
