//! Certificates for every case that a chain can be.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, date_time_ymd,
};
use rustls::{ServerConfig, sign::CertifiedKey};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::{
    egress::{Egress, Options, Policy},
    encoding::tlv,
};

pub(crate) type Ca = CertifiedIssuer<'static, KeyPair>;

/// A leaf with its key.
pub(crate) struct Leaf {
    pub(crate) der: Vec<u8>,
    pub(crate) key: KeyPair,
}

/// A root and an intermediate that are valid in 2026.
pub(crate) struct Pki {
    pub(crate) root: Ca,
    pub(crate) intermediate: Ca,
}

impl Pki {
    pub(crate) fn new() -> Self {
        let root = root("Lab Root");
        let intermediate = intermediate("Lab Intermediate", &root);
        Self { root, intermediate }
    }

    pub(crate) fn leaf(&self, names: &[&str]) -> Leaf {
        issue(leaf_params(names), &self.intermediate)
    }

    /// Leaf and intermediate, as a server sends them.
    pub(crate) fn chain(&self, leaf: &Leaf) -> Vec<Vec<u8>> {
        vec![leaf.der.clone(), der(&self.intermediate)]
    }

    /// An egress layer that trusts the root.
    pub(crate) fn egress(&self, policy: Policy, dns: Option<&crate::lab::Dns>) -> Egress {
        trusting(&[&self.root], policy, dns)
    }
}

pub(crate) fn trusting(roots: &[&Ca], policy: Policy, dns: Option<&crate::lab::Dns>) -> Egress {
    let nobody = "127.0.0.1:9".parse().unwrap();
    Egress::new(Options {
        policy,
        dns_servers: vec![dns.map_or(nobody, |dns| dns.address).into()],
        roots: roots.iter().map(|root| root.der().clone()).collect(),
        ..Options::default()
    })
    .unwrap()
}

pub(crate) fn ca_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.not_before = date_time_ymd(2026, 1, 1);
    params.not_after = date_time_ymd(2027, 1, 1);
    params.use_authority_key_identifier_extension = true;
    params
}

pub(crate) fn leaf_params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, "leaf");
    params.not_before = date_time_ymd(2026, 1, 1);
    params.not_after = date_time_ymd(2027, 1, 1);
    params.use_authority_key_identifier_extension = true;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params
}

pub(crate) fn root(name: &str) -> Ca {
    Ca::self_signed(ca_params(name), KeyPair::generate().unwrap()).unwrap()
}

pub(crate) fn intermediate(name: &str, issuer: &Ca) -> Ca {
    Ca::signed_by(ca_params(name), KeyPair::generate().unwrap(), issuer).unwrap()
}

pub(crate) fn issue(params: CertificateParams, issuer: &Ca) -> Leaf {
    let key = KeyPair::generate().unwrap();
    Leaf { der: params.signed_by(&key, issuer).unwrap().der().to_vec(), key }
}

pub(crate) fn self_signed(params: CertificateParams) -> Leaf {
    let key = KeyPair::generate().unwrap();
    Leaf { der: params.self_signed(&key).unwrap().der().to_vec(), key }
}

pub(crate) fn der(ca: &Ca) -> Vec<u8> {
    ca.der().to_vec()
}

/// authorityInfoAccess with one entry: `method` is the last arc of its OID, 1 for OCSP and 2 for
/// caIssuers.
pub(crate) fn authority_access(method: u8, url: &str) -> CustomExtension {
    let oid = [0x06, 8, 0x2b, 6, 1, 5, 5, 7, 0x30, method];
    let location = tlv(0x86, url.as_bytes());
    let description = tlv(0x30, &[&oid[..], &location].concat());
    CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], tlv(0x30, &description))
}

/// A server configuration that serves this chain and staple, over TLS 1.2 and 1.3.
pub(crate) fn server_config(
    chain: &[Vec<u8>],
    key: &KeyPair,
    staple: Option<Vec<u8>>,
) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let chain = chain.iter().map(|der| CertificateDer::from(der.clone())).collect();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let key = provider.key_provider.load_private_key(key).unwrap();
    let mut certified = CertifiedKey::new(chain, key);
    certified.ocsp = staple;
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Always(Arc::new(certified))))
}

#[derive(Debug)]
struct Always(Arc<CertifiedKey>);

impl rustls::server::ResolvesServerCert for Always {
    fn resolve(&self, _: rustls::server::ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}
