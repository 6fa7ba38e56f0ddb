//! Names as they are asked about: absolute, whatever bytes they hold.

use hickory_resolver::proto::rr::Name;

use super::NetError;

/// Parses a name as it stands: without a trailing dot it is absolute all the same.
pub(crate) fn absolute(name: &str) -> Result<Name, NetError> {
    let name = labels(name).and_then(|labels| Name::from_labels(labels).ok());
    name.ok_or_else(|| NetError::NotPermitted("the name cannot be read".into()))
}

/// The labels of a name in the presentation form of RFC 1035 section 5.1. They may hold any byte;
/// an alias may lead to such a name.
fn labels(text: &str) -> Option<Vec<Vec<u8>>> {
    if text == "." {
        return Some(Vec::new());
    }
    let mut labels = vec![Vec::new()];
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let label = labels.last_mut()?;
        match byte {
            b'.' => labels.push(Vec::new()),
            b'\\' => label.push(escaped(&mut rest)?),
            b'!'..=b'~' => label.push(byte),
            _ => return None,
        }
    }
    if labels.last().is_some_and(Vec::is_empty) {
        labels.pop(); // The root.
    }
    Some(labels)
}

/// What follows a backslash: three digits are the byte in decimal, anything else is itself.
fn escaped(rest: &mut std::str::Bytes<'_>) -> Option<u8> {
    let first = rest.next().filter(u8::is_ascii)?;
    if !first.is_ascii_digit() {
        return Some(first);
    }
    let digits = [first, rest.next()?, rest.next()?];
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_absolute_with_and_without_its_dot() {
        assert_eq!(absolute("example.com").unwrap(), absolute("example.com.").unwrap());
        assert!(absolute("example.com").unwrap().is_fqdn());
        assert!(absolute(".").unwrap().is_root());
    }

    #[test]
    fn a_name_may_hold_any_byte() {
        let name = absolute(r"sp\032ace.By\255te.a\.b.0/25.").unwrap();
        let labels: Vec<&[u8]> = name.iter().collect();
        let expected: [&[u8]; 4] = [b"sp ace", b"By\xffte", b"a.b", b"0/25"];
        assert_eq!(labels, expected);
        for text in [r"a\", r"a\25", r"a\256", r"a\é", "a b", "é", "a..b", ".a"] {
            assert!(absolute(text).is_err(), "{text}");
        }
    }
}
