//! Makes certificates with keys of every kind.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex},
};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, RsaKeySize, SignatureAlgorithm, date_time_ymd,
};
use rustls_pki_types::PrivateKeyDer;

/// A CA with its key.
pub(crate) type Ca = CertifiedIssuer<'static, KeyPair>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    P256,
    P384,
    P521,
    Ed25519,
    Rsa2048,
    /// With SHA-384.
    Rsa3072,
    /// With SHA-512.
    Rsa4096,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] = [
        Self::P256,
        Self::P384,
        Self::P521,
        Self::Ed25519,
        Self::Rsa2048,
        Self::Rsa3072,
        Self::Rsa4096,
    ];

    fn algorithm(self) -> &'static SignatureAlgorithm {
        match self {
            Self::P256 => &rcgen::PKCS_ECDSA_P256_SHA256,
            Self::P384 => &rcgen::PKCS_ECDSA_P384_SHA384,
            Self::P521 => &rcgen::PKCS_ECDSA_P521_SHA512,
            Self::Ed25519 => &rcgen::PKCS_ED25519,
            Self::Rsa2048 => &rcgen::PKCS_RSA_SHA256,
            Self::Rsa3072 => &rcgen::PKCS_RSA_SHA384,
            Self::Rsa4096 => &rcgen::PKCS_RSA_SHA512,
        }
    }

    fn generate(self) -> KeyPair {
        let algorithm = self.algorithm();
        match self {
            Self::Rsa2048 => KeyPair::generate_rsa_for(algorithm, RsaKeySize::_2048),
            Self::Rsa3072 => KeyPair::generate_rsa_for(algorithm, RsaKeySize::_3072),
            Self::Rsa4096 => KeyPair::generate_rsa_for(algorithm, RsaKeySize::_4096),
            _ => KeyPair::generate_for(algorithm),
        }
        .unwrap()
    }
}

/// In DER.
type Keys = HashMap<(Kind, u8), Vec<u8>>;

/// The key of this number; RSA keys are dear, so that cases share them.
pub(crate) fn key(kind: Kind, number: u8) -> KeyPair {
    static KEYS: LazyLock<Mutex<Keys>> = LazyLock::new(Mutex::default);
    let mut keys = KEYS.lock().unwrap();
    let der = keys.entry((kind, number)).or_insert_with(|| kind.generate().serialize_der());
    let key = PrivateKeyDer::try_from(der.as_slice()).unwrap();
    KeyPair::from_der_and_sign_algo(&key, kind.algorithm()).unwrap()
}

pub(crate) const ROOT: u8 = 0;
pub(crate) const INTERMEDIATE: u8 = 1;
pub(crate) const SECOND: u8 = 2;
pub(crate) const THIRD: u8 = 3;
pub(crate) const LEAF: u8 = 4;
pub(crate) const STRANGER: u8 = 5;

pub(crate) type Spoil<'a> = &'a dyn Fn(&mut CertificateParams);

/// Nothing is spoilt.
pub(crate) fn as_is(_: &mut CertificateParams) {}

/// A self-signed CA that is valid in 2026.
pub(crate) fn root(kind: Kind, name: &str, number: u8, spoil: Spoil<'_>) -> Ca {
    let mut params = ca_params(name);
    spoil(&mut params);
    Ca::self_signed(params, key(kind, number)).unwrap()
}

/// A CA below another one.
pub(crate) fn below(issuer: &Ca, kind: Kind, name: &str, number: u8, spoil: Spoil<'_>) -> Ca {
    let mut params = ca_params(name);
    spoil(&mut params);
    Ca::signed_by(params, key(kind, number), issuer).unwrap()
}

/// A server's certificate for [`HOST`](crate::cases::HOST).
pub(crate) fn leaf(issuer: &Ca, kind: Kind, spoil: Spoil<'_>) -> Vec<u8> {
    let mut params = leaf_params(&[crate::cases::HOST]);
    spoil(&mut params);
    params.signed_by(&key(kind, LEAF), issuer).unwrap().der().to_vec()
}

pub(crate) fn der(ca: &Ca) -> Vec<u8> {
    ca.der().to_vec()
}

pub(crate) fn ca_params(name: &str) -> CertificateParams {
    let mut params = dated(CertificateParams::default(), name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

pub(crate) fn leaf_params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = dated(CertificateParams::new(names).unwrap(), "leaf");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params
}

pub(crate) fn dates(params: &mut CertificateParams, from: i32, to: i32) {
    (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
}

/// An extension by the arcs of its OID.
pub(crate) fn extension(oid: &[u64], content: &[u8], critical: bool) -> CustomExtension {
    let mut extension = CustomExtension::from_oid_content(oid, content.to_vec());
    extension.set_criticality(critical);
    extension
}

fn dated(mut params: CertificateParams, name: &str) -> CertificateParams {
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, name);
    dates(&mut params, 2026, 2027);
    params.use_authority_key_identifier_extension = true;
    params
}
