//! A web site: a TLS listener that serves one page and can be given a new certificate.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use arc_swap::ArcSwap;
use http_body_util::Full;
use hyper::{Request, body::Bytes, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use rustls::{RootCertStore, pki_types::CertificateDer, server::WebPkiClientVerifier};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::Certificate;

/// What the site answers to every request.
#[derive(Clone, Debug)]
pub struct Page {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// A running site; dropping it closes the listener and every connection.
pub struct Site {
    address: SocketAddr,
    served: Arc<Served>,
    stop: CancellationToken,
}

struct Served {
    tls: ArcSwap<rustls::ServerConfig>,
    page: ArcSwap<Page>,
    demands: Demands,
}

/// What a site asks of its visitors.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    /// No TLS 1.3.
    pub old_version: bool,
    /// A client certificate from this root; visitors without one are turned away.
    pub client_root: Option<CertificateDer<'static>>,
}

impl Site {
    /// Listens on a free port of 127.0.0.1.
    pub async fn start(certificate: Certificate) -> anyhow::Result<Self> {
        Self::start_at("127.0.0.1:0".parse()?, certificate).await
    }

    pub async fn start_at(address: SocketAddr, certificate: Certificate) -> anyhow::Result<Self> {
        Self::start_with(address, certificate, Demands::default()).await
    }

    pub async fn start_with(
        address: SocketAddr,
        certificate: Certificate,
        demands: Demands,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let site = Self {
            address: listener.local_addr()?,
            served: Arc::new(Served {
                tls: ArcSwap::from(tls_config(certificate, &demands)?),
                page: ArcSwap::from_pointee(Page::default()),
                demands,
            }),
            stop: CancellationToken::new(),
        };
        tokio::spawn(accept(listener, Arc::clone(&site.served), site.stop.clone()));
        Ok(site)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// From the next handshake on.
    pub fn renew(&self, certificate: Certificate) -> anyhow::Result<()> {
        self.served.tls.store(tls_config(certificate, &self.served.demands)?);
        Ok(())
    }

    /// From the next request on.
    pub fn show(&self, page: Page) {
        self.served.page.store(Arc::new(page));
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Default for Page {
    fn default() -> Self {
        let html =
            "<!doctype html><html><head><title>lab</title></head><body>It works</body></html>";
        Self {
            status: 200,
            headers: vec![
                ("content-type".into(), "text/html; charset=utf-8".into()),
                ("strict-transport-security".into(), "max-age=31536000; includeSubDomains".into()),
            ],
            body: html.into(),
        }
    }
}

async fn accept(listener: TcpListener, served: Arc<Served>, stop: CancellationToken) {
    let connections = TaskTracker::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let connection = serve(stream, Arc::clone(&served));
                let stop = stop.clone();
                connections.spawn(async move {
                    tokio::select! { () = stop.cancelled() => (), () = connection => () }
                });
            }
        }
    }
}

async fn serve(stream: TcpStream, served: Arc<Served>) {
    let acceptor = TlsAcceptor::from(served.tls.load_full());
    // A probe that only wants the handshake hangs up after it: nothing to report.
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let answer = service_fn(move |_request: Request<Incoming>| {
        let page = served.page.load_full();
        async move { Ok::<_, Infallible>(page.response()) }
    });
    let http = hyper::server::conn::http1::Builder::new();
    let _ = http.serve_connection(TokioIo::new(stream), answer).await;
}

impl Page {
    fn response(&self) -> hyper::Response<Full<Bytes>> {
        let mut response = hyper::Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        response.body(Full::from(self.body.clone())).expect("a test writes valid headers")
    }
}

pub(crate) fn tls_config(
    certificate: Certificate,
    demands: &Demands,
) -> anyhow::Result<Arc<rustls::ServerConfig>> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = match demands.old_version {
        false => builder.with_safe_default_protocol_versions()?,
        true => builder.with_protocol_versions(&[&rustls::version::TLS12])?,
    };
    let builder = match &demands.client_root {
        None => builder.with_no_client_auth(),
        Some(root) => {
            let mut roots = RootCertStore::empty();
            roots.add(root.clone())?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build()?)
        }
    };
    Ok(Arc::new(builder.with_single_cert(certificate.chain, certificate.key)?))
}
