//! What CAA records (RFC 8659) say of an issuer, for each name of a certificate.
//!
//! The records are looked up during the run, since an assessment cannot look anything up. For each
//! name the tree is climbed from the name itself up to its top-level domain; the first name that
//! has records decides, even if none of them is about certificates for servers.
//!
//! *Invariant:* a name without records, and a lookup that failed, say nothing: only what is
//! written permits or forbids.

use std::collections::{BTreeMap, BTreeSet};

use vedette_sdk::{
    Cx,
    dns::{Answer, Question},
    net::NetError,
};

use crate::{
    authority::{self, Authority},
    certificate::Certificate,
    name,
    result::Caa,
};

/// The records of every name on the way.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// None: the lookup failed.
    by_owner: BTreeMap<String, Option<Set>>,
}

/// The CAA records of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Set {
    /// There is a record, if only one that restricts nobody.
    is_there: bool,
    /// Domains of the authorities that may issue; none: there is no such property.
    issue: Option<BTreeSet<String>>,
    issuewild: Option<BTreeSet<String>>,
    /// A critical property that is not known here: it may mean anything.
    unclear: bool,
}

impl Records {
    /// Looks up what the certificates' names that concern the domain need, at most [`OWNERS`]
    /// names in all, those of the first certificates first.
    pub(crate) fn look_up<'a>(
        cx: &Cx,
        domain: &str,
        certificates: impl Iterator<Item = &'a Certificate>,
    ) -> Self {
        let mut owners: Vec<&str> = Vec::new();
        let mut known = BTreeSet::new();
        for name in certificates.flat_map(|certificate| own_names(certificate, domain)) {
            let way = climb(name::host(name)).filter(|owner| !known.contains(owner));
            let way: Vec<&str> = way.collect();
            if owners.len() + way.len() <= OWNERS {
                known.extend(way.iter().copied());
                owners.extend(way);
            }
        }
        let mut by_owner = BTreeMap::new();
        for owners in owners.chunks(AT_ONCE) {
            let questions: Vec<Question> = owners.iter().map(|owner| question(owner)).collect();
            let answers = cx.lookup_many(&questions).into_iter().map(read);
            by_owner.extend(owners.iter().map(|owner| (*owner).to_owned()).zip(answers));
        }
        Self { by_owner }
    }

    /// Of a whole certificate: forbidden when one name forbids it, permitted when all permit it.
    pub(crate) fn verdict(&self, certificate: &Certificate, domain: &str) -> Option<Caa> {
        let issuer = certificate.issuer.authority();
        let verdicts: Vec<Option<Caa>> =
            own_names(certificate, domain).map(|name| self.of_name(name, issuer)).collect();
        if verdicts.contains(&Some(Caa::Forbids)) {
            return Some(Caa::Forbids);
        }
        let all = !verdicts.is_empty() && verdicts.iter().all(|one| *one == Some(Caa::Permits));
        all.then_some(Caa::Permits)
    }

    /// An issuer that is not known is none of those that are: where the records name these alone, or
    /// nobody, it may not issue. A domain that is not known may be its own.
    fn of_name(&self, name: &str, issuer: Option<&Authority>) -> Option<Caa> {
        let set = self.relevant(name::host(name))?;
        let wild = name::host(name) != name;
        let property = if wild && set.issuewild.is_some() { &set.issuewild } else { &set.issue };
        let permitted = property.as_ref().filter(|_| !set.unclear)?;
        match issuer {
            Some(issuer) if permitted.iter().any(|domain| issuer.is_called(domain)) => {
                Some(Caa::Permits)
            }
            Some(_) => Some(Caa::Forbids),
            None => {
                permitted.iter().all(|domain| authority::is_known(domain)).then_some(Caa::Forbids)
            }
        }
    }

    /// The first set that is there on the way up (RFC 8659, section 3).
    fn relevant(&self, host: &str) -> Option<&Set> {
        for owner in climb(host) {
            match self.by_owner.get(owner)? {
                Some(set) if set.is_there => return Some(set),
                Some(_) => {}
                None => return None,
            }
        }
        None
    }
}

