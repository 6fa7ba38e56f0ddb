//! What the validator takes on trust, looked at once more: it believes a key set whose every key
//! the parent vouches for, also where the signature over the set has expired (RFC 4035 section 5.2
//! asks for one that holds).

use std::time::Instant;

use hickory_resolver::{
    lookup::Lookup,
    proto::{
        dnssec::{
            Proof,
            rdata::{DNSSECRData, RRSIG},
        },
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

/// Zone cuts between a name and the root.
const MOST_CUTS: usize = 8;
