//! Which certificate stands at which place, over several looks, and what is listed of them.

use super::*;

/// An entry of what was served: its names, whom it is of, and whether it names a host.
fn served(subject: &str, issuer: &str, names_hosts: bool) -> Value {
    let san = if names_hosts { json!([subject]) } else { json!([]) };
    json!({ "subject": subject, "issuer": issuer, "not_after": at(30), "san": san })
}

/// The looks of a report: which certificate each is of, and the subjects of its chain.
fn told_apart(results: Value) -> Vec<(Option<String>, Vec<String>)> {
    let looks = report(results).unwrap().oldest_first(at(0), Vec::new());
    let subjects = |look: &Look| look.certificates.iter().map(|one| one.subject.clone()).collect();
    looks.iter().map(|(_, look)| (look.place.beside.clone(), subjects(look))).collect()
}

#[test]
fn a_chain_is_one_look_in_whatever_order_it_is_served() {
    let (leaf, inner, root) = (
        served("web", "inner", true),
        served("inner", "root", false),
        served("root", "root", false),
    );
    let stray = served("stray", "old root", false);
    for (served, chain) in [
        (json!([leaf, inner, root]), vec!["web", "inner", "root"]),
        (json!([root, inner, leaf]), vec!["web", "root", "inner"]),
        (json!([leaf, inner, inner]), vec!["web", "inner"]),
        (json!([leaf, stray]), vec!["web", "stray"]),
        (json!([leaf, leaf]), vec!["web"]),
        (json!([root]), vec!["root"]),
        (json!([]), vec![]),
    ] {
        let result = json!([{ "host": "db01", "port": 443, "certificates": served }]);
        let chain: Vec<String> = chain.into_iter().map(str::to_owned).collect();
        assert_eq!(told_apart(result), [(None, chain)], "{served}");
    }
}

#[test]
fn each_leaf_of_a_place_is_a_look_for_itself() {
    let of =
        |certificates: Value| json!({ "host": "db01", "port": 443, "certificates": certificates });
    let inner = served("inner", "root", false);
    let (web, mail) = (served("web", "inner", true), served("mail", "inner", true));
    let mut second = web.clone();
    second["serial_number"] = json!("02");
    let both = |subjects: [&str; 2]| subjects.map(str::to_owned).to_vec();
    let expected = [
        (None, both(["web", "inner"])),
        (Some("mail".to_owned()), both(["mail", "inner"])),
        (Some("web #2".to_owned()), both(["web", "inner"])),
    ];
    let at_once = json!([of(json!([web, mail, second, inner]))]);
    assert_eq!(told_apart(at_once), expected);
    let one_by_one =
        json!([of(json!([web, inner])), of(json!([mail, inner])), of(json!([second]))]);
    assert_eq!(told_apart(one_by_one), expected);

    let gone = json!([of(json!([web])), of(json!([]))]);
    assert_eq!(told_apart(gone), [(None, vec![])], "the later look saw none");
    let looks = report(json!([of(json!([web, mail]))])).unwrap().oldest_first(at(0), Vec::new());
    let ids: Vec<_> = looks.iter().map(|(_, look)| look.place.id(account(), agent_id())).collect();
    assert_ne!(ids[0], ids[1]);
    assert_eq!(looks[1].1.place.to_string(), "db01 (mail)");
}

/// A leaf with a serial number of its own.
fn leaf(subject: &str, serial_number: &str) -> Value {
    let mut leaf = served(subject, "inner", true);
    leaf["serial_number"] = json!(serial_number);
    leaf
}

/// The looks of a report about one place that comes when this is known.
fn looks_after(known: &[Sighting], minutes: i64, served: Value) -> Vec<(Timestamp, Look)> {
    looks_in_turn(known, &[(minutes, served)])
}

/// The same where the place has several results, each of its minute.
fn looks_in_turn(known: &[Sighting], served: &[(i64, Value)]) -> Vec<(Timestamp, Look)> {
    let mut results = Vec::new();
    for (minutes, served) in served {
        results.push(json!({
            "host": "db01", "port": 443, "certificates": served, "checked_at": at(*minutes),
        }));
    }
    report(json!(results)).unwrap().oldest_first(at(60), known.to_vec())
}

fn sightings(looks: &[(Timestamp, Look)]) -> Vec<Sighting> {
    looks.iter().map(|(at, look)| Sighting::of(look, *at, account(), agent_id(), *at)).collect()
}

