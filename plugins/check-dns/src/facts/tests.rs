use vedette_sdk::{dns::Answer, net::NetError};

use super::*;
use crate::{
    fixture::{answer, rr},
    look::Failure,
    zone,
};

const TARGET: &str = "www.example.com";

/// What is known of each type; what is not named is empty and insecure.
struct Scene {
    looks: Vec<Look>,
    /// Whether `www.example.com` and `example.com` have keys; none = no answer.
    keys: [Option<bool>; 2],
}

impl Scene {
    fn new() -> Self {
        let look = |rtype| Look {
            rtype,
            outcome: Outcome::Known { records: Vec::new(), exists: true },
            dnssec: State::Insecure,
        };
        Self { looks: RecordType::ALL.map(look).to_vec(), keys: [Some(false), Some(false)] }
    }

    fn has(mut self, rtype: RecordType, records: &[(&str, &str, &str)]) -> Self {
        let records = records.iter().map(|(name, rrtype, data)| rr(name, rrtype, data)).collect();
        self.look(rtype).outcome = Outcome::Known { records, exists: true };
        self
    }

    fn fails(mut self, rtypes: &[RecordType], failure: Failure) -> Self {
        for rtype in rtypes {
            let look = self.look(*rtype);
            (look.outcome, look.dnssec) = (Outcome::Failed(failure), State::Indeterminate);
        }
        self
    }

    fn missing(mut self, rtypes: &[RecordType]) -> Self {
        for rtype in rtypes {
            self.look(*rtype).outcome = Outcome::Known { records: Vec::new(), exists: false };
        }
        self
    }

    fn is(mut self, rtypes: &[RecordType], dnssec: State) -> Self {
        for rtype in rtypes {
            self.look(*rtype).dnssec = dnssec;
        }
        self
    }

    fn keys(mut self, keys: [Option<bool>; 2]) -> Self {
        self.keys = keys;
        self
    }

    fn look(&mut self, rtype: RecordType) -> &mut Look {
        self.looks.iter_mut().find(|look| look.rtype == rtype).expect("all types are there")
    }

    fn result(&self) -> DnsResult {
        let candidates = zone::candidates(TARGET);
        let keys = candidates.iter().zip(self.keys).map(|(name, has)| match has {
            Some(has) => {
                let records = has.then(|| rr(name, "DNSKEY", "257 3 13 key"));
                Ok(answer("NOERROR", records.into_iter().collect()))
            }
            None => Err(NetError::Timeout(vedette_sdk::net::Phase::Resolve)),
        });
        let answers: Vec<Result<Answer, NetError>> = keys.collect();
        let records = self.looks.iter().flat_map(|look| look.outcome.records());
        let chain = Chain::follow(TARGET, records);
        of(TARGET, &self.looks, &chain, &Zone::new(&candidates, &answers), &[])
    }
}

fn records(result: &DnsResult) -> Vec<(&str, Vec<&str>)> {
    let sets = result.records.iter();
    sets.map(|set| (set.rtype.as_str(), set.values.iter().map(String::as_str).collect())).collect()
}

#[test]
fn types_stand_in_their_order_and_empty_ones_are_left_out() {
    use RecordType::*;
    let result = Scene::new()
        .has(Ns, &[(TARGET, "NS", "NS2.example.com."), (TARGET, "NS", "ns1.example.com.")])
        .has(A, &[(TARGET, "A", "192.0.2.2"), ("WWW.Example.COM.", "A", "192.0.2.1")])
        .has(Mx, &[(TARGET, "MX", "10 mx.example.com."), (TARGET, "MX", "10 MX.example.com.")])
        .result();
    assert_eq!(
        records(&result),
        [
            ("A", vec!["192.0.2.1", "192.0.2.2"]),
            ("MX", vec!["10 mx.example.com"]),
            ("NS", vec!["ns1.example.com", "ns2.example.com"]),
        ],
    );
    assert_eq!((result.error, result.failed_types.len()), (None, 0));
}

