//! Whether a certificate is for a name (RFC 9525), or an address. The common name never counts.

use std::net::IpAddr;

use vedette_model::domain_name::Target;

/// Matches the reference against the names that the certificate presents, as presented.
pub(super) fn matches(reference: &Target, dns: &[String], addresses: &[IpAddr]) -> bool {
    match reference {
        Target::Address(address) => addresses.contains(address),
        Target::Name(name) => dns.iter().any(|presented| name_matches(name.as_str(), presented)),
    }
}

/// `reference` is canonical: lower case, no trailing dot. A presented trailing dot is malformed;
/// `*` stands for one whole left-most label with at least two labels after it.
fn name_matches(reference: &str, presented: &str) -> bool {
    let presented = presented.to_ascii_lowercase();
    if presented.ends_with('.') || !presented.is_ascii() {
        return false;
    }
    let Some(suffix) = presented.strip_prefix("*.") else {
        return !presented.contains('*') && presented == reference;
    };
    let wide = !suffix.contains('.') || suffix.contains('*');
    let rest = reference.split_once('.').map(|(_, rest)| rest);
    !wide && rest == Some(suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_rfc_9525_says() {
        let table = [
            ("example.com", "example.com", true),
            ("example.com", "EXAMPLE.Com", true),
            ("example.com", "example.com.", false),
            ("www.example.com", "example.com", false),
            ("www.example.com", "*.example.com", true),
            ("a.b.example.com", "*.example.com", false),
            ("example.com", "*.example.com", false),
            ("example.com", "*.com", false),
            ("www.example.com", "w*.example.com", false),
            ("www.example.com", "*w.example.com", false),
            ("www.example.com", "www.*.com", false),
            ("a.www.example.com", "*.*.example.com", false),
            ("xn--bcher-kva.de", "bücher.de", false),
            ("xn--bcher-kva.de", "xn--bcher-kva.de", true),
            ("xn--bcher-kva.example.com", "*.example.com", true),
            ("_x.example.com", "*.example.com", true),
            ("example.com", "", false),
            ("example.com", "*", false),
        ];
        for (reference, presented, expected) in table {
            let target = Target::parse(reference).unwrap();
            let found = matches(&target, &[presented.to_owned()], &[]);
            assert_eq!(found, expected, "{reference} against {presented}");
        }
    }

    #[test]
    fn addresses_match_addresses_only() {
        let target = Target::parse("192.0.2.1").unwrap();
        assert!(matches(&target, &[], &["192.0.2.1".parse().unwrap()]));
        assert!(!matches(&target, &["192.0.2.1".to_owned()], &[]));
        assert!(!matches(&target, &["*.0.2.1".to_owned()], &["192.0.2.2".parse().unwrap()]));
        let six = Target::parse("2001:db8::1").unwrap();
        assert!(matches(&six, &[], &["2001:db8:0::1".parse().unwrap()]));
    }
}
