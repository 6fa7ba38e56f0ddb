//! A missing issuer, fetched where its certificate says, and what a hostile one can do there.

use std::time::Instant;

use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, KeyPair,
    NameConstraints, date_time_ymd,
};

use crate::{
    egress::{Audience, Egress, Policy},
    encoding::tlv,
    lab::{Canary, Http, authenticated, ok, policy, reach, redirect},
    pki::{self, Leaf, Pki, authority_access, der, issue, leaf_params},
    probes::x509::{ExamineRequest, Verification, examine},
};

#[tokio::test]
async fn an_issuer_is_fetched_in_each_form_and_never_makes_a_chain_valid() {
    let pki = Pki::new();
    let int = der(&pki.intermediate);
    let other = der(&pki::root("Unrelated"));
    let pem = pki.intermediate.pem().into_bytes();
    let bags = certificate_bag(&[&other, &int]);
    for (form, body) in [("DER", int.clone()), ("PEM", pem), ("PKCS #7", bags)] {
        let answer = ok("content-type: application/pkix-cert\r\n", &body);
        let server = Http::new(move |_| answer.clone()).await;
        let leaf = leaf_with(&pki, &[&server.url("/int.cer")]);
        let found = complete(&loopback(&pki), &[leaf.der]).await;
        assert!(found.completed_by_aia, "{form}");
        assert!(!found.trusted && !found.chain_complete, "{form}");
        assert_eq!(found.error.as_deref(), Some("incomplete_chain"));
        assert_eq!(
            found.chain_error.as_deref(),
            Some(
                "missing intermediate \"Lab Intermediate\" \
                 (not sent by the server; available via AIA)"
            )
        );
        assert_eq!(server.requests().len(), 1, "{form}");
    }
}

#[tokio::test]
async fn nothing_is_fetched_unless_it_may_be_and_is_missing() {
    let pki = Pki::new();
    let body = der(&pki.intermediate);
    let server = Http::new(move |_| ok("", &body)).await;
    let leaf = leaf_with(&pki, &[&server.url("/")]);
    let egress = loopback(&pki);
    let full = complete(&egress, &pki.chain(&leaf)).await;
    assert_eq!(full.error, None);
    let mut request = question(&[leaf.der]);
    request.complete = false;
    let found = examine(authenticated(&egress), request).await.unwrap().verification;
    assert!(!found.completed_by_aia);
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn what_did_not_sign_the_leaf_completes_nothing() {
    let pki = Pki::new();
    let namesake = der(&pki::intermediate("Lab Intermediate", &pki.root));
    let root = der(&pki.root);
    let big = vec![0x30; 10 << 20];
    let table: [Vec<u8>; 5] = [
        ok("", &namesake),
        ok("", &root),
        ok("", &big),
        ok("", b"<html>not here</html>"),
        b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
    ];
    for (index, answer) in table.into_iter().enumerate() {
        let server = Http::new(move |_| answer.clone()).await;
        let leaf = leaf_with(&pki, &[&server.url("/")]);
        let found = complete(&loopback(&pki), &[leaf.der]).await;
        assert!(!found.completed_by_aia, "answer {index}");
        assert_eq!(found.missing_issuer.as_deref(), Some("Lab Intermediate"));
        let sentence = "unable to find issuer \"Lab Intermediate\"";
        assert_eq!(found.chain_error.as_deref(), Some(sentence));
    }
}

#[tokio::test]
async fn an_issuer_that_no_client_accepts_completes_nothing() {
    type Spoil = fn(&mut CertificateParams);
    let table: [(&str, Spoil); 6] = [
        ("expired", |ca| ca.not_after = date_time_ymd(2026, 2, 1)),
        ("not yet valid", |ca| ca.not_before = date_time_ymd(2026, 12, 1)),
        ("no CA", |ca| ca.is_ca = IsCa::ExplicitNoCa),
        ("for other names", |ca| {
            let permitted_subtrees = vec![GeneralSubtree::DnsName("other.example".to_owned())];
            let excluded_subtrees = Vec::new();
            ca.name_constraints = Some(NameConstraints { permitted_subtrees, excluded_subtrees });
        }),
        ("for clients", |ca| ca.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]),
        ("as it should be", |ca| ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained)),
    ];
    for (name, spoil) in table {
        let root = pki::root("Lab Root");
        let mut params = pki::ca_params("Lab Intermediate");
        spoil(&mut params);
        let intermediate = pki::Ca::signed_by(params, KeyPair::generate().unwrap(), &root).unwrap();
        let pki = Pki { root, intermediate };
        let body = der(&pki.intermediate);
        let server = Http::new(move |_| ok("", &body)).await;
        let leaf = leaf_with(&pki, &[&server.url("/int.cer")]);
        let found = complete(&loopback(&pki), &[leaf.der]).await;
        assert_eq!(server.requests().len(), 1, "{name}");
        assert_eq!(found.error.as_deref(), Some("incomplete_chain"), "{name}");
        assert_eq!(found.completed_by_aia, name == "as it should be", "{name}");
    }
}

