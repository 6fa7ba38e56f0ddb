//! Handshakes with real servers, good and bad.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use parking_lot::Mutex;
use rcgen::{
    CertificateParams, KeyPair, PKCS_RSA_SHA256, PublicKeyData, RsaKeySize, SignatureAlgorithm,
};
use rustls::{ServerConfig, server::WebPkiClientVerifier};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::{LazyConfigAcceptor, TlsAcceptor};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    egress::{NOT_TLS, NetError, Phase},
    lab::{Canary, ClosedPort, Dns, authenticated, endpoint, policy, serve, to_loopback},
    pki::{Ca, Pki, der, leaf_params, self_signed, server_config},
    probes::{
        Reach,
        tls::{InspectRequest, inspect},
    },
};

#[tokio::test]
async fn a_good_server_is_reported_in_full() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["site.example"]);
    let chain = pki.chain(&leaf);
    let mut config = server_config(&chain, &leaf.key, None);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (port, named, _server) = tls_server(config).await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let egress = pki.egress(policy(&["127.0.0.1/32"], &[]), Some(&dns));
    let mut request = request("SITE.example.", port);
    request.alpn = vec!["http/1.1".to_owned()];
    let report = inspect(authenticated(&egress), request).await.unwrap();
    assert_eq!(report.peer_address, "127.0.0.1");
    assert_eq!(report.version, 0x0304);
    assert!(matches!(report.cipher, 0x1301..=0x1303), "{:04x}", report.cipher);
    assert_eq!(report.alpn.as_deref(), Some("http/1.1"));
    assert_eq!(report.chain, chain);
    assert_eq!(report.examination.verification.error, None);
    assert_eq!(report.examination.ocsp_staple, None);
    assert_eq!(report.examination.chain.len(), 2);
    let timing = report.timing;
    assert!(timing.resolve_us.is_some() && timing.connect_us.is_some() && timing.tls_us.is_some());
    assert!(timing.total_us >= timing.tls_us.unwrap());
    assert_eq!(named.lock().as_slice(), [Some("site.example".to_owned())], "SNI is canonical");
}

#[tokio::test]
async fn a_bad_chain_does_not_stop_the_handshake() {
    let pki = Pki::new();
    let mut expired = leaf_params(&["site.example"]);
    expired.not_after = rcgen::date_time_ymd(2026, 2, 1);
    let expired = crate::pki::issue(expired, &pki.intermediate);
    let selfish = self_signed(leaf_params(&["site.example"]));
    let wrong = pki.leaf(&["other.example"]);
    let alone = pki.leaf(&["site.example"]);
    let zoo = [
        (pki.chain(&expired), &expired.key, "certificate_expired"),
        (vec![selfish.der.clone()], &selfish.key, "self_signed_certificate"),
        (pki.chain(&wrong), &wrong.key, "hostname_mismatch"),
        (vec![alone.der.clone()], &alone.key, "incomplete_chain"),
    ];
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let egress = pki.egress(policy(&["127.0.0.1/32"], &[]), Some(&dns));
    for (chain, key, error) in zoo {
        let (port, _, _server) = tls_server(server_config(&chain, key, None)).await;
        let report = inspect(authenticated(&egress), request("site.example", port)).await.unwrap();
        assert_eq!(report.examination.verification.error.as_deref(), Some(error));
        assert_eq!(report.chain, chain);
    }
}

#[tokio::test]
async fn a_certificate_whose_key_the_server_does_not_hold_is_no_report() {
    let pki = Pki::new();
    let (leaf, other) = (pki.leaf(&["site.example"]), pki.leaf(&["site.example"]));
    let mut config = server_config(&pki.chain(&leaf), &other.key, None);
    for versions in [&rustls::version::TLS12, &rustls::version::TLS13] {
        config = versioned(config, versions, &pki.chain(&leaf), &other.key);
        let (port, _, _server) = tls_server(config.clone()).await;
        let request = request("127.0.0.1", port);
        let error = inspect(authenticated(&to_loopback(None)), request).await.unwrap_err();
        assert!(matches!(error, NetError::Tls(_)), "{error}");
    }
}

/// OpenSSL still serves such keys, and with TLS 1.3 alone nothing shows the chain in clear.
#[tokio::test]
async fn a_key_that_is_too_small_to_verify_with_is_reported() {
    let (port, _server) = match small_key_server(leaf_params(&["small.example"]), &Pki::new().root)
    {
        Ok(serving) => serving,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let report = inspect(authenticated(&to_loopback(None)), request("127.0.0.1", port)).await;
    let report = report.unwrap();
    assert_eq!((report.version, report.chain.len()), (0x0304, 1));
    let leaf = &report.examination.chain[0];
    assert_eq!((leaf.key_algorithm.as_str(), leaf.key_bits), ("RSA", 1024));
    assert_eq!(leaf.san_dns, ["small.example"]);
}

/// A key of a usual size is one to verify with.
#[tokio::test]
async fn a_usual_rsa_key_that_the_server_does_not_hold_is_no_report() {
    let pki = Pki::new();
    let rsa = || KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap();
    let (own, other) = (rsa(), rsa());
    let leaf = leaf_params(&["site.example"]).signed_by(&own, &pki.intermediate).unwrap();
    let chain = vec![leaf.der().to_vec(), der(&pki.intermediate)];
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for (key, is_held) in [(&own, true), (&other, false)] {
            let config = versioned(server_config(&chain, key, None), version, &chain, key);
            let (port, _, _server) = tls_server(config).await;
            let report = inspect(authenticated(&to_loopback(None)), request("127.0.0.1", port));
            match report.await {
                Ok(report) => assert!(is_held, "{report:?}"),
                Err(error) => assert!(!is_held && matches!(error, NetError::Tls(_)), "{error}"),
            }
        }
    }
}

