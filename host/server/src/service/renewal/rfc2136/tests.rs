use hickory_proto::rr::TSigResponseContext;
use vedette_model::{Secret, domain_name::Target};

use super::*;

const OWNER: &str = "_acme-challenge.www.example.com";

fn now() -> Timestamp {
    Timestamp::from_timestamp(1_790_000_000, 0).expect("within the years")
}

fn provider(secret: &[u8], algorithm: Algorithm) -> Rfc2136 {
    Rfc2136 {
        server: Target::parse("192.0.2.1").expect("an address"),
        port: 53,
        zone: "example.com".to_owned(),
        key_name: "renewal-key".to_owned(),
        key_secret: Secret::new(secret.to_vec()),
        algorithm,
    }
}

fn signer(secret: &[u8], algorithm: TsigAlgorithm) -> TSigner {
    let key_name = Name::from_ascii("renewal-key.").expect("a name");
    TSigner::new(secret.to_vec(), algorithm, key_name, FUDGE).expect("supported")
}

fn signed(change: Change) -> Signed {
    let message = update(7, "example.com", OWNER, "proof", change).expect("names");
    sign(message, &provider(b"secret", Algorithm::HmacSha256), now()).expect("signed")
}

/// What a server that knows `secret` answers to a request.
fn answer(request: &Signed, secret: &[u8], code: ResponseCode) -> Vec<u8> {
    let signer = signer(secret, TsigAlgorithm::HmacSha256);
    let seen = Message::from_vec(&request.bytes).expect("a message");
    let mac = seen.signature().expect("signed").data.mac.clone();
    let mut response = Message::response(request.id, OpCode::Update);
    response.metadata.response_code = code;
    let bytes = response.to_vec().expect("a message");
    let at = u64::try_from(now().timestamp()).expect("after 1970");
    let context = TSigResponseContext::new(request.id, at, signer, mac, None);
    response.set_signature(context.sign(&bytes).expect("signed"));
    response.to_vec().expect("a message")
}

#[test]
fn an_update_names_zone_record_and_class() {
    for (change, class) in [(Change::Add, DNSClass::IN), (Change::Remove, DNSClass::NONE)] {
        let bytes = signed(change).bytes;
        let message = Message::from_vec(&bytes).expect("a message");
        assert_eq!((message.metadata.id, message.metadata.op_code), (7, OpCode::Update));
        assert_eq!(message.queries[0].name().to_ascii(), "example.com.");
        assert_eq!(message.queries[0].query_type(), RecordType::SOA);
        assert_eq!((message.queries.len(), message.authorities.len()), (1, 1));
        let record = &message.authorities[0];
        assert_eq!((record.name.to_ascii(), record.dns_class), (format!("{OWNER}."), class));
        assert_eq!(record.data, RData::TXT(TXT::new(vec!["proof".to_owned()])));
    }
}

#[test]
fn an_update_is_signed_with_the_key_and_the_algorithm() {
    for (algorithm, wire) in [
        (Algorithm::HmacSha256, TsigAlgorithm::HmacSha256),
        (Algorithm::HmacSha512, TsigAlgorithm::HmacSha512),
    ] {
        let message = update(7, "example.com", OWNER, "proof", Change::Add).expect("names");
        let signed = sign(message, &provider(b"secret", algorithm), now()).expect("signed");
        let known = signer(b"secret", wire.clone());
        let (_, at, _) = known.verify_message_byte(&signed.bytes, None, true).expect("valid");
        assert_eq!(i64::try_from(at), Ok(now().timestamp()));
        let other = signer(b"another", wire);
        assert!(other.verify_message_byte(&signed.bytes, None, true).is_err());
    }
}

#[test]
fn only_an_answer_signed_with_the_key_is_believed() {
    let request = signed(Change::Add);
    let good = answer(&request, b"secret", ResponseCode::NoError);
    accepted(&good, request).expect("the server's own");

    let request = signed(Change::Add);
    let forged = answer(&request, b"another", ResponseCode::NoError);
    assert!(accepted(&forged, request).expect_err("forged").contains("signature"));

    let bare = Message::response(7, OpCode::Update).to_vec().expect("a message");
    assert!(accepted(&bare, signed(Change::Add)).expect_err("unsigned").contains("signature"));

    let other = Message::response(8, OpCode::Update).to_vec().expect("a message");
    for bytes in [&other[..], b"", b"HTTP/1.1 400"] {
        let said = accepted(bytes, signed(Change::Add)).expect_err("no answer");
        assert!(said.contains("cannot be read"), "{said}");
    }
}

#[test]
fn refusals_say_what_to_compare() {
    for (code, word) in [
        (ResponseCode::NotAuth, "key_secret"),
        (ResponseCode::Refused, "allow the key"),
        (ResponseCode::ServFail, "did not make"),
    ] {
        let mut refusal = Message::response(7, OpCode::Update);
        refusal.metadata.response_code = code;
        let refusal = refusal.to_vec().expect("a message");
        let said = accepted(&refusal, signed(Change::Add)).expect_err("refused");
        assert!(said.contains(word), "{code}: {said}");
    }
}