#[tokio::test]
async fn of_two_certificates_of_the_issuer_one_is_good_enough() {
    let (old, pki) = renewed();
    let answer = ok("", &certificate_bag(&[&old, &der(&pki.intermediate)]));
    let server = Http::new(move |_| answer.clone()).await;
    let leaf = leaf_with(&pki, &[&server.url("/")]);
    assert!(complete(&loopback(&pki), &[leaf.der]).await.completed_by_aia);
}

#[tokio::test]
async fn the_next_url_is_asked_as_long_as_no_path_is_completed() {
    let (old, pki) = renewed();
    let new = der(&pki.intermediate);
    let script =
        move |request: &str| ok("", if request.starts_with("GET /old ") { &old } else { &new });
    let server = Http::new(script).await;
    for (urls, asked) in [(["/old", "/new"], 2), (["/new", "/old"], 1)] {
        let before = server.requests().len();
        let urls = urls.map(|path| server.url(path));
        let leaf = leaf_with(&pki, &[&urls[0], &urls[1]]);
        let found = complete(&loopback(&pki), &[leaf.der]).await;
        assert!(found.completed_by_aia, "{urls:?}");
        assert_eq!(server.requests().len() - before, asked, "{urls:?}");
    }
    let leaf = leaf_with(&pki, &[&server.url("/old")]);
    assert!(!complete(&loopback(&pki), &[leaf.der]).await.completed_by_aia);
}

/// An issuer's certificate that has expired, and the one of now for the same key.
fn renewed() -> (Vec<u8>, Pki) {
    let root = pki::root("Lab Root");
    let key = KeyPair::generate().unwrap().serialize_der();
    let key = || KeyPair::try_from(key.as_slice()).unwrap();
    let mut params = pki::ca_params("Lab Intermediate");
    params.not_after = date_time_ymd(2026, 2, 1);
    let old = der(&pki::Ca::signed_by(params, key(), &root).unwrap());
    let params = pki::ca_params("Lab Intermediate");
    let intermediate = pki::Ca::signed_by(params, key(), &root).unwrap();
    (old, Pki { root, intermediate })
}

#[tokio::test]
async fn an_issuer_is_found_among_eight_of_its_name() {
    let pki = Pki::new();
    let int = der(&pki.intermediate);
    let namesakes: Vec<_> =
        (0..8).map(|_| der(&pki::intermediate("Lab Intermediate", &pki.root))).collect();
    for (others, found) in [(7, true), (8, false)] {
        let mut sent: Vec<&[u8]> = namesakes[..others].iter().map(Vec::as_slice).collect();
        sent.push(&int);
        let answer = ok("", &certificate_bag(&sent));
        let server = Http::new(move |_| answer.clone()).await;
        let leaf = leaf_with(&pki, &[&server.url("/")]);
        let verification = complete(&loopback(&pki), &[leaf.der]).await;
        assert_eq!(verification.completed_by_aia, found, "{others}");
    }
}

