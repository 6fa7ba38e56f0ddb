use std::{cell::RefCell, rc::Rc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use vedette_sdk::{
    http::{Request, Response},
    net::{NetError, Phase},
    testing::Host,
};

use super::*;
use crate::{
    date::DAY,
    fixture::{self, NOW, response},
};

const DOMAIN: &str = "example.com";

fn both() -> Vec<Source> {
    vec![
        Source::new(Kind::Crtsh, "https://crt.example"),
        Source::new(Kind::Certspotter, "https://spotter.example/base"),
    ]
}

/// A host whose requests are answered by `script`; tells what was asked for.
fn host(
    mut script: impl FnMut(&Request) -> Result<Response, NetError> + 'static,
) -> (Host, Rc<RefCell<Vec<String>>>) {
    let (host, asked) = (Host::new(), Rc::<RefCell<Vec<String>>>::default());
    let log = Rc::clone(&asked);
    fixture::examine(&host);
    host.set_remaining(Duration::from_secs(30));
    host.http(move |request| {
        assert_eq!((request.method.as_str(), request.verify_tls), ("GET", true));
        log.borrow_mut().push(request.url.clone());
        script(request)
    });
    (host, asked)
}

fn ask_both(host: &Host) -> Result<(Kind, Answer), &'static str> {
    let sources = both();
    let told = ask(&host.cx(), &sources, DOMAIN, &BTreeMap::new()).expect("no trouble of ours");
    told.map(|told| (told.source.kind, told.answer))
}

/// Of crt.sh, by names and serial number.
fn rows(certificates: &[(&str, &str)]) -> Value {
    let row = |(names, serial): &(&str, &str)| {
        json!({
            "issuer_name": "C=US, O=Let's Encrypt, CN=R11", "name_value": names, "id": 1,
            "entry_timestamp": "2025-12-01T00:00:00", "not_before": "2025-12-01T00:00:00",
            "not_after": "2026-03-01T00:00:00", "serial_number": serial,
        })
    };
    certificates.iter().map(row).collect()
}

fn issuance(id: &str, serial: u8) -> Value {
    let leaf = fixture::Leaf { serial: vec![serial], ..fixture::leaf() };
    json!({
        "id": id, "dns_names": [DOMAIN], "issuer": {"name": "C=US, O=Let's Encrypt, CN=R11"},
        "not_before": "2025-12-31T00:00:00Z", "not_after": "2026-03-02T00:00:00Z",
        "cert_der": STANDARD.encode(leaf.der()),
    })
}

#[test]
fn first_source_that_answers_is_the_one() {
    let (host, asked) = host(|_| Ok(response(200, rows(&[(DOMAIN, "0a")]).to_string().as_bytes())));
    let (kind, answer) = ask_both(&host).expect("an answer");
    assert_eq!((kind, answer.certificates.len(), answer.is_whole), (Kind::Crtsh, 1, true));
    let url = "https://crt.example/?q=example.com&output=json&exclude=expired&deduplicate=Y";
    assert_eq!(*asked.borrow(), [url]);
}

/// How crt.sh answers about www.example.com, and about the wildcard beside it; what it was asked.
fn read_beside(
    position: Option<&str>,
    beside: Result<Response, NetError>,
) -> (Answer, Vec<String>) {
    let own = rows(&[("www.example.com", "0a")]).to_string();
    let (host, asked) = host(move |request| match request.url.contains("q=*.example.com&") {
        true => beside.clone(),
        false => Ok(response(200, own.as_bytes())),
    });
    let sources = &both()[..1];
    let positions = position.map(|position| (sources[0].mark(), position.to_owned()));
    let positions = positions.into_iter().collect();
    let told = ask(&host.cx(), sources, "www.example.com", &positions).expect("no trouble of ours");
    let answer = told.expect("an answer").answer;
    let asked = asked.borrow().clone();
    (answer, asked)
}

