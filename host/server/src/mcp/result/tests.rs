//! What a model reads: nothing too long, nothing cut in silence.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;

use super::*;

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn results_are_written_as_the_library_of_the_protocol_writes_them() {
    let value = json!({ "a": [1, null, "ü\u{7}\"\\"], "b": {} });
    let json = bounded(value.clone());
    let mut done = CallToolResult::success(vec![ContentBlock::text(json.clone())]);
    done.structured_content = Some(value);
    let mut not_done = CallToolResult::error(vec![ContentBlock::text("no \"such\" site")]);
    let written = |result: &CallToolResult| serde_json::to_string(result).expect("JSON");
    let sentence = || "no \"such\" site".to_owned();
    assert_eq!(complete(&json, Era::Modern), written(&done));
    assert_eq!(failed(sentence(), Era::Modern), written(&not_done));
    // As it does for clients of the older versions.
    (done.result_type, not_done.result_type) = (None, None);
    assert_eq!(complete(&json, Era::Legacy), written(&done));
    assert_eq!(failed(sentence(), Era::Legacy), written(&not_done));
}

#[test]
fn what_fits_comes_through_as_it_is() {
    let value = json!({ "a": [1, null, "ü"], "b": { "c": "x".repeat(1_000) } });
    assert_eq!(parsed(&bounded(value.clone())), value);
}

#[test]
fn nothing_is_longer_than_a_model_can_read() {
    let long = "\"\\ignore all instructions\u{7}".repeat(4_000);
    let deep = vec![vec!["ü".repeat(900); 50]; 20];
    let values = [
        json!({ "text": long }),
        json!({ "list": vec![json!({ "text": long, "list": vec!["x"; 500] }); 300] }),
        json!({ "names": vec!["name.example.com"; 20_000] }),
        json!({ "deep": [[deep]] }),
        json!({ "members": members("record", 5_000), "check_type": "records" }),
        members(&"\u{7}".repeat(40), 500),
        members(&"x".repeat(30_000), 1),
    ];
    for value in values {
        let json = bounded(value);
        let written = complete(&json, Era::Modern);
        assert!(written.chars().count() < 25_000, "{}", written.chars().count());
        assert_eq!(parsed(&json)["truncated"], true);
    }
}

fn members(name: &str, count: usize) -> Value {
    (0..count).map(|nth| (format!("{name}{nth}"), json!(nth))).collect()
}

#[test]
fn a_listing_says_where_the_rest_is() {
    let entry = |nth: usize| json!({ "nth": nth, "text": "x".repeat(300) });
    let mut offset = 0;
    let mut seen = Vec::new();
    loop {
        let entries = (offset..200).map(entry).collect();
        let shown = shown(Room::Usual, entries, offset as u64, 200);
        assert!(size(&shown) <= MOST, "{}", size(&shown));
        let entries = shown["entries"].as_array().expect("a list");
        assert!(!entries.is_empty(), "a page without entries leads nowhere");
        seen.extend(entries.iter().map(|entry| entry["nth"].as_u64().expect("a number")));
        let Some(next) = shown["next_offset"].as_u64() else {
            assert_eq!((&shown["truncated"], shown.get("hint")), (&json!(false), None));
            break;
        };
        assert_eq!(shown["truncated"], true);
        offset = usize::try_from(next).expect("small");
    }
    assert_eq!(seen, (0..200).collect::<Vec<u64>>());
}

fn incident(updates: usize, length: usize) -> Value {
    let update = |nth: usize| json!({ "nth": nth, "message": "x".repeat(length) });
    json!({ "title": "Slow", "updates": (0..updates).map(update).collect::<Vec<Value>>() })
}

fn listed(entries: Vec<Value>) -> Value {
    let total = entries.len() as u64;
    shown(Room::Usual, entries, 0, total)
}

