//! DNS questions, with what DNSSEC says about each answer.

mod chain;
mod found;
mod presentation;

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use hickory_resolver::proto::{
    dnssec::Proof,
    rr::{Name, RecordType},
};
use tokio::time::timeout_at;
use vedette_model::DomainName;

use self::found::{Found, read};
use super::{Reach, address, many, micros};
use crate::egress::{
    Audience, NetError, Phase, Refusal, Resolver, Validation, absolute, code, refused,
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
}