#[test]
fn wildcard_beside_the_domain_is_asked_for_after_it_from_the_second_look_on() {
    let own = "https://crt.example/?q=www.example.com&output=json&exclude=expired&deduplicate=Y";
    let wildcard = "https://crt.example/?q=*.example.com&output=json&exclude=expired&deduplicate=Y";
    let wild = rows(&[("*.example.com\nexample.com", "0b"), ("www.example.com", "0a")]).to_string();
    let wild = || Ok(response(200, wild.as_bytes()));
    let counts = |answer: &Answer| (answer.certificates.len(), answer.taken_in.len());

    let (first, asked) = read_beside(None, wild());
    let alone = format!("alone {NOW}");
    assert_eq!((counts(&first), first.position.as_deref()), ((1, 0), Some(&*alone)));
    assert_eq!(asked, [own]);
    // The wildcard's is of December 2025. Where nobody noted when the first look was, all is taken in.
    let earlier = format!("alone {}", NOW - 60 * DAY);
    for (position, expected) in [(&*alone, (1, 1)), ("alone", (1, 1)), (&*earlier, (2, 0))] {
        let (second, asked) = read_beside(Some(position), wild());
        assert_eq!((counts(&second), second.position.as_deref()), (expected, Some("beside")));
        assert_eq!(asked, [own, wildcard], "{position}");
    }
    let (later, asked) = read_beside(Some("beside"), wild());
    assert_eq!((counts(&later), later.position.as_deref()), ((2, 0), None));
    assert_eq!(asked, [own, wildcard]);
}

#[test]
fn wildcard_has_the_time_of_the_sources_that_are_not_asked_any_more() {
    for (left, patience) in [(19_500, 17_000), (10_000, 7_500)] {
        let host = Host::new();
        host.set_remaining(Duration::from_secs(30));
        let clock = host.clone();
        host.http(move |request| {
            if request.url.contains("q=*.example.com&") {
                assert_eq!(request.timeout_ms, patience);
            } else {
                assert_eq!(request.timeout_ms, 20_000, "others may have to be asked");
                clock.set_remaining(Duration::from_millis(left));
            }
            Ok(response(200, b"[]"))
        });
        let sources = both();
        let positions = [(sources[0].mark(), "alone".to_owned())].into();
        let told = ask(&host.cx(), &sources, "www.example.com", &positions);
        let answer = told.expect("no trouble of ours").expect("an answer").answer;
        assert_eq!(answer.position.as_deref(), Some("beside"), "it was asked");
    }
}

