//! One question for each type, and what came back.
//!
//! *Invariant:* a failed question is never an empty answer.

use vedette_sdk::{
    CheckError, Cx,
    dns::{Answer, Dnssec, Question, Rr},
    net::NetError,
};

use crate::{record_type::RecordType, zone};

/// What is known of one type. `dnssec`: bogus unless a second look took it back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) rtype: RecordType,
    pub(crate) outcome: Outcome,
    pub(crate) dnssec: Dnssec,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// `exists`: false for NXDOMAIN.
    Known {
        records: Vec<Rr>,
        exists: bool,
    },
    Failed(Failure),
}

/// Why a question was not answered; the worse the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Failure {
    Timeout,
    Refused,
    ServFail,
}

impl Failure {
    /// The result's token.
    pub(crate) fn token(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::ServFail => "servfail",
        }
    }
}

/// The questions of a run: the seven types, validated.
pub(crate) fn questions(name: &str) -> Vec<Question> {
    RecordType::ALL.iter().map(|rtype| validated(name, *rtype)).collect()
}

/// Reads the answers to [`questions`].
///
/// # Errors
/// Our own trouble, unless some type was answered in spite of it.
pub(crate) fn read(answers: Vec<Result<Answer, NetError>>) -> Result<Vec<Look>, CheckError> {
    let answered = answers.iter().any(Result::is_ok);
    let mut looks = Vec::with_capacity(answers.len());
    for (rtype, answer) in RecordType::ALL.into_iter().zip(answers) {
        let look = match answer {
            Ok(answer) => Look { rtype, dnssec: answer.dnssec, outcome: Outcome::of(answer) },
            Err(error) => {
                let outcome = Outcome::Failed(failure(&error, answered)?);
                Look { rtype, outcome, dnssec: Dnssec::Indeterminate }
            }
        };
        looks.push(look);
    }
    if looks.len() == RecordType::ALL.len() {
        return Ok(looks);
    }
    Err(CheckError::Failed("the host left questions unanswered".to_owned()))
}

/// Looks again where the name's servers failed: a validating server calls bogus data a failure,
/// and so does one that cannot deliver signatures. Data is shown as it came; it counts as bogus
/// only where a second validation says so too.
pub(crate) fn again(cx: &Cx, name: &str, looks: &mut [Look]) {
    let failed = |look: &&Look| look.outcome == Outcome::Failed(Failure::ServFail);
    let doubted: Vec<Look> = looks.iter().filter(failed).cloned().collect();
    let bogus: Vec<RecordType> =
        doubted.iter().filter(|look| look.dnssec == Dnssec::Bogus).map(|look| look.rtype).collect();
    let plain = doubted.iter().map(|look| zone::plain(name, look.rtype.name()));
    let questions: Vec<Question> =
        plain.chain(bogus.iter().map(|rtype| validated(name, *rtype))).collect();
    if questions.is_empty() {
        return;
    }
    let mut answers = cx.lookup_many(&questions).into_iter();
    let plain: Vec<_> = answers.by_ref().take(doubted.len()).collect();
    for (doubted, answer) in doubted.iter().zip(plain) {
        if let (Some(look), Ok(answer)) = (of_type(looks, doubted.rtype), answer) {
            look.outcome = Outcome::of(answer).or(Outcome::Failed(Failure::ServFail));
        }
    }
    for (rtype, answer) in bogus.into_iter().zip(answers) {
        let Some(look) = of_type(looks, rtype) else { continue };
        match answer {
            Ok(answer) if answer.dnssec == Dnssec::Bogus => {}
            Ok(answer) => {
                look.dnssec = answer.dnssec;
                let doubted =
                    std::mem::replace(&mut look.outcome, Outcome::Failed(Failure::ServFail));
                look.outcome = Outcome::of(answer).or(doubted);
            }
            Err(_) => look.dnssec = Dnssec::Indeterminate,
        }
    }
}

impl Outcome {
    fn of(answer: Answer) -> Self {
        match answer.rcode.as_str() {
            "NOERROR" => Self::Known { records: answer.records, exists: true },
            "NXDOMAIN" => Self::Known { records: answer.records, exists: false },
            "REFUSED" => Self::Failed(Failure::Refused),
            _ => Self::Failed(Failure::ServFail),
        }
    }

    fn or(self, other: Self) -> Self {
        match self {
            Self::Known { .. } => self,
            Self::Failed(_) => other,
        }
    }

