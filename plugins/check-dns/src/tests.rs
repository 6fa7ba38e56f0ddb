use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use serde_json::Value;
use vedette_sdk::{
    dns::{Answer, Dnssec},
    net::{NetError, Phase},
    testing::Host,
};

use super::*;
use crate::fixture::{answer, rr};

const TARGET: &str = "example.com";

type Answers = Result<Answer, NetError>;
type Asked = Rc<RefCell<Vec<Question>>>;

/// A resolver with a table: (name, type) to answer; anything else is empty and insecure.
struct Rig {
    host: Host,
    asked: Asked,
}

impl Rig {
    fn new(script: impl FnMut(&Question) -> Option<Answers> + 'static) -> Self {
        let host = Host::new();
        let asked = Asked::default();
        let (log, mut script) = (Rc::clone(&asked), script);
        host.dns(move |question| {
            log.borrow_mut().push(question.clone());
            script(question).unwrap_or_else(|| Ok(unsigned(Vec::new())))
        });
        Self { host, asked }
    }

    fn run(&self) -> Observation<DnsResult> {
        self.try_run(TARGET).expect("the check works")
    }

    fn try_run(&self, target: &str) -> Result<Observation<DnsResult>, CheckError> {
        let seen = Dns::run(&self.host.cx(), Job::new(target, NoConfig {}));
        if let Ok(seen) = &seen {
            let written = serde_json::to_value(&seen.facts).expect("it has a form in JSON");
            let problems: Vec<String> =
                validator().iter_errors(&written).map(|error| error.to_string()).collect();
            assert_eq!(problems, Vec::<String>::new());
            assert!(written.to_string().len() < 256 << 10);
            assert!(seen.summary.len() <= 1 << 10);
        }
        seen
    }

    /// How often each type was asked for.
    fn count(&self) -> BTreeMap<String, usize> {
        let mut count = BTreeMap::new();
        for question in self.asked.borrow().iter() {
            *count.entry(question.rrtype.clone()).or_default() += 1;
        }
        count
    }
}

fn validator() -> jsonschema::Validator {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<DnsResult>().to_value();
    jsonschema::validator_for(&schema).expect("the schema is one")
}

fn of(dnssec: Dnssec, records: Vec<Rr>) -> Answer {
    Answer { dnssec, ..answer("NOERROR", records) }
}

fn unsigned(records: Vec<Rr>) -> Answer {
    of(Dnssec::Insecure, records)
}

fn servfail(dnssec: Dnssec) -> Answers {
    Ok(Answer { dnssec, ..answer("SERVFAIL", Vec::new()) })
}

fn values(result: &DnsResult, rtype: RecordType) -> Vec<&str> {
    result.values(rtype).collect()
}

#[test]
fn all_types_are_asked_once_and_validated() {
    let rig = Rig::new(|question| match question.rrtype.as_str() {
        "A" => Some(Ok(unsigned(vec![rr(TARGET, "A", "192.0.2.1")]))),
        "NS" => Some(Ok(unsigned(vec![rr(TARGET, "NS", "ns1.example.com.")]))),
        _ => None,
    });
    let seen = rig.run();
    let asked = rig.asked.borrow();
    let types: Vec<(&str, bool)> =
        asked.iter().map(|question| (question.rrtype.as_str(), question.validate)).collect();
    assert_eq!(
        types,
        [
            ("A", true),
            ("AAAA", true),
            ("CNAME", true),
            ("MX", true),
            ("TXT", true),
            ("CAA", true),
            ("NS", true),
            ("DNSKEY", false),
        ],
    );
    assert!(asked.iter().all(|question| question.name == TARGET && question.resolver.is_none()));
    assert_eq!(seen.facts.domain, TARGET);
    assert_eq!(seen.facts.dnssec, Some(result::Dnssec { enabled: false, valid: None }));
    assert_eq!(seen.summary, "1 A, 1 NS, no DNSSEC");
    assert_eq!(seen.metrics.len(), 1);
}

