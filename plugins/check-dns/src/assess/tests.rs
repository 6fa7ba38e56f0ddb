use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use vedette_sdk::{Finding, Settled};

use super::*;
use crate::{fixture::NOW, result::Dnssec};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const NAME: &str = "www.example.com";

/// A site whose results arrive one after the other. Keeps what the host keeps: the memory, how
/// often each finding was reported in a row, and the last settled result.
#[derive(Default)]
struct Site {
    memory: Option<String>,
    settled: Option<Settled<DnsResult>>,
    /// By key: runs in a row, and whether it was raised.
    tracked: BTreeMap<String, (u8, bool)>,
    raised: Vec<Finding>,
    now: i64,
}

impl Site {
    fn new() -> Self {
        Self { now: NOW, ..Self::default() }
    }

    /// One run, an hour after the last; answers the messages of the alerts that it raised.
    fn run(&mut self, current: DnsResult) -> Vec<String> {
        self.now += HOUR;
        let before = self.raised.len();
        self.judge(current);
        self.raised[before..].iter().map(|finding| finding.message.clone()).collect()
    }

    fn judge(&mut self, current: DnsResult) -> Assessment {
        let evidence = Evidence {
            current: current.clone(),
            current_at: self.now,
            settled: self.settled.clone(),
            siblings: Vec::new(),
            config: NoConfig {},
            alert_days: 14,
            memory: self.memory.clone(),
        };
        let assessment = assess(evidence.clone());
        assert_eq!(assess(evidence), assessment, "the same evidence gives the same bytes");
        within_limits(&assessment);
        if assessment.health == Health::Unknown {
            return assessment;
        }
        self.memory.clone_from(&assessment.memory);
        let before = std::mem::take(&mut self.tracked);
        for finding in &assessment.findings {
            let (count, raised) = before.get(&finding.dedup_key).copied().unwrap_or_default();
            let confirmed = count + 1 >= finding.confirmations.unwrap_or(2);
            if confirmed && !raised {
                self.raised.push(finding.clone());
            }
            self.tracked.insert(finding.dedup_key.clone(), (count + 1, raised || confirmed));
        }
        if self.tracked.values().all(|(_, raised)| *raised) {
            self.settled = Some(Settled { facts: current, at: self.now });
        }
        assessment
    }

    /// So many equal runs; answers the number of alerts after each.
    fn counts(&mut self, current: &DnsResult, runs: usize) -> Vec<usize> {
        (0..runs).map(|_| self.run(current.clone()).len()).collect()
    }
}

fn within_limits(assessment: &Assessment) {
    assert!(assessment.memory.as_ref().is_none_or(|memory| memory.len() <= 64 << 10));
    assert!(assessment.findings.len() <= 32);
    for finding in &assessment.findings {
        assert!(finding.message.len() <= 1 << 10, "{}", finding.message.len());
        assert!(finding.dedup_key.len() <= 256);
        assert!(finding.suggestion.as_ref().is_some_and(|text| text.len() <= 2 << 10));
        assert!(finding.details.as_ref().is_some_and(|text| text.len() <= 16 << 10));
    }
}

fn result(records: Value) -> DnsResult {
    let sets = records.as_object().expect("a table of types");
    let sets = sets.iter().map(|(rtype, values)| json!({"type": rtype, "values": values}));
    let records: Vec<Value> = sets.collect();
    let result = json!({"domain": NAME, "records": records, "dnssec": null, "error": null});
    serde_json::from_value(result).expect("it is a result")
}

fn a(addresses: &[&str]) -> DnsResult {
    result(json!({"A": addresses}))
}

fn failed(error: &str) -> DnsResult {
    let failed_types = RecordType::ALL.map(|rtype| rtype.name().to_owned()).to_vec();
    DnsResult { error: Some(error.to_owned()), failed_types, ..result(json!({})) }
}

fn missing() -> DnsResult {
    DnsResult { error: Some("nxdomain".to_owned()), ..result(json!({})) }
}

