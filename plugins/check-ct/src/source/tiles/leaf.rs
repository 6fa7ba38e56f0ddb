//! Entries of a data tile: `TileLeaf` of c2sp.org/static-ct-api, one after the other.

use sha2::{Digest as _, Sha256};

use super::tree::Hash;

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf<'a> {
    /// Unix milliseconds.
    timestamp: u64,
    pub(super) entry: Entry<'a>,
    /// The `TimestampedEntry`, as hashed.
    timestamped: &'a [u8],
}

/// What was logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    /// The certificate's DER.
    X509(&'a [u8]),
    /// The TBSCertificate that the certificate will have, without SCT list and poison.
    Precert(&'a [u8]),
}

impl<'a> Leaf<'a> {
    /// Reads the first entry and answers what comes after it; none when it is not whole, or no
    /// entry.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut rest = Rest(bytes);
        let timestamp = u64::from_be_bytes(*rest.take(8)?.first_chunk()?);
        let kind = rest.number(2)?;
        let entry = match kind {
            X509 => Entry::X509(rest.opaque(3)?),
            PRECERT => {
                rest.take(ISSUER_KEY_HASH)?;
                Entry::Precert(rest.opaque(3)?)
            }
            _ => return None,
        };
        rest.opaque(2)?;
        let timestamped = bytes.get(..bytes.len() - rest.0.len())?;
        if kind == PRECERT {
            rest.opaque(3)?;
        }
        let chain = rest.opaque(2)?;
        if !chain.len().is_multiple_of(FINGERPRINT) {
            return None;
        }
        Some((Self { timestamp, entry, timestamped }, rest.0))
    }

    /// Of the `MerkleTreeLeaf` (RFC 6962, sections 2.1 and 3.4): version and type are 0.
    pub(super) fn hash(&self) -> Hash {
        Sha256::new().chain_update([0, 0, 0]).chain_update(self.timestamped).finalize().into()
    }

    /// What was signed, names included.
    pub(super) fn signed(&self) -> &'a [u8] {
        match self.entry {
            Entry::X509(bytes) | Entry::Precert(bytes) => bytes,
        }
    }

    /// Unix seconds.
    pub(super) fn logged_at(&self) -> i64 {
        i64::try_from(self.timestamp / 1_000).unwrap_or(i64::MAX)
    }
}

/// Bytes that are not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// Big-endian.
    fn number(&mut self, len: usize) -> Option<usize> {
        let bytes = self.take(len)?;
        Some(bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// A vector with its length in front, of `prefix` bytes.
    fn opaque(&mut self, prefix: usize) -> Option<&'a [u8]> {
        let len = self.number(prefix)?;
        self.take(len)
    }
}

const X509: usize = 0;
const PRECERT: usize = 1;
const ISSUER_KEY_HASH: usize = 32;
const FINGERPRINT: usize = 32;

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn opaque(prefix: usize, bytes: &[u8]) -> Vec<u8> {
        let length = (bytes.len() as u64).to_be_bytes();
        [&length[8 - prefix..], bytes].concat()
    }

    /// The bytes of an entry; `pre_certificate` makes it one of a precertificate.
    pub(in crate::source::tiles) fn write(
        timestamp: u64,
        signed: &[u8],
        pre_certificate: Option<&[u8]>,
    ) -> Vec<u8> {
        let mut bytes = timestamp.to_be_bytes().to_vec();
        match pre_certificate {
            None => bytes.extend([0, 0]),
            Some(_) => bytes.extend([[0, 1].as_slice(), &[9; 32]].concat()),
        }
        bytes.extend(opaque(3, signed));
        bytes.extend(opaque(2, &[0, 0, 5, 0, 0, 0, 0, 7]));
        bytes.extend(pre_certificate.map(|bytes| opaque(3, bytes)).unwrap_or_default());
        bytes.extend(opaque(2, &[3; 64]));
        bytes
    }

    #[test]
    fn entries_are_read_one_after_the_other() {
        let bytes = [write(1_500, b"cert", None), write(2_000, b"tbs", Some(b"pre"))].concat();
        let (first, rest) = Leaf::parse(&bytes).expect("a certificate");
        let (second, rest) = Leaf::parse(rest).expect("a precertificate");
        assert_eq!((first.entry, first.logged_at()), (Entry::X509(b"cert"), 1));
        assert_eq!((second.entry, second.logged_at()), (Entry::Precert(b"tbs"), 2));
        assert!(rest.is_empty());
        assert_ne!(first.hash(), second.hash());
    }

    #[test]
    fn hash_covers_what_the_log_signed_and_no_more() {
        let hash = |bytes: &[u8]| Leaf::parse(bytes).expect("an entry").0.hash();
        assert_eq!(hash(&write(1, b"t", Some(b"a"))), hash(&write(1, b"t", Some(b"bb"))));
        assert_ne!(hash(&write(1, b"t", None)), hash(&write(2, b"t", None)));
        let mut expected = vec![0, 0, 0];
        expected.extend(1_u64.to_be_bytes());
        expected.extend([0, 0, 0, 0, 1, b't', 0, 8, 0, 0, 5, 0, 0, 0, 0, 7]);
        assert_eq!(hash(&write(1, b"t", None)), crate::fixture::sha256(&expected));
    }

    #[test]
    fn entry_that_is_cut_anywhere_is_refused() {
        let bytes = write(1, b"tbs", Some(b"pre"));
        for end in 0..bytes.len() {
            assert_eq!(Leaf::parse(&bytes[..end]), None, "{end}");
        }
        let mut unknown = bytes.clone();
        unknown[9] = 7;
        assert_eq!(Leaf::parse(&unknown), None);
        // Lengths that lie: of the TBSCertificate, far beyond the end.
        let mut lying = bytes;
        lying[42..45].copy_from_slice(&[0xff; 3]);
        assert_eq!(Leaf::parse(&lying), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_entry_or_not(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Some((leaf, rest)) = Leaf::parse(&bytes) {
                prop_assert!(rest.len() < bytes.len());
                let _ = (leaf.hash(), leaf.logged_at());
            }
        }

        #[test]
        fn any_change_of_an_entry_is_stood(at in 0_usize..120, with in any::<u8>()) {
            let mut bytes = write(1, b"tbs", Some(b"pre"));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = with;
            }
            let _ = Leaf::parse(&bytes);
        }
    }
}
