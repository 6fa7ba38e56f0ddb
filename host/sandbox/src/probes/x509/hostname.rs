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

    /// RFC 9525 section 6.3, RFC 6125 section 6.4 where the later one is silent, RFC 5280 section
    /// 4.2.1.6 for what a dNSName may be.
    #[rustfmt::skip]
    const NAMES: &[(&str, &str, bool)] = &[
        // The whole name, ASCII letters without regard to case.
        ("example.com", "example.com", true),
        ("example.com", "EXAMPLE.Com", true),
        ("EXAMPLE.com", "example.COM", true),
        ("example.com", "example.org", false),
        ("example.com", "example.co", false),
        ("example.com", "example.comm", false),
        ("example.com", "xample.com", false),
        ("example.com", "eexample.com", false),
        ("www.example.com", "example.com", false),
        ("example.com", "www.example.com", false),
        ("www.example.com", "wwww.example.com", false),
        ("a.b.c.example.com", "a.b.c.example.com", true),
        ("example.com.evil.example", "example.com", false),
        ("evil-example.com", "example.com", false),
        ("1.example.com", "1.example.com", true),
        ("foo-bar.example.com", "foo-bar.example.com", true),
        ("foo_bar.example.com", "foo_bar.example.com", true),
        // One trailing dot of the reference is ignored; a presented one is malformed.
        ("example.com.", "example.com", true),
        ("example.com", "example.com.", false),
        ("example.com.", "example.com.", false),
        ("www.example.com.", "*.example.com", true),
        ("www.example.com", "*.example.com.", false),
        // A wildcard is one whole left-most label, for exactly one label.
        ("www.example.com", "*.example.com", true),
        ("WWW.example.com", "*.EXAMPLE.com", true),
        ("foo.bar.example.com", "*.bar.example.com", true),
        ("example.com", "*.example.com", false),
        ("a.b.example.com", "*.example.com", false),
        ("a.b.c.example.com", "*.example.com", false),
        ("www.example.org", "*.example.com", false),
        ("wwwexample.com", "*.example.com", false),
        ("www.badexample.com", "*.example.com", false),
        // Part of a label, or of another label than the first: never.
        ("www.example.com", "w*.example.com", false),
        ("www.example.com", "*w.example.com", false),
        ("www.example.com", "w*w.example.com", false),
        ("foo1.example.com", "foo*.example.com", false),
        ("www.example.com", "**.example.com", false),
        ("www.example.com", "www.*.com", false),
        ("www.example.com", "www.example.*", false),
        ("a.www.example.com", "a.*.example.com", false),
        ("a.www.example.com", "*.*.example.com", false),
        ("a.www.example.com", "*.www.*.com", false),
        ("www.example.com", "*.exa*.com", false),
        // At least two labels follow it.
        ("example.com", "*.com", false),
        ("example.com", "*.*", false),
        ("example.com", "*", false),
        ("example.com", "*.", false),
        ("example.com", "*.com.", false),
        ("www.example.co.uk", "*.example.co.uk", true),
        ("example.co.uk", "*.co.uk", true),
        // Internationalised names are A-labels on both sides, and whole ones for a wildcard.
        ("xn--bcher-kva.de", "xn--bcher-kva.de", true),
        ("xn--bcher-kva.de", "XN--BCHER-KVA.DE", true),
        ("b\u{fc}cher.de", "xn--bcher-kva.de", true),
        ("xn--bcher-kva.de", "b\u{fc}cher.de", false),
        ("xn--bcher-kva.de", "b\u{c3}\u{bc}cher.de", false),
        ("xn--bcher-kva.example.com", "*.example.com", true),
        ("xn--bcher-kva.example.com", "xn--*.example.com", false),
        ("www.xn--bcher-kva.de", "*.xn--bcher-kva.de", true),
        ("example.com", "\u{ff45}xample.com", false),
        ("example.com", "ex\u{430}mple.com", false),
        // Service and other underscored labels are names like any other.
        ("_sip.example.com", "*.example.com", true),
        ("_sip.example.com", "_sip.example.com", true),
        // What is no name matches nothing.
        ("example.com", "", false),
        ("example.com", ".", false),
        ("example.com", ".example.com", false),
        ("www.example.com", ".example.com", false),
        ("example.com", "example..com", false),
        ("www.example.com", "*..example.com", false),
        ("example.com", " example.com", false),
        ("example.com", "example.com ", false),
        ("example.com", "example.com\0.evil.example", false),
        ("example.com", "example.com\n", false),
        ("example.com", "https://example.com", false),
        ("example.com", "example.com:443", false),
        ("example.com", "admin@example.com", false),
        ("example.com", "[example.com]", false),
        ("example.com", "192.0.2.1", false),
    ];

    #[test]
    fn names_match_as_rfc_9525_says() {
        for (reference, presented, expected) in NAMES {
            let target = Target::parse(reference).unwrap();
            let found = matches(&target, &[(*presented).to_owned()], &[]);
            assert_eq!(found, *expected, "{reference:?} against {presented:?}");
        }
    }

    #[test]
    fn one_of_many_names_is_enough() {
        let names: Vec<String> = (0..10_000).map(|n| format!("h{n}.example.com")).collect();
        let matches = |reference: &str| matches(&Target::parse(reference).unwrap(), &names, &[]);
        assert!(matches("h9999.example.com") && matches("h0.example.com"));
        assert!(!matches("h10000.example.com"));
    }

    #[test]
    fn addresses_match_addresses_only() {
        for (reference, names, addresses, expected) in [
            ("192.0.2.1", &[][..], &["192.0.2.1"][..], true),
            ("192.0.2.1", &[], &["192.0.2.2"], false),
            ("192.0.2.1", &[], &["192.0.2.2", "192.0.2.1"], true),
            ("192.0.2.1", &["192.0.2.1"], &[], false),
            ("192.0.2.1", &["*.0.2.1"], &["192.0.2.2"], false),
            ("192.0.2.1", &["*"], &[], false),
            ("192.0.2.1", &[], &["::ffff:192.0.2.1"], false),
            ("2001:db8::1", &[], &["2001:db8:0::1"], true),
            ("2001:DB8::1", &[], &["2001:db8::1"], true),
            ("2001:db8::1", &[], &["2001:db8::2"], false),
            ("2001:db8::1", &["2001:db8::1"], &[], false),
            ("example.com", &[], &["192.0.2.1"], false),
        ] {
            let target = Target::parse(reference).unwrap();
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            let addresses: Vec<_> = addresses.iter().map(|text| text.parse().unwrap()).collect();
            let found = matches(&target, &names, &addresses);
            assert_eq!(found, expected, "{reference} against {names:?} and {addresses:?}");
        }
    }
}
