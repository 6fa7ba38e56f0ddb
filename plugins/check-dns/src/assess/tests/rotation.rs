//! Addresses and aliases that take turns, and addresses that an alias of others leads to.

use super::*;

#[test]
fn rotation_inside_the_addresses_of_a_week_is_no_alert() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]));
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
fn addresses_that_are_replaced_one_by_one_are_told_twice_a_week() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1", "192.0.2.2"]));
    for set in [["192.0.2.2", "203.0.113.8"], ["203.0.113.8", "203.0.113.9"]] {
        assert_eq!(site.counts(&a(&set), 3), [0, 1, 0], "{set:?}");
    }
    for set in [["203.0.113.9", "203.0.113.6"], ["203.0.113.6", "203.0.113.5"]] {
        assert_eq!(site.counts(&a(&set), 3), [0; 3], "{set:?}");
    }
    site.now += 8 * DAY;
    assert_eq!(site.counts(&a(&["203.0.113.5", "203.0.113.4"]), 3), [0, 1, 0]);
}

#[test]
fn one_step_of_both_families_leaves_the_next_one_to_be_told() {
    let both = |v4: [&str; 2], v6: [&str; 2]| result(json!({"A": v4, "AAAA": v6}));
    let mut site = Site::new();
    site.run(both(["192.0.2.1", "192.0.2.2"], ["2001:db8::1", "2001:db8::2"]));
    let step = both(["192.0.2.2", "192.0.2.3"], ["2001:db8::2", "2001:db8::3"]);
    assert_eq!(site.counts(&step, 3), [0, 1, 0]);
    let step = both(["192.0.2.3", "192.0.2.4"], ["2001:db8::3", "2001:db8::4"]);
    assert_eq!(site.counts(&step, 3), [0, 1, 0]);
    let step = both(["192.0.2.4", "192.0.2.5"], ["2001:db8::4", "2001:db8::5"]);
    assert_eq!(site.counts(&step, 3), [0; 3]);
}

#[test]
fn addresses_that_move_as_a_whole_are_told_each_time() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    for n in 2..9 {
        assert_eq!(site.counts(&a(&[&format!("192.0.2.{n}")]), 3), [0, 1, 0], "{n}");
    }
}

#[test]
fn move_as_a_whole_is_told_also_after_addresses_were_replaced_one_by_one() {
    let mut site = Site::new();
    site.run(a(&["192.0.2.1", "192.0.2.2"]));
    for set in [["192.0.2.2", "192.0.2.3"], ["192.0.2.3", "192.0.2.4"]] {
        assert_eq!(site.counts(&a(&set), 3), [0, 1, 0], "{set:?}");
    }
    assert_eq!(site.counts(&a(&["192.0.2.4", "192.0.2.5"]), 3), [0; 3], "one more step");
    assert_eq!(site.counts(&a(&["198.51.100.66"]), 3), [0, 1, 0]);
    assert_eq!(site.counts(&a(&["198.51.100.67"]), 3), [0, 1, 0]);
}

#[test]
fn addresses_that_are_added_are_told_each_time_and_excuse_no_move() {
    let mut site = Site::new();
    let all = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
    site.run(a(&all[..1]));
    for n in 2..=4 {
        assert_eq!(site.counts(&a(&all[..n]), 3), [0, 1, 0], "{n}");
    }
    assert_eq!(site.counts(&a(&["198.51.100.66"]), 3), [0, 1, 0]);
}

