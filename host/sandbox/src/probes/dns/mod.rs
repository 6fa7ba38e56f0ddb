//! DNS questions, with what DNSSEC says about each answer.

mod chain;
mod found;
mod presentation;

use std::{
    net::SocketAddr,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use futures::future::{Either, join_all, select};
use hickory_resolver::proto::{
    dnssec::Proof,
    rr::{Name, RecordType},
};
use tokio::{
    sync::OnceCell,
    time::{sleep_until, timeout_at},
};
use vedette_model::DomainName;

use self::found::{Found, read};
use super::{Reach, address, micros};
use crate::egress::{
    Answered, Audience, NetError, Phase, Refusal, Resolver, Validation, absolute, code, refused,
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
    lookup_among(reach, question, &Call::default()).await
}

/// Several questions, all at once; answers keep their order. Where some are answered, the others
/// are waited for less long: there are servers that never answer about types which they do not know.
pub async fn lookup_many(reach: Reach, questions: Vec<Question>) -> Vec<Result<Answer, NetError>> {
    let call = Call::default();
    let asked = questions.into_iter().map(|one| lookup_among(reach.clone(), one, &call));
    join_all(asked).await
}

/// What the questions of a call have learned of the servers that they all ask.
#[derive(Default)]
struct Call {
    /// Whether any question was answered.
    spoken: AtomicBool,
    /// Whether anything can be validated; asked once, by the first that needs it.
    root_keys: OnceCell<bool>,
}

async fn lookup_among(reach: Reach, question: Question, call: &Call) -> Result<Answer, NetError> {
    let started = Instant::now();
    let name = absolute(&question.name)?;
    let rrtype = record_type(&question.rrtype)?;
    vet_name(&reach, &question.name)?;
    let deadline = reach.deadline.min(started + PATIENCE);
    let own = match &question.resolver {
        Some(server) => Some(own_resolver(&reach, server)?),
        None => None,
    };
    let alone = Call::default();
    let (resolver, call) = match &own {
        Some(own) => (own, &alone),
        None => (reach.egress.resolver(), call),
    };
    let asking = Asking { resolver, name: &name, rrtype, started, deadline, call };
    let answered = if question.validate {
        asking.validated().await
    } else {
        asking.unvalidated().await.map(|answered| (answered, false))
    };
    let elapsed = started.elapsed();
    let said = answered.and_then(|(Answered { server, outcome }, is_validated)| {
        Some((server, read(outcome)?, is_validated))
    });
    let Some((server, mut found, is_validated)) = said else {
        return Err(asking.silence().await);
    };
    call.spoken.store(true, Ordering::Relaxed);
    if !is_validated {
        found.dnssec = Dnssec::Indeterminate;
        if question.validate {
            let detail = match call.root_keys.get() {
                Some(false) => "the DNS server does not deliver signatures",
                Some(true) | None => "what validation asks for is not answered",
            };
            found.detail = Some(detail.to_owned());
        }
    } else if found.dnssec == Dnssec::Bogus && !is_signing_visible(resolver).await {
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
        server: server.to_string(),
        elapsed_us: micros(elapsed),
    })
}

/// A question on its way. None of its answers: nobody said anything in time.
struct Asking<'a> {
    resolver: &'a Resolver,
    name: &'a Name,
    rrtype: RecordType,
    started: Instant,
    deadline: Instant,
    call: &'a Call,
}

impl Asking<'_> {
    async fn unvalidated(&self) -> Option<Answered> {
        let mut asked = pin!(self.lookup(Validation::Nobodys));
        let soon = self.deadline.min(self.started + ANSWERED_BESIDE);
        if let Ok(answered) = timeout_at(soon.into(), &mut asked).await {
            return Some(answered);
        }
        if self.call.spoken.load(Ordering::Relaxed) {
            return None;
        }
        timeout_at(self.deadline.into(), asked).await.ok()
    }

    /// With whether it was validated. Validation asks for more than the records, and for what this
    /// server may never answer: after a moment the records are asked for by themselves, too, and
    /// count where validation does not come to an end, or finds nobody who answers.
    async fn validated(&self) -> Option<(Answered, bool)> {
        let validated = pin!(self.judged());
        let unvalidated = pin!(async {
            sleep_until(self.deadline.min(self.started + DOUBT).into()).await;
            self.unvalidated().await
        });
        match select(validated, unvalidated).await {
            Either::Left((Some(answered), _)) if !answered.is_silence() => Some((answered, true)),
            Either::Left(_) => self.unvalidated().await.map(|records| (records, false)),
            Either::Right((None, _)) => None,
            Either::Right((Some(records), validated)) => {
                match timeout_at(self.deadline.into(), validated).await {
                    Ok(Some(answered)) if !answered.is_silence() => Some((answered, true)),
                    Ok(_) | Err(_) => Some((records, false)),
                }
            }
        }
    }

    /// None: validation cannot begin, or came to no end.
    async fn judged(&self) -> Option<Answered> {
        let bound = self.deadline.min(Instant::now() + BEGIN);
        let ask = || self.resolver.has_root_keys(bound);
        if !*self.call.root_keys.get_or_init(ask).await {
            return None;
        }
        let answered = self.lookup(Validation::Ours).await;
        let gave_up = answered.outcome.as_ref().err().is_some_and(Resolver::gave_up);
        (!gave_up).then_some(answered)
    }

    async fn lookup(&self, validation: Validation) -> Answered {
        self.resolver.lookup(self.name, self.rrtype, validation).await
    }

    /// Nobody answered: is it this question, or is it the server?
    async fn silence(&self) -> NetError {
        let bound = self.deadline.max(Instant::now() + Duration::from_secs(1));
        if self.call.spoken.load(Ordering::Relaxed) || self.resolver.is_alive(bound).await {
            NetError::Timeout(Phase::Resolve)
        } else {
            NetError::other(code::RESOLVER_DOWN, "the DNS servers do not answer")
        }
    }
}

/// Through a server that strips signatures everything looks bogus, the root's own keys too.
async fn is_signing_visible(resolver: &Resolver) -> bool {
    let root = Name::root();
    let asked = resolver.lookup(&root, RecordType::DNSKEY, Validation::Ours);
    let bound = Instant::now() + ROOT_KEYS;
    match timeout_at(bound.into(), asked).await {
        Ok(answered) => match answered.outcome {
            Ok(keys) => keys.answers().iter().any(|record| record.proof == Proof::Secure),
            Err(_) => false,
        },
        Err(_) => false,
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
pub(crate) fn record_type(text: &str) -> Result<RecordType, NetError> {
    let upper = text.to_ascii_uppercase();
    let numbered = upper.strip_prefix("TYPE").and_then(|number| number.parse::<u16>().ok());
    let known = numbered.map(RecordType::from).or_else(|| upper.parse().ok());
    let usable = known.filter(|rrtype| !matches!(u16::from(*rrtype), 0 | 41 | 249..=255));
    usable.ok_or_else(|| NetError::NotPermitted(format!("{text} is not a type of records")))
}

/// One question takes no longer than this.
const PATIENCE: Duration = Duration::from_secs(5);
/// And no longer than this where others beside it were answered.
const ANSWERED_BESIDE: Duration = Duration::from_secs(3);
/// A validation that takes longer may have met silence.
const DOUBT: Duration = Duration::from_secs(1);
/// A server that has no keys of the root says so at once; later ones are not waited for.
const BEGIN: Duration = Duration::from_millis(500);
/// Every server that validates has the keys of the root at hand.
const ROOT_KEYS: Duration = Duration::from_millis(1500);

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
