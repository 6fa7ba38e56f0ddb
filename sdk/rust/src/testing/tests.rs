use super::*;

#[test]
fn state_ends_with_its_time_and_keeps_scopes_apart() {
    let host = Host::new();
    let cx = host.cx();
    let site = cx.state(Scope::Site);
    site.set("seen", b"1", Some(Duration::from_secs(60))).unwrap();
    assert_eq!(site.get("seen").unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(cx.state(Scope::Shared).get("seen"), Ok(None));
    host.set_now(cx.now() + 60);
    assert_eq!(site.get("seen"), Ok(None));
}

#[test]
fn many_questions_are_answered_in_their_order() {
    let host = Host::new();
    host.dns(|question| match question.name.as_str() {
        "gone.example" => Err(NetError::NameNotFound),
        name => Ok(Answer {
            rcode: "NOERROR".to_owned(),
            records: Vec::new(),
            dnssec: crate::dns::Dnssec::Insecure,
            dnssec_detail: None,
            server: name.to_owned(),
            elapsed_us: 1,
        }),
    });
    let question = |name: &str| Question {
        name: name.to_owned(),
        rrtype: "A".to_owned(),
        validate: false,
        resolver: None,
    };
    let answers = host.cx().lookup_many(&[question("gone.example"), question("a.example")]);
    assert_eq!(answers[0], Err(NetError::NameNotFound));
    assert_eq!(answers[1].as_ref().unwrap().server, "a.example");
}

#[test]
fn dialogue_goes_step_by_step() {
    let host = Host::new();
    host.connection(|endpoint| {
        assert_eq!(endpoint.port, 25);
        let mut said = Vec::new();
        Ok(Box::new(move |step| match step {
            Step::Write(data) => {
                said = data.to_ascii_uppercase();
                Ok(Vec::new())
            }
            Step::Read { max } => Ok(said.drain(..said.len().min(max as usize)).collect()),
            Step::StartTls { .. } => Err(NetError::Reset),
        }))
    });
    let endpoint = Endpoint { host: "mx.example".to_owned(), port: 25, connect_to: None };
    let line = host.cx().connect(&endpoint, 1_000).unwrap();
    line.write(b"ehlo", 1_000).unwrap();
    assert_eq!(line.read(3, 1_000).unwrap(), b"EHL");
    assert_eq!(line.read(3, 1_000).unwrap(), b"O");
    assert_eq!(line.read(3, 1_000).unwrap(), b"");
    assert_eq!(line.start_tls("mx.example", 1_000), Err(NetError::Reset));
}

#[test]
fn log_and_clock_and_random_are_the_tests_own() {
    let host = Host::new();
    let cx = host.cx();
    cx.log(Level::Warn, "slow", &[("ms", "7")]);
    assert_eq!(host.logged()[0].fields, [("ms".to_owned(), "7".to_owned())]);
    assert_eq!(cx.random(3), [0, 1, 2]);
    assert_eq!(cx.random(1), [3]);
    assert_eq!(cx.now_ms(), cx.now() * 1_000);
    assert_eq!(cx.remaining(), Duration::from_secs(10));
}

#[test]
fn probe_leaves_the_run_its_reserve_and_is_never_without_a_timeout() {
    let host = Host::new();
    let (at_most, reserve) = (Duration::from_secs(8), Duration::from_millis(500));
    for (left_ms, expected) in
        [(30_000, 8_000), (8_500, 8_000), (5_000, 4_500), (501, 1), (500, 1), (0, 1)]
    {
        host.set_remaining(Duration::from_millis(left_ms));
        assert_eq!(host.cx().timeout_ms(at_most, reserve), expected, "{left_ms}");
    }
    assert_eq!(host.cx().timeout_ms(Duration::ZERO, Duration::ZERO), 1);
    host.set_remaining(Duration::MAX);
    assert_eq!(host.cx().timeout_ms(Duration::MAX, Duration::ZERO), u32::MAX);
}

#[test]
fn answer_breaks_off_only_where_a_script_says_so() {
    let response = Response {
        status: 200,
        headers: Vec::new(),
        body: Vec::new(),
        truncated: false,
        final_url: "https://a.example/".to_owned(),
        hops: Vec::new(),
        peer_address: "192.0.2.7".to_owned(),
        timing: crate::net::Timing {
            resolve_us: None,
            connect_us: None,
            tls_us: None,
            first_byte_us: None,
            total_us: 1,
        },
    };
    let host = Host::new();
    let whole = Arrival { response: response.clone(), failure: None };
    host.http(move |_| Ok(response.clone()));
    assert_eq!(host.cx().fetch_partial(&request()), Ok(whole.clone()));
    let broken = Arrival { failure: Some(NetError::Reset), ..whole };
    let said = broken.clone();
    host.http_partial(move |_| Ok(said.clone()));
    assert_eq!(host.cx().fetch_partial(&request()), Ok(broken));
}

#[test]
#[should_panic(expected = "no script answers Request")]
fn call_without_a_script_fails_the_test() {
    let _ = Host::new().cx().fetch(&request());
}

fn request() -> Request {
    Request::get("https://a.example/", 1_000, 0)
}
