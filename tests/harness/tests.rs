//! The rigs themselves: a test that leans on them must be able to.

use std::{sync::Arc, time::Duration};

use hickory_proto::{
    op::{Edns, Message, MessageType, OpCode, Query},
    rr::{DNSClass, Name, Record},
    serialize::binary::BinEncodable,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
};

use crate::*;

async fn ask(dns: &Dns, name: &str, record_type: RecordType) -> Message {
    let mut question = Message::new(7, MessageType::Query, OpCode::Query);
    question.add_query(Query::query(Name::from_ascii(name).expect("a name"), record_type));
    let mut edns = Edns::new();
    edns.set_max_payload(1232);
    question.set_edns(edns);
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("free port");
    let bytes = question.to_bytes().expect("a question");
    socket.send_to(&bytes, dns.address()).await.expect("sent");
    let mut buffer = [0; 4096];
    let length = socket.recv(&mut buffer).await.expect("answered");
    Message::from_vec(&buffer[..length]).expect("an answer")
}

#[tokio::test]
async fn aliases_are_followed_and_loops_end() {
    let dns = Dns::start().await.expect("free port");
    dns.answer("www.example", Reply::Records(vec![record::cname("edge.example")]));
    dns.answer("edge.example", Reply::Records(vec![record::address("127.0.0.7")]));
    dns.answer("one.example", Reply::Records(vec![record::cname("two.example")]));
    dns.answer("two.example", Reply::Records(vec![record::cname("one.example")]));
    dns.answer("lost.example", Reply::Records(vec![record::cname("gone.example")]));
    let cases = [
        ("www.example.", RecordType::A, ResponseCode::NoError, 2),
        ("www.example.", RecordType::CNAME, ResponseCode::NoError, 1),
        ("www.example.", RecordType::MX, ResponseCode::NoError, 1),
        ("one.example.", RecordType::A, ResponseCode::NoError, 2),
        ("lost.example.", RecordType::A, ResponseCode::NXDomain, 1),
        ("gone.example.", RecordType::A, ResponseCode::NXDomain, 0),
    ];
    for (name, record_type, code, records) in cases {
        let answer = ask(&dns, name, record_type).await;
        assert_eq!(answer.metadata.response_code, code, "{name} {record_type}");
        assert_eq!(answer.answers.len(), records, "{name} {record_type}");
    }
    assert_eq!(dns.asked("www.example", RecordType::A), 1);
}

#[tokio::test]
async fn updates_are_made_for_the_key_alone() {
    let dns = Dns::start().await.expect("free port");
    let (key, other) = (UpdateKey::new("one-key"), UpdateKey::new("other-key"));
    dns.take_updates(&key);
    let txt = || record::txt(&[b"proof"]);
    for (key, class, code, left) in [
        (&other, DNSClass::IN, ResponseCode::NotAuth, 0),
        (&key, DNSClass::IN, ResponseCode::NoError, 1),
        (&key, DNSClass::IN, ResponseCode::NoError, 1),
        (&other, DNSClass::NONE, ResponseCode::NotAuth, 1),
        (&key, DNSClass::NONE, ResponseCode::NoError, 0),
    ] {
        let name = Name::from_ascii("_proof.shop.example.").expect("a name");
        let mut record = Record::from_rdata(name, 0, txt());
        record.dns_class = class;
        let mut update = Message::new(7, MessageType::Query, OpCode::Update);
        let zone = Name::from_ascii("shop.example.").expect("a name");
        update.add_query(Query::query(zone, RecordType::SOA));
        update.add_authority(record);
        let now = std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
        update.finalize(&key.signer(), now).expect("signed");
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("free port");
        let bytes = update.to_bytes().expect("an update");
        socket.send_to(&bytes, dns.address()).await.expect("sent");
        let mut buffer = [0; 4096];
        let length = socket.recv(&mut buffer).await.expect("answered");
        let answer = Message::from_vec(&buffer[..length]).expect("an answer");
        assert_eq!(answer.metadata.response_code, code);
        assert_eq!(dns.records("_proof.shop.example", RecordType::TXT).len(), left);
    }
}

#[tokio::test]
async fn one_type_may_fail_or_rotate_beside_the_others() {
    let dns = Dns::start().await.expect("free port");
    dns.answer("mixed.example", Reply::Records(vec![record::mx(10, "mx.example")]));
    let failure = Reply::Failure(ResponseCode::ServFail);
    dns.answer_type("mixed.example", RecordType::TXT, failure);
    let address = |ip| Reply::Records(vec![record::address(ip)]);
    let turns = vec![address("127.0.0.1"), address("127.0.0.2")];
    dns.answer_type("mixed.example", RecordType::A, Reply::Rotation(turns));
    let text = ask(&dns, "mixed.example.", RecordType::TXT).await;
    assert_eq!(text.metadata.response_code, ResponseCode::ServFail);
    assert_eq!(ask(&dns, "mixed.example.", RecordType::MX).await.answers.len(), 1);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let answer = ask(&dns, "mixed.example.", RecordType::A).await;
        seen.push(answer.answers[0].data.to_string());
    }
    assert_eq!(seen, ["127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2"]);
    dns.forget("mixed.example");
    let gone = ask(&dns, "mixed.example.", RecordType::MX).await;
    assert_eq!(gone.metadata.response_code, ResponseCode::NXDomain);
}