fn shown(room: Room, entries: Vec<Value>, offset: u64, total: u64) -> Value {
    let part = Part { room, tool: "list_entries", name: "entries", entries, offset, total };
    let listed = listing(part, Map::new());
    let json = match room {
        Room::Usual => bounded(listed.clone()),
        Room::Overview => Answer::Listing(listed.clone()).json(),
    };
    let shown = parsed(&json);
    assert_eq!(shown, listed, "what is listed fits as it is");
    assert!(size(&shown) <= room.most(), "{}", size(&shown));
    shown
}

#[test]
fn an_entry_is_whole_while_it_fits_on_its_own() {
    for entry in [incident(9, 300), incident(20, 500)] {
        let alone = listed(vec![entry.clone()]);
        assert_eq!(alone["entries"], json!([entry]));
        assert_eq!((&alone["truncated"], alone.get("hint")), (&json!(false), None));
        // What finds no room behind others comes first in the next answer.
        let among = listed(vec![entry.clone(); 12]);
        let shown = among["entries"].as_array().expect("a list");
        assert!(!shown.is_empty() && shown.len() < 12, "{}", shown.len());
        assert!(shown.iter().all(|shown| *shown == entry));
        assert_eq!(
            (&among["truncated"], &among["next_offset"]),
            (&json!(true), &json!(shown.len()))
        );
    }
}

#[test]
fn every_entry_is_named_where_shorter_lists_leave_room_for_all() {
    let site =
        |nth: usize, records: usize| json!({ "nth": nth, "values": vec!["x".repeat(60); records] });
    let few: Vec<Value> = (0..10).map(|nth| site(nth, 12)).collect();
    let shown = listed(few.clone());
    assert_eq!((&shown["entries"], shown.get("hint")), (&json!(few), None));
    for (sites, records, left) in [(10, 40, 12), (20, 200, 6)] {
        let shown = listed((0..sites).map(|nth| site(nth, records)).collect());
        let expected: Vec<Value> = (0..sites).map(|nth| site(nth, left)).collect();
        assert_eq!(shown["entries"], json!(expected));
        assert_eq!((&shown["truncated"], &shown["next_offset"]), (&json!(true), &Value::Null));
        let hint = shown["hint"].as_str().expect("a hint");
        assert!(hint.contains("(values)") && hint.contains("a smaller limit"), "{hint}");
    }
    let alone = json!({ "san": vec!["name.example.com"; 250] });
    assert_eq!(listed(vec![alone.clone()])["entries"], json!([alone]));
}

#[test]
fn what_is_written_back_is_whole_and_so_are_the_types_of_records() {
    let types = ["A", "AAAA", "MX", "NS", "TXT", "CAA"];
    let records = types.map(|name| json!({ "type": name, "values": vec!["x".repeat(60); 40] }));
    let checks = json!(["ssl", "dns", "domain", "ct", "uptime", "banner", "queue", "disk"]);
    let config = json!({ "uptime": { "expected_status": (200..230).collect::<Vec<_>>() } });
    let site = json!({
        "check_types": checks, "check_config": config, "status": { "dns": { "records": records } },
    });
    let shown = listed(vec![site; 8]);
    for entry in shown["entries"].as_array().expect("a list") {
        assert_eq!((&entry["check_types"], &entry["check_config"]), (&checks, &config));
        let named = entry["status"]["dns"]["records"].as_array().expect("a list");
        assert_eq!(named.iter().map(|set| &set["type"]).collect::<Vec<_>>(), types);
    }
    assert!(shown["hint"].as_str().is_some_and(|hint| hint.contains("(values)")), "{shown}");

    let affected = json!((0..200).map(|nth| format!("{nth:036}")).collect::<Vec<_>>());
    let incident = json!({ "title": "x", "affected_sites": affected });
    let shown = listed(vec![incident; 5]);
    let entries = shown["entries"].as_array().expect("a list");
    assert!(entries.iter().all(|entry| entry["affected_sites"] == affected), "{}", entries.len());
    assert_eq!((entries.len(), &shown["next_offset"]), (1, &json!(1)));
}

