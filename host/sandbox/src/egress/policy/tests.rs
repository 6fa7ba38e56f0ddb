use super::*;

#[test]
fn the_public_never_reaches_what_allow_opens() {
    let policy = Policy {
        allow: nets(&["127.0.0.0/8"]),
        public_allow: nets(&["198.51.100.0/24"]),
        ..Policy::default()
    };
    let loopback = "127.0.0.1".parse().unwrap();
    let lab = "198.51.100.7".parse().unwrap();
    assert_eq!(policy.vet_address(loopback, Audience::Authenticated), Ok(()));
    assert_eq!(policy.vet_address(loopback, Audience::Public), Err(Refusal::Address("loopback")));
    assert_eq!(policy.vet_address(lab, Audience::Public), Ok(()));
    assert!(policy.vet_address(lab, Audience::Authenticated).is_err());
}

#[test]
fn a_refusal_tells_what_to_change_and_no_address_apart() {
    let said = [Refusal::Address("loopback"), Refusal::Denied, Refusal::OwnListener];
    let said = said.map(|refusal| refusal.to_string());
    assert!(said[0].contains("[egress]") && !said[0].contains("loopback"), "{said:?}");
    assert!(said.iter().all(|other| *other == said[0]), "{said:?}");
}

#[test]
fn addresses_of_documentation_lead_nowhere_unless_the_operator_names_them() {
    let policy = Policy {
        allow: nets(&["198.51.100.0/24"]),
        deny: nets(&["203.0.113.0/24"]),
        ..Policy::default()
    };
    for (text, expected) in [
        ("192.0.2.1", true),
        ("2001:db8::1", true),
        ("198.51.100.1", false),
        ("203.0.113.1", false),
        ("10.0.0.1", false),
        ("8.8.8.8", false),
    ] {
        let address = text.parse().unwrap();
        assert_eq!(policy.leads_nowhere(address, Audience::Authenticated), expected, "{text}");
    }
    let lab = "198.51.100.1".parse().unwrap();
    assert!(policy.leads_nowhere(lab, Audience::Public), "`allow` is not the public's");
}

#[test]
fn localhost_is_loopback_and_judged_like_it() {
    let closed = Policy::default();
    let open = Policy { allow: nets(&["127.0.0.0/8"]), ..Policy::default() };
    let judge = |policy: &Policy, url, audience| policy.vet_url(url, audience).map(drop);
    let loopback = Err(Refusal::Address("loopback"));
    for url in ["http://localhost/", "http://LOCALHOST:8080/x?y", "https://localhost:8443/"] {
        assert_eq!(judge(&closed, url, Audience::Authenticated), loopback, "{url}");
        assert_eq!(judge(&open, url, Audience::Authenticated), Ok(()), "{url}");
        assert_eq!(judge(&open, url, Audience::Public), loopback, "{url}");
    }
    for url in ["http://localhost./", "http://localhos/", "http://user@localhost/"] {
        assert!(judge(&open, url, Audience::Authenticated).is_err(), "{url}");
    }
}

#[test]
fn allowing_an_ipv4_range_does_not_open_its_embedded_forms() {
    let policy = Policy { allow: nets(&["127.0.0.0/8"]), ..Policy::default() };
    for text in ["::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "::127.0.0.1"] {
        let address = text.parse().unwrap();
        assert!(policy.vet_address(address, Audience::Authenticated).is_err(), "{text}");
    }
    let dns64 = Policy { allow: nets(&["64:ff9b::/96"]), ..Policy::default() };
    let address = "64:ff9b::808:808".parse().unwrap();
    assert_eq!(dns64.vet_address(address, Audience::Authenticated), Ok(()));
}