#[test]
fn wildcard_that_cannot_be_asked_about_leaves_all_as_it_was() {
    let many: Vec<(String, String)> =
        (0..6_000).map(|n| ("*.example.com".to_owned(), format!("{n:x}f"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, at)| (&**name, &**at)).collect();
    for beside in [
        Ok(response(503, b"")),
        Ok(response(429, b"")),
        Ok(response(200, rows(&many).to_string().as_bytes())),
        Err(NetError::Timeout(Phase::Receive)),
        Err(NetError::BudgetExhausted),
    ] {
        for position in ["alone", "alone 1767225600", "beside"] {
            let (answer, _) = read_beside(Some(position), beside.clone());
            let expected = Answer { is_whole: true, ..Answer::default() };
            assert_eq!(answer.certificates.len(), 1);
            assert_eq!(Answer { certificates: Vec::new(), ..answer }, expected);
        }
    }
}

#[test]
fn source_that_fails_is_skipped() {
    let html = b"<html>502 Bad Gateway</html>".to_vec();
    let cut = Response { truncated: true, ..response(200, b"[{") };
    for failing in [
        Ok(response(503, b"")),
        Ok(response(429, b"")),
        Ok(response(200, &html)),
        Ok(cut),
        Err(NetError::Timeout(Phase::Receive)),
        Err(NetError::Refused),
        Err(NetError::NotPermitted("https to crt.example".to_owned())),
    ] {
        let (host, asked) = host(move |request| match request.url.contains("crt.example") {
            true => failing.clone(),
            false => Ok(response(200, b"[]")),
        });
        let (kind, answer) = ask_both(&host).expect("an answer");
        assert_eq!((kind, answer.certificates.len()), (Kind::Certspotter, 0));
        assert!(!answer.is_whole && !answer.has_more);
        let url = "https://spotter.example/base/v1/issuances?domain=example.com\
                   &include_subdomains=true&match_wildcards=true&expand=dns_names&expand=issuer\
                   &expand=cert_der";
        assert_eq!(asked.borrow()[1], url);
        assert!(host.logged()[0].message.contains("source failed"));
    }
}

#[test]
fn error_is_that_of_the_first_source() {
    for (first, second, token) in [
        (Ok(response(503, b"")), Ok(response(429, b"")), UNAVAILABLE),
        (Ok(response(429, b"")), Ok(response(503, b"")), RATE_LIMITED),
        (Err(NetError::Timeout(Phase::Connect)), Ok(response(500, b"")), TIMEOUT),
    ] {
        let (host, _) = host(move |request| match request.url.contains("crt.example") {
            true => first.clone(),
            false => second.clone(),
        });
        assert_eq!(ask_both(&host).err(), Some(token));
    }
}

#[test]
fn our_own_trouble_is_no_answer_of_a_source() {
    let (host, asked) = host(|_| Err(NetError::Other(("resolver-down".into(), String::new()))));
    let (sources, positions) = (both(), BTreeMap::new());
    let told = ask(&host.cx(), &sources, DOMAIN, &positions);
    assert!(matches!(told, Err(CheckError::Failed(_))));
    assert_eq!(asked.borrow().len(), 1);
}

#[test]
fn source_that_keeps_failing_rests_and_is_asked_again_later() {
    let (host, asked) = host(|_| Ok(response(503, b"")));
    for _ in 0..3 {
        assert_eq!(ask_both(&host).err(), Some(UNAVAILABLE));
    }
    assert_eq!(asked.borrow().len(), 6);
    assert_eq!(ask_both(&host).err(), Some(UNAVAILABLE));
    assert_eq!(asked.borrow().len(), 7, "both rest, and the first is asked all the same");
    host.set_now(NOW + 61);
    assert_eq!(ask_both(&host).err(), Some(UNAVAILABLE));
    assert_eq!(asked.borrow().len(), 8, "the first rests for longer now");
    host.set_now(NOW + 182);
    assert_eq!(ask_both(&host).err(), Some(UNAVAILABLE));
    assert_eq!(asked.borrow().len(), 10);
}

#[test]
fn source_without_another_is_asked_however_often_it_failed() {
    let mut calls = 0;
    let (host, asked) = host(move |_| {
        calls += 1;
        Ok(if calls < 6 { response(503, b"") } else { response(200, b"[]") })
    });
    let sources = &both()[..1];
    let ask_it = || ask(&host.cx(), sources, DOMAIN, &BTreeMap::new()).expect("no trouble of ours");
    for _ in 0..5 {
        assert_eq!(ask_it().err(), Some(UNAVAILABLE));
    }
    assert!(ask_it().is_ok(), "it is well again");
    assert_eq!(asked.borrow().len(), 6);
}

#[test]
fn source_that_asked_to_be_left_alone_is_left_alone() {
    let (host, asked) = host(|_| Ok(response(429, b"")));
    for _ in 0..2 {
        assert_eq!(ask_both(&host).err(), Some(RATE_LIMITED));
        assert_eq!(asked.borrow().len(), 2);
    }
}

#[test]
fn error_is_that_of_a_source_that_was_asked() {
    for (second, token) in
        [(Ok(response(429, b"")), RATE_LIMITED), (Err(NetError::Timeout(Phase::Receive)), TIMEOUT)]
    {
        let mut calls = 0;
        let (host, asked) = host(move |request| match request.url.contains("crt.example") {
            true => Ok(response(503, b"")),
            false => {
                calls += 1;
                if calls > 3 { second.clone() } else { Ok(response(200, b"[]")) }
            }
        });
        for _ in 0..3 {
            assert!(ask_both(&host).is_ok());
        }
        assert_eq!(ask_both(&host).err(), Some(token));
        assert_eq!(asked.borrow().len(), 7, "the first rests");
    }
}

#[test]
fn slow_first_source_leaves_time_for_the_next() {
    let (host, _) = host(|request| {
        let patience = request.timeout_ms;
        if request.url.contains("crt.example") {
            assert_eq!(patience, 20_000);
            return Err(NetError::Timeout(Phase::Receive));
        }
        assert!(patience <= 8_000);
        Ok(response(200, b"[]"))
    });
    assert!(ask_both(&host).is_ok());
    let (short, asked) = self::host(|_| Err(NetError::Timeout(Phase::Receive)));
    short.set_remaining(Duration::from_secs(3));
    assert_eq!(ask_both(&short).err(), Some(TIMEOUT));
    assert_eq!(asked.borrow().len(), 1, "no time for a second one");
}

/// Cert Spotter with these pages, by the `after` that asks for them.
fn spotter(pages: &'static [(&str, &[(&str, u8)])]) -> (Host, Rc<RefCell<Vec<String>>>) {
    host(move |request| {
        let url = url::Url::parse(&request.url).expect("a URL");
        let after = url.query_pairs().find(|(name, _)| name == "after");
        let after = after.map(|(_, value)| value.into_owned()).unwrap_or_default();
        let page = pages.iter().find(|(at, _)| *at == after);
        let rows = page.map(|(_, rows)| *rows).unwrap_or_default();
        let rows: Vec<Value> = rows.iter().map(|(id, serial)| issuance(id, *serial)).collect();
        Ok(response(200, Value::from(rows).to_string().as_bytes()))
    })
}

fn read_on(host: &Host, position: Option<&str>) -> Answer {
    let source = [Source::new(Kind::Certspotter, "https://spotter.example")];
    let positions = position.map(|position| (source[0].mark(), position.to_owned()));
    let positions = positions.into_iter().collect();
    let told = ask(&host.cx(), &source, DOMAIN, &positions).expect("no trouble of ours");
    told.expect("an answer").answer
}

#[test]
fn pages_are_read_to_the_end_and_later_only_what_is_new() {
    let pages: &[(&str, &[(&str, u8)])] =
        &[("", &[("5", 1), ("9", 2)]), ("9", &[("7", 3)]), ("7", &[])];
    let (host, asked) = spotter(pages);
    let answer = read_on(&host, None);
    let serials: Vec<&str> = answer.certificates.iter().map(|one| one.serial.as_str()).collect();
    assert_eq!(serials, ["1", "2", "3"]);
    assert!(answer.certificates.iter().all(|one| one.tbs.is_some()));
    assert_eq!((answer.position.as_deref(), answer.has_more), (Some("7"), false));
    assert_eq!(asked.borrow().len(), 3);
    let answer = read_on(&host, Some("7"));
    assert_eq!((answer.certificates.len(), answer.position.as_deref()), (0, Some("7")));
    assert_eq!(asked.borrow().len(), 4);
}

#[test]
fn server_that_repeats_itself_is_not_read_for_ever() {
    let (host, asked) = spotter(&[("", &[("5", 1)]), ("5", &[("5", 1)])]);
    assert!(!read_on(&host, None).has_more);
    assert_eq!(asked.borrow().len(), 2);
    let (host, asked) = spotter(&[("", &[("5", 1)]), ("5", &[("6", 2)]), ("6", &[("5", 1)])]);
    assert!(!read_on(&host, None).has_more);
    assert_eq!(asked.borrow().len(), 3);
}

#[test]
fn what_was_read_before_a_failure_counts() {
    let mut calls = 0;
    let (host, _) = host(move |_| {
        calls += 1;
        match calls {
            1 => Ok(response(200, json!([issuance("5", 1)]).to_string().as_bytes())),
            _ => Ok(response(429, b"")),
        }
    });
    let answer = read_on(&host, None);
    assert_eq!((answer.certificates.len(), answer.has_more), (1, true));
    assert_eq!(answer.position.as_deref(), Some("5"));
}

#[test]
fn run_reads_so_many_pages_and_no_more() {
    let mut id = 0;
    let (host, asked) = host(move |_| {
        id += 1;
        let page = json!([issuance(&id.to_string(), 1)]);
        Ok(response(200, page.to_string().as_bytes()))
    });
    let answer = read_on(&host, None);
    assert_eq!((answer.position.as_deref(), answer.has_more), (Some("8"), true));
    assert_eq!(asked.borrow().len(), 8);
}

#[test]
fn certificate_that_the_host_cannot_read_is_known_by_what_was_told() {
    let (host, _) = host(|request| {
        let mut one = issuance("5", 1);
        one["cert_der"] = json!(STANDARD.encode(b"no certificate"));
        one["tbs_sha256"] = json!("ab".repeat(32));
        let page = if request.url.contains("after") { json!([]) } else { json!([one]) };
        Ok(response(200, page.to_string().as_bytes()))
    });
    let answer = read_on(&host, None);
    assert_eq!(answer.certificates[0].serial, "");
    assert_eq!(answer.certificates[0].tbs, Some("ab".repeat(32)));
}
