use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use serde_json::{Value, json};
use vedette_sdk::{
    Health,
    http::Response,
    net::{NetError, Phase},
    schemars::schema_for,
    testing::Host,
};

use super::*;
use crate::{
    date::DAY,
    fixture::{self, NOW, response},
    result::Caa,
};

const DOMAIN: &str = "example.com";
const SOURCES: &str = r#"{"sources":[{"kind":"crtsh","url":"https://crt.example"}]}"#;

/// crt.sh with rows that a test changes.
#[derive(Clone, Default)]
struct Crtsh(Rc<RefCell<Vec<Value>>>);

impl Crtsh {
    fn host(&self, zone: &'static [(&str, &str)]) -> Host {
        let (host, rows) = (Host::new(), Rc::clone(&self.0));
        host.set_remaining(Duration::from_secs(30));
        fixture::caa(&host, zone);
        host.http(move |_| Ok(answer(&Value::from(rows.borrow().clone()))));
        host
    }

    fn add(&self, issuer: &str, serial: &str, names: &str) {
        self.0.borrow_mut().push(json!({
            "issuer_name": issuer, "name_value": names, "id": 1, "common_name": null,
            "entry_timestamp": "2025-12-01T10:00:00.5", "not_before": "2025-12-01T09:00:00",
            "not_after": "2026-03-01T08:59:59", "serial_number": serial,
        }));
    }

    /// One that was logged when the site was watched already.
    fn add_since(&self, issuer: &str, serial: &str, names: &str) {
        self.add(issuer, serial, names);
        if let Some(row) = self.0.borrow_mut().last_mut() {
            row["entry_timestamp"] = json!("2026-01-02T10:00:00");
        }
    }
}

fn answer(value: &Value) -> Response {
    response(200, value.to_string().as_bytes())
}

fn job(target: &str) -> Job<Config> {
    Job { settings: SOURCES.to_owned(), ..Job::new(target, Config::default()) }
}

fn run(host: &Host) -> CtResult {
    Ct::run(&host.cx(), job(DOMAIN)).expect("the check works").facts
}

/// crt.sh with a list about www.example.com, and one about the wildcard beside it, which may be away.
fn www(own: &Crtsh, beside: &Crtsh, is_away: &Rc<Cell<bool>>) -> Host {
    let (host, is_away) = (Host::new(), Rc::clone(is_away));
    let (own, beside) = (Rc::clone(&own.0), Rc::clone(&beside.0));
    host.set_remaining(Duration::from_secs(30));
    fixture::caa(&host, &[]);
    host.http(move |request| {
        let is_beside = request.url.contains("q=*.");
        if is_beside && is_away.get() {
            return Ok(response(503, b""));
        }
        let rows = if is_beside { &beside } else { &own };
        Ok(answer(&Value::from(rows.borrow().clone())))
    });
    host
}

const LETSENCRYPT: &str = "C=US, O=Let's Encrypt, CN=R11";
const DIGICERT: &str = "C=US, O=\"DigiCert, Inc.\", CN=DigiCert G2";

#[test]
fn first_run_is_a_baseline_and_the_next_ones_tell_news() {
    let crtsh = Crtsh::default();
    crtsh.add(LETSENCRYPT, "01", "example.com\nwww.example.com");
    let host = crtsh.host(&[]);
    let first = Ct::run(&host.cx(), job(DOMAIN)).expect("the check works");
    assert_eq!(first.summary, "1 certificate, 0 new, 0 unexpected");
    assert_eq!(first.next_run_in, None);
    let first = first.facts;
    assert!(first.baseline && first.certificates[0].expected);
    assert_eq!((first.source.as_deref(), first.error.as_deref()), (Some("crtsh"), None));

    crtsh.add("C=US, O=Let's Encrypt, CN=E6", "02", "*.example.com");
    crtsh.add(DIGICERT, "03", "example.com");
    let second = run(&host);
    assert_eq!((second.total, second.new_count, second.unexpected_count), (3, 2, 1));
    assert!(!second.baseline);
    for certificate in &second.certificates {
        let is_digicert = certificate.serial_number == "03";
        assert_eq!(certificate.expected, !is_digicert);
    }
    let third = run(&host);
    assert_eq!((third.total, third.new_count, third.unexpected_count), (3, 0, 1));
}

