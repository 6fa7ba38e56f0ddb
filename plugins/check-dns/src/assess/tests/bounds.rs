//! Sets and values that are larger than what is told and kept.

use super::*;

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
    // More states than are remembered, and then those that are, twice over again.
    for seed in (1..=8).chain(3..=8).chain(3..=8) {
        site.run(hostile(seed));
        site.run(hostile(seed));
    }
    assert!(!site.raised.is_empty());
}