#[tokio::test]
async fn at_most_three_are_fetched() {
    let pki = Pki::new();
    let server = Http::new(|_| ok("", b"nothing")).await;
    let urls: Vec<String> = (0..9).map(|n| server.url(&format!("/{n}"))).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let leaf = leaf_with(&pki, &urls);
    let found = complete(&loopback(&pki), &[leaf.der]).await;
    assert!(!found.completed_by_aia);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_chain_of_missing_issuers_is_climbed() {
    let pki = Pki::new();
    let top = der(&pki.intermediate);
    let upper = Http::new(move |_| ok("", &top)).await;
    let mut params = pki::ca_params("Lower");
    params.custom_extensions.push(authority_access(2, &upper.url("/top.cer")));
    let key = rcgen::KeyPair::generate().unwrap();
    let lower = pki::Ca::signed_by(params, key, &pki.intermediate).unwrap();
    let body = der(&lower);
    let server = Http::new(move |_| ok("", &body)).await;
    let mut params = leaf_params(&["site.example"]);
    params.custom_extensions.push(authority_access(2, &server.url("/lower.cer")));
    let leaf = issue(params, &lower);
    let found = complete(&loopback(&pki), &[leaf.der]).await;
    assert!(found.completed_by_aia);
    assert_eq!(found.missing_issuer.as_deref(), Some("Lower"), "what the server should have sent");
}

#[tokio::test]
async fn what_was_sent_may_lie_above_what_is_fetched() {
    let pki = Pki::new();
    let key = KeyPair::generate().unwrap();
    let lower = pki::Ca::signed_by(pki::ca_params("Lower"), key, &pki.intermediate).unwrap();
    let body = der(&lower);
    let server = Http::new(move |_| ok("", &body)).await;
    let mut params = leaf_params(&["site.example"]);
    params.custom_extensions.push(authority_access(2, &server.url("/lower.cer")));
    let leaf = issue(params, &lower);
    let found = complete(&loopback(&pki), &[leaf.der, der(&pki.intermediate)]).await;
    assert!(found.completed_by_aia);
}

#[tokio::test]
async fn a_url_in_a_certificate_reaches_no_special_address() {
    let pki = Pki::new();
    let canary = Canary::on("127.0.0.1").await;
    let port = canary.address.port();
    let forwarding = Canary::on("127.0.0.2").await;
    let inside = format!("http://127.0.0.2:{}/", forwarding.address.port());
    let hop = Http::new(move |_| redirect(302, &inside)).await;
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("ldap://127.0.0.1:{port}/"),
        "file:///etc/ssl/certs/ca.pem".to_owned(),
    ] {
        let leaf = leaf_with(&pki, &[&url]);
        let closed = pki.egress(Policy::default(), None);
        let found = complete(&closed, std::slice::from_ref(&leaf.der)).await;
        assert!(!found.completed_by_aia, "{url}");
        // A public check does not reach what is open to accounts.
        let request = question(&[leaf.der]);
        let public = reach(&loopback(&pki), Audience::Public);
        let found = examine(public, request).await.unwrap().verification;
        assert!(!found.completed_by_aia, "{url}");
    }
    canary.assert_untouched().await;
    let leaf = leaf_with(&pki, &[&hop.url("/")]);
    let found = complete(&loopback(&pki), &[leaf.der]).await;
    assert!(!found.completed_by_aia);
    assert_eq!(hop.requests().len(), 1);
    forwarding.assert_untouched().await;
}

#[tokio::test]
async fn a_server_that_never_answers_is_left_after_five_seconds() {
    let pki = Pki::new();
    let (address, _server) = crate::lab::serve(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let leaf = leaf_with(&pki, &[&format!("http://{address}/")]);
    let started = Instant::now();
    let found = complete(&loopback(&pki), &[leaf.der]).await;
    assert!(!found.completed_by_aia);
    // All that the examination has are twenty.
    assert!((4..20).contains(&started.elapsed().as_secs()), "took {:?}", started.elapsed());
}

fn loopback(pki: &Pki) -> Egress {
    pki.egress(policy(&["127.0.0.1/32"], &[]), None)
}

async fn complete(egress: &Egress, chain: &[Vec<u8>]) -> Verification {
    examine(authenticated(egress), question(chain)).await.unwrap().verification
}

fn question(chain: &[Vec<u8>]) -> ExamineRequest {
    ExamineRequest {
        chain: chain.to_vec(),
        server_name: "site.example".to_owned(),
        at: crate::lab::now().timestamp(),
        staple: None,
        complete: true,
    }
}

fn leaf_with(pki: &Pki, urls: &[&str]) -> Leaf {
    let mut params = leaf_params(&["site.example"]);
    // One extension with all the URLs.
    let oid = [0x06, 8, 0x2b, 6, 1, 5, 5, 7, 0x30, 2];
    let entries =
        urls.iter().map(|url| tlv(0x30, &[&oid[..], &tlv(0x86, url.as_bytes())].concat()));
    params.custom_extensions.push(rcgen::CustomExtension::from_oid_content(
        &[1, 3, 6, 1, 5, 5, 7, 1, 1],
        tlv(0x30, &entries.collect::<Vec<_>>().concat()),
    ));
    issue(params, &pki.intermediate)
}

/// PKCS #7, certs-only.
fn certificate_bag(certificates: &[&[u8]]) -> Vec<u8> {
    let signed_data = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2];
    let data = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1];
    let fields = [
        vec![2, 1, 1],
        tlv(0x31, &[]),
        tlv(0x30, &data),
        tlv(0xa0, &certificates.concat()),
        tlv(0x31, &[]),
    ];
    let inner = tlv(0xa0, &tlv(0x30, &fields.concat()));
    tlv(0x30, &[&signed_data[..], &inner].concat())
}