/// Ends with its handle.
pub(crate) struct Program {
    process: Child,
    _files: tempfile::TempDir,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The contents of an RSAPublicKey.
struct SmallKey(Vec<u8>);

impl PublicKeyData for SmallKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_RSA_SHA256
    }
}

/// A server of TLS 1.3 with a certificate for a key of RSA 1024; or why there is none.
pub(crate) fn small_key_server(
    params: CertificateParams,
    issuer: &Ca,
) -> Result<(u16, Program), String> {
    let folder = tempfile::tempdir().unwrap();
    let openssl = || {
        let mut openssl = Command::new("openssl");
        openssl.current_dir(&folder);
        openssl
    };
    let ran = |arguments: &[&str]| {
        let ended = openssl().args(arguments).output();
        let ended =
            ended.map_err(|error| format!("there is no program openssl to serve with: {error}"))?;
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        Err(format!("openssl makes no RSA key of 1024 bits: {said}"))
    };
    let size = "rsa_keygen_bits:1024";
    ran(&["genpkey", "-algorithm", "RSA", "-pkeyopt", size, "-out", "key.pem"])?;
    let key = ran(&["rsa", "-in", "key.pem", "-RSAPublicKey_out", "-outform", "DER"])?;
    let leaf = params.signed_by(&SmallKey(key), issuer).unwrap();
    std::fs::write(folder.path().join("cert.pem"), leaf.pem()).unwrap();
    let mut server = openssl()
        .args(["s_server", "-cert", "cert.pem", "-key", "key.pem", "-accept", "127.0.0.1:0"])
        .args(["-tls1_3", "-cipher", "DEFAULT:@SECLEVEL=0"])
        // Its end would end the server.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(server.stdout.take().unwrap()).lines();
    let port = said.find_map(|line| {
        let address: SocketAddr = line.ok()?.strip_prefix("ACCEPT ")?.parse().ok()?;
        Some(address.port())
    });
    // What else it says must not fill the pipe.
    std::thread::spawn(move || said.for_each(drop));
    let server = Program { process: server, _files: folder };
    let port = port.ok_or("openssl does not serve with an RSA key of 1024 bits")?;
    Ok((port, server))
}

#[tokio::test]
async fn an_address_has_no_sni_and_matches_addresses() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["127.0.0.1"]);
    let (port, named, _server) =
        tls_server(server_config(&pki.chain(&leaf), &leaf.key, None)).await;
    let egress = pki.egress(policy(&["127.0.0.1/32"], &[]), None);
    let report = inspect(authenticated(&egress), request("127.0.0.1", port)).await.unwrap();
    assert_eq!(report.examination.verification.error, None);
    assert_eq!(named.lock().as_slice(), [None]);
    assert_eq!(report.timing.resolve_us, None);
    // The address is where to connect; name and SNI stay the domain's.
    let mut pinned = request("site.example", port);
    pinned.endpoint.connect_to = Some("127.0.0.1".to_owned());
    let report = inspect(authenticated(&egress), pinned).await.unwrap();
    let error = report.examination.verification.error;
    assert_eq!(error.as_deref(), Some("hostname_mismatch"));
    assert_eq!(named.lock()[1].as_deref(), Some("site.example"));
}

#[tokio::test]
async fn version_and_suite_are_those_negotiated() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["127.0.0.1"]);
    let chain = pki.chain(&leaf);
    let config = server_config(&chain, &leaf.key, None);
    let config = versioned(config, &rustls::version::TLS12, &chain, &leaf.key);
    let (port, _, _server) = tls_server(config).await;
    let report =
        inspect(authenticated(&to_loopback(None)), request("127.0.0.1", port)).await.unwrap();
    assert_eq!(report.version, 0x0303);
    assert!(matches!(report.cipher, 0xc02b | 0xc02c | 0xcca9), "{:04x}", report.cipher);
    assert_eq!(report.chain, chain);
}

#[tokio::test]
async fn a_server_that_wants_a_client_certificate_is_judged_as_usual() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["127.0.0.1"]);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(pki.root.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
    let chain: Vec<_> = pki.chain(&leaf).into_iter().map(Into::into).collect();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(chain, leaf.key.serialize_der().try_into().unwrap())
        .unwrap();
    let (port, _, _server) = tls_server(config).await;
    let egress = pki.egress(policy(&["127.0.0.1/32"], &[]), None);
    let report = inspect(authenticated(&egress), request("127.0.0.1", port)).await.unwrap();
    assert_eq!(report.examination.verification.error, None);
}

