//! Reports: read, and judged look by look.

mod places;

use serde_json::Value;

use super::*;

fn entry() -> Value {
    json!({
        "subject": "CN=db01,O=Corp", "issuer": "CN=Corp CA,O=Corp",
        "not_after": "2027-01-25T08:00:00Z",
    })
}

fn result() -> Value {
    json!({ "host": "db01", "port": 8443, "certificates": [entry()] })
}

fn report(results: Value) -> Result<Report, Invalid> {
    Report::parse(&json!({ "agent_id": agent_id(), "results": results }))
}

/// The one look of a report, with these members changed.
fn look(change: Value) -> Look {
    let mut result = result();
    merge(&mut result, &change);
    report(json!([result])).expect("a good report").looks.remove(0)
}

/// The same with members of its one certificate changed.
fn seen(change: Value) -> Look {
    let mut entry = entry();
    merge(&mut entry, &change);
    look(json!({ "certificates": [entry] }))
}

fn merge(into: &mut Value, change: &Value) {
    for (name, value) in change.as_object().expect("members") {
        into[name] = value.clone();
    }
}

#[test]
fn a_report_is_read_in_full() {
    let certificate = json!({
        "subject": "CN=db01", "issuer": "CN=Corp CA", "serial_number": "0a", "is_valid": false,
        "not_before": "2026-01-01", "not_after": "2027-01-25T10:00:00+02:00",
        "fingerprint_sha256": "AB:CD", "san": ["db01", "10.0.0.5"], "error": "untrusted_root",
    });
    let results = json!([
        {
            "host": "DB01.Corp.Internal.", "port": 1, "checked_at": "2027-01-15T07:00:00Z",
            "error": null, "certificates": [certificate, entry()],
        },
        { "host": "2001:DB8::1", "port": 65535, "certificates": [], "error": "connection_refused" },
    ]);
    let report = report(results).unwrap();
    assert_eq!((report.agent_id, report.looks.len(), report.certificates()), (agent_id(), 2, 2));
    let [first, second] = &report.looks[..] else { panic!("two looks") };
    assert_eq!((first.place.host.as_str(), first.place.port), ("db01.corp.internal", 1));
    assert_eq!((first.checked_at, first.error.as_deref()), (Some(at(-60)), None));
    let leaf = &first.certificates[0];
    assert_eq!(leaf.not_before, Some("2026-01-01T00:00:00Z".parse().unwrap()));
    assert_eq!(leaf.not_after, "2027-01-25T08:00:00Z".parse::<Timestamp>().unwrap());
    assert_eq!((leaf.san.len(), leaf.is_valid, leaf.identity().as_str()), (2, Some(false), "abcd"));
    assert_eq!((second.place.host.as_str(), second.place.port), ("2001:db8::1", 65_535));
    assert_eq!(second.error.as_deref(), Some("connection_refused"));
    let stored = serde_json::to_string(leaf).unwrap();
    assert_eq!(serde_json::from_str::<Certificate>(&stored).unwrap(), *leaf);
}

#[test]
fn any_host_is_fine_that_is_one() {
    for (host, read) in [
        ("db01", "db01"),
        ("DB01.", "db01"),
        ("db.internal", "db.internal"),
        ("_ldap.corp", "_ldap.corp"),
        ("localhost", "localhost"),
        ("b\u{fc}cher.intern", "xn--bcher-kva.intern"),
        ("10.0.0.5", "10.0.0.5"),
        ("127.0.0.1", "127.0.0.1"),
        ("FE80::1", "fe80::1"),
    ] {
        assert_eq!(look(json!({ "host": host })).place.host, read, "{host}");
    }
    let long = "a".repeat(64);
    for bad in ["", " ", "a b", "https://db01", "db01:443", "[::1]", "-a", "a/b", "*.corp", &long] {
        let mut result = result();
        result["host"] = json!(bad);
        assert_eq!(report(json!([result])).unwrap_err().field, "results[0].host", "{bad}");
    }
}

