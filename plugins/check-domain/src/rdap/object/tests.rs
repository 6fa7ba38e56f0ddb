use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::moment::parse;

fn name() -> Name {
    Name::of("example.com").expect("it is a name")
}

fn read_value(value: &Value) -> Answer {
    read(value.to_string().as_bytes(), &name())
}

/// What is read of a domain object with these members.
fn domain(members: Value) -> Registration {
    let mut object = json!({"objectClassName": "domain", "ldhName": "example.com"});
    let given = members.as_object().expect("members are an object");
    object.as_object_mut().expect("so is this").extend(given.clone());
    match read_value(&object) {
        Answer::Domain(registration) => registration,
        other => panic!("not {other:?}"),
    }
}

fn registrant(entity: Value) -> Option<bool> {
    let mut entity = entity;
    entity["roles"] = json!(["registrant"]);
    domain(json!({"entities": [entity]})).privacy_protected
}

fn card(properties: Value) -> Value {
    json!({"vcardArray": ["vcard", properties]})
}

#[test]
fn object_must_be_of_this_domain() {
    for (object, is_domain) in [
        (json!({"objectClassName": "domain", "ldhName": "example.com"}), true),
        (json!({"objectClassName": "Domain", "ldhName": "EXAMPLE.COM."}), true),
        (json!({"objectClassName": "domain"}), true),
        (json!({"ldhName": "example.com"}), true),
        (json!({"handle": "1_DOMAIN"}), true),
        (json!({"objectClassName": "domain", "ldhName": "exämple.com"}), true),
        (json!({"objectClassName": "domain", "ldhName": null}), true),
        (json!({"objectClassName": "domain", "ldhName": "example.net"}), false),
        (json!({"objectClassName": "domain", "ldhName": "www.example.com"}), false),
        (json!({"objectClassName": "nameserver", "ldhName": "example.com"}), false),
        (json!({"rdapConformance": []}), false),
        (json!({}), false),
        (json!([{"objectClassName": "domain"}]), false),
        (json!("domain"), false),
        (json!(null), false),
    ] {
        let answer = read_value(&object);
        assert_eq!(matches!(answer, Answer::Domain(_)), is_domain, "{object}: {answer:?}");
    }
}

#[test]
fn encoding_is_forgiven() {
    let text = "\u{feff}{\"objectClassName\":\"domain\",\"ldhName\":\"example.com\"}";
    assert!(matches!(read(text.as_bytes(), &name()), Answer::Domain(_)));
    let latin1 = b"{\"ldhName\":\"example.com\",\"status\":[\"\xe9tat\"]}";
    assert!(matches!(read(latin1, &name()), Answer::Domain(_)));
}

#[test]
fn last_member_counts_where_a_name_is_told_twice() {
    let event = |year: u32| {
        format!(r#"[{{"eventAction":"expiration","eventDate":"{year}-01-01T00:00:00Z"}}]"#)
    };
    let text = format!(
        r#"{{"objectClassName":"domain","events":{},"status":["locked"],"events":{},
            "entities":[{{"roles":["abuse"],"handle":"7","roles":["registrar"]}}],
            "notices":[],"notices":[]}}"#,
        event(2027),
        event(2028),
    );
    let Answer::Domain(read) = read(text.as_bytes(), &name()) else { panic!("a domain: {text}") };
    assert_eq!(read.expires_at, parse("2028-01-01T00:00:00Z"));
    assert_eq!(read.registrar.as_deref(), Some("7"));
}