#[test]
fn address_is_no_target() {
    let rig = Rig::new(|_| None);
    for target in ["192.0.2.1", "2001:db8::1"] {
        let refused = rig.try_run(target);
        assert!(matches!(refused, Err(CheckError::UnsupportedTarget(_))), "{target}");
    }
    assert!(rig.asked.borrow().is_empty());
}

#[test]
fn bogus_data_is_shown_beside_its_verdict() {
    let rig = Rig::new(|question| match (question.rrtype.as_str(), question.validate) {
        ("A", true) => Some(servfail(Dnssec::Bogus)),
        ("A", false) => Some(Ok(of(Dnssec::Indeterminate, vec![rr(TARGET, "A", "192.0.2.1")]))),
        _ => Some(Ok(of(Dnssec::Secure, Vec::new()))),
    });
    let seen = rig.run();
    assert_eq!(seen.facts.error.as_deref(), Some("dnssec_bogus"));
    assert_eq!(seen.facts.dnssec, Some(result::Dnssec { enabled: true, valid: Some(false) }));
    assert_eq!(values(&seen.facts, RecordType::A), ["192.0.2.1"]);
    assert_eq!(seen.facts.failed_types, [""; 0]);
    assert_eq!(rig.count()["A"], 3);
}

#[test]
fn bogus_is_believed_only_when_seen_twice() {
    let mut first = true;
    let rig = Rig::new(move |question| match (question.rrtype.as_str(), question.validate) {
        ("A", true) if std::mem::take(&mut first) => Some(servfail(Dnssec::Bogus)),
        _ => Some(Ok(of(Dnssec::Secure, vec![rr(TARGET, "A", "192.0.2.1")]))),
    });
    let seen = rig.run();
    assert_eq!(seen.facts.error, None);
    assert_eq!(seen.facts.dnssec, Some(result::Dnssec { enabled: true, valid: Some(true) }));
}

#[test]
fn server_that_strips_signatures_hides_no_records() {
    let rig = Rig::new(|question| match question.validate {
        true => Some(servfail(Dnssec::Indeterminate)),
        false => Some(Ok(of(Dnssec::Indeterminate, vec![rr(TARGET, "A", "192.0.2.1")]))),
    });
    let seen = rig.run();
    assert_eq!((seen.facts.error.as_deref(), seen.facts.dnssec), (None, None));
    assert_eq!(values(&seen.facts, RecordType::A), ["192.0.2.1"]);
}

#[test]
fn failure_stands_only_where_the_second_look_fails_too() {
    let rig = Rig::new(|_| Some(servfail(Dnssec::Indeterminate)));
    let seen = rig.run();
    assert_eq!(seen.facts.error.as_deref(), Some("servfail"));
    assert_eq!(seen.facts.failed_types.len(), 7);
    assert_eq!(seen.facts.dnssec, None);

    let rig = Rig::new(|question| match question.rrtype.as_str() {
        "CAA" => Some(servfail(Dnssec::Indeterminate)),
        "A" => Some(Ok(unsigned(vec![rr(TARGET, "A", "192.0.2.1")]))),
        _ => None,
    });
    let seen = rig.run();
    assert_eq!(
        (seen.facts.error.as_deref(), seen.facts.failed_types),
        (None, vec!["CAA".to_owned()])
    );
    assert_eq!((rig.count()["CAA"], rig.count()["A"]), (2, 1));
    assert_eq!(seen.summary, "1 A, no answer for CAA, no DNSSEC");
}

#[test]
fn silence_is_a_result_and_our_own_trouble_is_none() {
    let rig = Rig::new(|_| Some(Err(NetError::Timeout(Phase::Resolve))));
    let seen = rig.run();
    assert_eq!(seen.facts.error.as_deref(), Some("timeout"));
    assert!(seen.metrics.is_empty());

    let down = || NetError::Other(("resolver-down".to_owned(), "nobody".to_owned()));
    for trouble in [down(), NetError::BudgetExhausted] {
        let rig = Rig::new(move |_| Some(Err(trouble.clone())));
        assert!(matches!(rig.try_run(TARGET), Err(CheckError::Failed(_))));
    }
}

