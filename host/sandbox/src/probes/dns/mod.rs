//! DNS questions, with what DNSSEC says about each answer.

mod chain;
mod presentation;

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use hickory_resolver::{
    lookup::Lookup,
    net::{DnsError, NetError as DnsFailure},
    proto::{
        dnssec::Proof,
        op::ResponseCode,
        rr::{Name, Record, RecordType},
    },
};
use tokio::time::timeout_at;
use vedette_model::DomainName;

use super::{Reach, address, many, micros};
use crate::egress::{
    Audience, NetError, Phase, Refusal, Resolver, Validation, absolute, code, is_silence, refused,
};

/// One question. `rrtype`: a mnemonic or `TYPE65`; `resolver`: an address literal, vetted like
/// any, asked at port 53 in place of the operator's servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub name: String,
    pub rrtype: String,
    pub validate: bool,
    pub resolver: Option<String>,
}

/// One record; `data` in RFC 1035 presentation form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rr {
    pub name: String,
    pub rrtype: String,
    pub ttl: u32,
    pub data: String,
}

/// What validation says about an answer (RFC 4035 section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dnssec {
    Secure,
    Insecure,
    Bogus,
    /// Not asked for, or not possible through this server.
    Indeterminate,
}

/// An answer, also a negative one. `rcode` as in `NOERROR`, `NXDOMAIN`, `SERVFAIL`; a bogus
/// answer is a `SERVFAIL` without records, as a validating server gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub rcode: String,
    pub records: Vec<Rr>,
    pub dnssec: Dnssec,
    pub dnssec_detail: Option<String>,
    /// Address and port of the server that answered.
    pub server: String,
    pub elapsed_us: u32,
}

/// Asks one question. An error means that nobody answered: [`NetError::Timeout`] or the code
/// `resolver-down`.
pub async fn lookup(reach: Reach, question: Question) -> Result<Answer, NetError> {
    let started = Instant::now();
    let name = absolute(&question.name)?;
    let rrtype = record_type(&question.rrtype)?;
    vet_name(&reach, &question.name)?;
    let deadline = reach.deadline.min(started + PATIENCE);
    let own = match &question.resolver {
        Some(server) => Some(own_resolver(&reach, server)?),
        None => None,
    };
    let resolver = own.as_ref().unwrap_or(reach.egress.resolver());
    let validation = if question.validate { Validation::Ours } else { Validation::Nobodys };
    let asked = resolver.lookup(&name, rrtype, validation);
    let Ok(answered) = timeout_at(deadline.into(), asked).await else {
        return Err(silence(resolver, deadline).await);
    };
    let elapsed = started.elapsed();
    let mut found = match read(answered.outcome) {
        Some(found) => found,
        None => return Err(silence(resolver, deadline).await),
    };
    if !question.validate {
        found.dnssec = Dnssec::Indeterminate;
    } else if found.dnssec == Dnssec::Bogus && !is_signing_visible(resolver, deadline).await {
        found.dnssec = Dnssec::Indeterminate;
        found.detail = Some("the DNS server does not deliver signatures".to_owned());
    } else if found.dnssec == Dnssec::Secure {
        let signers = std::mem::take(&mut found.signers);
        if !chain::are_keys_signed(resolver, signers, deadline).await {
            found = Found::bogus("no signature holds over the keys of a zone");
        }
    }
    Ok(Answer {
        rcode: presentation::rcode(found.rcode),
        records: found.records,
        dnssec: found.dnssec,
        dnssec_detail: found.detail,
        server: answered.server.to_string(),
        elapsed_us: micros(elapsed),
    })
}

/// Several questions at once, at most four in flight; answers keep their order.
pub async fn lookup_many(reach: Reach, questions: Vec<Question>) -> Vec<Result<Answer, NetError>> {
    many(questions, |question| lookup(reach.clone(), question)).await
}

