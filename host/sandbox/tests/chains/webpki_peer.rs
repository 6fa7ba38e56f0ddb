//! rustls-webpki, the verifier of rustls, as a second opinion on whether a chain is valid.

use std::{collections::BTreeSet, time::Duration};

use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::{
    cases::{self, Case},
    verdict::judge,
};

#[test]
fn rustls_agrees_but_for_what_is_explained() {
    let cases = cases::all();
    let mut agreed = 0;
    let mut explanations = BTreeSet::new();
    let mut unexplained = Vec::new();
    for case in cases {
        let theirs = verify(case);
        let ours = judge(case).verification.error;
        let of_case =
            |(family, name, _): &(&str, &str, &str)| (*family, *name) == (case.family, case.name);
        match EXPLAINED.iter().position(of_case) {
            _ if theirs.is_ok() == ours.is_none() => agreed += 1,
            Some(explanation) => {
                explanations.insert(explanation);
            }
            None => unexplained.push(format!("{}: {theirs:?}, we {ours:?}", case.title())),
        }
    }
    let explained = cases.len() - agreed - unexplained.len();
    println!("rustls-webpki: agreed {agreed} of {}, {explained} explained", cases.len());
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
    assert_eq!(explanations.len(), EXPLAINED.len(), "only {explanations:?} are needed");
    assert!(agreed * 10 >= cases.len() * 9, "agreed {agreed} of {}", cases.len());
}

pub(crate) fn verify(case: &Case) -> Result<(), webpki::Error> {
    let roots: Vec<_> = case.roots.iter().map(|der| CertificateDer::from(der.as_slice())).collect();
    let anchors: Vec<_> =
        roots.iter().map(|root| webpki::anchor_from_trusted_cert(root).unwrap()).collect();
    let chain: Vec<_> = case.chain.iter().map(|der| CertificateDer::from(der.as_slice())).collect();
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let at = UnixTime::since_unix_epoch(Duration::from_secs(case.at.try_into().unwrap()));
    let leaf = webpki::EndEntityCert::try_from(&chain[0])?;
    leaf.verify_for_usage(
        provider.signature_verification_algorithms.all,
        &anchors,
        &chain[1..],
        at,
        webpki::KeyUsage::server_auth(),
        None,
        None,
    )?;
    leaf.verify_is_valid_for_subject_name(&ServerName::try_from(case.host).unwrap())
}

/// (family, name, why it differs)
const EXPLAINED: &[(&str, &str, &str)] = &[
    ("not a CA", "key signs no certificates", "it does not look at key usage"),
    ("key usage", "CRLs alone", "it does not look at key usage"),
    ("key usage", "content commitment alone", "it does not look at key usage"),
    ("purpose", "a CA's own", "it takes no CA for a server; everyone else does"),
    ("path length", "0, and the leaf is a CA", "it takes no CA for a server"),
    ("untrusted", "self-signed leaf that is trusted", "it takes no CA for a server"),
    ("path length", "0, below a self-issued one", "it counts self-issued certificates"),
    ("extensions", "critical policies", "it knows no policies; any will do here"),
    ("extensions", "critical policies in the intermediate", "it knows no policies"),
    ("dates", "leaf since 1950", "it reads no time before 1970"),
    ("name constraints", "permitted organisation", "it refuses all constraints of directory names"),
    ("name constraints", "permitted organisation in capitals", "it refuses them all"),
    ("name constraints", "names and organisation", "it refuses them all"),
];
