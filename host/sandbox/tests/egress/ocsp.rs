//! Stapled answers: who signed them, what they cover, and when.

use std::{sync::Arc, time::Duration};

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use rcgen::{
    CustomExtension, ExtendedKeyUsagePurpose, KeyPair, SerialNumber, SigningKey, date_time_ymd,
};
use rustls::{
    RootCertStore,
    client::WebPkiServerVerifier,
    pki_types::{CertificateDer, ServerName, UnixTime},
};

use crate::{
    egress::{Trust, accepting_authorities},
    encoding::tlv,
    inspect::{request, tls_server},
    lab::{authenticated, now, policy},
    pki::{self, Ca, Leaf, Pki, authority_access, issue, leaf_params, server_config},
    probes::{
        tls::inspect,
        x509::{Examination, ExamineRequest, examine_offline},
    },
};

const GOOD: &[u8] = &[0x80, 0];
const REVOKED: &[u8] = &[
    0xa1, 17, 0x18, 15, b'2', b'0', b'2', b'6', b'0', b'5', b'0', b'1', b'0', b'0', b'0', b'0',
    b'0', b'0', b'Z',
];
const UNKNOWN: &[u8] = &[0x82, 0];

#[test]
fn a_staple_says_good_revoked_or_unknown() {
    let lab = Lab::new();
    for (status, word, error) in [
        (GOOD, "good", None),
        (REVOKED, "revoked", Some("certificate_revoked")),
        (UNKNOWN, "unknown", None),
    ] {
        let staple = Staple { status, ..Staple::good() }.by_issuer(&lab);
        let found = lab.examine(Some(staple));
        assert_eq!(found.ocsp_staple.as_deref(), Some(word));
        assert_eq!(found.verification.error.as_deref(), error);
    }
    assert_eq!(lab.examine(None).ocsp_staple, None);
    assert!(lab.examine(None).chain[0].has_ocsp_url);
}

#[test]
fn a_staple_counts_from_this_update_until_before_the_next() {
    let lab = Lab::new();
    for (this, next, word) in [
        ("20260601120000Z", "20260601120001Z", "good"),
        ("20260601120001Z", "20260602120000Z", "stale"),
        ("20260531120000Z", "20260601120000Z", "stale"),
        ("20260531120000Z", "", "good"),
    ] {
        let staple = Staple { this, next, ..Staple::good() }.by_issuer(&lab);
        assert_eq!(lab.examine(Some(staple)).ocsp_staple.as_deref(), Some(word), "{this} {next}");
    }
}

#[test]
fn a_revocation_outlives_its_staple_unless_it_was_a_hold() {
    let lab = Lab::new();
    let (past, present) = (("20260501120000Z", "20260601000000Z"), ("20260531120000Z", ""));
    let future = ("20260601120001Z", "20260602120000Z");
    let revoked = Some("certificate_revoked");
    for (reason, time, word, error) in [
        (None, past, "stale", revoked),
        (Some(KEY_COMPROMISE), past, "stale", revoked),
        (Some(KEY_COMPROMISE), present, "revoked", revoked),
        (Some(KEY_COMPROMISE), future, "stale", None),
        (Some(HOLD), past, "stale", None),
        (Some(HOLD), present, "revoked", revoked),
        (Some(HOLD), future, "stale", None),
        (Some(OFF_HOLD), past, "stale", None),
        (Some(OFF_HOLD), present, "revoked", revoked),
    ] {
        let (this, next) = time;
        let status = revoked_for(reason);
        let staple = Staple { status: &status, this, next, ..Staple::good() };
        let found = lab.examine(Some(staple.by_issuer(&lab)));
        assert_eq!(found.ocsp_staple.as_deref(), Some(word), "{reason:?} {time:?}");
        assert_eq!(found.verification.error.as_deref(), error, "{reason:?} {time:?}");
    }
}

