use serde_json::json;

use super::*;

fn about(target: &str, port: Option<u16>) -> About {
    About {
        target: Target::parse(target).expect("a target"),
        port,
        mx: BTreeSet::from(["mx.mail.example".to_owned()]),
    }
}

fn target(text: &str) -> Target {
    Target::parse(text).expect("a target")
}

fn tcp(to: &[&str]) -> Capabilities {
    let places = to.iter().map(|text| text.parse().expect("a place")).collect();
    Capabilities { tcp: Some(places), ..Capabilities::default() }
}

fn http(to: &[&str]) -> Capabilities {
    let to = to.iter().map(|text| text.parse().expect("an origin")).collect();
    let methods = BTreeSet::from(["GET".to_owned()]);
    Capabilities { http: Some(Http { to, methods }), ..Capabilities::default() }
}

#[test]
fn a_grant_that_names_the_target_reaches_it() {
    for (grants, reaches) in [
        (tcp(&["target:*"]), true),
        (tcp(&["target-mx:25"]), true),
        (tcp(&["*:43", "whois.example:4343"]), false),
        (http(&["target"]), true),
        (http(&["*:*"]), false),
        (Capabilities::default(), false),
    ] {
        assert_eq!(grants.reaches_target(), reaches, "{grants:?}");
    }
}

#[test]
fn tcp_is_bound_to_the_target_and_its_port() {
    let table = [
        // grant, site port, host, port, permitted
        ("target", None, "example.com", 443, true),
        ("target", None, "example.com", 25, false),
        ("target", Some(8443), "example.com", 8443, true),
        ("target", Some(8443), "example.com", 443, false),
        ("target", None, "www.example.com", 443, false),
        ("target", None, "evil.example", 443, false),
        ("target:25", None, "example.com", 25, true),
        ("target:25", Some(25), "example.com", 443, false),
        ("target:*", None, "example.com", 9, true),
        ("target-mx:25", None, "mx.mail.example", 25, true),
        ("target-mx:25", None, "mx.other.example", 25, false),
        ("target-mx:25", None, "example.com", 25, false),
        ("*:43", None, "whois.registry.example", 43, true),
        ("*:43", None, "whois.registry.example", 44, false),
        ("whois.example.net:43", None, "whois.example.net", 43, true),
        ("whois.example.net:43", None, "x.whois.example.net", 43, false),
    ];
    for (grant, port, host, to, permitted) in table {
        let answer = tcp(&[grant]).permits_tcp(&about("example.com", port), &target(host), to);
        assert_eq!(answer.is_ok(), permitted, "{grant} {host}:{to}");
    }
}

#[test]
fn http_follows_scheme_and_own_port() {
    let table = [
        ("target", None, true, "example.com", 443, true),
        ("target", None, false, "example.com", 80, true),
        ("target", None, true, "example.com", 80, false),
        ("target", Some(8443), true, "example.com", 8443, true),
        ("target", Some(8443), true, "example.com", 443, false),
        ("https://status.acme.example", None, true, "status.acme.example", 443, true),
        ("https://status.acme.example", None, false, "status.acme.example", 443, false),
        ("https://status.acme.example:8443", None, true, "status.acme.example", 8443, true),
        ("https://*", None, true, "anything.example", 4443, true),
        ("https://*", None, false, "anything.example", 80, false),
    ];
    for (grant, port, https, host, to, permitted) in table {
        let about = about("example.com", port);
        let answer = http(&[grant]).permits_http(&about, "GET", https, &target(host), to);
        assert_eq!(answer.is_ok(), permitted, "{grant} {host}:{to}");
    }
    let post = http(&["target"]).permits_http(
        &about("example.com", None),
        "POST",
        true,
        &target("example.com"),
        443,
    );
    assert_eq!(post, Err("http method POST is not granted".to_owned()));
}

#[test]
fn dns_labels_leak_to_nobody_but_the_target() {
    let dns = |names: &str| Capabilities {
        dns: Some(Dns {
            names: vec![names.parse().expect("names")],
            types: BTreeSet::from(["CAA".to_owned()]),
            resolvers: BTreeSet::new(),
        }),
        ..Capabilities::default()
    };
    let table = [
        ("target", "shop.example.com", true),
        ("target", "SHOP.example.com.", true),
        ("target", "_dmarc.shop.example.com", true),
        ("target", "example.com", true),
        ("target", "com", true),
        ("target", "secret.evil.example", false),
        ("target", "www.example.com", false),
        ("target", "evilshop.example.com", false),
        ("target", "", false),
        ("*", "secret.evil.example", true),
        ("evil.example", "secret.evil.example", true),
        ("evil.example", "notevil.example", false),
    ];
    let about = about("shop.example.com", None);
    for (grant, name, permitted) in table {
        let answer = dns(grant).permits_dns(&about, name, "CAA", None);
        assert_eq!(answer.is_ok(), permitted, "{grant} {name}");
    }
    assert!(dns("target").permits_dns(&about, "example.com", "TXT", None).is_err());
    let other = "192.0.2.1".parse().ok();
    assert!(dns("target").permits_dns(&about, "example.com", "CAA", other).is_err());
}

