//! HTTP over TLS: verification, and servers that close without a word.

use std::{net::SocketAddr, sync::Arc};

use rcgen::{CertificateParams, CustomExtension, KeyUsagePurpose};
use rustls::ServerConfig;
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::{
    egress::NetError,
    lab::{Dns, authenticated, ok, policy, read_request, serve, to_loopback},
    pki::{Pki, intermediate, issue, leaf_params, self_signed, server_config},
    probes::{http::fetch, tls::inspect},
    vectors::get,
};

#[tokio::test]
async fn certificates_are_verified_unless_told_otherwise() {
    let pki = Pki::new();
    // Verification uses the clock of the machine: this leaf is valid today.
    let mut params = crate::pki::leaf_params(&["site.example"]);
    (params.not_before, params.not_after) =
        (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(9999, 1, 1));
    let root = long_lived_root();
    let leaf = crate::pki::issue(params, &root);
    let config = server_config(std::slice::from_ref(&leaf.der), &leaf.key, None);
    let (address, _server) = says_secure(config).await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let allow = || policy(&["127.0.0.1/32"], &[]);
    let (trusting, stranger) =
        (crate::pki::trusting(&[&root], allow(), Some(&dns)), pki.egress(allow(), Some(&dns)));
    let request = |host: &str, verify| {
        let mut request = get(&format!("https://{host}:{}/", address.port()));
        request.verify_tls = verify;
        request
    };
    let response = fetch(authenticated(&trusting), request("site.example", true)).await.unwrap();
    assert_eq!(response.body, b"secure");
    assert!(response.timing.tls_us.is_some());
    for (egress, host) in [(&stranger, "site.example"), (&trusting, "other.example")] {
        let error = fetch(authenticated(egress), request(host, true)).await.unwrap_err();
        assert!(matches!(error, NetError::Tls(_)), "{host}: {error}");
        assert!(fetch(authenticated(egress), request(host, false)).await.is_ok(), "{host}");
    }
}

/// What `openssl req -x509` makes: a server certificate that says it is a CA.
#[tokio::test]
async fn a_leaf_that_says_it_is_a_ca_is_verified_as_the_ssl_check_does() {
    let mut params = crate::pki::leaf_params(&["site.example"]);
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    (params.not_before, params.not_after) =
        (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(9999, 1, 1));
    let own = crate::pki::Ca::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap();
    let config = server_config(&[crate::pki::der(&own)], own.key(), None);
    let (address, _server) = says_secure(config).await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let allow = || policy(&["127.0.0.1/32"], &[]);
    let trusting = crate::pki::trusting(&[&own], allow(), Some(&dns));
    let stranger = Pki::new().egress(allow(), Some(&dns));
    let request = |host: &str| get(&format!("https://{host}:{}/", address.port()));
    let response = fetch(authenticated(&trusting), request("site.example")).await.unwrap();
    assert_eq!(response.body, b"secure");
    for (egress, host, token) in [
        (&stranger, "site.example", "self_signed_certificate"),
        (&trusting, "other.example", "hostname_mismatch"),
    ] {
        let error = fetch(authenticated(egress), request(host)).await.unwrap_err();
        let NetError::Tls(said) = &error else { panic!("{host}: {error}") };
        assert!(said.starts_with(&format!("certificate {token} ")), "{host}: {said}");
    }
}