#[test]
fn addresses_are_those_of_the_alias_and_nobody_elses() {
    use RecordType::*;
    let chain = [
        (TARGET, "CNAME", "a.example.net."),
        ("a.example.net", "CNAME", "b.example.net."),
        ("b.example.net", "A", "192.0.2.1"),
        ("other.example", "A", "192.0.2.66"),
        ("b.example.net", "AAAA", "2001:db8::66"),
    ];
    let result = Scene::new()
        .has(A, &chain)
        .has(Cname, &[chain[0], (TARGET, "CNAME", "second.example")])
        .has(Ns, &[chain[0], ("a.example.net", "NS", "ns.example.net")])
        .has(Txt, &[chain[0], ("a.example.net", "TXT", "\"not ours\"")])
        .result();
    assert_eq!(records(&result), [("A", vec!["192.0.2.1"]), ("CNAME", vec!["a.example.net"])],);
}

#[test]
fn failed_types_are_named_and_absent() {
    use RecordType::*;
    let result = Scene::new()
        .has(A, &[(TARGET, "A", "192.0.2.1")])
        .fails(&[Caa, Txt], Failure::ServFail)
        .result();
    assert_eq!(result.failed_types, ["TXT", "CAA"]);
    assert_eq!(result.error, None);
}

#[test]
fn error_is_the_first_that_applies() {
    use RecordType::*;
    let all = &RecordType::ALL;
    let not_cname = &[A, Aaaa, Mx, Txt, Caa, Ns];
    let alias = &[(TARGET, "CNAME", "gone.example.net")];
    let itself = &[(TARGET, "CNAME", TARGET)];
    let address = &[(TARGET, "A", "192.0.2.1")];
    let mail = &[(TARGET, "MX", "10 mx.example.com")];
    let servers = &[(TARGET, "NS", "ns1.example.com")];
    let table: Vec<(Scene, Option<&str>)> = vec![
        (Scene::new(), None),
        (Scene::new().has(A, address), None),
        (Scene::new().missing(all), Some("nxdomain")),
        (Scene::new().missing(&[A]).fails(&not_cname[1..], Failure::Timeout), Some("timeout")),
        (
            Scene::new().missing(&[A, Cname]).fails(&not_cname[1..], Failure::Timeout),
            Some("nxdomain"),
        ),
        (Scene::new().has(Cname, alias).missing(not_cname), Some("nxdomain")),
        // A server that denies the name for one type alone.
        (Scene::new().has(A, address).missing(&[Aaaa]), None),
        (Scene::new().fails(all, Failure::ServFail), Some("servfail")),
        (Scene::new().fails(all, Failure::Refused), Some("refused")),
        (Scene::new().fails(all, Failure::Timeout), Some("timeout")),
        (
            Scene::new().fails(&[A], Failure::Timeout).fails(&[Aaaa], Failure::ServFail),
            Some("servfail"),
        ),
        (Scene::new().has(Aaaa, &[(TARGET, "AAAA", "::1")]).fails(&[A], Failure::ServFail), None),
        (Scene::new().fails(&[Mx, Txt, Caa, Ns], Failure::ServFail), None),
        // A name for mail alone, whose servers know nothing of IPv6.
        (Scene::new().has(Mx, mail).fails(&[Aaaa], Failure::ServFail), None),
        (Scene::new().has(Mx, mail).fails(&[Aaaa], Failure::Refused), None),
        (Scene::new().fails(&[Aaaa], Failure::Refused), None),
        // Its A, by which most names live, is no such matter.
        (Scene::new().has(Mx, mail).fails(&[A], Failure::ServFail), Some("servfail")),
        (Scene::new().missing(&[A]).fails(&[Aaaa], Failure::ServFail), Some("servfail")),
        // An apex has name servers, whatever fails.
        (Scene::new().has(Ns, servers).fails(&[A, Aaaa], Failure::ServFail), Some("servfail")),
        (Scene::new().has(Ns, servers).fails(&[A, Aaaa], Failure::Refused), Some("refused")),
        (Scene::new().has(Ns, servers).fails(&[A, Aaaa], Failure::Timeout), Some("timeout")),
        (Scene::new().has(Cname, alias).fails(&[Aaaa], Failure::ServFail), None),
        (Scene::new().has(Cname, alias).fails(not_cname, Failure::Refused), Some("refused")),
        (Scene::new().has(Cname, itself).fails(not_cname, Failure::ServFail), Some("cname_loop")),
        (Scene::new().fails(all, Failure::ServFail).is(&[Txt], State::Bogus), Some("dnssec_bogus")),
        (Scene::new().has(A, address).is(&[A], State::Bogus), Some("dnssec_bogus")),
    ];
    for (at, (scene, expected)) in table.iter().enumerate() {
        assert_eq!(scene.result().error.as_deref(), *expected, "scene {at}");
    }
}

