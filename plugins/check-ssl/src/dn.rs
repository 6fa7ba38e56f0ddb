//! Distinguished names as text (RFC 4514), read back as far as people need them.

/// What a certificate is called in a sentence: common name, else organisation, else unit, else
/// the whole name.
pub(crate) fn label(dn: &str) -> String {
    let named = ["CN", "O", "OU"].into_iter().find_map(|kind| attribute(dn, kind));
    named.unwrap_or_else(|| dn.to_owned())
}

/// First value of an attribute type, unescaped; none when the name has no such attribute or the
/// value is empty.
fn attribute(dn: &str, kind: &str) -> Option<String> {
    let mut pairs = split(dn).filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case(kind))?;
    let value = unescape(value.trim());
    (!value.is_empty()).then_some(value)
}

/// At commas and plus signs, unless escaped.
fn split(dn: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    dn.split(move |c| {
        let separates = !escaped && matches!(c, ',' | '+');
        escaped = !escaped && c == '\\';
        separates
    })
}

/// `\,` is a comma, `\C3\A9` are bytes of UTF-8.
fn unescape(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (*first, tail) {
            (b'\\', [high, low, tail @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                bytes.extend(hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low));
                rest = tail;
            }
            (b'\\', [escaped, tail @ ..]) => {
                bytes.push(*escaped);
                rest = tail;
            }
            (byte, _) => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_and_unescaped() {
        let dn = r"CN=Acme \2B Sons\, Ltd.+SERIALNUMBER=7,OU=Caf\C3\A9,O=,C=US";
        assert_eq!(attribute(dn, "CN").as_deref(), Some("Acme + Sons, Ltd."));
        assert_eq!(attribute(dn, "serialNumber").as_deref(), Some("7"));
        assert_eq!(attribute(dn, "OU").as_deref(), Some("Café"));
        assert_eq!(attribute(dn, "O"), None);
        assert_eq!(attribute(dn, "L"), None);
        assert_eq!(attribute("", "CN"), None);
        assert_eq!(attribute(r"CN=a\\,O=b", "O").as_deref(), Some("b"));
        assert_eq!(attribute("CN=trailing\\", "CN").as_deref(), Some("trailing\\"));
    }

    #[test]
    fn name_is_called_by_its_most_telling_part() {
        for (dn, expected) in [
            ("C=US,O=Let's Encrypt,CN=R11", "R11"),
            ("OU=Web,O=Acme,C=US", "Acme"),
            ("C=US,OU=Web\\, Ops", "Web, Ops"),
            ("C=US", "C=US"),
            ("", ""),
        ] {
            assert_eq!(label(dn), expected);
        }
    }
}
