//! Certification authorities and the domain names by which CAA records know them (RFC 8659,
//! section 4.2). A name below one of these is the authority's as well.
//!
//! *Invariant:* an authority is listed only with all of its names: one that a CAA set contains under
//! none of them is forbidden to issue, and that is a critical alert.
//! *Invariant:* who issues under an authority's names is listed with it, as far as it is known: who
//! is not listed is forbidden to issue where a CAA set names listed authorities alone.

use crate::name;

/// An authority, with all organisations that its certificates name as issuer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Authority {
    /// Organisations in [`plain`] form, the authority's own first.
    organisations: &'static [&'static str],
    /// What CAA records call it.
    caa_domains: &'static [&'static str],
}

impl Authority {
    pub(crate) fn name(&self) -> &'static str {
        self.organisations.first().copied().unwrap_or_default()
    }

    /// Whether a CAA record's domain is one of its names, or below one.
    pub(crate) fn is_called(&self, domain: &str) -> bool {
        self.caa_domains.iter().any(|own| name::concerns(domain, own))
    }
}

/// Whether a CAA record's domain is that of an authority that is listed.
pub(crate) fn is_known(domain: &str) -> bool {
    AUTHORITIES.iter().any(|authority| authority.is_called(domain))
}

/// The authority that an organisation belongs to.
pub(crate) fn of(organisation: &str) -> Option<&'static Authority> {
    let plain = plain(organisation);
    AUTHORITIES.iter().find(|authority| authority.organisations.contains(&plain.as_str()))
}

/// Lower-case letters and digits without the legal form: authorities write `DigiCert Inc` and
/// `DigiCert, Inc.`
pub(crate) fn plain(organisation: &str) -> String {
    let lower = organisation.to_lowercase();
    let words: Vec<String> = lower
        .split(|c: char| c.is_whitespace() || c == ',')
        .map(|word| word.chars().filter(|c| c.is_alphanumeric()).collect::<String>())
        .filter(|word| !word.is_empty())
        .collect();
    let is_form = |word: &&String| FORMS.contains(&word.as_str());
    let forms = words.iter().rev().take_while(is_form).count();
    // An organisation that is called by its form alone keeps it.
    let kept = if forms < words.len() { words.len() - forms } else { words.len() };
    words.into_iter().take(kept).collect()
}

const FORMS: &[&str] =
    &["inc", "llc", "ltd", "limited", "corp", "corporation", "gmbh", "ag", "sa", "spa", "nvsa"];

const AUTHORITIES: &[Authority] = &[
    Authority {
        organisations: &["letsencrypt", "internetsecurityresearchgroup"],
        caa_domains: &["letsencrypt.org"],
    },
    Authority {
        organisations: &[
            "digicert",
            "digicerteurope",
            "geotrust",
            "thawte",
            "rapidssl",
            "symantec",
            "verisign",
            "quovadis",
        ],
        caa_domains: &[
            "digicert.com",
            "digicert.ne.jp",
            "symantec.com",
            "thawte.com",
            "geotrust.com",
            "rapidssl.com",
            "quovadisglobal.com",
            "digitalcertvalidation.com",
        ],
    },
    // Its intermediates were signed by one and then by another.
    Authority {
        organisations: &["cloudflare"],
        caa_domains: &["ssl.com", "digicert.com", "cloudflare.com"],
    },
    Authority {
        organisations: &[
            "sectigo",
            "comodoca",
            "theusertrustnetwork",
            "zerossl",
            // Those that it issues for under their own names.
            "gandi",
            "cpanel",
            "geantvereniging",
            "internet2",
            "networksolutions",
            "corporationservicecompany",
        ],
        caa_domains: &[
            "sectigo.com",
            "comodo.com",
            "comodoca.com",
            "usertrust.com",
            "trust-provider.com",
            "zerossl.com",
        ],
    },
    Authority { organisations: &["globalsign"], caa_domains: &["globalsign.com"] },
    Authority {
        organisations: &["googletrustservices", "googletrustservicesllc"],
        caa_domains: &["pki.goog", "google.com"],
    },
    Authority {
        organisations: &["amazon"],
        caa_domains: &["amazon.com", "amazontrust.com", "awstrust.com", "amazonaws.com"],
    },
    Authority {
        organisations: &["godaddycom", "starfieldtechnologies"],
        caa_domains: &["godaddy.com", "starfieldtech.com"],
    },
    Authority {
        organisations: &["entrust", "affirmtrust"],
        // Issues through others since 2024.
        caa_domains: &["entrust.net", "entrust.com", "affirmtrust.com", "ssl.com", "sectigo.com"],
    },
    Authority { organisations: &["microsoft"], caa_domains: &["microsoft.com", "digicert.com"] },
    // Its intermediates were signed by others.
    Authority {
        organisations: &["trustasiatechnologies"],
        caa_domains: &["trustasia.com", "digicert.com", "sectigo.com"],
    },
    Authority { organisations: &["ssl", "sslcom"], caa_domains: &["ssl.com"] },
    Authority {
        organisations: &["buypassas983163327", "buypassas"],
        caa_domains: &["buypass.com", "buypass.no"],
    },
    Authority { organisations: &["actalis"], caa_domains: &["actalis.it"] },
    Authority {
        organisations: &["assecodatasystems", "unizetotechnologies"],
        caa_domains: &["certum.pl", "certum.eu"],
    },
    Authority {
        organisations: &["swisssign"],
        caa_domains: &["swisssign.com", "swisssign.net", "swissign.com"],
    },
    Authority {
        organisations: &[
            "hellenicacademicandresearchinstitutionsca",
            "hellenicacademicandresearchinstitutionscertauthority",
        ],
        caa_domains: &["harica.gr"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn organisations_are_found_whatever_their_form() {
        for (organisation, name) in [
            ("Let's Encrypt", Some("letsencrypt")),
            ("DigiCert Inc", Some("digicert")),
            ("DigiCert, Inc.", Some("digicert")),
            ("Cloudflare, Inc.", Some("cloudflare")),
            ("Google Trust Services LLC", Some("googletrustservices")),
            ("GlobalSign nv-sa", Some("globalsign")),
            ("GoDaddy.com, Inc.", Some("godaddycom")),
            ("SSL Corporation", Some("ssl")),
            ("Actalis S.p.A.", Some("actalis")),
            ("Sectigo Limited", Some("sectigo")),
            ("The USERTRUST Network", Some("sectigo")),
            ("Asseco Data Systems S.A.", Some("assecodatasystems")),
            ("cPanel, Inc.", Some("sectigo")),
            ("Network Solutions L.L.C.", Some("sectigo")),
            ("Microsoft Corporation", Some("microsoft")),
            ("Evil CA", None),
            ("Inc.", None),
            ("", None),
        ] {
            assert_eq!(of(organisation).map(Authority::name), name, "{organisation}");
        }
        assert_eq!(plain("Inc."), "inc");
    }

    #[test]
    fn table_is_well_formed() {
        let mut seen = std::collections::BTreeSet::new();
        for authority in AUTHORITIES {
            assert!(!authority.caa_domains.is_empty());
            for organisation in authority.organisations {
                assert!(seen.insert(organisation), "{organisation} twice");
                assert_eq!(plain(organisation), *organisation);
            }
            for domain in authority.caa_domains {
                assert_eq!(crate::name::canonical(domain).as_deref(), Some(*domain));
            }
        }
    }
}
