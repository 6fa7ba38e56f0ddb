use std::collections::HashSet;

use chrono::{DateTime, TimeDelta};
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;

fn now() -> Timestamp {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment of 2027")
}

fn minted(prefix: &str, bytes: &[u8]) -> String {
    let mut bytes = bytes.iter().copied().cycle();
    mint(prefix, || bytes.next().expect("a cycle does not end"))
}

#[test]
fn a_key_is_prefix_random_and_checksum() {
    let key = minted("ct_", &[0, 1, 61, 62, 247]);
    assert_eq!(key.len(), 3 + 30 + 6);
    assert!(key.starts_with("ct_01z0z01z0z"), "{key}");
    assert!(well_formed(&key, "ct_"));
    assert!(!well_formed(&key, "sp_"));
}

#[test]
fn bytes_that_would_favour_some_characters_are_skipped() {
    let fair: Vec<u8> = (0..30).collect();
    let mixed: Vec<u8> = fair.iter().flat_map(|byte| [248, 255, *byte]).collect();
    assert_eq!(minted("ct_", &mixed), minted("ct_", &fair));
    let counts = (0..=247_u8).fold([0; 62], |mut counts, byte| {
        counts[usize::from(byte % 62)] += 1;
        counts
    });
    assert_eq!(counts, [4; 62]);
}

#[test]
fn checksums_are_six_base62_digits() {
    // CRC-32/ISO-HDLC of "123456789" is cbf43926 = 3421780262 in the catalogue of CRCs.
    assert_eq!(&checksum("123456789"), b"3jZRME");
    assert_eq!(&checksum(""), b"000000");
}

#[test]
fn what_is_no_key_is_refused() {
    let key = minted("ct_", &[7, 99, 200, 13]);
    let swapped = format!("{}{}", &key[..38], if key.ends_with('0') { '1' } else { '0' });
    for text in [
        "",
        "ct_",
        &key[..38],
        &format!("{key}0"),
        &format!(" {key}"),
        &swapped,
        &key.replace("ct_", "CT_"),
        &format!("ct_{}", "é".repeat(18)),
        &"ct_".repeat(13),
    ] {
        assert!(!well_formed(text, "ct_"), "{text:?} passed");
    }
}

#[test]
fn eleven_characters_are_shown() {
    assert_eq!(shown_prefix("ct_0123456789"), "ct_01234567");
    assert_eq!(shown_prefix("ct_"), "ct_");
    assert_eq!(shown_prefix("ééééééééééééé"), "ééééééééééé");
}

fn key(expires_at: Option<Timestamp>) -> ApiKey {
    ApiKey {
        id: Uuid::from_u128(1).into(),
        account_id: Uuid::from_u128(2).into(),
        name: "deploy".into(),
        prefix: "ct_01234567".into(),
        hash: "f00d".into(),
        created_at: now(),
        last_used_at: None,
        expires_at,
        role: Role::Owner,
        made_by: None,
    }
}

#[test]
fn expired_key_is_rejected_until_extended() {
    let mut key = key(Some(now()));
    assert!(!key.expired(now() - TimeDelta::milliseconds(1)));
    assert!(key.expired(now()));
    key.expires_at = Some(now() + TimeDelta::days(1));
    assert!(!key.expired(now()));
    key.expires_at = None;
    assert!(!key.expired(now() + TimeDelta::days(100_000)));
}

#[test]
fn a_listing_shows_neither_hash_nor_account() {
    let shown = serde_json::to_value(key(None).view()).unwrap();
    assert_eq!(
        shown,
        json!({
            "id": "00000000-0000-0000-0000-000000000001", "name": "deploy",
            "prefix": "ct_01234567", "key_prefix": "ct_01234567",
            "last_used_at": null, "created_at": "2027-01-15T08:00:00Z", "expires_at": null,
        })
    );
}

#[test]
fn a_new_key_has_a_name_and_perhaps_a_future_expiry() {
    let later = json!({"name": " ci ", "expiresAt": "2027-06-01T00:00:00Z"});
    let new = NewApiKey::parse(&later, now()).unwrap();
    assert_eq!(new.name, "ci");
    assert!(new.expires_at.is_some_and(|at| at > now()));
    for body in [json!({"name": "ci"}), json!({"name": "ci", "expiresAt": null, "x": 1})] {
        assert_eq!(NewApiKey::parse(&body, now()).unwrap().expires_at, None);
    }
    for (body, field) in [
        (json!({}), "name"),
        (json!({"name": null}), "name"),
        (json!({"name": ""}), "name"),
        (json!({"name": "  "}), "name"),
        (json!({"name": 7}), "name"),
        (json!({"name": "a\nb"}), "name"),
        (json!({"name": "n".repeat(101)}), "name"),
        (json!({"name": "ci", "expiresAt": "2020-01-01T00:00:00Z"}), "expiresAt"),
        (json!({"name": "ci", "expiresAt": "2027-01-15T08:00:00Z"}), "expiresAt"),
        (json!({"name": "ci", "expiresAt": "tomorrow"}), "expiresAt"),
        (json!({"name": "ci", "expiresAt": 1_900_000_000}), "expiresAt"),
        (json!([]), "body"),
    ] {
        assert_eq!(NewApiKey::parse(&body, now()).unwrap_err().field, field, "{body}");
    }
}

#[test]
fn an_expiry_is_set_or_cleared_but_not_left_out() {
    assert_eq!(parse_expiry(&json!({"expiresAt": null}), now()), Ok(None));
    let set = parse_expiry(&json!({"expiresAt": "2027-06-01T00:00:00Z"}), now()).unwrap();
    assert!(set.is_some());
    for body in [json!({}), json!({"expiresAt": "2020-01-01T00:00:00Z"}), json!({"expiresAt": 1})] {
        assert_eq!(parse_expiry(&body, now()).unwrap_err().field, "expiresAt", "{body}");
    }
}

proptest! {
    #[test]
    fn every_minted_key_is_well_formed(random in prop::collection::vec(0..248_u8, 30..60)) {
        let key = minted("sp_", &random);
        prop_assert!(well_formed(&key, "sp_"));
        prop_assert_eq!(shown_prefix(&key), &key[..11]);
    }

    #[test]
    fn one_changed_character_breaks_a_key(
        random in prop::collection::vec(0..248_u8, 30),
        position in 3..39_usize,
        digit in 0..62_usize,
    ) {
        let key = minted("ct_", &random);
        let mut changed = key.clone().into_bytes();
        changed[position] = BASE62[digit];
        let changed = String::from_utf8(changed).unwrap();
        prop_assert_eq!(well_formed(&changed, "ct_"), changed == key);
    }
}

#[test]
fn different_randomness_makes_different_keys() {
    let keys: HashSet<String> = (0..=247_u8).map(|byte| minted("ct_", &[byte, 3, 5])).collect();
    // Four bytes share each character.
    assert_eq!(keys.len(), 62);
}
