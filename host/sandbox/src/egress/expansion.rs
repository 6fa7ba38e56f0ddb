//! Positive answers that a wildcard made (RFC 4035 section 5.3.4; with NSEC3, RFC 5155 section 8.8).
//!
//! What is asked for is proof that no closer name exists than the wildcard's parent: else the
//! wildcard's records could be passed off as those of a name that has its own.
//!
//! *Invariant:* pure; it judges records that were validated before, and believes no other.

use data_encoding::BASE32_DNSSEC;
use hickory_resolver::proto::{
    dnssec::{
        Proof,
        rdata::{DNSSECRData, NSEC, NSEC3, RRSIG},
    },
    op::Query,
    rr::{Name, RData, Record, RecordType},
};

/// Whether an answer has what was asked for, everything in it is validly signed, a wildcard made
/// some of it, and no name that a wildcard made has a closer match.
pub(super) fn is_sound(query: &Query, answers: &[Record], authorities: &[Record]) -> bool {
    let answers_it = |record: &Record| {
        let rtype = record.record_type();
        record.name == query.name && (rtype == query.query_type || rtype == RecordType::CNAME)
    };
    let mut plain = answers.iter().filter(|record| record.record_type() != RecordType::RRSIG);
    let expanded: Vec<(&Name, &RRSIG)> = secure(answers)
        .filter_map(|record| Some((&record.name, signature(record)?)))
        .filter(|(name, signature)| signature.input().num_labels < name.num_labels())
        .collect();
    answers.iter().any(answers_it)
        && plain.all(|record| record.proof == Proof::Secure)
        && !expanded.is_empty()
        && expanded
            .into_iter()
            .all(|(name, signature)| has_no_closer_match(authorities, name, signature))
}

/// A denial of the same zone that covers the name, and shows that the wildcard's parent is the
/// closest name there is above it.
pub(super) fn has_no_closer_match(authorities: &[Record], name: &Name, made_by: &RRSIG) -> bool {
    let zone = &made_by.input().signer_name;
    let labels = made_by.input().num_labels;
    secure(authorities).any(|record| {
        let denies = match &record.data {
            RData::DNSSEC(DNSSECRData::NSEC(nsec)) => covers(&record.name, nsec, name, labels),
            RData::DNSSEC(DNSSECRData::NSEC3(nsec3)) => {
                record.name.base_name() == *zone
                    && covers_hash(&record.name, nsec3, &name.trim_to(usize::from(labels) + 1))
            }
            _ => false,
        };
        // A parent's record at a zone cut says nothing of the names below it (RFC 6840, 4.1).
        denies && is_signed_by(authorities, record, zone)
    })
}

/// Whether the name is denied, and the closest that exists above it has so many labels.
fn covers(owner: &Name, nsec: &NSEC, name: &Name, labels: u8) -> bool {
    let next = nsec.next_domain_name();
    // The last record of a zone points back to its apex.
    let is_between = owner < name && (name < next || next <= owner);
    let closest = common_labels(name, owner).max(common_labels(name, next));
    is_between && closest == labels
}

/// Whether the name is denied by its hash. What is asked about is the name just below the
/// wildcard's parent: where that is not, nothing is below it.
fn covers_hash(owner: &Name, nsec3: &NSEC3, next_closer: &Name) -> bool {
    if nsec3.iterations() > MOST_ITERATIONS {
        return false;
    }
    let hash = nsec3.hash_algorithm().hash(nsec3.salt(), next_closer, nsec3.iterations());
    let (Some(from), Ok(hash)) = (owner.iter().next().and_then(hash_of), hash) else {
        return false;
    };
    let hash: &[u8] = hash.as_ref();
    let (from, to) = (from.as_slice(), nsec3.next_hashed_owner_name());
    // The last record of a zone points back to the first.
    if from < to { from < hash && hash < to } else { from < hash || hash < to }
}

/// The hash that a label spells (RFC 5155 section 3.3).
fn hash_of(label: &[u8]) -> Option<Vec<u8>> {
    BASE32_DNSSEC.decode(label).ok()
}

