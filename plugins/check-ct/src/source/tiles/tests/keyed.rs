use super::*;

#[test]
fn log_with_a_key_is_read_when_it_signs() {
    let log = Log::of(300);
    log.add_certificate(&fixture::leaf());
    log.0.borrow_mut().keys = vec![key::tests::signing(8), key::tests::signing(7)];
    let host = log.host();
    for secret in [7, 8] {
        let answer = log.read_signed(secret, &host).expect("an answer");
        assert_eq!(serials(&answer), ["abc"], "key {secret}");
    }
    assert!(host.logged().is_empty());
}

#[test]
fn log_with_a_key_that_does_not_sign_is_no_source() {
    for keys in [vec![], vec![key::tests::signing(8)]] {
        let log = Log::of(300);
        log.0.borrow_mut().keys = keys;
        let host = log.host();
        assert!(log.read(&host, None).is_ok(), "without a key nothing is verified");
        log.0.borrow_mut().asked.clear();
        assert_eq!(log.read_signed(7, &host).err(), Some(UNAVAILABLE));
        assert_eq!(log.0.borrow().asked, ["/checkpoint"], "nothing below it is asked for");
        let logged = host.logged();
        assert_eq!(logged.len(), 1, "{logged:?}");
        assert!(logged[0].message.contains("not signed with the log's key"), "{logged:?}");
    }
}

#[test]
fn next_source_is_asked_when_a_signature_does_not_verify() {
    let log = Log::of(300);
    log.0.borrow_mut().keys = vec![key::tests::signing(7)];
    let (host, state) = (log.host(), log.clone());
    host.http(move |request| {
        Ok(match request.url.strip_prefix(URL) {
            Some(path) => {
                // Another size under the signature of the true one.
                let body = state.0.borrow().answer(path).expect("an answer");
                let text = String::from_utf8(body).expect("a checkpoint is text");
                response(200, text.replacen("\n300\n", "\n299\n", 1).as_bytes())
            }
            None => response(200, b"[]"),
        })
    });
    let settings = serde_json::json!({"sources": [
        {"kind": "static", "url": URL, "key": key::tests::encoded(&key::tests::signing(7))},
        {"kind": "crtsh", "url": "https://crt.example"},
    ]});
    let job = Job { settings: settings.to_string(), ..Job::new(DOMAIN, Config::default()) };
    let facts = Ct::run(&host.cx(), job).expect("the check works").facts;
    assert_eq!((facts.source.as_deref(), facts.error), (Some("crtsh"), None));
    let logged = host.logged();
    let told = logged.iter().filter(|line| line.message.contains("signature")).count();
    assert_eq!(told, 1, "{logged:?}");
}

#[test]
fn tree_head_that_nobody_verified_says_nothing_against_a_signed_one() {
    let log = Log::of(300);
    let host = log.host();
    assert!(log.read(&host, None).is_ok());
    log.0.borrow_mut().claimed = Some(299);
    log.0.borrow_mut().keys = vec![key::tests::signing(7)];
    assert!(log.read_signed(7, &host).is_ok());
    log.0.borrow_mut().claimed = Some(298);
    assert_eq!(log.read_signed(7, &host).err(), Some(UNAVAILABLE), "a signed one does");
}