#[tokio::test]
async fn critical_extensions_that_the_ssl_check_knows_are_no_reason_to_refuse_a_chain() {
    let root = long_lived_root();
    let critical = |oid: &[u64], content: &[u8]| {
        let mut extension = CustomExtension::from_oid_content(oid, content.to_vec());
        extension.set_criticality(true);
        extension
    };
    // requireExplicitPolicy 0, and the policy of validated domains.
    let constraints = critical(&[2, 5, 29, 36], &[0x30, 3, 0x80, 1, 0]);
    let policies = [0x30, 10, 0x30, 8, 6, 6, 0x67, 0x81, 0x0c, 1, 2, 1];
    let policies = critical(&[2, 5, 29, 32], &policies);
    let inhibits = critical(&[2, 5, 29, 54], &[2, 1, 0]);
    let must_staple = critical(&[1, 3, 6, 1, 5, 5, 7, 1, 24], &[0x30, 3, 2, 1, 5]);
    let unheard_of = critical(&[1, 3, 6, 1, 4, 1, 55_555, 1], &[5, 0]);
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let egress = crate::pki::trusting(&[&root], policy(&["127.0.0.1/32"], &[]), Some(&dns));
    for (above, own, is_accepted) in [
        (Some(&constraints), None, true),
        (None, Some(&policies), true),
        (Some(&constraints), Some(&policies), true),
        (Some(&inhibits), Some(&must_staple), true),
        (Some(&unheard_of), None, false),
        (None, Some(&unheard_of), false),
    ] {
        let mut params = long_lived(crate::pki::ca_params("Between"));
        params.custom_extensions.extend(above.cloned());
        let key = rcgen::KeyPair::generate().unwrap();
        let between = crate::pki::Ca::signed_by(params, key, &root).unwrap();
        let mut params = long_lived(leaf_params(&["site.example"]));
        params.custom_extensions.extend(own.cloned());
        let leaf = issue(params, &between);
        let chain = [leaf.der.clone(), crate::pki::der(&between)];
        let (address, _server) = says_secure(server_config(&chain, &leaf.key, None)).await;
        let url = |host: &str| format!("https://{host}:{}/", address.port());
        let fetched = fetch(authenticated(&egress), get(&url("site.example"))).await;
        assert_eq!(fetched.is_ok(), is_accepted, "{above:?} {own:?}");
        let request = crate::inspect::request("site.example", address.port());
        let report = inspect(authenticated(&egress), request).await.unwrap();
        let wrong = report.examination.verification.error;
        assert_eq!(wrong.is_none(), is_accepted, "{above:?} {own:?}: {wrong:?}");
        let other = fetch(authenticated(&egress), get(&url("other.example"))).await;
        assert!(matches!(other, Err(NetError::Tls(_))), "{above:?} {own:?}");
    }
}

/// OpenSSL and browsers look at it, rustls does not.
#[tokio::test]
async fn a_key_that_may_serve_nobody_is_refused_as_by_the_ssl_check() {
    use KeyUsagePurpose::{
        ContentCommitment, CrlSign, DigitalSignature, KeyAgreement, KeyCertSign, KeyEncipherment,
    };
    let root = long_lived_root();
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let egress = crate::pki::trusting(&[&root], policy(&["127.0.0.1/32"], &[]), Some(&dns));
    for (usages, is_accepted) in [
        (vec![], true),
        (vec![DigitalSignature], true),
        (vec![KeyEncipherment], true),
        (vec![KeyAgreement, CrlSign], true),
        (vec![KeyCertSign, CrlSign], false),
        (vec![ContentCommitment], false),
    ] {
        let mut params = long_lived(leaf_params(&["site.example"]));
        params.key_usages = usages.clone();
        let leaf = issue(params, &root);
        let config = server_config(std::slice::from_ref(&leaf.der), &leaf.key, None);
        let (address, _server) = says_secure(config).await;
        let url = format!("https://site.example:{}/", address.port());
        match fetch(authenticated(&egress), get(&url)).await {
            Ok(_) => assert!(is_accepted, "{usages:?}"),
            Err(NetError::Tls(said)) => {
                assert!(!is_accepted, "{usages:?}: {said}");
                assert!(said.starts_with("certificate invalid_purpose "), "{usages:?}: {said}");
            }
            Err(error) => panic!("{usages:?}: {error}"),
        }
        let request = crate::inspect::request("site.example", address.port());
        let report = inspect(authenticated(&egress), request).await.unwrap();
        let wrong = report.examination.verification.error;
        assert_eq!(wrong.as_deref(), (!is_accepted).then_some("invalid_purpose"), "{usages:?}");
    }
}

