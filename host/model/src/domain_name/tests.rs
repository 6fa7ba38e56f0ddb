use proptest::prelude::*;

use super::*;

#[test]
fn names_are_brought_to_one_spelling() {
    let longest_label = format!("{}.com", "a".repeat(63));
    let longest_name = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "b".repeat(61));
    for (text, canonical) in [
        ("example.com", "example.com"),
        ("EXAMPLE.com", "example.com"),
        ("example.com.", "example.com"),
        ("example.com。", "example.com"),
        ("bücher.de", "xn--bcher-kva.de"),
        ("BÜCHER.de", "xn--bcher-kva.de"),
        ("xn--bcher-kva.de", "xn--bcher-kva.de"),
        ("faß.de", "xn--fa-hia.de"),
        ("ｅｘａｍｐｌｅ。ｃｏｍ", "example.com"),
        ("127.0.0.1.example.com", "127.0.0.1.example.com"),
        ("localhost.example.com", "localhost.example.com"),
        ("0x7f.example.com", "0x7f.example.com"),
        ("123.com", "123.com"),
        ("1and1.com", "1and1.com"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("r3---sn-example.example.com", "r3---sn-example.example.com"),
        ("a.b.c.d.example", "a.b.c.d.example"),
        (&longest_label, &longest_label),
        (&longest_name, &longest_name),
    ] {
        assert_eq!(DomainName::parse(text).map(String::from).as_deref(), Ok(canonical), "{text}");
    }
}

#[test]
fn what_is_no_name_is_refused() {
    let long_label = format!("{}.com", "a".repeat(64));
    let long_name = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "b".repeat(62));
    for text in [
        // Nothing, blanks, controls.
        "",
        " ",
        ".",
        "..",
        " example.com",
        "example.com ",
        "exam ple.com",
        "example.com\r\nX: y",
        "example.com\0",
        "exam\tple.com",
        "example\u{a0}.com",
        "example.com\u{2028}",
        // Something else than a name.
        "http://example.com",
        "https://example.com/",
        "//example.com",
        "example.com/",
        "a@b.com",
        "example.com:443",
        "example.com?x",
        "example.com#x",
        "example.com%00",
        "example.com\\x",
        "[::1]",
        "::1",
        "fd00:ec2::254",
        "*.example.com",
        "example.com;id",
        "$(id).example.com",
        "a,b.com",
        "a\"b.com",
        "{a}.com",
        // Labels.
        "localhost",
        "intranet",
        "example",
        "example.",
        ".example.com",
        "a..b.com",
        "example.com..",
        "-example.com",
        "example-.com",
        "a.-b.com",
        "a.b-",
        &long_label,
        &long_name,
        // Numbers in whatever spelling.
        "127.0.0.1",
        "8.8.8.8",
        "127.1",
        "1.2.3",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "0x7f000001",
        "2130706433",
        "127.0.0.1.",
        "1.2.3.4.5",
        "example.0x7f",
        "example.0x",
        "example.123",
        "127。0。0。1",
        "１２７.０.０.１",
        "①②⑦.⓪.⓪.①",
        // IDNA.
        "xn--localhost-",
        "a\u{200d}b.com",
        "\u{ad}.com",
        "xn--a.com",
        "ex\u{ad}\u{200b}\u{ff0f}.com",
        "example．com／x",
        "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    ] {
        let refused = DomainName::parse(text);
        assert!(refused.is_err(), "{text:?} was read as {refused:?}");
        assert_eq!(refused.unwrap_err().field, "domain");
    }
}

#[test]
fn special_use_is_the_last_label_alone() {
    for text in [
        "foo.localhost",
        "localhost.localdomain",
        "metadata.google.internal",
        "nas.local",
        "x.onion",
        "1.0.0.127.in-addr.arpa",
        "router.lan",
        "db.corp",
        "x.home",
        "x.alt",
        "a.service.consul",
        "NAS.LOCAL.",
    ] {
        assert!(DomainName::parse(text).unwrap().is_special_use(), "{text}");
    }
    for text in [
        "localhost.example.com",
        "internal.example.com",
        "test.example.org",
        "mylocal.com",
        "home.arpa.com",
        "a.test",
        "x.invalid",
    ] {
        assert!(!DomainName::parse(text).unwrap().is_special_use(), "{text}");
    }
}

#[test]
fn a_name_within_a_network_may_have_one_label() {
    for (text, canonical) in [
        ("db01", "db01"),
        ("LOCALHOST.", "localhost"),
        ("_ldap", "_ldap"),
        ("db01.Corp", "db01.corp"),
        ("bücher.de", "xn--bcher-kva.de"),
    ] {
        let name = DomainName::parse_local(text).unwrap();
        assert_eq!(name.as_str(), canonical, "{text}");
        assert_eq!(Target::parse_local(text), Ok(Target::Name(name)), "{text}");
    }
    for text in ["", ".", "-a", "a b", "a/b", "*", "127", "0x7f000001", "017700000001", "127.1"] {
        assert!(DomainName::parse_local(text).is_err(), "{text}");
    }
    assert!(Target::parse_local("::1").is_ok_and(|read| matches!(read, Target::Address(_))));
    for text in ["db01", "localhost"] {
        assert!(DomainName::parse(text).is_err(), "{text}");
        assert!(DomainName::parse_local(text).unwrap().is_special_use(), "{text}");
    }
}

#[test]
fn a_target_is_a_literal_address_or_a_name() {
    for (text, shown) in
        [("192.0.2.1", "192.0.2.1"), ("2001:DB8:0:0::1", "2001:db8::1"), ("::1", "::1")]
    {
        let target = Target::parse(text).unwrap();
        assert!(matches!(target, Target::Address(_)), "{text}");
        assert_eq!(target.to_string(), shown);
    }
    assert!(matches!(Target::parse("Example.com"), Ok(Target::Name(_))));
    for text in ["127.1", "0x7f.0.0.1", "[::1]", "fe80::1%eth0", "192.0.2.1:443", "127。0。0。1"]
    {
        assert!(Target::parse(text).is_err(), "{text:?} was taken");
    }
}

#[test]
fn a_stored_name_is_read_back_and_nothing_else_is() {
    let name = DomainName::parse("bücher.de").unwrap();
    let json = serde_json::to_string(&name).unwrap();
    assert_eq!(json, "\"xn--bcher-kva.de\"");
    assert_eq!(serde_json::from_str::<DomainName>(&json).unwrap(), name);
    assert!(serde_json::from_str::<DomainName>("\"127.0.0.1\"").is_err());
}

proptest! {
    #[test]
    fn whatever_is_taken_is_canonical_and_no_address(
        text in "[a-zA-Z0-9._xéüßⅷ。-]{1,30}|\\PC{1,30}",
    ) {
        if let Ok(name) = DomainName::parse(&text) {
            let shown = name.as_str();
            prop_assert_eq!(&DomainName::parse(shown).unwrap(), &name);
            prop_assert!(shown.parse::<IpAddr>().is_err());
            prop_assert!(shown.len() <= 253 && shown.contains('.') && !shown.ends_with('.'));
            prop_assert!(shown.split('.').all(is_label));
            prop_assert!(shown.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()));
        }
    }

    #[test]
    fn upper_case_and_a_trailing_dot_change_nothing(
        text in "[a-z][a-z0-9]{0,9}(\\.[a-z]{2,6}){1,3}",
    ) {
        let name = DomainName::parse(&text).unwrap();
        prop_assert_eq!(&DomainName::parse(&text.to_uppercase()).unwrap(), &name);
        prop_assert_eq!(&DomainName::parse(&format!("{text}.")).unwrap(), &name);
    }
}