#[test]
fn deny_comes_before_allow_and_covers_mapped_spellings() {
    let policy = Policy {
        allow: nets(&["10.0.0.0/8", "::/0"]),
        deny: nets(&["10.1.0.0/16", "8.8.8.0/24"]),
        ..Policy::default()
    };
    let judge = |text: &str| policy.vet_address(text.parse().unwrap(), Audience::Authenticated);
    assert_eq!(judge("10.2.0.1"), Ok(()));
    for text in ["10.1.0.1", "8.8.8.8", "::ffff:10.1.0.1"] {
        assert_eq!(judge(text), Err(Refusal::Denied), "{text}");
    }
    let configured = policy.vet_configured("10.1.0.1:53".parse().unwrap());
    assert_eq!(configured, Err(Refusal::Denied));
}

#[test]
fn our_own_listeners_are_refused_even_inside_allow() {
    let policy = Policy {
        allow: nets(&["127.0.0.0/8", "0.0.0.0/8", "::/127"]),
        own_listeners: vec![
            "127.0.0.1:9090".parse().unwrap(),
            "0.0.0.0:8080".parse().unwrap(),
            "[::]:8443".parse().unwrap(),
        ],
        ..Policy::default()
    };
    let judge = |text: &str| policy.vet_socket(text.parse().unwrap(), Audience::Authenticated);
    for own in ["127.0.0.1:9090", "127.0.0.1:8080", "127.3.2.1:8080", "127.0.0.1:8443"] {
        assert_eq!(judge(own), Err(Refusal::OwnListener), "{own}");
    }
    for own in ["0.0.0.0:9090", "0.0.0.0:8080", "0.0.0.0:8443", "[::]:9090", "[::]:8443"] {
        assert_eq!(judge(own), Err(Refusal::OwnListener), "{own} is this machine's loopback");
    }
    for other in ["127.0.0.2:9090", "127.0.0.1:9091", "0.0.0.0:9091", "8.8.8.8:8080"] {
        assert_eq!(judge(other), Ok(()), "{other}");
    }
    let url = policy.vet_url("http://127.0.0.1:9090/metrics", Audience::Authenticated);
    assert_eq!(url.unwrap_err(), Refusal::OwnListener);
}

#[test]
fn special_names_pass_for_whom_ranges_are_opened() {
    let closed = Policy::default();
    let open = Policy { allow: nets(&["10.0.0.0/8"]), ..Policy::default() };
    let name = DomainName::parse("wiki.corp").unwrap();
    assert_eq!(closed.vet_name(&name, Audience::Authenticated), Err(Refusal::SpecialName));
    assert_eq!(open.vet_name(&name, Audience::Authenticated), Ok(()));
    assert_eq!(open.vet_name(&name, Audience::Public), Err(Refusal::SpecialName));
    let lab = Policy { public_allow: nets(&["10.0.0.0/8"]), ..Policy::default() };
    assert_eq!(lab.vet_name(&name, Audience::Public), Ok(()));
    assert_eq!(lab.vet_name(&name, Audience::Authenticated), Err(Refusal::SpecialName));
}

#[test]
fn urls_that_only_look_odd_pass() {
    let policy = Policy::default();
    for text in [
        "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]/",
        "https://example.com/@127.0.0.1/",
        "https://example.com/?u=http://127.0.0.1/",
        "https://example.com/a%20b;c",
        "HTTPS://EXAMPLE.COM/Hook",
        "http://127.0.0.1.example.com/",
        "http://0x7f.example.com:8080/",
        "https://example.com./",
    ] {
        assert!(policy.vet_url(text, Audience::Public).is_ok(), "{text}");
    }
}

#[test]
fn a_refusal_does_not_tell_which_range_it_was() {
    let policy = Policy { deny: nets(&["8.8.8.0/24"]), ..Policy::default() };
    let text = |address: &str| {
        let refusal = policy.vet_address(address.parse().unwrap(), Audience::Authenticated);
        refusal.unwrap_err().to_string()
    };
    assert_eq!(text("10.0.0.1"), text("169.254.169.254"));
    assert_eq!(text("10.0.0.1"), text("8.8.8.8"));
}

fn nets(texts: &[&str]) -> Vec<IpNet> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}