fn is_signed_by(authorities: &[Record], denial: &Record, zone: &Name) -> bool {
    let mut signatures = secure(authorities).filter(|record| record.name == denial.name);
    signatures.any(|record| {
        signature(record).is_some_and(|signature| {
            let input = signature.input();
            input.type_covered == denial.record_type() && input.signer_name == *zone
        })
    })
}

/// Labels that two names share, counted from the root.
fn common_labels(one: &Name, other: &Name) -> u8 {
    let pairs = one.iter().rev().zip(other.iter().rev());
    let shared = pairs.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count();
    u8::try_from(shared).unwrap_or(u8::MAX)
}

pub(super) fn secure(records: &[Record]) -> impl Iterator<Item = &Record> {
    records.iter().filter(|record| record.proof == Proof::Secure)
}

pub(super) fn signature(record: &Record) -> Option<&RRSIG> {
    match &record.data {
        RData::DNSSEC(DNSSECRData::RRSIG(signature)) => Some(signature),
        _ => None,
    }
}

/// What the validator works out of NSEC3; of more it passes the zone over.
const MOST_ITERATIONS: u16 = 100;

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::{dnssec::Nsec3HashAlgorithm, rr::rdata::A};

    use super::{
        super::sample::{name, record, signed},
        *,
    };

    const ZONE: &str = "example.";

    /// An address of `owner`, made by the wildcard whose parent has so many labels.
    fn expanded(owner: &str, labels: u8) -> Vec<Record> {
        let address = RData::A(A([192, 0, 2, 1].into()));
        vec![record(owner, address), signed(owner, RecordType::A, labels, ZONE)]
    }

    fn is_proven(owner: &str, labels: u8, authorities: &[Record]) -> bool {
        let query = Query::query(name(owner), RecordType::A);
        is_sound(&query, &expanded(owner, labels), authorities)
    }

    fn nsec(owner: &str, next: &str, zone: &str) -> Vec<Record> {
        let nsec = NSEC::new(name(next), [RecordType::A]);
        let labels = name(owner).num_labels();
        let data = RData::DNSSEC(DNSSECRData::NSEC(nsec));
        vec![record(owner, data), signed(owner, RecordType::NSEC, labels, zone)]
    }

    #[test]
    fn what_covers_the_name_and_ends_at_the_wildcards_parent_is_proof() {
        for (owner, labels, from, to) in [
            // The wildcard's own record, the last of its zone: as `named` answers.
            ("a.w.example.", 2, "*.w.example.", "example."),
            ("A.W.example.", 2, "*.w.example.", "x.example."),
            ("b.a.w.example.", 2, "*.w.example.", "x.example."),
            ("b.w.example.", 2, "a.w.example.", "c.w.example."),
            ("b.example.", 1, "a.example.", "example."),
        ] {
            let authorities = nsec(from, to, ZONE);
            assert!(is_proven(owner, labels, &authorities), "{owner}: {from} to {to}");
        }
    }

    #[test]
    fn what_leaves_room_for_a_closer_name_is_none() {
        for (owner, labels, from, to) in [
            ("a.w.example.", 2, "x.example.", "example."),
            ("d.w.example.", 2, "a.w.example.", "c.w.example."),
            // There is a name between the wildcard and the one that was asked for.
            ("b.a.w.example.", 2, "a.w.example.", "c.w.example."),
            ("a.w.example.", 2, "*.w.example.", "z.a.w.example."),
            // The name itself.
            ("a.w.example.", 2, "a.w.example.", "c.w.example."),
        ] {
            let authorities = nsec(from, to, ZONE);
            assert!(!is_proven(owner, labels, &authorities), "{owner}: {from} to {to}");
        }
        assert!(!is_proven("a.w.example.", 2, &[]));
    }

    #[test]
    fn proof_is_signed_and_of_the_wildcards_own_zone() {
        let query = Query::query(name("a.w.example."), RecordType::A);
        let answers = expanded("a.w.example.", 2);
        let proof = nsec("*.w.example.", "example.", ZONE);
        assert!(is_sound(&query, &answers, &proof));
        assert!(!is_sound(&query, &answers, &nsec("*.w.example.", "example.", ".")), "another's");
        for unproven in 0..2 {
            let mut authorities = proof.clone();
            authorities[unproven].proof = Proof::Bogus;
            assert!(!is_sound(&query, &answers, &authorities));
            let mut answers = answers.clone();
            answers[unproven].proof = Proof::Indeterminate;
            assert!(!is_sound(&query, &answers, &proof));
        }
    }

    /// The hashes of `example.` with salt `aabbccdd`, from one of its names to the next.
    fn nsec3(from: &str, to: &str, iterations: u16) -> Vec<Record> {
        let to = hash_of(to.as_bytes()).expect("a test writes a hash");
        let sha1 = Nsec3HashAlgorithm::SHA1;
        let salt = vec![0xaa, 0xbb, 0xcc, 0xdd];
        let nsec3 = NSEC3::new(sha1, false, iterations, salt, to, [RecordType::A]);
        let owner = format!("{from}.{ZONE}");
        let data = RData::DNSSEC(DNSSECRData::NSEC3(nsec3));
        vec![record(&owner, data), signed(&owner, RecordType::NSEC3, 2, ZONE)]
    }

    #[test]
    fn what_covers_the_hash_below_the_wildcards_parent_is_proof() {
        // a.w.example. hashes to a15ncbkod016umbilppsiigrc23ddds4.
        let (before, after) =
            ("a0000000000000000000000000000000", "a2000000000000000000000000000000");
        let (low, high) = ("0".repeat(32), "v".repeat(32));
        for (owner, from, to, expected) in [
            ("a.w.example.", before, after, true),
            ("A.W.example.", before, after, true),
            // Nothing is below a name that is not.
            ("b.a.w.example.", before, after, true),
            ("b.w.example.", before, after, false),
            ("a.w.example.", low.as_str(), before, false),
            ("a.w.example.", after, high.as_str(), false),
            // The last of the zone.
            ("a.w.example.", before, low.as_str(), true),
            ("a.w.example.", high.as_str(), after, true),
            ("a.w.example.", after, before, false),
            // The name itself.
            ("a.w.example.", "a15ncbkod016umbilppsiigrc23ddds4", after, false),
            ("a.w.example.", "no-hash", after, false),
        ] {
            assert_eq!(is_proven(owner, 2, &nsec3(from, to, 0)), expected, "{owner} {from} {to}");
        }
        assert!(!is_proven("a.w.example.", 2, &nsec3(&low, &high, MOST_ITERATIONS + 1)));
        let mut unsigned = nsec3(before, after, 0);
        unsigned[1].proof = Proof::Bogus;
        assert!(!is_proven("a.w.example.", 2, &unsigned));
    }

    #[test]
    fn what_was_not_asked_for_is_no_answer() {
        let proof = nsec("*.w.example.", "example.", ZONE);
        let answers = expanded("a.w.example.", 2);
        for (owner, rtype) in [("a.w.example.", RecordType::MX), ("b.w.example.", RecordType::A)] {
            let query = Query::query(name(owner), rtype);
            assert!(!is_sound(&query, &answers, &proof), "{owner} {rtype}");
            assert!(!is_sound(&query, &[], &proof));
        }
    }

    #[test]
    fn what_no_wildcard_made_was_refused_for_another_reason() {
        assert!(!is_proven("a.w.example.", 3, &nsec("*.w.example.", "example.", ZONE)));
    }

    #[test]
    fn labels_are_shared_from_the_root() {
        for (one, other, shared) in [
            ("a.w.example.", "w.example.", 2),
            ("a.w.example.", "B.W.example.", 2),
            ("a.example.", "a.other.", 0),
            ("a.example.", ".", 0),
        ] {
            assert_eq!(common_labels(&name(one), &name(other)), shared, "{one} {other}");
        }
    }
}
