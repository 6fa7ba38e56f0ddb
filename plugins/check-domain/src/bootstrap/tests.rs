use super::*;
use crate::{
    fixture::{HOUR, IANA, World, bootstrap, iana, response},
    name::Name,
};
use vedette_sdk::{http::Response, net::NetError, state::Scope};

const OWN: &str =
    r#"{"rdap_bootstrap_url": "http://127.0.0.1:81/dns.json", "whois_root": "127.0.0.1:43"}"#;
const OWN_FETCH: &str = "GET http://127.0.0.1:81/dns.json";

/// A world whose bootstrap file says this; registries are not at home.
fn publishing(settings: &str, file: &'static str) -> World {
    World::new().settings(settings).http(move |url| match url {
        IANA | "http://127.0.0.1:81/dns.json" => Ok(response(200, file)),
        _ => Err(NetError::Refused),
    })
}

fn leak(file: String) -> &'static str {
    file.leak()
}

#[test]
fn embedded_copy_knows_the_servers_of_iana() {
    let table = Table(EMBEDDED);
    assert!(table.entries().count() > 1_000);
    for (name, base) in [
        ("example.com", Some("https://rdap.verisign.com/com/v1/")),
        ("example.co.uk", Some("https://rdap.nominet.uk/uk/")),
        ("example.dev", Some("https://pubapi.registry.google/rdap/")),
        ("example.mg", Some("http://rdap.nic.mg/")),
        ("example.de", None),
        ("example.com.unknown", None),
        ("shop.uk.com", None),
        ("shop.co.za", None),
    ] {
        let found = find(table, &Name::of(name).expect("it is a name"));
        assert_eq!(found.first().map(String::as_str), base, "{name}");
    }
    for entry in table.entries() {
        assert!(entry.bases().next().is_some_and(|base| base.starts_with("http")), "{entry:?}");
        let label = entry.label;
        assert!(
            label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
            "{label}"
        );
    }
    let publication = EMBEDDED.lines().find_map(|line| line.strip_prefix("# publication: "));
    assert!(publication.is_some_and(|date| crate::moment::parse(date).is_some()));
}

#[test]
fn file_is_fetched_once_a_day() {
    let file = leak(bootstrap(&["com"], "https://new.example/rdap"));
    let world = publishing("{}", file);
    let base = |world: &World| {
        world.asked().into_iter().filter(|q| q.starts_with("GET")).collect::<Vec<_>>()
    };
    let fetch = format!("GET {IANA}");
    world.check("a.com");
    assert_eq!(base(&world), [fetch.as_str(), "GET https://new.example/rdap/domain/a.com"]);
    world.pass(23 * HOUR);
    world.check("b.com");
    assert_eq!(base(&world), ["GET https://new.example/rdap/domain/b.com"]);
    world.pass(HOUR);
    world.check("c.com");
    assert_eq!(base(&world), [fetch.as_str(), "GET https://new.example/rdap/domain/c.com"]);
}

#[test]
fn embedded_copy_counts_beside_ianas_file() {
    let file = leak(bootstrap(&["com"], "https://new.example/"));
    let world = publishing("{}", file);
    world.check("example.org");
    let asked = world.asked();
    assert!(asked[1].starts_with("GET https://rdap.publicinterestregistry.org/"), "{asked:?}");
}

#[test]
fn operators_file_is_the_only_one() {
    let file = leak(bootstrap(&["test", "com"], "http://127.0.0.1:82/"));
    let world = publishing(OWN, file).whois(|server, query| {
        assert_eq!(server, "127.0.0.1:43", "the operator's root");
        Ok(iana(query, None))
    });
    world.check("a.com");
    world.check("example.test");
    assert_eq!(world.check("example.org").error.as_deref(), Some("tld_not_supported"));
    let asked: Vec<String> =
        world.asked().into_iter().filter(|question| question.starts_with("GET")).collect();
    assert_eq!(
        asked,
        [
            OWN_FETCH,
            "GET http://127.0.0.1:82/domain/a.com",
            "GET http://127.0.0.1:82/domain/example.test",
        ],
    );
}

