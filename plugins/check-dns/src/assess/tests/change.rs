//! What is a change, when it is told, and how often.

use super::*;

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
fn protection_that_ends_is_a_change() {
    let valid = || signed(true, Some(true));
    for (after, alerts) in [
        (signed(true, Some(false)), Some("DNSSEC valid → bogus")),
        (signed(false, None), Some("DNSSEC valid → off")),
        (signed(true, None), Some("DNSSEC valid → not verifiable")),
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
    for (after, words) in [(signed(false, None), "off"), (signed(true, Some(false)), "bogus")] {
        let mut site = Site::new();
        site.run(signed(true, None));
        assert_eq!(site.counts(&after, 3), [0, 1, 0]);
        let expected = format!("www.example.com: DNS changed: DNSSEC not verifiable → {words}");
        assert_eq!(site.raised[0].message, expected);
    }
}

#[test]
fn each_step_of_losing_protection_is_told_and_one_that_is_taken_back_is_not() {
    let mut site = Site::new();
    site.run(signed(true, Some(true)));
    assert_eq!(site.counts(&signed(true, None), 1), [0]);
    assert_eq!(site.counts(&signed(true, Some(true)), 2), [0; 2]);
    // The parent's DS records are withdrawn, then the zone's signatures.
    assert_eq!(site.counts(&signed(true, None), 3), [0, 1, 0]);
    assert_eq!(site.counts(&signed(false, None), 3), [0, 1, 0]);
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
fn name_that_does_not_exist_yet_is_no_baseline() {
    let mut site = Site::new();
    assert_eq!(site.counts(&missing(), 2), [0, 0]);
    assert_eq!(site.counts(&a(&["192.0.2.1"]), 3), [0, 0, 0]);
    assert_eq!(site.counts(&a(&["203.0.113.9"]), 3), [0, 1, 0]);
}