#[test]
fn name_that_does_not_exist_is_told_so() {
    let rig = Rig::new(|_| Some(Ok(answer("NXDOMAIN", Vec::new()))));
    let seen = rig.run();
    assert_eq!(seen.facts.error.as_deref(), Some("nxdomain"));
    assert_eq!((seen.facts.records.len(), seen.facts.failed_types.len()), (0, 0));
}

#[test]
fn alias_that_leads_nowhere_is_followed_link_by_link() {
    let next = |name: &str| match name {
        "a.example.com" => Some("b.example.net"),
        "b.example.net" => Some("c.example.org."),
        "c.example.org" => Some("A.example.com"),
        _ => None,
    };
    let looping = Rig::new(move |question| {
        let alias = next(&question.name).filter(|_| question.rrtype == "CNAME");
        alias.map(|alias| Ok(unsigned(vec![rr(&question.name, "CNAME", alias)])))
    });
    let seen = looping.try_run("a.example.com").expect("the check works");
    assert_eq!(seen.facts.error.as_deref(), Some("cname_loop"));
    assert_eq!(values(&seen.facts, RecordType::Cname), ["b.example.net"]);
    assert_eq!(seen.facts.failed_types, ["A", "AAAA"]);

    let dangling = Rig::new(move |question| {
        let alias = next(&question.name).filter(|_| question.name == "a.example.com");
        let alias = alias.filter(|_| question.rrtype == "CNAME");
        alias.map(|alias| Ok(unsigned(vec![rr(&question.name, "CNAME", alias)])))
    });
    let seen = dangling.try_run("a.example.com").expect("the check works");
    assert_eq!((seen.facts.error, seen.facts.failed_types.len()), (None, 0));

    let endless = Rig::new(|question| {
        let links = question.name.bytes().filter(|byte| *byte == b'x').count();
        let alias = format!("{}.example.net", "x".repeat(links + 1));
        let alias = rr(&question.name, "CNAME", &alias);
        (question.rrtype == "CNAME").then(|| Ok(unsigned(vec![alias])))
    });
    let seen = endless.try_run("a.example.com").expect("the check works");
    assert_eq!(seen.facts.error.as_deref(), Some("cname_loop"));
    assert_eq!(endless.count()["CNAME"], 1 + alias::MAX_LINKS);
}

#[test]
fn alias_that_leads_to_addresses_is_not_asked_for_again() {
    let rig = Rig::new(|question| {
        let alias = rr(TARGET, "CNAME", "cdn.example.net");
        match question.rrtype.as_str() {
            "CNAME" => Some(Ok(unsigned(vec![alias]))),
            "A" => Some(Ok(unsigned(vec![alias, rr("cdn.example.net", "A", "192.0.2.1")]))),
            _ => None,
        }
    });
    let seen = rig.run();
    assert_eq!(values(&seen.facts, RecordType::A), ["192.0.2.1"]);
    assert_eq!(rig.count()["CNAME"], 1);
}

#[test]
fn addresses_that_live_briefly_are_asked_for_three_times() {
    for (ttl, last, rotating, questions) in
        [(30, 1, false, 3), (30, 2, true, 3), (300, 2, false, 1)]
    {
        let mut turn = 0;
        let rig = Rig::new(move |question| {
            (question.rrtype == "A").then(|| {
                turn += 1;
                let host = if turn == 3 { last } else { 1 };
                let record = rr(TARGET, "A", &format!("192.0.2.{host}"));
                Ok(unsigned(vec![Rr { ttl, ..record }]))
            })
        });
        let seen = rig.run();
        assert_eq!(seen.facts.rotating, rotating, "{ttl} {last}");
        assert_eq!(seen.facts.turns.is_empty(), !rotating, "{ttl} {last}");
        assert_eq!(values(&seen.facts, RecordType::A), ["192.0.2.1"]);
        assert_eq!(rig.count()["A"], questions);
    }
}

