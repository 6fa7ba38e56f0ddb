//! Chains, one for each way to be right or wrong.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    KeyPair, NameConstraints, SanType, date_time_ymd,
};

use crate::{
    egress::Trust,
    lab::now,
    pki::{self, Ca, Pki, ca_params, der, issue, leaf_params, self_signed},
    probes::x509::{Examination, ExamineRequest, Verification, examine_offline},
};

#[test]
fn a_good_chain_is_valid_in_every_order_and_with_extras() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["example.com"]);
    let (int, root) = (der(&pki.intermediate), der(&pki.root));
    let stranger = der(&pki::root("Stranger"));
    let l = || leaf.der.clone();
    let orders: [Vec<Vec<u8>>; 6] = [
        vec![l(), int.clone()],
        vec![l(), int.clone(), root.clone()],
        vec![l(), root.clone(), int.clone()],
        vec![l(), stranger.clone(), int.clone(), stranger],
        vec![l(), int.clone(), l(), int.clone()],
        vec![l(), b"not a certificate".to_vec(), int],
    ];
    for (index, chain) in orders.into_iter().enumerate() {
        let found = judge(&chain, "example.com", &[&pki.root]);
        assert_eq!(found.verification.error, None, "order {index}");
        let expected = Verification {
            trusted: true,
            chain_complete: true,
            hostname_matches: true,
            time_valid: true,
            purpose_valid: true,
            ..Verification::default()
        };
        assert_eq!(found.verification, expected, "order {index}");
        assert_eq!(found.chain.len(), chain.len(), "nothing is appended or left out");
        for (shown, der) in found.chain.iter().zip(&chain) {
            let member = *der == leaf.der
                || [&pki.root, &pki.intermediate].iter().any(|ca| *der == self::der(ca));
            assert_eq!(shown.in_trust_path, member, "{} in order {index}", shown.subject);
        }
    }
}

#[test]
fn dates_are_inclusive_at_both_ends() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["example.com"]);
    let chain = pki.chain(&leaf);
    let first = date_time_ymd(2026, 1, 1).unix_timestamp();
    let last = date_time_ymd(2027, 1, 1).unix_timestamp();
    let table = [
        (first - 1, Some("certificate_not_yet_valid")),
        (first, None),
        (last, None),
        (last + 1, Some("certificate_expired")),
    ];
    for (at, expected) in table {
        let found = judge_at(&chain, "example.com", &[&pki.root], at);
        assert_eq!(found.verification.error.as_deref(), expected, "at {at}");
        assert_eq!(found.verification.time_valid, expected.is_none());
        assert!(found.verification.trusted, "dates are a fact of their own");
        assert!(found.chain[0].in_trust_path);
    }
}

#[test]
fn an_expired_leaf_outranks_whatever_else_is_wrong() {
    let pki = Pki::new();
    let mut params = leaf_params(&["other.example"]);
    params.not_after = date_time_ymd(2026, 2, 1);
    let leaf = issue(params, &pki.intermediate);
    let found = judge(&[leaf.der], "example.com", &[&pki.root]).verification;
    assert_eq!(found.error.as_deref(), Some("certificate_expired"));
    assert!(!found.hostname_matches && !found.time_valid && !found.chain_complete);
    assert_eq!(found.missing_issuer.as_deref(), Some("Lab Intermediate"));
}

