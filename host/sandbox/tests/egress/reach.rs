//! From a name to a connection: mixed answers, rebinding, aliases, and who is told what.

use std::{
    net::UdpSocket,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use hickory_proto::{
    op::ResponseCode,
    rr::{RData, Record, RecordType, rdata},
};
use vedette_model::domain_name::Target;

use crate::{
    egress::{Audience, Dial, Egress, NetError, Phase, Policy, code},
    lab::{Canary, ClosedPort, Dns, Reply, addresses, egress, name, policy, serve, to_loopback},
};

#[tokio::test]
async fn a_mixed_answer_is_cut_for_accounts_and_refused_for_the_public() {
    let canary = Canary::on("127.0.0.2").await;
    let dns = Dns::fixed(&["127.0.0.2", "127.0.0.1", "::1"]).await;
    let egress = egress(policy(&["127.0.0.1/32"], &["127.0.0.1/32"]), Some(&dns));
    let target = Target::parse("mixed.example").unwrap();
    let soon = soon();
    let found = egress.resolve(&target, Audience::Authenticated, soon).await.unwrap();
    assert_eq!(found, ["127.0.0.1".parse::<std::net::IpAddr>().unwrap()]);
    let refused = egress.resolve(&target, Audience::Public, soon).await.unwrap_err();
    assert!(matches!(refused, NetError::AddressBlocked(_)));
    let dialled = connect(&egress, "mixed.example", canary.address.port(), Audience::Public).await;
    assert!(matches!(dialled.unwrap_err(), NetError::AddressBlocked(_)));
    canary.assert_untouched().await;
}

#[tokio::test]
async fn a_dropped_address_is_no_fallback_when_the_allowed_one_refuses() {
    let canary = Canary::on("127.0.0.2").await;
    let closed = ClosedPort::new();
    let dns = Dns::fixed(&["127.0.0.1", "127.0.0.2"]).await;
    let egress = to_loopback(Some(&dns));
    let error = connect(&egress, "a.example", closed.port, Audience::Authenticated).await;
    assert_eq!(error.unwrap_err(), NetError::Refused);
    let error = connect(&egress, "a.example", canary.address.port(), Audience::Authenticated).await;
    assert_eq!(error.unwrap_err(), NetError::Refused, "the canary listens on the other address");
    canary.assert_untouched().await;
}

#[tokio::test]
async fn a_name_that_is_bound_anew_is_judged_anew() {
    let canary = Canary::on("127.0.0.2").await;
    let (open, _server) = serve(|_| async {}).await;
    let dns = Dns::new(|_, rtype, before| match (rtype, before) {
        (RecordType::A, 0) => addresses(&["127.0.0.1"]),
        (RecordType::A, _) => addresses(&["127.0.0.2"]),
        _ => Reply::NoData,
    })
    .await;
    let egress = to_loopback(Some(&dns));
    let first = connect(&egress, "rebind.example", open.port(), Audience::Authenticated).await;
    assert_eq!(first.unwrap().peer, open);
    let port = canary.address.port();
    let second = connect(&egress, "rebind.example", port, Audience::Authenticated).await;
    assert!(matches!(second.unwrap_err(), NetError::AddressBlocked(_)));
    canary.assert_untouched().await;
}

#[tokio::test]
async fn an_alias_to_a_private_address_is_refused() {
    let canary = Canary::on("127.0.0.1").await;
    let dns = Dns::new(|asked, rtype, _| match (asked, rtype) {
        ("alias.example", RecordType::A) => Reply::Records(vec![
            Record::from_rdata(
                name("alias.example."),
                0,
                RData::CNAME(rdata::CNAME(name("inside.example."))),
            ),
            Record::from_rdata(name("inside.example."), 0, RData::A(rdata::A::new(127, 0, 0, 1))),
        ]),
        _ => Reply::NoData,
    })
    .await;
    let egress = egress(Policy::default(), Some(&dns));
    let port = canary.address.port();
    let error = connect(&egress, "alias.example", port, Audience::Authenticated).await;
    assert!(matches!(error.unwrap_err(), NetError::AddressBlocked(_)));
    canary.assert_untouched().await;
}

#[tokio::test]
async fn a_public_looking_name_reaches_what_public_allow_opens_and_not_what_allow_opens() {
    let (open, _server) = serve(|_| async {}).await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let lab = egress(policy(&[], &["127.0.0.1/32"]), Some(&dns));
    assert!(connect(&lab, "site.example", open.port(), Audience::Public).await.is_ok());
    let account = connect(&lab, "site.example", open.port(), Audience::Authenticated).await;
    assert!(matches!(account.unwrap_err(), NetError::AddressBlocked(_)));
    let corporate = to_loopback(Some(&dns));
    assert!(connect(&corporate, "a.corp", open.port(), Audience::Authenticated).await.is_ok());
    for host in ["a.corp", "site.example"] {
        let public = connect(&corporate, host, open.port(), Audience::Public).await;
        assert!(matches!(public.unwrap_err(), NetError::AddressBlocked(_)), "{host}");
    }
}

#[tokio::test]
async fn our_own_listener_is_not_connected_to() {
    let canary = Canary::on("127.0.0.1").await;
    let mut own = policy(&["127.0.0.0/8"], &[]);
    own.own_listeners = vec![([0, 0, 0, 0], canary.address.port()).into()];
    let egress = egress(own, None);
    let loopback = ["127.0.0.1", "127.0.0.7"].map(str::to_owned);
    for host in loopback.into_iter().chain(own_address()) {
        let port = canary.address.port();
        let error = connect(&egress, &host, port, Audience::Authenticated).await.unwrap_err();
        assert!(matches!(error, NetError::AddressBlocked(_)), "{host}: {error}");
        let error = egress.connect_configured(&host, port, soon()).await.unwrap_err();
        assert!(matches!(error, NetError::AddressBlocked(_)), "{host}: {error}");
    }
    canary.assert_untouched().await;
}

/// An address of this machine that is no loopback address, if it has one: from there a packet to
/// elsewhere would come, and none is sent.
fn own_address() -> Option<String> {
    let probe = UdpSocket::bind("0.0.0.0:0").ok()?;
    probe.connect("198.51.100.1:9").ok()?;
    let own = probe.local_addr().ok()?.ip();
    (!own.is_loopback()).then(|| own.to_string())
}

#[tokio::test]
async fn configuration_is_dialled_as_written_unless_it_is_denied() {
    let (open, _server) = serve(|_| async {}).await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let strict = egress(Policy::default(), Some(&dns));
    for host in ["127.0.0.1", "localhost", "whois.internal", "whois"] {
        let connected = strict.connect_configured(host, open.port(), soon()).await.unwrap();
        assert_eq!(connected.peer, open, "{host}");
    }
    let denying = Policy { deny: vec!["127.0.0.0/8".parse().unwrap()], ..Policy::default() };
    let denying = egress(denying, Some(&dns));
    let error = denying.connect_configured("127.0.0.1", open.port(), soon()).await.unwrap_err();
    assert!(matches!(error, NetError::AddressBlocked(_)));
}

#[tokio::test]
async fn name_of_one_label_leads_somewhere_where_ranges_are_opened() {
    let (open, _server) = serve(|_| async {}).await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let (closed, opened) = (egress(Policy::default(), Some(&dns)), to_loopback(Some(&dns)));
    let dial = async |egress: &Egress, host: &str| {
        let dial = Dial {
            target: Target::parse_local(host).unwrap(),
            port: open.port(),
            connect_to: None,
            audience: Audience::Authenticated,
            deadline: soon(),
        };
        egress.connect(&dial).await
    };
    for host in ["localhost", "db01"] {
        let refused = dial(&closed, host).await.unwrap_err();
        assert!(matches!(refused, NetError::AddressBlocked(_)), "{host}: {refused}");
        assert_eq!(dial(&opened, host).await.unwrap().peer, open, "{host}");
    }
    let asked = dns.asked();
    assert!(asked.iter().all(|(name, _)| name == "db01") && !asked.is_empty(), "{asked:?}");
}

#[tokio::test]
async fn trouble_with_a_name_is_told_from_trouble_with_the_resolver() {
    let dns = Dns::new(|asked, _, _| match asked {
        "gone.example" => Reply::Code(ResponseCode::NXDomain),
        "empty.example" => Reply::NoData,
        "broken.example" => Reply::Code(ResponseCode::ServFail),
        "mute.example" => Reply::Silence,
        _ => Reply::Code(ResponseCode::Refused), // the root: an answer all the same
    })
    .await;
    let egress = to_loopback(Some(&dns));
    let resolve = async |host: &str| {
        let target = Target::parse(host).unwrap();
        egress.resolve(&target, Audience::Authenticated, soon()).await.unwrap_err()
    };
    assert_eq!(resolve("gone.example").await, NetError::NameNotFound);
    assert_eq!(resolve("empty.example").await, NetError::NameNotFound);
    assert_eq!(resolve("mute.example").await, NetError::Timeout(Phase::Resolve));
    let NetError::Other(kind, _) = resolve("broken.example").await else { panic!("a code") };
    assert_eq!(kind, code::DNS_FAILED);

    // One that is gone, and a recursor that has lost its way out.
    for useless in [
        Dns::new(|_, _, _| Reply::Silence).await,
        Dns::new(|_, _, _| Reply::Code(ResponseCode::ServFail)).await,
    ] {
        let alone = to_loopback(Some(&useless));
        let target = Target::parse("any.example").unwrap();
        let deadline = Instant::now() + Duration::from_secs(1);
        let error = alone.resolve(&target, Audience::Authenticated, deadline).await.unwrap_err();
        let NetError::Other(kind, _) = &error else { panic!("{error}") };
        assert_eq!(kind, code::RESOLVER_DOWN);
        assert!(!alone.resolver().is_resolving(soon()).await);
    }
}

#[tokio::test]
async fn servers_that_refuse_whatever_we_ask_are_as_good_as_none() {
    let ask = async |egress: &Egress, host: &str| {
        let target = Target::parse(host).unwrap();
        egress.resolve(&target, Audience::Authenticated, soon()).await.map(drop)
    };
    let refusing = Dns::new(|_, _, _| Reply::Code(ResponseCode::Refused)).await;
    let egress = to_loopback(Some(&refusing));
    assert!(egress.resolver().is_resolving(soon()).await, "of the root alone it says nothing");
    let Err(NetError::Other(kind, _)) = ask(&egress, "any.example").await else { panic!("a code") };
    assert_eq!(kind, code::DNS_FAILED, "what was seen is told as it was");
    assert!(!egress.resolver().is_resolving(soon()).await);

    // Those that answer others, or did a moment ago, refuse this one.
    for other in ["", "other.example"] {
        let choosy = Dns::new(move |asked, _, _| match asked {
            asked if asked.trim_matches('.') == other => addresses(&["127.0.0.1"]),
            _ => Reply::Code(ResponseCode::Refused),
        })
        .await;
        let egress = to_loopback(Some(&choosy));
        if !other.is_empty() {
            ask(&egress, other).await.unwrap();
        }
        ask(&egress, "any.example").await.unwrap_err();
        assert!(egress.resolver().is_resolving(soon()).await, "{other}");
    }
}

#[tokio::test]
async fn a_refusal_is_the_names_own_unless_what_was_answered_before_is_refused_as_well() {
    let (refused, root) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
    let (asked_for, root_is_known) = (Arc::clone(&refused), Arc::clone(&root));
    let dns = Dns::new(move |asked, _, _| {
        let asked = asked.trim_matches('.');
        let is_refused = match asked {
            "" => !root_is_known.load(Relaxed),
            _ => asked_for.lock().unwrap().contains(&asked.to_owned()),
        };
        if is_refused { Reply::Code(ResponseCode::Refused) } else { addresses(&["127.0.0.1"]) }
    })
    .await;
    let egress = to_loopback(Some(&dns));
    let ask = async |host: &str| {
        let target = Target::parse(host).unwrap();
        match egress.resolve(&target, Audience::Authenticated, soon()).await {
            Ok(_) => "an address".to_owned(),
            Err(NetError::Other(code, _)) => code,
            Err(other) => panic!("{host}: {other}"),
        }
    };
    let refuse = |names: &[&str]| {
        *refused.lock().unwrap() = names.iter().map(|&name| name.to_owned()).collect();
    };
    for host in ["one.example", "a.two.example", "two.example"] {
        assert_eq!(ask(host).await, "an address");
    }

    refuse(&["one.example"]);
    assert_eq!(ask("one.example").await, code::DNS_FAILED, "others are answered");
    refuse(&["two.example", "a.two.example"]);
    assert_eq!(ask("two.example").await, code::DNS_FAILED, "of one owner's they refuse all");

    refuse(&["one.example", "two.example", "a.two.example"]);
    for host in ["one.example", "two.example"] {
        assert_eq!(ask(host).await, code::RESOLVER_DOWN, "{host}");
    }
    root.store(true, Relaxed);
    assert_eq!(ask("one.example").await, code::DNS_FAILED, "the root is answered");
}

#[tokio::test]
async fn one_family_is_enough() {
    let dns = Dns::new(|_, rtype, _| match rtype {
        RecordType::A => addresses(&["127.0.0.1"]),
        _ => Reply::Code(ResponseCode::ServFail),
    })
    .await;
    let target = Target::parse("four.example").unwrap();
    let egress = to_loopback(Some(&dns));
    let found = egress.resolve(&target, Audience::Authenticated, soon()).await.unwrap();
    assert_eq!(found.len(), 1);
}

#[tokio::test]
async fn at_most_sixteen_addresses_are_looked_at() {
    let dns = Dns::new(|_, rtype, _| match rtype {
        RecordType::A => Reply::Addresses((1..=60).map(|n| [127, 0, 1, n].into()).collect()),
        _ => Reply::NoData,
    })
    .await;
    let egress = egress(policy(&["127.0.0.0/8"], &[]), Some(&dns));
    let target = Target::parse("many.example").unwrap();
    let found = egress.resolve(&target, Audience::Authenticated, soon()).await.unwrap();
    assert_eq!(found.len(), 16);
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_refuses() {
    let (open, _server) = serve(|_| async {}).await;
    let dns = Dns::fixed(&["127.0.0.3", "127.0.0.1"]).await;
    let egress = egress(policy(&["127.0.0.0/8"], &[]), Some(&dns));
    let connected = connect(&egress, "two.example", open.port(), Audience::Authenticated).await;
    assert_eq!(connected.unwrap().peer, open);
}

#[tokio::test]
async fn a_way_that_this_machine_does_not_have_is_our_own_trouble() {
    // Everybody on the wire: a connection to that the kernel refuses by itself.
    let everybody = "255.255.255.255";
    let egress = egress(policy(&["255.255.255.255/32"], &[]), None);
    let error = connect(&egress, everybody, 9, Audience::Authenticated).await.unwrap_err();
    let NetError::Other(kind, _) = &error else { panic!("{error}") };
    assert_eq!(kind, code::NO_ROUTE);
    assert!(error.own_trouble().is_some());
}

async fn connect(
    egress: &Egress,
    host: &str,
    port: u16,
    audience: Audience,
) -> Result<crate::egress::Connected, NetError> {
    let dial = Dial {
        target: Target::parse(host).unwrap(),
        port,
        connect_to: None,
        audience,
        deadline: soon(),
    };
    egress.connect(&dial).await
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}