fn seen_after(known: &[Sighting], minutes: i64, served: Value) -> Vec<Sighting> {
    sightings(&looks_after(known, minutes, served))
}

/// Where each stands, and its serial number; none of one that is gone.
fn stands(sightings: &[Sighting]) -> Vec<(Option<&str>, Option<&str>)> {
    let leaves = sightings.iter().map(|one| one.leaf.as_ref());
    let serials = leaves.map(|leaf| leaf.and_then(|leaf| leaf.serial_number.as_deref()));
    sightings.iter().map(|one| one.place.beside.as_deref()).zip(serials).collect()
}

#[test]
fn a_leaf_stands_where_it_was_seen_in_whatever_order_the_leaves_are_served() {
    let (web, mail, other) = (leaf("web", "1"), leaf("mail", "2"), leaf("other", "5"));
    let known = seen_after(&[], 0, json!([web, mail]));
    let beside = Some("mail");
    assert_eq!(stands(&known), [(None, Some("1")), (beside, Some("2"))]);
    let mut renamed = leaf("mail 2", "6");
    renamed["san"] = json!(["mail"]);
    for (served, expected) in [
        (json!([mail, web]), vec![(None, Some("1")), (beside, Some("2"))]),
        // Renewed, the one or both.
        (json!([mail, leaf("web", "3")]), vec![(None, Some("3")), (beside, Some("2"))]),
        (
            json!([leaf("mail", "4"), leaf("web", "3")]),
            vec![(None, Some("3")), (beside, Some("4"))],
        ),
        (json!([renamed, web]), vec![(None, Some("1")), (beside, Some("6"))]),
        // Another one takes the place's stand where its own is gone, and no other.
        (json!([mail, other]), vec![(None, Some("5")), (beside, Some("2"))]),
        (
            json!([other, mail, web]),
            vec![(None, Some("1")), (beside, Some("2")), (Some("other"), Some("5"))],
        ),
        (json!([]), vec![(None, None)]),
    ] {
        assert_eq!(stands(&seen_after(&known, 1, served.clone())), expected, "{served}");
    }
}

#[test]
fn a_leaf_that_is_not_served_beside_others_is_gone() {
    let (web, mail, other) = (leaf("web", "1"), leaf("mail", "2"), leaf("other", "5"));
    let known = seen_after(&[], 0, json!([web, mail]));
    let beside = Some("mail");
    for (served, expected) in [
        (json!([web]), vec![(None, Some("1")), (beside, None)]),
        (json!([web, other]), vec![(None, Some("1")), (Some("other"), Some("5")), (beside, None)]),
        // Also that of the place: who stands beside it stays there.
        (json!([mail]), vec![(beside, Some("2")), (None, None)]),
    ] {
        assert_eq!(stands(&seen_after(&known, 1, served.clone())), expected, "{served}");
    }

    let looks = looks_after(&known, 1, json!([web]));
    let gone = &looks[1].1;
    assert!(gone.is_gone() && !looks[0].1.is_gone());
    let result = gone.result(at(1));
    assert_eq!((&result["domain"], &result["valid"]), (&json!("db01 (mail)"), &json!(true)));
    assert_eq!((&result["error"], &result["expires_at"]), (&Value::Null, &Value::Null));

    let without = seen_after(&known, 1, json!([web]));
    assert_eq!(stands(&seen_after(&without, 2, json!([web]))), [(None, Some("1"))], "told once");
    let back = seen_after(&without, 2, json!([mail, web]));
    assert_eq!(stands(&back), stands(&known));
    assert_eq!(back[1].id, known[1].id);
}

