//! A certificate around a TBSCertificate, so that what was signed can be read as one.

/// `Certificate` (RFC 5280, 4.1) with this TBSCertificate, its own signature algorithm, and a
/// signature of nothing. None when the bytes do not begin like a TBSCertificate.
pub(super) fn certificate_of(tbs: &[u8]) -> Option<Vec<u8>> {
    let (SEQUENCE, fields, []) = element(tbs)? else { return None };
    let (first, _, after) = element(fields)?;
    // The version is there in all but certificates of version 1.
    let serial = if first == VERSION { after } else { fields };
    let (INTEGER, _, algorithm) = element(serial)? else { return None };
    let (SEQUENCE, _, rest) = element(algorithm)? else { return None };
    let algorithm = algorithm.get(..algorithm.len() - rest.len())?;
    Some(wrap(SEQUENCE, &[tbs, algorithm, EMPTY_SIGNATURE].concat()))
}

/// Tag, contents, and what comes after the element.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (len, rest) = match first {
        short @ ..=0x7f => (usize::from(short), rest),
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            let len = digits.iter().fold(0_u64, |len, digit| len << 8 | u64::from(*digit));
            (usize::try_from(len).ok()?, rest)
        }
        // Indefinite lengths are not DER; longer ones are not certificates.
        0x80 | 0x85.. => return None,
    };
    let (contents, rest) = rest.split_at_checked(len)?;
    Some((tag, contents, rest))
}

/// An element with its shortest length, as DER has it.
fn wrap(tag: u8, contents: &[u8]) -> Vec<u8> {
    let len = contents.len();
    let digits = len.to_be_bytes();
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    let digits = digits.get(zeros..).unwrap_or_default();
    let mut bytes = vec![tag];
    if len < 0x80 {
        bytes.push(len as u8);
    } else {
        bytes.push(0x80 | digits.len() as u8);
        bytes.extend(digits);
    }
    bytes.extend(contents);
    bytes
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
/// `[0]`, explicit.
const VERSION: u8 = 0xa0;
/// A bit string of eight zeros.
const EMPTY_SIGNATURE: &[u8] = &[0x03, 0x02, 0x00, 0x00];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use x509_parser::prelude::{FromDer, X509Certificate};

    use super::*;
    use crate::fixture;

    #[test]
    fn what_was_signed_reads_as_a_certificate() {
        let tbs = fixture::leaf().tbs();
        let der = certificate_of(&tbs).expect("a TBSCertificate");
        let (rest, read) = X509Certificate::from_der(&der).expect("a certificate");
        assert!(rest.is_empty());
        assert_eq!(read.tbs_certificate.as_ref(), tbs);
        assert_eq!(read.signature_algorithm, read.tbs_certificate.signature);
    }

    #[test]
    fn other_bytes_are_refused() {
        let tbs = fixture::leaf().tbs();
        for end in 0..tbs.len() {
            assert_eq!(certificate_of(&tbs[..end]), None, "{end}");
        }
        let lying: &[u8] = &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x02];
        for bytes in [lying, &[0x30, 0x80, 0, 0], &[0x30, 0x00], &[0x31, 0x00]] {
            assert_eq!(certificate_of(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn lengths_are_the_shortest() {
        for (len, prefix) in [(0, 2), (0x7f, 2), (0x80, 3), (0xff, 3), (0x100, 4), (0x1_0000, 5)] {
            let wrapped = wrap(SEQUENCE, &vec![0; len]);
            assert_eq!(wrapped.len(), len + prefix);
            let (tag, contents, rest) = element(&wrapped).expect("what was wrapped");
            assert_eq!((tag, contents.len(), rest.len()), (SEQUENCE, len, 0));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_wrapped_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = certificate_of(&bytes);
            let _ = certificate_of(&wrap(SEQUENCE, &bytes));
        }
    }
}