#[test]
fn looping_alias_is_shown_and_its_addresses_are_unknown() {
    use RecordType::*;
    let result = Scene::new().has(Cname, &[(TARGET, "CNAME", "WWW.example.com.")]).result();
    assert_eq!(records(&result), [("CNAME", vec![TARGET])]);
    assert_eq!(result.failed_types, ["A", "AAAA"]);
}

#[test]
fn dnssec_has_three_states_and_none() {
    use RecordType::*;
    let all = &RecordType::ALL;
    let on = |valid| Some(Dnssec { enabled: true, valid });
    let off = Some(Dnssec { enabled: false, valid: None });
    let yes = [Some(false), Some(true)];
    let alias = &[(TARGET, "CNAME", "cdn.example.net")];
    let apex = &[(TARGET, "NS", "ns1.example.com")];
    let table: Vec<(Scene, Option<Dnssec>)> = vec![
        (Scene::new().is(all, State::Secure), on(Some(true))),
        (Scene::new().is(all, State::Secure).keys([None, None]), on(Some(true))),
        (Scene::new().is(&[A, Txt], State::Bogus), on(Some(false))),
        (Scene::new(), off),
        (Scene::new().keys(yes), on(None)),
        (Scene::new().keys([Some(true), Some(false)]), on(None)),
        // An unsigned zone below one that is signed.
        (Scene::new().has(Ns, apex).keys(yes), off),
        // Where the zone begins is not known.
        (Scene::new().fails(&[Ns], Failure::Timeout).keys(yes), None),
        (Scene::new().keys([None, Some(true)]), None),
        (Scene::new().keys([Some(false), None]), None),
        (Scene::new().is(all, State::Indeterminate).keys(yes), None),
        (Scene::new().fails(all, Failure::ServFail), None),
        // Some answers failed, the others tell.
        (Scene::new().is(all, State::Secure).is(&[Caa], State::Indeterminate), on(Some(true))),
        // Iterations over the limit: the denials are insecure, the data is secure.
        (Scene::new().is(all, State::Secure).is(&[Caa], State::Insecure).keys(yes), on(None)),
        (Scene::new().is(all, State::Secure).is(&[Caa], State::Insecure), None),
        // The alias is signed, and leads to a zone that is not; and the other way round.
        (Scene::new().has(Cname, alias).is(&[Cname], State::Secure), on(Some(true))),
        (Scene::new().has(Cname, alias).is(all, State::Secure).is(&[Cname], State::Insecure), off),
        (Scene::new().missing(all).is(all, State::Secure), on(Some(true))),
    ];
    for (at, (scene, expected)) in table.iter().enumerate() {
        assert_eq!(scene.result().dnssec, *expected, "scene {at}");
    }
}

#[test]
fn name_that_nobody_registered_has_no_dnssec() {
    let scene = Scene::new().missing(&RecordType::ALL).is(&RecordType::ALL, State::Secure);
    let candidates = zone::candidates(TARGET);
    let denied: Vec<Result<Answer, NetError>> =
        candidates.iter().map(|_| Ok(answer("NXDOMAIN", Vec::new()))).collect();
    let chain = Chain::follow(TARGET, []);
    let result = of(TARGET, &scene.looks, &chain, &Zone::new(&candidates, &denied), &[]);
    assert_eq!((result.dnssec, result.error.as_deref()), (None, Some("nxdomain")));
}