#[test]
fn caa_explains_issuers_that_are_new() {
    let crtsh = Crtsh::default();
    crtsh.add(LETSENCRYPT, "01", DOMAIN);
    let host = crtsh.host(&[("example.com", "0 issue \"digicert.com\"")]);
    run(&host);
    crtsh.add(DIGICERT, "02", DOMAIN);
    crtsh.add("O=GlobalSign nv-sa, CN=G", "03", DOMAIN);
    crtsh.add("O=Unknown CA, CN=U", "04", DOMAIN);
    let result = run(&host);
    assert_eq!((result.new_count, result.unexpected_count), (3, 2));
    let caa = |serial: &str| {
        let mut certificates = result.certificates.iter();
        let found = certificates.find(|certificate| certificate.serial_number == serial);
        found.expect("it is listed").caa
    };
    assert_eq!(caa("01"), None, "not asked: its issuer is accepted");
    assert_eq!(caa("02"), Some(Caa::Permits));
    assert_eq!(caa("03"), Some(Caa::Forbids));
    assert_eq!(caa("04"), Some(Caa::Forbids), "it is none of those that are known");
}

#[test]
fn source_that_is_away_is_a_result_and_the_baseline_stays() {
    let crtsh = Crtsh::default();
    crtsh.add(LETSENCRYPT, "01", DOMAIN);
    let host = crtsh.host(&[]);
    run(&host);
    for (failure, token) in [
        (Ok(response(502, b"<html>")), "ct_source_unavailable"),
        (Ok(response(200, b"<html>")), "ct_source_unavailable"),
        (Err(NetError::Timeout(Phase::Receive)), "timeout"),
    ] {
        host.http(move |_| failure.clone());
        // A failure is forgotten by then.
        host.set_now(host.cx().now() + 100_000);
        let seen = Ct::run(&host.cx(), job(DOMAIN)).expect("the check works");
        assert_eq!(seen.facts, CtResult::failed(DOMAIN, token));
        assert_eq!(seen.summary, token);
    }
    host.set_now(NOW + 10);
    let rows = Rc::clone(&crtsh.0);
    host.http(move |_| Ok(answer(&Value::from(rows.borrow().clone()))));
    crtsh.add(DIGICERT, "02", DOMAIN);
    let result = run(&host);
    assert_eq!((result.baseline, result.new_count, result.unexpected_count), (false, 1, 1));
}

