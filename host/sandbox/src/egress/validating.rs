//! Questions whose answers are validated here, by our own anchors (RFC 4035).
//!
//! The parts are those that the resolver's builder puts together, with one more between the
//! validator and the client: there a refused answer can still be looked at. The client behind it
//! says of every refusal only that there was one.
//!
//! *Invariant:* what the validator calls bogus stays bogus, except sound expansions of wildcards,
//! and aliases: their end is validated by itself, and those that a redirection made are signed with
//! it.
//! *Invariant:* one validation asks for at most [`MOST_QUESTIONS`], and the server for each once,
//! unless it is silent.

use std::{collections::HashMap, sync::Arc};

use futures::{
    StreamExt,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use hickory_resolver::{
    NameServerPool, PoolContext, TlsConfig,
    caching_client::CachingClient,
    config::ResolverOpts,
    lookup::Lookup,
    net::{
        DnsError, NetError, dnssec::DnssecDnsHandle, runtime::TokioRuntimeProvider, xfer::DnsHandle,
    },
    proto::{
        dnssec::{Proof, TrustAnchors},
        op::{DnsRequest, DnsRequestOptions, DnsResponse, Query},
        rr::{
            Name, RData, Record, RecordType,
            rdata::{CNAME, NS, PTR},
        },
    },
};
use parking_lot::Mutex;

use super::{DnsServer, alias, expansion::is_sound, unchecked::Unchecked};

/// One server, whose answers are validated.
pub(super) struct Validating {
    client: CachingClient<Reconsidering>,
    asked: DnsRequestOptions,
}

impl Validating {
    pub(super) fn new(
        server: &DnsServer,
        tls: rustls::ClientConfig,
        options: ResolverOpts,
        anchors: Arc<TrustAnchors>,
    ) -> Self {
        let mut asked = DnsRequestOptions::default();
        asked.edns_payload_len = options.edns_payload_len;
        asked.edns_set_dnssec_ok = true;
        let context = Arc::new(PoolContext::new(options, TlsConfig { config: tls }));
        let pool = NameServerPool::from_config([server.config()], context, Unchecked::default());
        // A zone with too many iterations of NSEC3 is passed over, however many: it is not broken.
        let validator = DnssecDnsHandle::with_trust_anchor(Bounded(pool), anchors)
            .nsec3_iteration_limits(None, Some(u16::MAX));
        // Nothing is cached, and aliases on the way are part of the answer.
        Self { client: CachingClient::new(0, Reconsidering(validator), true), asked }
    }

    pub(super) async fn lookup(&self, name: Name, rtype: RecordType) -> Result<Lookup, NetError> {
        let questions: Arc<Mutex<Questions>> = Arc::default();
        let answer: BoxFuture<'_, Result<Lookup, NetError>> =
            Box::pin(self.client.lookup(Query::query(name, rtype), self.asked));
        let outcome = QUESTIONS.scope(Arc::clone(&questions), answer).await;
        // What was proven stays so; a proof that is missing may be one that was not asked for.
        if outcome.is_err() && questions.lock().count > MOST_QUESTIONS {
            return Err(NetError::Message(GAVE_UP));
        }
        outcome
    }
}

/// Whether a validation ended without a result because it asked for too much.
pub(super) fn gave_up(error: &NetError) -> bool {
    matches!(error, NetError::Message(message) if *message == GAVE_UP)
}

const GAVE_UP: &str = "validation asks for too much";

/// A chain of trust takes some two for each zone on the way. More than this ask servers that say of
/// every name that a zone begins there: the validator follows each from each, and does not see that
/// it was there before.
const MOST_QUESTIONS: usize = 256;

/// What one validation has asked for.
#[derive(Default)]
struct Questions {
    count: usize,
    answers: HashMap<Query, Result<DnsResponse, NetError>>,
}

tokio::task_local! {
    /// Those of the validation under way. The validator lives on, for the proofs that it remembers.
    static QUESTIONS: Arc<Mutex<Questions>>;
}

/// The client, for as much as one validation may ask.
#[derive(Clone)]
struct Bounded(NameServerPool<Unchecked>);

impl DnsHandle for Bounded {
    type Response = BoxStream<'static, Result<DnsResponse, NetError>>;
    type Runtime = TokioRuntimeProvider;

    fn send(&self, request: DnsRequest) -> Self::Response {
        let (Ok(questions), Some(query)) =
            (QUESTIONS.try_with(Arc::clone), request.queries.first().cloned())
        else {
            return self.0.send(request).map(canonical).boxed();
        };
        let known = {
            let mut questions = questions.lock();
            questions.count += 1;
            if questions.count > MOST_QUESTIONS {
                Some(Err(NetError::Message(GAVE_UP)))
            } else {
                questions.answers.get(&query).cloned()
            }
        };
        if let Some(outcome) = known {
            return stream::once(ready(outcome)).boxed();
        }
        let keep = move |outcome: Result<DnsResponse, NetError>| {
            let outcome = canonical(outcome);
            // Silence may be a lost datagram: that is asked again.
            if matches!(outcome, Ok(_) | Err(NetError::Dns(_))) {
                questions.lock().answers.insert(query.clone(), outcome.clone());
            }
            outcome
        };
        self.0.send(request).map(keep).boxed()
    }
}

/// With the names in the records as they are signed: in lower case (RFC 4034, 6.2). The validator puts
/// a set in order as it came, and would not find the order that was signed (6.3).
fn canonical(outcome: Result<DnsResponse, NetError>) -> Result<DnsResponse, NetError> {
    outcome.map(|mut response| {
        lower_names(&mut response.answers);
        lower_names(&mut response.authorities);
        response
    })
}

fn lower_names(records: &mut [Record]) {
    for record in records {
        match &mut record.data {
            RData::NS(NS(name)) | RData::CNAME(CNAME(name)) | RData::PTR(PTR(name)) => {
                *name = name.to_lowercase();
            }
            RData::SRV(srv) => srv.target = srv.target.to_lowercase(),
            RData::NAPTR(naptr) => naptr.replacement = naptr.replacement.to_lowercase(),
            RData::MX(mx) => mx.exchange = mx.exchange.to_lowercase(),
            RData::SOA(soa) => {
                soa.mname = soa.mname.to_lowercase();
                soa.rname = soa.rname.to_lowercase();
            }
            _ => {}
        }
    }
}

/// The validator, corrected where it asks for more than the standard.
#[derive(Clone)]
struct Reconsidering(DnssecDnsHandle<Bounded>);

impl DnsHandle for Reconsidering {
    type Response = BoxStream<'static, Result<DnsResponse, NetError>>;
    type Runtime = TokioRuntimeProvider;

    fn is_verifying_dnssec(&self) -> bool {
        true
    }

    fn send(&self, request: DnsRequest) -> Self::Response {
        self.0.send(request).map(reconsider).boxed()
    }
}

/// The validator refuses an answer that a wildcard made unless a record denies the wildcard itself,
/// which for NSEC none does; one whose denial is about the end of a chain of aliases, which the
/// client then asks about; and the aliases that a redirection made. Where it passes a denial over
/// (too many iterations of NSEC3), the records that stand before it are passed over, too: they are
/// there, and prove nothing.
fn reconsider(outcome: Result<DnsResponse, NetError>) -> Result<DnsResponse, NetError> {
    match outcome {
        Ok(mut response) => {
            alias::derive(&mut response.answers);
            Ok(response)
        }
        Err(NetError::Dns(DnsError::Nsec { query, response, proof: Proof::Bogus, .. })) => {
            let bogus = NetError::from(DnsError::DnssecBogus);
            sound(&query, *response).ok_or(bogus)
        }
        Err(NetError::Dns(DnsError::Nsec { mut response, proof: Proof::Insecure, .. }))
            if !response.answers.is_empty() =>
        {
            for record in &mut response.answers {
                if record.proof == Proof::Secure {
                    record.proof = Proof::Insecure;
                }
            }
            Ok(*response)
        }
        Err(other) => Err(other),
    }
}

/// What holds of an answer whose denial does not.
fn sound(query: &Query, mut response: DnsResponse) -> Option<DnsResponse> {
    alias::derive(&mut response.answers);
    if is_sound(query, &response.answers, &response.authorities) {
        return Some(response);
    }
    response.answers = alias::leading(query, &response.answers, &response.authorities)?;
    response.authorities.clear();
    Some(response)
}