#[test]
fn a_staple_must_be_about_this_certificate_and_signed_by_who_may() {
    let lab = Lab::new();
    let invalid = |staple: Vec<u8>, why: &str| {
        let found = lab.examine(Some(staple));
        assert_eq!(found.ocsp_staple.as_deref(), Some("invalid"), "{why}");
        assert_eq!(found.verification.error, None, "{why}: no claim of a stranger counts");
    };
    let revoked = || Staple { status: REVOKED, ..Staple::good() };
    invalid(Staple { serial: &[9], ..revoked() }.by_issuer(&lab), "another serial");
    let stranger = pki::root("Lab Intermediate");
    invalid(revoked().by(&lab, stranger.key(), None), "another key of the name");
    let mut flipped = revoked().by_issuer(&lab);
    *flipped.last_mut().unwrap() ^= 1;
    invalid(flipped, "a broken signature");
    invalid(b"junk".to_vec(), "no response");
    invalid(tlv(0x30, &[0x0a, 1, 3]), "try later");
    invalid(Vec::new(), "an empty one");
}

#[test]
fn a_delegated_responder_needs_the_issuers_word() {
    let lab = Lab::new();
    let mut params = leaf_params(&[]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::OcspSigning];
    let responder = issue(params.clone(), &lab.pki.intermediate);
    let staple = Staple::good().by(&lab, &responder.key, Some(&responder.der));
    assert_eq!(lab.examine(Some(staple)).ocsp_staple.as_deref(), Some("good"));

    let mut expired = params.clone();
    expired.not_after = date_time_ymd(2026, 2, 1);
    let mut server = params.clone();
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let foreign = issue(params, &pki::root("Lab Intermediate"));
    let wrong: [(Leaf, &str); 3] = [
        (issue(expired, &lab.pki.intermediate), "expired"),
        (issue(server, &lab.pki.intermediate), "not for OCSP"),
        (foreign, "of another issuer"),
    ];
    for (responder, why) in wrong {
        let staple = Staple::good().by(&lab, &responder.key, Some(&responder.der));
        assert_eq!(lab.examine(Some(staple)).ocsp_staple.as_deref(), Some("invalid"), "{why}");
    }
}

#[test]
fn a_revocation_outlives_the_certificate_of_its_responder() {
    let lab = Lab::new();
    let mut params = leaf_params(&[]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::OcspSigning];
    for (until, word, error) in [
        (date_time_ymd(2026, 5, 15), "stale", Some("certificate_revoked")),
        (date_time_ymd(2026, 4, 15), "invalid", None),
    ] {
        params.not_after = until;
        let responder = issue(params.clone(), &lab.pki.intermediate);
        let (this, next) = ("20260501120000Z", "20260601000000Z");
        let staple = Staple { status: REVOKED, this, next, ..Staple::good() };
        let staple = staple.by(&lab, &responder.key, Some(&responder.der));
        let found = lab.examine(Some(staple));
        assert_eq!(found.ocsp_staple.as_deref(), Some(word), "{error:?}");
        assert_eq!(found.verification.error.as_deref(), error, "{word}");
    }
}

#[test]
fn a_responder_is_known_by_its_name_however_it_is_written() {
    let lab = Lab::new();
    let mut params = leaf_params(&[]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::OcspSigning];
    let delegated = issue(params, &lab.pki.intermediate);
    let of_issuer =
        |name: &[u8]| Staple::good().named(&lab, lab.pki.intermediate.key(), &by_name(name), None);
    let of_delegated = |name: &[u8]| {
        Staple::good().named(&lab, &delegated.key, &by_name(name), Some(&delegated.der))
    };
    for (staple, word) in [
        (of_issuer(b"Lab Intermediate"), "good"),
        (of_issuer(b"LAB  intermediate"), "good"),
        (of_issuer(b"Lab Root"), "invalid"),
        (of_delegated(b"Leaf"), "good"),
        (of_delegated(b"Lab Root"), "invalid"),
    ] {
        assert_eq!(lab.examine(Some(staple)).ocsp_staple.as_deref(), Some(word));
    }
}