#[test]
fn expiry_is_the_registrys_before_the_registrars() {
    let event = |action: &str, date: Value| json!({"eventAction": action, "eventDate": date});
    for (events, expected) in [
        (json!([event("expiration", json!("2027-12-17T11:53:46Z"))]), Some("2027-12-17T11:53:46Z")),
        (
            json!([
                event("registrar expiration", json!("2027-01-01T00:00:00Z")),
                event("expiration", json!("2026-01-01T00:00:00Z")),
            ]),
            Some("2026-01-01T00:00:00Z"),
        ),
        (
            json!([event("registrar expiration", json!("2027-01-01T00:00:00Z"))]),
            Some("2027-01-01T00:00:00Z"),
        ),
        (
            json!([event("Expiration", json!("2024-10-19T22:28:12.5+03:00"))]),
            Some("2024-10-19T19:28:12Z"),
        ),
        (
            json!([
                null, 7, "x", {}, {"eventAction": "expiration"},
                event("expiration", json!(null)), event("expiration", json!(["2027"])),
                event("expiration", json!("tomorrow")),
                event("expiration", json!("2027-01-01T00:00:00Z")),
            ]),
            Some("2027-01-01T00:00:00Z"),
        ),
        (json!(event("expiration", json!("2027-01-01T00:00:00Z"))), Some("2027-01-01T00:00:00Z")),
        (json!([event("expiration", json!("tomorrow"))]), None),
        (json!([event("expiration", json!("0001-01-01T00:00:00Z"))]), None),
        (json!([event("expiration", json!("1970-01-01T00:00:00Z"))]), None),
        (
            json!([
                event("expiration", json!("0001-01-01T00:00:00Z")),
                event("registrar expiration", json!("2027-01-01T00:00:00Z")),
            ]),
            Some("2027-01-01T00:00:00Z"),
        ),
        (json!([event("registration", json!("2027-01-01T00:00:00Z"))]), None),
        (json!([]), None),
        (json!(null), None),
        (json!("2027-01-01T00:00:00Z"), None),
    ] {
        let read = domain(json!({"events": events})).expires_at;
        assert_eq!(read, expected.and_then(parse), "{events}");
    }
}

#[test]
fn registrar_is_whoever_has_the_role() {
    let registrar = |members: Value| {
        let mut entity = members;
        entity["roles"] = json!(["sponsor", "Registrar"]);
        entity
    };
    let named = |name: &str| registrar(card(json!([["fn", {}, "text", name]])));
    for (entities, expected) in [
        (json!([named("A")]), Some("A")),
        (json!(named("A")), Some("A")),
        (json!([{"roles": "registrar", "handle": "7"}]), Some("7")),
        (json!([{"roles": ["registrar"], "handle": 7}]), Some("7")),
        (json!([{"roles": ["technical"], "handle": "T"}, named("A")]), Some("A")),
        (
            json!([{"roles": ["abuse"], "entities": [named("Inner")]}, named("Outer")]),
            Some("Outer"),
        ),
        (
            json!([{"roles": ["registrant"], "entities": [{"entities": [named("Deep")]}]}]),
            Some("Deep"),
        ),
        (
            json!([registrar(card(json!([
                ["version", {}, "text", "4.0"],
                ["org", {}, "text", "O"]
            ])))]),
            Some("O"),
        ),
        (
            json!([registrar(card(json!([
                ["fn", {}, "text", ""],
                ["org", {}, "text", ["", "O"]]
            ])))]),
            Some("O"),
        ),
        (json!([registrar(card(json!([["FN", {}, "text", [["A", "B"]]]])))]), Some("A")),
        (json!([registrar(json!({"vcardArray": ["vcard"], "handle": "H"}))]), Some("H")),
        (json!([registrar(json!({"vcardArray": "vcard", "handle": "H"}))]), Some("H")),
        (
            json!([registrar(
                json!({"vcardArray": ["vcard", [[], ["fn"], null, 7]], "handle": "H"})
            )]),
            Some("H"),
        ),
        (json!([null, 7, [], "registrar", {"roles": null}, {"roles": {}}]), None),
        (json!([{"roles": ["registrar"]}]), None),
        (json!([]), None),
        (json!(null), None),
    ] {
        let read = domain(json!({"entities": entities})).registrar;
        assert_eq!(read.as_deref(), expected, "{entities}");
    }
}

