//! Which zone a name is in, and whether that zone has keys: what tells an unsigned zone from one
//! that is signed without its parent knowing.

use vedette_sdk::{
    dns::{Answer, Question},
    net::NetError,
    suffix,
};

use crate::canonical;

/// Names that are asked about; the registrable one is always among them. With the seven types they
/// make one call of at most sixteen questions.
const MAX_NAMES: usize = 5;

/// The names at which the zone of `target` may begin: itself and its parents up to the registrable
/// name, nearest first.
pub(crate) fn candidates(target: &str) -> Vec<&str> {
    let top = suffix::registrable(target).unwrap_or(target);
    let parents = std::iter::successors(Some(target), |name| {
        let parent = name.split_once('.').map(|(_, parent)| parent);
        parent.filter(|parent| parent.len() >= top.len())
    });
    let mut names: Vec<&str> = parents.take(MAX_NAMES - 1).collect();
    if names.last() != Some(&top) {
        names.push(top);
    }
    names
}

/// The keys of each candidate, and the name servers of those between the first and the last: the
/// first one's are asked for anyway, and the last one is registered, so it has some.
pub(crate) fn questions(candidates: &[&str]) -> Vec<Question> {
    let keys = candidates.iter().map(|name| plain(name, "DNSKEY"));
    keys.chain(between(candidates).iter().map(|name| plain(name, "NS"))).collect()
}

/// A question that is not validated: its answer counts as a hint.
pub(crate) fn plain(name: &str, rrtype: &str) -> Question {
    Question { name: name.to_owned(), rrtype: rrtype.to_owned(), validate: false, resolver: None }
}

/// What was answered to [`questions`].
pub(crate) struct Zone<'a> {
    candidates: &'a [&'a str],
    answers: &'a [Result<Answer, NetError>],
}

impl<'a> Zone<'a> {
    pub(crate) fn new(candidates: &'a [&'a str], answers: &'a [Result<Answer, NetError>]) -> Self {
        Self { candidates, answers }
    }

    /// Whether the zone of the target has keys. `is_apex`: the target has name servers of its own;
    /// none = not known. None where an answer that decides is missing.
    pub(crate) fn has_keys(&self, is_apex: Option<bool>) -> Option<bool> {
        for (at, name) in self.candidates.iter().enumerate() {
            if owns(self.answers.get(at)?, name, "DNSKEY")? {
                return Some(true);
            }
            let begins = match at {
                _ if at + 1 == self.candidates.len() => true,
                0 => is_apex?,
                _ => owns(self.answers.get(self.candidates.len() + at - 1)?, name, "NS")?,
            };
            if begins {
                return Some(false);
            }
        }
        None
    }

    /// Whether not even the registrable name exists.
    pub(crate) fn is_unregistered(&self) -> bool {
        let last = self.candidates.len().checked_sub(1);
        let answer = last.and_then(|last| self.answers.get(last));
        matches!(answer, Some(Ok(answer)) if answer.rcode == "NXDOMAIN")
    }
}

fn between<'a, 'b>(candidates: &'b [&'a str]) -> &'b [&'a str] {
    match candidates {
        [_, between @ .., _] => between,
        _ => &[],
    }
}

/// Whether the name itself has records of the type; none = no usable answer.
fn owns(answer: &Result<Answer, NetError>, name: &str, rrtype: &str) -> Option<bool> {
    let answer = answer.as_ref().ok()?;
    matches!(answer.rcode.as_str(), "NOERROR" | "NXDOMAIN").then(|| {
        let mut records = answer.records.iter();
        records
            .any(|rr| rr.rrtype.eq_ignore_ascii_case(rrtype) && canonical::name(&rr.name) == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{answer, rr};

    #[test]
    fn candidates_end_at_the_registrable_name() {
        let table: &[(&str, &[&str])] = &[
            ("example.com", &["example.com"]),
            ("www.example.co.uk", &["www.example.co.uk", "example.co.uk"]),
            ("co.uk", &["co.uk"]),
            ("host", &["host"]),
            (
                "a.b.c.d.e.f.example.com",
                &[
                    "a.b.c.d.e.f.example.com",
                    "b.c.d.e.f.example.com",
                    "c.d.e.f.example.com",
                    "d.e.f.example.com",
                    "example.com",
                ],
            ),
        ];
        for (target, expected) in table {
            let names = candidates(target);
            assert_eq!(names, *expected);
            assert!(questions(&names).len() + 7 <= 16);
        }
    }

    #[test]
    fn nearest_zone_decides() {
        let names = ["a.b.example.com", "b.example.com", "example.com"];
        let of = |name: &str, rrtype: &str, has: bool| {
            let records = has.then(|| rr(name, rrtype, "data"));
            Ok(answer("NOERROR", records.into_iter().collect()))
        };
        // Keys of a.b, b and the apex; name servers of a.b and of b.
        for (keys, servers, expected) in [
            ([false, false, true], [Some(false), Some(false)], Some(true)),
            ([false, false, true], [Some(false), Some(true)], Some(false)),
            ([false, true, false], [Some(false), Some(false)], Some(true)),
            ([false, false, true], [Some(true), Some(false)], Some(false)),
            ([true, false, false], [Some(true), Some(false)], Some(true)),
            ([false, false, false], [Some(false), Some(false)], Some(false)),
            ([false, false, true], [None, Some(false)], None),
            ([false, false, true], [Some(false), None], None),
        ] {
            let mut answers: Vec<Result<Answer, NetError>> =
                names.iter().zip(keys).map(|(name, has)| of(name, "DNSKEY", has)).collect();
            answers.push(match servers[1] {
                Some(has) => of("b.example.com", "NS", has),
                None => Ok(answer("SERVFAIL", Vec::new())),
            });
            let zone = Zone::new(&names, &answers);
            assert_eq!(zone.has_keys(servers[0]), expected, "{keys:?} {servers:?}");
        }
    }

    #[test]
    fn missing_answers_decide_nothing() {
        let names = ["example.com"];
        assert_eq!(Zone::new(&names, &[]).has_keys(Some(true)), None);
        let failed = [Err(NetError::BudgetExhausted)];
        assert_eq!(Zone::new(&names, &failed).has_keys(Some(true)), None);
        assert!(!Zone::new(&names, &failed).is_unregistered());
    }
}