#[tokio::test]
async fn a_recursor_without_its_way_out_knows_what_it_has_kept() {
    let dns = Dns::start().await.expect("free port");
    dns.answer("kept.example", Reply::Records(vec![record::address("127.0.0.1")]));
    dns.lose_its_way_out();
    for (name, code, count) in [
        ("kept.example.", ResponseCode::NoError, 1),
        (".", ResponseCode::NoError, 0),
        ("vedette-1.example.", ResponseCode::ServFail, 0),
    ] {
        let answer = ask(&dns, name, RecordType::A).await;
        assert_eq!((answer.metadata.response_code, answer.answers.len()), (code, count), "{name}");
    }
    assert_eq!(dns.asked_for_nobody(), 1);
    dns.answer_again();
    let gone = ask(&dns, "vedette-1.example.", RecordType::A).await;
    assert_eq!(gone.metadata.response_code, ResponseCode::NXDomain);
}

#[tokio::test]
async fn a_large_answer_is_cut_by_udp_and_whole_by_tcp() {
    let dns = Dns::start().await.expect("free port");
    let records = (0..20_u8).map(|number| record::txt(&[&[b'a' + number; 200]])).collect();
    dns.answer("large.example", Reply::Records(records));
    let cut = ask(&dns, "large.example.", RecordType::TXT).await;
    assert!(cut.metadata.truncation && cut.answers.len() < 20);

    let mut question = Message::new(8, MessageType::Query, OpCode::Query);
    let name = Name::from_ascii("large.example.").expect("a name");
    question.add_query(Query::query(name, RecordType::TXT));
    let bytes = question.to_bytes().expect("a question");
    let mut stream = TcpStream::connect(dns.address()).await.expect("listening");
    stream.write_u16(u16::try_from(bytes.len()).expect("short")).await.expect("sent");
    stream.write_all(&bytes).await.expect("sent");
    let mut answer = vec![0; usize::from(stream.read_u16().await.expect("answered"))];
    stream.read_exact(&mut answer).await.expect("answered");
    assert_eq!(Message::from_vec(&answer).expect("an answer").answers.len(), 20);
}

#[tokio::test]
async fn scripts_are_played_as_written() {
    let pages = Pages::plain().await.expect("free port");
    let pause = Duration::from_millis(50);
    pages.at("/chunks", Script::chunks(&["one", "two"], pause));
    pages.at("/late", Script::html("late").late(pause));
    pages.at("/reset", Script::reset());
    let packed = gzip(b"packed").await.expect("compressed");
    pages.at("/packed", Script::reply(200, &[("content-encoding", "gzip")], packed));
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let get = |path: &str| client.get(pages.url(path)).send();
    for (path, status, body) in [
        ("/chunks", 200, "onetwo"),
        ("/late", 200, "late"),
        ("/packed", 200, "packed"),
        ("/x", 404, ""),
    ] {
        let answer = get(path).await.expect("an answer");
        assert_eq!(answer.status().as_u16(), status, "{path}");
        assert_eq!(answer.text().await.expect("a body"), body, "{path}");
    }
    assert!(get("/reset").await.is_err());
    let asked = pages.asked("/late");
    assert_eq!((asked.len(), asked[0].method.as_str()), (1, "GET"));
    assert!(asked[0].header("host").is_some_and(|host| host.starts_with("127.0.0.1:")));
    assert_eq!(pages.web().connections(), 5);
}

#[tokio::test]
async fn whois_answers_by_object_and_by_zone() {
    let registry = Registry::start(&["example"]).await.expect("free ports");
    registry.whois.root.answer("lab", "refer: whois.example.net\n");
    let desk = &registry.whois.registry;
    desk.answer("shop.lab", "Domain Name: SHOP.LAB\n");
    let query = async |address, question: &str| {
        let mut stream = TcpStream::connect(address).await.expect("listening");
        stream.write_all(format!("{question}\r\n").as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer and its end");
        answer
    };
    let root = registry.whois.root.address();
    assert_eq!(root.port(), desk.address().port());
    assert!(query(root, "shop.lab").await.starts_with("refer:"));
    assert_eq!(query(desk.address(), "-T dn,ace shop.lab").await, "Domain Name: SHOP.LAB\r\n");
    assert!(query(desk.address(), "other.lab").await.contains("No match"));
    assert_eq!(desk.asked(), ["-T dn,ace shop.lab", "other.lab"]);
    assert_eq!(desk.asked_about("shop.lab"), 1);
}

#[tokio::test]
async fn an_old_server_accepts_its_suite_alone() {
    install_crypto();
    let authority = Authority::new("Old Root").expect("an authority");
    let leaf = Leaf::for_names(&["aged.example"]).rsa();
    let certificate = authority.issue(&leaf).expect("signed");
    let leaf = certificate.chain[0].to_vec();
    let server = OldTls { version: 0x0301, suite: 0x002f, certificate };
    let peer = Peer::start(Manner::OldTls(Arc::new(server))).await.expect("free port");
    for (version, suite, content, detail) in
        [([3, 3], 0x2f, 22, 2), ([3, 1], 0x2f, 22, 2), ([3, 3], 0x35, 21, 2), ([3, 0], 0x2f, 21, 2)]
    {
        let random = [9; 32];
        let hello = [&version[..], &random[..], &[0, 0, 2, 0, suite, 1, 0][..]].concat();
        let length = u8::try_from(hello.len()).expect("short");
        let record =
            [&[22, 3, 1, 0, length + 4, 1, 0, 0, length][..], &hello, &[21, 3, 1, 0, 2, 2, 40]]
                .concat();
        let mut stream = TcpStream::connect(peer.address()).await.expect("listening");
        stream.write_all(&record).await.expect("sent");
        let mut answer = vec![0; 7];
        stream.read_exact(&mut answer).await.expect("a record");
        assert_eq!((answer[0], answer[5]), (content, detail), "{version:?} {suite}");
        stream.shutdown().await.expect("still open");
        stream.read_to_end(&mut answer).await.expect("an end without a reset");
        let shows = answer.windows(leaf.len()).any(|window| window == leaf);
        assert_eq!(shows, content == 22);
    }
}
