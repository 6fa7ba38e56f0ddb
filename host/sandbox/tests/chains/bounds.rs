//! However a chain is made, judging it takes a moment.

use std::time::{Duration, Instant};

use rcgen::{
    BasicConstraints, CertificateParams, GeneralSubtree, IsCa, NameConstraints, SanType,
    SerialNumber,
};
use vedette_sandbox::probes::x509::Verification;

use crate::{
    cases::{Case, Scene},
    encoding::tlv,
    maker::{self, Ca, Kind, LEAF, STRANGER, as_is, ca_params, der, extension, key},
    verdict::judge,
};

/// Twenty certificates of one name, each with a key of its own and no word about whose key signed
/// it: any may be the issuer of any.
#[test]
fn a_maze_of_one_name_ends_soon() {
    let scene = Scene::new(Kind::P256);
    let maze = |number: u8| {
        let mut params = ca_params("Maze");
        params.use_authority_key_identifier_extension = false;
        params.serial_number = Some(SerialNumber::from_slice(&[number]));
        params
    };
    let mut cas = vec![Ca::self_signed(maze(100), key(Kind::P256, 100)).unwrap()];
    for number in 101..119 {
        let above = cas.last().unwrap();
        cas.push(Ca::signed_by(maze(number), key(Kind::P256, number), above).unwrap());
    }
    let leaf = maker::leaf(cas.last().unwrap(), Kind::P256, &|leaf| {
        leaf.use_authority_key_identifier_extension = false;
    });
    let chain = std::iter::once(leaf).chain(cas.iter().skip(1).map(der)).collect();
    let found = soon(&scene.case("bounds", "maze", chain));
    assert!(!found.trusted, "{found:?}");
}

/// The same with one key for all, so that each certificate did sign each, and with the one that
/// leads to a root last.
#[test]
fn the_way_out_of_a_maze_of_one_key_is_found() {
    let scene = Scene::new(Kind::P256);
    let maze = |issuer: &Ca, number: u8, spoil: maker::Spoil<'_>| {
        maker::below(issuer, Kind::P256, "Maze", 100, &|params| {
            params.serial_number = Some(SerialNumber::from_slice(&[number]));
            spoil(params);
        })
    };
    let out = maze(&scene.root, 99, &as_is);
    let inner: Vec<_> = (1..19).map(|number| der(&maze(&out, number, &as_is))).collect();
    let leaf = maker::leaf(&out, Kind::P256, &as_is);
    let chain = [vec![leaf], inner, vec![der(&out)]].concat();
    let found = soon(&scene.case("bounds", "maze with a way out", chain));
    assert_eq!(found.error, None, "{found:?}");
}

/// Six floors with three certificates each: 729 ways up, all of them to nowhere or all but one.
#[test]
fn a_tower_of_choices_is_climbed_soon() {
    let scene = Scene::new(Kind::P256);
    let stranger = maker::root(Kind::P256, "Stranger", STRANGER, &as_is);
    for trusted in [false, true] {
        let mut floors: Vec<Vec<u8>> = Vec::new();
        let mut above: Option<Ca> = None;
        for floor in 0..6u8 {
            let name = format!("Floor {floor}");
            let make = |number: u8, spoil: maker::Spoil<'_>| {
                let issuer =
                    above.as_ref().unwrap_or(if trusted { &scene.root } else { &stranger });
                maker::below(issuer, Kind::P256, &name, 110 + floor, &|params| {
                    params.serial_number = Some(SerialNumber::from_slice(&[number]));
                    spoil(params);
                })
            };
            let no_ca: maker::Spoil<'_> = &|params| params.is_ca = IsCa::ExplicitNoCa;
            let old: maker::Spoil<'_> = &|params| maker::dates(params, 2024, 2025);
            let good = make(3, &as_is);
            floors.extend([der(&make(1, no_ca)), der(&make(2, old)), der(&good)]);
            above = Some(good);
        }
        let leaf = maker::leaf(&above.unwrap(), Kind::P256, &as_is);
        let chain = std::iter::once(leaf).chain(floors).collect();
        let found = soon(&scene.case("bounds", "tower", chain));
        let expected = (!trusted).then_some("incomplete_chain");
        assert_eq!(found.error.as_deref(), expected, "{found:?}");
    }
}

