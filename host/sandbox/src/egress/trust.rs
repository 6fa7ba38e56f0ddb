//! The trusted roots: the Mozilla set, plus the operator's own. Never the operating system's.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls_pki_types::{CertificateDer, TrustAnchor};
use x509_parser::prelude::{FromDer, ParsedExtension, X509Certificate};

use super::SetupError;
use crate::probes::x509::comparable;

/// What certificates are verified against.
#[derive(Clone, Debug)]
pub struct Trust {
    store: Arc<RootCertStore>,
    /// Of each root, the name as it is compared.
    names: Arc<[Vec<u8>]>,
    /// Subject key identifiers of the operator's roots, in the order of the last anchors.
    key_ids: Arc<[Option<Vec<u8>>]>,
}

/// One trusted root.
#[derive(Clone, Copy)]
pub(crate) struct Anchor<'a> {
    pub(crate) root: &'a TrustAnchor<'static>,
    /// As its certificate says; none where only name and key are known.
    pub(crate) key_id: Option<&'a [u8]>,
}

impl Trust {
    /// The Mozilla set and `extra`.
    pub fn new(extra: &[CertificateDer<'_>]) -> Result<Self, SetupError> {
        let mut store = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let mut key_ids = Vec::new();
        for (index, certificate) in extra.iter().enumerate() {
            let unusable = |reason: String| SetupError::Root { index: index + 1, reason };
            let anchor = webpki::anchor_from_trusted_cert(certificate)
                .map_err(|error| unusable(error.to_string()))?;
            store.roots.push(anchor.to_owned());
            key_ids.push(subject_key_id(certificate));
        }
        let names = store.roots.iter().map(|root| comparable(&root.subject)).collect();
        Ok(Self { store: Arc::new(store), names, key_ids: key_ids.into() })
    }

    pub(super) fn store(&self) -> &Arc<RootCertStore> {
        &self.store
    }

    /// The anchors of a name, in the form in which names are compared.
    pub(crate) fn named(&self, name: &[u8]) -> impl Iterator<Item = Anchor<'_>> {
        let known = self.store.roots.len() - self.key_ids.len();
        let named = self.names.iter().enumerate().filter(move |(_, own)| own.as_slice() == name);
        named.map(move |(index, _)| Anchor {
            root: &self.store.roots[index],
            key_id: index.checked_sub(known).and_then(|own| self.key_ids[own].as_deref()),
        })
    }
}

fn subject_key_id(certificate: &[u8]) -> Option<Vec<u8>> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    parsed.iter_extensions().find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
        _ => None,
    })
}