#[test]
fn turns_of_addresses_that_are_not_the_names_own_excuse_nothing() {
    let turning = |address: &str| DnsResult { rotating: true, ..a(&[address]) };
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    assert_eq!(site.counts(&turning("203.0.113.9"), 3), [0, 1, 0]);
    // Nor do they of a name that turns since long.
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    assert_eq!(site.counts(&turning("192.0.2.1"), 1), [0]);
    assert_eq!(site.counts(&turning("203.0.113.9"), 3), [0, 1, 0]);
    // One that goes on showing what it had, in whichever of its turns, is not another's.
    let turns = vec!["192.0.2.1".to_owned()];
    let mut site = Site::new();
    site.run(a(&["192.0.2.1"]));
    assert_eq!(site.counts(&DnsResult { turns, ..turning("203.0.113.9") }, 3), [0; 3]);
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
fn move_that_some_servers_know_of_before_others_is_told() {
    let mut site = Site::new();
    for address in ["192.0.2.1", "203.0.113.9", "192.0.2.1"] {
        assert_eq!(site.run(a(&[address])), [""; 0], "{address}");
    }
    assert_eq!(site.counts(&a(&["203.0.113.9"]), 3), [0, 1, 0]);
}

#[test]
fn move_to_another_address_than_the_first_that_was_seen_is_told() {
    let mut site = Site::new();
    for address in ["192.0.2.1", "203.0.113.8", "203.0.113.9", "192.0.2.1"] {
        assert_eq!(site.run(a(&[address])), [""; 0], "{address}");
    }
    assert_eq!(site.counts(&a(&["203.0.113.9"]), 3), [0, 1, 0]);
}

#[test]
fn volatile_name_says_nothing_while_its_alias_and_servers_stand() {
    let with = |address: &str, ns: &str| result(json!({"A": [address, "192.0.2.1"], "NS": [ns]}));
    let volatile = || {
        let mut site = Site::new();
        let first = DnsResult { rotating: true, ..with("192.0.2.2", "ns1.example") };
        assert_eq!(site.run(first), [""; 0]);
        site
    };
    assert_eq!(volatile().counts(&with("203.0.113.9", "ns1.example"), 3), [0; 3]);
    let mut site = volatile();
    assert_eq!(site.counts(&with("203.0.113.9", "ns2.example"), 3), [0, 1, 0]);
    assert_eq!(
        site.raised[0].message,
        "www.example.com: DNS changed: A 192.0.2.1, 192.0.2.2 → 192.0.2.1, 203.0.113.9; \
         NS ns1.example → ns2.example",
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
fn alias_that_takes_turns_is_told_until_each_has_come_back_twice() {
    let at = |alias: &str| result(json!({"CNAME": [alias], "A": ["192.0.2.1"]}));
    let (one, other) = (at("a.cdn.example"), at("b.cdn.example"));
    let mut site = Site::new();
    site.run(one.clone());
    for round in 0..20 {
        let told = usize::from(round < 3);
        assert_eq!(site.counts(&other, 3), [0, told, 0], "{round}");
        let told = usize::from(round < 2);
        assert_eq!(site.counts(&one, 3), [0, told, 0], "{round}");
    }
    // What was never there is told all the same, and so is that nothing is left.
    assert_eq!(site.counts(&at("c.cdn.example"), 3), [0, 1, 0]);
    assert_eq!(site.counts(&one, 3), [0; 3]);
    assert_eq!(site.counts(&a(&["192.0.2.1"]), 4), [0, 0, 1, 0]);
    site.counts(&one, 3);
    site.now += 8 * DAY;
    assert_eq!(site.counts(&other, 3), [0, 1, 0], "a week later it is news again");
}

#[test]
fn alias_that_takes_turns_hides_no_change_of_an_address() {
    let at = |alias: &str, address: &str| result(json!({"CNAME": [alias], "A": [address]}));
    let mut site = Site::new();
    site.run(at("a.example.com", "192.0.2.1"));
    for _ in 0..3 {
        site.counts(&at("b.example.com", "192.0.2.1"), 2);
        site.counts(&at("a.example.com", "192.0.2.1"), 2);
    }
    assert_eq!(site.counts(&at("b.example.com", "203.0.113.9"), 3), [0, 1, 0]);
    let last = site.raised.last().expect("it was told");
    assert_eq!(last.message, "www.example.com: DNS changed: A 192.0.2.1 → 203.0.113.9");
}

/// An active and a standby address, and a load balancer's.
#[test]
fn move_of_a_volatile_name_to_what_nobody_saw_is_told() {
    let mut site = Site::new();
    for run in 0..20 {
        assert_eq!(site.run(a(&[&format!("192.0.2.{}", 1 + run % 2)])), [""; 0], "run {run}");
    }
    assert_eq!(site.counts(&a(&["198.51.100.66"]), 3), [0, 1, 0]);
    // Then it is one of the turns.
    assert_eq!(site.counts(&a(&["192.0.2.1"]), 3), [0; 3]);
    assert_eq!(site.counts(&a(&["198.51.100.66"]), 3), [0; 3]);
    // Beside what was seen, another is none of a name that takes turns.
    assert_eq!(site.counts(&a(&["192.0.2.1", "198.51.100.67"]), 3), [0; 3]);
}