#[test]
fn an_intermediate_that_expired_on_the_only_path_is_expired_too() {
    let root = pki::root("Lab Root");
    for (from, to, token, sentence) in [
        (2025, 2026, "certificate_expired", "expired intermediate \"Old\""),
        (2027, 2028, "certificate_not_yet_valid", "intermediate not yet valid \"Old\""),
    ] {
        let mut params = ca_params("Old");
        (params.not_before, params.not_after) =
            (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        let old = Ca::signed_by(params, KeyPair::generate().unwrap(), &root).unwrap();
        let leaf = issue(leaf_params(&["example.com"]), &old);
        let found = judge(&[leaf.der, der(&old)], "example.com", &[&root]).verification;
        assert_eq!(found.error.as_deref(), Some(token));
        assert_eq!(found.chain_error.as_deref(), Some(sentence));
    }
}

/// AddTrust 2020 and DST X3 2021: the top that was sent is signed by a root that has expired,
/// while another trusted root has the same name and key.
#[test]
fn a_cross_signature_of_an_expired_root_does_not_spoil_the_path() {
    let mut old_params = ca_params("Old Root");
    old_params.not_after = date_time_ymd(2026, 2, 1);
    let old = Ca::self_signed(old_params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let bytes = key.serialize_der();
    let again = || KeyPair::try_from(bytes.as_slice()).unwrap();
    let new = Ca::self_signed(ca_params("New Root"), again()).unwrap();
    let mut cross_params = ca_params("New Root");
    cross_params.not_after = date_time_ymd(2026, 2, 1);
    let cross = Ca::signed_by(cross_params, again(), &old).unwrap();
    let int = pki::intermediate("Lab Intermediate", &new);
    let leaf = issue(leaf_params(&["example.com"]), &int);
    let chain = [leaf.der, der(&int), der(&cross), der(&old)];
    for roots in [vec![&new], vec![&new, &old], vec![&old, &new]] {
        let found = judge(&chain, "example.com", &roots);
        assert_eq!(found.verification.error, None);
        assert!(found.chain[1].in_trust_path && !found.chain[2].in_trust_path);
    }
    let found = judge(&chain, "example.com", &[&old]).verification;
    assert_eq!(found.error.as_deref(), Some("certificate_expired"), "now it is the only path");
}

#[test]
fn names_are_matched_against_the_alternative_names_alone() {
    let pki = Pki::new();
    let table: [(&[&str], &str, bool); 8] = [
        (&["example.com"], "EXAMPLE.com.", true),
        (&["example.com"], "www.example.com", false),
        (&["*.example.com"], "www.example.com", true),
        (&["xn--bcher-kva.de"], "bücher.de", true),
        (&["192.0.2.7"], "192.0.2.7", true),
        (&["2001:db8::7"], "2001:db8:0:0::7", true),
        (&["192.0.2.7"], "192.0.2.8", false),
        (&[], "leaf.example.com", false),
    ];
    for (names, reference, matches) in table {
        let leaf = pki.leaf(names);
        let found = judge(&pki.chain(&leaf), reference, &[&pki.root]).verification;
        assert_eq!(found.hostname_matches, matches, "{names:?} for {reference}");
        let error = (!matches).then_some("hostname_mismatch");
        assert_eq!(found.error.as_deref(), error);
        assert!(found.trusted);
    }
}

#[test]
fn a_self_signed_leaf_is_complete_and_not_trusted() {
    let leaf = self_signed(leaf_params(&["example.com"]));
    let found = judge(&[leaf.der], "example.com", &[]);
    let verification = found.verification;
    assert_eq!(verification.error.as_deref(), Some("self_signed_certificate"));
    assert_eq!(verification.chain_error.as_deref(), Some("self-signed certificate"));
    assert!(verification.chain_complete && !verification.trusted);
    assert!(found.chain[0].self_signed && !found.chain[0].in_trust_path);
}

#[test]
fn a_private_root_that_was_sent_is_untrusted_not_incomplete() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["example.com"]);
    let chain = [pki.chain(&leaf), vec![der(&pki.root)]].concat();
    let found = judge(&chain, "example.com", &[]).verification;
    assert_eq!(found.error.as_deref(), Some("untrusted_root"));
    assert_eq!(found.chain_error.as_deref(), Some("untrusted root \"Lab Root\""));
    assert!(found.chain_complete);
}

#[test]
fn a_missing_intermediate_is_named() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["example.com"]);
    let found = judge(&[leaf.der.clone(), der(&pki.root)], "example.com", &[&pki.root]);
    let found = found.verification;
    assert_eq!(found.error.as_deref(), Some("incomplete_chain"));
    assert_eq!(found.chain_error.as_deref(), Some("unable to find issuer \"Lab Intermediate\""));
    assert_eq!(found.missing_issuer.as_deref(), Some("Lab Intermediate"));
    assert!(!found.chain_complete && !found.trusted && !found.completed_by_aia);
    // An untrusted root that was not sent is missing as well.
    let found = judge(&pki.chain(&leaf), "example.com", &[]).verification;
    assert_eq!(found.missing_issuer.as_deref(), Some("Lab Root"));
}

