use proptest::prelude::*;
use serde_json::json;

use super::*;

fn at(text: &str) -> Timestamp {
    timestamp("at", text).expect("the table holds date-times")
}

#[test]
fn date_times_are_read_as_utc_milliseconds() {
    for (text, shown) in [
        ("2026-11-20T15:04:05Z", "\"2026-11-20T15:04:05Z\""),
        ("2026-11-20T15:04:05.123456789Z", "\"2026-11-20T15:04:05.123Z\""),
        ("2026-11-20T15:04:05+02:00", "\"2026-11-20T13:04:05Z\""),
        ("2026-11-20T15:04:05+0200", "\"2026-11-20T13:04:05Z\""),
        ("2026-11-20T15:04:05.5-0930", "\"2026-11-21T00:34:05.500Z\""),
        ("2026-11-20T15:04:05", "\"2026-11-20T15:04:05Z\""),
        ("2026-11-20T15:04:05.5", "\"2026-11-20T15:04:05.500Z\""),
        ("2026-11-20T15:04", "\"2026-11-20T15:04:00Z\""),
        ("2026-11-20T15:04Z", "\"2026-11-20T15:04:00Z\""),
        ("2026-11-20T15:04+0200", "\"2026-11-20T13:04:00Z\""),
        ("2026-12-31T23:59:60Z", "\"2027-01-01T00:00:00Z\""),
        ("1960-01-01T00:00:00.5Z", "\"1960-01-01T00:00:00.500Z\""),
    ] {
        assert_eq!(serde_json::to_string(&at(text)).unwrap(), shown, "{text}");
    }
}

#[test]
fn what_is_no_date_time_is_refused() {
    for text in [
        "",
        "now",
        "2026-11-20",
        "20261120T150405Z",
        "2026-11-20T15",
        "2026-11-20T1504",
        "2026-11-20T15:04 ",
        "2026-11-20T15:04:05 ",
        "1700000000",
        "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-20T25:00:00Z",
        " 2026-11-20T15:04:05Z",
        "2026-11-20T15:04:05Z ",
        "2026-11-20T15:04:05+02",
        "2026-11-20T15:04:05+020",
        "2026-11-20T15:04:05+02000",
        "2026-11-20T15:0405Z",
        "2026-11-20T15:0405",
        "2026-11-20T15:04:05+0ü",
        "+12026-11-20T15:04:05Z",
        "9999-12-31T23:59:59-01:00",
        "0000-01-01T00:00:00+01:00",
    ] {
        let invalid = timestamp("expiresAt", text).expect_err(text);
        assert_eq!(invalid.field, "expiresAt");
    }
    assert_eq!(
        timestamp("expiresAt", "soon").unwrap_err().to_string(),
        "expiresAt must be a date-time such as 2026-11-20T15:04:05Z"
    );
}

#[test]
fn a_day_is_a_whole_utc_day() {
    let day = date_or_time("to", "2026-11-20").unwrap();
    assert_eq!(day.start(), at("2026-11-20T00:00:00Z"));
    assert_eq!(day.end(), at("2026-11-21T00:00:00Z"));
    let moment = date_or_time("to", "2026-11-20T12:00:00+01:00").unwrap();
    assert_eq!(moment.start(), at("2026-11-20T11:00:00Z"));
    assert_eq!(moment.end(), at("2026-11-20T11:00:00.001Z"));
    for text in [
        "2026-2-3",
        "20-11-2026",
        "2026-11-31",
        "2026/11/20",
        "26-11-2026",
        "+202-01-01",
        "2026-1-011",
        "2026-11-20 ",
    ] {
        assert!(date_or_time("to", text).is_err(), "{text:?} was taken");
    }
}

#[test]
fn a_period_ends_after_it_began() {
    let whole = period(Some("2026-11-20"), Some("2026-11-20")).unwrap();
    assert_eq!(whole.from, Some(at("2026-11-20T00:00:00Z")));
    assert_eq!(whole.until, Some(at("2026-11-21T00:00:00Z")));
    assert_eq!(period(None, None), Ok(Period::default()));
    for (from, to, taken) in [
        ("2026-11-20T12:00:00Z", "2026-11-20", true),
        ("2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z", true),
        ("2026-11-20T12:00:00.001Z", "2026-11-20T12:00:00Z", false),
        ("2026-11-21", "2026-11-20", false),
        ("2026-11-21", "2026-11-20T23:59:59Z", false),
    ] {
        assert_eq!(period(Some(from), Some(to)).is_ok(), taken, "{from} to {to}");
    }
    assert_eq!(period(Some("x"), None).unwrap_err().field, "from");
    assert_eq!(period(None, Some("x")).unwrap_err().field, "to");
}

#[test]
fn pages_have_1_to_200_items() {
    assert_eq!(page(None, None), Ok((50, 0)));
    assert_eq!(page(Some("1"), Some("0")), Ok((1, 0)));
    assert_eq!(page(Some("200"), Some("4294967295")), Ok((200, u32::MAX)));
    for limit in ["0", "201", "-1", "", "ten", "1.0", "+5", " 5", "99999999999"] {
        assert_eq!(page(Some(limit), None).unwrap_err().field, "limit", "{limit:?}");
    }
    for offset in ["-1", "", "x", "4294967296"] {
        let refused = page(None, Some(offset)).unwrap_err();
        assert_eq!(refused.to_string(), "offset must be between 0 and 4294967295", "{offset:?}");
    }
}

