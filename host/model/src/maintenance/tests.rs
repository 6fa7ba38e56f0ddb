use chrono::{DateTime, TimeDelta};
use serde_json::json;
use uuid::Uuid;

use super::*;

fn now() -> Timestamp {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment of 2027")
}

fn at(millis: i64) -> Timestamp {
    now() + TimeDelta::milliseconds(millis)
}

fn site(nth: u128) -> SiteId {
    Uuid::from_u128(nth).into()
}

fn window(site_id: Option<SiteId>, starts: i64, ends: i64) -> MaintenanceWindow {
    MaintenanceWindow {
        id: Uuid::from_u128(10).into(),
        account_id: Uuid::from_u128(11).into(),
        site_id,
        starts_at: at(starts),
        ends_at: at(ends),
        description: None,
        created_at: now(),
    }
}

fn parse(body: &Value) -> Result<MaintenanceWindow, Invalid> {
    let new = NewMaintenanceWindow::parse(body)?;
    Ok(new.into_window(Uuid::from_u128(1).into(), Uuid::from_u128(2).into(), now()))
}

#[test]
fn a_window_silences_from_its_start_until_before_its_end() {
    let of_one = [window(Some(site(1)), 0, 1_000)];
    let of_all = [window(None, 0, 1_000)];
    for (moment, active) in
        [(-1, false), (0, true), (1, true), (999, true), (1_000, false), (1_001, false)]
    {
        assert_eq!(silences(&of_one, site(1), at(moment)), active, "{moment}");
        assert_eq!(silences(&of_all, site(1), at(moment)), active, "{moment}");
        assert_eq!(silences(&of_all, site(2), at(moment)), active, "{moment}");
        assert!(!silences(&of_one, site(2), at(moment)), "{moment}");
    }
}

#[test]
fn any_of_several_windows_silences() {
    let windows =
        [window(Some(site(1)), 0, 10), window(Some(site(1)), 10, 20), window(None, 30, 40)];
    for (moment, one, other) in [
        (5, true, false),
        (10, true, false),
        (19, true, false),
        (20, false, false),
        (30, true, true),
        (40, false, false),
    ] {
        assert_eq!(silences(&windows, site(1), at(moment)), one, "{moment}");
        assert_eq!(silences(&windows, site(2), at(moment)), other, "{moment}");
    }
    assert!(!silences(&[], site(1), now()));
}

#[test]
fn silence_lasts_through_windows_that_overlap_or_touch() {
    let windows = [
        window(Some(site(1)), 0, 10),
        window(None, 10, 20),
        window(Some(site(1)), 15, 30),
        window(Some(site(1)), 31, 40),
        window(Some(site(2)), 30, 31),
        window(Some(site(1)), 2, 3),
    ];
    for (moment, until) in [
        (-1, None),
        (0, Some(30)),
        (2, Some(30)),
        (10, Some(30)),
        (19, Some(30)),
        (29, Some(30)),
        (30, None),
        (31, Some(40)),
        (40, None),
    ] {
        let ends = silenced_until(&windows, site(1), at(moment));
        assert_eq!(ends, until.map(at), "{moment}");
        assert_eq!(ends.is_some(), silences(&windows, site(1), at(moment)), "{moment}");
    }
    assert_eq!(silenced_until(&windows, site(2), at(10)), Some(at(20)));
}

#[test]
fn a_window_needs_its_times_alone() {
    let body =
        json!({"starts_at": "2027-01-15T10:00:00+02:00", "ends_at": "2027-01-15T08:00:00.001Z"});
    assert_eq!(
        serde_json::to_value(parse(&body).unwrap().view()).unwrap(),
        json!({
            "id": "00000000-0000-0000-0000-000000000001", "site_id": null,
            "starts_at": "2027-01-15T08:00:00Z", "ends_at": "2027-01-15T08:00:00.001Z",
            "description": null, "created_at": "2027-01-15T08:00:00Z",
        })
    );
    let body = json!({
        "site_id": Uuid::from_u128(7), "starts_at": "2001-01-01T00:00:00Z",
        "ends_at": "2001-01-02T00:00:00Z", "description": "ä".repeat(500),
    });
    let past = parse(&body).unwrap();
    assert_eq!(past.site_id, Some(site(7)));
    assert_eq!(past.description.map(|text| text.chars().count()), Some(500));
}

#[test]
fn what_is_out_of_bounds_names_its_field() {
    for (field, values) in [
        ("site_id", vec![json!("x"), json!(""), json!(1), json!([])]),
        ("starts_at", vec![json!(null), json!("2027-01-15"), json!("soon"), json!(1), json!("")]),
        (
            "ends_at",
            vec![
                json!(null),
                json!("2027-01-16"),
                json!(true),
                json!("2027-01-15T08:00:00Z"),
                json!("2027-01-15T08:59:59+01:00"),
                json!("2027-02-30T00:00:00Z"),
            ],
        ),
        ("description", vec![json!(1), json!("ä".repeat(501))]),
    ] {
        for value in values {
            let mut body =
                json!({"starts_at": "2027-01-15T08:00:00Z", "ends_at": "2027-01-15T09:00:00Z"});
            body[field] = value;
            assert_eq!(parse(&body).map(drop).unwrap_err().field, field, "{body}");
        }
    }
    let refused = parse(&json!({"ends_at": "2027-01-15T09:00:00Z"})).unwrap_err();
    assert_eq!(refused.to_string(), "starts_at is required");
    let backwards = json!({"starts_at": "2027-01-15T08:00:00Z", "ends_at": "2027-01-15T08:00:00Z"});
    assert_eq!(parse(&backwards).unwrap_err().to_string(), "ends_at must be after starts_at");
}