#[test]
fn another_key_of_the_same_name_is_no_issuer() {
    let pki = Pki::new();
    let other = pki::intermediate("Lab Intermediate", &pki.root);
    let leaf = pki.leaf(&["example.com"]);
    let found = judge(&[leaf.der, der(&other)], "example.com", &[&pki.root]).verification;
    assert_eq!(found.error.as_deref(), Some("incomplete_chain"), "the key identifier says so");
}

#[test]
fn a_forged_signature_is_told_from_a_missing_issuer() {
    let pki = Pki::new();
    let mut leaf = pki.leaf(&["example.com"]);
    *leaf.der.last_mut().unwrap() ^= 1;
    let found = judge(&pki.chain(&leaf), "example.com", &[&pki.root]);
    let verification = found.verification;
    assert_eq!(verification.error.as_deref(), Some("bad_signature"));
    assert_eq!(verification.chain_error.as_deref(), Some("bad signature on \"leaf\""));
    assert!(verification.chain_complete && !verification.trusted);
    assert!(!found.chain[0].in_trust_path);
}

#[test]
fn purposes_and_constraints_bind_the_path() {
    let pki = Pki::new();
    let mut client = leaf_params(&["example.com"]);
    client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let leaf = issue(client, &pki.intermediate);
    let found = judge(&pki.chain(&leaf), "example.com", &[&pki.root]).verification;
    assert_eq!(found.error.as_deref(), Some("invalid_purpose"));
    assert!(!found.purpose_valid && found.trusted);
    let sentence = "certificate not valid for server authentication";
    assert_eq!(found.chain_error.as_deref(), Some(sentence));

    let mut none = leaf_params(&["example.com"]);
    none.extended_key_usages.clear();
    let leaf = issue(none, &pki.intermediate);
    assert_eq!(judge(&pki.chain(&leaf), "example.com", &[&pki.root]).verification.error, None);

    type Spoil = fn(&mut CertificateParams);
    let spoilt: [(Spoil, &str); 4] = [
        (|params| params.is_ca = IsCa::ExplicitNoCa, "not a CA \"Spoilt\""),
        (
            |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::EmailProtection],
            "certificate not valid for server authentication",
        ),
        (
            |params| {
                params.name_constraints = Some(NameConstraints {
                    permitted_subtrees: vec![GeneralSubtree::DnsName("other.example".into())],
                    excluded_subtrees: Vec::new(),
                });
            },
            "name constraints violated \"Spoilt\"",
        ),
        (
            |params| params.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature],
            "not a CA \"Spoilt\"",
        ),
    ];
    for (spoil, sentence) in spoilt {
        let mut params = ca_params("Spoilt");
        spoil(&mut params);
        let int = Ca::signed_by(params, KeyPair::generate().unwrap(), &pki.root).unwrap();
        let leaf = issue(leaf_params(&["example.com"]), &int);
        let found = judge(&[leaf.der, der(&int)], "example.com", &[&pki.root]).verification;
        assert_eq!(found.chain_error.as_deref(), Some(sentence));
        assert_eq!(found.error.as_deref(), Some("invalid_purpose"));
    }
}

#[test]
fn a_path_must_not_be_longer_than_its_issuer_allows() {
    let mut params = ca_params("Lab Root");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = Ca::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let mut short = ca_params("Short");
    short.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let short = Ca::signed_by(short, KeyPair::generate().unwrap(), &root).unwrap();
    let below = pki::intermediate("Below", &short);
    let leaf = issue(leaf_params(&["example.com"]), &below);
    let chain = [leaf.der, der(&below), der(&short)];
    let found = judge(&chain, "example.com", &[&root]).verification;
    assert_eq!(found.error.as_deref(), Some("invalid_purpose"));
    assert_eq!(found.chain_error.as_deref(), Some("path length exceeded \"Short\""));
    let direct = issue(leaf_params(&["example.com"]), &short);
    let found = judge(&[direct.der, der(&short)], "example.com", &[&root]).verification;
    assert_eq!(found.error, None);
}

