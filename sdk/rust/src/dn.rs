//! Distinguished names as text, read as far as people need them.
//!
//! They come in two spellings (RFC 4514 and `C=US, O="Acme, Inc.", CN=…`), in two orders and with
//! differing sets of attributes.
//!
//! *Invariant:* two spellings of one value are the same value.

/// A distinguished name that was read.
#[derive(Clone, Debug)]
pub struct Name<'a> {
    text: &'a str,
    /// Attribute types and values, unescaped.
    pairs: Vec<(String, String)>,
}

impl<'a> Name<'a> {
    /// Reads a name in either spelling; any text is one. A piece without `=` belongs to the value
    /// before it.
    pub fn read(text: &'a str) -> Self {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for piece in pieces(text) {
            match (piece.split_once('='), pairs.last_mut()) {
                (Some((kind, value)), _) => {
                    pairs.push((kind.trim().to_owned(), unescape(value.trim())));
                }
                (None, Some((_, value))) => {
                    value.push_str(", ");
                    value.push_str(&unescape(piece.trim()));
                }
                (None, None) => {}
            }
        }
        Self { text, pairs }
    }

    /// First value of an attribute type that is not empty.
    pub fn value(&self, kind: &str) -> Option<&str> {
        let mut values = self.pairs.iter().filter(|(name, _)| name.eq_ignore_ascii_case(kind));
        values.find(|(_, value)| !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// What to call its owner in a sentence: common name, else organisation, else unit, else the
    /// whole name.
    pub fn label(&self) -> &str {
        let named = ["CN", "O", "OU"].into_iter().find_map(|kind| self.value(kind));
        named.unwrap_or_else(|| self.text.trim())
    }
}

/// At commas and plus signs, unless escaped or quoted.
fn pieces(dn: &str) -> impl Iterator<Item = &str> {
    let (mut escaped, mut quoted) = (false, false);
    dn.split(move |c| {
        if escaped {
            escaped = false;
            return false;
        }
        match c {
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ',' | '+' => return !quoted,
            _ => {}
        }
        false
    })
}

/// Without quotes; `\,` is a comma, `\C3\A9` are bytes of UTF-8.
fn unescape(value: &str) -> String {
    let hex = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
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
            (b'"', _) => {}
            (byte, _) => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(dn: &str, kind: &str) -> Option<String> {
        Name::read(dn).value(kind).map(str::to_owned)
    }

    #[test]
    fn attributes_are_found_and_unescaped() {
        let dn = r"CN=Acme \2B Sons\, Ltd.+SERIALNUMBER=7,OU=Caf\C3\A9,O=,C=US";
        assert_eq!(value(dn, "CN").as_deref(), Some("Acme + Sons, Ltd."));
        assert_eq!(value(dn, "serialNumber").as_deref(), Some("7"));
        assert_eq!(value(dn, "OU").as_deref(), Some("Café"));
        assert_eq!(value(dn, "O"), None);
        assert_eq!(value(dn, "L"), None);
        assert_eq!(value("", "CN"), None);
        assert_eq!(value(r"CN=a\\,O=b", "O").as_deref(), Some("b"));
        assert_eq!(value("CN=trailing\\", "CN").as_deref(), Some("trailing\\"));
    }

    #[test]
    fn both_spellings_are_one_name() {
        for (one, other) in [
            ("C=US, O=Let's Encrypt, CN=R11", "CN=R11,O=Let's Encrypt,C=US"),
            ("C=US, O=\"Acme, Inc.\", CN=Acme CA", r"CN=Acme CA,O=Acme\, Inc.,C=US"),
            ("C=FR, O=Caf\u{e9}, CN=\"5\\\" disks\"", r"CN=5\22 disks,O=Caf\C3\A9,C=FR"),
            ("O=Smith, Jones, CN=Z", r"CN=Z,2.5.4.97=#0c01,O=Smith\, Jones"),
        ] {
            for kind in ["CN", "O"] {
                assert_eq!(value(one, kind), value(other, kind), "{one}");
            }
        }
    }

    #[test]
    fn name_is_called_by_its_most_telling_part() {
        for (dn, expected) in [
            ("C=US,O=Let's Encrypt,CN=R11", "R11"),
            ("OU=Web,O=Acme,C=US", "Acme"),
            ("C=US,OU=Web\\, Ops", "Web, Ops"),
            ("O=Smith, Jones, CN=", "Smith, Jones"),
            (" C=US ", "C=US"),
            ("", ""),
        ] {
            assert_eq!(Name::read(dn).label(), expected, "{dn}");
        }
    }
}