fn signed(enabled: bool, valid: Option<bool>) -> DnsResult {
    DnsResult { dnssec: Some(Dnssec { enabled, valid }), ..a(&["192.0.2.1"]) }
}

#[test]
fn first_run_is_silent_and_so_is_every_equal_one() {
    let mut site = Site::new();
    let full = result(json!({
        "A": ["192.0.2.1"], "MX": ["10 mx.example.com"], "NS": ["ns1.example.com"],
    }));
    assert_eq!(site.counts(&full, 5), [0; 5]);
    assert_eq!(site.judge(full).findings, []);
}

#[test]
fn change_is_told_once_after_two_runs_and_is_then_the_baseline() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    assert_eq!(site.run(a(&["203.0.113.9"])), [""; 0]);
    assert_eq!(
        site.run(a(&["203.0.113.9"])),
        ["www.example.com: DNS changed: A 192.0.2.1 → 203.0.113.9"],
    );
    assert_eq!(site.counts(&a(&["203.0.113.9"]), 3), [0; 3]);
    assert_eq!(site.judge(a(&["203.0.113.9"])).findings, []);
    let details = site.raised[0].details.as_deref().expect("a change has details");
    assert_eq!(
        serde_json::from_str::<Value>(details).expect("details are JSON"),
        json!({"changes": [
            {"type": "A", "before": ["192.0.2.1"], "after": ["203.0.113.9"]},
        ]}),
    );
}

#[test]
fn each_type_that_differs_is_a_change() {
    for (rtype, before, after) in [
        ("MX", "10 mx.example.com", "20 mx.example.com"),
        ("TXT", "v=spf1 -all", "v=spf1 +all"),
        ("CAA", "0 issue \"ca.example\"", "0 issue \";\""),
        ("NS", "ns1.example.com", "ns1.example.net"),
        ("CNAME", "a.example.com", "b.example.com"),
        ("AAAA", "2001:db8::1", "2001:db8::2"),
    ] {
        let mut site = Site::new();
        site.run(result(json!({rtype: [before]})));
        let changed = result(json!({rtype: [after]}));
        site.run(changed.clone());
        let expected = format!("www.example.com: DNS changed: {rtype} {before} → {after}");
        assert_eq!(site.run(changed), [expected]);
    }
}

#[test]
fn appearing_type_is_a_change_like_any() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    let more = result(json!({"A": ["192.0.2.1"], "CAA": ["0 issue \"ca.example\""]}));
    assert_eq!(site.counts(&more, 3), [0, 1, 0]);
    assert_eq!(
        site.raised[0].message,
        "www.example.com: DNS changed: CAA none → 0 issue \"ca.example\"",
    );
}

#[test]
fn what_changes_together_is_one_alert() {
    let mut site = Site::new();
    site.run(result(json!({"A": ["192.0.2.1"], "MX": ["10 a.example"], "NS": ["ns1.example"]})));
    let moved =
        result(json!({"A": ["203.0.113.9"], "MX": ["10 b.example"], "NS": ["ns2.example"]}));
    assert_eq!(site.counts(&moved, 3), [0, 1, 0]);
    assert_eq!(
        site.raised[0].message,
        "www.example.com: DNS changed: A 192.0.2.1 → 203.0.113.9; MX 10 a.example → 10 b.example; \
         NS ns1.example → ns2.example",
    );
}

#[test]
fn order_case_dots_and_doubles_are_no_change() {
    let mut site = Site::new();
    site.run(result(json!({
        "A": ["192.0.2.1", "192.0.2.10"], "AAAA": ["2001:db8::1"], "NS": ["ns1.example.com"],
        "MX": ["10 mx.example.com"], "CAA": ["0 issue \"ca.example\""], "TXT": ["b", "a"],
    })));
    let other = result(json!({
        "TXT": ["a", "b", "a"], "A": ["192.0.2.10", "192.0.2.1", "192.0.2.1"],
        "AAAA": ["2001:0DB8:0::1"], "NS": ["NS1.Example.com."], "MX": ["10  MX.example.com."],
        "CAA": ["0 ISSUE ca.example"],
    }));
    assert_eq!(site.judge(other).findings, []);
}