#[test]
fn a_responder_is_found_among_eight_certificates() {
    let lab = Lab::new();
    let mut params = leaf_params(&[]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::OcspSigning];
    let responder = issue(params.clone(), &lab.pki.intermediate);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let other = issue(params, &lab.pki.intermediate);
    for (others, word) in [(7, "good"), (8, "invalid")] {
        let sent = [vec![other.der.clone(); others], vec![responder.der.clone()]].concat();
        let staple = Staple::good().by(&lab, &responder.key, Some(&sent.concat()));
        assert_eq!(lab.examine(Some(staple)).ocsp_staple.as_deref(), Some(word), "{others}");
    }
}

#[test]
fn without_an_issuer_no_staple_can_be_checked() {
    let lab = Lab::new();
    let staple = Staple { status: REVOKED, ..Staple::good() }.by_issuer(&lab);
    let found = lab.examine_chain(vec![lab.leaf.der.clone()], Some(staple));
    assert_eq!(found.ocsp_staple.as_deref(), Some("invalid"));
    assert_eq!(found.verification.error.as_deref(), Some("incomplete_chain"));
}

/// By every request, and not by the ssl check alone.
#[test]
fn a_certificate_that_its_staple_calls_revoked_is_refused() {
    let lab = Lab::new();
    let trust = Trust::new(&[lab.pki.root.der().clone()]).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(lab.pki.root.der().clone()).unwrap();
    let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
    let verifier = accepting_authorities(usual.build().unwrap(), trust);
    let chain = lab.pki.chain(&lab.leaf).into_iter().map(CertificateDer::from);
    let chain: Vec<CertificateDer<'static>> = chain.collect();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let at = Duration::from_secs(now().timestamp().unsigned_abs());
    let verified = |staple: &[u8]| {
        let at = UnixTime::since_unix_epoch(at);
        verifier.verify_server_cert(&chain[0], &chain[1..], &name, staple, at).map(drop)
    };
    let staple = |status| Staple { status, ..Staple::good() }.by_issuer(&lab);
    for fine in [Vec::new(), staple(GOOD), staple(UNKNOWN), b"none".to_vec()] {
        assert_eq!(verified(&fine), Ok(()));
    }
    let revoked = rustls::Error::InvalidCertificate(rustls::CertificateError::Revoked);
    assert_eq!(verified(&staple(REVOKED)), Err(revoked));
    // Of another certificate it says nothing.
    let other = Lab::new();
    let foreign = Staple { status: REVOKED, ..Staple::good() }.by_issuer(&other);
    assert_eq!(verified(&foreign), Ok(()));
}

#[tokio::test]
async fn a_staple_is_seen_in_the_handshake() {
    let lab = Lab::new();
    let staple = Staple { status: REVOKED, ..Staple::good() }.by_issuer(&lab);
    let config = server_config(&lab.pki.chain(&lab.leaf), &lab.leaf.key, Some(staple));
    let (port, _, _server) = tls_server(config).await;
    let egress = lab.pki.egress(policy(&["127.0.0.1/32"], &[]), None);
    let report = inspect(authenticated(&egress), request("127.0.0.1", port)).await.unwrap();
    assert_eq!(report.examination.ocsp_staple.as_deref(), Some("revoked"));
    let error = report.examination.verification.error;
    assert_eq!(error.as_deref(), Some("certificate_revoked"));
}

struct Lab {
    pki: Pki,
    leaf: Leaf,
}

impl Lab {
    fn new() -> Self {
        let pki = Pki::new();
        let mut params = leaf_params(&["127.0.0.1"]);
        params.serial_number = Some(SerialNumber::from_slice(SERIAL));
        params.custom_extensions.push(authority_access(1, "http://ocsp.example/"));
        params.custom_extensions.push(CustomExtension::from_oid_content(&[1, 2, 3], vec![5, 0]));
        let leaf = issue(params, &pki.intermediate);
        Self { pki, leaf }
    }

    fn examine(&self, staple: Option<Vec<u8>>) -> Examination {
        self.examine_chain(self.pki.chain(&self.leaf), staple)
    }

    fn examine_chain(&self, chain: Vec<Vec<u8>>, staple: Option<Vec<u8>>) -> Examination {
        let trust = Trust::new(&[self.pki.root.der().clone()]).unwrap();
        let question = ExamineRequest {
            chain,
            server_name: "127.0.0.1".to_owned(),
            at: now().timestamp(),
            staple,
            complete: false,
        };
        examine_offline(&trust, &question).unwrap()
    }
}