/// A chain may have 256 KiB: ten thousand names in the leaf, and constraints for the rest.
#[test]
fn ten_thousand_names_are_judged_soon() {
    let scene = Scene::new(Kind::P256);
    let many = |params: &mut CertificateParams| {
        let names = (0..10_000).map(|n| format!("h{n}.example.com"));
        let names = names.chain([crate::cases::HOST.to_owned()]);
        params.subject_alt_names =
            names.map(|name| SanType::DnsName(name.try_into().unwrap())).collect();
    };
    let found = judge(&scene.case("bounds", "names", scene.chain(&many)));
    assert_eq!(found.verification.error, None, "more than 64 KiB are legal");
    assert_eq!(found.chain[0].san_dns.len(), 10_001);

    let constrained = |count: usize| {
        let ca = scene.other(&|ca| {
            ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let bases =
                (1..count).map(|n| format!("n{n}.example")).chain(["example.com".to_owned()]);
            ca.name_constraints = Some(NameConstraints {
                permitted_subtrees: bases.map(GeneralSubtree::DnsName).collect(),
                excluded_subtrees: Vec::new(),
            });
        });
        vec![maker::leaf(&ca, Kind::P256, &many), der(&ca)]
    };
    let found = soon(&scene.case("bounds", "constraints", constrained(50)));
    assert_eq!(found.error, None, "{found:?}");
    // Five million comparisons are nobody's wish; what was not compared is not permitted.
    let found = soon(&scene.case("bounds", "too many constraints", constrained(500)));
    assert_eq!(found.error.as_deref(), Some("invalid_purpose"), "{found:?}");
}

/// A name without attributes has four octets, and a base that excludes one may have most of a chain.
#[test]
fn ten_thousand_empty_names_below_one_long_base_are_judged_soon() {
    let scene = Scene::new(Kind::P256);
    let directory = |sets: usize| tlv(0xa4, &tlv(0x30, &tlv(0x31, &[]).repeat(sets)));
    let excluded = tlv(0xa1, &tlv(0x30, &directory(30_000)));
    let ca = scene.other(&|ca| {
        ca.custom_extensions.push(extension(&[2, 5, 29, 30], &tlv(0x30, &excluded), true));
    });
    let leaf = maker::leaf(&ca, Kind::P256, &|leaf| {
        let host = tlv(0x82, crate::cases::HOST.as_bytes());
        let names = [host, directory(0).repeat(10_000)].concat();
        leaf.subject_alt_names.clear();
        leaf.custom_extensions.push(extension(&[2, 5, 29, 17], &tlv(0x30, &names), false));
    });
    let found = soon(&scene.case("bounds", "a long base", vec![leaf, der(&ca)]));
    assert_eq!(found.error.as_deref(), Some("invalid_purpose"), "{found:?}");
}

#[test]
fn an_issuer_is_found_behind_all_that_is_shown() {
    let scene = Scene::new(Kind::P256);
    let extra = |number: u8| {
        let mut params = maker::leaf_params(&["other.example"]);
        params.serial_number = Some(SerialNumber::from_slice(&[number]));
        params.self_signed(&key(Kind::P256, LEAF)).unwrap().der().to_vec()
    };
    let extras: Vec<_> = (1..200).map(extra).collect();
    let chain = [vec![scene.leaf(&as_is)], extras, vec![der(&scene.intermediate)]].concat();
    let found = judge(&scene.case("bounds", "behind the twentieth", chain));
    assert_eq!(found.verification.error, None);
    assert_eq!(found.chain.len(), 20, "no more are shown");
    let members = found.chain.iter().filter(|certificate| certificate.in_trust_path);
    assert_eq!(members.count(), 1, "the leaf alone is on the path of those");
}

/// Two names with one key each, and thirty certificates of each: any of the one name signed any of
/// the other.
#[test]
fn a_crowd_of_namesakes_is_searched_soon() {
    let scene = Scene::new(Kind::P256);
    let crowd = |issuer: &Ca, name: &str, key: u8| -> Vec<Ca> {
        let one = |number: u8| {
            maker::below(issuer, Kind::P256, name, key, &|params| {
                params.serial_number = Some(SerialNumber::from_slice(&[number]));
            })
        };
        (1..=30).map(one).collect()
    };
    let origin = maker::root(Kind::P256, "There", 121, &as_is);
    let here = crowd(&origin, "Here", 120);
    let there = crowd(&here[0], "There", 121);
    let leaf = maker::leaf(&here[0], Kind::P256, &as_is);
    let chain = std::iter::once(leaf).chain(here.iter().chain(&there).map(der)).collect();
    let found = soon(&scene.case("bounds", "crowd", chain));
    assert!(!found.trusted && !found.chain_complete, "{found:?}");
    assert_eq!(found.error.as_deref(), Some("incomplete_chain"), "{found:?}");
    let said = found.chain_error.as_deref();
    assert!(said.is_some_and(|said| said.starts_with("unable to find issuer")), "{found:?}");
}

/// Unoptimised, on a busy machine; what is exponential takes hours.
fn soon(case: &Case) -> Verification {
    let started = Instant::now();
    let found = judge(case);
    let took = started.elapsed();
    println!("{}: {took:?}", case.name);
    assert!(took < Duration::from_secs(60), "{} took {took:?}", case.name);
    assert_eq!(found.chain.len(), case.chain.len().min(20), "{} is shown", case.name);
    found.verification
}