impl Set {
    /// Takes in one record in presentation form: `0 issue "ca.example; policy=x"`.
    fn add(&mut self, record: &str) {
        self.is_there = true;
        let mut words = record.trim().splitn(3, char::is_whitespace);
        let (Some(flags), Some(tag), Some(value)) = (words.next(), words.next(), words.next())
        else {
            return;
        };
        let domain = issuer_domain(&unquote(value));
        match tag.to_ascii_lowercase().as_str() {
            "issue" => self.issue.get_or_insert_default().extend(domain),
            "issuewild" => self.issuewild.get_or_insert_default().extend(domain),
            "iodef" | "contactemail" | "contactphone" | "issuevmc" | "issuemail" => {}
            _ => self.unclear |= flags.parse::<u8>().is_ok_and(|flags| flags & CRITICAL != 0),
        }
    }
}

/// What comes before the parameters; none forbids everybody.
fn issuer_domain(value: &str) -> Option<String> {
    let domain = value.split(';').next().unwrap_or_default();
    name::canonical(domain)
}

/// The name and what lies above it, up to the top-level domain.
fn climb(host: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(host), |name| name::parent(name))
}

fn own_names<'a>(certificate: &'a Certificate, domain: &'a str) -> impl Iterator<Item = &'a str> {
    let names = certificate.names.iter().map(String::as_str);
    names.filter(move |name| name::concerns(name, domain))
}

fn question(owner: &str) -> Question {
    Question { name: owner.to_owned(), rrtype: "CAA".to_owned(), validate: false, resolver: None }
}

fn read(answer: Result<Answer, NetError>) -> Option<Set> {
    let answer = match answer {
        Ok(answer) => answer,
        // The host's own way to say NXDOMAIN.
        Err(NetError::NameNotFound) => return Some(Set::default()),
        Err(_) => return None,
    };
    if !matches!(answer.rcode.as_str(), "NOERROR" | "NXDOMAIN") {
        return None;
    }
    let mut set = Set::default();
    // Also of an alias's target: RFC 8659, section 3.
    for record in answer.records.iter().filter(|record| record.rrtype == "CAA").take(RECORDS) {
        set.add(&record.data);
    }
    Some(set)
}

/// A character string of RFC 1035, section 5.1. Bytes that are no text cannot be a domain.
fn unquote(text: &str) -> String {
    let text = text.trim();
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let mut plain = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        let code: Option<String> = rest.as_str().get(..3).map(str::to_owned);
        match code.and_then(|code| code.parse::<u8>().ok()) {
            Some(byte) => {
                plain.push(char::from(byte));
                rest = rest.as_str().get(3..).unwrap_or_default().chars();
            }
            None => plain.extend(rest.next()),
        }
    }
    plain
}

