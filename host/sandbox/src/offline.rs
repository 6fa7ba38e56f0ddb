//! Runs of a check on a chain that nobody serves: a file's.
//!
//! The plugin is the same, and so is the examination. What is replayed is one handshake that never
//! was: it shows the chain, and neither version, cipher suite nor staple.
//!
//! *Invariant:* nothing is connected to, and no issuer is fetched.

use std::{net::Ipv4Addr, sync::Arc};

use serde::Serialize;
use serde_json::Value;
use vedette_model::CheckType;

use crate::{
    Job, Probe, Ran, Recording, RunError, Sandbox,
    bindings::check::vedette::net::{
        tls::{InspectRequest, Report},
        types::{Endpoint, NetError},
    },
    egress::Trust,
    probes::{Timing, tls, x509},
};

impl Sandbox {
    /// Runs a check as if the job's target had shown `chain` (DER, leaf first, at most 256 KiB) in
    /// a handshake at the job's time. The run may ask for that
    /// handshake and for nothing else, so the job is to omit what takes more than a chain.
    /// [`RunError::UnsupportedTarget`] where there is no chain or it is too large.
    pub async fn run_on_chain(
        &self,
        check_type: &CheckType,
        job: Job,
        chain: Vec<Vec<u8>>,
    ) -> Result<Ran, RunError> {
        let report = report(self.egress().trust(), &job, chain)?;
        let recording = Recording::new(handshake(&job, report));
        self.replay(check_type, job, Arc::new(recording)).await
    }
}

/// What the handshake would have shown.
fn report(trust: &Trust, job: &Job, chain: Vec<Vec<u8>>) -> Result<tls::Report, RunError> {
    let request = x509::ExamineRequest {
        chain,
        server_name: job.target.to_string(),
        at: job.now.timestamp(),
        staple: None,
        complete: false,
    };
    let mut examination =
        x509::examine_offline(trust, &request).map_err(RunError::UnsupportedTarget)?;
    if let Some(leaf) = examination.chain.first_mut() {
        // A file has no room for a staple, so its absence means nothing.
        (leaf.has_ocsp_url, leaf.must_staple) = (false, false);
    }
    Ok(tls::Report {
        peer_address: Ipv4Addr::UNSPECIFIED.to_string(),
        version: NO_VERSION,
        cipher: NO_CIPHER,
        alpn: None,
        chain: request.chain,
        examination,
        timing: Timing::default(),
    })
}

/// The handshake as a recording has it, whether or not the plugin may have issuers fetched.
fn handshake(job: &Job, report: tls::Report) -> Vec<Probe> {
    let response = in_json(&Ok::<Report, NetError>(report.into()));
    let of = |complete: bool| Probe {
        call: "tls.inspect".to_owned(),
        request: in_json(&InspectRequest {
            endpoint: Endpoint {
                host: job.target.to_string(),
                port: job.port.unwrap_or(HTTPS),
                connect_to: None,
            },
            server_name: None,
            alpn: Vec::new(),
            starttls: None,
            complete,
            timeout_ms: 0,
        }),
        response: response.clone(),
    };
    vec![of(true), of(false)]
}

fn in_json(record: &impl Serialize) -> Value {
    serde_json::to_value(record).expect("records of the contract have a form in JSON")
}

const HTTPS: u16 = 443;
/// No version of TLS, and a number that is assigned to no cipher suite.
const NO_VERSION: u16 = 0;
const NO_CIPHER: u16 = 0xffff;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use vedette_model::{Target, Timestamp};

    use super::*;
    use crate::egress::Audience;

    fn job() -> Job {
        Job {
            run_id: "test".to_owned(),
            target: Target::parse("www.example.com").expect("a name"),
            port: None,
            connect_to: None,
            config: json!({}),
            omit: Vec::new(),
            now: Timestamp::from_timestamp(1_780_272_000, 0).expect("a moment of 2026"),
            audience: Audience::Authenticated,
            site: None,
            watched: false,
        }
    }

    fn inspect(complete: bool) -> InspectRequest {
        let host = "www.example.com".to_owned();
        InspectRequest {
            endpoint: Endpoint { host, port: 443, connect_to: None },
            server_name: None,
            alpn: Vec::new(),
            starttls: None,
            complete,
            timeout_ms: 8_000,
        }
    }

    /// With an OCSP responder and a demand for staples.
    fn certificate() -> Vec<u8> {
        let mut params = rcgen::CertificateParams::new(["www.example.com".to_owned()]).unwrap();
        let extension = rcgen::CustomExtension::from_oid_content;
        params.custom_extensions = vec![
            extension(&[1, 3, 6, 1, 5, 5, 7, 1, 24], vec![0x30, 3, 2, 1, 5]),
            extension(
                &[1, 3, 6, 1, 5, 5, 7, 1, 1],
                [&[0x30, 17, 0x30, 15, 6, 8, 0x2b, 6, 1, 5, 5, 7, 0x30, 1, 0x86, 3][..], b"o:x"]
                    .concat(),
            ),
        ];
        let key = rcgen::KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_handshake_shows_the_chain_and_nothing_else() {
        let trust = Trust::new(&[]).unwrap();
        let chain = vec![certificate(), b"junk".to_vec()];
        let shown = report(&trust, &job(), chain.clone()).unwrap();
        let recording = Recording::new(handshake(&job(), shown));
        for complete in [true, false] {
            let answer: Result<Report, NetError> =
                recording.answer("tls.inspect", &inspect(complete)).unwrap();
            let report = answer.unwrap();
            assert_eq!(report.chain, chain);
            assert_eq!(report.examination.chain.len(), 2);
            let facts = &report.examination.verification;
            assert_eq!(facts.error.as_deref(), Some("self_signed_certificate"));
            let leaf = &report.examination.chain[0];
            assert!(!leaf.has_ocsp_url && !leaf.must_staple, "nobody asks a file for a staple");
            assert_eq!((report.version, report.cipher), (NO_VERSION, NO_CIPHER));
        }
        let elsewhere = InspectRequest { server_name: Some("example.org".into()), ..inspect(true) };
        let answer: Result<Result<Report, NetError>, _> =
            recording.answer("tls.inspect", &elsewhere);
        assert!(answer.is_err(), "it is an answer about one name");
    }

    #[test]
    fn what_is_too_large_or_nothing_is_refused() {
        let trust = Trust::new(&[]).unwrap();
        for chain in [Vec::new(), vec![vec![0; 300 << 10]]] {
            let refused = report(&trust, &job(), chain).expect_err("it is no chain");
            assert!(matches!(refused, RunError::UnsupportedTarget(_)), "{refused:?}");
        }
    }
}
