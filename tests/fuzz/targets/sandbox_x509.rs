//! Chains and staples as servers send them: the host's reading and judging of certificates.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, DnType,
    ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, KeyPair, NameConstraints, PublicKeyData,
    SerialNumber, SigningKey, date_time_ymd,
};
use rustls_pki_types::PrivatePkcs8KeyDer;
use sha2::{Digest, Sha256};
use vedette_fuzz::{Input, part, plant};
use vedette_sandbox::{
    egress::Trust,
    probes::x509::{ExamineRequest, examine_offline},
};

fuzz_target!(init: plant(seeds(), &[], 0), |data: &[u8]| {
    let mut input = Input(data);
    let server_name = input.choose(&["example.com", "a.example.com", "192.0.2.1", "::1"]).to_owned();
    let at = input.choose(&[IN_JUNE, IN_JUNE, 0, i64::MAX, i64::MIN]);
    let staple = input.part();
    let length = input.byte() % 25;
    let chain = (0..length).map(|_| input.part().to_vec()).collect();
    let staple = (!staple.is_empty()).then(|| staple.to_vec());
    let request = ExamineRequest { chain, server_name, at, staple, complete: false };
    let Ok(found) = examine_offline(&pki().trust, &request) else { return };
    assert_eq!(found.chain.len(), request.chain.len().min(20));
    let facts = found.verification;
    if facts.error.is_none() {
        assert!(facts.trusted && facts.hostname_matches && facts.time_valid && facts.purpose_valid);
    }
});

/// 2026-06-01.
const IN_JUNE: i64 = 1_780_272_000;

type Ca = CertifiedIssuer<'static, KeyPair>;

/// A root and an issuer below it. The keys are always the same ones, so that a corpus that was grown
/// once is trusted for ever.
struct Pki {
    root: Ca,
    issuer: Ca,
    trust: Trust,
}

fn pki() -> &'static Pki {
    static PKI: OnceLock<Pki> = OnceLock::new();
    PKI.get_or_init(|| {
        let root = Ca::self_signed(authority("Root"), key(1)).expect("the root can be made");
        let mut params = authority("Issuer");
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: vec![GeneralSubtree::DnsName("example.com".to_owned())],
            excluded_subtrees: vec![GeneralSubtree::DnsName("no.example.com".to_owned())],
        });
        let issuer = Ca::signed_by(params, key(2), &root).expect("the issuer can be made");
        let trust = Trust::new(&[root.der().clone()]).expect("the root can be trusted");
        Pki { root, issuer, trust }
    })
}

fn seeds() -> Vec<Vec<u8>> {
    let Pki { root, issuer, .. } = pki();
    let leaf = leaf(&["example.com", "*.b.example.com", "192.0.2.1"]);
    let seed = |staple: &[u8], chain: &[&[u8]]| {
        let length = u8::try_from(chain.len()).expect("a short chain");
        let chain = chain.iter().flat_map(|der| part(der));
        [&[0, 0][..], &part(staple), &[length]].concat().into_iter().chain(chain).collect()
    };
    let request = ExamineRequest {
        chain: vec![leaf.clone(), issuer.der().to_vec()],
        server_name: "example.com".to_owned(),
        at: IN_JUNE,
        staple: Some(staple(GOOD)),
        complete: false,
    };
    let good = examine_offline(&pki().trust, &request).expect("there is a chain");
    let facts = good.verification;
    let verdict =
        (facts.chain_error.as_deref(), facts.error.as_deref(), good.ocsp_staple.as_deref());
    assert_eq!(verdict, (None, None, Some("good")), "what grows from a bad seed does not get far");
    let staples =
        [GOOD, REVOKED, UNKNOWN].map(|status| seed(&staple(status), &[&leaf, issuer.der()]));
    let other = self::leaf(&["no.example.com"]);
    let mut seeds = vec![
        seed(&[], &[&leaf, issuer.der()]),
        seed(&[], &[&leaf, root.der(), issuer.der(), issuer.der()]),
        seed(&[], &[&other, issuer.der(), b"\x30\x03\x02\x01\x01"]),
        seed(&[], &[&leaf]),
        seed(&[], &[root.der()]),
        seed(&[], &[issuer.der().as_ref(); 20]),
    ];
    seeds.extend(staples);
    seeds
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(1));
    dated(params)
}