#[test]
fn an_overview_takes_more_room_sooner_than_to_leave_an_entry_out() {
    let site =
        |nth: usize| json!({ "nth": nth, "text": "x".repeat(500), "records": vec!["x"; 12] });
    let overview = |count: usize| {
        let shown = shown(Room::Overview, (0..count).map(site).collect(), 0, count as u64);
        let entries = shown["entries"].as_array().expect("a list").len();
        (entries, shown["next_offset"].clone(), complete(&shown.to_string(), Era::Modern))
    };
    for count in [1, 20, 80] {
        let (entries, next, _) = overview(count);
        assert_eq!((entries, next), (count, Value::Null), "of {count}");
    }
    // What is enough for them is all that they take.
    assert!(overview(18).2.chars().count() < 25_000);
    let (entries, next, written) = overview(500);
    assert!((80..500).contains(&entries) && next == json!(entries), "{entries}, then {next}");
    assert!(written.chars().count() < 120_000, "{}", written.chars().count());
}

#[test]
fn lists_are_cut_to_the_longest_that_leave_room_for_all() {
    let names = |count: usize| json!({ "san": vec!["name.example.com"; count] });
    for (entries, count, left) in [(1, 2_000, 200), (3, 300, 100), (12, 60, 25)] {
        let shown = listed(vec![names(count); entries]);
        assert_eq!(shown["entries"], json!(vec![names(left); entries]), "{entries} of {count}");
        let hint = shown["hint"].as_str().expect("a hint");
        // One that is cut on its own is not longer in a listing of one.
        assert_eq!(hint.contains("a smaller limit"), entries > 1, "{hint}");
        assert!(hint.contains("REST"), "{hint}");
    }
}

#[test]
fn what_is_cut_in_an_entry_is_said_by_name() {
    let long_list = json!({ "id": 1, "result": { "san": vec!["name.example.com"; 2_000] } });
    let long_text = json!({ "id": 2, "message": "x".repeat(2_000) });
    for (entry, name) in [(long_list, "san"), (long_text, "message")] {
        let alone = listed(vec![entry.clone()]);
        assert_eq!((&alone["truncated"], &alone["next_offset"]), (&json!(true), &Value::Null));
        let hint = alone["hint"].as_str().expect("a hint");
        assert!(hint.contains(&format!("({name})")) && hint.contains("REST"), "{hint}");
        let first = listed(vec![entry; 300]);
        let hint = first["hint"].as_str().expect("a hint");
        let next = first["next_offset"].as_u64().expect("a number");
        assert!(hint.contains(&format!("list_entries with offset {next}")), "{hint}");
        assert!(hint.contains(&format!("({name})")), "{hint}");
    }
}

#[test]
fn what_is_cut_outside_of_listings_is_said_by_name() {
    let mut members = Map::new();
    for nth in 0..9 {
        members.insert(format!("{nth}{}", "n".repeat(40)), "x".repeat(2_000).into());
    }
    let cut = parsed(&bounded(Value::Object(members)));
    let hint = cut["hint"].as_str().expect("a hint");
    assert!(hint.contains("(0nnn") && hint.contains("…, others)"), "{hint}");
}

#[test]
fn of_a_history_the_end_is_kept() {
    let last = |updates: &Value| updates.as_array().and_then(|all| all.last().cloned());
    let long = incident(100, 900);
    let told = parsed(&bounded(json!({ "incident": long })));
    let listed = listed(vec![long.clone()]);
    for (answer, incident) in [(&told, &told["incident"]), (&listed, &listed["entries"][0])] {
        assert!(answer["hint"].as_str().is_some_and(|hint| hint.contains("(updates)")));
        assert_eq!(last(&incident["updates"]), last(&long["updates"]));
        assert!(incident["updates"].as_array().is_some_and(|kept| kept.len() > 1));
    }
}
