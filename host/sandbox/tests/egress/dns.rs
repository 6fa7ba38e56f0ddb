//! DNS questions to a scripted server.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use hickory_proto::{
    op::ResponseCode,
    rr::{RData, Record, RecordType, rdata},
};
use vedette_model::DomainName;

use crate::{
    egress::{Audience, Egress, NetError, Options, Phase, Policy, code},
    lab::{
        Canary, Confusion, Dns, Reply, addresses, authenticated, egress, name, reach, to_loopback,
    },
    probes::dns::{Answer, Dnssec, Question, Rr, lookup, lookup_many},
};

/// How often a test asks for what a busy machine may once not do in time.
const ROUNDS: usize = 3;

#[tokio::test]
async fn records_come_in_presentation_form() {
    let dns = Dns::new(|_, rtype, _| {
        let data = match rtype {
            RecordType::MX => RData::MX(rdata::MX::new(10, name("Mail.Example."))),
            RecordType::TXT => {
                RData::TXT(rdata::TXT::from_bytes(vec![b"v=spf1 -all".as_slice(), b"\xe9\""]))
            }
            RecordType::A => RData::A(rdata::A::new(192, 0, 2, 1)),
            _ => return Reply::NoData,
        };
        Reply::Records(vec![Record::from_rdata(name("site.example."), 300, data)])
    })
    .await;
    let ask = async |rrtype: &str| {
        let found =
            lookup(authenticated(&to_loopback(Some(&dns))), question("site.example", rrtype));
        found.await.unwrap()
    };
    let mx = ask("mx").await;
    let expected = Rr {
        name: "site.example".to_owned(),
        rrtype: "MX".to_owned(),
        ttl: 300,
        data: "10 mail.example".to_owned(),
    };
    assert_eq!((mx.rcode.as_str(), mx.records.as_slice()), ("NOERROR", [expected].as_slice()));
    assert_eq!(mx.server, dns.address.to_string());
    assert_eq!(mx.dnssec, Dnssec::Indeterminate, "nobody asked for validation");
    assert_eq!(ask("TXT").await.records[0].data, r#""v=spf1 -all" "\233\"""#);
    assert_eq!(ask("TYPE1").await.records[0].data, "192.0.2.1");
    let none = ask("CAA").await;
    assert_eq!((none.rcode.as_str(), none.records.len()), ("NOERROR", 0));
}

#[tokio::test]
async fn failures_of_the_name_are_answers() {
    let dns = Dns::new(|asked, _, _| match asked {
        "gone.example" => Reply::Code(ResponseCode::NXDomain),
        "broken.example" => Reply::Code(ResponseCode::ServFail),
        _ => Reply::Code(ResponseCode::Refused),
    })
    .await;
    let egress = to_loopback(Some(&dns));
    for (host, rcode) in
        [("gone.example", "NXDOMAIN"), ("broken.example", "SERVFAIL"), ("x.example", "REFUSED")]
    {
        let answer = lookup(authenticated(&egress), question(host, "A")).await.unwrap();
        assert_eq!((answer.rcode.as_str(), answer.records.len()), (rcode, 0));
    }
}

#[tokio::test]
async fn silence_for_one_name_is_not_a_dead_resolver() {
    let dns = Dns::new(|asked, _, _| match asked {
        "mute.example" => Reply::Silence,
        _ => Reply::NoData,
    })
    .await;
    let ask = async |dns: &Dns| {
        let mut reach = authenticated(&to_loopback(Some(dns)));
        reach.deadline = Instant::now() + Duration::from_secs(1);
        lookup(reach, question("mute.example", "A")).await.unwrap_err()
    };
    // Whether it is alive it has a second to say, which a busy machine may once take longer for.
    let mut error = ask(&dns).await;
    for _ in 1..ROUNDS {
        if error != NetError::Timeout(Phase::Resolve) {
            error = ask(&dns).await;
        }
    }
    assert_eq!(error, NetError::Timeout(Phase::Resolve));
    let silent = Dns::new(|_, _, _| Reply::Silence).await;
    let error = ask(&silent).await;
    assert!(matches!(&error, NetError::Other(kind, _) if kind == code::RESOLVER_DOWN), "{error}");
}

/// Else each run of each site would take as long as one server is waited for, and sites would be
/// called slow for it.
#[tokio::test]
async fn a_server_that_was_silent_is_asked_after_the_others() {
    let silent = Dns::new(|_, _, _| Reply::Silence).await;
    let well = Dns::fixed(&["192.0.2.2"]).await;
    let of_both = || {
        let dns_servers = vec![silent.address.into(), well.address.into()];
        Egress::new(Options { dns_servers, ..Options::default() }).unwrap()
    };
    let egress = of_both();
    let ask = async |egress: &Egress, name: &str| {
        lookup(authenticated(egress), question(name, "A")).await.map(|answer| answer.rcode)
    };
    ask(&egress, "a.example").await.unwrap();
    let before = silent.asked().len();
    for name in ["b.example", "c.example"] {
        ask(&egress, name).await.unwrap();
    }
    assert_eq!(silent.asked().len(), before, "it is not waited for");
    // Also where nobody had the time to wait for it.
    let egress = of_both();
    let mut hurried = authenticated(&egress);
    hurried.deadline = Instant::now() + Duration::from_millis(700);
    lookup(hurried, question("a.example", "A")).await.unwrap_err();
    let before = silent.asked().len();
    ask(&egress, "b.example").await.unwrap();
    assert_eq!(silent.asked().len(), before);
}

#[tokio::test]
async fn a_truncated_answer_is_asked_for_again_over_tcp() {
    let dns = Dns::new(|_, _, _| {
        let record = |n| {
            let data = rdata::TXT::new(vec!["x".repeat(200), format!("{n}")]);
            Record::from_rdata(name("long.example."), 60, RData::TXT(data))
        };
        Reply::OnlyTcp((0..40).map(record).collect())
    })
    .await;
    let answer = lookup(authenticated(&to_loopback(Some(&dns))), question("long.example", "TXT"));
    assert_eq!(answer.await.unwrap().records.len(), 40);
}

#[tokio::test]
async fn servers_from_before_edns_are_asked_without_it() {
    for confusion in [
        Confusion::Code(ResponseCode::FormErr),
        Confusion::Code(ResponseCode::NotImp),
        Confusion::Echo,
    ] {
        let dns = Dns::new(move |_, rtype, _| match rtype {
            RecordType::A => {
                let data = RData::A(rdata::A::new(192, 0, 2, 1));
                let record = Record::from_rdata(name("old.example."), 300, data);
                Reply::BeforeEdns(confusion, vec![record])
            }
            _ => Reply::BeforeEdns(confusion, Vec::new()),
        })
        .await;
        let egress = to_loopback(Some(&dns));
        for validate in [false, true] {
            let asked = Question { validate, ..question("old.example", "A") };
            let found = lookup(authenticated(&egress), asked).await.unwrap();
            assert_eq!(found.rcode, "NOERROR", "{confusion:?}");
            assert_eq!(found.records[0].data, "192.0.2.1", "{confusion:?}");
            assert_eq!(found.dnssec, Dnssec::Indeterminate, "nothing is signed: {confusion:?}");
            let none = Question { validate, ..question("old.example", "MX") };
            let none = lookup(authenticated(&egress), none).await.unwrap();
            assert_eq!((none.rcode.as_str(), none.records.len()), ("NOERROR", 0), "{confusion:?}");
        }
        let host = DomainName::parse("old.example").unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        let found = egress.resolver().addresses(&host, deadline).await.unwrap();
        assert_eq!(found, [IpAddr::from([192, 0, 2, 1])], "{confusion:?}");
    }
}

#[tokio::test]
async fn types_that_a_server_does_not_know_are_still_failures() {
    let dns = Dns::new(|_, _, _| Reply::Code(ResponseCode::NotImp)).await;
    let asked = lookup(authenticated(&to_loopback(Some(&dns))), question("site.example", "CAA"));
    assert_eq!(asked.await.unwrap().rcode, "NOTIMP");
}

#[tokio::test]
async fn names_are_absolute_and_asked_once_as_they_are() {
    let dns = Dns::new(|_, _, _| Reply::Code(ResponseCode::NXDomain)).await;
    let egress = to_loopback(Some(&dns));
    for host in ["site", "site.example", "_dmarc.site.example.", "localhost.example"] {
        let _ = lookup(authenticated(&egress), question(host, "TXT")).await.unwrap();
    }
    let mut asked: Vec<_> = dns.asked().into_iter().map(|(name, _)| name).collect();
    // A datagram that is late is sent again; not each of them.
    assert!(asked.len() < 2 * 4, "{asked:?}");
    asked.dedup();
    assert_eq!(asked, ["site", "site.example", "_dmarc.site.example", "localhost.example"]);
}

#[tokio::test]
async fn many_answers_keep_the_order_of_the_questions() {
    let dns = Dns::new(|asked, _, _| {
        let number: u8 = asked.split('.').next().unwrap().trim_start_matches('n').parse().unwrap();
        Reply::Addresses(vec![[192, 0, 2, number].into()])
    })
    .await;
    let questions = (0..12).map(|number| question(&format!("n{number}.example"), "A")).collect();
    let answers = lookup_many(authenticated(&to_loopback(Some(&dns))), questions).await;
    let first =
        |answer: &Result<Answer, NetError>| answer.as_ref().unwrap().records[0].data.clone();
    let found: Vec<_> = answers.iter().map(first).collect();
    assert_eq!(found, (0..12).map(|number| format!("192.0.2.{number}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_type_that_is_never_answered_holds_up_nobody_else() {
    let dns = Dns::new(|_, rtype, _| match rtype {
        RecordType::A => addresses(&["192.0.2.1"]),
        RecordType::CAA | RecordType::DNSKEY | RecordType::DS => Reply::Silence,
        _ => Reply::NoData,
    })
    .await;
    let asked = ["A", "AAAA", "MX", "TXT", "NS", "CAA", "DNSKEY", "DNSKEY", "DNSKEY"];
    let mut took = Vec::new();
    // Three seconds and not five each time, but where the machine is busy.
    while took.len() < ROUNDS && took.iter().all(|took| *took >= Duration::from_millis(4_500)) {
        let questions = asked.iter().map(|rrtype| question("site.example", rrtype)).collect();
        let started = Instant::now();
        let answers = lookup_many(authenticated(&to_loopback(Some(&dns))), questions).await;
        took.push(started.elapsed());
        for (rrtype, answer) in asked.iter().zip(answers) {
            match *rrtype {
                "CAA" | "DNSKEY" => assert_eq!(answer, Err(NetError::Timeout(Phase::Resolve))),
                _ => assert_eq!(answer.unwrap().rcode, "NOERROR", "{rrtype}"),
            }
        }
    }
    let quickest = took.iter().min().unwrap();
    assert!(*quickest < Duration::from_millis(4_500), "one after the other: {took:?}");
}

#[tokio::test]
async fn what_validation_waits_for_does_not_keep_the_records_back() {
    let dns = Dns::new(|asked, rtype, _| {
        let owner = name(&format!("{asked}."));
        let record = |owner, data| Record::from_rdata(owner, 300, data);
        let alias = |to| RData::CNAME(rdata::CNAME(name(to)));
        match rtype {
            RecordType::DS | RecordType::DNSKEY => Reply::Silence,
            RecordType::NS => {
                let server = RData::NS(rdata::NS(name("ns.example.")));
                Reply::Records(vec![record(owner, server)])
            }
            // The keys of each are asked for, one after the other.
            _ => Reply::Records(vec![
                record(name("a.example."), alias("b.example.")),
                record(name("b.example."), alias("c.example.")),
                record(name("c.example."), RData::A(rdata::A::new(192, 0, 2, 1))),
            ]),
        }
    })
    .await;
    let asked = Question { validate: true, ..question("a.example", "A") };
    let found = lookup(authenticated(&to_loopback(Some(&dns))), asked).await.unwrap();
    assert_eq!((found.rcode.as_str(), found.records.len()), ("NOERROR", 3));
    assert_eq!(found.dnssec, Dnssec::Indeterminate);
}

#[tokio::test]
async fn a_server_that_is_silent_to_whoever_wants_signatures_tells_the_records() {
    let dns = Dns::new(|_, rtype, _| match rtype {
        RecordType::A => {
            let data = RData::A(rdata::A::new(192, 0, 2, 1));
            Reply::Unsigned(vec![Record::from_rdata(name("site.example."), 300, data)])
        }
        _ => Reply::Silence,
    })
    .await;
    let asked = Question { validate: true, ..question("site.example", "A") };
    let found = lookup(authenticated(&to_loopback(Some(&dns))), asked).await.unwrap();
    assert_eq!((found.rcode.as_str(), found.records.len()), ("NOERROR", 1));
    assert_eq!(found.dnssec, Dnssec::Indeterminate);
}

#[tokio::test]
async fn a_server_that_refuses_tcp_tells_the_records_that_fit_without_signatures() {
    let dns = Dns::new(|_, rtype, _| match rtype {
        RecordType::A => {
            let data = RData::A(rdata::A::new(192, 0, 2, 1));
            Reply::ShortUnsigned(vec![Record::from_rdata(name("site.example."), 300, data)])
        }
        _ => Reply::Silence,
    })
    .await;
    dns.refuse_tcp();
    let asked = Question { validate: true, ..question("site.example", "A") };
    let found = lookup(authenticated(&to_loopback(Some(&dns))), asked).await.unwrap();
    assert_eq!((found.rcode.as_str(), found.records.len()), ("NOERROR", 1));
    assert_eq!(found.dnssec, Dnssec::Indeterminate);
}

#[tokio::test]
async fn where_the_root_has_no_keys_nothing_is_validated() {
    let dns = Dns::new(|asked, rtype, _| {
        let record = |data| Record::from_rdata(name(&format!("{asked}.")), 300, data);
        match rtype {
            RecordType::A => addresses(&["192.0.2.1"]),
            // A zone begins at every name.
            RecordType::NS => {
                Reply::Records(vec![record(RData::NS(rdata::NS(name("ns.example."))))])
            }
            _ => {
                let (server, person) = (name("ns.example."), name("admin.example."));
                let soa = rdata::SOA::new(server, person, 1, 60, 60, 600, 60);
                Reply::Denied(vec![record(RData::SOA(soa))])
            }
        }
    })
    .await;
    let asked = ["A", "AAAA", "CNAME", "MX", "TXT", "CAA", "NS"];
    let validated = |rrtype| Question { validate: true, ..question("site.example", rrtype) };
    let questions = asked.into_iter().map(validated).collect();
    let answers = lookup_many(authenticated(&to_loopback(Some(&dns))), questions).await;
    for (rrtype, answer) in asked.into_iter().zip(answers) {
        let answer = answer.unwrap();
        assert_eq!(answer.rcode, "NOERROR", "{rrtype}");
        assert_eq!(answer.records.len(), usize::from(matches!(rrtype, "A" | "NS")), "{rrtype}");
        assert_eq!(answer.dnssec, Dnssec::Indeterminate, "{rrtype}");
        assert!(answer.dnssec_detail.is_some(), "{rrtype}");
    }
    let seen = dns.asked();
    assert_eq!(seen[0], (String::new(), RecordType::DNSKEY));
    // A datagram that is late is sent again.
    assert!(seen.len() <= 2 * (1 + asked.len()), "each question is asked once: {seen:?}");
}

#[tokio::test]
async fn a_server_that_refers_to_others_refuses() {
    let dns = Dns::new(|asked, rtype, _| {
        let record = |owner, data| Record::from_rdata(name(owner), 300, data);
        let servers = || record("example.", RData::NS(rdata::NS(name("ns.example."))));
        match (asked, rtype) {
            ("", RecordType::NS) => Reply::Records(vec![record(".", servers().data)]),
            ("none.example", _) => {
                let (server, person) = (name("ns.example."), name("admin.example."));
                let soa = rdata::SOA::new(server, person, 1, 60, 60, 600, 60);
                Reply::Denied(vec![servers(), record("example.", RData::SOA(soa))])
            }
            _ => Reply::Denied(vec![servers()]),
        }
    })
    .await;
    for (host, expected) in [("site.example", "REFUSED"), ("none.example", "NOERROR")] {
        let found = lookup(authenticated(&to_loopback(Some(&dns))), question(host, "A"));
        let found = found.await.unwrap();
        assert_eq!((found.rcode.as_str(), found.records.len()), (expected, 0), "{host}");
    }
}

#[tokio::test]
async fn an_own_resolver_is_vetted_like_any_address() {
    let canary = Canary::on("127.0.0.1").await;
    let dns = Dns::fixed(&["192.0.2.1"]).await;
    let egress = egress(Policy::default(), Some(&dns));
    for server in ["127.0.0.1", "::1", "10.0.0.1", "0x7f.1", "169.254.169.254", "dns.example"] {
        for audience in [Audience::Authenticated, Audience::Public] {
            let mut question = question("site.example", "A");
            question.resolver = Some(server.to_owned());
            let error = lookup(reach(&egress, audience), question).await.unwrap_err();
            let refused = matches!(error, NetError::AddressBlocked(_) | NetError::NotPermitted(_));
            assert!(refused, "{server}: {error}");
        }
    }
    assert_eq!(dns.asked(), [], "the operator's server is not asked in its place");
    canary.assert_untouched().await;
}

#[tokio::test]
async fn the_public_asks_for_public_names_alone() {
    let dns = Dns::fixed(&["192.0.2.1"]).await;
    let egress = egress(Policy::default(), Some(&dns));
    for host in ["router.lan", "x.internal", "localhost", "1.0.0.127.in-addr.arpa", "."] {
        let asked = lookup(reach(&egress, Audience::Public), question(host, "A"));
        assert!(asked.await.is_err(), "{host}");
    }
    assert_eq!(dns.asked(), []);
    assert!(lookup(reach(&egress, Audience::Public), question("a.example", "A")).await.is_ok());
}

pub(crate) fn question(host: &str, rrtype: &str) -> Question {
    Question { name: host.to_owned(), rrtype: rrtype.to_owned(), validate: false, resolver: None }
}
