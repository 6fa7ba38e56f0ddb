//! Our verdict is the one that the rules demand.

use std::collections::BTreeSet;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use rcgen::{DnType, DnValue, IsCa};
use rustls_pki_types::CertificateDer;
use vedette_sandbox::{
    egress::Trust,
    probes::x509::{Examination, ExamineRequest, examine_offline},
};

use crate::{
    cases::{self, Case, Scene},
    encoding::tlv,
    maker::{self, INTERMEDIATE, Kind, ROOT, SECOND, STRANGER, as_is, der, key},
};

/// What we say of a case.
pub(crate) fn judge(case: &Case) -> Examination {
    let roots: Vec<_> = case.roots.iter().map(|der| CertificateDer::from(der.clone())).collect();
    let request = ExamineRequest {
        chain: case.chain.clone(),
        server_name: case.host.to_owned(),
        at: case.at,
        staple: None,
        complete: false,
    };
    examine_offline(&Trust::new(&roots).unwrap(), &request).unwrap()
}

#[test]
fn every_verdict_is_the_expected_one() {
    let cases = cases::all();
    let mut wrong = Vec::new();
    for case in cases {
        let found = judge(case).verification;
        if found.error.as_deref() != case.expected {
            wrong.push(format!("{}: {found:?}, expected {:?}", case.title(), case.expected));
        }
    }
    println!("expected verdicts: {} of {}", cases.len() - wrong.len(), cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An issuer is known by its name however it is written (RFC 5280 section 7.1).
#[test]
fn names_are_compared_without_regard_to_how_they_are_written() {
    let scene = Scene::new(Kind::P256);
    let printable = |text: &str| DnValue::PrintableString(text.try_into().unwrap());
    for name in [
        printable("Lab Intermediate"),
        printable("LAB  intermediate"),
        DnValue::Utf8String("lab Intermediate ".to_owned()),
    ] {
        let twin = maker::below(&scene.root, Kind::P256, "", INTERMEDIATE, &|params| {
            params.distinguished_name.remove(DnType::CommonName);
            params.distinguished_name.push(DnType::CommonName, name.clone());
        });
        let chain = vec![scene.leaf(&as_is), der(&twin)];
        let found = judge(&scene.case("names", "alike", chain));
        assert_eq!(found.verification.error, None, "{name:?}");
    }
    let root = maker::root(Kind::P256, "Lab Root", ROOT, &|params| {
        params.distinguished_name.remove(DnType::CommonName);
        params.distinguished_name.push(DnType::CommonName, printable("LAB ROOT"));
    });
    let case = scene.case("names", "alike", scene.chain(&as_is)).roots(&[&root]);
    assert_eq!(judge(&case).verification.error, None, "of a trusted root, too");
}

/// OpenSSL refuses them, though little hangs on what they say.
#[test]
fn malformed_key_identifiers_and_revocation_lists_are_malformed() {
    const SUBJECT_KEY: u64 = 14;
    const REVOCATION_LISTS: u64 = 31;
    const AUTHORITY_KEY: u64 = 35;
    let scene = Scene::new(Kind::P256);
    for last in [SUBJECT_KEY, REVOCATION_LISTS, AUTHORITY_KEY] {
        let chain = scene.chain(&|leaf| {
            leaf.use_authority_key_identifier_extension = false;
            leaf.custom_extensions.push(maker::extension(&[2, 5, 29, last], b"junk", false));
        });
        let found = judge(&scene.case("extensions", "malformed", chain)).verification;
        assert_eq!(found.error.as_deref(), Some("malformed_certificate"), "{last}");
    }
}

/// A key that the one before it certified bears its own name as that of its issuer, which is
/// another one nevertheless.
#[test]
fn the_issuer_of_a_new_key_is_missing_where_it_is_another() {
    let scene = Scene::new(Kind::P256);
    let old = maker::root(Kind::P256, "Rollover", STRANGER, &as_is);
    let own_id = digest(&SHA1_FOR_LEGACY_USE_ONLY, key(Kind::P256, SECOND).public_key_raw());
    let own_id = tlv(0x30, &tlv(0x80, own_id.as_ref()));
    let method = tlv(6, &[0x2b, 6, 1, 5, 5, 7, 0x30, 2]);
    let url = [method, tlv(0x86, b"http://ca.example/")].concat();
    let url = tlv(0x30, &tlv(0x30, &url));
    let authority_key = |id: &[u8]| maker::extension(&[2, 5, 29, 35], id, false);
    let access = maker::extension(&[1, 3, 6, 1, 5, 5, 7, 1, 1], &url, false);
    let table = [
        ("the old key", true, vec![], "incomplete_chain"),
        ("its own key", false, vec![authority_key(&own_id)], "untrusted_root"),
        ("no key", false, vec![], "untrusted_root"),
        ("no key, and a place", false, vec![access.clone()], "incomplete_chain"),
        ("its own key, and a place", false, vec![authority_key(&own_id), access], "untrusted_root"),
    ];
    for (named, by_old_key, more, expected) in table {
        let new = maker::below(&old, Kind::P256, "Rollover", SECOND, &|ca| {
            // Without an identifier of its own key, which would come with this word.
            ca.is_ca = IsCa::NoCa;
            ca.custom_extensions.push(maker::extension(&[2, 5, 29, 19], &IS_CA, true));
            ca.custom_extensions.extend(more.clone());
            ca.use_authority_key_identifier_extension = by_old_key;
        });
        let chain = vec![maker::leaf(&new, Kind::P256, &as_is), der(&new)];
        let found = judge(&scene.case("rollover", "new with old", chain)).verification;
        assert_eq!(found.error.as_deref(), Some(expected), "{named}");
        assert_eq!(found.chain_complete, expected == "untrusted_root", "{named}");
    }
}

#[test]
fn there_are_enough_cases_of_every_family() {
    let cases = cases::all();
    assert!(cases.len() >= 250, "{}", cases.len());
    let titles: BTreeSet<_> = cases.iter().map(Case::title).collect();
    assert_eq!(titles.len(), cases.len(), "every case has a title of its own");
    let tokens: BTreeSet<_> = cases.iter().filter_map(|case| case.expected).collect();
    let all = [
        "bad_signature",
        "certificate_expired",
        "certificate_not_yet_valid",
        "hostname_mismatch",
        "incomplete_chain",
        "invalid_purpose",
        "malformed_certificate",
        "self_signed_certificate",
        "untrusted_root",
        "weak_key",
    ];
    assert_eq!(tokens, all.into());
}

/// The facts fit the verdict and each other, in every case.
#[test]
fn facts_agree_with_verdicts() {
    for case in cases::all() {
        let Examination { chain, verification: facts, ocsp_staple } = judge(case);
        let title = case.title();
        assert_eq!(chain.len(), case.chain.len(), "{title}: as served, nothing appended");
        assert_eq!(ocsp_staple, None, "{title}");
        if facts.error.is_none() {
            assert!(facts.trusted && facts.chain_complete && facts.hostname_matches, "{title}");
            assert!(facts.time_valid && facts.purpose_valid, "{title}");
            assert_eq!(facts.chain_error, None, "{title}");
            assert!(chain[0].in_trust_path, "{title}");
        }
        assert_eq!(facts.missing_issuer.is_some(), !facts.chain_complete, "{title}");
        if facts.error.as_deref() == Some("incomplete_chain") {
            assert!(!facts.chain_complete, "{title}");
        }
        let beginning = facts
            .chain_error
            .as_deref()
            .map(|sentence| STARTS.iter().any(|start| sentence.starts_with(start)));
        assert_ne!(beginning, Some(false), "{title}: {:?}", facts.chain_error);
        if let Some("invalid_purpose" | "incomplete_chain" | "untrusted_root" | "bad_signature") =
            facts.error.as_deref()
        {
            assert!(facts.chain_error.is_some(), "{title}");
        }
    }
}

/// basicConstraints.
const IS_CA: [u8; 5] = [0x30, 3, 1, 1, 0xff];

/// How a sentence about the chain begins.
const STARTS: [&str; 11] = [
    "self-signed certificate",
    "untrusted root \"",
    "missing intermediate \"",
    "unable to find issuer \"",
    "expired intermediate \"",
    "intermediate not yet valid \"",
    "bad signature on \"",
    "not a CA \"",
    "path length exceeded \"",
    "name constraints violated \"",
    "certificate not valid for server authentication",
];
