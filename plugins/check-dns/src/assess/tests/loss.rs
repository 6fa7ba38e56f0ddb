//! Records and names that vanish, and come back.

use super::*;

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
        "www.example.com: the name no longer exists (NXDOMAIN): A 192.0.2.1 → none; MX 10 \
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