/// The issuer critical flag (RFC 8659, section 4.1).
const CRITICAL: u8 = 128;
/// Names that are looked up in one run.
const OWNERS: usize = 32;
/// Questions of one call.
const AT_ONCE: usize = 16;
/// Of one name.
const RECORDS: usize = 100;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vedette_sdk::testing::Host;

    use super::*;
    use crate::{fixture, issuer::Issuer};

    const DOMAIN: &str = "www.example.com";

    fn certificate(dn: &str, names: &[&str]) -> Certificate {
        Certificate {
            issuer: Issuer::of_dn(dn),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            ..Certificate::default()
        }
    }

    fn judge(zone: &'static [(&str, &str)], certificate: &Certificate) -> Option<Caa> {
        let host = Host::new();
        fixture::caa(&host, zone);
        let records = Records::look_up(&host.cx(), DOMAIN, [certificate].into_iter());
        records.verdict(certificate, DOMAIN)
    }

    #[test]
    fn first_records_on_the_way_up_decide() {
        let letsencrypt = certificate("O=Let's Encrypt, CN=R11", &[DOMAIN]);
        for (zone, expected) in [
            (&[][..], None),
            (&[("example.com", "0 issue \"letsencrypt.org\"")], Some(Caa::Permits)),
            (&[("example.com", "0 ISSUE \" LetsEncrypt.org ; a=b\"")], Some(Caa::Permits)),
            (&[("example.com", "0 issue \"a.letsencrypt.org\"")], Some(Caa::Permits)),
            (&[("example.com", "0 issue \"digicert.com\"")], Some(Caa::Forbids)),
            (&[("example.com", "0 issue \";\"")], Some(Caa::Forbids)),
            (&[("example.com", "0 iodef \"mailto:a@example.com\"")], None),
            (&[(DOMAIN, "0 iodef \"mailto:a@b\""), ("example.com", "0 issue \";\"")], None),
            (&[(DOMAIN, "0 issuemail \";\""), ("example.com", "0 issue \"digicert.com\"")], None),
            (&[(DOMAIN, "0 news \"x\""), ("example.com", "0 issue \"letsencrypt.org\"")], None),
            (&[("example.com", "128 news \"x\""), ("example.com", "0 issue \";\"")], None),
            (&[("com", "0 issue \"digicert.com\"")], Some(Caa::Forbids)),
            (
                &[
                    (DOMAIN, "0 issue \"letsencrypt.org\""),
                    ("example.com", "0 issue \"digicert.com\""),
                ],
                Some(Caa::Permits),
            ),
            (&[(DOMAIN, "SERVFAIL"), ("example.com", "0 issue \"letsencrypt.org\"")], None),
            (&[(DOMAIN, "TIMEOUT"), ("example.com", "0 issue \"digicert.com\"")], None),
            (&[(DOMAIN, "NXDOMAIN"), ("example.com", "0 issue \";\"")], Some(Caa::Forbids)),
        ] {
            assert_eq!(judge(zone, &letsencrypt), expected, "{zone:?}");
        }
    }

    #[test]
    fn wildcards_have_a_property_of_their_own() {
        let zone: &[(&str, &str)] = &[
            ("www.example.com", "0 issue \"letsencrypt.org\""),
            ("www.example.com", "0 issuewild \"digicert.com\""),
        ];
        let names = |names: &[&str]| certificate("O=Let's Encrypt, CN=R11", names);
        assert_eq!(judge(zone, &names(&[DOMAIN])), Some(Caa::Permits));
        assert_eq!(judge(zone, &names(&["*.www.example.com"])), Some(Caa::Forbids));
        assert_eq!(judge(zone, &names(&[DOMAIN, "*.www.example.com"])), Some(Caa::Forbids));
        let issue: &[(&str, &str)] = &[("example.com", "0 issue \"letsencrypt.org\"")];
        assert_eq!(judge(issue, &names(&["*.example.com"])), Some(Caa::Permits));
    }

    #[test]
    fn unknown_authority_is_none_of_those_that_are_known() {
        let evil = certificate("O=Evil CA", &[DOMAIN]);
        for (zone, expected) in [
            (&[("example.com", "0 issue \"letsencrypt.org\"")][..], Some(Caa::Forbids)),
            (&[("example.com", "0 issue \";\"")], Some(Caa::Forbids)),
            (&[("example.com", "0 issue \"ca.unknown.example\"")], None),
            (
                &[
                    ("example.com", "0 issue \"letsencrypt.org\""),
                    ("example.com", "0 issue \"ca.unknown.example\""),
                ],
                None,
            ),
            (&[("example.com", "128 news \"x\""), ("example.com", "0 issue \";\"")], None),
            (&[], None),
        ] {
            assert_eq!(judge(zone, &evil), expected, "{zone:?}");
        }
        let zone: &[(&str, &str)] = &[("example.com", "0 issue \"letsencrypt.org\"")];
        assert_eq!(judge(zone, &certificate("O=DigiCert Inc", &[DOMAIN])), Some(Caa::Forbids));
        assert_eq!(judge(zone, &certificate("O=DigiCert Inc", &["other.net"])), None);
    }

    #[test]
    fn lookups_are_bounded() {
        let host = Host::new();
        fixture::caa(&host, &[]);
        let many: Vec<Certificate> =
            (0..500).map(|n| certificate("O=X", &[&format!("h{n}.www.example.com")])).collect();
        let records = Records::look_up(&host.cx(), DOMAIN, many.iter());
        assert_eq!(records.by_owner.len(), OWNERS);
    }

    proptest! {
        #[test]
        fn any_record_is_read_or_ignored(records in prop::collection::vec(".{0,60}", 0..6)) {
            let mut set = Set::default();
            for record in &records {
                set.add(record);
                set.add(&format!("0 issue \"{record}\""));
            }
            let _ = set;
        }
    }
}