/// What `openssl req -x509` makes: a server certificate that says it is a CA.
#[test]
fn a_leaf_that_says_it_is_a_ca_is_odd_but_valid() {
    let mut params = leaf_params(&["example.com"]);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = Ca::self_signed(params.clone(), KeyPair::generate().unwrap()).unwrap();
    let found = judge(&[der(&own)], "example.com", &[&own]);
    assert_eq!(found.verification.error, None);
    assert!(found.chain[0].in_trust_path && found.chain[0].is_ca && found.chain[0].self_signed);
    let pki = Pki::new();
    let leaf = issue(params, &pki.intermediate);
    assert_eq!(judge(&pki.chain(&leaf), "example.com", &[&pki.root]).verification.error, None);
    let found = judge(&pki.chain(&leaf), "other.example", &[&pki.root]).verification;
    assert_eq!(found.error.as_deref(), Some("hostname_mismatch"));
}

#[test]
fn keys_and_signatures_of_the_past_are_weak() {
    // Made by hand: RSA 1024, sha1WithRSAEncryption, valid until the year 9999.
    let pem = include_bytes!("weak.pem");
    use rustls_pki_types::{CertificateDer, pem::PemObject};
    let chain: Vec<_> =
        CertificateDer::pem_slice_iter(pem).map(|der| der.unwrap().to_vec()).collect();
    let [leaf, root] = &chain[..] else { panic!("leaf and root") };
    let trust = Trust::new(&[CertificateDer::from(root.clone())]).unwrap();
    let found =
        examine_offline(&trust, &question(std::slice::from_ref(leaf), "weak.example")).unwrap();
    assert_eq!(found.verification.error.as_deref(), Some("weak_key"));
    assert!(!found.verification.trusted && found.verification.chain_complete);
    let shown = &found.chain[0];
    assert_eq!((shown.key_algorithm.as_str(), shown.key_bits), ("RSA", 1024));
    assert_eq!(shown.signature_algorithm, "sha1WithRSAEncryption");
    assert_eq!(shown.not_after, 253_402_300_799, "the last second of the year 9999");
    assert_eq!(shown.subject, "CN=weak.example,O=Old \\+ Sons\\, Ltd.,C=DE");
}

#[test]
fn the_facts_are_those_of_the_certificate() {
    let pki = Pki::new();
    let mut params = leaf_params(&["B.example.com", "a.example.com", "b.example.com"]);
    params.subject_alt_names.push(SanType::IpAddress("2001:db8::1".parse().unwrap()));
    params.subject_alt_names.push(SanType::Rfc822Name("x@example.com".try_into().unwrap()));
    params.serial_number = Some(rcgen::SerialNumber::from_slice(&[0x00, 0xab, 0xcd]));
    params.distinguished_name.push(DnType::OrganizationName, "Example, Inc.");
    params.custom_extensions.push(pki::authority_access(1, "http://ocsp.example/"));
    params.custom_extensions.push(rcgen::CustomExtension::from_oid_content(
        &[1, 3, 6, 1, 5, 5, 7, 1, 24],
        vec![0x30, 3, 2, 1, 5],
    ));
    let leaf = issue(params, &pki.intermediate);
    let found = judge(&pki.chain(&leaf), "a.example.com", &[&pki.root]);
    let shown = &found.chain[0];
    assert_eq!(shown.subject, "O=Example\\, Inc.,CN=leaf");
    assert_eq!(shown.issuer, "CN=Lab Intermediate");
    assert_eq!(shown.issuer_cn.as_deref(), Some("Lab Intermediate"));
    assert_eq!(shown.issuer_org, None);
    assert_eq!(shown.serial, "abcd");
    assert_eq!(shown.san_dns, ["b.example.com", "a.example.com"], "each once, in order");
    assert_eq!(shown.san_ip, ["2001:db8::1"]);
    assert_eq!(shown.signature_algorithm, "ecdsa-with-SHA256");
    assert_eq!((shown.key_algorithm.as_str(), shown.key_bits), ("EC", 256));
    assert!(shown.has_ocsp_url && shown.must_staple && !shown.is_ca && !shown.self_signed);
    assert_eq!(shown.sct_count, 0);
    assert_eq!(shown.sha256.len(), 64);
    assert!(found.chain[1].is_ca && !found.chain[1].must_staple);
}

