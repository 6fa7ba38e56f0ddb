//! Validated records, for tests of what is made of them.

use hickory_resolver::proto::{
    dnssec::{
        Algorithm, Proof,
        rdata::{DNSSECRData, RRSIG, SigInput},
    },
    rr::{Name, RData, Record, RecordType, SerialNumber},
};

pub(super) fn name(text: &str) -> Name {
    Name::from_ascii(text).expect("a test writes a name")
}

pub(super) fn record(owner: &str, data: RData) -> Record {
    let mut record = Record::from_rdata(name(owner), 300, data);
    record.proof = Proof::Secure;
    record
}

/// A signature that says of how many labels the name was which the zone signed.
pub(super) fn signed(owner: &str, covers: RecordType, labels: u8, zone: &str) -> Record {
    let input = SigInput {
        type_covered: covers,
        algorithm: Algorithm::ECDSAP256SHA256,
        num_labels: labels,
        original_ttl: 300,
        sig_expiration: SerialNumber::new(0),
        sig_inception: SerialNumber::new(0),
        key_tag: 1,
        signer_name: name(zone),
    };
    record(owner, RData::DNSSEC(DNSSECRData::RRSIG(RRSIG::from_sig(input, Vec::new()))))
}