#[test]
fn flap_starts_anew_each_time() {
    let (good, bad) = (|| a(&["192.0.2.1"]), || a(&["203.0.113.9"]));
    let mut site = Site::new();
    for current in [good(), bad(), good(), bad()] {
        assert_eq!(site.run(current), [""; 0]);
    }
    assert_eq!(site.run(bad()).len(), 1);

    let (good, bad) = (|| result(json!({"TXT": ["x"]})), || result(json!({"TXT": ["y"]})));
    let mut site = Site::new();
    for _ in 0..5 {
        assert_eq!(site.run(good()), [""; 0]);
        assert_eq!(site.run(bad()), [""; 0]);
    }
    assert_eq!(site.run(bad()).len(), 1);
}

#[test]
fn another_difference_starts_anew() {
    let mut site = Site::new();
    site.run(result(json!({"TXT": ["0"]})));
    for text in ["1", "2", "3", "4"] {
        assert_eq!(site.run(result(json!({"TXT": [text]}))), [""; 0]);
    }
    assert_eq!(
        site.run(result(json!({"TXT": ["4"]}))),
        ["www.example.com: DNS changed: TXT 0 → 4"],
    );
}

#[test]
fn record_that_changes_all_the_time_hides_no_other() {
    let mut site = Site::new();
    let noisy = |run: usize, ns: &str| result(json!({"TXT": [run.to_string()], "NS": [ns]}));
    site.run(noisy(0, "ns1.example"));
    assert_eq!(site.run(noisy(1, "ns2.example")), [""; 0]);
    assert_eq!(
        site.run(noisy(2, "ns2.example")),
        ["www.example.com: DNS changed: NS ns1.example → ns2.example"],
    );
    // Nothing settles, and still the change is told no second time.
    for run in 3..8 {
        assert_eq!(site.run(noisy(run, "ns2.example")), [""; 0]);
    }
    assert_eq!(site.run(noisy(8, "ns3.example")), [""; 0]);
    assert_eq!(
        site.run(noisy(9, "ns3.example")),
        ["www.example.com: DNS changed: NS ns2.example → ns3.example"],
    );
}

#[test]
fn vanished_type_takes_three_runs() {
    let mut site = Site::new();
    site.run(result(json!({"A": ["192.0.2.1"], "MX": ["10 mx.example"]})));
    assert_eq!(site.counts(&a(&["192.0.2.1"]), 4), [0, 0, 1, 0]);
    assert_eq!(site.raised[0].message, "www.example.com: DNS changed: MX 10 mx.example → none");
}

#[test]
fn vanished_name_takes_three_runs_and_is_one_alert() {
    let mut site = Site::new();
    let whole = result(json!({"A": ["192.0.2.1"], "MX": ["10 mx.example"], "NS": ["ns1.example"]}));
    site.run(whole.clone());
    assert_eq!(site.counts(&missing(), 5), [0, 0, 1, 0, 0]);
    assert_eq!(
        site.raised[0].message,
        "www.example.com: the name does not exist any more (NXDOMAIN): A 192.0.2.1 → none; MX 10 \
         mx.example → none; NS ns1.example → none",
    );
    assert_eq!(site.judge(missing()).health, Health::Down);
    // It comes back with one more alert, and a passing gap makes none.
    assert_eq!(site.counts(&whole, 3), [0, 1, 0]);
    assert_eq!(
        site.raised[1].message,
        "www.example.com: DNS changed: A none → 192.0.2.1; MX none → 10 mx.example; NS none → \
         ns1.example",
    );
    assert_eq!(site.counts(&missing(), 2), [0, 0]);
    assert_eq!(site.counts(&whole, 3), [0, 0, 0]);
}

