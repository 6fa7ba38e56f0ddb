//! Answers that begin with aliases, where the validator refuses them for no reason.
//!
//! What such an answer denies is about the name where its aliases end (RFC 4035 section 5.4); the
//! validator holds it against the one that was asked for. And it knows of no redirection of a whole
//! tree (DNAME, RFC 6672): the aliases that one makes have no signature of their own.
//!
//! *Invariant:* pure; it keeps what was validated before, and believes no other.

use hickory_resolver::proto::{
    dnssec::Proof,
    op::Query,
    rr::{Name, RData, Record, RecordType},
    serialize::binary::BinDecodable,
};

use super::expansion::{has_no_closer_match, secure, signature};

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

/// Gives aliases that a redirection made the standing of its signature (RFC 6672 section 5.3.1).
pub(super) fn derive(answers: &mut [Record]) {
    let all: &[Record] = answers;
    let derived: Vec<usize> = (0..all.len()).filter(|at| is_derived(&all[*at], all)).collect();
    for at in derived {
        answers[at].proof = Proof::Secure;
    }
}

fn is_derived(alias: &Record, answers: &[Record]) -> bool {
    let RData::CNAME(next) = &alias.data else { return false };
    alias.proof == Proof::Bogus
        && !answers.iter().any(|record| signs(record, &alias.name, RecordType::CNAME))
        && redirection(&alias.name, &next.0, answers).is_some()
}

/// The redirection that makes `owner` an alias of `next`, and its signature.
fn redirection<'a>(owner: &Name, next: &Name, answers: &'a [Record]) -> Option<[&'a Record; 2]> {
    let made = secure(answers).find(|record| redirects(record, owner, next))?;
    let signed = secure(answers).find(|record| signs(record, &made.name, RecordType::DNAME))?;
    // One that a wildcard made would need its own proof.
    let is_plain = signature(signed)?.input().num_labels == made.name.num_labels();
    is_plain.then_some([made, signed])
}

/// Whether the record puts the tree of `owner` where `next` is, the labels below it unchanged.
fn redirects(record: &Record, owner: &Name, next: &Name) -> bool {
    let RData::Unknown { code: RecordType::DNAME, rdata } = &record.data else { return false };
    let Ok(to) = Name::from_bytes(&rdata.anything) else { return false };
    let labels = |name: &Name| name.iter().count();
    let kept = labels(owner).saturating_sub(labels(&record.name));
    kept > 0
        && record.name.zone_of(owner)
        && to.zone_of(next)
        && labels(next) == kept + labels(&to)
        && owner
            .iter()
            .take(kept)
            .zip(next.iter())
            .all(|(one, other)| one.eq_ignore_ascii_case(other))
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
            let own = secure(answers).find(|record| signs(record, name, RecordType::CNAME));
            let Some(signed) = own else {
                let [made, signed] = redirection(name, next, answers)?;
                return Some((next, vec![made, signed, alias]));
            };
            let made_by = signature(signed)?;
            let is_expanded = made_by.input().num_labels < name.num_labels();
            let is_proven = !is_expanded || has_no_closer_match(authorities, name, made_by);
            is_proven.then(|| (next, vec![alias, signed]))
        }
        Proof::Bogus | Proof::Indeterminate => None,
    }
}

fn signs(record: &Record, name: &Name, covered: RecordType) -> bool {
    record.name == *name
        && signature(record).is_some_and(|signature| signature.input().type_covered == covered)
}

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::{
        dnssec::rdata::{DNSSECRData, NSEC},
        rr::rdata::{A, CNAME, NULL},
    };

    use super::{
        super::sample::{name, record, signed},
        *,
    };

    const ZONE: &str = "example.";

    fn unsigned(owner: &str, to: &str, proof: Proof) -> Record {
        let mut alias = record(owner, RData::CNAME(CNAME(name(to))));
        alias.proof = proof;
        alias
    }

    fn secure(owner: &str, to: &str) -> [Record; 2] {
        let labels = name(owner).num_labels();
        [unsigned(owner, to, Proof::Secure), signed(owner, RecordType::CNAME, labels, ZONE)]
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
        answers.push(record("c.example.", RData::A(A([192, 0, 2, 1].into()))));
        answers.push(signed("c.example.", RecordType::A, 2, ZONE));
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
            signed("a.example.", RecordType::CNAME, 1, ZONE),
        ];
        assert!(kept(&answers, &[]).is_empty());
        let nsec = NSEC::new(name("b.example."), [RecordType::CNAME]);
        let denial = [
            record("*.example.", RData::DNSSEC(DNSSECRData::NSEC(nsec))),
            signed("*.example.", RecordType::NSEC, 1, ZONE),
        ];
        assert_eq!(kept(&answers, &denial), ["a.example."]);
    }

    /// `old.example` is where `new.test` is, so says a record with this many labels signed.
    fn redirected(owner: &str, to: &str, labels: u8) -> Vec<Record> {
        let target = b"\x03new\x04test\x00".to_vec();
        let dname = RData::Unknown { code: RecordType::DNAME, rdata: NULL::with(target) };
        vec![
            record("old.example.", dname),
            signed("old.example.", RecordType::DNAME, labels, ZONE),
            unsigned(owner, to, Proof::Bogus),
        ]
    }

    #[test]
    fn aliases_of_a_redirected_tree_stand_as_its_redirection() {
        let mut answers = redirected("a.b.Old.example.", "a.B.new.test.", 2);
        derive(&mut answers);
        assert_eq!(answers[2].proof, Proof::Secure);
        let query = Query::query(name("a.b.old.example."), RecordType::MX);
        let leading = leading(&query, &answers, &[]).expect("it leads on");
        assert_eq!(leading.len(), 3);
    }

    #[test]
    fn other_aliases_are_none_of_a_redirection() {
        for (owner, to, labels) in [
            ("a.old.example.", "b.new.test.", 2),
            ("a.old.example.", "new.test.", 2),
            ("a.old.example.", "x.a.new.test.", 2),
            ("a.old.example.", "a.other.test.", 2),
            ("old.example.", "new.test.", 2),
            ("a.other.example.", "a.new.test.", 2),
            ("a.old.example.", "a.new.test.", 1),
        ] {
            let mut answers = redirected(owner, to, labels);
            derive(&mut answers);
            assert_eq!(answers[2].proof, Proof::Bogus, "{owner} to {to}");
        }
        for doubted in 0..2 {
            let mut answers = redirected("a.old.example.", "a.new.test.", 2);
            answers[doubted].proof = Proof::Bogus;
            derive(&mut answers);
            assert_eq!(answers[2].proof, Proof::Bogus);
        }
        let mut answers = redirected("a.old.example.", "a.new.test.", 2);
        let mut forged = signed("a.old.example.", RecordType::CNAME, 3, ZONE);
        forged.proof = Proof::Bogus;
        answers.push(forged);
        derive(&mut answers);
        assert_eq!(answers[2].proof, Proof::Bogus, "it has a signature, which does not hold");
    }
}