#[test]
fn name_servers_are_null_or_a_sorted_set() {
    for (nameservers, expected) in [
        (
            json!([{"ldhName": "NS2.Example.NET."}, {"ldhName": "ns1.example.net"}]),
            Some("ns1.example.net ns2.example.net"),
        ),
        (json!([{"ldhName": "a.example"}, {"ldhName": "A.EXAMPLE"}]), Some("a.example")),
        (
            json!([{"ldhName": "a.example"}, null, 7, {"unicodeName": "b.example"}]),
            Some("a.example"),
        ),
        (json!({"ldhName": "a.example"}), Some("a.example")),
        (json!([{"ldhName": "NS.Bücher.example"}]), Some("ns.xn--bcher-kva.example")),
        (json!([]), Some("")),
        (json!([{"unicodeName": "ä.example"}]), None),
        (json!(null), None),
    ] {
        let read = domain(json!({"nameservers": nameservers})).name_servers;
        assert_eq!(read.map(|names| names.join(" ")).as_deref(), expected, "{nameservers}");
    }
    assert_eq!(domain(json!({})).name_servers, None);
}

#[test]
fn statuses_are_told_as_in_epp() {
    let status = json!([
        "client transfer prohibited",
        "pending delete",
        "active",
        "clientHold",
        7,
        null,
        [""]
    ]);
    assert_eq!(
        domain(json!({"status": status})).status,
        ["clientTransferProhibited", "pendingDelete", "active", "clientHold", "7"],
    );
    assert_eq!(domain(json!({"status": "redemption period"})).status, ["redemptionPeriod"]);
    assert_eq!(domain(json!({"status": {}})).status, [""; 0]);
}

#[test]
fn reserved_is_a_name_without_a_registration() {
    let reserved = json!({"objectClassName": "domain", "status": ["reserved"]});
    assert_eq!(read_value(&reserved), Answer::Reserved);
    let registered = json!({
        "objectClassName": "domain", "status": ["reserved"],
        "entities": [{"roles": ["registrar"], "handle": "7"}],
    });
    assert!(matches!(read_value(&registered), Answer::Domain(_)));
}

#[test]
fn registrant_is_hidden_shown_or_not_mentioned() {
    let shown = json!([["fn", {}, "text", "Joe User"], ["org", {}, "text", "Example"]]);
    assert_eq!(domain(json!({})).privacy_protected, None);
    assert_eq!(domain(json!({"entities": [{"roles": ["technical"]}]})).privacy_protected, None);
    assert_eq!(registrant(json!({})), None);
    assert_eq!(registrant(card(json!([["fn", {}, "text", ""]]))), None);
    assert_eq!(registrant(card(shown.clone())), Some(false));
    assert_eq!(registrant(card(json!([["org", {}, "text", "Example"]]))), Some(false));
    for vendor in ["REDACTED FOR PRIVACY", "Domains By Proxy, LLC", "Withheld for Privacy ehf"] {
        assert_eq!(registrant(card(json!([["fn", {}, "text", vendor]]))), Some(true), "{vendor}");
        let organisation = json!([["fn", {}, "text", "Joe"], ["org", {}, "text", [vendor]]]);
        assert_eq!(registrant(card(organisation)), Some(true), "{vendor}");
    }
    for (remarks, expected) in [
        (
            json!([{"title": "REDACTED FOR PRIVACY", "description": ["Some of the data is removed"]}]),
            true,
        ),
        (json!([{"type": "object truncated due to authorization"}]), true),
        (json!([{"description": "data redacted for privacy"}]), true),
        (json!([{"title": "NOT REDACTED FOR PRIVACY"}]), false),
        (json!([{"description": ["She sells sea shells"]}, null, 7]), false),
    ] {
        let mut entity = card(shown.clone());
        entity["remarks"] = remarks.clone();
        assert_eq!(registrant(entity), Some(expected), "{remarks}");
    }
    let mut entity = card(shown);
    entity["status"] = json!(["validated", "Private"]);
    assert_eq!(registrant(entity), Some(true));
}