struct Found {
    rcode: ResponseCode,
    records: Vec<Rr>,
    dnssec: Dnssec,
    detail: Option<String>,
    /// Zones whose signatures hold in it.
    signers: Vec<Name>,
}

impl Found {
    fn bogus(detail: &str) -> Self {
        Self {
            rcode: ResponseCode::ServFail,
            records: Vec::new(),
            dnssec: Dnssec::Bogus,
            detail: Some(detail.to_owned()),
            signers: Vec::new(),
        }
    }
}

/// None: nobody answered.
fn read(outcome: Result<Lookup, DnsFailure>) -> Option<Found> {
    let error = match outcome {
        Ok(lookup) => return Some(positive(&lookup)),
        Err(error) if is_silence(&error) => return None,
        Err(error) => error,
    };
    let empty = |rcode, dnssec, detail: Option<&str>| Found {
        rcode,
        records: Vec::new(),
        dnssec,
        detail: detail.map(str::to_owned),
        signers: Vec::new(),
    };
    Some(match error {
        DnsFailure::Dns(DnsError::NoRecordsFound(none)) => {
            let proofs = none.authorities.iter().flat_map(|records| records.iter());
            let proofs = proofs.filter(|record| record.record_type() != RecordType::RRSIG);
            let state = weakest(proofs.map(|record| record.proof));
            let authorities = none.authorities.iter().flat_map(|records| records.iter());
            let signers = chain::signers(authorities);
            Found { signers, ..empty(none.response_code, state, None) }
        }
        DnsFailure::Dns(DnsError::Nsec { response, proof, .. }) => {
            let detail = "the denial of existence is not proven";
            let detail = (proof == Proof::Bogus).then_some(detail);
            // A bogus denial may hide records: it says nothing about what exists.
            let rcode = match proof {
                Proof::Bogus => ResponseCode::ServFail,
                Proof::Secure | Proof::Insecure | Proof::Indeterminate => response.response_code,
            };
            let signers = chain::signers(response.authorities.iter());
            Found { signers, ..empty(rcode, state(proof), detail) }
        }
        DnsFailure::Dns(DnsError::DnssecBogus) => {
            Found::bogus("a signature does not verify, or is missing where one must be")
        }
        DnsFailure::Dns(DnsError::ResponseCode(rcode)) => empty(rcode, Dnssec::Indeterminate, None),
        _ => empty(ResponseCode::ServFail, Dnssec::Indeterminate, Some("the answer is malformed")),
    })
}

fn positive(lookup: &Lookup) -> Found {
    // Signatures are how the answer is judged, not what was asked for.
    let asked_for_signatures = lookup.query().query_type() == RecordType::RRSIG;
    let answers = lookup.answers().iter();
    let shown =
        answers.filter(|record| asked_for_signatures || record.record_type() != RecordType::RRSIG);
    Found {
        rcode: lookup.message().metadata.response_code,
        records: shown.clone().map(shown_record).collect(),
        dnssec: weakest(shown.map(|record| record.proof)),
        detail: None,
        signers: chain::signers(lookup.answers().iter()),
    }
}

fn shown_record(record: &Record) -> Rr {
    Rr {
        name: record.name.to_ascii(),
        rrtype: presentation::rrtype(record.record_type()),
        ttl: record.ttl,
        data: presentation::data(&record.data),
    }
}

/// An answer is as good as the weakest record in it; of no records nothing is known.
fn weakest(proofs: impl Iterator<Item = Proof>) -> Dnssec {
    let rank = |state: &Dnssec| match state {
        Dnssec::Bogus => 0,
        Dnssec::Indeterminate => 1,
        Dnssec::Insecure => 2,
        Dnssec::Secure => 3,
    };
    proofs.map(state).min_by_key(rank).unwrap_or(Dnssec::Indeterminate)
}