#[test]
fn dead_source_leaves_what_is_there_and_is_left_alone_for_a_while() {
    let file = leak(bootstrap(&["com"], "https://new.example/"));
    for (settings, fetch) in [("{}", format!("GET {IANA}")), (OWN, OWN_FETCH.to_owned())] {
        let world = publishing(settings, file);
        world.check("a.com");
        world.asked();
        // Then it dies.
        let world = world.http(|_| Err(NetError::Refused));
        world.pass(25 * HOUR);
        let mut asked = Vec::new();
        for target in ["b.com", "c.com"] {
            world.check(target);
            asked.extend(world.asked().into_iter().filter(|q| q.starts_with("GET")));
        }
        let expected = [
            fetch.as_str(),
            "GET https://new.example/domain/b.com",
            "GET https://new.example/domain/c.com",
        ];
        assert_eq!(asked, expected);
        world.pass(600);
        world.check("d.com");
        assert_eq!(world.asked()[0], fetch);
    }
}

/// How a source fails that was never there.
const NEVER_THERE: [fn() -> Result<Response, NetError>; 4] = [
    || Err(NetError::Refused),
    || Ok(response(404, "")),
    || Ok(response(200, "<html>")),
    || Ok(Response { truncated: true, ..response(200, "{}") }),
];

#[test]
fn source_that_was_never_there_leaves_the_embedded_copy() {
    for answer in NEVER_THERE {
        let world = World::new().http(move |_| answer());
        world.check("a.com");
        world.check("b.com");
        let asked: Vec<String> =
            world.asked().into_iter().filter(|question| question.starts_with("GET")).collect();
        assert_eq!(
            asked[1..],
            [
                "GET https://rdap.verisign.com/com/v1/domain/a.com".to_owned(),
                "GET https://rdap.verisign.com/com/v1/domain/b.com".to_owned(),
            ],
        );
    }
}

#[test]
fn operators_source_that_was_never_there_leaves_whois_alone() {
    for answer in NEVER_THERE {
        let world = World::new().settings(OWN).http(move |_| answer()).whois(|server, query| {
            assert_eq!(server, "127.0.0.1:43", "the operator's root");
            Ok(match query {
                "a.com" => "Domain Name: a.com\nRegistrar: Example Registrar\n".to_owned(),
                _ => iana(query, None),
            })
        });
        assert_eq!(world.check("a.com").error, None);
        // What cannot be told without the file is not called unsupported.
        assert_eq!(world.check("b.com").error.as_deref(), Some("registry_unavailable"));
        let asked: Vec<String> =
            world.asked().into_iter().filter(|question| question.starts_with("GET")).collect();
        assert_eq!(asked, [OWN_FETCH], "no registry that the operator may have left out");
    }
}

#[test]
fn parts_fit_their_values_and_lose_nothing() {
    let services: Vec<document::Service> = Table(EMBEDDED)
        .entries()
        .map(|entry| document::Service {
            bases: entry.bases().map(str::to_owned).collect(),
            labels: vec![entry.label.to_owned()],
        })
        .collect();
    let shards = shards(&services).expect("each part fits");
    assert!(shards.iter().all(|shard| shard.len() < 8 << 10), "half of the room is left");
    for service in &services {
        let label = &service.labels[0];
        let shard = Table(&shards[shard_of(label)]);
        let found = shard.find(&format!("x.{label}")).expect("it is there");
        assert!(found.bases().eq(service.bases.iter().map(String::as_str)), "{label}");
    }
}

#[test]
fn file_of_which_a_part_does_not_fit_is_not_taken() {
    let labels: Vec<String> = (0..9_000).map(|n| format!("n{n:0>20}.com")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let world = publishing("{}", leak(bootstrap(&labels, "https://new.example/")));
    world.check("a.com");
    let asked = world.asked();
    assert_eq!(asked[1], "GET https://rdap.verisign.com/com/v1/domain/a.com");
    assert!(world.host.logged().iter().any(|logged| {
        logged.fields.iter().any(|(_, value)| value == "a part does not fit its value")
    }));
}

#[test]
fn file_with_a_lost_part_is_fetched_again() {
    let file = leak(bootstrap(&["com"], "https://new.example/"));
    let world = publishing("{}", file);
    world.check("a.com");
    world.asked();
    let cx = world.host.cx();
    let part = format!("bootstrap/{}/{}", digest(IANA), shard_of("com"));
    cx.state(Scope::Shared).delete(&part).expect("the double deletes");
    world.check("b.com");
    assert_eq!(
        world.asked()[..2],
        [format!("GET {IANA}"), "GET https://new.example/domain/b.com".to_owned()]
    );
}

#[test]
fn zone_that_is_listed_itself_has_a_server() {
    let name = Name::of("shop.uk.com").expect("it is a name");
    assert_eq!(find(Table("https://com.example/ com"), &name), [""; 0]);
    let found = find(Table("https://com.example/ com\nhttps://zone.example/ uk.com"), &name);
    assert_eq!(found, ["https://zone.example/"]);
}
