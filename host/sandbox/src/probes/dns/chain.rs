//! What the validator takes on trust, looked at once more (RFC 4035).
//!
//! Two of its rules differ from the standard: it believes a key set whose every key the parent
//! vouches for, also where the signature over the set has expired (section 5.2 asks for one that
//! holds); and for an answer made from a wildcard it asks for a denial of the very wildcard that
//! made it (section 5.3.4 asks that no closer name exists).

use std::time::Instant;

use hickory_resolver::{
    lookup::Lookup,
    proto::{
        dnssec::{
            Proof,
            rdata::{DNSSECRData, NSEC, RRSIG},
        },
        op::DnsResponse,
        rr::{Name, RData, Record, RecordType},
    },
};
use tokio::time::timeout_at;

use crate::egress::{Resolver, Validation};

/// The zones whose signatures hold in these records.
pub(super) fn signers<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<Name> {
    let mut signers: Vec<Name> = Vec::new();
    for record in records.filter(|record| record.proof == Proof::Secure) {
        let Some(signature) = signature(record) else { continue };
        let signer = &signature.input().signer_name;
        if !signers.contains(signer) {
            signers.push(signer.clone());
        }
    }
    signers
}

/// Whether a signature holds over the keys of each zone, and of those above it up to the root.
/// What cannot be looked up is no reason to doubt what was validated.
pub(super) async fn are_keys_signed(
    resolver: &Resolver,
    signers: Vec<Name>,
    deadline: Instant,
) -> bool {
    for signer in signers {
        let mut zone = signer;
        for _ in 0..MOST_CUTS {
            let is_signed = match resolver.knows_keys(&zone) {
                Some(known) => known,
                None => {
                    let Some(keys) = ask(resolver, &zone, RecordType::DNSKEY, deadline).await
                    else {
                        return true;
                    };
                    let is_signed = is_signed(&keys, RecordType::DNSKEY);
                    resolver.remember_keys(zone.clone(), is_signed);
                    is_signed
                }
            };
            if !is_signed {
                return false;
            }
            if zone.is_root() {
                break;
            }
            // The signature over the delegation names the zone above.
            let Some(delegation) = ask(resolver, &zone, RecordType::DS, deadline).await else {
                return true;
            };
            let Some(parent) = signers_of(&delegation).into_iter().find(|name| *name != zone)
            else {
                break;
            };
            zone = parent;
        }
    }
    true
}

/// Whether a positive answer that was refused is a sound expansion of a wildcard: everything in it
/// is validly signed, and for each name that a wildcard made there is proof that no closer name
/// exists.
pub(super) fn is_sound_expansion(response: &DnsResponse) -> bool {
    let answers = &response.answers;
    let plain = |record: &&Record| record.record_type() != RecordType::RRSIG;
    if !answers.iter().any(|record| plain(&record)) {
        return false;
    }
    let all_secure = answers.iter().filter(plain).all(|record| record.proof == Proof::Secure);
    let mut expanded =
        answers.iter().filter(|record| record.proof == Proof::Secure).filter_map(|record| {
            let labels = signature(record)?.input().num_labels;
            (labels < record.name.num_labels()).then_some((&record.name, labels))
        });
    all_secure && expanded.all(|(name, labels)| has_no_closer_match(response, name, labels))
}

/// An NSEC record that covers the name, and shows that the wildcard's parent is the closest name
/// there is above it.
fn has_no_closer_match(response: &DnsResponse, name: &Name, labels: u8) -> bool {
    let secure = response.authorities.iter().filter(|record| record.proof == Proof::Secure);
    secure.filter_map(|record| Some((&record.name, denial(record)?))).any(|(owner, nsec)| {
        let next = nsec.next_domain_name();
        // The last record of a zone points back to its apex.
        let covers = owner < name && (name < next || next <= owner);
        covers && common_labels(name, owner).max(common_labels(name, next)) == labels
    })
}

/// Labels that two names share, counted from the root.
fn common_labels(one: &Name, other: &Name) -> u8 {
    let pairs = one.iter().rev().zip(other.iter().rev());
    let shared = pairs.take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count();
    u8::try_from(shared).unwrap_or(u8::MAX)
}

async fn ask(
    resolver: &Resolver,
    name: &Name,
    rtype: RecordType,
    deadline: Instant,
) -> Option<Lookup> {
    let asked = resolver.lookup(name, rtype, Validation::Ours);
    timeout_at(deadline.into(), asked).await.ok()?.outcome.ok()
}

fn signers_of(lookup: &Lookup) -> Vec<Name> {
    signers(lookup.answers().iter())
}

fn is_signed(lookup: &Lookup, covered: RecordType) -> bool {
    let secure = lookup.answers().iter().filter(|record| record.proof == Proof::Secure);
    secure.filter_map(signature).any(|signature| signature.input().type_covered == covered)
}

fn signature(record: &Record) -> Option<&RRSIG> {
    match &record.data {
        RData::DNSSEC(DNSSECRData::RRSIG(signature)) => Some(signature),
        _ => None,
    }
}

fn denial(record: &Record) -> Option<&NSEC> {
    match &record.data {
        RData::DNSSEC(DNSSECRData::NSEC(nsec)) => Some(nsec),
        _ => None,
    }
}

/// Zone cuts between a name and the root.
const MOST_CUTS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_shared_from_the_root() {
        let name = |text: &str| Name::from_ascii(text).expect("a name");
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
