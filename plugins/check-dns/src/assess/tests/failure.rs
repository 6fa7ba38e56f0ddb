//! Questions that fail: what they mean for the health, and that they change nothing else.

use super::*;

#[test]
fn failed_types_change_nothing_and_forget_nothing() {
    let whole = |text: &str| result(json!({"A": ["192.0.2.1"], "TXT": [text]}));
    let without = || DnsResult { failed_types: vec!["TXT".to_owned()], ..a(&["192.0.2.1"]) };
    let mut site = Site::new();
    site.run(whole("x"));
    assert_eq!(site.counts(&without(), 4), [0; 4]);
    assert_eq!(site.run(whole("x")), [""; 0]);
    // The baseline outlasts settled results that lack the type.
    site.counts(&without(), 2);
    assert_eq!(site.counts(&whole("y"), 3), [0, 1, 0]);
    // A failure neither confirms nor interrupts.
    site.run(whole("z"));
    assert_eq!(site.counts(&without(), 3), [0; 3]);
    assert_eq!(site.run(whole("z")).len(), 1);
}

#[test]
fn type_that_failed_from_the_start_has_its_first_sight_later() {
    let mut site = Site::new();
    site.run(DnsResult { failed_types: vec!["CAA".to_owned()], ..a(&["192.0.2.1"]) });
    let whole = result(json!({"A": ["192.0.2.1"], "CAA": ["0 issue \";\""]}));
    assert_eq!(site.counts(&whole, 3), [0; 3]);
}

#[test]
fn errors_of_resolution_raise_nothing() {
    let mut site = Site::new();
    let good = result(json!({"A": ["192.0.2.1"], "MX": ["10 mx.example"]}));
    site.run(good.clone());
    for error in ["servfail", "timeout", "refused", "cname_loop", "dnssec_bogus", "news"] {
        assert_eq!(site.counts(&failed(error), 4), [0; 4], "{error}");
        // Also from somebody who does not name the types.
        let bare = DnsResult { failed_types: Vec::new(), ..failed(error) };
        assert_eq!(site.counts(&bare, 4), [0; 4], "{error}");
    }
    assert_eq!(site.judge(good).findings, []);
}

#[test]
fn health_is_that_of_the_name() {
    let bogus = DnsResult { error: Some("dnssec_bogus".to_owned()), ..signed(true, Some(false)) };
    for (current, expected) in [
        (a(&["192.0.2.1"]), Health::Ok),
        (result(json!({})), Health::Ok),
        (missing(), Health::Down),
        (bogus, Health::Down),
        (signed(true, Some(false)), Health::Down),
        (signed(true, None), Health::Ok),
        (signed(false, None), Health::Ok),
        (failed("cname_loop"), Health::Down),
        (failed("timeout"), Health::Unknown),
        (failed("refused"), Health::Unknown),
        (failed("news"), Health::Unknown),
        (
            DnsResult {
                error: Some("refused".to_owned()),
                ..result(json!({"CNAME": ["a.example.net"]}))
            },
            Health::Unknown,
        ),
        (DnsResult { error: None, ..failed("") }, Health::Unknown),
    ] {
        assert_eq!(Site::new().judge(current.clone()).health, expected, "{current:?}");
    }
    let mut site = Site::new();
    let mut health = |current| site.judge(current).health;
    assert_eq!(health(failed("servfail")), Health::Degraded);
    assert_eq!(health(failed("timeout")), Health::Unknown);
    assert_eq!(health(failed("servfail")), Health::Down);
    assert_eq!(health(a(&["192.0.2.1"])), Health::Ok);
    assert_eq!(health(failed("servfail")), Health::Degraded);
}

#[test]
fn alias_that_changed_is_told_once_its_name_can_be_judged() {
    let whole = |alias: &str| result(json!({"CNAME": [alias], "A": ["192.0.2.1"]}));
    for (error, meanwhile, after) in [
        ("servfail", [0, 1, 0], [0, 0, 0]),
        ("refused", [0, 0, 0], [0, 1, 0]),
        ("timeout", [0, 0, 0], [0, 1, 0]),
    ] {
        let behind = |alias: &str| DnsResult {
            error: Some(error.to_owned()),
            failed_types: vec!["A".to_owned(), "AAAA".to_owned()],
            ..result(json!({"CNAME": [alias]}))
        };
        let mut site = Site::new();
        site.run(whole("a.example.net"));
        assert_eq!(site.judge(behind("a.example.net")).findings, []);
        assert_eq!(site.counts(&behind("b.example.org"), 3), meanwhile, "{error}");
        assert_eq!(site.counts(&whole("b.example.org"), 3), after, "{error}");
    }
}

#[test]
fn type_that_always_fails_hides_no_change_of_another() {
    let mail = |host: &str| DnsResult {
        failed_types: vec!["AAAA".to_owned()],
        ..result(json!({"MX": [host], "NS": ["ns1.example.com"]}))
    };
    let mut site = Site::new();
    site.run(mail("10 mx1.example"));
    assert_eq!(site.judge(mail("10 mx1.example")).health, Health::Ok);
    assert_eq!(site.counts(&mail("10 mx2.example"), 3), [0, 1, 0]);
}

#[test]
fn run_that_cannot_tell_keeps_the_memory() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    let memory = site.memory.clone();
    assert!(memory.is_some());
    assert_eq!(site.judge(failed("timeout")).memory, memory);
}

#[test]
fn alias_is_remembered_while_its_question_fails() {
    let mut site = Site::new();
    site.run(result(json!({"CNAME": ["x.example.net"], "A": ["192.0.2.1"]})));
    let failed = DnsResult { failed_types: vec!["CNAME".to_owned()], ..a(&["203.0.113.9"]) };
    assert_eq!(site.counts(&failed, 3), [0; 3]);
}