#[test]
fn who_is_known_never_takes_the_stand_of_the_place() {
    let (web, mail, other) = (leaf("web", "1"), leaf("mail", "2"), leaf("other", "5"));
    let known = seen_after(&[], 0, json!([web, mail]));
    let beside = Some("mail");
    let without = seen_after(&known, 1, json!([mail]));
    assert_eq!(stands(&without), [(beside, Some("2")), (None, None)]);
    assert_eq!(without[0].id, known[1].id);
    assert_eq!(stands(&seen_after(&without, 2, json!([mail]))), [(beside, Some("2"))], "told once");
    for (served, expected) in [
        (json!([web, mail]), vec![(None, Some("1")), (beside, Some("2"))]),
        (json!([mail, web]), vec![(None, Some("1")), (beside, Some("2"))]),
        (json!([web]), vec![(None, Some("1")), (beside, None)]),
        (json!([other, mail]), vec![(None, Some("5")), (beside, Some("2"))]),
        (json!([mail, other]), vec![(None, Some("5")), (beside, Some("2"))]),
    ] {
        assert_eq!(stands(&seen_after(&without, 2, served.clone())), expected, "{served}");
    }

    // A server that shows the one, or both, by turns.
    let both = json!([web, mail]);
    let rounds = [(1, json!([mail])), (2, both.clone()), (3, json!([mail])), (4, both)];
    let alone = [(beside, Some("2")), (None, None)];
    let expected = [alone, [(None, Some("1")), (beside, Some("2"))]].concat().repeat(2);
    assert_eq!(stands(&sightings(&looks_in_turn(&known, &rounds))), expected);
}

#[test]
fn what_is_wrong_is_said_of_the_first_that_is_there() {
    let (web, mail) = (leaf("web", "1"), leaf("mail", "2"));
    let known = seen_after(&[], 0, json!([web, mail]));
    let said = |served: Value| {
        let result = json!({
            "host": "db01", "port": 443, "certificates": served, "checked_at": at(1),
            "error": "hostname_mismatch",
        });
        let looks = report(json!([result])).unwrap().oldest_first(at(60), known.clone());
        let error = |(at, look): &(Timestamp, Look)| look.verdict(*at).error.is_some();
        looks.iter().map(error).collect::<Vec<_>>()
    };
    assert_eq!(said(json!([mail, web])), [true, false]);
    assert_eq!(said(json!([mail])), [true, false], "it is not said of what is gone");
}

#[test]
fn a_look_that_is_not_whole_takes_nothing_away() {
    let (web, mail, other) = (leaf("web", "1"), leaf("mail", "2"), leaf("other", "5"));
    let known = seen_after(&[], 0, json!([web, mail]));
    let beside = Some("mail");
    let unread = json!({ "error": "x509: malformed certificate" });
    for (served, expected) in [
        (vec![(1, json!([web, unread]))], vec![(None, Some("1"))]),
        (vec![(1, json!([mail, unread]))], vec![(beside, Some("2"))]),
        (vec![(1, json!([unread, web]))], vec![(None, None)]),
        // The one that could not be read may be the place's own.
        (
            vec![(1, json!([mail, unread, other]))],
            vec![(beside, Some("2")), (Some("other"), Some("5"))],
        ),
        // Two results of one moment.
        (vec![(1, json!([])), (1, json!([web]))], vec![(None, Some("1"))]),
        (vec![(1, json!([web])), (1, json!([]))], vec![(None, None)]),
        (vec![(1, json!([])), (1, json!([mail]))], vec![(beside, Some("2"))]),
        (
            vec![(1, json!([web, unread])), (1, json!([other]))],
            vec![(None, Some("1")), (Some("other"), Some("5"))],
        ),
    ] {
        let looks = looks_in_turn(&known, &served);
        assert_eq!(stands(&sightings(&looks)), expected, "{served:?}");
        assert!(!looks.iter().any(|(_, look)| look.is_gone()), "{served:?}");
    }

    // What it did not show is known to the next, which may take it away.
    let looks = looks_in_turn(&known, &[(1, json!([web, unread])), (2, json!([web]))]);
    let expected = [(None, Some("1")), (None, Some("1")), (beside, None)];
    assert_eq!(stands(&sightings(&looks)), expected);
    let looks = looks_in_turn(&known, &[(1, json!([mail, unread])), (2, json!([mail, web]))]);
    let expected = [(beside, Some("2")), (None, Some("1")), (beside, Some("2"))];
    assert_eq!(stands(&sightings(&looks)), expected);
}

#[test]
fn a_new_leaf_takes_no_stand_of_one_that_could_not_be_read() {
    let web = leaf("web", "1");
    let mut renamed = leaf("mail 2", "6");
    renamed["san"] = json!(["mail"]);
    let first = seen_after(&[], 0, json!([web, leaf("mail", "2")]));
    let known = seen_after(&first, 1, json!([web, renamed]));
    assert_eq!(stands(&known)[1], (Some("mail"), Some("6")));
    let mut namesake = leaf("mail", "7");
    namesake["san"] = json!(["elsewhere"]);
    let served = json!([web, namesake, { "error": "malformed" }]);
    let expected = [(None, Some("1")), (Some("mail #2"), Some("7"))];
    assert_eq!(stands(&seen_after(&known, 2, served)), expected);
}

