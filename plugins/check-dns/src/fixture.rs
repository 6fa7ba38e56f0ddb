//! What the tests of this crate share: answers of a resolver.

use vedette_sdk::dns::{Answer, Dnssec, Rr};

/// 2026-01-01T00:00:00Z, where the SDK's double starts.
pub(crate) const NOW: i64 = 1_767_225_600;

pub(crate) fn rr(name: &str, rrtype: &str, data: &str) -> Rr {
    Rr { name: name.to_owned(), rrtype: rrtype.to_owned(), ttl: 3_600, data: data.to_owned() }
}

pub(crate) fn answer(rcode: &str, records: Vec<Rr>) -> Answer {
    Answer {
        rcode: rcode.to_owned(),
        records,
        dnssec: Dnssec::Indeterminate,
        dnssec_detail: None,
        server: "192.0.2.53:53".to_owned(),
        elapsed_us: 1_500,
    }
}
