//! The words by which registries and privacy services say that a registrant is hidden.
//!
//! *Invariant:* a pure function of the text, linear in its first 512 characters.

use crate::whois::words::words;

/// Whether this name, organisation, mail address or remark of a registrant says that the
/// registrant is hidden: a registry's redaction, or the name of a privacy service.
pub(crate) fn is_privacy(text: &str) -> bool {
    let text = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    let words = words(text, LONGEST);
    let joined = words.join(" ");
    if WHOLE.contains(&joined.as_str()) {
        return true;
    }
    let spaced = format!(" {joined} ");
    if PHRASES.iter().any(|phrase| contains(&spaced, phrase)) {
        return true;
    }
    // "On behalf of example.com owner": a service that names the domain in its own name.
    if spaced.find(" on behalf of ").is_some_and(|at| spaced[at..].contains(" owner ")) {
        return true;
    }
    // Mail addresses and logos write the names of services in one piece.
    let squashed = words.concat();
    SERVICES.iter().any(|service| squashed.contains(service))
}

/// Whether a phrase stands between word boundaries.
fn contains(spaced: &str, phrase: &str) -> bool {
    spaced
        .match_indices(phrase)
        .any(|(at, _)| spaced[..at].ends_with(' ') && spaced[at + phrase.len()..].starts_with(' '))
}

const LONGEST: usize = 512;

/// Texts that mean it only by themselves: a company may be called Hidden Valley.
const WHOLE: &[&str] = &[
    "anonymous",
    "confidential",
    "data privacy",
    "gdpr",
    "gizli",
    "hidden",
    "masked",
    "oculto",
    "privacy",
    "private",
    "protected",
    "skryto",
];

/// Phrases of whole words.
const PHRASES: &[&str] = &[
    // Registries.
    "ano nymous",
    "data masked",
    "data protected",
    "gdpr masked",
    "hidden by",
    "hidden details",
    "hidden for",
    "hidden upon",
    "nao divulgado",
    "no divulgado",
    "non disclosed",
    "non public data",
    "not available for privacy reasons",
    "not disclosed",
    "not published",
    "not shown",
    "personal data can not be",
    "personal data cannot be",
    "private individual",
    "private person",
    "private registrant",
    "private registration",
    "privately registered",
    "redacted",
    "registration private",
    "removed for privacy",
    "statutory masking",
    "truncated due to authorization",
    "undisclosed",
    "withheld",
    // Services.
    "anonymize inc",
    "by proxy",
    "contact privacy",
    "domain privacy",
    "domain protection services",
    "id protect",
    "id protection",
    "identity protect",
    "identity protected",
    "identity protection",
    "njalla",
    "perfect privacy",
    "privacy corp",
    "privacy customer",
    "privacy ehf",
    "privacy guard",
    "privacy guardian",
    "privacy hero",
    "privacy inc",
    "privacy limited",
    "privacy llc",
    "privacy ltd",
    "privacy protect",
    "privacy protected",
    "privacy protection",
    "privacy service",
    "privacy services",
    "privacy shield",
    "proxy protection",
    "proxy service",
    "proxy services",
    "registration proxy",
    "super privacy",
    "whois agent",
    "whois guard",
    "whois privacy",
    "whois protected",
    "whois protection",
    "whois proxy",
];

/// Names that are written in one piece, without spaces.
const SERVICES: &[&str] = &[
    "contactprivacy",
    "domainprivacy",
    "domainsbyproxy",
    "gdprmasked",
    "identityprotect",
    "notdisclosed",
    "perfectprivacy",
    "privacyguardian",
    "privacypost",
    "privacyprotect",
    "privacyservice",
    "privateregistration",
    "proxyprotection",
    "redactedforprivacy",
    "registrationprivate",
    "whoisagent",
    "whoisguard",
    "whoisprivacy",
    "whoisprotect",
    "whoisproxy",
    "withheldforprivacy",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_registrants_are_recognised() {
        for text in [
            "REDACTED FOR PRIVACY",
            "Redacted for Privacy Purposes",
            "Data Redacted",
            "GDPR Masked",
            "GDPR Redacted",
            "Not Disclosed",
            "NOT DISCLOSED!",
            "Not disclosed - Visit www.registry.example for web-based WHOIS",
            "Statutory Masking Enabled",
            "Withheld for Privacy ehf",
            "Privacy service provided by Withheld for Privacy ehf",
            "WhoisGuard Protected",
            "WhoisGuard, Inc.",
            "Domains By Proxy, LLC",
            "DomainsByProxy.com",
            "Contact Privacy Inc. Customer 0123456789",
            "Privacy Protect, LLC (PrivacyProtect.org)",
            "PERFECT PRIVACY, LLC",
            "Proxy Protection LLC",
            "Identity Protection Service",
            "IDENTITY PROTECT LIMITED",
            "Whoisproxy.com Ltd",
            "See PrivacyGuardian.org",
            "pw-0123456789@privacyguardian.org",
            "abc.protect@whoisguard.com",
            "Registration Private",
            "Whois Agent",
            "On behalf of example.com owner",
            "On behalf of example.com OWNER c/o whoisproxy",
            "Data Protected",
            "Private Person",
            "Hidden upon user request",
            "HIDDEN!",
            "Not shown, please visit www.registry.example for webbased whois.",
            "Object truncated due to authorization",
            "Personal data, can not be publicly disclosed according to applicable laws.",
            "Ano Nymous",
        ] {
            assert!(is_privacy(text), "{text}");
        }
    }

    #[test]
    fn shown_registrants_are_not() {
        for text in [
            "",
            "Example LLC",
            "Privacy International",
            "Data Protection Officer",
            "Protected Forests Foundation",
            "Agent Provocateur",
            "Proxima Ltd",
            "John Hiddenson",
            "On behalf of the board",
            "Homeowner Association",
            "hostmaster@example.com",
            "Please query the RDDS service of the registrar of record",
            "Unmasked Media",
            "Hidden Valley Farm",
            "Madrid Protection Services",
            "Confidential Records, Inc.",
        ] {
            assert!(!is_privacy(text), "{text}");
        }
    }

    #[test]
    fn only_the_beginning_of_a_long_text_counts() {
        let text = format!("{}redacted", "é ".repeat(LONGEST));
        assert!(!is_privacy(&text));
    }
}