#[test]
fn known_address_that_comes_back_from_nothing_is_no_change_and_no_rotation() {
    let mut site = Site::new();
    let both = result(json!({"A": ["192.0.2.1"], "AAAA": ["2001:db8::1"]}));
    site.run(both.clone());
    for _ in 0..3 {
        assert_eq!(site.counts(&a(&["192.0.2.1"]), 3), [0, 0, 1]);
        assert_eq!(site.counts(&both, 2), [0, 0]);
    }
    let other = result(json!({"A": ["192.0.2.1"], "AAAA": ["2001:db8::2"]}));
    assert_eq!(site.counts(&other, 2), [0, 1]);
}

#[test]
fn alias_in_place_of_addresses_is_one_change() {
    let mut site = Site::new();
    site.run(result(json!({"CNAME": ["a.example.com"], "A": ["192.0.2.1"]})));
    assert_eq!(site.counts(&a(&["203.0.113.9"]), 4), [0, 0, 1, 0]);
    assert_eq!(
        site.raised[0].message,
        "www.example.com: DNS changed: A 192.0.2.1 → 203.0.113.9; CNAME a.example.com → none",
    );
}

#[test]
fn keys_stay_while_a_change_is_confirmed_and_differ_otherwise() {
    let mut site = Site::new();
    site.run(result(json!({"A": ["192.0.2.1"], "MX": ["10 a.example"]})));
    let gone = a(&["192.0.2.1"]);
    let key = |site: &mut Site, current: &DnsResult| {
        site.now += HOUR;
        site.judge(current.clone()).findings.first().map(|finding| finding.dedup_key.clone())
    };
    let keys: Vec<Option<String>> = (0..4).map(|_| key(&mut site, &gone)).collect();
    assert!(keys[0].is_some() && keys[0] == keys[1] && keys[1] == keys[2]);
    assert_eq!(keys[3], None);
    let other = result(json!({"A": ["192.0.2.1"], "MX": ["10 b.example"]}));
    let next = key(&mut site, &other);
    assert!(next.is_some() && next != keys[0]);
}

#[test]
fn same_change_at_another_time_is_another_alert() {
    let mut site = Site::new();
    let (x, y) = (result(json!({"TXT": ["x"]})), result(json!({"TXT": ["y"]})));
    for current in [&x, &y, &y, &x, &x, &y, &y] {
        site.run(current.clone());
    }
    let keys: Vec<&String> = site.raised.iter().map(|finding| &finding.dedup_key).collect();
    assert_eq!(keys.len(), 3);
    assert!(keys[0] != keys[2] && keys[0] != keys[1]);
}

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
fn run_that_cannot_tell_keeps_the_memory() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    let memory = site.memory.clone();
    assert!(memory.is_some());
    assert_eq!(site.judge(failed("timeout")).memory, memory);
}

#[test]
fn rotation_inside_the_addresses_of_a_week_is_no_alert() {
    let mut site = Site::new();
    let sets: [&[&str]; 6] = [
        &["192.0.2.1", "192.0.2.2"],
        &["192.0.2.2", "192.0.2.3"],
        &["192.0.2.3", "192.0.2.4"],
        &["192.0.2.1"],
        &["192.0.2.4", "192.0.2.1"],
        &["192.0.2.2"],
    ];
    for _ in 0..20 {
        for set in sets {
            assert_eq!(site.counts(&a(set), 3), [0; 3], "{set:?}");
        }
    }
}

#[test]
fn pool_of_single_addresses_settles_by_itself() {
    let mut site = Site::new();
    for run in 0..40 {
        let address = format!("192.0.2.{}", 1 + run % 4);
        assert_eq!(site.run(a(&[&address])), [""; 0], "run {run}");
    }
    // By now each of them may stay.
    assert_eq!(site.counts(&a(&["192.0.2.3"]), 3), [0; 3]);
}

