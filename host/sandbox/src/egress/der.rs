//! Just enough DER to cut certificates into pieces without changing a byte of them.

/// One element: its tag, its contents, and all of it as encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    pub(crate) tag: u8,
    pub(crate) contents: &'a [u8],
    pub(crate) raw: &'a [u8],
}

pub(crate) const SEQUENCE: u8 = 0x30;

/// The element that `bytes` begin with, and what follows it. Single-byte tags only, which is all
/// that certificates use.
pub(crate) fn element(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (size, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        let length = size
            .iter()
            .try_fold(0usize, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)))?;
        (length, rest)
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    let raw = &bytes[..bytes.len() - rest.len()];
    Some((Element { tag, contents, raw }, rest))
}

/// The elements that `contents` are made of; none where they do not end with an element.
pub(crate) fn elements(mut contents: &[u8]) -> Option<Vec<Element<'_>>> {
    let mut all = Vec::new();
    while !contents.is_empty() {
        let (next, rest) = element(contents)?;
        all.push(next);
        contents = rest;
    }
    Some(all)
}

/// The contents of the element that `bytes` begin with.
pub(crate) fn contents(bytes: &[u8]) -> Option<&[u8]> {
    element(bytes).map(|(element, _)| element.contents)
}

/// Encodes an element around `contents`.
pub(crate) fn wrap(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut encoded = vec![tag];
    let length = contents.len();
    if length < 0x80 {
        encoded.push(length as u8);
    } else {
        let bytes = length.to_be_bytes();
        let size = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
        encoded.push(0x80 | size.len() as u8);
        encoded.extend(size);
    }
    encoded.extend(contents);
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_is_read_back() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x1_0000] {
            let inner = vec![7; length];
            let encoded = wrap(SEQUENCE, &inner);
            let (read, rest) = element(&encoded).unwrap();
            assert_eq!((read.tag, read.contents, rest), (SEQUENCE, inner.as_slice(), &[][..]));
        }
    }

    #[test]
    fn lengths_beyond_the_end_are_nothing() {
        for bytes in
            [&[0x30][..], &[0x30, 5, 0], &[0x30, 0x82, 1], &[0x30, 0x84, 255, 255, 255, 255]]
        {
            assert_eq!(element(bytes), None, "{bytes:?}");
        }
        assert_eq!(elements(&[0x05, 0x00, 0x30]), None);
    }
}