#[test]
fn what_does_not_fit_is_named_by_its_place() {
    // The bad one is not the first.
    let with = |name: &str, value: Value| {
        let mut bad = result();
        bad[name] = value;
        json!([result(), bad])
    };
    let within = |name: &str, value: Value| {
        let mut bad = entry();
        bad[name] = value;
        with("certificates", json!([entry(), bad]))
    };
    let cases = [
        (json!({}), "results"),
        (json!("x"), "results"),
        (json!(vec![0; 501]), "results"),
        (json!([5]), "results[0]"),
        (json!([{}]), "results[0].host"),
        (with("host", json!(null)), "results[1].host"),
        (with("port", json!(null)), "results[1].port"),
        (with("port", json!(0)), "results[1].port"),
        (with("port", json!(65_536)), "results[1].port"),
        (with("port", json!("443")), "results[1].port"),
        (with("checked_at", json!("yesterday")), "results[1].checked_at"),
        (with("checked_at", json!(5)), "results[1].checked_at"),
        (with("error", json!({})), "results[1].error"),
        (with("certificates", json!(null)), "results[1].certificates"),
        (with("certificates", json!({})), "results[1].certificates"),
        (with("certificates", json!(vec![entry(); 21])), "results[1].certificates"),
        (with("certificates", json!(["x"])), "results[1].certificates[0]"),
        (with("certificates", json!([{}])), "results[1].certificates[0].subject"),
        (within("subject", json!(5)), "results[1].certificates[1].subject"),
        (within("issuer", json!(null)), "results[1].certificates[1].issuer"),
        (within("serial_number", json!(17)), "results[1].certificates[1].serial_number"),
        (within("not_before", json!("2027")), "results[1].certificates[1].not_before"),
        (within("not_after", json!(null)), "results[1].certificates[1].not_after"),
        (within("not_after", json!("soon")), "results[1].certificates[1].not_after"),
        (within("fingerprint_sha256", json!([])), "results[1].certificates[1].fingerprint_sha256"),
        (within("san", json!("db01")), "results[1].certificates[1].san"),
        (within("san", json!(["a", 5])), "results[1].certificates[1].san[1]"),
        (within("is_valid", json!("yes")), "results[1].certificates[1].is_valid"),
        (within("error", json!("e".repeat(1_001))), "results[1].certificates[1].error"),
    ];
    for (results, field) in cases {
        assert_eq!(report(results.clone()).unwrap_err().field, field, "{results}");
    }
    for (bad, field) in [
        (json!([]), "body"),
        (json!({ "results": [] }), "agent_id"),
        (json!({ "agent_id": "17", "results": [] }), "agent_id"),
        (json!({ "agent_id": agent_id() }), "results"),
    ] {
        assert_eq!(Report::parse(&bad).unwrap_err().field, field, "{bad}");
    }
    assert!(report(json!([])).unwrap().looks.is_empty());
}

#[test]
fn an_entry_that_tells_of_no_certificate_but_why_not_is_a_look_that_saw_none() {
    let broken = json!({
        "subject": null, "issuer": null, "not_after": null, "is_valid": false,
        "error": "x509: malformed certificate",
    });
    let half = json!({ "subject": "CN=db01", "error": "x509: malformed certificate" });
    let malformed = Some("x509: malformed certificate");
    for (entries, certificates, error) in [
        (json!([broken]), 0, malformed),
        (json!([half]), 0, malformed),
        (json!([{ "error": "connection_refused" }]), 0, Some("connection_refused")),
        // The issuer must not pass for the leaf.
        (json!([broken, entry()]), 0, malformed),
        (json!([entry(), broken]), 1, None),
    ] {
        let look = look(json!({ "certificates": entries }));
        assert_eq!(
            (look.certificates.len(), look.error.as_deref()),
            (certificates, error),
            "{entries}"
        );
    }
    let long = look(json!({ "certificates": [{ "error": "\u{fc}".repeat(1_001) }] }));
    assert_eq!(long.error, Some("\u{fc}".repeat(1_000)));
    let both = look(json!({ "certificates": [broken], "error": "tls_handshake_failed" }));
    assert_eq!(both.verdict(at(0)).error.as_deref(), malformed);
    for (entry, field) in [
        (json!({ "error": null }), "subject"),
        (json!({ "error": "" }), "subject"),
        (json!({ "subject": "CN=db01", "is_valid": false }), "issuer"),
        (json!({ "error": 5 }), "error"),
    ] {
        let mut bad = result();
        bad["certificates"] = json!([entry]);
        let field = format!("results[0].certificates[0].{field}");
        assert_eq!(report(json!([bad])).unwrap_err().field, field, "{entry}");
    }
}

#[test]
fn a_certificate_is_known_again_by_its_fingerprint_or_by_what_else_is_told() {
    let identity = |change: Value| seen(change).certificates[0].identity();
    let told = json!({ "serial_number": "0A:17" });
    for same in [
        json!({ "serial_number": "0a17" }),
        json!({ "serial_number": "0a17", "fingerprint_sha256": "" }),
        json!({ "serial_number": "0a17", "san": ["db01"], "is_valid": false, "error": "x" }),
    ] {
        assert_eq!(identity(same.clone()), identity(told.clone()), "{same}");
    }
    for other in [
        json!({}),
        json!({ "serial_number": "0a18" }),
        json!({ "serial_number": "0a17", "issuer": "CN=Other CA" }),
        json!({ "serial_number": "0a17", "subject": "CN=db02" }),
        json!({ "serial_number": "0a17", "not_after": at(30) }),
    ] {
        assert_ne!(identity(other.clone()), identity(told.clone()), "{other}");
    }
    let named = json!({ "serial_number": "0a17", "fingerprint_sha256": "AB:CD" });
    assert_eq!(identity(named), "abcd");
    let result = seen(told.clone()).result(at(0));
    assert_eq!(result["chain"][0]["fingerprint"], json!(identity(told)));
}