#[test]
fn only_hyphenated_uuids_are_ids() {
    let id = "0193f5c2-7b1e-7c3a-9d41-2f6a8c5b1e07";
    assert_eq!(uuid("id", id).unwrap().to_string(), id);
    assert!(uuid("id", &id.to_uppercase()).is_ok());
    for text in [
        "",
        "1",
        "0193f5c27b1e7c3a9d412f6a8c5b1e07",
        "{0193f5c2-7b1e-7c3a-9d41-2f6a8c5b1e07}",
        "urn:uuid:0193f5c2-7b1e-7c3a-9d41-2f6a8c5b1e07",
        "0193f5c2-7b1e-7c3a-9d41-2f6a8c5b1e0g",
        "0193f5c2-7b1e-7c3a-9d412-f6a8c5b1e07",
        "0193f5c2-7b1e-7c3a-9d41-2f6a8c5b1e0é",
    ] {
        assert_eq!(uuid("site_id", text).unwrap_err().field, "site_id", "{text:?}");
    }
}

#[test]
fn addresses_are_canonical_literals() {
    for text in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"] {
        assert!(address("origin_ip", text).is_ok(), "{text}");
    }
    for text in [
        "",
        "127.1",
        "0177.0.0.1",
        "0x7f000001",
        "2130706433",
        "[::1]",
        "fe80::1%eth0",
        "192.0.2.1:443",
        " 192.0.2.1",
        "example.com",
    ] {
        assert!(address("origin_ip", text).is_err(), "{text:?} was taken");
    }
}

#[test]
fn members_of_a_body_are_required_optional_or_patched() {
    let value = json!({"a": 1, "n": null});
    let body = Body::of(&value).unwrap();
    let read = |field, value: &Value| integer(field, value, 1..=9);
    assert_eq!(body.required("a", read), Ok(1));
    assert_eq!(body.required("n", read).unwrap_err().to_string(), "n is required");
    assert_eq!(body.required("x", read).unwrap_err().to_string(), "x is required");
    assert_eq!(body.optional("a", read), Ok(Some(1)));
    assert_eq!(body.optional("x", read), Ok(None));
    assert_eq!(body.optional("n", read).unwrap_err().to_string(), "n must not be null");
    assert_eq!(body.patch("a", read), Ok(Patch::Set(1)));
    assert_eq!(body.patch("n", read), Ok(Patch::Clear));
    assert_eq!(body.patch("x", read), Ok(Patch::Keep));
    for value in [json!([]), json!(null), json!("{}"), json!(1)] {
        assert_eq!(Body::of(&value).unwrap_err().to_string(), "body must be a JSON object");
    }
}

#[test]
fn numbers_are_whole_and_within_bounds() {
    for (value, read) in [
        (json!(1), Some(1)),
        (json!(365), Some(365)),
        (json!(0), None),
        (json!(366), None),
        (json!(-1), None),
        (json!(7.0), Some(7)),
        (json!(1.5), None),
        (json!("7"), None),
        (json!(true), None),
        (json!(65_537), None),
        (json!(1e300), None),
    ] {
        assert_eq!(integer("alert_days", &value, 1..=365).ok(), read, "{value}");
    }
    assert_eq!(
        integer("alert_days", &json!(0), 1..=365).unwrap_err().to_string(),
        "alert_days must be a whole number between 1 and 365"
    );
}

#[test]
fn lengths_are_counted_in_characters() {
    assert!(text_within("title", &json!("é".repeat(100)), 100).is_ok());
    assert!(text_within("title", &json!("é".repeat(101)), 100).is_err());
    assert!(line("title", &json!("one\r\ntwo"), 100).is_err());
    assert!(line("title", &json!("one\u{2028}two"), 100).is_err());
    assert!(text("title", &json!(1)).is_err());
}

#[test]
fn free_objects_are_bounded_in_depth() {
    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "a": [inner] }));
    assert!(object("deploy_config", &nested(8)).is_ok());
    assert!(object("deploy_config", &nested(9)).is_err());
    assert!(object("deploy_config", &json!([])).is_err());
}

proptest! {
    #[test]
    fn every_moment_is_read_back_as_it_is_shown(millis in 0_i64..253_402_300_799_000) {
        let moment = DateTime::from_timestamp_millis(millis).expect("within four-digit years");
        let shown = serde_json::to_value(moment).unwrap();
        let shown = shown.as_str().unwrap();
        prop_assert!(shown.ends_with('Z'));
        prop_assert_eq!(timestamp("at", shown).unwrap(), moment);
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in "\\PC{0,40}") {
        let _ = timestamp("at", &text);
        let _ = date_or_time("from", &text);
        let _ = uuid("id", &text);
        let _ = page(Some(&text), Some(&text));
    }
}