fn leaf(names: &[&str]) -> Vec<u8> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("the names are names");
    params.distinguished_name.push(DnType::OrganizationName, "Caf\u{e9}, \"Ltd\"");
    params.serial_number = Some(SerialNumber::from_slice(&SERIAL));
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // An OCSP responder, a TLS feature, and an empty list of timestamps.
    let location = [tlv(6, &[0x2b, 6, 1, 5, 5, 7, 0x30, 1]), tlv(0x86, b"http://ocsp.example/")];
    let access = tlv(0x30, &tlv(0x30, &location.concat()));
    for (oid, content) in [
        (&[1, 3, 6, 1, 5, 5, 7, 1, 1][..], access),
        (&[1, 3, 6, 1, 5, 5, 7, 1, 24], vec![0x30, 3, 2, 1, 5]),
        (&[1, 3, 6, 1, 4, 1, 11129, 2, 4, 2], tlv(4, &[0, 0])),
    ] {
        params.custom_extensions.push(CustomExtension::from_oid_content(oid, content));
    }
    let signed = dated(params).signed_by(&key(3), &pki().issuer);
    signed.expect("the leaf can be made").der().to_vec()
}

fn dated(mut params: CertificateParams) -> CertificateParams {
    params.not_before = date_time_ymd(2026, 1, 1);
    params.not_after = date_time_ymd(2027, 1, 1);
    params.use_authority_key_identifier_extension = true;
    params
}

/// Ed25519, whose keys are any 32 bytes (RFC 8410, section 7).
fn key(secret: u8) -> KeyPair {
    let head = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    let der = PrivatePkcs8KeyDer::from([&head[..], &[secret; 32]].concat());
    KeyPair::from_pkcs8_der_and_sign_algo(&der, &rcgen::PKCS_ED25519).expect("it is a key")
}

/// An OCSP response about the leaf (RFC 6960, section 4.2.1), signed by its issuer.
fn staple(status: &[u8]) -> Vec<u8> {
    let issuer = &pki().issuer;
    let common_name = [tlv(6, &[0x55, 4, 3]), tlv(0x0c, b"Issuer")].concat();
    let name = tlv(0x30, &tlv(0x31, &tlv(0x30, &common_name)));
    let sha256 = tlv(0x30, &tlv(6, &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1]));
    let hash = |bytes: &[u8]| tlv(4, &Sha256::digest(bytes));
    let id = [sha256, hash(&name), hash(issuer.key().der_bytes()), tlv(2, &SERIAL)].concat();
    let (this, next) = (tlv(0x18, b"20260501000000Z"), tlv(0x18, b"20260701000000Z"));
    let single = [tlv(0x30, &id), status.to_vec(), this.clone(), tlv(0xa0, &next)].concat();
    let responses = tlv(0x30, &tlv(0x30, &single));
    let data = tlv(0x30, &[tlv(0xa1, &name), this, responses].concat());
    let signature = issuer.key().sign(&data).expect("an issuer can sign");
    let signature = tlv(3, &[&[0], &signature[..]].concat());
    let basic = [data, tlv(0x30, &[6, 3, 0x2b, 0x65, 0x70]), signature].concat();
    let kind = tlv(6, &[0x2b, 6, 1, 5, 5, 7, 0x30, 1, 1]);
    let bytes = [kind, tlv(4, &tlv(0x30, &basic))].concat();
    tlv(0x30, &[&[0x0a, 1, 0][..], &tlv(0xa0, &tlv(0x30, &bytes))].concat())
}

/// A DER element.
fn tlv(tag: u8, contents: &[u8]) -> Vec<u8> {
    let length = u16::try_from(contents.len()).expect("elements of seeds are short");
    let [high, low] = length.to_be_bytes();
    let head = match length {
        0..0x80 => vec![tag, low],
        0x80..0x100 => vec![tag, 0x81, low],
        0x100.. => vec![tag, 0x82, high, low],
    };
    [&head, contents].concat()
}

const SERIAL: [u8; 3] = [0x11, 0x22, 0x33];
const GOOD: &[u8] = &[0x80, 0];
const REVOKED: &[u8] = b"\xa1\x11\x18\x0f20260501000000Z";
const UNKNOWN: &[u8] = &[0x82, 0];