#[test]
fn what_the_agent_found_counts_and_else_the_dates() {
    let told = |look: Look| {
        let Verdict { is_valid, error } = look.verdict(at(0));
        (is_valid, error)
    };
    let some = |token: &str| Some(token.to_owned());
    for (change, verdict) in [
        (json!({}), (true, None)),
        (json!({ "not_before": at(0) }), (true, None)),
        (json!({ "not_before": at(1) }), (false, some("certificate_not_yet_valid"))),
        (json!({ "not_after": at(1) }), (true, None)),
        (json!({ "not_after": at(0) }), (false, some("certificate_expired"))),
        (json!({ "error": "untrusted_root" }), (false, some("untrusted_root"))),
        (json!({ "error": "untrusted_root", "is_valid": true }), (true, None)),
        // Programs that always write the member leave it empty where nothing is wrong.
        (json!({ "error": "" }), (true, None)),
        (json!({ "error": " " }), (true, None)),
        (json!({ "error": "", "is_valid": false }), (false, None)),
        (json!({ "error": "", "not_after": at(0) }), (false, some("certificate_expired"))),
        (json!({ "is_valid": false }), (false, None)),
        (json!({ "is_valid": false, "not_after": at(-1) }), (false, some("certificate_expired"))),
        (json!({ "is_valid": true, "not_after": at(-1) }), (true, None)),
    ] {
        assert_eq!(told(seen(change.clone())), verdict, "{change}");
    }
    let look_of = |error: &str, certificates: Value| {
        look(json!({ "error": error, "certificates": certificates }))
    };
    assert_eq!(told(look_of("", json!([entry()]))), (true, None));
    assert_eq!(told(look_of("", json!([]))), (false, some("no_certificate")));
    let refused = look_of("connection_refused", json!([]));
    assert_eq!(told(refused), (false, some("connection_refused")));
    let mismatch = look_of("hostname_mismatch", json!([entry()]));
    assert_eq!(told(mismatch), (false, some("hostname_mismatch")));
    assert_eq!(told(look(json!({ "certificates": [] }))), (false, some("no_certificate")));
}

#[test]
fn a_look_makes_the_result_of_the_certificate_check() {
    let whole = seen(json!({
        "serial_number": "0a", "not_before": "2026-01-01T00:00:00Z",
        "fingerprint_sha256": "AA01", "san": ["db01"],
    }));
    assert_eq!(
        whole.result(at(1)),
        json!({
            "domain": "db01:8443", "valid": true, "issuer": "Corp CA", "issuer_org": "Corp",
            "valid_from": "2026-01-01T00:00:00Z", "valid_to": "2027-01-25T08:00:00Z",
            "expires_at": "2027-01-25T08:00:00Z", "days_remaining": 9, "san": ["db01"],
            "chain": [{
                "subject": "CN=db01,O=Corp", "issuer": "CN=Corp CA,O=Corp", "serial_number": "0a",
                "valid_from": "2026-01-01T00:00:00Z", "valid_to": "2027-01-25T08:00:00Z",
                "days_remaining": 9, "fingerprint": "aa01",
            }],
            "chain_complete": true, "chain_error": null, "protocol_version": null,
            "cipher_name": null, "cipher_strength": null, "tls_grade": null, "hsts": null,
            "ocsp_stapling": null, "mixed_content": null, "error": null,
        })
    );
    let expired = seen(json!({ "not_after": at(-1) })).result(at(0));
    assert_eq!((&expired["days_remaining"], &expired["valid"]), (&json!(-1), &json!(false)));
    let cut = seen(json!({ "error": "incomplete_chain" })).result(at(0));
    assert_eq!(
        (&cut["chain_complete"], &cut["error"]),
        (&json!(false), &json!("incomplete_chain"))
    );
    let nothing = look(json!({ "certificates": [], "error": "connection_timeout" })).result(at(0));
    for (field, value) in [
        ("valid", json!(false)),
        ("issuer", json!("")),
        ("expires_at", json!(null)),
        ("days_remaining", json!(null)),
        ("chain", json!([])),
        ("san", json!([])),
        ("chain_complete", json!(false)),
        ("error", json!("connection_timeout")),
    ] {
        assert_eq!(nothing[field], value, "{field}");
    }
    let silent = look(json!({ "certificates": [] })).result(at(0));
    assert_eq!((&silent["valid"], &silent["error"]), (&json!(false), &json!("no_certificate")));
}

#[test]
fn looks_are_taken_in_the_order_in_which_they_were_made() {
    let of = |host: &str, checked_at: Value| json!({ "host": host, "port": 443, "certificates": [], "checked_at": checked_at });
    let results =
        json!([of("now", json!(null)), of("early", json!(at(-9))), of("ahead", json!(at(9)))]);
    let looks = report(results).unwrap().oldest_first(at(0), Vec::new());
    let order: Vec<_> = looks.iter().map(|(at, look)| (*at, look.place.host.as_str())).collect();
    assert_eq!(order, [(at(-9), "early"), (at(0), "now"), (at(0), "ahead")]);
}
