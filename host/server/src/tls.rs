//! The service's own certificate: read from files, and read again when they change.
//!
//! *Invariant:* what is served is a chain with the key that fits it. Files that are not, leave
//! what was served before.

use std::{
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use anyhow::Context;
use arc_swap::ArcSwapOption;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::config::Tls;

/// What the service shows to whoever connects.
pub(crate) struct Identity {
    files: Files,
    /// As the files were just before they were read.
    loaded: Stamps,
    served: Arc<ArcSwapOption<TlsAcceptor>>,
}

struct Files {
    cert: PathBuf,
    key: PathBuf,
}

/// Of the chain and of the key. None = there is no such file at the moment.
type Stamps = [Option<Stamp>; 2];

/// Differs once a file was written or another one took its place.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    size: u64,
    inode: u64,
}

impl Identity {
    /// None = the configuration names no files: plain HTTP.
    pub(crate) async fn load(tls: &Tls) -> anyhow::Result<Option<Self>> {
        let (Some(cert), Some(key)) = (&tls.cert_file, &tls.key_file) else { return Ok(None) };
        let files = Files { cert: cert.clone(), key: key.clone() };
        let loaded = files.stamps().await;
        let acceptor = files.read().await?;
        let served = Arc::new(ArcSwapOption::from_pointee(acceptor));
        Ok(Some(Self { files, loaded, served }))
    }

    /// What new connections are accepted with, now and after every reload.
    pub(crate) fn acceptor(&self) -> Arc<ArcSwapOption<TlsAcceptor>> {
        Arc::clone(&self.served)
    }

    /// Watches the files. Connections that are open stay as they are.
    pub(crate) async fn follow(self, shutdown: CancellationToken) {
        let (mut loaded, mut seen) = (self.loaded, self.loaded);
        let mut pace = tokio::time::interval(PACE);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = pace.tick() => {}
            }
            let now = self.files.stamps().await;
            // Two files change one after the other: they are read once both are at rest.
            let at_rest = now == seen;
            seen = now;
            if at_rest && now != loaded {
                loaded = now;
                self.reload().await;
            }
        }
    }

    async fn reload(&self) {
        let cert = self.files.cert.display();
        match self.files.read().await {
            Ok(acceptor) => {
                self.served.store(Some(Arc::new(acceptor)));
                tracing::info!("the certificate was read again from {cert}");
            }
            Err(cause) => tracing::error!(
                error = format!("{cause:#}"),
                "the certificate stays as it was: {cause:#}"
            ),
        }
    }
}

impl Files {
    async fn stamps(&self) -> Stamps {
        [stamp(&self.cert).await, stamp(&self.key).await]
    }

    /// A configuration of its own each time: a client that resumes an old session would not see
    /// the new certificate.
    async fn read(&self) -> anyhow::Result<TlsAcceptor> {
        let cert = format!("{} (tls.cert_file)", self.cert.display());
        let key = format!("{} (tls.key_file)", self.key.display());
        let unreadable = |file: &str| format!("cannot read {file}");
        let chain = tokio::fs::read(&self.cert).await.with_context(|| unreadable(&cert))?;
        let chain = CertificateDer::pem_slice_iter(&chain)
            .collect::<Result<Vec<_>, _>>()
            .with_context(|| format!("{cert} is not a PEM file of certificates"))?;
        anyhow::ensure!(!chain.is_empty(), "{cert} holds no certificate");
        let secret = tokio::fs::read(&self.key).await.with_context(|| unreadable(&key))?;
        warn_if_open(&self.key).await;
        let secret = PrivateKeyDer::from_pem_slice(&secret)
            .with_context(|| format!("{key} holds no private key in PEM"))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .context("TLS 1.2 and 1.3 are compiled in")?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .with_context(|| format!("{cert} and {key} cannot be used together"))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

async fn stamp(file: &Path) -> Option<Stamp> {
    let now = tokio::fs::metadata(file).await.ok()?;
    Some(Stamp { modified: now.modified().ok()?, size: now.len(), inode: now.ino() })
}

async fn warn_if_open(key: &Path) {
    let Ok(metadata) = tokio::fs::metadata(key).await else { return };
    if metadata.permissions().mode() & READABLE_BY_ALL != 0 {
        let key = key.display();
        tracing::warn!("every user of this machine can read {key}: chmod o-r {key}");
    }
}

const READABLE_BY_ALL: u32 = 0o004;
/// Between two looks at the files.
const PACE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn file_that_cannot_be_used_is_told_with_its_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let absent = folder.path().join("absent");
        let nothing = file("nothing", "");
        let chain = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        let chain = file("chain", chain);
        for (cert, key, said) in [
            (&absent, &nothing, "cannot read"),
            (&nothing, &nothing, "holds no certificate"),
            (&chain, &absent, "cannot read"),
            (&chain, &nothing, "holds no private key"),
        ] {
            let (wrong, name) = match cert == &chain {
                true => (key, "tls.key_file"),
                false => (cert, "tls.cert_file"),
            };
            let tls = Tls { cert_file: Some(cert.clone()), key_file: Some(key.clone()) };
            let refused = Identity::load(&tls).await.err().expect("refused");
            let refused = format!("{refused:#}");
            assert!(refused.contains(said), "{refused}");
            assert!(refused.contains(&format!("{} ({name})", wrong.display())), "{refused}");
        }
    }
}
