//! What the words mean that the built-in checks put into `error`, for people at a terminal. A finding
//! says it better; this is for results that are none.

/// A sentence of what happened and what to try; none for a word of somebody else's plugin.
pub(super) fn meaning(token: &str) -> Option<&'static str> {
    let said = MEANINGS.iter().find(|(known, _)| *known == token);
    said.map(|(_, meaning)| *meaning)
}

const MEANINGS: &[(&str, &str)] = &[
    // Of whatever connects.
    (
        "blocked_address",
        "it leads to an address that may not be reached; --egress-allow opens a private range",
    ),
    ("dns_not_found", "the name does not exist or has no address; check how it is spelt"),
    ("dns_failed", "the name's servers do not answer; --dns-server asks another resolver"),
    ("connection_refused", "nothing listens on this port, or a firewall rejects the connection"),
    ("connection_reset", "the server closed the connection before it had answered"),
    ("connection_timeout", "nobody answered in time; the server is off, or a firewall is silent"),
    ("tls_not_spoken", "the port does not speak TLS; --port names another"),
    ("tls_unrecognized_name", "the server has no certificate for this name"),
    ("tls_handshake_failed", "the server offers no TLS that this program can agree to"),
    // Of dns.
    ("nxdomain", "the name does not exist; check how it is spelt"),
    ("servfail", "the name's servers, or the resolver, report a failure of their own"),
    ("refused", "the name's servers, or the resolver, refuse to answer for it"),
    ("cname_loop", "the name is an alias that leads back to itself"),
    ("dnssec_bogus", "the answers do not fit the signatures of the name's zone"),
    // Of domain.
    ("tld_not_supported", "the registry of this ending answers no questions about registrations"),
    ("domain_not_found", "the registry knows no registration of this name"),
    ("domain_reserved", "the registry keeps this name for itself"),
    ("registry_unavailable", "the registry does not answer; try again later"),
    ("unparsable_response", "what the registry answers cannot be read"),
    // Of ct, and of several.
    ("ct_source_unavailable", "no source of plugins.ct.sources answers; try again later"),
    ("rate_limited", "whoever is asked wants fewer questions; try again later"),
    ("timeout", "whoever is asked does not answer in time; try again later"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_one_meaning_and_a_foreign_one_none() {
        assert!(meaning("ct_source_unavailable").is_some_and(|said| said.contains("ct.sources")));
        assert_eq!(meaning("acme_is_closed"), None);
        for (token, _) in MEANINGS {
            assert_eq!(MEANINGS.iter().filter(|(other, _)| other == token).count(), 1, "{token}");
        }
    }
}
