//! Every row of `vectors.tsv`, and the canary: a refusal happens before any packet leaves.

use std::net::IpAddr;

use vedette_model::domain_name::Target;

use crate::{
    egress::{Audience, NetError, Policy},
    lab::{self, Canary, Dns, addresses, egress, reach},
    probes::{
        http::{self, Request},
        tcp::{self, ExchangeRequest},
    },
};

const BOTH: [Audience; 2] = [Audience::Authenticated, Audience::Public];

#[test]
fn every_row_is_judged_as_written() {
    let policy = Policy::default();
    let rows = rows();
    assert!(rows.len() > 400, "the table is read");
    for row in rows {
        for audience in BOTH {
            let allowed = match row.kind {
                "ip" => policy.vet_address(row.input.parse().unwrap(), audience).is_ok(),
                "url" => policy.vet_url(&row.input, audience).is_ok(),
                "host" => Target::parse(&row.input)
                    .is_ok_and(|target| policy.vet_target(&target, audience).is_ok()),
                "name" => continue,
                other => panic!("{other} is no kind"),
            };
            assert_eq!(allowed, row.allowed, "{} {:?} for {audience:?}", row.kind, row.input);
        }
    }
}

#[tokio::test]
async fn names_that_resolve_to_private_addresses_are_refused_after_one_question() {
    let canary = Canary::on("127.0.0.1").await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let names: Vec<_> = rows().into_iter().filter(|row| row.kind == "name").collect();
    assert!(!names.is_empty());
    let egress = egress(Policy::default(), Some(&dns));
    for row in names {
        for audience in BOTH {
            let request = exchange(&row.input, canary.address.port());
            let error = tcp::exchange(reach(&egress, audience), request).await.unwrap_err();
            assert!(matches!(error, NetError::AddressBlocked(_)), "{}: {error}", row.input);
        }
    }
    canary.assert_untouched().await;
}

#[tokio::test]
async fn no_url_of_the_table_that_is_refused_asks_a_question() {
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let egress = egress(Policy::default(), Some(&dns));
    for row in rows().into_iter().filter(|row| row.kind == "url" && !row.allowed) {
        for audience in BOTH {
            let error = http::fetch(reach(&egress, audience), get(&row.input)).await.unwrap_err();
            let refused = matches!(error, NetError::AddressBlocked(_) | NetError::NotPermitted(_));
            assert!(refused, "{:?}: {error}", row.input);
        }
    }
    assert_eq!(dns.asked(), []);
}

/// Loopback under many names, at the port of a listener that counts.
#[tokio::test]
async fn no_spelling_of_loopback_reaches_the_canary() {
    let (four, six) = (Canary::on("127.0.0.1").await, Canary::on("::1").await);
    let dns = Dns::fixed(&["127.0.0.1", "::1"]).await;
    let egress = egress(Policy::default(), Some(&dns));
    let spellings = [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "0",
        "0.0.0.0",
        "127.0.0.1.",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::1]",
        "[::1%25lo]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "ip6-localhost",
        "localhost.localdomain",
        "example.com@127.0.0.1",
        "example.com%00.x.org",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "１２７.０.０.１",
        "example.com",
        "%31%32%37.0.0.1",
        "127.0.0.1;x",
        "127.0.0.1\\",
        "127.0.0.1\t",
        "127.0.0.1\u{0}",
    ];
    for canary in [&four, &six] {
        let port = canary.address.port();
        for spelling in spellings {
            for audience in BOTH {
                let url = format!("http://{spelling}:{port}/");
                let error = http::fetch(reach(&egress, audience), get(&url)).await.unwrap_err();
                let refused =
                    matches!(error, NetError::AddressBlocked(_) | NetError::NotPermitted(_));
                assert!(refused, "{url}: {error}");
                let request = exchange(spelling, port);
                let error = tcp::exchange(reach(&egress, audience), request).await.unwrap_err();
                let refused =
                    matches!(error, NetError::AddressBlocked(_) | NetError::NotPermitted(_));
                assert!(refused, "{spelling}: {error}");
            }
        }
    }
    four.assert_untouched().await;
    six.assert_untouched().await;
}

#[tokio::test]
async fn an_address_to_connect_to_is_vetted_like_any() {
    let canary = Canary::on("127.0.0.1").await;
    let dns = Dns::new(|_, _, _| addresses(&["127.0.0.1"])).await;
    let egress = egress(Policy::default(), Some(&dns));
    for text in ["127.0.0.1", "::ffff:127.0.0.1", "0x7f.1", "127.1", "localhost", "0.0.0.0", ""] {
        let mut request = exchange("example.com", canary.address.port());
        request.endpoint.connect_to = Some(text.to_owned());
        let error = tcp::exchange(lab::authenticated(&egress), request).await.unwrap_err();
        let refused = matches!(error, NetError::AddressBlocked(_) | NetError::NotPermitted(_));
        assert!(refused, "{text}: {error}");
    }
    assert_eq!(dns.asked(), [], "a given address needs no question");
    canary.assert_untouched().await;
}

fn exchange(host: &str, port: u16) -> ExchangeRequest {
    let endpoint = lab::endpoint(host, port);
    ExchangeRequest { endpoint, send: b"x".to_vec(), max: 16, timeout_ms: 3000 }
}

pub(crate) fn get(url: &str) -> Request {
    Request {
        method: "GET".to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        secret_headers: Vec::new(),
        body: None,
        timeout_ms: 15_000,
        max_redirects: 0,
        max_body: 1 << 20,
        verify_tls: true,
        connect_to: None,
    }
}

struct Row {
    allowed: bool,
    kind: &'static str,
    input: String,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("vectors.tsv").lines().filter(|line| !line.starts_with("# "));
    let rows: Vec<_> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [verdict, kind, input] = cells[..] else { panic!("{line:?} is no row") };
            let input = serde_json::from_str(&format!("\"{input}\"")).unwrap();
            Row { allowed: verdict == "allow", kind, input }
        })
        .collect();
    for row in rows.iter().filter(|row| row.kind == "ip") {
        assert!(row.input.parse::<IpAddr>().is_ok(), "{:?} is no address", row.input);
    }
    rows
}