#[test]
fn volatile_name_says_nothing_while_its_alias_and_servers_stand() {
    let with = |address: &str, ns: &str| result(json!({"A": [address], "NS": [ns]}));
    let volatile = || {
        let mut site = Site::new();
        let first = DnsResult { rotating: true, ..with("192.0.2.1", "ns1.example") };
        assert_eq!(site.run(first), [""; 0]);
        site
    };
    assert_eq!(volatile().counts(&with("203.0.113.9", "ns1.example"), 3), [0; 3]);
    let mut site = volatile();
    assert_eq!(site.counts(&with("203.0.113.9", "ns2.example"), 3), [0, 1, 0]);
    assert_eq!(
        site.raised[0].message,
        "www.example.com: DNS changed: A 192.0.2.1 → 203.0.113.9; NS ns1.example → ns2.example",
    );
    // That the last address is gone is told all the same.
    let none = result(json!({"NS": ["ns1.example"]}));
    assert_eq!(volatile().counts(&none, 4), [0, 0, 1, 0]);
    // After a week without a turn the name counts as quiet again.
    let mut site = volatile();
    site.now += 8 * DAY;
    site.run(with("192.0.2.1", "ns1.example"));
    assert_eq!(site.counts(&with("203.0.113.9", "ns1.example"), 3), [0, 1, 0]);
}

#[test]
fn one_way_back_does_not_make_a_name_volatile() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    assert_eq!(site.counts(&a(&["192.0.2.2"]), 2), [0, 1]);
    assert_eq!(site.counts(&a(&["192.0.2.1"]), 2), [0, 0]);
    assert_eq!(site.counts(&a(&["192.0.2.3"]), 2), [0, 1]);
}

#[test]
fn address_that_joins_the_known_ones_is_a_change() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    assert_eq!(site.counts(&a(&["192.0.2.1", "203.0.113.9"]), 3), [0, 1, 0]);
    // One that leaves is not: what is left was all there before.
    assert_eq!(site.counts(&a(&["203.0.113.9"]), 3), [0, 0, 0]);
}

#[test]
fn address_of_long_ago_is_new_again() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    site.counts(&a(&["192.0.2.2"]), 2);
    site.now += 8 * DAY;
    assert_eq!(site.counts(&a(&["192.0.2.1"]), 2), [0, 1]);
}

#[test]
fn addresses_behind_an_alias_of_others_only_inform() {
    let behind = |alias: &str, address: &str| result(json!({"CNAME": [alias], "A": [address]}));
    for (alias, alerts) in [
        ("d111.cloudfront.net", 0),
        ("example.org", 0),
        ("a.b.example.co.uk", 0),
        ("origin.example.com", 1),
        ("example.com", 1),
    ] {
        let mut site = Site::new();
        site.run(behind(alias, "192.0.2.1"));
        let raised: usize = site.counts(&behind(alias, "203.0.113.9"), 4).iter().sum();
        assert_eq!(raised, alerts, "{alias}");
    }
    // The alias itself is the name's own, and so is that nothing is left behind it.
    let mut site = Site::new();
    site.run(behind("d111.cloudfront.net", "192.0.2.1"));
    assert_eq!(site.counts(&behind("d222.cloudfront.net", "203.0.113.9"), 3), [0, 1, 0]);
    assert_eq!(
        site.raised[0].message,
        "www.example.com: DNS changed: CNAME d111.cloudfront.net → d222.cloudfront.net",
    );
    let empty = result(json!({"CNAME": ["d222.cloudfront.net"]}));
    assert_eq!(site.counts(&empty, 4), [0, 0, 1, 0]);
}

#[test]
fn alias_is_remembered_while_its_question_fails() {
    let mut site = Site::new();
    site.run(result(json!({"CNAME": ["x.example.net"], "A": ["192.0.2.1"]})));
    let failed = DnsResult { failed_types: vec!["CNAME".to_owned()], ..a(&["203.0.113.9"]) };
    assert_eq!(site.counts(&failed, 3), [0; 3]);
}