/// One answer about one certificate, to be signed.
struct Staple<'a> {
    serial: &'static [u8],
    status: &'a [u8],
    this: &'static str,
    /// Empty: there is none.
    next: &'static str,
}

impl Staple<'_> {
    fn good() -> Self {
        Self { serial: SERIAL, status: GOOD, this: "20260531120000Z", next: "20260602120000Z" }
    }

    fn by_issuer(self, lab: &Lab) -> Vec<u8> {
        self.by(lab, lab.pki.intermediate.key(), None)
    }

    /// Signed with `key`; the responder is named by the hash of that key (RFC 6960 section 4.2.1).
    fn by(self, lab: &Lab, key: &KeyPair, certificate: Option<&[u8]>) -> Vec<u8> {
        let responder = tlv(0xa2, &tlv(4, &hash(key.public_key_raw())));
        self.named(lab, key, &responder, certificate)
    }

    /// Signed with `key` by who is called `responder`: a ResponderID.
    fn named(
        self,
        lab: &Lab,
        key: &KeyPair,
        responder: &[u8],
        certificate: Option<&[u8]>,
    ) -> Vec<u8> {
        let sha1 = [0x30, 9, 6, 5, 0x2b, 14, 3, 2, 26, 5, 0];
        let id = [
            &sha1[..],
            &tlv(4, &hash(&subject(&lab.pki.intermediate))),
            &tlv(4, &hash(lab.pki.intermediate.key().public_key_raw())),
            &tlv(2, self.serial),
        ];
        let mut single = tlv(0x30, &id.concat());
        single.extend(self.status);
        single.extend(tlv(0x18, self.this.as_bytes()));
        if !self.next.is_empty() {
            single.extend(tlv(0xa0, &tlv(0x18, self.next.as_bytes())));
        }
        let produced = tlv(0x18, self.this.as_bytes());
        let responses = tlv(0x30, &tlv(0x30, &single));
        let data = tlv(0x30, &[responder, &produced, &responses].concat());
        let algorithm = [0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
        let signature = [vec![0], key.sign(&data).unwrap()].concat();
        let certificates = certificate.map_or(Vec::new(), |der| tlv(0xa0, &tlv(0x30, der)));
        let basic = [&data[..], &algorithm, &tlv(3, &signature), &certificates].concat();
        let kind = [6, 9, 0x2b, 6, 1, 5, 5, 7, 0x30, 1, 1];
        let bytes = [&kind[..], &tlv(4, &tlv(0x30, &basic))].concat();
        tlv(0x30, &[&[0x0a, 1, 0][..], &tlv(0xa0, &tlv(0x30, &bytes))].concat())
    }
}

/// The ResponderID of a common name, which is a PrintableString.
fn by_name(common_name: &[u8]) -> Vec<u8> {
    let attribute = [&tlv(6, &[0x55, 4, 3])[..], &tlv(0x13, common_name)].concat();
    tlv(0xa1, &tlv(0x30, &tlv(0x31, &tlv(0x30, &attribute))))
}

/// The subject of a certificate, as encoded.
fn subject(ca: &Ca) -> Vec<u8> {
    use x509_parser::prelude::{FromDer, X509Certificate};
    let (_, parsed) = X509Certificate::from_der(ca.der()).unwrap();
    parsed.subject().as_raw().to_vec()
}

fn hash(bytes: &[u8]) -> Vec<u8> {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, bytes).as_ref().to_vec()
}

/// A certStatus of revocation, for a reason of RFC 5280 section 5.3.1.
fn revoked_for(reason: Option<u8>) -> Vec<u8> {
    let reason = reason.map_or(Vec::new(), |number| tlv(0xa0, &tlv(0x0a, &[number])));
    tlv(0xa1, &[tlv(0x18, b"20260501000000Z"), reason].concat())
}

const KEY_COMPROMISE: u8 = 1;
const HOLD: u8 = 6;
const OFF_HOLD: u8 = 8;
const SERIAL: &[u8] = &[0x11, 0x22, 0x33];
