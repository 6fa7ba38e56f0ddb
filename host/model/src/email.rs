//! E-mail addresses, as far as they can be judged without sending anything.

use crate::{DomainName, Invalid};

/// Reads a bare address (`ops@example.com`) and answers it in lower case, its domain as A-labels.
/// No display names, quotes or comments, so that nothing can be smuggled into a header.
pub fn parse(field: &'static str, text: &str) -> Result<String, Invalid> {
    let refused = || Invalid::new(field, "must be an e-mail address such as ops@example.com");
    let (local, domain) = text.rsplit_once('@').ok_or_else(refused)?;
    let domain = DomainName::parse(domain).map_err(|_| refused())?;
    let dotted = local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atom_byte));
    if !dotted || local.len() > LONGEST_LOCAL {
        return Err(refused());
    }
    let address = format!("{}@{domain}", local.to_ascii_lowercase());
    if address.len() > LONGEST_ADDRESS {
        return Err(refused());
    }
    Ok(address)
}

/// RFC 5322 `atext`.
fn is_atom_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

/// RFC 5321 4.5.3.1.
const LONGEST_LOCAL: usize = 64;
const LONGEST_ADDRESS: usize = 254;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_lower_cased() {
        for (text, read) in [
            ("ops@example.com", "ops@example.com"),
            ("Ops.Team+Alerts@EXAMPLE.com", "ops.team+alerts@example.com"),
            ("o'neill@bücher.de", "o'neill@xn--bcher-kva.de"),
            ("a@b.example.", "a@b.example"),
        ] {
            assert_eq!(parse("email", text).as_deref(), Ok(read));
        }
    }

    #[test]
    fn what_is_no_bare_address_is_refused() {
        let long_local = format!("{}@example.com", "a".repeat(65));
        for text in [
            "",
            "ops",
            "@example.com",
            "ops@",
            "ops@host",
            "a@b@example.com",
            "a..b@example.com",
            ".a@example.com",
            "a.@example.com",
            "Ops <ops@example.com>",
            "\"a b\"@example.com",
            "a b@example.com",
            "ops@example.com\r\nBcc: x@example.org",
            "a\r\n@example.com",
            "ops@127.0.0.1",
            "ops@[127.0.0.1]",
            "ops@example.com,x@example.org",
            &long_local,
        ] {
            assert!(parse("email", text).is_err(), "{text:?} was taken");
        }
    }
}