#[test]
fn protection_that_ends_is_a_change() {
    let valid = || signed(true, Some(true));
    for (after, alerts) in [
        (signed(true, Some(false)), Some("DNSSEC valid → bogus")),
        (signed(false, None), Some("DNSSEC valid → off")),
        (signed(true, None), None),
        (a(&["192.0.2.1"]), None),
    ] {
        let mut site = Site::new();
        site.run(valid());
        let raised: usize = site.counts(&after, 4).iter().sum();
        assert_eq!(raised, usize::from(alerts.is_some()), "{after:?}");
        if let Some(words) = alerts {
            assert_eq!(site.raised[0].message, format!("www.example.com: DNS changed: {words}"));
        }
        // That it is well again is no alert.
        assert_eq!(site.counts(&valid(), 3), [0; 3]);
        assert_eq!(site.judge(valid()).findings, []);
    }
    // Not known in between, not verifiable in between: still the same end.
    for between in [a(&["192.0.2.1"]), signed(true, None)] {
        let mut site = Site::new();
        for current in [valid(), between, signed(true, Some(false))] {
            site.run(current);
        }
        assert_eq!(site.run(signed(true, Some(false))).len(), 1);
    }
    let mut site = Site::new();
    for current in [signed(true, None), signed(false, None)] {
        site.run(current);
    }
    assert_eq!(
        site.run(signed(false, None)),
        ["www.example.com: DNS changed: DNSSEC not verifiable → off"],
    );
}

#[test]
fn settled_result_is_the_baseline_where_nothing_is_remembered() {
    for memory in [None, Some("{\"baseline\": 7}".to_owned()), Some("[".to_owned())] {
        let mut site = Site::new();
        site.settled = Some(Settled { facts: a(&["192.0.2.1"]), at: NOW });
        site.memory = memory;
        assert_eq!(site.counts(&a(&["203.0.113.9"]), 3), [0, 1, 0]);
    }
}

#[test]
fn large_sets_and_long_values_are_told_by_what_differs() {
    let many = |last: &str| {
        let values: Vec<String> = (1..9).map(|n| format!("192.0.2.{n}")).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).chain([last]).collect();
        result(json!({"NS": values}))
    };
    let mut site = Site::new();
    site.run(many("x.example"));
    site.run(many("y.example"));
    assert_eq!(
        site.run(many("y.example")),
        ["www.example.com: DNS changed: NS x.example (of 9) → y.example (of 9)"],
    );
    let long = |end: &str| result(json!({"TXT": [format!("v=spf1 {} {end}", "a".repeat(400))]}));
    let mut site = Site::new();
    site.run(long("-all"));
    site.run(long("+all"));
    let [message] = &site.run(long("+all"))[..] else { panic!("one alert") };
    assert!(message.contains("-all → …") && message.ends_with("+all"), "{message}");
}

#[test]
fn sets_larger_than_memory_are_told_by_what_is_known_to_differ() {
    fn all_but(out: &str) -> Vec<String> {
        let tokens = (0..80).map(|n| format!("token-{n:03}-{}", "v".repeat(60)));
        tokens.filter(|token| out.is_empty() || !token.starts_with(out)).collect()
    }
    fn and(mut values: Vec<String>, more: &str) -> Vec<String> {
        values.push(more.to_owned());
        values
    }
    let told = |before: &[String], after: &[String]| {
        let mut site = Site::new();
        site.run(result(json!({"TXT": before})));
        site.run(result(json!({"TXT": after})));
        let [message] = &site.run(result(json!({"TXT": after})))[..] else { panic!("one alert") };
        message.replace("www.example.com: DNS changed: TXT ", "")
    };
    let (all, few) = (all_but(""), and(Vec::new(), "v=spf1 -all"));
    let first = all[..4].join(", ");
    for (before, after, expected) in [
        (&all, and(all.clone(), "google=1"), "… (of 80) → google=1, … (of 81)".to_owned()),
        (&all, all_but("token-005"), format!("{}, … (of 80) → … (of 79)", all[5])),
        (&few, all.clone(), format!("v=spf1 -all (of 1) → {first}, 76 more (of 80)")),
        (&all, few.clone(), format!("{first}, … (of 80) → v=spf1 -all (of 1)")),
        (&all, and(all_but("token-079"), "z"), "80 values → 80 values".to_owned()),
    ] {
        assert_eq!(told(before, &after), expected);
    }
    let long = |end: &str| and(Vec::new(), &format!("v=spf1 {} {end}", "a".repeat(4_000)));
    let message = told(&long("-all"), &long("+all"));
    assert!(message.contains("-all → …") && message.ends_with("+all"), "{message}");
}

