use chrono::DateTime;
use serde_json::json;
use uuid::Uuid;

use super::*;

fn seen_at() -> Timestamp {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment of 2027")
}

fn read(details: &Value) -> Option<CertChange> {
    CertChange::from_details(Uuid::from_u128(9).into(), details, seen_at())
}

#[test]
fn details_become_a_row() {
    let row = read(&json!({
        "fingerprint": "ab12", "change_type": "issuer_change", "issuer": "Example CA",
        "changed_at": "2026-11-20T15:04:05Z", "san": ["example.com"],
    }))
    .unwrap();
    assert_eq!(
        serde_json::to_value(row.view()).unwrap(),
        json!({
            "fingerprint": "ab12", "change_type": "issuer_change",
            "changed_at": "2026-11-20T15:04:05Z", "issuer": "Example CA",
        })
    );
}

#[test]
fn a_change_without_a_moment_is_as_old_as_its_sight() {
    for changed_at in [json!(null), json!("yesterday"), json!(1)] {
        let details =
            json!({"fingerprint": "ab", "change_type": "renewal", "changed_at": changed_at});
        let row = read(&details).unwrap();
        assert_eq!((row.changed_at, row.issuer.as_str()), (seen_at(), ""));
    }
}

#[test]
fn details_without_the_essentials_make_no_row() {
    for details in [
        json!(null),
        json!([]),
        json!({}),
        json!({"fingerprint": "ab"}),
        json!({"change_type": "renewal"}),
        json!({"fingerprint": "", "change_type": "renewal"}),
        json!({"fingerprint": 1, "change_type": "renewal"}),
        json!({"fingerprint": "ab", "change_type": "rekey"}),
    ] {
        assert_eq!(read(&details), None, "{details}");
    }
}