#[test]
fn redactions_count_where_they_hide_the_registrant() {
    let name =
        |description: &str| json!({"name": {"description": description}, "method": "removal"});
    for (redacted, expected) in [
        (json!([name("Registrant Name")]), Some(true)),
        (json!([{"name": {"type": "Registrant Organization"}}]), Some(true)),
        (json!([name("Registrant Email")]), Some(true)),
        (json!([name("Registrant")]), Some(true)),
        (
            json!([{"postPath": "$.entities[?(@.roles[0]=='registrant')].vcardArray[1][?(@[0]=='fn')][3]"}]),
            Some(true),
        ),
        (json!([{"prePath": "$.entities[?(@.roles[0]=='registrant')]"}]), Some(true)),
        (
            json!([
                name("Registry Registrant ID"),
                name("Registrant Phone"),
                name("Registrant Street")
            ]),
            Some(false),
        ),
        (
            json!([name("Registry Domain ID"), name("Tech Name"), name("Administrative Contact")]),
            Some(false),
        ),
        (json!([{}, null, 7, {"name": "Registrant Name"}]), Some(false)),
        (json!([]), Some(false)),
    ] {
        let entity =
            json!({"roles": ["registrant"], "vcardArray": ["vcard", [["fn", {}, "text", "Joe"]]]});
        let read = domain(json!({"entities": [entity], "redacted": redacted})).privacy_protected;
        assert_eq!(read, expected, "{redacted}");
    }
    let without = domain(json!({"redacted": [name("Registrant Name")]}));
    assert_eq!(without.privacy_protected, Some(true));
}

#[test]
fn documents_made_to_fill_the_memory_are_read_in_passing() {
    let repeated = |part: &str| {
        format!("[{}{part}]", format!("{part},").repeat((256 << 10) / (part.len() + 1)))
    };
    for part in ["0", "[0]", "{}", r#"{"":0}"#, r#"{"entities":[{}]}"#, "[[[[0]]]]", r#""""#] {
        for member in ["entities", "events", "nameservers", "status", "redacted", "other"] {
            let text = format!(r#"{{"objectClassName":"domain","{member}":{}}}"#, repeated(part));
            assert!(matches!(read(text.as_bytes(), &name()), Answer::Domain(_)), "{member} {part}");
        }
    }
    let deep = |open: &str, close: &str| {
        let text = open.repeat(40_000) + &close.repeat(40_000);
        format!(r#"{{"objectClassName":"domain","entities":{text}}}"#)
    };
    for text in [deep("[", "]"), deep(r#"{"entities":["#, "]}"), deep("[", "")] {
        read(text.as_bytes(), &name());
    }
}

/// JSON of any shape, with the members that are looked for.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(vec![
            "domain",
            "registrar",
            "registrant",
            "expiration",
            "2027-01-01T00:00:00Z",
            "example.com",
            "fn",
            "vcard",
            "",
            "redacted for privacy",
            "reserved",
            "\u{0}",
            "ä",
        ])
        .prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    let member = prop::sample::select(vec![
        "objectClassName",
        "ldhName",
        "events",
        "eventAction",
        "eventDate",
        "entities",
        "roles",
        "vcardArray",
        "handle",
        "nameservers",
        "status",
        "redacted",
        "remarks",
        "name",
        "description",
        "title",
        "type",
        "prePath",
        "errorCode",
        "x",
    ]);
    leaf.prop_recursive(6, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(member.clone(), inner, 0..8).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_without_panic(value in any_json()) {
        let object = json!({"objectClassName": "domain", "entities": &value, "events": &value,
            "nameservers": &value, "status": &value, "redacted": &value});
        for value in [&value, &object] {
            if let Answer::Domain(registration) = read_value(value) {
                prop_assert_eq!(registration.clone().bounded(), registration);
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes, &name());
    }

    #[test]
    fn cut_document_is_unreadable_or_a_domain(end in 0_usize..700) {
        let text = crate::fixture::rdap("example.com", "2027-01-01T00:00:00Z");
        let cut = text.get(..end).unwrap_or(&text);
        let answer = read(cut.as_bytes(), &name());
        prop_assert_eq!(matches!(answer, Answer::Domain(_)), cut.len() == text.len());
    }
}