#[test]
fn hostile_results_stay_within_the_hosts_limits() {
    let hostile = |seed: u32| {
        let long = |n: u32| format!("{seed} {n} {}", "\u{1}\"é\\".repeat(800));
        let texts: Vec<String> = (0..20).map(long).collect();
        let v4: Vec<String> =
            (0..1_000).map(|n| std::net::Ipv4Addr::from((seed << 24) + n).to_string()).collect();
        let v6: Vec<String> =
            (0..1_000).map(|n| format!("2001:db8:{seed}:1111:2222:3333:4444:{n:x}")).collect();
        let mut current = result(json!({
            "A": v4, "AAAA": v6, "CNAME": texts, "MX": texts, "TXT": texts, "CAA": texts,
            "NS": texts, "TYPE65": texts,
        }));
        current.domain = "d".repeat(9_000);
        current.dnssec = Some(Dnssec { enabled: seed == 1, valid: Some(seed == 1) });
        current
    };
    let mut site = Site::new();
    for seed in [1, 2, 2, 3, 3, 2, 2] {
        site.run(hostile(seed));
    }
    assert!(!site.raised.is_empty());
}

fn any_result() -> impl Strategy<Value = DnsResult> {
    let address = proptest::sample::select(vec!["192.0.2.1", "192.0.2.2", "192.0.2.3", "x"]);
    let rtype = proptest::sample::select(vec!["A", "AAAA", "CNAME", "MX", "TXT", "NS", "a", "SOA"]);
    let error = proptest::sample::select(vec![
        None,
        None,
        None,
        Some("nxdomain"),
        Some("servfail"),
        Some("timeout"),
        Some(""),
    ]);
    let set = (rtype.clone(), proptest::collection::vec(address, 0..4));
    let dnssec = proptest::option::of((any::<bool>(), proptest::option::of(any::<bool>())));
    (
        proptest::collection::vec(set, 0..6),
        proptest::collection::vec(rtype, 0..3),
        dnssec,
        error,
        any::<bool>(),
    )
        .prop_map(|(sets, failed, dnssec, error, rotating)| DnsResult {
            domain: NAME.to_owned(),
            records: sets
                .into_iter()
                .map(|(rtype, values)| crate::result::RecordSet {
                    rtype: rtype.to_owned(),
                    values: values.into_iter().map(str::to_owned).collect(),
                })
                .collect(),
            failed_types: failed.into_iter().map(str::to_owned).collect(),
            rotating,
            dnssec: dnssec.map(|(enabled, valid)| Dnssec { enabled, valid }),
            error: error.map(str::to_owned),
        })
}

proptest! {
    #[test]
    fn any_history_ends_in_silence_when_nothing_changes_any_more(
        history in proptest::collection::vec(any_result(), 0..12),
        last in any_result(),
    ) {
        let mut site = Site::new();
        for current in history {
            site.run(current);
        }
        site.counts(&last, 3);
        prop_assert_eq!(site.judge(last.clone()).findings, vec![]);
        let before = site.raised.len();
        site.counts(&last, 3);
        prop_assert_eq!(site.raised.len(), before);
    }

    #[test]
    fn what_is_raised_was_reported_with_enough_confirmations(
        history in proptest::collection::vec(any_result(), 1..12),
    ) {
        let mut site = Site::new();
        let mut previous: Option<DnsResult> = None;
        for current in history {
            let raised = !site.run(current.clone()).is_empty();
            // One sight of anything is never enough.
            prop_assert!(!raised || previous.is_some());
            previous = Some(current);
        }
    }
}
