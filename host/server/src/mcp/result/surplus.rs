//! The last resort for what is too long however its texts and lists are cut: members are left out.
//!
//! *Invariant:* what is kept is no longer than it may be, whatever it consists of.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Names, quoted, size, size_of};

/// Leaves out what there is no room for. False where nothing is left: then the value itself goes.
pub(super) fn leave_out(value: &mut Value, most: usize, at: &str, names: &mut Names) -> bool {
    if size(value) <= most {
        return true;
    }
    let Some(room) = most.checked_sub(BRACKETS) else { return false };
    match value {
        Value::Array(items) => leave_out_items(items, room, at, names),
        Value::Object(members) => leave_out_members(members, room, names),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return false,
    }
    true
}

fn leave_out_items(items: &mut Vec<Value>, mut room: usize, at: &str, names: &mut Names) {
    items.retain_mut(|item| {
        let fits = leave_out(item, room.saturating_sub(COMMA), at, names);
        if fits {
            room -= size(item) + COMMA;
        } else {
            names.insert(at.to_owned());
        }
        fits
    });
}

/// The shortest members stay, and of the next as much as fits: so a long one keeps what stands
/// around it.
fn leave_out_members(members: &mut Map<String, Value>, mut room: usize, names: &mut Names) {
    let mut shortest: Vec<(usize, &String)> =
        members.iter().map(|(name, member)| (size(member), name)).collect();
    shortest.sort_unstable();
    let mut rooms = HashMap::new();
    for (needed, name) in shortest {
        let Some(left) = room.checked_sub(size_of(&quoted(name)) + COLON + COMMA) else { continue };
        let given = needed.min(left);
        rooms.insert(name.clone(), given);
        room = left - given;
    }
    members.retain(|name, member| {
        let fits = rooms.get(name).is_some_and(|room| leave_out(member, *room, name, names));
        if !fits {
            names.insert(name.clone());
        }
        fits
    });
}

/// As [`size`] counts, which counts all twice.
const BRACKETS: usize = 4;
const COLON: usize = 2;
const COMMA: usize = 2;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// So many members, each as long as the others.
    fn members(count: usize) -> Value {
        (0..count).map(|nth| (format!("record-{nth:05}"), json!("192.0.2.1"))).collect()
    }

    #[test]
    fn what_stands_around_a_long_object_stays() {
        let mut value = json!({ "a": members(3_000), "site": "x.example", "list": [members(2)] });
        let mut names = Names::new();
        assert!(leave_out(&mut value, 5_000, "", &mut names));
        assert!((4_800..=5_000).contains(&size(&value)), "{}", size(&value));
        assert_eq!((&value["site"], &value["list"]), (&json!("x.example"), &json!([members(2)])));
        let kept = value["a"].as_object().map_or(0, Map::len);
        assert_eq!(value["a"], members(kept), "from the start");
        assert_eq!(names.len(), 3_000 - kept);
    }

    #[test]
    fn whatever_it_is_it_fits() {
        let deep = |name: &str| {
            (0..100).fold(members(9), |inner, _| Value::from_iter([(name.to_owned(), inner)]))
        };
        let values = [
            members(500),
            json!(vec![members(40); 9]),
            json!({ "a": { "a".repeat(900): 1 }, "b": [[["b".repeat(900)]], 2] }),
            deep("a"),
            deep(&"\u{1}\"".repeat(40)),
        ];
        for value in &values {
            for most in [4, 5, 40, 400, 800] {
                let mut kept = value.clone();
                assert!(leave_out(&mut kept, most, "", &mut Names::new()));
                assert!(size(&kept) <= most, "{most}: {kept}");
            }
            assert!(!leave_out(&mut value.clone(), 3, "", &mut Names::new()), "not even brackets");
        }
    }
}