#[test]
fn short_run_asks_once() {
    let rig = Rig::new(|question| match question.rrtype.as_str() {
        "CNAME" => Some(Ok(unsigned(vec![rr(TARGET, "CNAME", "cdn.example.net")]))),
        _ => Some(servfail(Dnssec::Bogus)),
    });
    rig.host.set_remaining(Duration::from_secs(2));
    rig.run();
    assert!(rig.count().values().all(|count| *count == 1));
}

#[test]
fn hostile_answers_make_a_bounded_result() {
    let rig = Rig::new(|question| {
        let many = |count: u32, data: &dyn Fn(u32) -> String| {
            (0..count).map(|n| rr(TARGET, &question.rrtype, &data(n))).collect::<Vec<Rr>>()
        };
        let records = match question.rrtype.as_str() {
            "A" => many(4_000, &|n| std::net::Ipv4Addr::from(n << 8).to_string()),
            "AAAA" => many(2_300, &|n| format!("2001:db8:1111:2222:3333:4444:5555:{n:x}")),
            "CNAME" => many(500, &|n| format!("{n}.{}", "a".repeat(250))),
            "MX" => many(3_000, &|n| format!("{n} {}", "\\255".repeat(60))),
            "TXT" => many(200, &|n| format!("\"{n}{}\"", r#"\000\"\\\255"#.repeat(5_000))),
            "CAA" => many(200, &|n| format!("{n} issue \"{}\"", r#"\"\007"#.repeat(9_000))),
            "NS" => many(3_000, &|n| format!("{n}.{}", "NS".repeat(30))),
            _ => Vec::new(),
        };
        Some(Ok(unsigned(records)))
    });
    let seen = rig.run();
    // The aliases lead away from the name, so none of its addresses are its own.
    assert_eq!(values(&seen.facts, RecordType::Cname).len(), 1);
    for set in &seen.facts.records {
        assert!(set.values.len() <= canonical::MAX_VALUES, "{}", set.rtype);
    }
}

#[test]
fn text_of_every_byte_is_shown() {
    let every: String = (0..=255).map(|byte: u8| format!("\\{byte:03}")).collect();
    let rig = Rig::new(move |question| {
        let record = rr(TARGET, "TXT", &format!("\"{}\" \"end\"", &every));
        (question.rrtype == "TXT").then(|| Ok(unsigned(vec![record.clone(), record])))
    });
    let seen = rig.run();
    let [text] = values(&seen.facts, RecordType::Txt)[..] else { panic!("one value") };
    assert!(text.starts_with(r"\000\001") && text.ends_with(r"\254\255end"), "{text}");
    assert!(text.contains(r#" !"#) && text.contains("xyz{|}~\\127"));
}

#[test]
fn manifest_and_descriptor_agree() {
    let manifest = include_str!("../plugin.toml");
    let said = Dns::describe();
    assert!(manifest.contains(&format!("id = \"{}\"", said.id)));
    assert!(manifest.contains(&format!("version = \"{}\"", said.version)));
    let asked = RecordType::ALL.map(RecordType::name).into_iter().chain(["DNSKEY"]);
    for rtype in asked {
        assert!(manifest.contains(&format!("\"{rtype}\"")), "{rtype}");
    }
}

#[test]
fn descriptor_says_what_the_contract_says() {
    let said = Dns::describe();
    assert_eq!((said.id, said.version), ("vedette.check-dns", env!("CARGO_PKG_VERSION")));
    let [event] = said.events else { panic!("one event") };
    assert_eq!((event.name, event.alert_type), ("dns.changed", "dns"));
    assert_eq!((event.self_resolving, event.confirmations), (false, 2));
    let sample: Value = serde_json::to_value(DnsResult::default()).expect("it has a form in JSON");
    assert!(said.summary_fields.iter().all(|field| sample.get(field).is_some()));
}
