//! Fetching an issuer that the server did not send (RFC 5280 section 4.2.2.1).
//!
//! The URL is an attacker's text: `http` and `https` only, through the egress layer, at most three
//! URLs, of two redirects and 64 KiB each, in five seconds. What comes back counts unless its key
//! is known not to have signed the child: by an algorithm that nobody verifies any more it may have,
//! which completes no path. As long as none is completed, the next URL is asked.

use std::time::{Duration, Instant};

use rustls_pki_types::{CertificateDer, pem::PemObject};

use super::{Case, certificate::Parsed, judge::Reached, links::Signatures, signature::Worth};
use crate::{
    egress::{HttpRequest, Trust, der},
    probes::Reach,
};

/// The issuers that could be fetched, those nearest to the leaf first.
pub(super) async fn fetch(reach: &Reach, case: &Case, trust: &Trust) -> Vec<Parsed> {
    let deadline = reach.deadline.min(Instant::now() + PATIENCE);
    let mut pool = case.pool.clone();
    // Certificates whose issuer was missing, the lowest first.
    let mut children: Vec<usize> = Vec::new();
    let mut asked: Vec<String> = Vec::new();
    while asked.len() < MAX_FETCHES {
        match case.reached(trust, &pool) {
            Reached::Root => break,
            Reached::Missing(top) if !children.contains(&top) => children.push(top),
            Reached::Missing(_) | Reached::Refused => {}
        }
        let next = children.iter().rev().find_map(|child| {
            let url = pool[*child].issuer_urls.iter().find(|url| !asked.contains(url))?;
            Some((*child, url.clone()))
        });
        let Some((child, url)) = next else { break };
        let bytes = download(reach, &url, deadline).await.unwrap_or_default();
        asked.push(url);
        let found = issuers(certificates(&bytes), &pool[child], &pool, &case.signatures);
        pool.extend(found);
    }
    pool.split_off(case.pool.len())
}

/// Those of some certificates that signed the child: several of one key, of which one may have
/// expired and another not.
fn issuers(
    found: Vec<Parsed>,
    child: &Parsed,
    pool: &[Parsed],
    signatures: &Signatures,
) -> Vec<Parsed> {
    let named = found.into_iter().filter(|above| {
        above.known_as == child.issued_by && !pool.iter().any(|known| known.der == above.der)
    });
    let signers = named.take(MAX_NAMESAKES).filter(|above| {
        signatures.worth(child, &above.key_info).is_some_and(|worth| worth != Worth::Bad)
    });
    signers.map(|above| above.in_chain(signatures)).collect()
}

/// None where anything is wrong: a missing issuer stays missing, whatever the reason.
async fn download(reach: &Reach, url: &str, deadline: Instant) -> Option<Vec<u8>> {
    let request = HttpRequest {
        max_redirects: MAX_REDIRECTS,
        // What is fetched proves itself by its signature.
        verify_tls: false,
        ..HttpRequest::new("GET", url, deadline, MAX_BODY)
    };
    let response = reach.egress.send(request, reach.audience).await.ok()?;
    (response.status == 200 && !response.truncated).then_some(response.body)
}

/// DER, PEM, or PKCS #7 certs-only.
fn certificates(bytes: &[u8]) -> Vec<Parsed> {
    if let Some(certificate) = Parsed::read(bytes) {
        return vec![certificate];
    }
    let pem = CertificateDer::pem_slice_iter(bytes).filter_map(Result::ok);
    let pem: Vec<_> = pem.filter_map(|certificate| Parsed::read(&certificate)).collect();
    if !pem.is_empty() {
        return pem;
    }
    let bag = certificates_of_bag(bytes).unwrap_or_default().into_iter();
    bag.filter_map(Parsed::read).collect()
}

/// RFC 5652: ContentInfo { signedData, [0] SignedData { version, digests, content, [0] certs … } }
fn certificates_of_bag(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let info = der::elements(der::contents(bytes)?)?;
    let [kind, content] = info[..] else { return None };
    if kind.contents != SIGNED_DATA {
        return None;
    }
    let signed_data = der::elements(der::contents(content.contents)?)?;
    let bag = signed_data.iter().find(|field| field.tag == CERTIFICATES)?;
    Some(der::elements(bag.contents)?.into_iter().map(|certificate| certificate.raw).collect())
}

const MAX_FETCHES: usize = 3;
/// Certificates of one answer that bear the issuer's name: each is another signature to verify.
const MAX_NAMESAKES: usize = 8;
const MAX_REDIRECTS: u8 = 2;
const MAX_BODY: u32 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

/// 1.2.840.113549.1.7.2
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2];
/// `[0]`, implicit.
const CERTIFICATES: u8 = 0xa0;
