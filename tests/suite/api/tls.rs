//! The service's own TLS: HTTP/2 by ALPN, and certificates that change while it runs.

use std::path::Path;

use reqwest::{Version, tls};
use tempfile::TempDir;
use vedette_tests::{Account, Certificate, Lab, Service, Settings};

use crate::world::until;

const NAME: &str = "api.example";

/// A service behind a certificate of the lab's authority.
struct Secure {
    lab: Lab,
    folder: TempDir,
    service: Service,
    owner: Account,
}

#[tokio::test(flavor = "multi_thread")]
async fn https_speaks_http_2_and_1_over_tls_1_3_and_1_2() {
    let world = Secure::start().await;
    assert!(
        world.service.output().contains(&format!("listening on https://{}", world.service.api))
    );

    let new = world.ask(&world.visitor(|builder| builder)).await;
    assert_eq!((new.status().as_u16(), new.version()), (200, Version::HTTP_2));
    let info = new.extensions().get::<tls::TlsInfo>().expect("a TLS connection");
    assert_eq!(info.version(), Some(tls::Version::TLS_1_3));
    let old = |builder: reqwest::ClientBuilder| {
        builder.http1_only().tls_version_max(tls::Version::TLS_1_2)
    };
    let old = world.ask(&world.visitor(old)).await;
    assert_eq!((old.status().as_u16(), old.version()), (200, Version::HTTP_11));

    let plain = format!("http://{}/v1/sites", world.service.api);
    let visitor = world.visitor(|builder| builder);
    assert!(visitor.get(plain).send().await.is_err(), "nothing is said in clear");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_certificate_is_shown_to_who_comes_and_no_connection_is_lost() {
    let world = Secure::start().await;
    let stays = world.visitor(|builder| builder);
    let before = shown(&world.ask(&stays).await);

    let renewed = certificate(&world.lab);
    write(world.folder.path(), &renewed);
    let renewed = renewed.chain[0].to_vec();
    world.until_shown(&renewed).await;
    assert_ne!(renewed, before);
    assert_eq!(shown(&world.ask(&stays).await), before, "the old connection goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_do_not_fit_leave_the_old_certificate() {
    let world = Secure::start().await;
    let before = shown(&world.ask(&world.visitor(|builder| builder)).await);

    let (key, chain) = (world.folder.path().join("tls.key"), world.folder.path().join("tls.crt"));
    let (_, foreign) = certificate(&world.lab).pem();
    for (round, content) in [foreign.as_str(), "no key at all", ""].into_iter().enumerate() {
        // As a whole: what is seen half written is complained of once more.
        let beside = world.folder.path().join("new.key");
        std::fs::write(&beside, content).expect("writable");
        std::fs::rename(&beside, &key).expect("writable");
        until("the complaint", async || {
            let complaints = world.service.output().matches("stays as it was").count();
            (complaints > round).then_some(())
        })
        .await;
        assert_eq!(shown(&world.ask(&world.visitor(|builder| builder)).await), before, "{round}");
    }
    std::fs::remove_file(&chain).expect("it is there");
    until("the complaint", async || world.service.output().contains("cannot read").then_some(()))
        .await;
    assert_eq!(shown(&world.ask(&world.visitor(|builder| builder)).await), before);

    let good = certificate(&world.lab);
    write(world.folder.path(), &good);
    world.until_shown(&good.chain[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_with_files_that_do_not_fit_fails() {
    let lab = Lab::start().await.expect("free ports");
    let folder = TempDir::new().expect("a folder");
    write(folder.path(), &certificate(&lab));
    let (_, foreign) = certificate(&lab).pem();
    std::fs::write(folder.path().join("tls.key"), foreign).expect("writable");
    assert!(Service::start(settings(&lab, folder.path())).await.is_err());
}

impl Secure {
    async fn start() -> Self {
        let lab = Lab::start().await.expect("loopback has free ports");
        let folder = TempDir::new().expect("a folder");
        write(folder.path(), &certificate(&lab));
        let service = Service::start(settings(&lab, folder.path())).await;
        let service = service.expect("the service starts");
        let owner = service.account("owner@example.com", "pro").await;
        let owner = owner.expect("accounts can be made");
        Self { lab, folder, service, owner }
    }

    /// A client with connections of its own.
    fn visitor(
        &self,
        change: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
    ) -> reqwest::Client {
        let root = self.lab.authority.root_pem();
        let root = reqwest::Certificate::from_pem(root.as_bytes()).expect("a root");
        let builder = reqwest::Client::builder().no_proxy().tls_certs_only([root]).tls_info(true);
        change(builder.resolve(NAME, self.service.api)).build().expect("a client")
    }

    async fn ask(&self, visitor: &reqwest::Client) -> reqwest::Response {
        let url = format!("https://{NAME}:{}/v1/sites", self.service.api.port());
        let request = visitor.get(url).bearer_auth(&self.owner.key);
        request.send().await.expect("the service answers")
    }

    async fn until_shown(&self, leaf: &[u8]) {
        until("the new certificate", async || {
            let answer = self.ask(&self.visitor(|builder| builder)).await;
            (shown(&answer) == leaf).then_some(())
        })
        .await;
    }
}

fn settings(lab: &Lab, folder: &Path) -> Settings {
    let (cert, key) = (folder.join("tls.crt"), folder.join("tls.key"));
    let toml = format!("[tls]\ncert_file = {cert:?}\nkey_file = {key:?}\n");
    Settings { toml, ..lab.settings() }
}

fn certificate(lab: &Lab) -> Certificate {
    lab.certificate(NAME, 90).expect("the authority signs")
}

fn write(folder: &Path, certificate: &Certificate) {
    let (chain, key) = certificate.pem();
    std::fs::write(folder.join("tls.crt"), chain).expect("writable");
    std::fs::write(folder.join("tls.key"), key).expect("writable");
}

/// The leaf that the answer's connection was made with.
fn shown(answer: &reqwest::Response) -> Vec<u8> {
    let info = answer.extensions().get::<tls::TlsInfo>().expect("a TLS connection");
    info.peer_certificate().expect("the server shows one").to_vec()
}
