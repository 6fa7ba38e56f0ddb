//! A certificate authority: a root, one intermediate, and leaves made to order.

use anyhow::Context;
use base64::{Engine, engine::general_purpose::STANDARD};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256, RsaKeySize,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use time::{Duration, OffsetDateTime};

/// Signs what it is asked to; trusted by whoever is given [`Authority::root_pem`].
pub struct Authority {
    root_pem: String,
    root: CertificateDer<'static>,
    intermediate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

/// What a leaf should say.
#[derive(Clone, Debug)]
pub struct Leaf {
    names: Vec<String>,
    not_before: OffsetDateTime,
    not_after: OffsetDateTime,
    with_intermediate: bool,
    is_rsa: bool,
}

/// A chain as a server sends it, with the leaf's key.
pub struct Certificate {
    pub chain: Vec<CertificateDer<'static>>,
    pub key: PrivateKeyDer<'static>,
}

impl Authority {
    /// A root and an intermediate that live for ten years.
    pub fn new(name: &str) -> anyhow::Result<Self> {
        let root_key = KeyPair::generate()?;
        let root_params = ca_params(name);
        let root = root_params.self_signed(&root_key)?;
        let root_issuer = Issuer::new(root_params, root_key);

        let key = KeyPair::generate()?;
        let params = ca_params(&format!("{name} Intermediate"));
        let intermediate = params.signed_by(&key, &root_issuer)?;
        Ok(Self {
            root_pem: root.pem(),
            root: root.der().clone(),
            intermediate: intermediate.der().clone(),
            issuer: Issuer::new(params, key),
        })
    }

    pub fn root_pem(&self) -> String {
        self.root_pem.clone()
    }

    /// For clients of the lab's own that want to verify.
    pub fn root_der(&self) -> CertificateDer<'static> {
        self.root.clone()
    }

    /// A fresh key and a leaf signed by the intermediate.
    pub fn issue(&self, leaf: &Leaf) -> anyhow::Result<Certificate> {
        let key = leaf.key()?;
        let certificate = leaf.params()?.signed_by(&key, &self.issuer)?;
        let mut chain = vec![certificate.der().clone()];
        if leaf.with_intermediate {
            chain.push(self.intermediate.clone());
        }
        Ok(Certificate { chain, key: private_key(&key)? })
    }
}

impl Leaf {
    /// Valid since yesterday, for ninety days, for exactly these names.
    pub fn for_names(names: &[&str]) -> Self {
        let now = OffsetDateTime::now_utc();
        Self {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            not_before: now - Duration::days(1),
            not_after: now + Duration::days(90),
            with_intermediate: true,
            is_rsa: false,
        }
    }

    /// Ends `days` whole days and a half from now; negative = already expired. Half a day keeps
    /// the whole number the same for as long as a test takes.
    #[must_use]
    pub fn days_left(mut self, days: i64) -> Self {
        let now = OffsetDateTime::now_utc();
        self.not_after = now + Duration::days(days) + Duration::hours(12);
        self.not_before = self.not_before.min(self.not_after - Duration::days(90));
        self
    }

    /// The server forgets to send the intermediate.
    #[must_use]
    pub fn without_intermediate(mut self) -> Self {
        self.with_intermediate = false;
        self
    }

    /// A key for servers of the days before elliptic curves.
    #[must_use]
    pub fn rsa(mut self) -> Self {
        self.is_rsa = true;
        self
    }

    /// A leaf that signs itself.
    pub fn self_signed(&self) -> anyhow::Result<Certificate> {
        let key = self.key()?;
        let certificate = self.params()?.self_signed(&key)?;
        Ok(Certificate { chain: vec![certificate.der().clone()], key: private_key(&key)? })
    }

    /// The same, marked as an authority: `openssl req -x509` marks all that it makes.
    pub fn self_signed_as_authority(&self) -> anyhow::Result<Certificate> {
        let key = self.key()?;
        let mut params = self.params()?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages.clear();
        let certificate = params.self_signed(&key)?;
        Ok(Certificate { chain: vec![certificate.der().clone()], key: private_key(&key)? })
    }

    fn key(&self) -> anyhow::Result<KeyPair> {
        Ok(match self.is_rsa {
            false => KeyPair::generate()?,
            true => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048)?,
        })
    }

    fn params(&self) -> anyhow::Result<CertificateParams> {
        let mut params = CertificateParams::new(self.names.clone())?;
        let mut subject = DistinguishedName::new();
        subject.push(DnType::CommonName, self.names.first().context("a leaf has a name")?.as_str());
        params.distinguished_name = subject;
        params.not_before = self.not_before;
        params.not_after = self.not_after;
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        Ok(params)
    }
}

impl Certificate {
    /// The chain and the key, as the two files that servers are configured with.
    pub fn pem(&self) -> (String, String) {
        (self.chain_pem(), self.key_pem())
    }

    /// The chain as a PEM file holds it.
    pub fn chain_pem(&self) -> String {
        self.chain.iter().map(|der| pem("CERTIFICATE", der)).collect()
    }

    pub fn key_pem(&self) -> String {
        pem("PRIVATE KEY", self.key.secret_der())
    }
}

impl Clone for Certificate {
    fn clone(&self) -> Self {
        Self { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

fn ca_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    let mut subject = DistinguishedName::new();
    subject.push(DnType::OrganizationName, "Vedette Lab");
    subject.push(DnType::CommonName, name);
    params.distinguished_name = subject;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let now = OffsetDateTime::now_utc();
    params.not_before = now - Duration::days(365);
    params.not_after = now + Duration::days(3650);
    params
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line) + "\n");
    let lines: String = lines.collect();
    format!("-----BEGIN {label}-----\n{lines}-----END {label}-----\n")
}

fn private_key(key: &KeyPair) -> anyhow::Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::try_from(key.serialize_der())
        .map_err(|reason| anyhow::anyhow!("a generated key is PKCS#8: {reason}"))
}