/// Nobody can say that its signature is wrong.
#[tokio::test]
async fn a_key_that_is_too_small_to_verify_with_is_refused_as_weak() {
    let root = long_lived_root();
    let params = long_lived(leaf_params(&["small.example"]));
    let (port, _server) = match crate::inspect::small_key_server(params, &root) {
        Ok(serving) => serving,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let egress = crate::pki::trusting(&[&root], policy(&["127.0.0.1/32"], &[]), Some(&dns));
    let url = format!("https://small.example:{port}/");
    let error = fetch(authenticated(&egress), get(&url)).await.unwrap_err();
    let NetError::Tls(said) = &error else { panic!("{error}") };
    assert!(said.starts_with("certificate weak_key "), "{said}");
}

#[tokio::test]
async fn what_is_wrong_with_a_chain_has_one_word_in_every_check() {
    let (root, stranger) = (long_lived_root(), long_lived_root());
    let unsent = intermediate("Lab Intermediate", &root);
    let params = |name: &str, until: i32| {
        let mut params = leaf_params(&[name]);
        (params.not_before, params.not_after) =
            (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(until, 1, 1));
        params
    };
    let (name, far) = ("site.example", 9999);
    let sent = Some(crate::pki::der(&stranger));
    let cases = [
        (issue(params(name, far), &unsent), None, "incomplete_chain"),
        (issue(params(name, far), &stranger), sent, "untrusted_root"),
        (self_signed(params(name, far)), None, "self_signed_certificate"),
        (self_signed(params(name, 2021)), None, "certificate_expired"),
        (self_signed(params("other.example", far)), None, "hostname_mismatch"),
        (issue(params("other.example", far), &root), None, "hostname_mismatch"),
    ];
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let egress = crate::pki::trusting(&[&root], policy(&["127.0.0.1/32"], &[]), Some(&dns));
    for (leaf, above, token) in cases {
        let chain: Vec<_> = [leaf.der.clone()].into_iter().chain(above).collect();
        let (address, _server) = says_secure(server_config(&chain, &leaf.key, None)).await;
        let url = format!("https://{name}:{}/", address.port());
        let error = fetch(authenticated(&egress), get(&url)).await.unwrap_err();
        let NetError::Tls(said) = &error else { panic!("{token}: {error}") };
        assert!(said.starts_with(&format!("certificate {token} ")), "{token}: {said}");
        let request = crate::inspect::request(name, address.port());
        let report = inspect(authenticated(&egress), request).await.unwrap();
        assert_eq!(report.examination.verification.error.as_deref(), Some(token));
    }
}

#[tokio::test]
async fn a_server_that_closes_without_saying_so_in_tls_is_read_to_its_end() {
    /// What is sent; the body, or why there is none.
    type Case = (&'static [u8], Result<&'static [u8], NetError>);

    let pki = Pki::new();
    let leaf = pki.leaf(&["site.example"]);
    let egress = to_loopback(None);
    let table: [Case; 7] = [
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", Ok(b"to the end")),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", Ok(b"")),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfour", Ok(b"four")),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", Err(NetError::Reset)),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nha", Err(NetError::Reset)),
        (b"HTTP/1.1 200 OK\r\ncontent-le", Err(NetError::Reset)),
        (b"", Err(NetError::Reset)),
    ];
    for (answer, expected) in table {
        let config = server_config(&pki.chain(&leaf), &leaf.key, None);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let (address, _server) = serve(move |stream| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                read_request(&mut stream).await;
                let _ = stream.write_all(answer).await;
                let _ = stream.flush().await;
                // Of the connection alone: no `close_notify`.
                let _ = stream.get_mut().0.shutdown().await;
            }
        })
        .await;
        let mut request = get(&format!("https://{address}/"));
        request.verify_tls = false;
        let read = fetch(authenticated(&egress), request).await.map(|response| response.body);
        let said = String::from_utf8_lossy(answer);
        assert_eq!(read, expected.map(<[u8]>::to_vec), "{said}");
    }
}

/// A server that answers `secure` to every request.
async fn says_secure(config: ServerConfig) -> (SocketAddr, impl Sized) {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    serve(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            read_request(&mut stream).await;
            let _ = stream.write_all(&ok("", b"secure")).await;
            let _ = stream.shutdown().await;
        }
    })
    .await
}

fn long_lived_root() -> crate::pki::Ca {
    let params = long_lived(crate::pki::ca_params("Long Root"));
    crate::pki::Ca::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap()
}

fn long_lived(mut params: CertificateParams) -> CertificateParams {
    (params.not_before, params.not_after) =
        (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(9999, 1, 1));
    params
}