#[test]
fn without_sources_nothing_is_known() {
    let nobody = Job { settings: r#"{"sources":[]}"#.to_owned(), ..job(DOMAIN) };
    let seen = Ct::run(&Host::new().cx(), nobody).expect("the check works");
    assert_eq!(seen.facts, CtResult::failed(DOMAIN, "ct_source_unavailable"));
}

#[test]
fn public_suffixes_and_addresses_are_not_watched() {
    for target in ["com", "co.uk", "192.0.2.1", "2001:db8::1", "localhost"] {
        let run = Ct::run(&Host::new().cx(), job(target));
        assert!(matches!(run, Err(CheckError::UnsupportedTarget(_))), "{target}");
    }
}

#[test]
fn long_lists_are_cut_where_they_are_old_and_expected() {
    let crtsh = Crtsh::default();
    for n in 0..2_000 {
        crtsh.add(LETSENCRYPT, &format!("{n:032x}1"), &format!("h{n}.example.com"));
    }
    let host = crtsh.host(&[]);
    let first = run(&host);
    assert_eq!((first.total, first.certificates.len(), first.new_count), (2_000, 250, 0));
    // A certificate that claims to be old and was logged long ago.
    crtsh.add(DIGICERT, "ff", DOMAIN);
    crtsh.0.borrow_mut()[2_000]["entry_timestamp"] = json!("2025-01-01T00:00:00");
    let second = run(&host);
    assert_eq!((second.total, second.new_count, second.unexpected_count), (2_001, 0, 1));
    assert!(second.certificates.iter().any(|certificate| certificate.serial_number == "ff"));
    let third = run(&host);
    assert_eq!((third.new_count, third.unexpected_count), (0, 1));
}

#[test]
fn what_is_known_stays_until_it_expires() {
    let crtsh = Crtsh::default();
    crtsh.add(LETSENCRYPT, "01", DOMAIN);
    let host = crtsh.host(&[]);
    run(&host);
    let counts = |host: &Host| {
        let result = run(host);
        (result.total, result.new_count, result.unexpected_count)
    };
    crtsh.add(DIGICERT, "02", DOMAIN);
    assert_eq!(counts(&host), (2, 1, 1));
    let rows = crtsh.0.take();
    assert_eq!(counts(&host), (2, 0, 1), "an answer without any");
    crtsh.add(LETSENCRYPT, "03", DOMAIN);
    assert_eq!(counts(&host), (3, 1, 1), "one without those before");
    crtsh.0.borrow_mut().extend(rows);
    assert_eq!(counts(&host), (3, 0, 1));
    crtsh.0.borrow_mut().clear();
    host.set_now(date::parse("2026-03-01T09:00:00").expect("a date"));
    assert_eq!(counts(&host), (0, 0, 0));
}

#[test]
fn what_does_not_say_when_it_expires_stays_as_long_as_it_is_told() {
    let crtsh = Crtsh::default();
    crtsh.add(LETSENCRYPT, "01", DOMAIN);
    crtsh.add(LETSENCRYPT, "02", DOMAIN);
    crtsh.0.borrow_mut()[1]["not_after"] = json!("nonsense");
    let host = crtsh.host(&[]);
    let counts = |host: &Host| {
        let result = run(host);
        (result.total, result.new_count)
    };
    assert_eq!(counts(&host), (2, 0));
    assert_eq!(counts(&host), (2, 0), "told again");
    let undated = crtsh.0.borrow_mut().pop().expect("it was added");
    assert_eq!(counts(&host), (1, 0), "left out");

    crtsh.0.borrow_mut().push(undated);
    assert_eq!(counts(&host), (2, 1));
    crtsh.0.borrow_mut()[1]["not_after"] = json!("2026-03-02T08:59:59");
    assert_eq!(counts(&host), (2, 0), "told with its date, and not as news");
    crtsh.0.borrow_mut().pop();
    assert_eq!(counts(&host), (2, 0), "known until it expires");
}

#[test]
fn short_answer_makes_no_news_of_what_is_only_counted() {
    let crtsh = Crtsh::default();
    for n in 0..2_000 {
        crtsh.add(LETSENCRYPT, &format!("{n:032x}1"), &format!("h{n}.example.com"));
    }
    let host = crtsh.host(&[]);
    run(&host);
    let rows = crtsh.0.borrow().clone();
    for left in [2_000, 0, 10, 2_000, 1_000, 2_000] {
        *crtsh.0.borrow_mut() = rows[..left].to_vec();
        let result = run(&host);
        assert_eq!((result.total, result.new_count), (2_000, 0), "{left} are told");
    }
    crtsh.0.borrow_mut().truncate(5);
    crtsh.add(DIGICERT, "ff", DOMAIN);
    crtsh.0.borrow_mut()[5]["entry_timestamp"] = json!("2025-12-31T00:00:00");
    let result = run(&host);
    assert_eq!((result.total, result.new_count, result.unexpected_count), (2_001, 1, 1));
}

#[test]
fn result_of_ten_thousand_long_names_stays_small() {
    let crtsh = Crtsh::default();
    let names: Vec<String> = (0..10_000).map(|n| format!("{n:060}.{n:060}.example.com")).collect();
    crtsh.add(LETSENCRYPT, "01", &names.join("\n"));
    for n in 0..600 {
        crtsh.add(LETSENCRYPT, &format!("1{n:04x}"), &names[n..n + 15].join("\n"));
    }
    let result = run(&crtsh.host(&[]));
    let size = serde_json::to_vec(&result).expect("a result has a form in JSON").len();
    assert!(size < 140_000, "{size}");
    assert_eq!(result.total, 601);
    assert!(result.certificates.iter().all(|certificate| certificate.san.len() <= 20));
}

#[test]
fn more_to_read_means_an_earlier_run() {
    let host = Host::new();
    host.set_remaining(Duration::from_secs(30));
    fixture::caa(&host, &[]);
    let mut id = 0;
    host.http(move |_| {
        id += 1;
        Ok(answer(&json!([{
            "id": id.to_string(), "dns_names": [DOMAIN], "tbs_sha256": format!("{id:064x}"),
            "issuer": {"name": LETSENCRYPT}, "not_after": "2026-03-01T00:00:00Z",
        }])))
    });
    let settings = r#"{"sources":[{"kind":"certspotter","url":"https://spotter.example"}]}"#;
    let job = || Job { settings: settings.to_owned(), ..Job::new(DOMAIN, Config::default()) };
    for run in 1..=3 {
        let seen = Ct::run(&host.cx(), job()).expect("the check works");
        assert_eq!(seen.next_run_in, Some(SOON));
        assert!(seen.facts.baseline, "the source is not at its end");
        assert_eq!((seen.facts.total, seen.facts.new_count), (8 * run, 0));
    }
}

#[test]
fn results_fit_their_schema() {
    let schema = serde_json::to_value(schema_for!(CtResult)).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let crtsh = Crtsh::default();
    crtsh.add(LETSENCRYPT, "01", DOMAIN);
    let host = crtsh.host(&[("com", "0 issue \"letsencrypt.org\"")]);
    let first = run(&host);
    crtsh.add(DIGICERT, "02", DOMAIN);
    for result in [first, run(&host), CtResult::failed(DOMAIN, "timeout"), CtResult::default()] {
        let value = serde_json::to_value(&result).expect("a result is JSON");
        assert!(validator.is_valid(&value), "{value}");
        let read: CtResult = serde_json::from_value(value).expect("what was written is read");
        assert_eq!(read, result);
    }
    for (value, fits) in [
        (json!({"certificates": [{}]}), true),
        (json!({"certificates": [{"caa": "forbids", "issuer": "X"}], "total": 1}), true),
        (json!({}), false),
        (json!({"certificates": [{"caa": "maybe"}]}), false),
        (json!({"certificates": {}}), false),
    ] {
        assert_eq!(validator.is_valid(&value), fits, "{value}");
        assert!(!fits || serde_json::from_value::<CtResult>(value).is_ok());
    }
}

#[test]
fn runs_and_assessments_make_one_alert_of_one_certificate() {
    let crtsh = Crtsh::default();
    crtsh.add(LETSENCRYPT, "01", DOMAIN);
    let host = crtsh.host(&[("example.com", "0 issue \"letsencrypt.org\"")]);
    let (mut memory, mut told) = (None, Vec::new());
    for step in 0..4 {
        if step == 2 {
            crtsh.add(DIGICERT, "02", "pay.example.com");
        }
        let assessment = Ct::assess(Evidence {
            current: run(&host),
            current_at: host.cx().now(),
            settled: None,
            siblings: Vec::new(),
            config: Config::default(),
            alert_days: 14,
            memory,
        });
        memory = assessment.memory;
        told.push((assessment.health, assessment.findings.len()));
    }
    let quiet = (Health::Ok, 0);
    assert_eq!(told, [quiet, quiet, (Health::Degraded, 1), (Health::Degraded, 0)]);
}

#[test]
fn what_is_as_old_as_the_first_run_is_no_news_whenever_the_wildcards_answer_comes() {
    const WILDCARD: &str = "*.example.com";
    for runs_away in [0, 1, 3] {
        let (own, beside, is_away) = (Crtsh::default(), Crtsh::default(), Rc::default());
        own.add(LETSENCRYPT, "01", "www.example.com");
        beside.add(DIGICERT, "02", WILDCARD);
        let host = www(&own, &beside, &is_away);
        let mut memory = None;
        let mut look = |host: &Host| {
            let seen = Ct::run(&host.cx(), job("www.example.com")).expect("the check works");
            let CtResult { total, new_count, unexpected_count, .. } = seen.facts;
            let assessment = Ct::assess(Evidence {
                current: seen.facts,
                current_at: host.cx().now(),
                settled: None,
                siblings: Vec::new(),
                config: Config::default(),
                alert_days: 14,
                memory: memory.take(),
            });
            memory = assessment.memory;
            (total, new_count, unexpected_count, assessment.findings.len())
        };
        assert_eq!(look(&host), (1, 0, 0, 0), "the domain alone is the baseline");
        is_away.set(true);
        for _ in 0..runs_away {
            assert_eq!(look(&host), (1, 0, 0, 0));
        }
        is_away.set(false);
        assert_eq!(look(&host), (2, 0, 0, 0), "taken in");
        assert_eq!(look(&host), (2, 0, 0, 0));

        beside.add(DIGICERT, "03", WILDCARD);
        assert_eq!(look(&host), (3, 1, 0, 0), "its issuer is the site's");
        beside.add("O=Unknown CA, CN=U", "04", WILDCARD);
        assert_eq!(look(&host), (4, 1, 1, 1), "nobody expected that one");
        is_away.set(true);
        assert_eq!(look(&host), (4, 0, 1, 0));
        is_away.set(false);
        assert_eq!(look(&host), (4, 0, 1, 0), "and it is no news again");
    }
}

#[test]
fn what_the_domain_tells_beside_the_wildcards_first_answer_is_news() {
    let (own, beside) = (Crtsh::default(), Crtsh::default());
    own.add(LETSENCRYPT, "01", "www.example.com");
    let host = www(&own, &beside, &Rc::default());
    let counts = |host: &Host| {
        let result = Ct::run(&host.cx(), job("www.example.com")).expect("the check works").facts;
        (result.total, result.new_count, result.unexpected_count)
    };
    assert_eq!(counts(&host), (1, 0, 0));
    host.set_now(NOW + 3 * DAY);
    own.add_since(DIGICERT, "02", "www.example.com");
    beside.add_since(DIGICERT, "02", "*.example.com");
    beside.add_since(DIGICERT, "03", "*.example.com");
    assert_eq!(counts(&host), (3, 2, 2), "whatever else the wildcard brings");
}

#[test]
fn what_was_issued_for_the_wildcard_since_the_first_run_is_news_however_late_the_answer_comes() {
    let (own, beside, is_away) = (Crtsh::default(), Crtsh::default(), Rc::default());
    own.add(LETSENCRYPT, "01", "www.example.com");
    beside.add(DIGICERT, "02", "*.example.com");
    let host = www(&own, &beside, &is_away);
    let counts = || {
        let result = Ct::run(&host.cx(), job("www.example.com")).expect("the check works").facts;
        (result.total, result.new_count, result.unexpected_count)
    };
    is_away.set(true);
    assert_eq!(counts(), (1, 0, 0));
    host.set_now(NOW + 3 * DAY);
    assert_eq!(counts(), (1, 0, 0), "it is not answered");
    is_away.set(false);
    beside.add_since(DIGICERT, "03", "*.example.com");
    beside.add_since("O=Unknown CA, CN=U", "04", "*.example.com");
    assert_eq!(counts(), (4, 2, 1), "the issuer of the first was there, that of the other was not");
    own.add_since("O=Unknown CA, CN=U", "05", "www.example.com");
    assert_eq!(counts(), (5, 1, 2), "nor is it accepted by that");
}

#[test]
fn undated_wildcard_outlives_an_answer_that_was_not_asked_for_it() {
    let (own, beside, is_away) = (Crtsh::default(), Crtsh::default(), Rc::default());
    beside.add(LETSENCRYPT, "01", "*.example.com");
    beside.0.borrow_mut()[0]["not_after"] = json!("nonsense");
    let host = www(&own, &beside, &is_away);
    for (away, total) in [(false, 0), (false, 1), (true, 1), (false, 1)] {
        is_away.set(away);
        let result = Ct::run(&host.cx(), job("www.example.com")).expect("the check works").facts;
        assert_eq!((result.total, result.new_count), (total, 0));
    }
}

#[test]
fn site_that_moved_to_another_domain_begins_anew() {
    let crtsh = Crtsh::default();
    crtsh.add(DIGICERT, "01", DOMAIN);
    let host = crtsh.host(&[]);
    run(&host);
    crtsh.0.borrow_mut().clear();
    crtsh.add(LETSENCRYPT, "02", "moved.example");
    let moved = Ct::run(&host.cx(), job("moved.example")).expect("the check works").facts;
    assert!(moved.baseline);
    assert_eq!((moved.total, moved.new_count, moved.unexpected_count), (1, 0, 0));
    assert_eq!(moved.certificates[0].serial_number, "02");
}

#[test]
fn manifest_and_descriptor_agree() {
    let manifest = include_str!("../plugin.toml");
    let said = Ct::describe();
    assert!(manifest.contains(&format!("id = \"{}\"", said.id)));
    assert!(manifest.contains(&format!("version = \"{}\"", said.version)));
    let [event] = said.events else { panic!("one event") };
    assert_eq!((event.name, event.alert_type), ("certificate.changed", "ct"));
    assert!(!event.self_resolving);
}
