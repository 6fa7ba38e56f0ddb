//! Refused answers that begin with aliases (RFC 4035 section 5.4). What such an answer denies is
//! about the name where they end; the validator holds it against the one that was asked for.
//!
//! *Invariant:* pure; it keeps what was validated before, and believes no other.

use hickory_resolver::proto::{
    dnssec::Proof,
    op::Query,
    rr::{Name, RData, Record, RecordType},
};

use super::expansion::{has_no_closer_match, signature};

/// The aliases that lead on from the name in question, with their signatures: the part of an answer
/// that needs no denial. Where they end is a question of its own. None where it begins with no such
/// alias.
pub(super) fn leading(
    query: &Query,
    answers: &[Record],
    authorities: &[Record],
) -> Option<Vec<Record>> {
    if query.query_type == RecordType::CNAME {
        return None;
    }
    let mut leading = Vec::new();
    let mut name = &query.name;
    // Aliases may go round: there are no more links than records.
    for _ in answers {
        let Some((next, link)) = link(name, answers, authorities) else { break };
        leading.extend(link.into_iter().cloned());
        name = next;
    }
    (!leading.is_empty()).then_some(leading)
}

/// Where the alias of a name leads, and the records that say so.
fn link<'a>(
    name: &Name,
    answers: &'a [Record],
    authorities: &[Record],
) -> Option<(&'a Name, Vec<&'a Record>)> {
    let (alias, next) = answers.iter().find_map(|record| match &record.data {
        RData::CNAME(next) if record.name == *name => Some((record, &next.0)),
        _ => None,
    })?;
    match alias.proof {
        Proof::Insecure => Some((next, vec![alias])),
        Proof::Secure => {
            let signed = answers.iter().find(|record| is_signature_of_alias(record, name))?;
            let made_by = signature(signed)?;
            let is_expanded = made_by.input().num_labels < name.num_labels();
            let is_proven = !is_expanded || has_no_closer_match(authorities, name, made_by);
            is_proven.then(|| (next, vec![alias, signed]))
        }
        Proof::Bogus | Proof::Indeterminate => None,
    }
}

fn is_signature_of_alias(record: &Record, name: &Name) -> bool {
    record.name == *name
        && record.proof == Proof::Secure
        && signature(record)
            .is_some_and(|signature| signature.input().type_covered == RecordType::CNAME)
}

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::{
        dnssec::{
            Algorithm,
            rdata::{DNSSECRData, NSEC, RRSIG, SigInput},
        },
        rr::{
            SerialNumber,
            rdata::{A, CNAME},
        },
    };

    use super::*;

    fn name(text: &str) -> Name {
        Name::from_ascii(text).expect("a test writes a name")
    }

    fn record(owner: &str, data: RData, proof: Proof) -> Record {
        let mut record = Record::from_rdata(name(owner), 300, data);
        record.proof = proof;
        record
    }

    fn signed(owner: &str, covers: RecordType, labels: u8) -> Record {
        let input = SigInput {
            type_covered: covers,
            algorithm: Algorithm::ECDSAP256SHA256,
            num_labels: labels,
            original_ttl: 300,
            sig_expiration: SerialNumber::new(0),
            sig_inception: SerialNumber::new(0),
            key_tag: 1,
            signer_name: name("example."),
        };
        let data = RData::DNSSEC(DNSSECRData::RRSIG(RRSIG::from_sig(input, Vec::new())));
        record(owner, data, Proof::Secure)
    }

    fn unsigned(owner: &str, to: &str, proof: Proof) -> Record {
        record(owner, RData::CNAME(CNAME(name(to))), proof)
    }

    fn secure(owner: &str, to: &str) -> [Record; 2] {
        let labels = name(owner).num_labels();
        [unsigned(owner, to, Proof::Secure), signed(owner, RecordType::CNAME, labels)]
    }

    /// The owners of the aliases that are kept of an answer about `a.example`.
    fn kept(answers: &[Record], authorities: &[Record]) -> Vec<String> {
        let query = Query::query(name("a.example."), RecordType::MX);
        let leading = leading(&query, answers, authorities).unwrap_or_default();
        let aliases = leading.iter().filter(|record| record.record_type() == RecordType::CNAME);
        aliases.map(|record| record.name.to_ascii()).collect()
    }

    #[test]
    fn aliases_are_kept_in_their_order_and_nothing_else_is() {
        let mut answers: Vec<Record> = Vec::new();
        answers.extend(secure("b.example.", "c.example."));
        answers.extend(secure("a.example.", "B.example."));
        answers.push(record("c.example.", RData::A(A([192, 0, 2, 1].into())), Proof::Secure));
        answers.push(signed("c.example.", RecordType::A, 2));
        assert_eq!(kept(&answers, &[]), ["a.example.", "b.example."]);
        let query = Query::query(name("a.example."), RecordType::MX);
        assert_eq!(leading(&query, &answers, &[]).map(|kept| kept.len()), Some(4));
    }

    #[test]
    fn aliases_that_go_round_come_to_an_end() {
        let mut answers: Vec<Record> = secure("a.example.", "b.example.").into();
        answers.extend(secure("b.example.", "a.example."));
        assert_eq!(kept(&answers, &[]).len(), answers.len());
    }

    #[test]
    fn zones_without_signatures_lead_on_too() {
        let unsigned = unsigned("a.example.", "b.example.", Proof::Insecure);
        assert_eq!(kept(&[unsigned], &[]), ["a.example."]);
    }

    #[test]
    fn what_was_not_validated_leads_nowhere() {
        for proof in [Proof::Bogus, Proof::Indeterminate] {
            let mut answers = secure("a.example.", "b.example.");
            answers[0].proof = proof;
            assert!(kept(&answers, &[]).is_empty(), "{proof:?}");
            let mut answers = secure("a.example.", "b.example.");
            answers[1].proof = proof;
            assert!(kept(&answers, &[]).is_empty(), "{proof:?}");
        }
        assert!(kept(&secure("b.example.", "c.example."), &[]).is_empty(), "another name's");
        let query = Query::query(name("a.example."), RecordType::CNAME);
        assert_eq!(leading(&query, &secure("a.example.", "b.example."), &[]), None);
    }

    #[test]
    fn an_alias_that_a_wildcard_made_needs_its_proof() {
        let answers = [
            unsigned("a.example.", "b.example.", Proof::Secure),
            signed("a.example.", RecordType::CNAME, 1),
        ];
        assert!(kept(&answers, &[]).is_empty());
        let nsec = NSEC::new(name("b.example."), [RecordType::CNAME]);
        let denial = [
            record("*.example.", RData::DNSSEC(DNSSECRData::NSEC(nsec)), Proof::Secure),
            signed("*.example.", RecordType::NSEC, 1),
        ];
        assert_eq!(kept(&answers, &denial), ["a.example."]);
    }
}
