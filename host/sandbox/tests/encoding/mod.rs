//! DER that no library writes, because it is not as it should be.

/// A DER element of less than 64 KiB.
pub(crate) fn tlv(tag: u8, contents: &[u8]) -> Vec<u8> {
    let length = contents.len();
    let head = match length {
        0..0x80 => vec![tag, length as u8],
        0x80..0x100 => vec![tag, 0x81, length as u8],
        _ => vec![tag, 0x82, (length >> 8) as u8, length as u8],
    };
    [head, contents.to_vec()].concat()
}