fn state(proof: Proof) -> Dnssec {
    match proof {
        Proof::Secure => Dnssec::Secure,
        Proof::Insecure => Dnssec::Insecure,
        Proof::Bogus => Dnssec::Bogus,
        Proof::Indeterminate => Dnssec::Indeterminate,
    }
}

/// Through a server that strips signatures everything looks bogus, the root's own keys too.
async fn is_signing_visible(resolver: &Resolver, deadline: Instant) -> bool {
    let root = Name::root();
    let asked = resolver.lookup(&root, RecordType::DNSKEY, Validation::Ours);
    let bound = deadline.max(Instant::now() + Duration::from_secs(1));
    match timeout_at(bound.into(), asked).await {
        Ok(answered) => match answered.outcome {
            Ok(keys) => keys.answers().iter().any(|record| record.proof == Proof::Secure),
            Err(_) => false,
        },
        Err(_) => false,
    }
}

/// Nobody answered: is it this name, or is it the server?
async fn silence(resolver: &Resolver, deadline: Instant) -> NetError {
    let bound = deadline.max(Instant::now() + Duration::from_secs(1));
    if resolver.is_alive(bound).await {
        NetError::Timeout(Phase::Resolve)
    } else {
        NetError::other(code::RESOLVER_DOWN, "the DNS servers do not answer")
    }
}

/// Public endpoints ask for names of the public DNS alone. Names that are no host names
/// (`_dmarc.…`, the root) are questions like any other.
fn vet_name(reach: &Reach, name: &str) -> Result<(), NetError> {
    match DomainName::parse(name) {
        Ok(name) => reach.egress.policy().vet_name(&name, reach.audience).map_err(refused),
        Err(_) if reach.audience == Audience::Public => {
            let refusal = Refusal::Name("the name is not one of the public DNS".to_owned());
            Err(refused(refusal))
        }
        Err(_) => Ok(()),
    }
}

fn own_resolver(reach: &Reach, server: &str) -> Result<Resolver, NetError> {
    let server = SocketAddr::new(address(server)?, 53);
    reach.egress.policy().vet_socket(server, reach.audience).map_err(refused)?;
    let resolver = reach.egress.resolver().only(server);
    resolver.map_err(|error| NetError::other(code::RESOLVER_DOWN, error.to_string()))
}

/// A mnemonic in any case, or `TYPE` and a number. Zone transfers and ANY are no questions.
fn record_type(text: &str) -> Result<RecordType, NetError> {
    let upper = text.to_ascii_uppercase();
    let numbered = upper.strip_prefix("TYPE").and_then(|number| number.parse::<u16>().ok());
    let known = numbered.map(RecordType::from).or_else(|| upper.parse().ok());
    let usable = known.filter(|rrtype| !matches!(u16::from(*rrtype), 0 | 41 | 249..=255));
    usable.ok_or_else(|| NetError::NotPermitted(format!("{text} is not a type of records")))
}

/// One question takes no longer than this.
const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_mnemonics_or_numbers() {
        assert_eq!(record_type("mx").unwrap(), RecordType::MX);
        assert_eq!(record_type("TYPE65").unwrap(), RecordType::HTTPS);
        assert_eq!(u16::from(record_type("TYPE65280").unwrap()), 65280);
        for refused in ["ANY", "AXFR", "TYPE252", "TYPE255", "OPT", "TYPE", "TYPE70000", "", "*"] {
            assert!(record_type(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn an_answer_is_as_good_as_its_weakest_record() {
        let judge = |proofs: &[Proof]| weakest(proofs.iter().copied());
        assert_eq!(judge(&[Proof::Secure, Proof::Secure]), Dnssec::Secure);
        assert_eq!(judge(&[Proof::Secure, Proof::Insecure]), Dnssec::Insecure);
        assert_eq!(judge(&[Proof::Insecure, Proof::Bogus]), Dnssec::Bogus);
        assert_eq!(judge(&[]), Dnssec::Indeterminate);
    }
}