#[test]
fn a_look_that_comes_late_brings_and_takes_nothing() {
    let (web, mail, other) = (leaf("web", "1"), leaf("mail", "2"), leaf("other", "5"));
    let known = seen_after(&[], 0, json!([web, mail]));
    for minutes in [-1, 0] {
        let late = seen_after(&known, minutes, json!([other, mail, web]));
        assert_eq!(stands(&late), stands(&known), "{minutes}");
        let late = seen_after(&known, minutes, json!([web]));
        assert_eq!(stands(&late), [(None, Some("1"))], "{minutes}");
    }

    // The place's own is gone, and others have been seen since.
    let without = seen_after(&known, 1, json!([mail]));
    let mut since = seen_after(&without, 3, json!([mail]));
    since.push(without[1].clone());
    for minutes in [0, 1, 2, 3] {
        let late = seen_after(&since, minutes, json!([web, mail]));
        assert_eq!(stands(&late), [(Some("mail"), Some("2"))], "{minutes}");
    }

    // Where none was ever seen, that of the place comes through; whether it is noted, its moment
    // decides.
    let refused = seen_after(&[], 1, json!([]));
    assert_eq!(stands(&seen_after(&refused, 0, json!([web, mail]))), [(None, Some("1"))]);
}

#[test]
fn a_certificate_that_was_listed_twice_is_listed_once_again() {
    let (web, mail) = (leaf("web", "1"), leaf("mail", "2"));
    let mut known = seen_after(&[], 0, json!([mail]));
    let beside = Place { beside: Some("mail".to_owned()), ..known[0].place.clone() };
    known.push(Sighting { place: beside, ..known[0].clone() });
    let expected = [(None, Some("2")), (Some("web"), Some("1")), (Some("mail"), None)];
    assert_eq!(stands(&seen_after(&known, 1, json!([web, mail]))), expected);

    // Whatever else is said of it.
    let mut again = web.clone();
    merge(&mut again, &json!({ "is_valid": false, "error": "untrusted_root" }));
    assert_eq!(stands(&seen_after(&[], 0, json!([web, again]))), [(None, Some("1"))]);
}

#[test]
fn a_place_is_listed_with_the_certificate_that_it_showed_last() {
    let sighting =
        |look: Look, minutes| Sighting::of(&look, at(minutes), account(), agent_id(), at(60));
    let gone = || look(json!({ "certificates": [], "error": "connection_refused" }));
    let other = look(json!({ "host": "db02", "certificates": [{
        "subject": "CN=db02", "issuer": "Corp CA", "not_after": at(30),
    }] }));
    let never = look(json!({ "host": "db03", "certificates": [], "error": "dns_not_found" }));
    let all = [
        sighting(seen(json!({ "serial_number": "old" })), 0),
        sighting(seen(json!({ "serial_number": "new" })), 1),
        sighting(seen(json!({ "serial_number": "late" })), 0),
        sighting(gone(), 2),
        sighting(other, 0),
        sighting(never, 0),
    ];
    let latest = latest(all);
    assert_eq!(latest.len(), 3);
    let views = listed(&latest, at(60));
    assert_eq!(
        serde_json::to_value(&views).unwrap(),
        json!([
            {
                "id": latest.iter().find(|one| one.place.host == "db02").unwrap().id,
                "host": "db02", "port": 8443, "subject": "CN=db02", "issuer": "Corp CA",
                "serial_number": null, "not_before": null, "not_after": at(30),
                "days_remaining": -1, "is_valid": false, "fingerprint_sha256": null, "san": [],
                "error": "certificate_expired", "agent_id": agent_id(), "last_seen_at": at(0),
            },
            {
                "id": latest.iter().find(|one| one.place.host == "db01").unwrap().id,
                "host": "db01", "port": 8443, "subject": "CN=db01,O=Corp",
                "issuer": "CN=Corp CA,O=Corp", "serial_number": "new", "not_before": null,
                "not_after": "2027-01-25T08:00:00Z", "days_remaining": 9, "is_valid": false,
                "fingerprint_sha256": null, "san": [], "error": "connection_refused",
                "agent_id": agent_id(), "last_seen_at": at(2),
            },
        ])
    );
}