    /// The records of the answer, of whatever type and owner.
    pub(crate) fn records(&self) -> &[Rr] {
        match self {
            Self::Known { records, .. } => records,
            Self::Failed(_) => &[],
        }
    }
}

fn of_type(looks: &mut [Look], rtype: RecordType) -> Option<&mut Look> {
    looks.iter_mut().find(|look| look.rtype == rtype)
}

fn validated(name: &str, rtype: RecordType) -> Question {
    Question { validate: true, ..zone::plain(name, rtype.name()) }
}

/// What an unanswered question says of the name. Our own trouble says nothing: it ends the run
/// where it is all there is, and is like silence where other types were answered.
fn failure(error: &NetError, answered: bool) -> Result<Failure, CheckError> {
    let own = |trouble: String| {
        if answered { Ok(Failure::Timeout) } else { Err(CheckError::Failed(trouble)) }
    };
    match error {
        NetError::Timeout(_) => Ok(Failure::Timeout),
        NetError::Protocol(_)
        | NetError::TooLarge(_)
        | NetError::NameNotFound
        | NetError::Tls(_) => Ok(Failure::ServFail),
        NetError::Other((code, _)) if code == "dns-failed" => Ok(Failure::ServFail),
        NetError::Other((code, message)) => own(format!("{code}: {message}")),
        NetError::BudgetExhausted => {
            Err(CheckError::Failed("the run's budget is used up".to_owned()))
        }
        NetError::NotPermitted(what) => own(format!("not permitted: {what}")),
        NetError::AddressBlocked(_) => own("the DNS server's address is blocked".to_owned()),
        NetError::Refused | NetError::Reset => own("the DNS server cannot be reached".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use vedette_sdk::net::Phase;

    use super::*;
    use crate::fixture::answer;

    fn seven(
        first: Result<Answer, NetError>,
        rest: Result<Answer, NetError>,
    ) -> Vec<Result<Answer, NetError>> {
        std::iter::once(first).chain(std::iter::repeat_n(rest, 6)).collect()
    }

    fn other(code: &str) -> NetError {
        NetError::Other((code.to_owned(), "said so".to_owned()))
    }

    #[test]
    fn answers_are_read_by_their_code() {
        for (rcode, expected) in [
            ("NOERROR", Outcome::Known { records: Vec::new(), exists: true }),
            ("NXDOMAIN", Outcome::Known { records: Vec::new(), exists: false }),
            ("REFUSED", Outcome::Failed(Failure::Refused)),
            ("SERVFAIL", Outcome::Failed(Failure::ServFail)),
            ("NOTIMP", Outcome::Failed(Failure::ServFail)),
        ] {
            assert_eq!(Outcome::of(answer(rcode, Vec::new())), expected);
        }
    }

    #[test]
    fn silence_of_a_name_is_a_failed_type() {
        let silence = || Err(NetError::Timeout(Phase::Resolve));
        let looks = read(seven(silence(), silence())).expect("it is a result");
        assert!(looks.iter().all(|look| look.outcome == Outcome::Failed(Failure::Timeout)));
        let looks = read(seven(Err(other("dns-failed")), silence())).expect("it is a result");
        assert_eq!(looks[0].outcome, Outcome::Failed(Failure::ServFail));
    }

    #[test]
    fn our_own_trouble_is_no_result_unless_something_was_answered() {
        let troubles = [
            other("resolver-down"),
            other("exhausted"),
            NetError::NotPermitted("CAA".to_owned()),
            NetError::AddressBlocked("private".to_owned()),
            NetError::Refused,
        ];
        for trouble in troubles {
            let all = seven(Err(trouble.clone()), Err(trouble.clone()));
            assert!(matches!(read(all), Err(CheckError::Failed(_))), "{trouble}");
            let mixed = seven(Err(trouble.clone()), Err(NetError::Timeout(Phase::Resolve)));
            assert!(matches!(read(mixed), Err(CheckError::Failed(_))), "{trouble}");
            let looks = read(seven(Err(trouble), Ok(answer("NOERROR", Vec::new()))));
            let looks = looks.expect("six types were answered");
            assert_eq!(looks[0].outcome, Outcome::Failed(Failure::Timeout));
        }
    }

    #[test]
    fn spent_budget_and_lost_answers_end_the_run() {
        let spent = seven(Err(NetError::BudgetExhausted), Ok(answer("NOERROR", Vec::new())));
        assert!(matches!(read(spent), Err(CheckError::Failed(_))));
        assert!(matches!(read(Vec::new()), Err(CheckError::Failed(_))));
    }
}
