//! What an answer holds, and what its validation says of it.

use hickory_resolver::{
    lookup::Lookup,
    net::{DnsError, NetError as DnsFailure},
    proto::{
        dnssec::Proof,
        op::ResponseCode,
        rr::{Name, Record, RecordType},
    },
};

use super::{Dnssec, Rr, chain, presentation};
use crate::egress::is_silence;

pub(super) struct Found {
    pub(super) rcode: ResponseCode,
    pub(super) records: Vec<Rr>,
    pub(super) dnssec: Dnssec,
    pub(super) detail: Option<String>,
    /// Zones whose signatures hold in it.
    pub(super) signers: Vec<Name>,
}

impl Found {
    pub(super) fn bogus(detail: &str) -> Self {
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
pub(super) fn read(outcome: Result<Lookup, DnsFailure>) -> Option<Found> {
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
        name: presentation::name(&record.name),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_as_good_as_its_weakest_record() {
        let judge = |proofs: &[Proof]| weakest(proofs.iter().copied());
        assert_eq!(judge(&[Proof::Secure, Proof::Secure]), Dnssec::Secure);
        assert_eq!(judge(&[Proof::Secure, Proof::Insecure]), Dnssec::Insecure);
        assert_eq!(judge(&[Proof::Insecure, Proof::Bogus]), Dnssec::Bogus);
        assert_eq!(judge(&[]), Dnssec::Indeterminate);
    }
}