#[test]
fn a_precertificate_and_its_certificate_have_one_tbs_hash() {
    let pki = Pki::new();
    let key = KeyPair::generate().unwrap();
    let build = |extension: Option<(&[u64], Vec<u8>)>| {
        let mut params = leaf_params(&["example.com"]);
        params.serial_number = Some(rcgen::SerialNumber::from_slice(&[7]));
        if let Some((oid, content)) = extension {
            params.custom_extensions.push(rcgen::CustomExtension::from_oid_content(oid, content));
        }
        let der = params.signed_by(&key, &pki.intermediate).unwrap().der().to_vec();
        judge(&[der], "example.com", &[]).chain.remove(0)
    };
    let plain = build(None);
    let poisoned = build(Some((&[1, 3, 6, 1, 4, 1, 11129, 2, 4, 3], vec![5, 0])));
    let stamped = build(Some((&[1, 3, 6, 1, 4, 1, 11129, 2, 4, 2], vec![4, 2, 0, 0])));
    let other = build(Some((&[1, 3, 6, 1, 4, 1, 11129, 2, 4, 9], vec![5, 0])));
    assert_eq!(plain.tbs_sha256, poisoned.tbs_sha256);
    assert_eq!(plain.tbs_sha256, stamped.tbs_sha256);
    assert_ne!(plain.tbs_sha256, other.tbs_sha256);
    assert_ne!(plain.sha256, poisoned.sha256);
    assert_eq!(plain.spki_sha256, other.spki_sha256);
}

#[test]
fn what_is_no_certificate_is_malformed() {
    let pki = Pki::new();
    let found = judge(&[b"junk".to_vec(), der(&pki.root)], "example.com", &[&pki.root]);
    assert_eq!(found.verification.error.as_deref(), Some("malformed_certificate"));
    assert_eq!(found.chain[0].subject, "");
    assert_eq!(found.chain[1].subject, "CN=Lab Root");
    let nothing = examine_offline(&trust(&[]), &question(&[], "example.com"));
    assert!(nothing.is_err());
}

/// Twenty certificates that all bear one name, each able to have signed each.
#[test]
fn a_maze_of_one_name_ends_soon() {
    let key = KeyPair::generate().unwrap();
    let bytes = key.serialize_der();
    let again = || KeyPair::try_from(bytes.as_slice()).unwrap();
    let maze = |serial: u8| {
        let mut params = ca_params("Maze");
        params.serial_number = Some(rcgen::SerialNumber::from_slice(&[serial]));
        params
    };
    let first = Ca::self_signed(maze(1), again()).unwrap();
    let leaf = issue(leaf_params(&["example.com"]), &first);
    let others = (2..21).map(|serial| der(&Ca::signed_by(maze(serial), again(), &first).unwrap()));
    let chain: Vec<_> = std::iter::once(leaf.der).chain(others).collect();
    let started = std::time::Instant::now();
    let found = judge(&chain, "example.com", &[]).verification;
    assert_eq!(found.error.as_deref(), Some("untrusted_root"));
    assert!(started.elapsed().as_secs() < 60, "took {:?}", started.elapsed());
}

fn judge(chain: &[Vec<u8>], name: &str, roots: &[&Ca]) -> Examination {
    judge_at(chain, name, roots, now().timestamp())
}

fn judge_at(chain: &[Vec<u8>], name: &str, roots: &[&Ca], at: i64) -> Examination {
    let question = ExamineRequest { at, ..question(chain, name) };
    examine_offline(&trust(roots), &question).unwrap()
}

fn trust(roots: &[&Ca]) -> Trust {
    let roots: Vec<_> = roots.iter().map(|root| root.der().clone()).collect();
    Trust::new(&roots).unwrap()
}

fn question(chain: &[Vec<u8>], name: &str) -> ExamineRequest {
    ExamineRequest {
        chain: chain.to_vec(),
        server_name: name.to_owned(),
        at: now().timestamp(),
        staple: None,
        complete: false,
    }
}
