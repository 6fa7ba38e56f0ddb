use chrono::{TimeZone, Utc};
use serde_json::{Value, json};

use super::*;

const ISSUER: &str = "https://login.example/";
const AUDIENCE: &str = "vedette";

fn noon() -> Timestamp {
    Utc.with_ymd_and_hms(2026, 11, 20, 12, 0, 0).unwrap()
}

/// Good claims, with these members on top; null takes one away.
fn claims(change: Value) -> Option<Claims> {
    let now = noon().timestamp();
    let mut claims = json!({
        "iss": ISSUER, "sub": "user-1", "aud": AUDIENCE, "iat": now - 10, "exp": now + 300,
        "email": "Ops@Example.com", "email_verified": true, "name": "Ops", "roles": ["a", 1],
    });
    for (name, value) in change.as_object().unwrap() {
        claims[name] = value.clone();
    }
    serde_json::from_value(claims).ok()
}

fn hold(change: Value) -> bool {
    claims(change).is_some_and(|claims| claims.hold(ISSUER, AUDIENCE, noon()))
}

#[test]
fn good_claims_hold() {
    let now = noon().timestamp();
    for change in [
        json!({}),
        json!({"aud": [AUDIENCE]}),
        json!({"aud": ["other", AUDIENCE]}),
        json!({"iat": null, "nbf": null}),
        json!({"iat": now + 60, "nbf": now + 60}),
        json!({"iat": now as f64 + 0.5, "exp": now as f64 + 0.5}),
        json!({"exp": now + 1}),
        json!({"exp": 253_402_300_799_i64}),
        json!({"sub": "x".repeat(255)}),
        json!({"email": null, "email_verified": null}),
    ] {
        assert!(hold(change.clone()), "{change}");
    }
}

#[test]
fn claims_of_another_time_place_or_nobody_do_not() {
    let now = noon().timestamp();
    for change in [
        json!({"iss": null}),
        json!({"iss": "https://login.example"}),
        json!({"iss": "https://LOGIN.example/"}),
        json!({"iss": [ISSUER]}),
        json!({"aud": null}),
        json!({"aud": ""}),
        json!({"aud": []}),
        json!({"aud": "Vedette"}),
        json!({"aud": ["other"]}),
        json!({"aud": {"vedette": true}}),
        json!({"aud": [AUDIENCE, 1]}),
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": 17}),
        json!({"sub": "x".repeat(256)}),
        json!({"exp": null}),
        json!({"exp": now}),
        json!({"exp": now - 1}),
        json!({"exp": -1}),
        json!({"exp": (now + 300).to_string()}),
        json!({"exp": true}),
        json!({"nbf": now + 61}),
        json!({"nbf": "now"}),
        json!({"iat": now + 61}),
    ] {
        assert!(!hold(change.clone()), "{change}");
    }
}

#[test]
fn an_address_counts_unless_the_issuer_denies_it() {
    let read = |change: Value| claims(change).unwrap().verified_email();
    let address = Some("ops@example.com".to_owned());
    assert_eq!(read(json!({})), address);
    assert_eq!(read(json!({"email_verified": null})), address);
    assert_eq!(read(json!({"email_verified": "true"})), address);
    for change in [
        json!({"email": null}),
        json!({"email": ""}),
        json!({"email": "Ops <ops@example.com>"}),
        json!({"email": "ops"}),
        json!({"email_verified": false}),
        json!({"email_verified": "false"}),
        json!({"email_verified": 1}),
    ] {
        assert_eq!(read(change.clone()), None, "{change}");
    }
}

#[test]
fn a_token_has_two_dots_and_an_api_key_has_none() {
    for token in ["a.b.c", "eyJh-_0.e30.", ".."] {
        assert!(looks_like_one(token), "{token}");
    }
    for other in ["", "ct_abcdefgh", "a.b", "a.b.c.d", "a.b.c=", "a.b+.c", "a b.c.d", "ü.b.c"] {
        assert!(!looks_like_one(other), "{other}");
    }
}