#[test]
fn granted_is_never_more_than_asked() {
    let table: [(&[&str], &[&str], &[&str]); 9] = [
        // asked, granted, given
        (&["target:25", "target:587"], &["target:25"], &["target:25"]),
        (&["*:43"], &["whois.example.net:43"], &["whois.example.net:43"]),
        (&["whois.example.net:43"], &["*:43"], &["whois.example.net:43"]),
        (&["target"], &["*:443"], &[]),
        (&["target:25"], &["*:*"], &["target:25"]),
        (&["target"], &["target"], &["target"]),
        // Each is wider than the other in one way.
        (&["whois.example.net:*"], &["*:43"], &["whois.example.net:43"]),
        (&["*:25"], &["target:*", "target-mx:*"], &["target:25", "target-mx:25"]),
        (&["target:25"], &["*:43", "whois.example.net:*"], &[]),
    ];
    for (asked, granted, given) in table {
        let granted = Grant::Only(Box::new(tcp(granted)));
        assert_eq!(granted.given(&tcp(asked)), tcp(given), "{asked:?}");
    }
    assert_eq!(Grant::AsAsked.given(&tcp(&["target"])), tcp(&["target"]));
    assert_eq!(tcp(&["target"]).intersect(&Capabilities::default()).tcp, None);
}

#[test]
fn http_is_granted_where_host_port_and_scheme_overlap() {
    let table: [(&[&str], &[&str], &[&str]); 5] = [
        // asked, granted, given
        (&["https://*"], &["api.example:443"], &["https://api.example"]),
        (&["api.example:*"], &["https://*:443"], &["https://api.example"]),
        (&["http://api.example"], &["https://*:80"], &["https://api.example:80"]),
        (&["http://api.example"], &["https://api.example"], &[]),
        (&["https://*", "https://api.example"], &["https://api.example"], &["https://api.example"]),
    ];
    for (asked, granted, given) in table {
        assert_eq!(http(asked).intersect(&http(granted)), http(given), "{asked:?}");
    }
}

#[test]
fn scalars_shrink_to_the_smaller() {
    let asked = Capabilities {
        state: Some(State { site: 64, shared: 0 }),
        secrets: BTreeSet::from(["token".to_owned(), "other".to_owned()]),
        random: true,
        tls: Some(Tls { to: vec!["target".parse().expect("a place")], aia: true }),
        ..Capabilities::default()
    };
    let mut granted = asked.clone();
    granted.state = Some(State { site: 16, shared: 16 });
    granted.secrets = BTreeSet::from(["token".to_owned()]);
    granted.random = false;
    if let Some(tls) = granted.tls.as_mut() {
        tls.aia = false;
    }
    let given = asked.intersect(&granted);
    assert_eq!(given.state, Some(State { site: 16, shared: 0 }));
    assert_eq!(given.secrets, BTreeSet::from(["token".to_owned()]));
    assert!(!given.random);
    assert_eq!(given.tls.as_ref().map(|tls| (tls.to.len(), tls.aia)), Some((1, false)));
    let interfaces =
        BTreeSet::from(["vedette:env/secrets", "vedette:env/state", "vedette:net/tls"]);
    assert_eq!(given.interfaces(), interfaces);
}

#[test]
fn literal_hosts_are_read_with_brackets() {
    let origin: Origin = "https://[2001:db8::1]:8443".parse().expect("an origin");
    assert_eq!(origin.place.host, Host::Named(target("2001:db8::1")));
    assert_eq!(origin.place.port, Port::Number(8443));
    assert!("https://".parse::<Origin>().is_err());
    assert!("ftp://host".parse::<Origin>().is_err());
    assert!("target:0".parse::<Place>().is_err());
}

#[test]
fn a_lock_grants_in_the_words_of_a_manifest() {
    let read = |text: &str| {
        let settings = json!({ "api": "https://api.example/v1" });
        Capabilities::of_table(toml::from_str(text).expect("TOML"), &settings)
    };
    let granted = read("tcp = { to = [\"target:25\"] }\nrandom = true").expect("capabilities");
    let tcp = vec!["target:25".parse().expect("a place")];
    assert_eq!(granted, Capabilities { tcp: Some(tcp), random: true, ..Capabilities::default() });
    let granted = read("http = { to = [\"{api}\", \"{unset}\"] }").expect("capabilities");
    let api = "https://api.example:443".parse().expect("an origin");
    assert_eq!(granted.http.map(|http| http.to), Some(vec![api]), "the place that is set");
    let wrong = read("tcp = { to = [\"everywhere\"] }").expect_err("no place");
    assert!(wrong.starts_with("capabilities.tcp.to must name"), "{wrong}");
    let wrong = read("disk = true").expect_err("no capability");
    assert!(wrong.contains("unknown field `disk`"), "{wrong}");
}