#[tokio::test]
async fn connection_trouble_has_its_own_errors_and_quotes_nothing() {
    let egress = to_loopback(None);
    let ask = async |port: u16, timeout_ms: u32| {
        let mut request = request("127.0.0.1", port);
        request.timeout_ms = timeout_ms;
        inspect(authenticated(&egress), request).await.unwrap_err()
    };
    let (banner, _one) = serve(|mut stream| async move {
        let _ = stream.write_all(b"SSH-2.0-secretd_9.9\r\n").await;
        let _ = stream.read(&mut [0; 512]).await;
    })
    .await;
    assert_eq!(ask(banner.port(), 15_000).await, NetError::Protocol(NOT_TLS.to_owned()));
    let (http, _two) = serve(|mut stream| async move {
        let _ = stream.read(&mut [0; 2048]).await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\nsecret").await;
    })
    .await;
    assert_eq!(ask(http.port(), 15_000).await, NetError::Protocol(NOT_TLS.to_owned()));
    let (unrecognised, _three) = serve(|mut stream| async move {
        let _ = stream.read(&mut [0; 2048]).await;
        let _ = stream.write_all(&[0x15, 3, 3, 0, 2, 2, 112]).await;
    })
    .await;
    let NetError::Tls(text) = ask(unrecognised.port(), 15_000).await else { panic!("an alert") };
    assert!(text.starts_with("alert 112 "), "{text}");
    let (silent, _four) = serve(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    assert_eq!(ask(silent.port(), 3_000).await, NetError::Timeout(Phase::Handshake));
    let (resets, _five) = serve(|mut stream| async move {
        let _ = stream.read_u8().await; // the rest stays unread: closing resets
    })
    .await;
    assert_eq!(ask(resets.port(), 15_000).await, NetError::Reset);
    assert_eq!(ask(ClosedPort::new().port, 15_000).await, NetError::Refused);
}

#[tokio::test]
async fn a_refused_address_is_not_shaken_hands_with() {
    let canary = Canary::on("127.0.0.2").await;
    let dns = Dns::fixed(&["127.0.0.2"]).await;
    let egress = to_loopback(Some(&dns));
    for host in ["127.0.0.2", "site.example"] {
        let request = request(host, canary.address.port());
        let error = inspect(authenticated(&egress), request).await.unwrap_err();
        assert!(matches!(error, NetError::AddressBlocked(_)), "{host}: {error}");
    }
    canary.assert_untouched().await;
}

/// Runs as a task of its own, as the sandbox runs it.
#[tokio::test]
async fn probes_are_tasks() {
    fn task<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) {
        drop(future);
    }
    let reach: Reach = authenticated(&to_loopback(None));
    task(inspect(reach.clone(), request("127.0.0.1", 1)));
    task(crate::probes::http::fetch_many(reach.clone(), vec![]));
    let request = crate::vectors::get("http://127.0.0.1:1/");
    task(crate::probes::http::fetch_partial(reach.clone(), request));
    task(crate::probes::dns::lookup_many(reach.clone(), vec![]));
    task(crate::probes::tcp::exchange_many(reach, vec![]));
}

type Named = Arc<Mutex<Vec<Option<String>>>>;

/// Finishes handshakes and remembers the names asked for.
pub(crate) async fn tls_server(config: ServerConfig) -> (u16, Named, AbortOnDropHandle<()>) {
    let config = Arc::new(config);
    let named = Named::default();
    let seen = Arc::clone(&named);
    let (address, task) = serve(move |stream| {
        let (config, seen) = (Arc::clone(&config), Arc::clone(&seen));
        async move {
            let hello = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), stream);
            let Ok(start) = hello.await else { return };
            seen.lock().push(start.client_hello().server_name().map(str::to_owned));
            if let Ok(mut stream) = start.into_stream(config).await {
                let _ = stream.read(&mut [0; 16]).await;
            }
        }
    })
    .await;
    (address.port(), named, task)
}

/// Accepts TLS on a connection that has already been talked on.
pub(crate) async fn accept(stream: tokio::net::TcpStream, config: Arc<ServerConfig>) {
    if let Ok(mut stream) = TlsAcceptor::from(config).accept(stream).await {
        let _ = stream.read(&mut [0; 16]).await;
    }
}

fn versioned(
    like: ServerConfig,
    version: &'static rustls::SupportedProtocolVersion,
    chain: &[Vec<u8>],
    key: &rcgen::KeyPair,
) -> ServerConfig {
    let resolver = server_config(chain, key, None).cert_resolver.clone();
    ServerConfig::builder_with_provider(like.crypto_provider().clone())
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(resolver)
}

pub(crate) fn request(host: &str, port: u16) -> InspectRequest {
    InspectRequest {
        endpoint: endpoint(host, port),
        server_name: None,
        alpn: Vec::new(),
        starttls: None,
        complete: false,
        timeout_ms: 15_000,
    }
}
