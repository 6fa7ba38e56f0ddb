use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Debug, Default, PartialEq, Deserialize)]
struct Change {
    #[serde(default)]
    port: Patch<u16>,
}

fn read(json: &str) -> Result<Change, serde_json::Error> {
    serde_json::from_str(json)
}

#[test]
fn absent_keeps_null_clears_and_a_value_sets() {
    for (json, port) in [
        ("{}", Patch::Keep),
        (r#"{"port":null}"#, Patch::Clear),
        (r#"{"port":8443}"#, Patch::Set(8443)),
    ] {
        assert_eq!(read(json).unwrap().port, port, "{json}");
    }
    assert!(read(r#"{"port":"8443"}"#).is_err());
    assert!(read(r#"{"port":70000}"#).is_err());
}

#[test]
fn a_field_that_cannot_be_null_refuses_to_be_cleared() {
    let mut days = 14;
    let refused = Patch::Clear.apply("alert_days", &mut days);
    assert_eq!(refused, Err(Invalid::new("alert_days", "must not be null")));
    assert_eq!(days, 14);
}

fn any_patch() -> impl Strategy<Value = Patch<u8>> {
    prop_oneof![Just(Patch::Keep), Just(Patch::Clear), any::<u8>().prop_map(Patch::Set)]
}

proptest! {
    #[test]
    fn applying_a_patch_twice_is_applying_it_once(patch in any_patch(), before: Option<u8>) {
        let mut once = before;
        patch.apply_option(&mut once);
        let mut twice = once;
        patch.apply_option(&mut twice);
        prop_assert_eq!(once, twice);
        prop_assert_eq!(once, match patch {
            Patch::Keep => before,
            Patch::Clear => None,
            Patch::Set(value) => Some(value),
        });
    }

    #[test]
    fn nullable_and_other_fields_agree_on_values(patch in any_patch(), before: u8) {
        let (mut plain, mut nullable) = (before, Some(before));
        let answer = patch.apply("field", &mut plain);
        patch.apply_option(&mut nullable);
        match patch {
            Patch::Clear => prop_assert!(answer.is_err() && plain == before && nullable.is_none()),
            Patch::Keep | Patch::Set(_) => {
                prop_assert!(answer.is_ok());
                prop_assert_eq!(nullable, Some(plain));
            }
        }
    }
}
